//! Pacing: the schedule by which the text of both replies is shown.
//!
//! With pacing, the visible chunks are a function of the two texts alone: every step takes exactly one quantum from each
//! side that has not ended. Neither speed nor the provider's chunk sizes can be read off the wire. The moments of the
//! steps (`schedule`) are functions of both sides alike, also after one of them has ended (`arrivals`). Pure: time is
//! an argument, counted from the beginning of the turn.

mod arrivals;
mod duration_classes;
pub mod metrics;
mod schedule;

use std::time::Duration;

pub use self::duration_classes::{ClassDraw, DurationClasses, MIN_STEP_INTERVAL};
pub use self::schedule::Pace;
use super::Side;
use arrivals::{Arrivals, TextSize};
use schedule::Schedule;

/// Interval at which both replies are read while no step is due, once text shows.
const READ_INTERVAL: Duration = Duration::from_millis(50);

/// Output of a step for one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// Next text of a side's reply.
    Text(Side, String),
    /// The side's reply is complete, or was stopped.
    Done(Side),
    /// The side's reply broke off after the text shown.
    Broken(Side),
}

/// End of a side's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The reply is complete, or was stopped.
    Complete,
    /// The reply broke off.
    Broken,
}

#[derive(Debug)]
struct SideBuffer {
    /// Received text; its first `taken` bytes have been released.
    pending: String,
    taken: usize,
    pending_chars: usize,
    arrivals: Arrivals,
    ending: Option<Ending>,
    closed: bool,
}

/// Releases the text of both sides in common steps.
#[derive(Debug)]
pub struct Pacer {
    lanes: [SideBuffer; 2],
    quantum: Option<usize>,
    schedule: Schedule,
    seed: u64,
    /// Usual time per byte of each side's model; zero where unknown.
    usual_byte_times: [Duration; 2],
}

impl Pacer {
    /// Creates a pacer with `quantum` characters a step and side (at least 1), unless the pace is raw. The seed is for the simulated
    /// continuation of an ended reply.
    #[must_use]
    pub fn new(pace: Pace, quantum: usize, seed: u64) -> Self {
        let quantum = (pace != Pace::Raw).then_some(quantum.max(1));
        let lane = || SideBuffer::new(Arrivals::new(quantum.unwrap_or(1), pace.unmeasured()));
        Self {
            lanes: [lane(), lane()],
            quantum,
            schedule: Schedule::new(pace, quantum.unwrap_or(1)),
            seed,
            usual_byte_times: [Duration::ZERO; 2],
        }
    }

    /// Sets the usual time per byte of the side's model; zero where unknown. A reply too short to measure is shown no faster than the
    /// slower of both models usually writes, whichever of them wrote it.
    pub fn set_usual_byte_time(&mut self, side: Side, byte_time: Duration) {
        self.usual_byte_times[side.index()] = byte_time;
        let [a, b] = self.usual_byte_times;
        self.lanes.iter_mut().for_each(|lane| lane.arrivals.set_usual_byte_time(a.max(b)));
    }

    /// Measured time per byte of the side's reply; `None` before its end and where it is too short to measure.
    #[must_use]
    pub fn byte_time(&self, side: Side) -> Option<Duration> {
        self.lanes[side.index()].arrivals.byte_time()
    }

    /// Adds text to a side's reply, received at `at`.
    pub fn push(&mut self, side: Side, text: &str, at: Duration) {
        let lane = &mut self.lanes[side.index()];
        let size = TextSize::of(text);
        if size.chars == 0 {
            return;
        }
        lane.pending.push_str(text);
        lane.pending_chars += size.chars;
        if self.quantum.is_some() {
            lane.arrivals.add_text(size, at);
        }
    }

    /// Bytes of a side's reply that were received and not yet shown.
    #[must_use]
    pub fn backlog(&self, side: Side) -> usize {
        let lane = &self.lanes[side.index()];
        lane.pending.len() - lane.taken
    }

    /// Ends the side's reply at `at`; the first call counts.
    pub fn end(&mut self, side: Side, ending: Ending, at: Duration) {
        let lane = &mut self.lanes[side.index()];
        lane.ending.get_or_insert(ending);
        lane.arrivals.end(at, self.seed ^ side.index() as u64);
    }

    /// Whether both replies have been shown to their end.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.lanes.iter().all(|lane| lane.closed)
    }

    /// Interval between two reads of both replies: text received in between counts as one chunk. `None` until text shows, while the
    /// tempo is measured.
    #[must_use]
    pub fn read_every(&self) -> Option<Duration> {
        (self.schedule.taken > 0).then_some(READ_INTERVAL)
    }

    /// The earliest time at which a step may be due, as known at `at`; `None` while it depends on text that has not arrived.
    pub fn due(&mut self, at: Duration) -> Option<Duration> {
        if self.finished() {
            return None;
        }
        if self.quantum.is_none() {
            let mut open = self.lanes.iter().filter(|lane| !lane.closed);
            return open.any(|lane| lane.ending.is_some() || lane.pending_chars > 0).then_some(Duration::ZERO);
        }
        let [a, b] = &mut self.lanes;
        self.schedule.due([&mut a.arrivals, &mut b.arrivals], at)
    }

    /// Shows the next piece of each side if one is due at `at`, A before B.
    pub fn step(&mut self, at: Duration) -> Vec<Release> {
        if self.due(at).is_none_or(|due| due > at) {
            return Vec::new();
        }
        let quantum = self.quantum.unwrap_or(usize::MAX);
        let mut shown = Vec::with_capacity(4);
        for side in Side::BOTH {
            self.lanes[side.index()].release(side, quantum, &mut shown);
        }
        if self.quantum.is_some() {
            let [a, b] = &mut self.lanes;
            self.schedule.stepped([&mut a.arrivals, &mut b.arrivals], at);
        }
        shown
    }

    /// Ends both sides at the text shown. The backlog is dropped: its length would reveal a model's speed.
    pub fn cut(&mut self) -> Vec<Release> {
        for lane in &mut self.lanes {
            lane.forget();
            lane.ending.get_or_insert(Ending::Complete);
        }
        let mut shown = Vec::new();
        for side in Side::BOTH {
            self.lanes[side.index()].release(side, usize::MAX, &mut shown);
        }
        shown
    }
}

impl SideBuffer {
    fn new(arrivals: Arrivals) -> Self {
        Self { pending: String::new(), taken: 0, pending_chars: 0, arrivals, ending: None, closed: false }
    }

    fn release(&mut self, side: Side, quantum: usize, shown: &mut Vec<Release>) {
        if self.closed {
            return;
        }
        if self.pending_chars > 0 {
            shown.push(Release::Text(side, self.take(quantum)));
        }
        if let (0, Some(ending)) = (self.pending_chars, self.ending) {
            self.closed = true;
            shown.push(match ending {
                Ending::Complete => Release::Done(side),
                Ending::Broken => Release::Broken(side),
            });
        }
    }

    fn forget(&mut self) {
        self.pending = String::new();
        self.taken = 0;
        self.pending_chars = 0;
    }

    fn take(&mut self, chars: usize) -> String {
        if chars >= self.pending_chars {
            let rest = self.pending[self.taken..].to_owned();
            self.forget();
            return rest;
        }
        let pending = &self.pending[self.taken..];
        let cut = pending.char_indices().nth(chars).map_or(pending.len(), |(at, _)| at);
        // An exact-size copy: a slice of the backlog would keep all of it in the battle's log.
        let head = pending[..cut].to_owned();
        self.pending_chars -= chars;
        self.taken += cut;
        // Moving the rest to the front only now and then keeps a long backlog from being moved at every step.
        if 2 * self.taken > self.pending.len() {
            self.pending.drain(..self.taken);
            self.taken = 0;
        }
        head
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
