//! Simulated models: arrival times of the text of replies.

use std::time::Duration;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma, LogNormal, StandardNormal};

use crate::battle::Side;
use crate::stats::real_len;

pub(super) const FAST: usize = 0;
pub(super) const SLOW: usize = 1;
pub(super) const REASONING: usize = 2;
pub(super) const BURSTY: usize = 3;
/// Model outside the published pairs: it often stalls after its first words for longer than any reserve.
pub(super) const STALLING: usize = 4;
/// Two models far apart in speed: a quantum every 5 and every 60 milliseconds.
pub(super) const RUSHING: usize = 5;
pub(super) const CRAWLING: usize = 6;
/// Model that writes a line every few seconds, which is no tempo in a short reply.
pub(super) const LINE_BY_LINE: usize = 7;

/// Published pairs; the second model counts as the slower one.
pub(super) const PAIRS: [[usize; 2]; 6] =
    [[FAST, BURSTY], [FAST, REASONING], [FAST, SLOW], [BURSTY, REASONING], [BURSTY, SLOW], [REASONING, SLOW]];

/// Timing parameters of a model.
struct WritingModel {
    /// Median time of the first token in seconds, and the spread of its logarithm.
    first: (f64, f64),
    bytes_per_second: f64,
    /// Bytes of a chunk at the least and at most.
    chunk: (usize, usize),
    /// Coefficient of variation of the gaps between chunks.
    variation: f64,
    /// Share of the chunks before which there is a pause.
    pauses: f64,
    /// Share of the replies that stop for seconds after 15 to 60 characters.
    stalls: f64,
}

const MODELS: [WritingModel; 8] = [
    WritingModel {
        first: (0.4, 0.3),
        bytes_per_second: 260.0,
        chunk: (3, 8),
        variation: 0.5,
        pauses: 0.001,
        stalls: 0.0,
    },
    WritingModel {
        first: (1.2, 0.3),
        bytes_per_second: 38.0,
        chunk: (3, 8),
        variation: 0.6,
        pauses: 0.003,
        stalls: 0.0,
    },
    WritingModel {
        first: (7.0, 0.45),
        bytes_per_second: 120.0,
        chunk: (3, 8),
        variation: 0.5,
        pauses: 0.001,
        stalls: 0.0,
    },
    WritingModel {
        first: (0.9, 0.3),
        bytes_per_second: 85.0,
        chunk: (40, 100),
        variation: 0.3,
        pauses: 0.005,
        stalls: 0.0,
    },
    WritingModel {
        first: (0.6, 0.3),
        bytes_per_second: 100.0,
        chunk: (3, 8),
        variation: 0.5,
        pauses: 0.001,
        stalls: 0.7,
    },
    WritingModel {
        first: (0.005, 0.3),
        bytes_per_second: 2_400.0,
        chunk: (12, 12),
        variation: 0.58,
        pauses: 0.0,
        stalls: 0.0,
    },
    WritingModel {
        first: (0.06, 0.3),
        bytes_per_second: 200.0,
        chunk: (12, 12),
        variation: 0.58,
        pauses: 0.0,
        stalls: 0.0,
    },
    WritingModel {
        first: (0.9, 0.3),
        bytes_per_second: 25.0,
        chunk: (60, 120),
        variation: 0.3,
        pauses: 0.0,
        stalls: 0.0,
    },
];

/// Characters of the shorter reply.
const LENGTHS: [usize; 8] = [200, 300, 440, 650, 960, 1_400, 2_050, 3_000];

/// Arrival on a side: characters of text, or the end.
#[derive(Debug, Clone, Copy)]
pub(super) enum SideArrival {
    Text(usize),
    End,
}

/// Arrivals of both replies in the order of time.
pub(super) struct Battle {
    pub(super) arrivals: Vec<(Duration, Side, SideArrival)>,
    pub(super) longer_is_slower: bool,
    /// Repeated character of each side's reply.
    pub(super) letters: [&'static str; 2],
    /// Usual time per byte of each side's model.
    pub(super) usual_byte_times: [Duration; 2],
}

/// A letter of a script with one byte a character, and one with three.
pub(super) const ENGLISH: &str = "x";
pub(super) const CHINESE: &str = "语";

/// Simulates replies of different lengths of a quick and a slow model, on random sides.
pub(super) fn battle(models: [usize; 2], rng: &mut impl Rng) -> Battle {
    let short = LENGTHS[rng.random_range(0..LENGTHS.len())] + rng.random_range(0..60);
    let long = short * rng.random_range(115..400) / 100;
    battle_of(models, [short, long], rng)
}

/// Simulates a battle with these numbers of characters.
pub(super) fn battle_of(models: [usize; 2], lengths: [usize; 2], rng: &mut impl Rng) -> Battle {
    battle_in_scripts(models, lengths, [ENGLISH; 2], rng)
}

/// Simulates a battle with the shorter and the longer reply in these scripts.
pub(super) fn battle_in_scripts(
    [quick, slow]: [usize; 2],
    [short, long]: [usize; 2],
    [letter_of_short, letter_of_long]: [&'static str; 2],
    rng: &mut impl Rng,
) -> Battle {
    let longer_is_slower = rng.random();
    let longer_side = if rng.random() { Side::A } else { Side::B };
    let (longer, shorter) = if longer_is_slower { (slow, quick) } else { (quick, slow) };
    let mut arrivals = reply(longer, letter_of_long, long, longer_side, rng);
    arrivals.extend(reply(shorter, letter_of_short, short, longer_side.other(), rng));
    arrivals.sort_by_key(|(at, ..)| *at);
    let mut letters = [letter_of_long; 2];
    letters[longer_side.other().index()] = letter_of_short;
    let mean_byte_time = |model: usize| Duration::from_secs_f64(MODELS[model].bytes_per_second.recip());
    let mut usual_byte_times = [mean_byte_time(longer); 2];
    usual_byte_times[longer_side.other().index()] = mean_byte_time(shorter);
    Battle { arrivals, longer_is_slower, letters, usual_byte_times }
}

/// Simulates one reply. A model writes as many bytes a second in every script.
fn reply(
    model: usize,
    letter: &str,
    chars: usize,
    side: Side,
    rng: &mut impl Rng,
) -> Vec<(Duration, Side, SideArrival)> {
    let model = &MODELS[model];
    let spread = LogNormal::new(0.0, 0.15).expect("a spread");
    let mut at = model.first.0 * LogNormal::new(0.0, model.first.1).expect("a spread").sample(rng);
    let speed = model.bytes_per_second / real_len(letter.len()) * spread.sample(rng);
    let shape = model.variation.powi(-2);
    let gaps = Gamma::new(shape, 1.0 / shape).expect("a shape");
    let (mut left, mut drift, mut came) = (chars, 0.0_f64, Vec::new());
    let mut stall = (model.stalls > 0.0 && rng.random_bool(model.stalls)).then(|| chars - rng.random_range(15..60));
    while left > 0 {
        let bytes = rng.random_range(model.chunk.0..=model.chunk.1);
        let chunk = bytes.div_ceil(letter.len()).min(left);
        came.push((Duration::from_secs_f64(at), side, SideArrival::Text(chunk)));
        left -= chunk;
        let noise: f64 = StandardNormal.sample(rng);
        drift = 0.98 * drift + 0.03 * noise;
        at += real_len(chunk) / speed * drift.exp() * gaps.sample(rng);
        if rng.random_bool(model.pauses) {
            at += rng.random_range(0.5..1.5);
        }
        if stall.take_if(|from| left <= *from).is_some() {
            at += rng.random_range(2.0..10.0);
        }
    }
    let end = came.last().map_or(at, |(last, ..)| last.as_secs_f64()) + rng.random_range(0.0..0.1) + 4.0 / speed;
    came.push((Duration::from_secs_f64(end), side, SideArrival::End));
    came
}
