//! Remaining daily budget for automatic judging. It is computed from the stored verdicts of all runs, so it survives restarts and covers
//! all instances.

use crate::domain::judging::budget::{Budget, Tokens};
use crate::domain::time::{Timestamp, day_of};
use crate::infra::config::JudgeSettings;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::storage::{JudgeSpending, Store, StoreError};

/// Returns the remainder of the day's budget; `None` if it is exhausted.
///
/// # Errors
/// [`StoreError`].
pub async fn left(
    store: &Store,
    settings: &JudgeSettings,
    judges: &[ModelClient],
    now: Timestamp,
) -> Result<Option<Budget>, StoreError> {
    Ok(left_after(&store.verdict_spending(day_of(now)).await?, settings, judges))
}

fn left_after(spent: &[JudgeSpending], settings: &JudgeSettings, judges: &[ModelClient]) -> Option<Budget> {
    let calls: u64 = spent.iter().map(|one| one.calls).sum();
    let cost: f64 = spent.iter().map(|one| cost(one, judges)).sum();
    let max_calls = (settings.max_calls_per_day > 0).then(|| settings.max_calls_per_day.saturating_sub(calls));
    let max_cost = (settings.budget_per_day > 0.0).then_some(settings.budget_per_day - cost);
    let is_exhausted = max_calls == Some(0) || max_cost.is_some_and(|left| left <= 0.0);
    (!is_exhausted).then_some(Budget { max_calls, max_cost })
}

/// Computes the cost of a judge's requests; 0 for a judge that is no longer configured.
fn cost(spent: &JudgeSpending, judges: &[ModelClient]) -> f64 {
    let prices = judges.iter().find(|judge| judge.id.as_str() == spent.judge).and_then(|judge| judge.prices);
    let tokens = Tokens { input: spent.tokens.prompt, output: spent.tokens.reply };
    prices.map_or(0.0, |prices| prices.cost(tokens))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::domain::battle::ModelId;
    use crate::domain::benchmark::scores::judgement::JudgeTokens;
    use crate::domain::judging::budget::Prices;
    use crate::infra::config::BenchSettings;
    use crate::infra::llm::{ChatModel, Message, ReplyStream, Sampling};

    struct Silent;

    impl ChatModel for Silent {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            Box::pin(futures_util::stream::empty())
        }
    }

    fn left_with(max_calls_per_day: u64, budget_per_day: f64) -> Option<Budget> {
        let settings = JudgeSettings { max_calls_per_day, budget_per_day, ..JudgeSettings::default() };
        let rng = ChaCha8Rng::seed_from_u64(1);
        let mut judge = ModelClient::new(ModelId::new("j"), Arc::new(Silent), BenchSettings::default(), rng);
        judge.prices = Some(Prices { input: 1.0, output: 10.0 });
        let tokens = JudgeTokens { prompt: 1_000_000, reply: 100_000 };
        let spent = ["j", "gone"].map(|name| JudgeSpending { judge: name.into(), calls: 5, tokens });
        left_after(&spent, &settings, &[judge])
    }

    #[test]
    fn what_was_spent_today_is_taken_off_and_zero_is_no_limit() {
        assert_eq!(left_with(12, 0.0), Some(Budget { max_calls: Some(2), max_cost: None }));
        assert_eq!(left_with(0, 2.5), Some(Budget { max_calls: None, max_cost: Some(0.5) }));
        assert_eq!((left_with(10, 0.0), left_with(0, 2.0)), (None, None));
        assert_eq!(left_with(0, 0.0), Some(Budget::default()));
    }
}
