//! Analysis of judges: position, length and self-preference bias, and agreement between judges.
//!
//! [`position_bias`] and [`length`] use single verdicts, [`self_preference`] and [`judges`] models' scores by judge,
//! [`self_preference_matrix`] evaluators that score with each other's references (URS), [`item_scores`] single items,
//! [`five_level_verdicts`] win rates against a baseline, and [`weighted_scores`] differences of expected and written scores.
//! [`failed_judgements`] counts judgements without a verdict. A statistic that does not exist is an [`Undefined`](crate::stats::Undefined)
//! with its reason.

pub mod failed_judgements;
pub mod five_level_verdicts;
pub mod item_scores;
pub mod judges;
pub mod length;
pub mod position_bias;
pub mod run_comparison;
pub mod self_preference;
pub mod self_preference_matrix;
pub mod weighted_scores;

/// Judgement as a template for tests.
#[cfg(test)]
fn any_judgement() -> crate::benchmark::scores::judgement::Judgement {
    use crate::benchmark::scores::judgement::{Game, Judgement, Status};
    Judgement {
        suite: String::new(),
        suite_version: String::new(),
        item_id: String::new(),
        turn: 1,
        model: "m".to_owned(),
        judge_model: "j".to_owned(),
        judge_prompt_sha256: String::new(),
        params: crate::benchmark::item::ItemSampling::default(),
        game: Game::First,
        raw_text: String::new(),
        parsed: None,
        status: Status::Ok,
        attempts: 1,
        latency_ms: None,
        tokens: None,
        ts: 0,
    }
}
