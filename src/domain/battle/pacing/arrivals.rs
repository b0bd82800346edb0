//! When the steps of one reply arrive: as they came and, after its end, as they would have come had it been longer.
//!
//! The continuation makes the slower model hold up the visible text for as long as both replies last, whichever of them
//! is the shorter one. Without it, the moment from which nothing is held up would say whose reply ended there.

use std::collections::VecDeque;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Gaps that are remembered; later ones replace the oldest.
const KEPT: usize = 256;
/// Fewer gaps say nothing about a model.
const FEW: usize = 4;
/// A gap of so many unmeasured ones is a pause: the reserve is for it, and the tempo stays. One of the square of it is
/// not continued at its length.
const LONG: u32 = 4;
/// Gaps in a row that are continued in their order, so that bursts stay bursts.
const BLOCK: usize = 8;

/// The arrivals of one side.
#[derive(Debug)]
pub(super) struct Arrivals {
    began: Option<Duration>,
    ended: Option<Duration>,
    /// When the latest step arrived.
    last: Duration,
    /// Steps that arrived.
    count: usize,
    /// Steps of the first chunk, which say nothing about the speed.
    at_once: usize,
    /// Milliseconds between steps.
    gaps: Vec<u16>,
    longest: Duration,
    /// There was a pause. The first one is not continued: one that happened once, such as a stall at the beginning, would
    /// be told from those of a model that goes on by coming again.
    paused: bool,
    /// Time in which the steps after the first chunk came, without what made pauses long.
    writing: Duration,
    /// The gap of a reply that was too short to show one.
    unmeasured: Duration,
    continuation: Option<Continuation>,
}

#[derive(Debug)]
struct Continuation {
    rng: ChaCha8Rng,
    /// Number of the first step in `moments`.
    first: usize,
    moments: VecDeque<Duration>,
    last: Duration,
    block: (usize, usize),
}

impl Arrivals {
    pub(super) fn new(unmeasured: Duration) -> Self {
        Self {
            began: None,
            ended: None,
            last: Duration::ZERO,
            count: 0,
            at_once: 0,
            gaps: Vec::new(),
            longest: Duration::ZERO,
            paused: false,
            writing: Duration::ZERO,
            unmeasured,
            continuation: None,
        }
    }

    /// `steps` have arrived in all by `at`.
    pub(super) fn came(&mut self, steps: usize, at: Duration) {
        if self.began.is_none() {
            (self.began, self.last, self.count, self.at_once) = (Some(at), at, steps, steps);
            return;
        }
        let Some(more) = steps.checked_sub(self.count).filter(|more| *more > 0) else { return };
        let gap = at.saturating_sub(self.last);
        self.longest = self.longest.max(gap);
        self.writing += gap.min(self.unmeasured * LONG);
        if gap <= self.unmeasured * LONG || self.paused {
            let kept = gap.min(self.unmeasured * LONG * LONG);
            self.remember(u16::try_from(kept.as_millis()).unwrap_or(u16::MAX));
        }
        self.paused |= gap > self.unmeasured * LONG;
        (1..more.min(KEPT)).for_each(|_| self.remember(0));
        (self.count, self.last) = (steps, at);
    }

    fn remember(&mut self, gap: u16) {
        if self.gaps.len() < KEPT {
            self.gaps.push(gap);
        } else {
            self.gaps.rotate_left(1);
            self.gaps[KEPT - 1] = gap;
        }
    }

    /// The reply has ended; what follows is drawn from `seed`.
    pub(super) fn end(&mut self, at: Duration, seed: u64) {
        if self.ended.is_some() {
            return;
        }
        self.began.get_or_insert(at);
        if self.count == 0 {
            self.last = self.last.max(self.began.unwrap_or(at));
        }
        self.ended = Some(at);
        self.continuation = Some(Continuation {
            rng: ChaCha8Rng::seed_from_u64(seed),
            first: self.count + 1,
            moments: VecDeque::new(),
            last: self.last,
            block: (0, 0),
        });
    }

    /// When the reply began, or ended without text.
    pub(super) fn began(&self) -> Option<Duration> {
        self.began
    }

    pub(super) fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Steps that arrived, and one for the rest.
    pub(super) fn whole(&self) -> usize {
        self.count + 1
    }

    /// Mean time between two steps.
    pub(super) fn mean_gap(&self) -> Duration {
        let steps = self.count - self.at_once;
        if steps < FEW && self.ended.is_some() {
            return self.unmeasured;
        }
        self.writing / u32::try_from(steps.max(1)).unwrap_or(u32::MAX)
    }

    pub(super) fn longest_gap(&self) -> Duration {
        self.longest
    }

    /// When the reply has `steps` steps, or would have them; `None` while nobody knows.
    pub(super) fn reach(&mut self, steps: usize) -> Option<Duration> {
        if steps <= self.count {
            return Some(Duration::ZERO);
        }
        let mut next = self.continuation.take()?;
        while next.first + next.moments.len() <= steps {
            let gap = self.continued_gap(&mut next);
            next.last += gap;
            next.moments.push_back(next.last);
        }
        let moment = steps.checked_sub(next.first).and_then(|at| next.moments.get(at)).copied().unwrap_or_default();
        self.continuation = Some(next);
        Some(moment.max(self.ended.unwrap_or_default()))
    }

    /// Nobody asks for these steps any more.
    pub(super) fn forget_before(&mut self, steps: usize) {
        if let Some(next) = &mut self.continuation {
            while next.first < steps && next.moments.pop_front().is_some() {
                next.first += 1;
            }
        }
    }

    fn continued_gap(&self, next: &mut Continuation) -> Duration {
        if self.gaps.len() < FEW {
            return self.unmeasured;
        }
        if next.block.1 == 0 {
            next.block = (next.rng.random_range(0..self.gaps.len()), BLOCK);
        }
        let (at, left) = next.block;
        next.block = ((at + 1) % self.gaps.len(), left - 1);
        // A gap that came twice to the microsecond would be one that was copied.
        Duration::from_millis(self.gaps[at].into()).mul_f64(next.rng.random_range(0.9..1.1))
    }
}
