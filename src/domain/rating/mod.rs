//! Ratings: from comparisons to a ranked leaderboard with honest intervals.
//!
//! Pure. [`vote_log`] holds the votes as columns, [`comparison`] counts them by pair, [`tally`] is what fits read,
//! [`elo`], [`bradley_terry`] and [`davidson`] fit, [`interval`] and [`bootstrap`] say how sure the fit is, [`resample`] carries that on, [`unbounded`]
//! bounds a model that only wins or only loses, [`leaderboard`] ranks. [`slice`](mod@slice) picks votes, [`weighting`] weighs them.
//! A *strength* is a Bradley–Terry coefficient in log odds; a *rating* is a strength on the public scale.

pub mod bootstrap;
pub mod bradley_terry;
pub mod comparison;
pub mod davidson;
pub mod elo;
pub mod history;
pub mod interval;
pub mod leaderboard;
pub mod matrices;
pub mod resample;
pub mod robustness;
pub mod scoring;
pub mod simulate;
pub mod slice;
pub mod style;
pub mod tally;
pub mod unbounded;
pub mod vote_log;
pub mod weighting;

mod block;
mod cluster;
mod counting;
mod graph;
mod loss;
mod newton;
mod notes;
mod placing;

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
    /// Style control of votes without counts of style.
    #[error("the votes have no counts of style: give tokens, headings, lists and bold of both sides")]
    NoStyle,
    /// Clusters of voters without voters.
    #[error("the votes name no voters: give a column of voters or use sandwich intervals")]
    NoVoters,
    /// Weights by the probability of pairs without these.
    #[error(
        "the votes do not say how likely their pairs were: give a column pair_probability or reweight by pair-count"
    )]
    NoPairProbabilities,
    /// A probability that cannot be one.
    #[error("the pair of rated vote {vote} has probability {probability}: give a number above 0 and at most 1")]
    PairProbability {
        /// Its number among the rated votes, from 1.
        vote: usize,
        /// What stands there.
        probability: f64,
    },
    /// A bootstrap without replicates.
    #[error("a bootstrap of 0 replicates tells nothing: give at least 1, for example 100")]
    NoReplicates,
    /// A bootstrap of votes that weigh differently within a pair.
    #[error("bootstrap intervals cannot allow for weights by pair probability: use sandwich or cluster intervals")]
    WeightedBootstrap,
    /// Style control beside options that it does not go with.
    #[error(
        "style control is of Bradley–Terry ratings: leave out --method elo, --ties davidson and --interval bootstrap"
    )]
    StyleOptions,
    /// Insight into a fit that it does not know.
    #[error(
        "insight is of plain Bradley–Terry ratings: leave out --ties davidson, --reweight, --style and --method elo"
    )]
    PlainInsight,
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
