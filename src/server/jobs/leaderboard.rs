//! Keeps the leaderboard up to date: the refit loop of the leading instance, and the loop of its followers.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wait_for_event::wait_for_event;
use crate::infra::events::{BusState, Event};
use crate::infra::job_report::JobReport;
use crate::infra::metrics;
use crate::infra::stored_votes::vote_tally::StoreWhen;
use crate::services::leaderboard::latest_leaderboard::{RefitError, Refitter};

/// Interval of the checks for new votes, in case an event was lost.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(30);
/// Interval of the same checks while other instances are unreachable, or after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Poll interval for changed exclusions, which emit no event: a command beside the arena may write them.
const EXCLUSIONS_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Role of an instance in updating the leaderboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaderboardDuty {
    /// Fits the leaderboard.
    Leader,
    /// Loads the leader's latest fit.
    Follower,
}

/// Updates the leaderboard at the start, after votes, after a settings change, and a last time at shutdown. The leader fits
/// `rating.debounce_ms` after the first new vote if there are enough or the schedule is due (see [`Refitter::wait_for_votes`]); the others
/// load its fit. After each fit the leader waits four times its duration, so that fitting never uses more than a fifth of a core.
pub async fn fit_leaderboard(
    mut refitter: Refitter,
    mut leader_election: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut events = refitter.events.subscribe();
    let mut changes = refitter.settings.changes();
    let bus = refitter.events.state();
    let (mut leads, mut changed) = (false, false);
    loop {
        let started = Instant::now();
        let over = shutdown.is_cancelled();
        // At shutdown leadership is released at once; the former leader still counts the last votes.
        leads = *leader_election.borrow_and_update() || over && leads;
        let role = if leads { LeaderboardDuty::Leader } else { LeaderboardDuty::Follower };
        let store = if over { StoreWhen::AnyNew } else { StoreWhen::ManyNew };
        let wait =
            if role == LeaderboardDuty::Leader && !over && !changed { waiting_votes(&refitter).await } else { None };
        let done = wait.is_some() || update(&mut refitter, role, store, &report).await;
        if over {
            return;
        }
        changed = false;
        let look_anyway = if done && *bus.borrow() != BusState::Lost { FALLBACK_POLL_INTERVAL } else { RETRY_INTERVAL };
        let look_anyway = wait.unwrap_or(look_anyway).min(look_anyway);
        report.runs_within(look_anyway);
        let debounce = Duration::from_millis(refitter.settings.now().rating.debounce_ms);
        let (news, pause) = if leads {
            (Event::VoteRecorded, debounce.max(started.elapsed().saturating_mul(4)))
        } else {
            (Event::LeaderboardPublished, Duration::ZERO)
        };
        let next = async {
            let excluded = tokio::select! {
                // No event for a while: check anyway, in case one was lost.
                _ = tokio::time::timeout(look_anyway, wait_for_event(&mut events, news)) => false,
                () = exclusions_changed(&refitter) => true,
            };
            tokio::time::sleep(pause).await;
            excluded
        };
        tokio::select! {
            excluded = next => changed = excluded,
            // The sender is owned by the refitter's own handle.
            _ = changes.changed() => changed = true,
            // The sender is dropped at the end of the arena.
            _ = leader_election.changed(), if leader_election.has_changed().is_ok() => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Returns how long new votes wait for more; `None` if the database fails, which the update reports.
async fn waiting_votes(refitter: &Refitter) -> Option<Duration> {
    refitter.wait_for_votes().await.ok().flatten()
}

/// Waits until exclusions change. Failures are left to the next check for votes, which reports them.
async fn exclusions_changed(refitter: &Refitter) {
    loop {
        tokio::time::sleep(EXCLUSIONS_POLL_INTERVAL).await;
        if matches!(refitter.exclusions_changed().await, Ok(true)) {
            return;
        }
    }
}

/// Updates the leaderboard; returns whether that succeeded.
async fn update(refitter: &mut Refitter, role: LeaderboardDuty, store: StoreWhen, report: &JobReport) -> bool {
    let done = report.run(update_leaderboard(refitter, role, store)).await;
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

/// Fits or loads the leaderboard as needed; returns whether one was fitted.
async fn update_leaderboard(
    refitter: &mut Refitter,
    role: LeaderboardDuty,
    store: StoreWhen,
) -> Result<bool, RefitError> {
    if role == LeaderboardDuty::Follower {
        return refitter.follow().await.map(|()| false);
    }
    let fitted = refitter.refit().await?;
    refitter.store_counts(store).await?;
    Ok(fitted)
}
