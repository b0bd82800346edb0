//! Limits that all requests of a run share: stop signal and budget.

use tokio::sync::futures::Notified;
use tokio::sync::{Mutex, MutexGuard, Notify};
use tokio_util::sync::CancellationToken;

use super::RunEnd;
use crate::domain::judging::budget::{Budget, BudgetTracker, Reservation, ReserveError, Tokens};

/// Limits that all requests of a run share.
#[derive(Debug, Default)]
pub struct RunLimits {
    /// Cancelled when no new request may begin.
    pub stop: CancellationToken,
    /// Spent and reserved cost.
    pub budget: BudgetTracker,
    /// Notifies requests that wait for budget when the cost of another one is settled.
    settled: Notify,
    /// Held by the only request in progress, of all models, that may cost more than the rest of the budget.
    unknown_cost: Mutex<()>,
}

impl RunLimits {
    /// Creates the limits of a run that has spent nothing yet.
    #[must_use]
    pub fn new(stop: CancellationToken, budget: Budget) -> Self {
        Self { stop, budget: BudgetTracker::new(budget), ..Self::default() }
    }

    /// Whether no new request may begin.
    #[must_use]
    pub fn are_reached(&self) -> bool {
        self.stop.is_cancelled() || self.budget.is_exhausted()
    }

    /// Reserves a request's share of the budget; `None` while requests in progress may use up the rest.
    pub(super) fn reserve(&self, cost: f64) -> Result<Option<BudgetShare<'_>>, RunEnd> {
        match self.budget.reserve(cost) {
            Ok(reserved) => Ok(Some(self.share(reserved))),
            Err(ReserveError::ForNow) => Ok(None),
            Err(ReserveError::ForGood) => Err(RunEnd::OverBudget),
        }
    }

    /// Returns the share of a request that an earlier run sent and counted.
    pub(super) fn sent_before(&self) -> BudgetShare<'_> {
        self.share(self.budget.sent_before())
    }

    fn share<'l>(&'l self, reserved: Reservation<'l>) -> BudgetShare<'l> {
        BudgetShare { reserved, _waker: BudgetWaker(&self.settled) }
    }

    /// Returns a future that completes when a request ends after this call, even before it is awaited.
    pub(super) fn settlement(&self) -> Notified<'_> {
        self.settled.notified()
    }

    /// Waits for the exclusive permit of a request that may cost more than the rest of the budget.
    pub(super) async fn unknown_cost(&self) -> Result<MutexGuard<'_, ()>, RunEnd> {
        self.unless_stopped(self.unknown_cost.lock()).await
    }

    /// Waits for a future, unless the run is stopped first.
    pub(super) async fn unless_stopped<T>(&self, wait: impl Future<Output = T>) -> Result<T, RunEnd> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(RunEnd::Stopped),
            done = wait => Ok(done),
        }
    }
}

/// A request's share of the budget. Dropping it notifies the requests that wait for budget.
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
