//! Changes of a model's circuit breaker: every change of state is published, and every change of phase is logged.

use super::super::breaker::{Breaker, BreakerPhase, BreakerState};
use super::{Shared, lock};

/// Reason why a breaker opens.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpeningReason {
    /// Consecutive failures, or a failed trial.
    Requests,
    /// The model failed most recent visitors on questions that other models answered.
    FailedAlone,
    /// Open on another instance.
    OtherInstance,
}

impl OpeningReason {
    /// Returns the text for the log.
    fn as_str(self, former: BreakerPhase) -> &'static str {
        match self {
            Self::Requests if former == BreakerPhase::HalfOpen => "it failed when it was tried again",
            Self::Requests => "failures in a row",
            Self::FailedAlone => "it fails most visitors on questions that other models answer",
            Self::OtherInstance => "it failed on another instance",
        }
    }
}

impl Shared {
    /// Updates the breaker with the result of a request; publishes and logs a change of its state.
    pub(super) fn with_breaker<T>(&self, change: impl FnOnce(&mut Breaker) -> T) -> T {
        self.change_breaker(OpeningReason::Requests, change)
    }

    /// Updates the breaker, which may open for this reason; publishes and logs a change of its state.
    pub(super) fn change_breaker<T>(&self, reason: OpeningReason, change: impl FnOnce(&mut Breaker) -> T) -> T {
        let mut breaker = lock(&self.breaker);
        let result = change(&mut breaker);
        // Published under the lock, so that the last state published is the breaker's.
        let (new, mut old_phase) = (breaker.state(), None);
        self.state.send_if_modified(|state| {
            old_phase = (state.phase != new.phase).then_some(state.phase);
            std::mem::replace(state, new) != new
        });
        drop(breaker);
        if let Some(former) = old_phase {
            let BreakerState { phase, failures } = new;
            match phase {
                BreakerPhase::Open => {
                    let reason = reason.as_str(former);
                    tracing::warn!(model.id = %self.card.id, breaker.failures = failures, reason = %reason, "circuit breaker open");
                }
                BreakerPhase::HalfOpen => {
                    tracing::info!(model.id = %self.card.id, "circuit breaker half-open: trying the model")
                }
                BreakerPhase::Closed => {
                    tracing::info!(model.id = %self.card.id, "circuit breaker closed: the model answers again")
                }
            }
        }
        result
    }
}
