//! Value report: rating, cost and times of each model, and a finding for the choice of a model.
//!
//! `Display` of a [`ValueFinding`] is the English sentence that `langya fit` prints; pages translate the finding.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::prices::{Currency, PriceDate, PriceSource};

/// Ratings joined with prices and times. No number in it is NaN or infinite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ValueReport {
    /// The finding in English.
    pub sentence: String,
    /// Comparison of the best-rated model with a cheaper one.
    pub finding: ValueFinding,
    /// Models that are rated higher than the best one of the finding, and have no known cost.
    pub rated_higher_without_cost: Vec<String>,
    /// Currency of all prices and costs, if given.
    pub currency: Option<Currency>,
    /// Tokens that a cost includes.
    pub cost_basis: CostBasis,
    /// Rated votes behind the ratings.
    pub votes: u64,
    /// Answers whose tokens and times are in the report.
    pub answers: u64,
    /// Mean tokens of a prompt, by the program's own count.
    pub prompt_tokens: Option<f64>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// The models in the order of the leaderboard.
    pub models: Vec<ModelValue>,
}

/// Tokens that a cost includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// Prompts and replies of 1,000 answers.
    PromptsAndReplies,
    /// Replies of 1,000 answers: the tokens of prompts are unknown.
    Replies,
    /// A million tokens of output: the tokens of prompts and replies are unknown.
    OutputPrice,
}

/// Rating, cost and times of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelValue {
    /// Name of the model.
    pub model: String,
    /// Rating; `None` for an unbounded model.
    pub rating: Option<f64>,
    /// Lower bound of the rating.
    pub lower: Option<f64>,
    /// Upper bound of the rating.
    pub upper: Option<f64>,
    /// Cost on the basis of [`ValueReport::cost_basis`]; `None` without prices, or without answers that count.
    pub cost: Option<f64>,
    /// Mean tokens of a reply, by the program's own count.
    pub reply_tokens: Option<f64>,
    /// Median time to the first token in seconds, to a tenth.
    pub first_token_seconds: Option<f64>,
    /// Median tokens per second after the first one, to two digits.
    pub tokens_per_second: Option<f64>,
    /// Price of a million tokens of input.
    pub input_price: Option<f64>,
    /// Price of a million tokens of output.
    pub output_price: Option<f64>,
    /// Day on which the prices were looked up.
    pub price_date: Option<PriceDate>,
    /// Source of the prices.
    pub price_source: Option<PriceSource>,
    /// Reason why the model is shown and not compared.
    pub reservation: Option<Caveat>,
    /// Whether the model is in the Pareto set of rating and cost; `None` if it is not compared.
    pub pareto: Option<bool>,
    /// Whether it is in the Pareto set of rating, cost, time to the first token and speed, as far as these are known of the model.
    pub pareto_with_times: Option<bool>,
    /// Cheapest model that costs less and is not significantly different from this one.
    pub cheaper: Option<CheaperModel>,
}

/// Reason why a model is shown and not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    /// The model is a built-in practice model.
    Practice,
    /// The model won or lost every vote, so that its rating has no finite estimate.
    Unbounded,
    /// The model has fewer votes than the minimum.
    Provisional,
    /// Votes do not connect the model with the largest component.
    OtherGroup,
}

/// Cheaper model that is not significantly different from a dearer one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheaperModel {
    /// The cheaper model.
    pub model: String,
    /// Rating of the dearer model minus that of the cheaper one, in points.
    pub difference: f64,
    /// Lower bound of the difference.
    pub lower: f64,
    /// Upper bound of the difference.
    pub upper: f64,
    /// 1 − cost / cost of the dearer model, above 0 and at most 1.
    pub saving: f64,
    /// Expected share of points of the dearer model against the cheaper one at the upper bound: 1 / (1 + 10^(−upper/400)).
    pub greatest_win_share: f64,
}

/// Comparison of the best-rated model with a cheaper one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ValueFinding {
    /// A cheaper model is not significantly different from the best-rated one.
    CheaperModel {
        /// The best-rated model that has a cost.
        best: String,
        /// Cheapest model that is not significantly different.
        cheaper: CheaperModel,
    },
    /// Every cheaper model is significantly different from the best-rated one.
    CheaperAreLower {
        /// The best-rated model that has a cost.
        best: String,
        /// Number of cheaper models.
        cheaper: usize,
    },
    /// The best-rated model costs least.
    BestIsCheapest {
        /// The best-rated model that has a cost.
        best: String,
    },
    /// There are cheaper models, but some of their differences have no interval.
    NoDifference {
        /// The best-rated model that has a cost.
        best: String,
    },
    /// Fewer than two models can be compared.
    TooFewModels,
}

impl ValueReport {
    /// Returns the report with the models renamed.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let cheaper = |cheaper: &CheaperModel| cheaper.renamed(&name);
        let value = |value: &ModelValue| ModelValue {
            model: name(&value.model),
            cheaper: value.cheaper.as_ref().map(cheaper),
            ..value.clone()
        };
        let finding = self.finding.renamed(&name);
        Self {
            sentence: finding.to_string(),
            finding,
            rated_higher_without_cost: self.rated_higher_without_cost.iter().map(|model| name(model)).collect(),
            models: self.models.iter().map(value).collect(),
            ..self.clone()
        }
    }
}

impl CheaperModel {
    fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        Self { model: name(&self.model), ..self.clone() }
    }
}

impl ValueFinding {
    fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        match self {
            Self::CheaperModel { best, cheaper } => {
                Self::CheaperModel { best: name(best), cheaper: cheaper.renamed(name) }
            }
            Self::CheaperAreLower { best, cheaper } => Self::CheaperAreLower { best: name(best), cheaper: *cheaper },
            Self::BestIsCheapest { best } => Self::BestIsCheapest { best: name(best) },
            Self::NoDifference { best } => Self::NoDifference { best: name(best) },
            Self::TooFewModels => Self::TooFewModels,
        }
    }
}

/// Start of a sentence that names the best-rated model.
const RATED_BEST: &str = "Of the models with a known cost, the best rated is";

impl fmt::Display for ValueFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CheaperModel { best, cheaper } => {
                let CheaperModel { model, difference, lower, upper, saving, greatest_win_share } = cheaper;
                let wins = 100.0 * greatest_win_share;
                let [difference, lower, upper] = [*difference, *lower, *upper].map(points);
                write!(
                    f,
                    "{best} and {model} cannot be told apart by these votes; {model} costs {}. {best} is rated \
                     {difference} points higher, and the votes allow for any difference from {lower} to {upper} points: \
                     at {upper}, {best} would win about {wins:.0} of 100 battles against {model}.",
                    if *saving < 1.0 { format!("{} less", percent(*saving)) } else { "nothing".to_owned() }
                )
            }
            Self::CheaperAreLower { best, cheaper: 1 } => {
                write!(f, "{RATED_BEST} {best}. One model is cheaper, and the votes show that it is rated lower.")
            }
            Self::CheaperAreLower { best, cheaper } => write!(
                f,
                "{RATED_BEST} {best}. {cheaper} models are cheaper, and the votes show that each of them is rated lower."
            ),
            Self::BestIsCheapest { best } => {
                write!(f, "{RATED_BEST} {best}, and none costs less.")
            }
            Self::NoDifference { best } => write!(
                f,
                "{RATED_BEST} {best}. There are cheaper ones, but the votes do not say how far their ratings may be from \
                 that of {best}."
            ),
            Self::TooFewModels => f.write_str(
                "Nothing can be said yet: it takes two models with a price, enough votes and a finite rating.",
            ),
        }
    }
}

/// Formats an amount of money with three digits.
#[must_use]
pub fn amount(cost: f64) -> String {
    let decimals = [100.0, 10.0, 1.0, 0.1, 0.01, 0.001].into_iter().position(|size| cost >= size).unwrap_or(6);
    if cost > 0.0 { format!("{cost:.decimals$}") } else { "0".to_owned() }
}

/// Formats a share in percent without decimals, or with one where it would read 0 or 100 and is neither.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p > 99.5 && p < 100.0 => format!("{:.1} %", p.min(99.9)),
        p if p > 0.0 && p < 0.5 => format!("{:.1} %", p.max(0.1)),
        p => format!("{p:.0} %"),
    }
}

/// Formats rating points: whole ones, with a decimal below one point.
#[must_use]
pub fn points(points: f64) -> String {
    let text = if points.abs() < 1.0 { format!("{points:.1}") } else { format!("{points:.0}") };
    match text.strip_prefix('-') {
        Some("0.0") => "0.0".to_owned(),
        Some(size) => format!("−{size}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_both_models_the_saving_and_the_differences_that_the_votes_allow() {
        let cheaper = CheaperModel {
            model: "b".into(),
            difference: 12.4,
            lower: -8.6,
            upper: 33.4,
            saving: 0.8391,
            greatest_win_share: 0.5479,
        };
        let finding = ValueFinding::CheaperModel { best: "a".into(), cheaper };
        assert_eq!(
            finding.renamed(str::to_uppercase).to_string(),
            "A and B cannot be told apart by these votes; B costs 84 % less. A is rated 12 points higher, and the votes \
             allow for any difference from −9 to 33 points: at 33, A would win about 55 of 100 battles against B."
        );
    }

    #[test]
    fn numbers_are_short_and_a_saving_reads_as_all_or_nothing_only_if_it_is() {
        for (share, text) in
            [(1.0, "100 %"), (0.9999, "99.9 %"), (0.996, "99.6 %"), (0.5, "50 %"), (0.004, "0.4 %"), (0.0001, "0.1 %")]
        {
            assert_eq!(percent(share), text);
        }
        for (cost, text) in
            [(0.0, "0"), (0.004_56, "0.00456"), (0.1, "0.100"), (1.82, "1.82"), (12.345, "12.3"), (1234.5, "1234")]
        {
            assert_eq!(amount(cost), text);
        }
        for (value, text) in [(0.44, "0.4"), (-0.04, "0.0"), (-0.5, "−0.5"), (-17.2, "−17"), (250.0, "250")] {
            assert_eq!(points(value), text);
        }
    }
}
