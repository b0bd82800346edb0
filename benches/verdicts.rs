//! Cost of judging stored verdicts. Run with `cargo bench --bench verdicts`.
//!
//! 10,000 replies of about 1,500 characters, in the formats of two suites, are parsed and converted to every model's scores.

use divan::Bencher;
use langya::domain::benchmark::item::{Item, ItemSampling, Question};
use langya::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use langya::domain::benchmark::scores::panel_scores::{JudgementTable, PanelScores};
use langya::domain::benchmark::suites::alignbench;
use langya::domain::benchmark::suites::mtbench101::TASKS;
use langya::domain::benchmark::{Suite, SuiteOptions, suite};
use langya::domain::language::Language;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    divan::main();
}

const REPLIES: usize = 10_000;
const MODELS: usize = 16;

fn item(id: usize, category: &str, subcategory: &str) -> Item {
    Item {
        id: id.to_string(),
        category: category.to_owned(),
        subcategory: Some(subcategory.to_owned()),
        language: Language::Chinese,
        turns: vec![Question { question: "？".to_owned(), reference: Some("。".to_owned()) }; 2],
        choices: None,
    }
}

/// Builds a judgement with an unparsed reply.
fn stored(item: &Item, turn: u32, model: usize, raw_text: String) -> Judgement {
    Judgement {
        suite: "suite".to_owned(),
        suite_version: "0".to_owned(),
        item_id: item.id.clone(),
        turn,
        model: format!("model-{model}"),
        judge_model: "judge".to_owned(),
        judge_prompt_sha256: String::new(),
        params: ItemSampling::default(),
        game: Game::First,
        raw_text,
        parsed: None,
        status: Status::ParseFailed,
        attempts: 1,
        latency_ms: None,
        tokens: None,
        ts: 0,
    }
}

/// Parses every reply and scores every model.
fn judge(suite: &dyn Suite, items: &[Item], mut judgements: Vec<Judgement>) -> Vec<PanelScores> {
    for (place, judgement) in judgements.iter_mut().enumerate() {
        let read = suite.parse(&items[place % items.len()], &judgement.raw_text);
        judgement.status = read.as_ref().err().map_or(Status::Ok, |error| Status::from(*error));
        judgement.parsed = read.ok();
    }
    JudgementTable::new(&judgements).scores(suite, items)
}

/// Parses dictionaries of dimensions after an explanation with braces and brackets.
#[divan::bench]
fn alignbench_10_000(bencher: Bencher) {
    let suite = suite("alignbench", &SuiteOptions::default()).expect("the suite is built in");
    let categories = alignbench::CATEGORIES;
    let items: Vec<Item> =
        (0..REPLIES / MODELS).map(|id| item(id, categories[id % categories.len()].name, "推理")).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let explained = "参考答案给出了完整的步骤，助手的回答遗漏了集合{1, 2}，见[1]。满足用户需求：基本满足。".repeat(30);
    let replies: Vec<Judgement> = (0..items.len() * MODELS)
        .map(|place| {
            let mut score = || rng.random_range(1..=10);
            let scores = format!(
                "{{'事实正确性': {}, '满足用户需求': {}, '逻辑连贯性': {}, '完备性': {}, '综合得分': {}}}",
                score(),
                score(),
                score(),
                score(),
                score()
            );
            stored(&items[place % items.len()], 1, place / items.len(), format!("{explained}{scores}"))
        })
        .collect();
    bencher.with_inputs(|| replies.clone()).bench_values(|replies| judge(&*suite, &items, replies));
}

/// Parses ratings in brackets after an explanation.
#[divan::bench]
fn mtbench101_10_000(bencher: Bencher) {
    let suite = suite("mtbench101", &SuiteOptions::default()).expect("the suite is built in");
    let items: Vec<Item> = (0..REPLIES / MODELS).map(|id| item(id, TASKS[id % TASKS.len()].code, "")).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let explained =
        "As said in [1], the reply recalls what was said before, though its rating is not easy. ".repeat(17);
    let replies: Vec<Judgement> = (0..items.len() * MODELS)
        .map(|place| {
            let score: u32 = rng.random_range(1..=10);
            stored(&items[place % items.len()], 2, place / items.len(), format!("{explained}Rating: [[{score}]]"))
        })
        .collect();
    bencher.with_inputs(|| replies.clone()).bench_values(|replies| judge(&*suite, &items, replies));
}
