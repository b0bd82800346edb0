//! Changes of a model's circuit breaker: each one of its state is published, and one of its phase is logged.

use super::super::breaker::{Breaker, BreakerPhase, BreakerState};
use super::{Shared, lock};

impl Shared {
    /// Changes the breaker, logs and publishes a change of its state.
    pub(super) fn with_breaker<T>(&self, change: impl FnOnce(&mut Breaker) -> T) -> T {
        let mut breaker = lock(&self.breaker);
        let result = change(&mut breaker);
        // Published under the lock, so that the last state published is the breaker's.
        let (new, mut old_phase) = (breaker.state(), None);
        self.state.send_if_modified(|state| {
            old_phase = (state.phase != new.phase).then_some(state.phase);
            std::mem::replace(state, new) != new
        });
        drop(breaker);
        if old_phase.is_some() {
            let BreakerState { phase, failures } = new;
            match phase {
                BreakerPhase::Open => {
                    tracing::warn!(model.id = %self.card.id, breaker.failures = failures, "circuit breaker open after failures");
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
