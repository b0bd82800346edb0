//! What judgements say about the judges: whether the side, the length or the judge's own hand sways them, and how far
//! judges go together.
//!
//! [`position_bias`] and [`length`] look at single verdicts, [`self_preference`] and [`judges`] at models' scores by judge, [`self_preference_matrix`]
//! at evaluators that score by each other's references (URS), [`item_scores`] at what single items show, [`five_level_verdicts`] at win rates against a baseline, and
//! [`weighted_scores`] at how far expected scores are from written ones. [`failed_judgements`] counts what gave no verdict. A number that does not exist is an
//! [`Undefined`](crate::stats::Undefined) with its reason.

pub mod failed_judgements;
pub mod five_level_verdicts;
pub mod item_scores;
pub mod judges;
pub mod length;
pub mod position_bias;
pub mod self_preference;
pub mod self_preference_matrix;
pub mod weighted_scores;

/// A judgement for tests to change.
#[cfg(test)]
fn any_judgement() -> crate::benchmark::judgement::Judgement {
    use crate::benchmark::judgement::{Game, Judgement, Status};
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
