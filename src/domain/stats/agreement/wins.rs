//! Win rates of one judged against another, and the bias of a judge.

use serde::Serialize;

use crate::domain::rating::real;
use crate::domain::stats::distribution::mean;
use crate::domain::stats::{Share, Undefined};

/// How comparisons with another went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WinCounts {
    /// Won.
    pub wins: u64,
    /// Tied.
    pub ties: u64,
    /// Lost.
    pub losses: u64,
}

impl WinCounts {
    /// All of them.
    #[must_use]
    pub fn total(self) -> u64 {
        self.wins + self.ties + self.losses
    }

    /// Wins of what was decided: A/(A+B).
    ///
    /// # Errors
    /// [`Undefined::Nothing`] where nothing was.
    pub fn win_rate_without_ties(self) -> Result<f64, Undefined> {
        Share { of: self.wins, total: self.wins + self.losses }.rate()
    }

    /// SuperCLUE's score as a share: wins and ties of all.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without any.
    pub fn win_tie_rate(self) -> Result<f64, Undefined> {
        Share { of: self.wins + self.ties, total: self.total() }.rate()
    }

    /// AlignBench's ΔWR = (A−B)/planned, over the comparisons that were planned, some of which may have failed.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] where none were.
    pub fn delta_of_planned(self, planned: u64) -> Result<f64, Undefined> {
        if planned == 0 { Err(Undefined::Nothing) } else { Ok((real(self.wins) - real(self.losses)) / real(planned)) }
    }

    /// (A−B)/(A+T+B), over the comparisons that there are.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] without any.
    pub fn delta(self) -> Result<f64, Undefined> {
        self.delta_of_planned(self.total())
    }
}

/// The rating bias of an evaluator (URS, Eq. 1): the mean over generators B of the score that it gives to a second
/// sample of B with B's first as the reference of `anchor` points, less the anchor.
///
/// # Errors
/// [`Undefined::TooFew`] without scores, [`Undefined::NotFinite`].
pub fn rating_bias(scores: &[f64], anchor: f64) -> Result<f64, Undefined> {
    Ok(mean(scores)? - anchor)
}
