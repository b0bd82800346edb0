//! Delays observations that name a model until there are enough of them. Otherwise a person who reads the metrics before and after a battle
//! could identify its models before the vote.

use ::metrics::Histogram;
use parking_lot::Mutex;

/// Number of observations recorded together: those of ten battles, each with two first tokens and two speeds.
const BATCH_SIZE: usize = 40;

/// Waiting observations.
#[derive(Default)]
pub(super) struct WaitingObservations(Mutex<Vec<(Histogram, f64)>>);

impl WaitingObservations {
    /// Adds an observation; records all waiting ones once there are enough.
    pub(super) fn record(&self, histogram: &Histogram, value: f64) {
        let mut waiting = self.0.lock();
        waiting.push((histogram.clone(), value));
        if waiting.len() >= BATCH_SIZE {
            for (histogram, value) in waiting.drain(..) {
                histogram.record(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ::metrics::HistogramFn;

    use super::*;

    #[derive(Default)]
    struct CountingHistogram(AtomicUsize);

    impl HistogramFn for CountingHistogram {
        fn record(&self, _: f64) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn no_observation_shows_by_itself() {
        let (waiting, seen) = (WaitingObservations::default(), Arc::new(CountingHistogram::default()));
        let histogram = Histogram::from_arc(Arc::clone(&seen));
        for number in 1..=100 {
            waiting.record(&histogram, 1.0);
            assert_eq!(seen.0.load(Ordering::SeqCst), number / BATCH_SIZE * BATCH_SIZE);
        }
    }
}
