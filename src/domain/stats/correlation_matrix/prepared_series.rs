//! A series prepared for fast correlations.

use crate::stats::SeriesSide;
use crate::stats::correlation::{cosine, direction, tau_b, usable};
use crate::stats::ranks::ranks;
use crate::stats::{real, real_len};

/// A series prepared for correlations with others of its length.
///
/// Pearson's r and Spearman's ρ are cosines between unit vectors. For Kendall's τ-b, the order of each pair of
/// positions is one bit, 64 to a word.
#[derive(Debug, Clone)]
pub(super) struct PreparedSeries {
    values: Vec<f64>,
    ranks: Vec<f64>,
    /// Pairs of positions with a rising value.
    rising: Vec<u64>,
    /// Pairs of positions with equal values.
    tied: Vec<u64>,
    /// Number of tied pairs.
    ties: f64,
}

impl PreparedSeries {
    /// Prepares a series; `None` if it has no correlations.
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        usable(values, SeriesSide::First).ok()?;
        let ranks = ranks(values);
        let rising = pairs(&ranks, |x, y| x < y);
        #[expect(clippy::float_cmp, reason = "ranks are multiples of one half")]
        let tied = pairs(&ranks, |x, y| x == y);
        let ties = tied.iter().map(|word| u64::from(word.count_ones())).sum();
        Some(Self { values: direction(values), ranks: direction(&ranks), rising, tied, ties: real(ties) })
    }

    /// Pearson's, Spearman's and Kendall's correlation with another series of the same length.
    pub(super) fn compare(&self, other: &Self) -> [f64; 3] {
        [cosine(&self.values, &other.values), cosine(&self.ranks, &other.ranks), self.kendall(other)]
    }

    fn kendall(&self, other: &Self) -> f64 {
        let (mut tied, mut discordant) = (0, 0);
        let words = self.rising.iter().zip(&other.rising).zip(self.tied.iter().zip(&other.tied));
        for ((x_rising, y_rising), (x_tied, y_tied)) in words {
            let either_tied = x_tied | y_tied;
            tied += u64::from(either_tied.count_ones());
            discordant += u64::from(((x_rising ^ y_rising) & !either_tied).count_ones());
        }
        let n = real_len(self.values.len());
        let all = n * (n - 1.0) / 2.0;
        tau_b(all - real(tied) - 2.0 * real(discordant), all, [self.ties, other.ties])
    }
}

/// One bit for each pair of positions, in a fixed order.
fn pairs(ranks: &[f64], holds: impl Fn(f64, f64) -> bool) -> Vec<u64> {
    let mut bits = Bits::default();
    for (place, &later) in ranks.iter().enumerate() {
        ranks[..place].iter().for_each(|&earlier| bits.push(holds(earlier, later)));
    }
    bits.finish()
}

/// A bit vector under construction.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
    word: u64,
    filled: u32,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        self.word |= u64::from(bit) << self.filled;
        self.filled += 1;
        if self.filled == u64::BITS {
            self.words.push(std::mem::take(&mut self.word));
            self.filled = 0;
        }
    }

    fn finish(mut self) -> Vec<u64> {
        self.words.push(self.word);
        self.words
    }
}
