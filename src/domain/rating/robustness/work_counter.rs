//! Progress of work that several threads share.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::stats::real_len;

/// Counts finished work items and reports the share.
pub(super) struct WorkCounter<F> {
    done: AtomicUsize,
    all: usize,
    progress: F,
}

impl<F: Fn(f64) + Sync> WorkCounter<F> {
    pub(super) fn new(all: usize, progress: F) -> Self {
        Self { done: AtomicUsize::new(0), all, progress }
    }

    pub(super) fn advance(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        (self.progress)(real_len(done) / real_len(self.all));
    }
}
