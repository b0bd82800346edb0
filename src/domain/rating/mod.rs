//! Ratings: from votes to a ranked leaderboard with intervals.
//!
//! Pure. [`vote_log`](votes::vote_log) holds votes in columns, and [`counts`] has them by pair: [`tally`](counts::tally) is the input of
//! every fit. [`elo`](strengths::elo), [`bradley_terry`](strengths::bradley_terry) and [`davidson`](strengths::davidson) fit;
//! [`unbounded_strengths`](strengths::unbounded_strengths) bounds a model that only wins or only loses, and [`intervals`] computes
//! confidence intervals. [`ranking`](leaderboards::ranking) makes a [`leaderboard`](leaderboards::leaderboard),
//! [`differences`](leaderboards::differences) compares any two of its models, and [`value`] joins ratings with prices and times;
//! [`slice`](votes::slice) selects votes and [`weighting`](counts::weighting) weighs them. A *strength* is a Bradley–Terry coefficient in
//! log odds; a *rating* is a strength on the public scale.

pub mod bootstrap_samples;
pub mod counts;
pub mod intervals;
pub mod leaderboards;
pub mod notes;
pub mod options;
pub mod pairing_pool;
pub mod pooling;
pub mod robustness;
pub mod simulate;
pub mod strengths;
pub mod style;
pub mod ties;
pub mod value;
pub mod verdict_worth_in_votes;
pub mod vote_counts;
pub mod votes;

mod public_scale;
mod rank_intervals;
mod style_columns;

pub(crate) use strengths::negative_log_likelihood::logistic;

use crate::stats::confidence::InvalidConfidence;

/// Mean rating of each component, and the initial Elo rating of every model.
pub const MEAN_RATING: f64 = 1000.0;

/// Rating points per unit of strength: 400 points are a factor of ten in the odds, so s = 400 / ln 10.
pub const POINTS_PER_STRENGTH: f64 = 400.0 / std::f64::consts::LN_10;

/// Error of fitting or ranking votes with the given options.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The confidence level is not between 0 and 1.
    #[error(transparent)]
    Confidence(#[from] InvalidConfidence),
    /// The anchor has no rated vote.
    #[error("the anchor model {0:?} has no rated vote: name one of the rated models")]
    UnknownAnchor(String),
    /// The anchor won or lost every vote.
    #[error("the anchor model {0:?} won or lost every vote, so it has no finite rating: name another model")]
    UnboundedAnchor(String),
    /// The anchor's rating is not a finite number, or too large for the other ratings to keep their precision.
    #[error("the anchor's rating is {0:?}: give a number from -1000000 to 1000000, for example 1000")]
    AnchorRating(f64),
    /// Style control needs style counts, which the votes do not have.
    #[error("the votes have no style counts: give tokens, headings, lists and bold of both sides")]
    NoStyle,
    /// An adjustment for turns needs their numbers, which the votes do not have.
    #[error("the votes have no numbers of turns: give a column turn, or leave out --turn")]
    NoTurns,
    /// Covariates need single votes.
    #[error("an adjustment for style or side needs single votes, not their counts")]
    SingleVotes,
    /// Clustered intervals need voters, which the votes do not have.
    #[error("the votes name no voters: add a voter column or use sandwich intervals")]
    NoVoters,
    /// Reweighting by pair probability needs probabilities, which the votes do not have.
    #[error("the votes have no pair probabilities: add a column pair_probability or reweight by pair-count")]
    NoPairProbabilities,
    /// A pair probability that is missing, not a probability, or too small for a weight.
    #[error(
        "rated vote {vote} has {}, and 1e-12 to 1 are needed; imported votes and those of campaigns have none: reweight by \
         pair-count, or leave such votes out, for example with --source arena",
        in_words(.probability)
    )]
    PairProbability {
        /// Position of the vote among the rated votes, from 1.
        vote: usize,
        /// Value in the log; NaN where it has none.
        probability: f64,
    },
    /// A bootstrap with 0 replicates.
    #[error("a bootstrap needs replicates: give at least 1, for example 100")]
    NoReplicates,
    /// The bootstrap does not support weights that differ within a pair.
    #[error("bootstrap intervals do not support weights by pair probability: use sandwich or cluster intervals")]
    WeightedBootstrap,
    /// Options that covariates do not support.
    #[error(
        "--style, --side, --turn and --same-maker need plain Bradley–Terry ratings: leave out --method elo, --ties \
         davidson and --interval bootstrap"
    )]
    StyleOptions,
    /// Options that the robustness report does not support.
    #[error(
        "the robustness report needs plain Bradley–Terry ratings: leave out --ties davidson, --reweight, --style, \
         --side, --turn, --same-maker and --method elo"
    )]
    PlainRobustness,
    /// Partial pooling needs labels, which the votes do not have.
    #[error("the votes have no {0} to pool by: give a column {0}")]
    NoSliceLabels(&'static str),
    /// Options that partial pooling does not support.
    #[error(
        "--pool-by needs plain Bradley–Terry ratings: leave out --ties davidson, --reweight, --style, --side, --turn, \
         --same-maker and --method elo"
    )]
    PlainPooling,
    /// Too many models for partial pooling.
    #[error("{0} models are too many to pool: at most 500")]
    TooManyToPool(usize),
    /// The optimiser failed.
    #[error("the Bradley–Terry fit failed: {0}")]
    Solver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Formats an invalid pair probability for an error message.
fn in_words(probability: &f64) -> String {
    if probability.is_nan() {
        "no pair probability".to_owned()
    } else {
        format!("the pair probability {probability:?}")
    }
}
