//! Win rates, and the bias of a judge.

use serde::Serialize;

use crate::stats::distribution::mean;
use crate::stats::real;
use crate::stats::{Share, Undefined};

/// Results of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WinCounts {
    /// Number of wins.
    pub wins: u64,
    /// Number of ties.
    pub ties: u64,
    /// Number of losses.
    pub losses: u64,
    /// Comparisons in which both answers are bad: neither wins nor ties.
    pub both_bad: u64,
}

impl WinCounts {
    /// Number of comparisons.
    #[must_use]
    pub fn total(self) -> u64 {
        self.wins + self.ties + self.losses + self.both_bad
    }

    /// Share of wins among decided comparisons: A/(A+B).
    ///
    /// # Errors
    /// [`Undefined::Nothing`] if none was decided.
    pub fn win_rate_without_ties(self) -> Result<f64, Undefined> {
        Share { of: self.wins, total: self.wins + self.losses }.rate()
    }

    /// The win-and-tie rate, SuperCLUE's score as a share: wins and ties of all comparisons. Comparisons in which both answers are bad are
    /// neither.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without comparisons.
    pub fn win_tie_rate(self) -> Result<f64, Undefined> {
        Share { of: self.wins + self.ties, total: self.total() }.rate()
    }

    /// AlignBench's ΔWR = (A−B)/planned, relative to the planned comparisons, some of which may have failed.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] if none were planned.
    pub fn delta_of_planned(self, planned: u64) -> Result<f64, Undefined> {
        if planned == 0 { Err(Undefined::Nothing) } else { Ok((real(self.wins) - real(self.losses)) / real(planned)) }
    }

    /// (A−B)/(A+T+B), relative to the finished comparisons, among them those in which both answers are bad.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without comparisons.
    pub fn delta(self) -> Result<f64, Undefined> {
        self.delta_of_planned(self.total())
    }
}

/// Rating bias of an evaluator (URS, Eq. 1): the mean over generators B of the score of a second sample of B, with B's
/// first sample as the reference worth `anchor` points, minus the anchor.
///
/// # Errors
/// [`Undefined::TooFew`] without scores, [`Undefined::NotFinite`].
pub fn rating_bias(scores: &[f64], anchor: f64) -> Result<f64, Undefined> {
    Ok(mean(scores)? - anchor)
}
