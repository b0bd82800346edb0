//! Schedule of the steps.
//!
//! Its inputs are symmetric in the two sides: the later beginning, the slower tempo, the emptier reserve. An ended reply counts with the
//! continuation of its arrivals.

use std::time::Duration;

use super::arrivals::{Arrivals, BytesPerChar, TextSize, whole_bytes};
use super::duration_classes::{ClassDraw, DurationClasses, MIN_STEP_INTERVAL};

/// Slowdown of the visible text relative to the measured tempo, so that a reserve grows.
const TEMPO_SLOWDOWN: f64 = 1.06;
/// Pause that the reserve covers, as a multiple of the longest one so far.
const PAUSE_RESERVE_FACTOR: f64 = 1.25;
/// Maximum wait in reserves, for a pause and for text that both sides have: a model that writes steadily fills the longest reserve
/// meanwhile.
const MAX_WAIT_RESERVES: u32 = 4;
/// Divisor of the reserve that gives the minimum time of a step in a reply too short to measure.
const UNMEASURED_RESERVE_DIVISOR: u32 = 3;

/// Maximum bytes that a reply has to be ahead of the visible text, because its text counts as that of a denser script. Far below the
/// read-ahead of a turn: unread text cannot be waited for.
const MAX_AHEAD_BYTES: usize = 32 << 10;

/// Release rule of replies.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// Immediately when text arrives.
    Raw,
    /// From a reserve, at the tempo that the slower side sustains.
    Common {
        /// Length of the reserve in time.
        reserve: Duration,
    },
    /// Like `Common`, with durations rounded up to classes.
    Classes {
        /// Length of the reserve in time.
        reserve: Duration,
        /// Waits before the first text.
        starts: DurationClasses,
        /// Intervals between two steps.
        intervals: DurationClasses,
        /// Share of the battles that take the longest class regardless of their speed.
        slow_share: f64,
        /// The battle's draw.
        draw: ClassDraw,
    },
    /// After both replies have ended, at the shortest interval.
    Whole {
        /// Waits before the first text.
        starts: DurationClasses,
        /// Basis of the time for a reply too short to measure.
        reserve: Duration,
    },
}

impl Pace {
    fn reserve(&self) -> Duration {
        match self {
            Self::Raw => Duration::ZERO,
            Self::Common { reserve } | Self::Classes { reserve, .. } | Self::Whole { reserve, .. } => *reserve,
        }
    }

    /// Maximum wait of text that both sides have.
    fn longest_wait(&self) -> Duration {
        self.reserve() * MAX_WAIT_RESERVES
    }

    pub(super) fn unmeasured(&self) -> Duration {
        self.reserve() / UNMEASURED_RESERVE_DIVISOR
    }

    /// The wait before the first text, given the minimum `needed`.
    fn start(&self, needed: Duration) -> Duration {
        match self {
            Self::Raw | Self::Common { .. } => needed,
            Self::Classes { starts, slow_share, draw, .. } => {
                starts.holding(needed.max(starts.drawn(draw.start, *slow_share)))
            }
            Self::Whole { starts, .. } => starts.holding(needed),
        }
    }

    /// The interval between two steps, given the minimum `needed`.
    fn interval(&self, needed: Duration) -> Duration {
        let needed = match self {
            Self::Raw | Self::Common { .. } => needed,
            Self::Classes { intervals, slow_share, draw, .. } => {
                intervals.holding(needed.max(intervals.drawn(draw.tempo, *slow_share)))
            }
            Self::Whole { .. } => MIN_STEP_INTERVAL,
        };
        needed.max(MIN_STEP_INTERVAL)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReleasePhase {
    /// Nothing has been shown.
    Holding,
    /// The next step is due at `next`.
    Running { next: Duration },
    /// A side ran out of text: the reserve is refilled.
    Refilling,
}

/// Times of the steps.
#[derive(Debug)]
pub(super) struct Schedule {
    pace: Pace,
    phase: ReleasePhase,
    /// Time from which the first step would be due without classes.
    filled: Option<Duration>,
    /// Time from which both sides have the next step, while the reserve is being filled.
    available: Option<Duration>,
    /// Whether the reserve has been full. If not, it is filled completely after the next pause, else to one half.
    was_full: bool,
    /// Whether the last step was taken without a full reserve after the maximum wait. Until the reserve recovers, steps wait only for
    /// their text.
    is_starved: bool,
    interval: Duration,
    /// Characters of a step.
    quantum: usize,
    /// Number of steps taken.
    pub(super) taken: usize,
    /// Bytes of these steps in the denser script.
    taken_bytes: f64,
}

impl Schedule {
    pub(super) fn new(pace: Pace, quantum: usize) -> Self {
        Self {
            pace,
            phase: ReleasePhase::Holding,
            filled: None,
            available: None,
            was_full: false,
            is_starved: false,
            interval: MIN_STEP_INTERVAL,
            quantum,
            taken: 0,
            taken_bytes: 0.0,
        }
    }

    /// The earliest time at which a step may be due, as known at `at`; `None` while it depends on text that has not arrived. The step is
    /// due if that time is not later than `at`.
    pub(super) fn due(&mut self, sides: [&mut Arrivals; 2], at: Duration) -> Option<Duration> {
        let [a, b] = sides;
        if !matches!(self.pace, Pace::Whole { .. }) {
            a.advance(at);
            b.advance(at);
        }
        match self.phase {
            ReleasePhase::Running { next } if at < next => {
                self.available([a, b], at);
                Some(next)
            }
            ReleasePhase::Running { next } => {
                if matches!(self.pace, Pace::Whole { .. }) || self.both_have_next_step([a, b], at) {
                    return Some(next);
                }
                self.phase = ReleasePhase::Refilling;
                self.refilled([a, b], at)
            }
            ReleasePhase::Refilling => self.refilled([a, b], at),
            ReleasePhase::Holding if matches!(self.pace, Pace::Whole { .. }) => self.whole(a, b),
            ReleasePhase::Holding => self.start([a, b], at),
        }
    }

    /// Time at which both replies would have ended had the slower model written the longer one: otherwise the time would reveal whether it
    /// did.
    fn whole(&self, a: &Arrivals, b: &Arrivals) -> Option<Duration> {
        let ended = a.ended()?.max(b.ended()?);
        let steps = u32::try_from(a.whole().max(b.whole())).unwrap_or(u32::MAX);
        let shared = shared(a, b);
        let text = denser(a, b);
        let written = a.mean_gap(text, shared).max(b.mean_gap(text, shared)).saturating_mul(steps);
        Some(self.pace.start(ended.max(a.began()?.max(b.began()?) + written)))
    }

    fn start(&mut self, [a, b]: [&mut Arrivals; 2], at: Duration) -> Option<Duration> {
        let measured = a.began()?.max(b.began()?) + self.pace.reserve();
        self.available([a, b], at);
        if at < measured {
            return Some(measured);
        }
        self.interval = self.pace.interval(slower([a, b], Arrivals::sustained_gap_of_first, self.pace.longest_wait()));
        let Some(filled) = self.full([a, b], self.pace.reserve(), at) else {
            self.filled = None;
            return None;
        };
        if filled > at {
            return Some(self.pace.start(filled));
        }
        let since = *self.filled.get_or_insert(at);
        Some(self.pace.start(since))
    }

    fn refilled(&mut self, sides: [&mut Arrivals; 2], at: Duration) -> Option<Duration> {
        let reserve = if self.was_full { self.pace.reserve() / 2 } else { self.pace.reserve() };
        self.full(sides, reserve, at)
    }

    /// Time at which a reserve of this length is full, or the text that both sides have has waited for the maximum.
    fn full(&mut self, [a, b]: [&mut Arrivals; 2], reserve: Duration, at: Duration) -> Option<Duration> {
        let latest = self.available([a, b], at)? + self.pace.longest_wait();
        let steps = self.steps_of(reserve, a, b);
        let full = self.reach([a, b], steps);
        let is_full = full.is_some_and(|full| full <= at);
        self.was_full |= is_full;
        self.is_starved = !is_full;
        Some(full.map_or(latest, |full| full.min(latest)))
    }

    /// Whether both sides have the text of the next step.
    fn both_have_next_step(&mut self, [a, b]: [&mut Arrivals; 2], at: Duration) -> bool {
        let has_come = |moment: Option<Duration>| moment.is_some_and(|moment| moment <= at);
        let is_ahead = has_come(self.reach([a, b], 1));
        self.is_starved &= !is_ahead;
        is_ahead || self.is_starved && has_come(self.next_text([a, b]))
    }

    /// Time from which both sides have, or will have, the text of the next step.
    fn available(&mut self, sides: [&mut Arrivals; 2], at: Duration) -> Option<Duration> {
        let next = self.next_text(sides)?;
        Some(if next > at { next } else { *self.available.get_or_insert(at) })
    }

    /// Number of steps of a reserve of this length, or of the longest pause so far.
    fn steps_of(&self, reserve: Duration, a: &Arrivals, b: &Arrivals) -> usize {
        let pause = a.longest_gap().max(b.longest_gap()).mul_f64(PAUSE_RESERVE_FACTOR).min(reserve * MAX_WAIT_RESERVES);
        let steps = reserve.max(pause).as_nanos().div_ceil(self.interval.as_nanos());
        usize::try_from(steps).unwrap_or(usize::MAX).max(1)
    }

    /// Records a step taken at `at`.
    pub(super) fn stepped(&mut self, sides: [&mut Arrivals; 2], at: Duration) {
        let [a, b] = sides;
        let due = match self.phase {
            // A long delay is not made up for by shorter intervals.
            ReleasePhase::Running { next } if at < next + self.interval => next,
            ReleasePhase::Running { .. } | ReleasePhase::Holding => at,
            ReleasePhase::Refilling => {
                let kept = slower([a, b], Arrivals::sustained_gap, self.pace.longest_wait());
                self.interval = self.interval.max(self.pace.interval(kept));
                at
            }
        };
        self.phase = ReleasePhase::Running { next: due + self.interval };
        self.taken += 1;
        self.taken_bytes += denser(a, b).bytes_of(self.quantum);
        self.available = None;
        self.available([a, b], at);
    }

    /// Time at which both sides have, or would have, the text of the next step, in characters alone.
    fn next_text(&self, [a, b]: [&mut Arrivals; 2]) -> Option<Duration> {
        let text = denser(a, b);
        let size = TextSize { chars: (self.taken + 1) * self.quantum, bytes: 0 };
        Some(a.time_to_exceed(size, text)?.max(b.time_to_exceed(size, text)?))
    }

    /// Time at which both sides have, or would have, this number of further steps, each with the bytes of the denser text.
    fn reach(&self, [a, b]: [&mut Arrivals; 2], steps: usize) -> Option<Duration> {
        let text = denser(a, b);
        let chars = (self.taken + steps) * self.quantum;
        let bytes = whole_bytes(self.taken_bytes + text.bytes_of(steps * self.quantum));
        let size = TextSize { chars, bytes: bytes.min(chars + MAX_AHEAD_BYTES) };
        Some(a.time_to_exceed(size, text)?.max(b.time_to_exceed(size, text)?))
    }
}

type GapOfText = fn(&Arrivals, BytesPerChar, Option<usize>) -> Duration;

/// The time between two steps that the slower model sustains, with each step counted as text of the denser script; above `longest`
/// only where a model needs it for its own script.
fn slower([a, b]: [&Arrivals; 2], gap: GapOfText, longest: Duration) -> Duration {
    let (text, shared) = (denser(a, b), shared(a, b));
    let kept =
        |texts: [BytesPerChar; 2]| gap(a, texts[0], shared).max(gap(b, texts[1], shared)).mul_f64(TEMPO_SLOWDOWN);
    kept([a, b].map(Arrivals::bytes_per_char)).max(kept([text; 2]).min(longest))
}

/// Bytes per character of the side that has more; a step counts as such text for both sides. Otherwise a pair of models would be shown
/// slowly where the slow one answers in Chinese and quickly where it answers in English. The script of a reply too short to measure is
/// ignored: next to a single "好", only a slow model would be too slow for it.
fn denser(a: &Arrivals, b: &Arrivals) -> BytesPerChar {
    if a.are_few(shared(a, b)) {
        return BytesPerChar::ONE;
    }
    a.bytes_per_char().max(b.bytes_per_char())
}

/// Bytes of the shorter reply's characters in the denser script, the basis of all measurements. The rest of the longer reply does not
/// count: it would reveal something about its model that is unknown for the other one.
fn shared(a: &Arrivals, b: &Arrivals) -> Option<usize> {
    let chars = a.length().into_iter().chain(b.length()).min()?;
    Some(whole_bytes(a.bytes_per_char().max(b.bytes_per_char()).bytes_of(chars)))
}
