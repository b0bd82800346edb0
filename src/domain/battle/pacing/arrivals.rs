//! Arrival times of one reply's text: as received and, after its end, as a longer reply would have continued.
//!
//! The continuation makes the slower model delay the visible text for as long as both replies last, whichever of them is the shorter
//! one. Without it, the end of the delays would reveal whose reply ended there. It is a Pólya urn: each drawn chunk is added once more.
//! So the speed of a continuation varies as the rest of a longer reply would, which repeated chunks would not.

mod speed;
mod text_size;

use std::collections::VecDeque;
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::stats::real_len;
use speed::Speed;
pub(super) use text_size::{BytesPerChar, TextSize, whole_bytes};

/// Maximum number of remembered chunks; later ones replace the oldest.
const MAX_CHUNKS: usize = 128;
/// Minimum number of steps of ASCII in a reply to measure its model; below it, both replies have to look the same.
const MIN_MEASURED_STEPS: usize = 4;
/// Minimum number of gaps in a reply to measure its model's speed.
const MIN_MEASURED_GAPS: usize = 8;
/// Slowdown of a reply too short to measure, relative to the usual speed: some replies are slower than usual.
const UNMEASURED_SLOWDOWN: f64 = 1.2;
/// Minimum length of a pause, in unmeasured gaps: the reserve covers pauses, and the tempo excludes them. In a continuation, gaps are
/// capped at the square of it.
const MIN_PAUSE_GAPS: u32 = 4;
/// Number of consecutive chunks drawn in order, since neighbouring chunks are alike.
const CHUNKS_PER_BLOCK: usize = 8;
/// Maximum gap between pieces of text of one chunk.
const MAX_CHUNK_GAP: Duration = Duration::from_millis(1);

/// Size of a chunk, and the time since the previous one.
#[derive(Debug, Clone, Copy)]
struct TextChunk {
    gap: Duration,
    size: TextSize,
}

/// Arrivals of one side's text.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// Characters of a step.
    quantum: usize,
    began: Option<Duration>,
    ended: Option<Duration>,
    /// Size of a reply that has ended.
    length: Option<TextSize>,
    /// Size of the arrived text, including the simulated continuation.
    arrived: TextSize,
    /// Size of the first chunk, which says nothing about the speed.
    first: TextSize,
    /// The latest of the other chunks; `last` is the arrival time of the latest of all.
    latest: Option<TextChunk>,
    last: Duration,
    speed: Speed,
    /// Bytes after the first gap.
    measured_after: Option<usize>,
    /// Urn of the continuation.
    chunks: VecDeque<TextChunk>,
    longest: Duration,
    /// Whether there was a pause. The first one is not continued: repeating a single one, such as a stall at the beginning, would
    /// distinguish a continuation from a reply.
    paused: bool,
    /// Minimum gap between two steps of a reply too short to measure.
    unmeasured: Duration,
    /// Usual time per byte of the slower model; zero where unknown.
    mean_byte_time: Duration,
    /// Measured time per byte of this reply, once it has ended.
    byte_time: Option<Duration>,
    continuation: Option<Continuation>,
}

#[derive(Debug)]
struct Continuation {
    rng: ChaCha8Rng,
    /// Drawn chunks that have not arrived.
    coming: VecDeque<(Duration, TextChunk)>,
    last: Duration,
    block: (usize, usize),
}

impl Arrivals {
    pub(super) fn new(quantum: usize, unmeasured: Duration) -> Self {
        Self {
            quantum,
            began: None,
            ended: None,
            length: None,
            arrived: TextSize::default(),
            first: TextSize::default(),
            latest: None,
            last: Duration::ZERO,
            speed: Speed::default(),
            measured_after: None,
            chunks: VecDeque::new(),
            longest: Duration::ZERO,
            paused: false,
            unmeasured,
            mean_byte_time: Duration::ZERO,
            byte_time: None,
            continuation: None,
        }
    }

    /// Sets the usual time per byte of the slower model.
    pub(super) fn set_usual_byte_time(&mut self, mean_byte_time: Duration) {
        self.mean_byte_time = mean_byte_time;
    }

    /// Adds text of this size, received at `at`.
    pub(super) fn add_text(&mut self, size: TextSize, at: Duration) {
        if self.began.is_none() {
            (self.began, self.last, self.arrived, self.first) = (Some(at), at, size, size);
            return;
        }
        let gap = at.saturating_sub(self.last);
        if gap < MAX_CHUNK_GAP {
            return self.add_to_latest_chunk(size);
        }
        if gap <= self.pause() || self.paused {
            self.remember(TextChunk { gap: gap.min(self.pause() * MIN_PAUSE_GAPS), size });
        }
        self.paused |= gap > self.pause();
        self.count(TextChunk { gap, size }, at);
    }

    fn add_to_latest_chunk(&mut self, size: TextSize) {
        self.arrived += size;
        let Some(latest) = &mut self.latest else {
            self.first += size;
            return;
        };
        latest.size += size;
        self.speed.bytes += size.bytes;
        if let Some(remembered) = self.chunks.back_mut() {
            remembered.size += size;
        }
    }

    /// Minimum length of a pause.
    fn pause(&self) -> Duration {
        self.unmeasured * MIN_PAUSE_GAPS
    }

    fn count(&mut self, chunk: TextChunk, at: Duration) {
        self.speed.add(chunk.gap.min(self.pause()), chunk.size.bytes);
        self.arrived += chunk.size;
        self.measured_after.get_or_insert(self.arrived.bytes);
        self.longest = self.longest.max(chunk.gap);
        (self.latest, self.last) = (Some(chunk), at);
    }

    fn remember(&mut self, chunk: TextChunk) {
        if self.chunks.len() == MAX_CHUNKS {
            self.chunks.pop_front();
        }
        self.chunks.push_back(chunk);
    }

    /// Ends the reply; the continuation is drawn from `seed`.
    pub(super) fn end(&mut self, at: Duration, seed: u64) {
        if self.ended.is_some() {
            return;
        }
        (self.ended, self.length) = (Some(at), Some(self.arrived));
        let began = *self.began.get_or_insert(at);
        self.last = self.last.max(began);
        self.byte_time = self.measured_byte_time(began);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rest = self.remove_last_chunk(&mut rng);
        self.arrived += rest;
        self.continuation = Some(Continuation { rng, coming: VecDeque::new(), last: self.last, block: (0, 0) });
    }

    /// Mean time per byte, including pauses, unlike the tempo: a model may write a line every few seconds.
    fn measured_byte_time(&self, began: Duration) -> Option<Duration> {
        let bytes = self.arrived.saturating_sub(self.first).bytes.max(1);
        (self.speed.gaps >= MIN_MEASURED_GAPS).then(|| self.last.saturating_sub(began).div_f64(real_len(bytes)))
    }

    /// Removes the last chunk, which the end cut short and which makes the model look slower than it is. Returns the size of its missing
    /// rest.
    fn remove_last_chunk(&mut self, rng: &mut impl Rng) -> TextSize {
        let Some(last) = self.latest.take() else { return TextSize::default() };
        self.speed.remove(last.gap.min(self.pause()), last.size.bytes);
        if self.speed.gaps == 0 {
            self.measured_after = None;
        }
        let remembered = last.gap.min(self.pause() * MIN_PAUSE_GAPS);
        self.chunks.pop_back_if(|chunk| chunk.gap == remembered);
        let sizes = self.chunks.iter().map(|chunk| chunk.size).chain([self.first]);
        let rests: Vec<TextSize> = sizes.filter_map(|size| size.remainder_after(last.size)).collect();
        rests.choose(rng).copied().unwrap_or_default()
    }

    /// Counts the chunks of the continuation up to `at` as arrived.
    pub(super) fn advance(&mut self, at: Duration) {
        let Some(mut next) = self.continuation.take() else { return };
        while let Some((moment, chunk)) = next.coming.pop_front_if(|(moment, _)| *moment <= at) {
            self.count(chunk, moment);
        }
        self.continuation = Some(next);
    }

    /// Time of the first text, or of the end of a reply without text.
    pub(super) fn began(&self) -> Option<Duration> {
        self.began
    }

    pub(super) fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Measured time per byte of the reply; `None` before its end and where it is too short to measure.
    pub(super) fn byte_time(&self) -> Option<Duration> {
        self.byte_time
    }

    /// Characters of the reply, once it has ended.
    pub(super) fn length(&self) -> Option<usize> {
        self.length.map(|length| length.chars)
    }

    /// Bytes per character of the text that has arrived.
    pub(super) fn bytes_per_char(&self) -> BytesPerChar {
        BytesPerChar::of(self.length.unwrap_or(self.arrived))
    }

    /// Number of steps of an ended reply, rounded up.
    pub(super) fn whole(&self) -> usize {
        self.length.unwrap_or(self.arrived).chars.saturating_sub(1) / self.quantum + 1
    }

    /// Mean time between two steps of text with these bytes per character; usual time where `shared` bytes are too few to measure it.
    pub(super) fn mean_gap(&self, text: BytesPerChar, shared: Option<usize>) -> Duration {
        if self.is_measured(shared) {
            self.speed.time_of(text.bytes_of(self.quantum))
        } else {
            self.unmeasured_gap(text)
        }
    }

    /// Time between two such steps that the model can sustain.
    pub(super) fn sustained_gap(&self, text: BytesPerChar, shared: Option<usize>) -> Duration {
        if self.is_measured(shared) {
            self.speed.kept_time_of(text.bytes_of(self.quantum))
        } else {
            self.unmeasured_gap(text)
        }
    }

    /// Computes [`Self::sustained_gap`] from the first `shared` bytes.
    pub(super) fn sustained_gap_of_first(&self, text: BytesPerChar, shared: Option<usize>) -> Duration {
        if !self.is_measured(shared) {
            return self.unmeasured_gap(text);
        }
        self.speed_of_first(shared.unwrap_or(usize::MAX)).kept_time_of(text.bytes_of(self.quantum))
    }

    /// Time between two such steps of a reply too short to measure: equal for both models, whichever of them wrote the reply. At most a
    /// pause, since stalls in a model's former replies are no reason for more.
    fn unmeasured_gap(&self, text: BytesPerChar) -> Duration {
        let usual = self.mean_byte_time.mul_f64(UNMEASURED_SLOWDOWN * text.bytes_of(self.quantum));
        self.unmeasured.max(usual.min(self.pause()))
    }

    fn speed_of_first(&self, shared: usize) -> Speed {
        if shared >= self.arrived.bytes || self.chunks.len() == MAX_CHUNKS {
            return self.speed;
        }
        let (mut bytes, mut speed) = (self.first.bytes, Speed::default());
        for chunk in &self.chunks {
            bytes += chunk.size.bytes;
            if bytes >= shared {
                break;
            }
            speed.add(chunk.gap.min(self.pause()), chunk.size.bytes);
        }
        if speed.gaps == 0 { self.speed } else { speed }
    }

    /// Whether this number of shared bytes is too small to measure the models.
    pub(super) fn are_few(&self, shared: Option<usize>) -> bool {
        shared.is_some_and(|shared| shared < MIN_MEASURED_STEPS * self.quantum)
    }

    fn is_measured(&self, shared: Option<usize>) -> bool {
        let are_few = self.are_few(shared);
        let shared = shared.unwrap_or(usize::MAX);
        !are_few && self.measured_after.is_some_and(|after| after <= shared)
    }

    pub(super) fn longest_gap(&self) -> Duration {
        self.longest
    }

    /// Time at which the reply, or its continuation, exceeds this size; `None` while unknown. Exactly this size might be the end, which is
    /// shown in the step of the last text. Text drawn for an unmeasured reply has the bytes per character of `text`.
    pub(super) fn time_to_exceed(&mut self, size: TextSize, text: BytesPerChar) -> Option<Duration> {
        let mut missing = TextSize { chars: size.chars + 1, bytes: size.bytes + 1 }.saturating_sub(self.arrived);
        if missing == TextSize::default() {
            return Some(Duration::ZERO);
        }
        let mut next = self.continuation.take()?;
        let mut at = 0;
        let moment = loop {
            if at == next.coming.len() {
                let chunk = self.draw(text, &mut next);
                next.last += chunk.gap;
                next.coming.push_back((next.last, chunk));
            }
            let (moment, chunk) = next.coming[at];
            missing = missing.saturating_sub(chunk.size);
            if missing == TextSize::default() {
                break moment;
            }
            at += 1;
        };
        self.continuation = Some(next);
        Some(moment.max(self.ended.unwrap_or_default()))
    }

    fn draw(&mut self, text: BytesPerChar, next: &mut Continuation) -> TextChunk {
        let shared = self.length().map(|chars| whole_bytes(text.bytes_of(chars)));
        if !self.is_measured(shared) || self.chunks.is_empty() {
            let chars = self.quantum.div_ceil(4);
            return TextChunk {
                gap: self.unmeasured_gap(text) / 4,
                size: TextSize { chars, bytes: whole_bytes(text.bytes_of(chars)).max(1) },
            };
        }
        if next.block.1 == 0 {
            next.block = (next.rng.random_range(0..self.chunks.len()), CHUNKS_PER_BLOCK);
        }
        let (at, left) = next.block;
        next.block = ((at + 1) % self.chunks.len(), left - 1);
        let drawn = self.chunks[at];
        self.remember(drawn);
        // A gap repeated to the microsecond would reveal a copy.
        TextChunk { gap: drawn.gap.mul_f64(next.rng.random_range(0.9..1.1)), size: drawn.size }
    }
}
