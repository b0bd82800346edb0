//! Resources of a running reply at its model: the count of arriving replies, and the circuit breaker's ticket.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::super::breaker::{Breaker, Ticket};
use super::Shared;

/// Result of a reply for the circuit breaker.
pub(super) enum ReplyOutcome {
    Answered,
    Failed,
    /// Failed, possibly because of this conversation.
    FailedOn(u64),
    None,
}

/// Counts an arriving reply until it is dropped.
pub(super) struct ArrivingReplyGuard(Arc<Shared>);

impl ArrivingReplyGuard {
    pub(super) fn count(shared: &Arc<Shared>) -> Self {
        shared.arriving.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for ArrivingReplyGuard {
    fn drop(&mut self) {
        self.0.arriving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ticket of the circuit breaker; if it is dropped without a result, it is returned as abandoned.
pub(super) struct BreakerPermit {
    shared: Arc<Shared>,
    ticket: Option<Ticket>,
}

impl BreakerPermit {
    /// Takes a ticket for a request; `None` if the breaker is open.
    pub(super) fn take(shared: &Arc<Shared>) -> Option<Self> {
        let ticket = shared.with_breaker(|breaker| breaker.admit(Instant::now()))?;
        Some(Self { shared: Arc::clone(shared), ticket: Some(ticket) })
    }

    /// Takes a ticket for a probe; `None` unless the model is suspected.
    pub(super) fn take_probe_ticket(shared: &Arc<Shared>) -> Option<Self> {
        let ticket = shared.with_breaker(Breaker::take_probe_ticket)?;
        Some(Self { shared: Arc::clone(shared), ticket: Some(ticket) })
    }

    pub(super) fn return_ticket(&mut self, verdict: ReplyOutcome) {
        let Some(ticket) = self.ticket.take() else { return };
        self.shared.with_breaker(|breaker| match verdict {
            ReplyOutcome::Answered => breaker.succeeded(ticket),
            ReplyOutcome::Failed => breaker.failed(ticket, Instant::now()),
            ReplyOutcome::FailedOn(conversation) => breaker.failed_on(ticket, conversation),
            ReplyOutcome::None => breaker.abandoned(ticket),
        });
    }
}

impl Drop for BreakerPermit {
    fn drop(&mut self) {
        self.return_ticket(ReplyOutcome::None);
    }
}
