//! Background loops: they wait for their time or an event and call a service.

pub mod discovery;
pub mod health;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, Timestamp};
use crate::events::Event;
use crate::metrics;
use crate::services::battles::Battles;
use crate::services::leaderboard::Refitter;
use crate::storage::Store;

/// How often votes are looked for even though no event told of any.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// How often battles are swept out of memory, and abandoned ones looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(20);
/// How often measurements are sorted into their buckets.
const TIDY_EVERY: Duration = Duration::from_secs(5);

/// Fits the leaderboard at the start and after new votes, `debounce` after the first of them. A fit that takes long
/// makes the next one wait longer, so that fitting never takes more than a fifth of a core.
pub async fn keep_leaderboard(mut refitter: Refitter, debounce: Duration, shutdown: CancellationToken) {
    let mut events = refitter.events.subscribe();
    loop {
        let started = Instant::now();
        match refitter.refit().await {
            Ok(true) => tracing::debug!(votes = refitter.tally.read, "leaderboard fitted"),
            Ok(false) => {}
            Err(error) => {
                metrics::refit_failed();
                tracing::error!(error = ?error, "the leaderboard could not be fitted");
            }
        }
        let pause = debounce.max(4 * started.elapsed());
        let next = async {
            // No vote for a while: look anyway, in case an event was lost.
            let _ = tokio::time::timeout(LOOK_ANYWAY, next_vote(&mut events)).await;
            tokio::time::sleep(pause).await;
        };
        tokio::select! {
            () = next => {}
            () = shutdown.cancelled() => return,
        }
    }
}

async fn next_vote(events: &mut tokio::sync::broadcast::Receiver<Event>) {
    loop {
        match events.recv().await {
            Ok(Event::VoteRecorded) | Err(RecvError::Lagged(_)) => return,
            Ok(Event::LeaderboardPublished) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Sorts what was measured, so that it does not pile up where nobody reads it.
pub async fn tidy_metrics(shutdown: CancellationToken) {
    let mut ticker = tokio::time::interval(TIDY_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => metrics::tidy_up(),
            () = shutdown.cancelled() => return,
        }
    }
}

/// Takes idle battles out of memory and marks those left without a vote.
pub async fn sweep_battles(
    battles: Arc<Battles>,
    store: Store,
    clock: Arc<dyn Clock>,
    abandon_after: Duration,
    shutdown: CancellationToken,
) {
    let mut ticker = tokio::time::interval(SWEEP_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        battles.sweep();
        let age = i64::try_from(abandon_after.as_millis()).unwrap_or(i64::MAX);
        match store.abandon_battles(Timestamp(clock.now().0.saturating_sub(age))).await {
            Ok(0) => {}
            Ok(count) => {
                metrics::battles_abandoned(count);
                tracing::info!(battles = count, "battles were left without a vote");
            }
            Err(error) => tracing::error!(error = ?error, "abandoned battles could not be marked"),
        }
    }
}
