//! The benchmarks: judges' replies, data files, aggregation, and the papers' own results.

mod alignbench;
mod analysis;
mod custom;
mod mtbench101;
mod panel_scores;
mod papers;
mod published;
mod replies;
mod superclue;
mod urs;

use std::path::{Path, PathBuf};

use langya::domain::benchmark::item::{Answer, Item, ItemSampling};
use langya::domain::benchmark::scores::judgement::{Game, JudgeRequest, JudgeStep, Judgement, Status};
use langya::domain::benchmark::{Suite, SuiteOptions, suite};
use langya::domain::judging::verdict::{Rating, Verdict};

use crate::support::ratings::shared;

/// A file of the reference material; `None`, with the reason printed, where that is absent.
pub(crate) fn reference(name: &str) -> Option<PathBuf> {
    shared().map(|folder| folder.join(name))
}

/// The acceptance vectors by name.
pub(crate) fn vectors(name: &str) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(reference("reference/vectors.json")?).unwrap();
    Some(serde_json::from_str::<serde_json::Value>(&text).unwrap()[name].clone())
}

/// A judgement of a turn as a judge's verdict, or a failure.
pub(crate) fn judged(item: &str, turn: u32, game: Game, verdict: Result<Verdict, Status>) -> Judgement {
    Judgement {
        suite: String::new(),
        suite_version: String::new(),
        item_id: item.to_owned(),
        turn,
        model: "model".to_owned(),
        judge_model: "judge".to_owned(),
        judge_prompt_sha256: String::new(),
        params: ItemSampling::default(),
        game,
        raw_text: String::new(),
        status: verdict.as_ref().err().copied().unwrap_or(Status::Ok),
        parsed: verdict.ok(),
        attempts: 1,
        latency_ms: None,
        tokens: None,
        ts: 0,
    }
}

/// A turn's rating.
pub(crate) fn rated(item: &str, turn: u32, score: f64, dimensions: &[(&str, f64)]) -> Judgement {
    let dimensions = dimensions.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect();
    judged(item, turn, Game::First, Ok(Verdict::Rating(Rating::new(score, dimensions))))
}

/// A suite with an ablation and compat switches.
pub(crate) fn suite_with(name: &str, ablation: Option<&str>, compat: &[&str]) -> Box<dyn Suite> {
    let compat = compat.iter().map(|name| (*name).to_owned()).collect();
    suite(name, &SuiteOptions { ablation: ablation.map(str::to_owned), compat, ..SuiteOptions::default() }).unwrap()
}

/// A small data file of our own.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/suites").join(name)
}

pub(crate) fn read_fixture(suite: &dyn Suite, name: &str) -> Vec<Item> {
    suite.read(&std::fs::read(data(name)).unwrap()).unwrap()
}

pub(crate) fn answer(turn: u32, text: &str) -> Answer {
    Answer { turn, text: text.to_owned() }
}

/// The first question to a judge that the answers give rise to.
#[track_caller]
pub(crate) fn asked(suite: &dyn Suite, item: &Item, answers: &[Answer], baseline: &[Answer]) -> JudgeRequest {
    match suite.judgings(item, answers, baseline).remove(0).step {
        JudgeStep::Ask(request) => request,
        other => panic!("a judge is to be asked, not {other:?}"),
    }
}
