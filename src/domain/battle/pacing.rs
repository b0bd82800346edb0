//! How much of each reply is shown when.
//!
//! Under common pacing the visible chunks are a function of the two texts alone: a step happens only when every side
//! that has not ended holds more than one quantum, and it takes exactly one quantum from each. Neither speed nor the
//! provider's chunk sizes can be read off the wire. While both sides write, the slower one sets the tempo; [`Tempo`] keeps
//! it when one has ended. Pure: the caller's ticker says when to step, and time is an argument.

use std::time::Duration;

use super::Side;

/// What a step shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// More of a side's reply.
    Text(Side, String),
    /// The side has ended well.
    Done(Side),
    /// The side broke off after what was shown.
    Broken(Side),
}

/// How a side ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The reply is whole, or was stopped.
    Complete,
    /// The reply broke off.
    Broken,
}

#[derive(Debug, Default)]
struct Lane {
    /// Text that has come; the first `taken` bytes of it have been released.
    pending: String,
    taken: usize,
    pending_chars: usize,
    ending: Option<Ending>,
    closed: bool,
}

/// Two lanes of text that are released together.
#[derive(Debug)]
pub struct Pacer {
    lanes: [Lane; 2],
    quantum: Option<usize>,
}

impl Pacer {
    /// Common pacing: `quantum` characters a step and side (at least 1).
    #[must_use]
    pub fn common(quantum: usize) -> Self {
        Self { lanes: Default::default(), quantum: Some(quantum.max(1)) }
    }

    /// No pacing: each step shows whatever has come in.
    #[must_use]
    pub fn raw() -> Self {
        Self { lanes: Default::default(), quantum: None }
    }

    /// Adds text to a side's reply.
    pub fn push(&mut self, side: Side, text: &str) {
        let lane = &mut self.lanes[side.index()];
        lane.pending.push_str(text);
        lane.pending_chars += text.chars().count();
    }

    /// Bytes of a side's reply that have come and were not shown.
    #[must_use]
    pub fn backlog(&self, side: Side) -> usize {
        let lane = &self.lanes[side.index()];
        lane.pending.len() - lane.taken
    }

    /// The side's reply has come to its end; the first call counts.
    pub fn end(&mut self, side: Side, ending: Ending) {
        self.lanes[side.index()].ending.get_or_insert(ending);
    }

    /// Everything has been shown.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.lanes.iter().all(|lane| lane.closed)
    }

    /// Whether a step would show anything now.
    #[must_use]
    pub fn has_release(&self) -> bool {
        let mut open = self.lanes.iter().filter(|lane| !lane.closed).peekable();
        match self.quantum {
            Some(quantum) => {
                open.peek().is_some() && open.all(|lane| lane.ending.is_some() || lane.pending_chars > quantum)
            }
            None => open.any(|lane| lane.ending.is_some() || lane.pending_chars > 0),
        }
    }

    /// Shows the next piece of each side, A before B.
    pub fn step(&mut self) -> Vec<Release> {
        if !self.has_release() {
            return Vec::new();
        }
        let quantum = self.quantum.unwrap_or(usize::MAX);
        let mut shown = Vec::with_capacity(4);
        for side in Side::BOTH {
            self.lanes[side.index()].release(side, quantum, &mut shown);
        }
        shown
    }

    /// Ends both sides where the visitor sees them. What is held back is dropped: how much that is tells how fast a
    /// model writes.
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

impl Lane {
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
        // A copy of its own size: a slice of the backlog would keep all of it in the battle's log.
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

/// When a step may be taken, under common pacing. Once a side has ended, the other goes on at the mean tempo so far at
/// most: were it faster then, the visitor would know that the side which ended was the slow one.
#[derive(Debug, Default)]
pub struct Tempo {
    first: Option<Duration>,
    /// Steps after the first one.
    steps: u32,
    kept: Option<KeptTempo>,
}

#[derive(Debug, Clone, Copy)]
struct KeptTempo {
    interval: Duration,
    next: Duration,
}

impl Tempo {
    /// Whether a step may be taken at `at`, counted from the beginning of the turn.
    #[must_use]
    pub fn allows(&self, at: Duration) -> bool {
        self.kept.is_none_or(|kept| at >= kept.next)
    }

    /// A step was taken at `at` and showed this.
    pub fn stepped(&mut self, at: Duration, shown: &[Release]) {
        if let Some(kept) = &mut self.kept {
            // A side that was waited for is not hurried afterwards: steps that were missed are not made up for.
            kept.next = at.max(kept.next + kept.interval);
            return;
        }
        match self.first {
            None => self.first = Some(at),
            Some(first) => {
                self.steps += 1;
                if shown.iter().any(|release| matches!(release, Release::Done(_))) {
                    let interval = (at - first) / self.steps;
                    self.kept = Some(KeptTempo { interval, next: at + interval });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays two texts, cut into chunks in any interleaving, and returns what is shown.
    fn play(pacer: &mut Pacer, arrivals: &[(Side, &str)], impatient: bool) -> Vec<Release> {
        let mut shown = Vec::new();
        for (side, text) in arrivals {
            pacer.push(*side, text);
            if impatient {
                shown.extend(pacer.step());
            }
        }
        for side in [Side::B, Side::A] {
            pacer.end(side, Ending::Complete);
        }
        while !pacer.finished() {
            shown.extend(pacer.step());
        }
        shown
    }

    fn text_of(shown: &[Release], wanted: Side) -> String {
        shown
            .iter()
            .filter_map(|release| match release {
                Release::Text(side, text) if *side == wanted => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn chunks_depend_on_the_texts_alone(
            a in "[a-z琅琊é😀 ]{0,60}", b in "[a-z琅琊é😀 ]{0,60}",
            cuts in proptest::collection::vec((any::<bool>(), 1usize..9), 0..60),
            impatient: bool,
        ) {
            let whole = play(&mut Pacer::common(7), &[(Side::A, &a), (Side::B, &b)], false);
            let mut rest = [a.as_str(), b.as_str()];
            let mut arrivals = Vec::new();
            for (first, size) in cuts {
                let side = if first { Side::A } else { Side::B };
                let text = rest[side.index()];
                let cut = text.char_indices().nth(size).map_or(text.len(), |(at, _)| at);
                arrivals.push((side, &text[..cut]));
                rest[side.index()] = &text[cut..];
            }
            arrivals.extend([(Side::A, rest[0]), (Side::B, rest[1])]);
            let cut_up = play(&mut Pacer::common(7), &arrivals, impatient);
            prop_assert_eq!(&whole, &cut_up);
            prop_assert_eq!(text_of(&whole, Side::A), a);
            prop_assert_eq!(text_of(&whole, Side::B), b);
        }
    }

    #[test]
    fn nothing_shows_until_both_sides_can_start() {
        let mut pacer = Pacer::common(3);
        pacer.push(Side::A, "abcdef");
        assert_eq!(pacer.step(), []);
        pacer.push(Side::B, "uvw");
        assert_eq!(pacer.step(), [], "exactly one quantum might be the end: wait until it is known");
        pacer.push(Side::B, "x");
        assert_eq!(pacer.step(), [Release::Text(Side::A, "abc".into()), Release::Text(Side::B, "uvw".into())]);
    }

    #[test]
    fn a_side_that_has_ended_no_longer_holds_the_other_back() {
        let mut pacer = Pacer::common(3);
        pacer.push(Side::A, "ab");
        pacer.push(Side::B, "uvwxyz");
        pacer.end(Side::A, Ending::Broken);
        assert_eq!(
            pacer.step(),
            [Release::Text(Side::A, "ab".into()), Release::Broken(Side::A), Release::Text(Side::B, "uvw".into())]
        );
        assert_eq!(pacer.step(), [], "the other still waits for more than a quantum of its own");
        pacer.end(Side::B, Ending::Complete);
        assert_eq!(pacer.step(), [Release::Text(Side::B, "xyz".into()), Release::Done(Side::B)]);
        assert!(pacer.finished());
    }

    #[test]
    fn a_released_chunk_holds_no_more_than_its_own_text() {
        let mut pacer = Pacer::common(3);
        pacer.push(Side::A, &"a".repeat(100_000));
        pacer.push(Side::B, &"b".repeat(100_000));
        for release in (0..10).flat_map(|_| pacer.step()) {
            let Release::Text(_, text) = release else { panic!("{release:?}") };
            assert!(text.capacity() < 100, "{}", text.capacity());
        }
    }

    #[test]
    fn the_backlog_is_what_came_and_was_not_shown() {
        let mut pacer = Pacer::common(3);
        pacer.push(Side::A, "琅琊abcdef");
        pacer.push(Side::B, "uvwxyz");
        assert_eq!((pacer.backlog(Side::A), pacer.backlog(Side::B)), (12, 6));
        pacer.step();
        assert_eq!((pacer.backlog(Side::A), pacer.backlog(Side::B)), (5, 3));
        pacer.cut();
        assert_eq!((pacer.backlog(Side::A), pacer.backlog(Side::B)), (0, 0));
    }

    #[test]
    fn raw_passes_on_what_has_come() {
        let mut pacer = Pacer::raw();
        pacer.push(Side::B, "x");
        assert_eq!(pacer.step(), [Release::Text(Side::B, "x".into())]);
        assert_eq!(pacer.step(), []);
    }

    #[test]
    fn a_side_that_is_left_alone_keeps_the_tempo_of_both() {
        let at = Duration::from_millis;
        let text = [Release::Text(Side::A, "abc".into()), Release::Text(Side::B, "uvw".into())];
        let end = [Release::Text(Side::A, "a".into()), Release::Done(Side::A), Release::Text(Side::B, "u".into())];
        let mut tempo = Tempo::default();
        for step in [1000, 1100, 1300] {
            assert!(tempo.allows(at(step)), "nothing but the slower side holds the steps up");
            tempo.stepped(at(step), &text);
        }
        tempo.stepped(at(1600), &end);
        assert!(!tempo.allows(at(1799)) && tempo.allows(at(1800)), "three steps took 600 ms");
        tempo.stepped(at(1800), &text[1..]);
        assert!(!tempo.allows(at(1999)) && tempo.allows(at(2000)));
        tempo.stepped(at(2030), &text[1..]);
        assert!(!tempo.allows(at(2199)) && tempo.allows(at(2200)), "a late tick does not slow the side down");
        tempo.stepped(at(5000), &text[1..]);
        tempo.stepped(at(5050), &text[1..]);
        assert!(!tempo.allows(at(5199)) && tempo.allows(at(5200)), "and a long wait is not made up for");
    }

    #[test]
    fn a_reply_of_one_step_says_nothing_of_the_tempo() {
        let mut tempo = Tempo::default();
        tempo.stepped(Duration::from_secs(9), &[Release::Text(Side::A, "42".into()), Release::Done(Side::A)]);
        assert!(tempo.allows(Duration::from_secs(9)));
    }

    #[test]
    fn a_cut_ends_both_sides_where_they_are_seen() {
        let mut pacer = Pacer::common(3);
        pacer.push(Side::A, "abcdefghijkl");
        pacer.push(Side::B, "uvwx");
        assert_eq!(pacer.step().len(), 2);
        assert_eq!(pacer.cut(), [Release::Done(Side::A), Release::Done(Side::B)]);
        assert!(pacer.finished());
    }
}
