//! What all requests of a run share: when to stop, and what may be spent.

use tokio::sync::futures::Notified;
use tokio::sync::{Mutex, MutexGuard, Notify};
use tokio_util::sync::CancellationToken;

use super::RunEnd;
use crate::domain::judging::budget::{Budget, BudgetTracker, NoRoom, Reservation, Tokens};

/// Limits that all requests of a run share.
#[derive(Debug, Default)]
pub struct RunLimits {
    /// Fires when nothing new may begin.
    pub stop: CancellationToken,
    /// What is spent.
    pub budget: BudgetTracker,
    /// Wakes the requests that wait for room in the budget when the cost of another one is known.
    settled: Notify,
    /// Held by the only request under way, of all models, that may cost more than the budget has left.
    unknown_cost: Mutex<()>,
}

impl RunLimits {
    /// The limits of a run that has spent nothing yet.
    #[must_use]
    pub fn new(stop: CancellationToken, budget: Budget) -> Self {
        Self { stop, budget: BudgetTracker::new(budget), ..Self::default() }
    }

    /// Whether nothing more is to begin.
    #[must_use]
    pub fn are_reached(&self) -> bool {
        self.stop.is_cancelled() || self.budget.is_exhausted()
    }

    /// A request's share of the budget; `None` while requests under way may cost what is left.
    pub(super) fn reserve(&self, cost: f64) -> Result<Option<BudgetShare<'_>>, RunEnd> {
        match self.budget.reserve(cost) {
            Ok(reserved) => Ok(Some(self.share(reserved))),
            Err(NoRoom::ForNow) => Ok(None),
            Err(NoRoom::ForGood) => Err(RunEnd::OverBudget),
        }
    }

    /// The share of a request that an earlier run sent and counted.
    pub(super) fn sent_before(&self) -> BudgetShare<'_> {
        self.share(self.budget.sent_before())
    }

    fn share<'l>(&'l self, reserved: Reservation<'l>) -> BudgetShare<'l> {
        BudgetShare { reserved, _waker: BudgetWaker(&self.settled) }
    }

    /// Comes when a request ends after this call, even before it is awaited.
    pub(super) fn settlement(&self) -> Notified<'_> {
        self.settled.notified()
    }

    /// The turn of a request that may cost more than the budget has left.
    pub(super) async fn unknown_cost(&self) -> Result<MutexGuard<'_, ()>, RunEnd> {
        self.unless_stopped(self.unknown_cost.lock()).await
    }

    /// Waits, unless the run is stopped first.
    pub(super) async fn unless_stopped<T>(&self, wait: impl Future<Output = T>) -> Result<T, RunEnd> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(RunEnd::Stopped),
            done = wait => Ok(done),
        }
    }
}

/// A request's share of the budget. Its end wakes the requests that wait for room.
#[must_use = "a share is settled when the reply is there"]
pub(super) struct BudgetShare<'l> {
    reserved: Reservation<'l>,
    /// Declared last, so that it is dropped after the reservation.
    _waker: BudgetWaker<'l>,
}

impl BudgetShare<'_> {
    /// Replaces the estimate by the actual cost.
    pub(super) fn settle(self, tokens: Tokens, cost: f64) {
        self.reserved.settle(tokens, cost);
    }
}

struct BudgetWaker<'l>(&'l Notify);

impl Drop for BudgetWaker<'_> {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}
