//! When steps may be taken.
//!
//! All that this looks at is symmetric in the two sides: the later beginning, the slower tempo, the emptier reserve. A
//! reply that has ended stays in it with the continuation of its arrivals.

use std::time::Duration;

use super::arrivals::{Arrivals, BytesPerChar, TextSize, whole_bytes};
use super::duration_classes::{ClassDraw, DurationClasses, TICK};

/// How much slower than measured the text is shown, so that a reserve grows.
const MARGIN: f64 = 1.06;
/// The reserve covers a pause that is so much longer than the longest so far.
const PAUSES: f64 = 1.25;
/// A pause that was longer than so many reserves is no reason to wait longer. Nor does text that both sides have wait
/// longer for the reserve: a model that writes steadily fills the longest one meanwhile.
const LONGEST_RESERVE: u32 = 4;
/// A reply of fewer steps than its model's speed takes to measure counts as written at this part of the reserve a step, or more slowly.
const UNMEASURED: u32 = 3;

/// Bytes that a reply has to be ahead of what is shown at most, because its text counts as that of a denser script. Far less than a turn
/// reads ahead: what is not read cannot be waited for.
const MOST_AHEAD: usize = 32 << 10;

/// How replies are released.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// As text comes.
    Raw,
    /// From a reserve, at the tempo that the slower side keeps.
    Common {
        /// Time that the reserve lasts.
        reserve: Duration,
    },
    /// The same in classes.
    Classes {
        /// Time that the reserve lasts.
        reserve: Duration,
        /// Waits before the first text.
        starts: DurationClasses,
        /// Intervals between two steps.
        intervals: DurationClasses,
        /// Share of the battles that take the longest class whatever they could keep.
        slow_share: f64,
        /// The battle's draw.
        draw: ClassDraw,
    },
    /// After both replies have ended, at the shortest interval.
    Whole {
        /// Waits before the first text.
        starts: DurationClasses,
        /// Time for a reply that is too short to measure.
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

    /// How long text that both sides have waits at most.
    fn longest_wait(&self) -> Duration {
        self.reserve() * LONGEST_RESERVE
    }

    pub(super) fn unmeasured(&self) -> Duration {
        self.reserve() / UNMEASURED
    }

    /// The wait before the first text, where it could be `needed`.
    fn start(&self, needed: Duration) -> Duration {
        match self {
            Self::Raw | Self::Common { .. } => needed,
            Self::Classes { starts, slow_share, draw, .. } => {
                starts.holding(needed.max(starts.drawn(draw.start, *slow_share)))
            }
            Self::Whole { starts, .. } => starts.holding(needed),
        }
    }

    /// The interval between two steps, where it could be `needed`.
    fn interval(&self, needed: Duration) -> Duration {
        let needed = match self {
            Self::Raw | Self::Common { .. } => needed,
            Self::Classes { intervals, slow_share, draw, .. } => {
                intervals.holding(needed.max(intervals.drawn(draw.tempo, *slow_share)))
            }
            Self::Whole { .. } => TICK,
        };
        needed.max(TICK)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReleasePhase {
    /// Nothing has been shown.
    Holding,
    /// The next step is due then.
    Running { next: Duration },
    /// A side did not keep up: the reserve is filled again.
    Refilling,
}

/// The moments of the steps.
#[derive(Debug)]
pub(super) struct Schedule {
    pace: Pace,
    phase: ReleasePhase,
    /// Since when the first step could have been taken, were there no classes.
    filled: Option<Duration>,
    /// Since when both sides have the next step, while the reserve is being filled.
    available: Option<Duration>,
    /// The reserve has been full. One that was not is filled whole after the next pause.
    was_full: bool,
    /// The last step was taken without a reserve, since its text had waited for so long. Until there is one again, steps wait for no more than
    /// their text.
    is_starved: bool,
    interval: Duration,
    /// Characters of a step.
    quantum: usize,
    /// Steps that were taken.
    pub(super) taken: usize,
    /// Bytes that they took, of the denser text.
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
            interval: TICK,
            quantum,
            taken: 0,
            taken_bytes: 0.0,
        }
    }

    /// The earliest moment at which a step may be due, as far as is known at `at`; `None` while it depends on what has
    /// not come. Where it is not later than `at`, the step is due.
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
                if matches!(self.pace, Pace::Whole { .. }) || self.keeps_up([a, b], at) {
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

    /// When both replies have ended, and would have had the slower model written the longer one: otherwise the time
    /// would reveal whether it did.
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
        self.interval = self.pace.interval(slower([a, b], Arrivals::first_kept_gap, self.pace.longest_wait()));
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

    /// When a reserve of this time is full, or what both sides have has waited for the longest one.
    fn full(&mut self, [a, b]: [&mut Arrivals; 2], reserve: Duration, at: Duration) -> Option<Duration> {
        let latest = self.available([a, b], at)? + self.pace.longest_wait();
        let steps = self.steps_of(reserve, a, b);
        let full = self.reach([a, b], steps);
        let is_full = full.is_some_and(|full| full <= at);
        self.was_full |= is_full;
        self.is_starved = !is_full;
        Some(full.map_or(latest, |full| full.min(latest)))
    }

    /// Whether both sides have what the next step takes.
    fn keeps_up(&mut self, [a, b]: [&mut Arrivals; 2], at: Duration) -> bool {
        let has_come = |moment: Option<Duration>| moment.is_some_and(|moment| moment <= at);
        let is_ahead = has_come(self.reach([a, b], 1));
        self.is_starved &= !is_ahead;
        is_ahead || self.is_starved && has_come(self.next_text([a, b]))
    }

    /// Since when both sides have the text of the next step, or from when on they would.
    fn available(&mut self, sides: [&mut Arrivals; 2], at: Duration) -> Option<Duration> {
        let next = self.next_text(sides)?;
        Some(if next > at { next } else { *self.available.get_or_insert(at) })
    }

    /// Steps of a reserve of this time, or of the longest pause so far.
    fn steps_of(&self, reserve: Duration, a: &Arrivals, b: &Arrivals) -> usize {
        let pause = a.longest_gap().max(b.longest_gap()).mul_f64(PAUSES).min(reserve * LONGEST_RESERVE);
        let steps = reserve.max(pause).as_nanos().div_ceil(self.interval.as_nanos());
        usize::try_from(steps).unwrap_or(usize::MAX).max(1)
    }

    /// A step was taken.
    pub(super) fn stepped(&mut self, sides: [&mut Arrivals; 2], at: Duration) {
        let [a, b] = sides;
        let due = match self.phase {
            // What came late is not made up for.
            ReleasePhase::Running { next } if at < next + self.interval => next,
            ReleasePhase::Running { .. } | ReleasePhase::Holding => at,
            ReleasePhase::Refilling => {
                let kept = slower([a, b], Arrivals::kept_gap, self.pace.longest_wait());
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

    /// When both sides have the text of the next step, whatever its script, or would have it.
    fn next_text(&self, [a, b]: [&mut Arrivals; 2]) -> Option<Duration> {
        let text = denser(a, b);
        let size = TextSize { chars: (self.taken + 1) * self.quantum, bytes: 0 };
        Some(a.exceed(size, text)?.max(b.exceed(size, text)?))
    }

    /// When both sides have so many more steps, each with the bytes of the denser text, or would have them.
    fn reach(&self, [a, b]: [&mut Arrivals; 2], steps: usize) -> Option<Duration> {
        let text = denser(a, b);
        let chars = (self.taken + steps) * self.quantum;
        let bytes = whole_bytes(self.taken_bytes + text.bytes_of(steps * self.quantum));
        let size = TextSize { chars, bytes: bytes.min(chars + MOST_AHEAD) };
        Some(a.exceed(size, text)?.max(b.exceed(size, text)?))
    }
}

type GapOfText = fn(&Arrivals, BytesPerChar, Option<usize>) -> Duration;

/// The time between two steps that the slower model keeps, where each step counts as text of the denser script; longer than `longest`
/// only where a model takes so long for its own script.
fn slower([a, b]: [&Arrivals; 2], gap: GapOfText, longest: Duration) -> Duration {
    let (text, shared) = (denser(a, b), shared(a, b));
    let kept = |texts: [BytesPerChar; 2]| gap(a, texts[0], shared).max(gap(b, texts[1], shared)).mul_f64(MARGIN);
    kept([a, b].map(Arrivals::bytes_per_char)).max(kept([text; 2]).min(longest))
}

/// What a step takes counts for both sides as text of the side that has more bytes a character. Otherwise a pair of models would be
/// shown slowly where the slow one answers in Chinese and quickly where it answers in English. A reply too short to measure says nothing
/// about its model, and neither does its script: beside a single "好", only a slow model would be too slow for it.
fn denser(a: &Arrivals, b: &Arrivals) -> BytesPerChar {
    if a.are_few(shared(a, b)) {
        return BytesPerChar::ONE;
    }
    a.bytes_per_char().max(b.bytes_per_char())
}

/// Bytes that the characters of the shorter reply have in the denser script: a model shows as much of its speed in them as in so
/// many bytes of any other. What only the rest of the longer one could reveal about its model does not count: of the other model
/// it would not be known.
fn shared(a: &Arrivals, b: &Arrivals) -> Option<usize> {
    let chars = a.length().into_iter().chain(b.length()).min()?;
    Some(whole_bytes(a.bytes_per_char().max(b.bytes_per_char()).bytes_of(chars)))
}
