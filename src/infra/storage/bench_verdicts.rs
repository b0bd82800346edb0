//! Judgements as scores need them: by one way of judging, without what was said.

use super::bench_judgements::lost_its_number;
use super::{BenchSet, Store, StoreError, on_reader};
use crate::domain::benchmark::item::Sampling;
use crate::domain::benchmark::judgement::{Game, Judgement, Status};
use crate::domain::judging::verdict::Verdict;
use crate::metrics::store_time;

/// Sorted here: a database would sort whole rows.
const SELECT: &str = "SELECT id, item, turn, model, judge, baseline, game, parsed, status, created_at FROM bench_judgements \
     WHERE suite = $1 AND version = $2 AND sample = $3 AND variant = $4";

type RawVerdict = (String, String, i64, String, String, String, i64, String, String, i64);

/// A judgement without its words, its request and its costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredJudgement {
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// What was read; texts, requests and costs are empty.
    pub judgement: Judgement,
}

impl Store {
    /// The judgements of a round of answers in one way, in the order in which they were stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn scored_judgements(&self, set: &BenchSet, variant: &str) -> Result<Vec<ScoredJudgement>, StoreError> {
        let _time = store_time("scored_judgements");
        let mut rows: Vec<RawVerdict> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .bind(variant)
                .fetch_all(pool)
                .await
        })?;
        rows.sort_unstable_by(|one, other| (one.9, &one.0).cmp(&(other.9, &other.0)));
        rows.into_iter().map(scored).collect()
    }
}

fn scored(row: RawVerdict) -> Result<ScoredJudgement, StoreError> {
    let (id, item_id, turn, model, judge_model, baseline, game, parsed, status, ts) = row;
    let broken =
        |column, value: String| StoreError::Inconsistent { table: "bench_judgements", column, row: id.clone(), value };
    let known_game = u8::try_from(game).ok().and_then(|game| Game::try_from(game).ok());
    let (parsed, status) = match serde_json::from_str::<Option<Verdict>>(&parsed) {
        Ok(parsed) => (parsed, status.parse().map_err(|_| broken("status", status))?),
        Err(_) if lost_its_number(&parsed) => (None, Status::OutOfRange),
        Err(_) => return Err(broken("parsed", parsed)),
    };
    let judgement = Judgement {
        turn: u32::try_from(turn).map_err(|_| broken("turn", turn.to_string()))?,
        game: known_game.ok_or_else(|| broken("game", game.to_string()))?,
        suite: String::new(),
        suite_version: String::new(),
        judge_prompt_sha256: String::new(),
        params: Sampling::default(),
        raw_text: String::new(),
        attempts: 0,
        latency_ms: None,
        tokens: None,
        item_id,
        model,
        judge_model,
        parsed,
        status,
        ts,
    };
    Ok(ScoredJudgement { baseline, judgement })
}
