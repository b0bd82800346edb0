//! Ratings: from comparisons to a ranked leaderboard with honest intervals.
//!
//! Pure. [`vote_log`] holds the votes as columns, [`comparison`] counts them by pair, [`tally`] is what fits read,
//! [`elo`] and [`bradley_terry`] fit, [`interval`] says
//! how sure the fit is, [`unbounded`] bounds a model that only wins or only loses, [`leaderboard`] ranks.
//! A *strength* is a Bradley–Terry coefficient in log odds; a *rating* is a strength on the public scale.

pub mod bradley_terry;
pub mod comparison;
pub mod elo;
pub mod history;
pub mod interval;
pub mod leaderboard;
pub mod scoring;
pub mod slice;
pub mod tally;
pub mod unbounded;
pub mod vote_log;

mod counting;
mod graph;
mod newton;
mod notes;

/// The mean rating of each component, and every model's first Elo rating.
pub const CENTRE: f64 = 1000.0;

/// Rating points of one unit of strength: 400 points are a factor of ten in the odds, so s = 400 / ln 10.
pub const POINTS_PER_STRENGTH: f64 = 400.0 / std::f64::consts::LN_10;

/// Why votes cannot be fitted or ranked as asked.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The confidence level is not a share.
    #[error("confidence is {0}: give a number between 0 and 1, for example 0.95")]
    Confidence(f64),
    /// The anchor has no rated vote.
    #[error("the anchor model {0:?} has no rated vote: name one of the rated models")]
    UnknownAnchor(String),
    /// The anchor only won or only lost.
    #[error("the anchor model {0:?} won or lost every vote, so it has no finite rating: name another model")]
    UnboundedAnchor(String),
    /// The anchor's rating is not a number.
    #[error("the anchor's rating is {0}: give a finite number, for example 1000")]
    AnchorRating(f64),
    /// The optimiser could not go on.
    #[error("the Bradley–Terry fit failed: {0}")]
    Solver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "a count of votes stays below 2^53, where f64 is exact")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// A length as a number to reckon with.
pub(crate) fn real_len(length: usize) -> f64 {
    real(u64::try_from(length).unwrap_or(u64::MAX))
}
