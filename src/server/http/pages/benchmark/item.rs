//! One item: the questions, the reference, each model's answers and each judgement in the judge's own words. All of it comes
//! from outside, so all of it passes the renderer of [`markup`], which lets through what is safe.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::judgement::Judgement;
use crate::domain::judging::verdict::{Preference, Rating, Verdict};
use crate::domain::language::Language;
use crate::infra::storage::BenchJudgementRow;
use crate::render::i18n::pages::BenchmarkTexts;
use crate::render::i18n::pages::page_texts;
use crate::render::i18n::reports::{ReportTexts, named, report_texts};
use crate::render::markup;
use crate::server::http::leaderboard_query::escaped;
use crate::services::benchmark::scores::ItemView;

/// An item, ready to be shown: texts from outside are HTML already.
pub(crate) struct ItemPageView {
    suite: String,
    title: String,
    id: String,
    category: String,
    turns: Vec<TurnView>,
    options: Vec<(&'static str, String, bool)>,
    models: Vec<ModelView>,
    carried: String,
}

struct TurnView {
    number: usize,
    question: String,
    reference: Option<String>,
}

struct ModelView {
    model: String,
    answers: Vec<AnswerView>,
}

struct AnswerView {
    turn: u32,
    /// None where the model has nothing to say, or nothing is kept.
    text: Option<String>,
    judgements: Vec<JudgementView>,
}

struct JudgementView {
    judge: String,
    game: Option<String>,
    verdict: String,
    said: Option<String>,
    earlier: Vec<String>,
}

#[derive(Template)]
#[template(path = "benchmark_item.html")]
struct ItemPage<'a> {
    page: Page,
    words: &'static ReportTexts,
    view: &'a ItemPageView,
}

/// `GET /benchmarks/SUITE/items/ID`
#[must_use]
pub(crate) fn item(request: &HttpRequest, view: &ItemPageView) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    let words = report_texts(page.language);
    respond(request, StatusCode::OK, &ItemPage { page, words, view })
}

impl ItemPage<'_> {
    fn heading(&self) -> String {
        self.page.t().benchmark.item.replace("{id}", &self.view.id)
    }

    fn turn(&self, number: impl ToString) -> String {
        self.page.t().benchmark.turn.replace("{n}", &number.to_string())
    }
}

impl ItemPageView {
    /// Renders everything that was said of an item.
    pub(crate) fn new(suite: &dyn Suite, view: &ItemView, language: Language, carried: String) -> Self {
        let item = &view.item;
        Self {
            suite: escaped(suite.name()),
            title: suite.title().to_owned(),
            id: item.id.clone(),
            category: named(suite.category_title(&item.category), language).to_owned(),
            turns: turns(item),
            options: options(item),
            models: models(view, &page_texts(language).benchmark),
            carried,
        }
    }

    fn has_turns(&self) -> bool {
        self.turns.len() > 1
    }
}

fn turns(item: &Item) -> Vec<TurnView> {
    let turn = |(number, turn): (usize, &crate::domain::benchmark::item::Question)| TurnView {
        number,
        question: rendered(&turn.question),
        reference: turn.reference.as_deref().map(rendered),
    };
    (1..).zip(&item.turns).map(turn).collect()
}

fn options(item: &Item) -> Vec<(&'static str, String, bool)> {
    let Some(choices) = &item.choices else { return Vec::new() };
    let letters = ["A", "B", "C", "D"];
    let option = |(letter, text): (&'static str, &String)| (letter, text.clone(), choices.correct.as_str() == letter);
    letters.into_iter().zip(&choices.options).map(option).collect()
}

/// What models answered, and the judgements of each answer; a judgement whose answer is not kept stands alone.
fn models(view: &ItemView, words: &BenchmarkTexts) -> Vec<ModelView> {
    let mut models: BTreeMap<&str, BTreeMap<u32, AnswerView>> = BTreeMap::new();
    let empty = |turn| AnswerView { turn, text: None, judgements: Vec::new() };
    for answer in &view.answers {
        let text = Some(answer.text.as_str()).filter(|text| !text.trim().is_empty()).map(rendered);
        let shown = models.entry(&answer.model).or_default().entry(answer.turn).or_insert_with(|| empty(answer.turn));
        shown.text = text.or(shown.text.take());
    }
    for row in &view.judgements {
        let said = &row.judgement;
        let turns = models.entry(&said.model).or_default();
        turns.entry(said.turn).or_insert_with(|| empty(said.turn)).judgements.push(judgement(row, words));
    }
    let model = |(model, answers): (&str, BTreeMap<u32, AnswerView>)| ModelView {
        model: model.to_owned(),
        answers: answers.into_values().collect(),
    };
    models.into_iter().map(model).collect()
}

fn judgement(row: &BenchJudgementRow, words: &BenchmarkTexts) -> JudgementView {
    let said = &row.judgement;
    let against =
        || format!("{} · A: {}, B: {}", words.game.replace("{n}", &u8::from(said.game).to_string()), a(row), b(row));
    JudgementView {
        judge: said.judge_model.clone(),
        game: (!row.baseline.is_empty()).then(against),
        verdict: verdict(said, words),
        said: Some(said.raw_text.as_str()).filter(|text| !text.trim().is_empty()).map(rendered),
        earlier: row.earlier.iter().map(|text| rendered(text)).collect(),
    }
}

/// The model on side A.
fn a(row: &BenchJudgementRow) -> &str {
    if u8::from(row.judgement.game) == 1 { &row.judgement.model } else { &row.baseline }
}

/// The model on side B.
fn b(row: &BenchJudgementRow) -> &str {
    if u8::from(row.judgement.game) == 1 { &row.baseline } else { &row.judgement.model }
}

fn verdict(said: &Judgement, words: &BenchmarkTexts) -> String {
    match &said.parsed {
        None if said.attempts == 0 => words.status(said.status.as_str()).to_owned(),
        None => {
            let requests = words.after_requests.replace("{n}", &said.attempts.to_string());
            format!("{} · {requests}", words.status(said.status.as_str()))
        }
        Some(Verdict::Rating(rating)) => rated(rating),
        Some(Verdict::Pair { winner: Preference::A }) => words.prefers_a.to_owned(),
        Some(Verdict::Pair { winner: Preference::B }) => words.prefers_b.to_owned(),
        Some(Verdict::Pair { winner: Preference::Tie }) => words.tie.to_owned(),
        Some(Verdict::Choice { choice, correct }) => {
            let letter = choice.map_or("–", |letter| letter.as_str());
            format!("{letter} · {}", if *correct { words.right } else { words.wrong })
        }
    }
}

fn rated(rating: &Rating) -> String {
    rating.dimensions.iter().fold(format!("{}", rating.score), |mut text, (name, score)| {
        write!(text, " · {name} {score}").expect("a String takes what is written");
        text
    })
}

/// A text from outside as safe HTML.
fn rendered(text: &str) -> String {
    markup::render(text).into_iter().map(|block| format!("<div class=\"block\">{block}</div>")).collect()
}
