//! Notes of a leaderboard as data: caveats for the reader of its numbers.
//!
//! `Display` gives the English text that `langya fit` prints; pages translate a note into the reader's language.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::strengths::fit::{Direction, OneWayBridge};
use super::votes::slice::SliceColumn;
use crate::stats::resample::MIN_CLUSTERS;

/// Maximum number of models that a note names; it counts the others.
pub const MODELS_LISTED: usize = 5;

const NO_VOTES: &str = "no rated votes yet: the leaderboard appears with the first vote that counts";
const NOT_CONVERGED: &str = "the fit did not converge: treat these ratings as approximate";
const NO_TIES: &str = "no vote is a tie, so Davidson's model is the same as the Bradley–Terry model";
const UNBOUNDED_TIE_PARAMETER: &str =
    "these votes give Davidson's tie parameter no finite value, so a tie counts half a win for each side";
const NO_VOTER_VARIANCE: &str = "one voter cast all votes of a group of models, every vote equals its prediction, the votes of every voter \
    add up to their predictions, or some rating would be infinite without one of the voters, so the variation between voters cannot be \
    estimated: these models have no intervals";
const NO_VOTE_VARIANCE: &str = "every vote on some models equals its prediction, such as a single tie, or too few resamples give them a \
    finite rating, so the sampling error cannot be estimated: these models have no intervals";
const CARRIED_BY_ONE_VOTER: &str =
    "without one of the voters, nothing compares these models with the rest, so they have no intervals";
const ALIKE_NAMES: &str = "names that differ only in case, spaces, Unicode form or letters that look alike are rated as different models; \
    if two of them are one model, write its name in one way";
const UNREAD_COLUMNS: &str =
    "each row counts as one vote, so these columns are not used; repeat a row that stands for several votes";
const PRICES_WITHOUT_RATING: &str = "these models have a price and no rating, so their prices are not used; if a name is mistyped, write it as in the votes";
const INTERVALS_OF_ONE_VOTER: &str =
    "all votes are one voter's: the intervals say how precise the ratings are for this voter, not for others";
const ONE_VOTER: &str =
    "all votes are one voter's, so the variation between voters cannot be estimated: there are no intervals";
const TIES_NOT_COMPARED: &str =
    "the votes do not determine how frequent ties are, so models of ties cannot be compared";
const NO_BOTH_BAD: &str =
    "too few votes that count are for “both bad”, so how good each model is by itself cannot be estimated";
const NOT_POOLED: &str =
    "only the largest group of models that votes connect in both directions has ratings by slice; left out";

/// One note of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RatingNote {
    /// No vote is rated.
    NoVotes,
    /// The leaderboard holds only the votes that meet these conditions.
    Slice {
        /// The conditions in English, such as `language Chinese`.
        conditions: Vec<String>,
    },
    /// The fit did not reach its optimum.
    NotConverged,
    /// Davidson's model was requested, but no vote is a tie.
    NoTies,
    /// Davidson's model was requested, but its tie parameter has no finite estimate.
    UnboundedTieParameter,
    /// Models that won, or lost, every vote, so that their ratings are bounds.
    Unbounded {
        /// The models.
        models: Vec<String>,
        /// `above` for models that won every vote.
        direction: Direction,
        /// Confidence level of the bound.
        confidence: f64,
    },
    /// The votes form several components, each rated separately.
    Components {
        /// Number of components.
        count: usize,
    },
    /// Only one-way votes connect the components.
    OneWayVotes {
        /// The first few of these connections.
        bridges: Vec<OneWayBridge>,
        /// Number of further connections.
        more: usize,
    },
    /// Some bootstrap replicates have a model without a finite rating.
    InfiniteReplicates {
        /// Number of replicates with a model without a finite rating.
        infinite: u32,
        /// Number of all replicates.
        replicates: u32,
    },
    /// No clustered intervals: one voter cast all votes of a component, every vote equals its prediction, or some rating is infinite
    /// without one of the voters.
    NoVoterVariance,
    /// No intervals: every vote on a model equals its prediction, or too few resamples have a finite rating.
    NoVoteVariance,
    /// One voter cast all votes, and the intervals assume independent votes.
    IntervalsOfOneVoter,
    /// Models without an interval: leaving out one of the voters leaves no votes that compare them with the rest.
    CarriedByOneVoter {
        /// The models.
        models: Vec<String>,
    },
    /// Models with intervals based on few voters.
    FewVoters {
        /// The models.
        models: Vec<String>,
        /// Minimum effective number of voters among these models.
        least: f64,
    },
    /// Intervals clustered by voter, or from resampled voters, are based on few voters.
    TooFewVoters {
        /// Number of voters.
        voters: u64,
        /// Effective number, fewer than all if some vote much more than others.
        effective: f64,
    },
    /// Neighbours are separated, or found equal, by a confidence sequence based on few voters.
    DecidedByFewVoters {
        /// Minimum effective number of voters over these pairs.
        least: f64,
    },
    /// Columns of vote counts per row, which are not read: each row is one vote.
    UnreadColumns {
        /// The columns.
        columns: Vec<String>,
    },
    /// Models that have a price and no rating.
    PricesWithoutRating {
        /// The models.
        models: Vec<String>,
    },
    /// Names that differ only in case, spaces, Unicode form or letters that look alike, each rated as a separate model.
    AlikeNames {
        /// The names.
        models: Vec<String>,
    },
    /// No clustered intervals of a fit with style control: one voter cast all votes.
    OneVoter,
    /// A style feature left out because its difference is the same in every vote.
    ConstantFeature {
        /// The feature.
        feature: String,
    },
    /// A style feature left out because it is a linear combination of the other features and the models.
    DependentFeature {
        /// The feature.
        feature: String,
    },
    /// The votes do not determine the share of prompts for which a model is good enough.
    NoBothBad,
    /// A comparison of tie models was requested, but the votes do not determine the frequency of ties.
    TiesNotCompared,
    /// Ratings of slices were requested, but the votes have no two slices.
    OneSlice {
        /// The column of the slices.
        by: SliceColumn,
    },
    /// Models without ratings by slice: votes do not connect them, in both directions, with the others.
    NotPooled {
        /// The models.
        models: Vec<String>,
    },
    /// A style feature left out because it predicts every vote, so that its effect is infinite.
    SeparatingFeature {
        /// The feature.
        feature: String,
    },
    /// An English text, from JSON that holds notes as texts.
    Text {
        /// The text.
        text: String,
    },
}

impl RatingNote {
    /// Replaces each model id by its name.
    #[must_use]
    pub fn with_names(mut self, name: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Unbounded { models, .. }
            | Self::CarriedByOneVoter { models }
            | Self::FewVoters { models, .. }
            | Self::PricesWithoutRating { models }
            | Self::AlikeNames { models } => {
                models.iter_mut().for_each(|model| *model = name(model));
            }
            Self::OneWayVotes { bridges, .. } => {
                let ends = bridges.iter_mut().flat_map(|bridge| [&mut bridge.winner, &mut bridge.loser]);
                ends.for_each(|model| *model = name(model));
            }
            _ => {}
        }
        self
    }
}

impl fmt::Display for RatingNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVotes => f.write_str(NO_VOTES),
            Self::NotConverged => f.write_str(NOT_CONVERGED),
            Self::NoTies => f.write_str(NO_TIES),
            Self::UnboundedTieParameter => f.write_str(UNBOUNDED_TIE_PARAMETER),
            Self::NoVoterVariance => f.write_str(NO_VOTER_VARIANCE),
            Self::NoVoteVariance => f.write_str(NO_VOTE_VARIANCE),
            Self::IntervalsOfOneVoter => f.write_str(INTERVALS_OF_ONE_VOTER),
            Self::OneVoter => f.write_str(ONE_VOTER),
            Self::NoBothBad => f.write_str(NO_BOTH_BAD),
            Self::TiesNotCompared => f.write_str(TIES_NOT_COMPARED),
            Self::Slice { conditions } => write!(f, "only votes with {}", conditions.join(" and ")),
            Self::Unbounded { models, direction, confidence } => fmt_unbounded(f, models, *direction, *confidence),
            Self::Components { count } => write!(
                f,
                "the votes leave {count} groups of models that cannot be compared: each is rated separately, with \
                 mean 1000 unless an anchor moves it"
            ),
            Self::OneWayVotes { bridges, more } => fmt_one_way(f, bridges, *more),
            Self::InfiniteReplicates { infinite, replicates } => fmt_infinite(f, *infinite, *replicates),
            Self::CarriedByOneVoter { models } => write!(f, "{CARRIED_BY_ONE_VOTER}: {}", quoted(models)),
            Self::FewVoters { models, least } => fmt_few_voters(f, models, *least),
            Self::AlikeNames { models } => write!(f, "{ALIKE_NAMES}: {}", quoted(models)),
            Self::UnreadColumns { columns } => write!(f, "{UNREAD_COLUMNS}: {}", quoted(columns)),
            Self::PricesWithoutRating { models } => write!(f, "{PRICES_WITHOUT_RATING}: {}", quoted(models)),
            Self::TooFewVoters { voters, effective } => fmt_too_few_voters(f, *voters, *effective),
            Self::DecidedByFewVoters { least } => fmt_decided_by_few_voters(f, *least),
            Self::ConstantFeature { feature } => write!(
                f,
                "every vote has the same difference in {feature}, so its effect cannot be estimated: it is left out"
            ),
            Self::DependentFeature { feature } => {
                write!(
                    f,
                    "the difference in {feature} follows from the other features and the models, so it is left out"
                )
            }
            Self::SeparatingFeature { feature } => {
                write!(f, "{feature} predicts every vote that differs in it, so its effect is infinite: it is left out")
            }
            Self::OneSlice { by } => fmt_one_slice(f, *by),
            Self::NotPooled { models } => write!(f, "{NOT_POOLED}: {}", quoted(models)),
            Self::Text { text } => f.write_str(text),
        }
    }
}

/// Formats the names of the first models and the number of the others.
fn quoted(models: &[String]) -> String {
    let named: Vec<String> = models.iter().take(MODELS_LISTED).map(|model| format!("{model:?}")).collect();
    let more = models.len() - named.len();
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

fn fmt_infinite(f: &mut fmt::Formatter<'_>, infinite: u32, replicates: u32) -> fmt::Result {
    write!(
        f,
        "in {infinite} of {replicates} bootstrap replicates some model lost all its wins or all its losses and had no \
         finite rating: an interval that extends this far has an open end"
    )
}

fn fmt_few_voters(f: &mut fmt::Formatter<'_>, models: &[String], least: f64) -> fmt::Result {
    write!(
        f,
        "the intervals of these models are based on few voters (in effect {least:.1} for the model with the fewest): {}",
        quoted(models)
    )
}

fn fmt_too_few_voters(f: &mut fmt::Formatter<'_>, voters: u64, effective: f64) -> fmt::Result {
    write!(
        f,
        "these votes are by {voters} voters (in effect {effective:.1}): with so few, intervals by this method are too \
         narrow; intervals by leaving out each voter (jackknife) allow for it"
    )
}

fn fmt_decided_by_few_voters(f: &mut fmt::Formatter<'_>, least: f64) -> fmt::Result {
    write!(
        f,
        "neighbours are told apart, or found equal, by few voters (in effect {least:.1} where they are fewest): intervals that hold \
         however often you look need at least {MIN_CLUSTERS}, so collect more votes before you rely on these"
    )
}

fn fmt_unbounded(f: &mut fmt::Formatter<'_>, models: &[String], direction: Direction, confidence: f64) -> fmt::Result {
    let (did, open, bound) = match direction {
        Direction::Above => ("won", "upper", "lower"),
        Direction::Below => ("lost", "lower", "upper"),
    };
    let (its, rating_has, plural) =
        if models.len() == 1 { ("its", "rating has", "") } else { ("their", "ratings have", "s") };
    write!(
        f,
        "{} {did} every vote against the rated models, so {its} {rating_has} no {open} bound: the table shows {its} \
         {bound} bound{plural} by likelihood ratio at {confidence} confidence, which takes votes as independent, and the other ratings ignore \
         {its} votes",
        quoted(models)
    )
}

fn fmt_one_slice(f: &mut fmt::Formatter<'_>, by: SliceColumn) -> fmt::Result {
    write!(
        f,
        "the votes that can be compared do not have several values of {}, so how ratings differ between slices cannot be \
         estimated: the ratings are those of all votes",
        by.as_str()
    )
}

fn fmt_one_way(f: &mut fmt::Formatter<'_>, bridges: &[OneWayBridge], more: usize) -> fmt::Result {
    let named: Vec<String> = bridges
        .iter()
        .map(|bridge| format!("{:?} over {:?} ({})", bridge.winner, bridge.loser, bridge.votes))
        .collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    write!(
        f,
        "only one-way votes connect these groups: {}{rest}; one vote in the opposite direction would join two groups",
        named.join(", ")
    )
}

/// Serialises notes as English texts, the form of `langya fit --format json`.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn serialize_texts<S: Serializer>(notes: &[RatingNote], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(ToString::to_string))
}

/// Reads texts as [`RatingNote::Text`].
///
/// # Errors
/// Those of the deserializer.
pub(super) fn deserialize_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RatingNote>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| RatingNote::Text { text }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_one_cause_share_a_note_and_have_names() {
        let note = |models: &[&str]| RatingNote::Unbounded {
            models: models.iter().map(|&model| model.to_owned()).collect(),
            direction: Direction::Below,
            confidence: 0.95,
        };
        let one = note(&["a"]).with_names(str::to_uppercase).to_string();
        assert!(one.starts_with("\"A\" lost every vote") && one.contains("its rating has no lower bound"), "{one}");
        let all = note(&["a", "b", "c", "d", "e", "f", "g"]).to_string();
        assert!(all.starts_with("\"a\", \"b\", \"c\", \"d\", \"e\" and 2 more lost every vote"), "{all}");
        assert!(all.contains("their ratings have no lower bound") && all.contains("their upper bounds by"), "{all}");
        let bridge = OneWayBridge { winner: "a".into(), loser: "b".into(), votes: 1.0 };
        let one_way = RatingNote::OneWayVotes { bridges: vec![bridge], more: 0 }.with_names(str::to_uppercase);
        assert!(one_way.to_string().contains("\"A\" over \"B\""), "{one_way}");
    }
}
