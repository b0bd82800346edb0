//! How fast a model writes, as far as it has written.

use std::time::Duration;

use crate::stats::real_len;

/// How much slower than measured text is shown after a single gap; less after more of them. A tempo that the model does not
/// keep shows, and a few gaps say little about the tempo.
const UNSURE: f64 = 0.5;

/// Gaps between chunks, and what came after them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speed {
    pub(super) gaps: usize,
    pub(super) bytes: usize,
    time: Duration,
}

impl Speed {
    pub(super) fn add(&mut self, gap: Duration, bytes: usize) {
        self.gaps += 1;
        self.bytes += bytes;
        self.time += gap;
    }

    pub(super) fn remove(&mut self, gap: Duration, bytes: usize) {
        self.gaps = self.gaps.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.time = self.time.saturating_sub(gap);
    }

    /// Time in which the model writes so many bytes at the mean.
    pub(super) fn time_of(self, bytes: f64) -> Duration {
        self.time.mul_f64(bytes / real_len(self.bytes.max(1)))
    }

    /// Time in which it does so, as far as the measurement is to be trusted.
    pub(super) fn kept_time_of(self, bytes: f64) -> Duration {
        self.time_of(bytes).mul_f64(1.0 + UNSURE / real_len(self.gaps.max(1)))
    }
}
