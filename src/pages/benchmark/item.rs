//! One item: questions, reference, each model's answers and each judgement in the judge's own words. All texts come from outside and are
//! sanitised by [`markdown`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use super::by_difference;
use super::side_choice::{SideChoice, side_choices};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::scores::arena_votes::ArenaPairVotes;
use crate::domain::benchmark::scores::judgement::Judgement;
use crate::domain::campaign::item_judgement_summary::{ItemJudgementSummary, ScoreOpinion};
use crate::domain::judging::reasoning::SplitReply;
use crate::domain::judging::verdict::{Margin, Preference, Rating, Verdict};
use crate::domain::language::Language;
use crate::domain::text_diff::{DiffPart, text_diff};
use crate::frame::query_string::escaped;
use crate::infra::storage::BenchJudgementRow;
use crate::infra::storage::ItemView;
use crate::render::i18n::fill;
use crate::render::i18n::pages::BenchmarkTexts;
use crate::render::i18n::pages::page_texts;
use crate::render::i18n::reports::{ReportTexts, named, report_texts};
use crate::render::markdown;

/// Item for display; texts from outside are already safe HTML.
pub struct ItemPageView {
    suite: String,
    title: String,
    id: String,
    category: String,
    turns: Vec<ItemTurnView>,
    options: Vec<(&'static str, String, bool)>,
    models: Vec<ItemModelView>,
    /// Side-by-side answers of two models by turn; `None` if fewer than two answered.
    pair: Option<ItemPairView>,
    opinions: ItemJudgementSummary,
    votes: Vec<ArenaPairVotes>,
    around: Neighbours,
    sorted_by: Option<[String; 2]>,
    query_prefix: String,
    fields: Vec<(&'static str, String)>,
}

/// Selected answers and position of an item.
pub struct ItemChoice {
    /// Models to show side by side; empty for the first two.
    pub sides: [String; 2],
    /// Previous and next item.
    pub around: Neighbours,
    /// Models by whose score difference the items are sorted.
    pub sorted_by: Option<[String; 2]>,
    /// Query parameters that select the answers, for links.
    pub query_prefix: String,
    /// The same parameters as form fields.
    pub fields: Vec<(&'static str, String)>,
}

/// Previous and next item.
pub struct Neighbours {
    before: Option<String>,
    after: Option<String>,
    /// Position from 1, and number of items.
    place: [usize; 2],
    order: ItemOrder,
}

/// Sort order of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOrder {
    /// Order of the suite.
    Suite,
    /// Judge disagreement, descending.
    Disagreement,
    /// Score difference of two models, descending.
    Difference,
}

struct ItemPairView {
    models: [String; 2],
    turns: Vec<PairTurn>,
}

struct PairTurn {
    number: u32,
    /// Parts of each answer, marked where the other answer lacks them; unmarked if a text is too long to diff.
    texts: [Vec<DiffPart>; 2],
    /// Verdict of each judge on each answer.
    verdicts: [Vec<(String, String)>; 2],
}

struct ItemTurnView {
    number: usize,
    question: String,
    reference: Option<String>,
}

struct ItemModelView {
    model: String,
    answers: Vec<AnswerView>,
}

struct AnswerView {
    turn: u32,
    /// `None` if the answer is empty or not stored.
    text: Option<String>,
    judgements: Vec<JudgementView>,
}

struct JudgementView {
    judge: String,
    /// Game number of a comparison, and the ids of the models on sides A and B.
    game: Option<(u8, [String; 2])>,
    verdict: String,
    said: Option<String>,
    /// Reasoning of the judge before its reply.
    reasoning: Option<String>,
    earlier: Vec<String>,
}

#[derive(Template)]
#[template(path = "benchmark_item.html")]
struct ItemPage<'a> {
    page: Page,
    words: &'static ReportTexts,
    view: &'a ItemPageView,
    /// Maps a model id to its display name.
    name: &'a dyn Fn(&str) -> String,
}

/// `GET /benchmarks/SUITE/items/ID`; `name` maps model and judge ids to display names.
#[must_use]
pub fn item(request: &HttpRequest, view: &ItemPageView, name: &dyn Fn(&str) -> String) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    let words = report_texts(page.language);
    respond(request, StatusCode::OK, &ItemPage { page, words, view, name })
}

impl ItemPage<'_> {
    fn heading(&self) -> String {
        self.page.t().benchmark.item.replace("{id}", &self.view.id)
    }

    fn neighbour(&self, id: &str) -> String {
        format!("/benchmarks/{}/items/{}?{}{}", self.view.suite, escaped(id), self.view.query_prefix, self.order())
    }

    /// Returns the sort order as query parameters, each followed by an ampersand.
    fn order(&self) -> String {
        let sides = self.view.sorted_by.as_ref();
        sides.map_or_else(String::new, |sides| by_difference(sides.each_ref().map(String::as_str)))
    }

    fn id(&self) -> String {
        escaped(&self.view.id)
    }

    fn place(&self) -> String {
        let own = &self.page.t().benchmark;
        let [at, all] = self.view.around.place.map(|number| number.to_string());
        let text = match self.view.around.order {
            ItemOrder::Suite => own.item_place,
            ItemOrder::Disagreement => own.disputed_place,
            ItemOrder::Difference => own.difference_place,
        };
        text.replace("{n}", &at).replace("{all}", &all)
    }

    /// Returns a shareable address of this view: the two models and the selected answers.
    fn shared(&self, pair: &ItemPairView) -> String {
        let [left, right] = pair.models.each_ref().map(|model| escaped(model));
        let (suite, id, query_prefix) = (&self.view.suite, escaped(&self.view.id), &self.view.query_prefix);
        format!("/benchmarks/{suite}/items/{id}?{query_prefix}left={left}&right={right}")
    }

    fn side_choices(&self, pair: &ItemPairView) -> [SideChoice; 2] {
        let models = self.view.models.iter().map(|model| model.model.as_str());
        side_choices(&self.page.t().benchmark, models, pair.models.each_ref().map(String::as_str), self.name)
    }

    fn called(&self, model: &str) -> String {
        (self.name)(model)
    }

    /// Describes the game of a comparison and its sides.
    fn game(&self, (number, [a, b]): &(u8, [String; 2])) -> String {
        let game = self.page.t().benchmark.game.replace("{n}", &number.to_string());
        format!("{game} · A: {}, B: {}", self.called(a), self.called(b))
    }

    fn mean(opinion: &ScoreOpinion) -> String {
        format!("{:.2}", opinion.mean)
    }

    fn turn(&self, number: impl ToString) -> String {
        self.page.t().benchmark.turn.replace("{n}", &number.to_string())
    }
}

impl ItemPageView {
    /// Renders all texts of an item.
    pub fn new(suite: &dyn Suite, view: &ItemView, language: Language, choice: ItemChoice) -> Self {
        let (item, words) = (&view.item, &page_texts(language).benchmark);
        Self {
            suite: escaped(suite.name()),
            title: suite.title().to_owned(),
            id: item.id.clone(),
            category: named(suite.category_title(&item.category), language).to_owned(),
            turns: turns(item),
            options: options(item),
            models: models(view, words),
            pair: pair(view, &choice.sides, words),
            opinions: view.opinions.clone(),
            votes: view.votes.clone(),
            around: choice.around,
            sorted_by: choice.sorted_by,
            query_prefix: choice.query_prefix,
            fields: choice.fields,
        }
    }

    fn has_turns(&self) -> bool {
        self.turns.len() > 1
    }
}

impl Neighbours {
    /// Returns the position of an item in a list.
    pub fn new(items: &[&str], id: &str, order: ItemOrder) -> Self {
        let at = items.iter().position(|item| *item == id);
        let of = |at: Option<usize>| Some((*items.get(at?)?).to_owned());
        Self {
            before: of(at.and_then(|at| at.checked_sub(1))),
            after: of(at.map(|at| at + 1)),
            place: [at.map_or(0, |at| at + 1), items.len()],
            order,
        }
    }
}

/// Returns the side-by-side answers of the selected models, or of the first two that answered.
fn pair(view: &ItemView, sides: &[String; 2], words: &BenchmarkTexts) -> Option<ItemPairView> {
    let mut answers: BTreeMap<&str, BTreeMap<u32, &str>> = BTreeMap::new();
    for answer in &view.answers {
        answers.entry(&answer.model).or_default().insert(answer.turn, &answer.text);
    }
    let known = |side: &String| answers.contains_key(side.as_str()).then(|| side.clone());
    let first =
        known(&sides[0]).or_else(|| answers.keys().find(|model| **model != sides[1]).map(ToString::to_string))?;
    let second = known(&sides[1]).filter(|model| *model != first);
    let second = second.or_else(|| answers.keys().find(|model| **model != first).map(ToString::to_string))?;
    let models = [first, second];
    let text = |side: usize, turn| answers[models[side].as_str()].get(&turn).copied().unwrap_or_default();
    let turns = models.each_ref().map(|model| answers[model.as_str()].keys().copied());
    let turns: BTreeSet<u32> = turns.into_iter().flatten().collect();
    let turn = |number: u32| PairTurn {
        number,
        texts: marked(text(0, number), text(1, number)),
        verdicts: models.each_ref().map(|model| verdicts(view, model, number, words)),
    };
    Some(ItemPairView { turns: turns.into_iter().map(turn).collect(), models: models.clone() })
}

fn marked(one: &str, other: &str) -> [Vec<DiffPart>; 2] {
    let whole = |text: &str| vec![DiffPart { text: text.to_owned(), differs: false }];
    text_diff(one, other).unwrap_or_else(|| [whole(one), whole(other)])
}

/// Returns each judge's verdict on a model's answer, in order of arrival.
fn verdicts(view: &ItemView, model: &str, turn: u32, words: &BenchmarkTexts) -> Vec<(String, String)> {
    let own = view.judgements.iter().filter(|row| row.judgement.model == model && row.judgement.turn == turn);
    own.map(|row| (row.judgement.judge_model.clone(), verdict(&row.judgement, words))).collect()
}

fn turns(item: &Item) -> Vec<ItemTurnView> {
    let turn = |(number, turn): (usize, &crate::domain::benchmark::item::Question)| ItemTurnView {
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

/// Returns each model's answers with their judgements; a judgement without a stored answer is listed separately.
fn models(view: &ItemView, words: &BenchmarkTexts) -> Vec<ItemModelView> {
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
    let model = |(model, answers): (&str, BTreeMap<u32, AnswerView>)| ItemModelView {
        model: model.to_owned(),
        answers: answers.into_values().collect(),
    };
    models.into_iter().map(model).collect()
}

fn judgement(row: &BenchJudgementRow, words: &BenchmarkTexts) -> JudgementView {
    let said = &row.judgement;
    let against = || (u8::from(said.game), [a(row), b(row)].map(str::to_owned));
    let SplitReply { reasoning, reply } = SplitReply::split(&said.raw_text);
    let shown = |text: &str| Some(text).filter(|text| !text.trim().is_empty()).map(rendered);
    JudgementView {
        judge: said.judge_model.clone(),
        game: (!row.baseline.is_empty()).then(against),
        verdict: verdict(said, words),
        said: shown(reply),
        reasoning: shown(&[&row.reasoning, reasoning].map(str::trim).join("\n\n")),
        earlier: row.earlier.iter().map(|text| rendered(text)).collect(),
    }
}

/// Returns the model on side A.
fn a(row: &BenchJudgementRow) -> &str {
    if u8::from(row.judgement.game) == 1 { &row.judgement.model } else { &row.baseline }
}

/// Returns the model on side B.
fn b(row: &BenchJudgementRow) -> &str {
    if u8::from(row.judgement.game) == 1 { &row.baseline } else { &row.judgement.model }
}

fn verdict(said: &Judgement, words: &BenchmarkTexts) -> String {
    match &said.parsed {
        None if said.attempts == 0 => words.status(said.status.as_str()).to_owned(),
        None => {
            let requests = fill(words.after_requests, &[("n", &said.attempts.to_string())]);
            format!("{} · {requests}", words.status(said.status.as_str()))
        }
        Some(Verdict::Rating(rating)) => format_rating(rating, words),
        Some(Verdict::Pair { winner, margin }) => preferred(*winner, *margin, words).to_owned(),
        Some(Verdict::Choice { choice, correct }) => {
            let letter = choice.map_or("–", |letter| letter.as_str());
            format!("{letter} · {}", if *correct { words.right } else { words.wrong })
        }
    }
}

fn preferred(winner: Preference, margin: Option<Margin>, words: &BenchmarkTexts) -> &'static str {
    match (winner, margin) {
        (Preference::A, Some(Margin::Clear)) => words.clearly_prefers_a,
        (Preference::A, Some(Margin::Slight)) => words.slightly_prefers_a,
        (Preference::A, None) => words.prefers_a,
        (Preference::B, Some(Margin::Clear)) => words.clearly_prefers_b,
        (Preference::B, Some(Margin::Slight)) => words.slightly_prefers_b,
        (Preference::B, None) => words.prefers_b,
        (Preference::Tie, _) => words.tie,
    }
}

fn format_rating(rating: &Rating, words: &BenchmarkTexts) -> String {
    let overall = match rating.written {
        None => rating.score.to_string(),
        Some(written) => {
            let weighted = format!("{:.2}", rating.score);
            words.weighted_score.replace("{score}", &weighted).replace("{written}", &written.to_string())
        }
    };
    rating.dimensions.iter().fold(overall, |mut text, (name, score)| {
        write!(text, " · {name} {score}").expect("a String takes what is written");
        text
    })
}

/// Renders a text from outside as safe HTML.
fn rendered(text: &str) -> String {
    markdown::render(text).into_iter().map(|block| format!("<div class=\"block\">{block}</div>")).collect()
}
