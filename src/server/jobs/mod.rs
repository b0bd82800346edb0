//! Background loops: each waits for a time or an event and calls a service.

pub mod battle_judging;
pub mod correlations;
mod discovery;
pub mod health;
pub mod heartbeat;
pub mod leader_election;
pub mod partitions;
pub mod reload;
pub mod robustness;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::events::{BusState, Event};
use crate::infra::metrics;
use crate::infra::storage::Store;
use crate::services::arena::abandonment::WatchedClock;
use crate::services::arena::battles::Battles;
use crate::services::leaderboard::refit::{RefitError, Refitter};
use crate::services::leaderboard::vote_tally::StoreWhen;

/// How often votes are looked for even though no event told of any.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// The same while other instances cannot be reached, or after a failure.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often is looked whether exclusions changed, of which no event tells: a command beside the arena wrote them.
const LOOK_FOR_EXCLUSIONS: Duration = Duration::from_millis(250);
/// How often battles are swept out of memory, and abandoned ones looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(20);
/// How often measurements are sorted into their buckets.
const TIDY_EVERY: Duration = Duration::from_secs(5);

/// What an instance does for the leaderboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Fits it.
    Leader,
    /// Takes in what the leader has fitted.
    Follower,
}

/// Brings the leaderboard up to date at the start, after votes, after a change of the settings, and a last time at the end.
/// The instance that has the lead fits, `rating.debounce_ms` after the first new vote; the others take in what it has
/// fitted. A fit that takes long makes the next one wait longer, so that fitting never takes more than a fifth of a core.
pub async fn keep_leaderboard(
    mut refitter: Refitter,
    mut leader_election: watch::Receiver<bool>,
    shutdown: CancellationToken,
) {
    let mut events = refitter.events.subscribe();
    let mut changes = refitter.settings.changes();
    let bus = refitter.events.state();
    let mut leads = false;
    loop {
        let started = Instant::now();
        let over = shutdown.is_cancelled();
        // At the end the lead is given up at once, and who had it takes in the votes of the last moment.
        leads = *leader_election.borrow_and_update() || over && leads;
        let role = if leads { Role::Leader } else { Role::Follower };
        let store = if over { StoreWhen::AnyNew } else { StoreWhen::ManyNew };
        let done = update(&mut refitter, role, store).await;
        if over {
            return;
        }
        let look_anyway = if done && *bus.borrow() != BusState::Lost { LOOK_ANYWAY } else { LOOK_AGAIN };
        let debounce = Duration::from_millis(refitter.settings.now().rating.debounce_ms);
        let (news, pause) = if leads {
            (Event::VoteRecorded, debounce.max(started.elapsed().saturating_mul(4)))
        } else {
            (Event::LeaderboardPublished, Duration::ZERO)
        };
        let next = async {
            tokio::select! {
                // No news for a while: look anyway, in case an event was lost.
                _ = tokio::time::timeout(look_anyway, next_event(&mut events, news)) => {}
                () = exclusions_changed(&refitter) => {}
            }
            tokio::time::sleep(pause).await;
        };
        tokio::select! {
            () = next => {}
            // The sender lives in the refitter's own handle.
            _ = changes.changed() => {}
            // The sender ends with the arena.
            _ = leader_election.changed(), if leader_election.has_changed().is_ok() => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Whether it went well.
async fn update(refitter: &mut Refitter, role: Role, store: StoreWhen) -> bool {
    let done = bring_up_to_date(refitter, role, store).await;
    match done {
        Ok(true) => tracing::debug!(votes = refitter.tally.counts.read, "leaderboard fitted"),
        Ok(false) => {}
        Err(error) => {
            metrics::refit_failed();
            if !error.is_outage() {
                tracing::error!(error = ?error, "the leaderboard could not be updated");
            }
            return false;
        }
    }
    true
}

/// Whether a leaderboard was fitted.
async fn bring_up_to_date(refitter: &mut Refitter, role: Role, store: StoreWhen) -> Result<bool, RefitError> {
    if role == Role::Follower {
        return refitter.follow().await.map(|()| false);
    }
    let fitted = refitter.refit().await?;
    refitter.store_counts(store).await?;
    Ok(fitted)
}

/// Ends once exclusions changed. What fails is left to the next look at the votes, which reports it.
async fn exclusions_changed(refitter: &Refitter) {
    loop {
        tokio::time::sleep(LOOK_FOR_EXCLUSIONS).await;
        if matches!(refitter.exclusions_changed().await, Ok(true)) {
            return;
        }
    }
}

async fn next_event(events: &mut broadcast::Receiver<Event>, wanted: Event) {
    loop {
        match events.recv().await {
            Ok(event) if event != wanted => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
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

/// Takes idle battles out of memory; the instance that leads also marks those left without a vote.
pub async fn sweep_battles(
    battles: Arc<Battles>,
    store: Store,
    clock: Arc<WatchedClock>,
    settings: CurrentSettings,
    leader_election: watch::Receiver<bool>,
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
        let minutes = settings.now().battle.abandon_after_minutes;
        let limits = clock.wait_limits(Duration::from_secs(minutes.saturating_mul(60)));
        if !*leader_election.borrow() {
            continue;
        }
        match store.abandon_battles(limits.oldest, limits.newest.unwrap_or(Timestamp(i64::MAX))).await {
            Ok(0) => {}
            Ok(count) => {
                metrics::battles_abandoned(count);
                tracing::info!(battles = count, "battles were left without a vote");
            }
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "abandoned battles could not be marked"),
        }
    }
}
