//! One item: the questions, the reference, each model's answers and each judgement in the judge's own words. All of it comes
//! from outside, so all of it passes the renderer of [`markup`], which lets through what is safe.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use super::by_difference;
use super::side_choice::{SideChoice, side_choices};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::arena_votes::ArenaPairVotes;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::judgement::Judgement;
use crate::domain::campaign::item_opinions::{ItemOpinions, ScoreOpinion};
use crate::domain::judging::reasoning::Thought;
use crate::domain::judging::verdict::{Margin, Preference, Rating, Verdict};
use crate::domain::language::Language;
use crate::domain::text_diff::{DiffPart, text_diff};
use crate::infra::storage::BenchJudgementRow;
use crate::infra::storage::ItemView;
use crate::query_string::escaped;
use crate::render::i18n::fill;
use crate::render::i18n::pages::BenchmarkTexts;
use crate::render::i18n::pages::page_texts;
use crate::render::i18n::reports::{ReportTexts, named, report_texts};
use crate::render::markup;

/// An item, ready to be shown: texts from outside are HTML already.
pub struct ItemPageView {
    suite: String,
    title: String,
    id: String,
    category: String,
    turns: Vec<ItemTurnView>,
    options: Vec<(&'static str, String, bool)>,
    models: Vec<ItemModelView>,
    /// The two models that are shown side by side, with their answers turn by turn; none where fewer answered.
    pair: Option<ItemPairView>,
    opinions: ItemOpinions,
    votes: Vec<ArenaPairVotes>,
    around: Neighbours,
    sorted_by: Option<[String; 2]>,
    carried: String,
    fields: Vec<(&'static str, String)>,
}

/// What of an item is asked for, and where it stands among others.
pub struct ItemChoice {
    /// Models to show side by side; empty for the first ones.
    pub sides: [String; 2],
    /// The items before and after it.
    pub around: Neighbours,
    /// The models by whose difference the items around it are sorted.
    pub sorted_by: Option<[String; 2]>,
    /// Which answers are meant, for further addresses.
    pub carried: String,
    /// The same as fields of a form.
    pub fields: Vec<(&'static str, String)>,
}

/// The items before and after one.
pub struct Neighbours {
    before: Option<String>,
    after: Option<String>,
    /// Its place from 1, and how many there are.
    place: [usize; 2],
    order: ItemOrder,
}

/// Which items stand before and after one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOrder {
    /// Those of the suite.
    Suite,
    /// Those that judges disagree on, the most first.
    Disagreement,
    /// Those on which two models differ, the most first.
    Difference,
}

struct ItemPairView {
    models: [String; 2],
    turns: Vec<PairTurn>,
}

struct PairTurn {
    number: u32,
    /// Stretches of each answer, and whether the other lacks it; plain where a text is too long to be compared.
    texts: [Vec<DiffPart>; 2],
    /// What each judge said of each.
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
    /// None where the model has nothing to say, or nothing is kept.
    text: Option<String>,
    judgements: Vec<JudgementView>,
}

struct JudgementView {
    judge: String,
    game: Option<String>,
    verdict: String,
    said: Option<String>,
    /// What the judge thought before it replied.
    reasoning: Option<String>,
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
pub fn item(request: &HttpRequest, view: &ItemPageView) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    let words = report_texts(page.language);
    respond(request, StatusCode::OK, &ItemPage { page, words, view })
}

impl ItemPage<'_> {
    fn heading(&self) -> String {
        self.page.t().benchmark.item.replace("{id}", &self.view.id)
    }

    fn neighbour(&self, id: &str) -> String {
        format!("/benchmarks/{}/items/{}?{}{}", self.view.suite, escaped(id), self.view.carried, self.order())
    }

    /// The order of the items as it stands in an address, each parameter with an ampersand behind it.
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

    /// The address of this view for others: the two models with the answers that are meant.
    fn shared(&self, pair: &ItemPairView) -> String {
        let [left, right] = pair.models.each_ref().map(|model| escaped(model));
        let (suite, id, carried) = (&self.view.suite, escaped(&self.view.id), &self.view.carried);
        format!("/benchmarks/{suite}/items/{id}?{carried}left={left}&right={right}")
    }

    fn side_choices(&self, pair: &ItemPairView) -> [SideChoice; 2] {
        let models = self.view.models.iter().map(|model| model.model.as_str());
        side_choices(&self.page.t().benchmark, models, pair.models.each_ref().map(String::as_str))
    }

    fn mean(opinion: &ScoreOpinion) -> String {
        format!("{:.2}", opinion.mean)
    }

    fn turn(&self, number: impl ToString) -> String {
        self.page.t().benchmark.turn.replace("{n}", &number.to_string())
    }
}

impl ItemPageView {
    /// Renders everything that was said of an item.
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
            carried: choice.carried,
            fields: choice.fields,
        }
    }

    fn has_turns(&self) -> bool {
        self.turns.len() > 1
    }
}

impl Neighbours {
    /// Where an item stands in a list.
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

/// Two models' answers side by side: those that were chosen, or the first two that answered.
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

/// What each judge said of a model's answer, in the order in which they came.
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

/// What models answered, and the judgements of each answer; a judgement whose answer is not kept stands alone.
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
    let against =
        || format!("{} · A: {}, B: {}", words.game.replace("{n}", &u8::from(said.game).to_string()), a(row), b(row));
    let Thought { reasoning, reply } = Thought::split(&said.raw_text);
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
            let requests = fill(words.after_requests, &[("n", &said.attempts.to_string())]);
            format!("{} · {requests}", words.status(said.status.as_str()))
        }
        Some(Verdict::Rating(rating)) => rated(rating, words),
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

fn rated(rating: &Rating, words: &BenchmarkTexts) -> String {
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

/// A text from outside as safe HTML.
fn rendered(text: &str) -> String {
    markup::render(text).into_iter().map(|block| format!("<div class=\"block\">{block}</div>")).collect()
}
