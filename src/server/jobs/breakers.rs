//! The state of each model's circuit breaker: shared with other instances, and stored at each change, so that `langya models list` shows
//! it. The breaker itself logs changes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::domain::battle::ModelId;
use crate::infra::backoff::later;
use crate::infra::job_report::JobReport;
use crate::infra::llm::breaker::BreakerState;
use crate::infra::redis::{BreakerRemaining, SharedBreakers};
use crate::infra::storage::{BreakerReport, Store, StoreError};
use crate::infra::time::clock::Clock;
use crate::services::arena::models::Models;

/// Poll interval for breaker states.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Stores and shares the breaker states of the current roster.
pub async fn store_breakers(
    models: Arc<Models>,
    store: Store,
    shared: Option<SharedBreakers>,
    clock: Arc<dyn Clock>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut known: HashMap<ModelId, BreakerState> = HashMap::new();
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        if let Some(shared) = &shared {
            share_breakers(&models, shared).await;
        }
        let stored = report.run(store_states(&models, &store, clock.as_ref(), &mut known)).await;
        report.runs_within(POLL_INTERVAL);
        match stored {
            Ok(()) => {}
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "the state of a circuit breaker could not be stored"),
        }
    }
}

/// Stores the states that changed. A failure does not keep other states from being stored; the last one is returned.
async fn store_states(
    models: &Models,
    store: &Store,
    clock: &dyn Clock,
    known: &mut HashMap<ModelId, BreakerState>,
) -> Result<(), StoreError> {
    let mut done = Ok(());
    for model in models.current().all() {
        let state = model.state();
        if known.get(&model.card.id) == Some(&state) {
            continue;
        }
        let report = BreakerReport { state: state.phase.as_str().to_owned(), failures: u64::from(state.failures) };
        if let Err(error) = store.put_breaker(&model.card.id, &report, clock.now()).await {
            done = Err(error);
            continue;
        }
        known.insert(model.card.id.clone(), state);
    }
    done
}

/// Announces open breakers of this instance to the others, and opens here those that are open there.
async fn share_breakers(models: &Models, shared: &SharedBreakers) {
    let roster = models.current();
    let own: Vec<BreakerRemaining> = roster
        .all()
        .iter()
        .map(|model| BreakerRemaining { model: model.card.id.to_string(), remaining: model.breaker_remaining() })
        .collect();
    let asked_at = Instant::now();
    let Some(open) = shared.exchange(&own).await else { return };
    for (model, remaining) in roster.all().iter().zip(open) {
        // Measured from before the request, so that no breaker stays open longer than the original.
        let until = remaining.map(|remaining| later(asked_at, remaining));
        if let Some(until) = until.filter(|until| *until > Instant::now()) {
            model.open_breaker_until(until);
        }
    }
}
