//! Measured writing speed of a model.

use std::time::Duration;

use crate::stats::real_len;

/// Slowdown relative to the measured speed after a single gap; it decreases with the number of gaps. A tempo that the model cannot
/// sustain is visible, and few gaps measure the tempo poorly.
const SINGLE_GAP_SLOWDOWN: f64 = 0.5;

/// Number of gaps between chunks, with their total time and the bytes after them.
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

    /// Mean time for this number of bytes.
    pub(super) fn time_of(self, bytes: f64) -> Duration {
        self.time.mul_f64(bytes / real_len(self.bytes.max(1)))
    }

    /// Time for this number of bytes with a margin for the uncertainty of the measurement.
    pub(super) fn kept_time_of(self, bytes: f64) -> Duration {
        self.time_of(bytes).mul_f64(1.0 + SINGLE_GAP_SLOWDOWN / real_len(self.gaps.max(1)))
    }
}
