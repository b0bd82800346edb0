//! Worth of a judge's verdicts, in votes.
//!
//! Verdicts that agree with votes only on which models are better add no information: both ratings have it already. The measure is
//! whether the judge predicts the votes on a given prompt. So Bradley–Terry is fitted to the votes and to the verdicts of the same
//! battles, and R is the correlation of their residuals, e = vote − P(vote) and f = verdict − P(verdict): R = Σef / √(Σe²·Σf²), about
//! the mean 0 that they have under the model, so that the order of the models of a battle does not matter. Verdicts on every battle,
//! used as a control variate, then divide the variance of the ratings by
//! 1/(1 − R²), as that many times more votes would (Lavenberg and Welch 1981; for model predictions, Angelopoulos et al.
//! 2023). Counting verdicts as votes instead gives ratings of the judge's taste with intervals far too narrow.

use schemars::JsonSchema;
use serde::Serialize;

use super::FitError;
use super::counts::tally::Tally;
use super::strengths::bradley_terry;
use super::strengths::fit::{Fit, ModelStrength};
use super::strengths::negative_log_likelihood::logistic;
use super::votes::scoring::Scoring;
use super::votes::vote_log::VoteLog;
use crate::battle::Outcome;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::{Correlation, pearson};
use crate::stats::{Interval, Undefined};

/// A vote and a verdict on one battle of two different models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedPair<'a> {
    /// Models on sides A and B.
    pub models: [&'a str; 2],
    /// The vote.
    pub vote: Outcome,
    /// The verdict.
    pub verdict: Outcome,
}

/// Worth of verdicts, in votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictWorth {
    /// R, over the battles whose models both fits rate.
    pub correlation: Result<Correlation, Undefined>,
    /// 1/(1 − R²): a verdict on every battle is worth as much as this many times the votes.
    pub times: Option<f64>,
}

/// [`VerdictWorth`] for reports.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorthReport {
    /// Number of battles, or of questions where some have several votes.
    pub battles: usize,
    /// R, correlation of the residuals of votes and verdicts.
    pub residual_correlation: Option<f64>,
    /// Confidence interval of R by Fisher's z.
    pub interval: Option<Interval>,
    /// A verdict on every battle is worth as much as this many times the votes.
    pub times: Option<f64>,
    /// Reason why the worth is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

impl WorthReport {
    /// Computes the worth of verdicts, or the reason why it is undefined. Votes on one question share a verdict and are dependent, so the
    /// interval counts each question once: its sample size is `questions`, where these are fewer than the pairs.
    #[must_use]
    pub fn new<'a>(judged: impl IntoIterator<Item = JudgedPair<'a>>, questions: usize, level: ConfidenceLevel) -> Self {
        let missing = |why: String| Self {
            battles: 0,
            residual_correlation: None,
            interval: None,
            times: None,
            undefined: Some(why),
        };
        match verdict_worth(judged) {
            Ok(VerdictWorth { correlation: Ok(found), times }) => {
                let found = Correlation { n: found.n.min(questions), ..found };
                Self {
                    battles: found.n,
                    residual_correlation: Some(found.r),
                    interval: found.interval(level).ok(),
                    times,
                    undefined: None,
                }
            }
            Ok(VerdictWorth { correlation: Err(why), .. }) => missing(why.to_string()),
            Err(why) => missing(why.to_string()),
        }
    }
}

/// Computes the worth of verdicts on battles that also have votes. Battles of a model with itself are left out.
///
/// # Errors
/// [`FitError::Solver`] as for [`bradley_terry::fit`].
pub fn verdict_worth<'a>(judged: impl IntoIterator<Item = JudgedPair<'a>>) -> Result<VerdictWorth, FitError> {
    let (mut votes, mut verdicts) = (VoteLog::default(), VoteLog::default());
    for JudgedPair { models: [a, b], vote, verdict } in judged {
        if votes.push(a, b, vote).is_ok() {
            verdicts.push(a, b, verdict).expect("both logs take the same models");
        }
    }
    let both = residuals(&votes)?.into_iter().zip(residuals(&verdicts)?);
    let (ours, theirs): (Vec<f64>, Vec<f64>) = both.filter_map(|(vote, verdict)| vote.zip(verdict)).unzip();
    let correlation = about_zero(&ours, &theirs);
    let times = correlation.ok().map(|found| 1.0 / (1.0 - found.r * found.r)).filter(|times| times.is_finite());
    Ok(VerdictWorth { correlation, times })
}

/// Computes Σef / √(Σe²·Σf²); its p-value and interval are those of Pearson's correlation.
fn about_zero(ours: &[f64], theirs: &[f64]) -> Result<Correlation, Undefined> {
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
    let r = product(ours, theirs) / (product(ours, ours) * product(theirs, theirs)).sqrt();
    // Pearson's correlation returns the error where it is undefined.
    Ok(Correlation { r: r.clamp(-1.0, 1.0), ..pearson(ours, theirs)? })
}

/// Computes the points of A minus their prediction; `None` where the fit does not rate both models in one component.
fn residuals(log: &VoteLog) -> Result<Vec<Option<f64>>, FitError> {
    let tally = Tally::from_log(log, Scoring::default());
    let fit = bradley_terry::fit(&tally)?;
    let mut places = vec![0; log.models.as_slice().len()];
    tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = place);
    let residual = |row: usize| {
        let difference = difference(&fit, places[log.a[row] as usize], places[log.b[row] as usize])?;
        Some(log.outcomes[row].points_a() - logistic(difference))
    };
    Ok((0..log.len()).map(residual).collect())
}

fn difference(fit: &Fit, one: usize, other: usize) -> Option<f64> {
    match (fit.model_strengths[one], fit.model_strengths[other]) {
        (
            ModelStrength::Rated { component, strength },
            ModelStrength::Rated { component: another, strength: against },
        ) if component == another => Some(strength - against),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome::{AWins, BWins};

    fn pair(vote: Outcome, verdict: Outcome) -> JudgedPair<'static> {
        JudgedPair { models: ["x", "y"], vote, verdict }
    }

    #[test]
    fn a_judge_that_knows_the_prompt_is_worth_votes_and_one_that_knows_the_models_is_not() {
        // x wins three of four by both. Independent verdicts agree as often as by chance; informed ones more often.
        let independent = [(AWins, AWins, 9), (AWins, BWins, 3), (BWins, AWins, 3), (BWins, BWins, 1)];
        let informed = [(AWins, AWins, 11), (AWins, BWins, 1), (BWins, AWins, 1), (BWins, BWins, 3)];
        let of = |counts: [(Outcome, Outcome, usize); 4]| {
            let pairs = counts.into_iter().flat_map(|(vote, verdict, times)| vec![pair(vote, verdict); times]);
            verdict_worth(pairs).unwrap()
        };
        let (independent, informed) = (of(independent), of(informed));
        assert!(independent.correlation.unwrap().r.abs() < 1e-12, "{independent:?}");
        assert!((independent.times.unwrap() - 1.0).abs() < 1e-12);
        // The correlation of a table of two by two: (11·3 − 1·1)/(12·4) = 2/3.
        assert!((informed.correlation.unwrap().r - 2.0 / 3.0).abs() < 1e-9, "{informed:?}");
        assert!((informed.times.unwrap() - 1.8).abs() < 1e-9);
    }

    #[test]
    fn several_votes_on_one_question_do_not_narrow_the_interval() {
        let informed = [(AWins, AWins, 11), (AWins, BWins, 1), (BWins, AWins, 1), (BWins, BWins, 3)];
        let four_voters = |times: usize| {
            let pairs = informed.into_iter().flat_map(move |(vote, verdict, n)| vec![pair(vote, verdict); n * times]);
            WorthReport::new(pairs, 16, ConfidenceLevel::default())
        };
        let (once, often) = (four_voters(1), four_voters(4));
        assert_eq!((once.battles, often.battles), (16, 16));
        assert_eq!(once.interval, often.interval);
    }

    #[test]
    fn without_variation_there_is_no_worth() {
        let none = verdict_worth([pair(AWins, AWins), pair(BWins, AWins)]).unwrap();
        assert!(none.correlation.is_err() && none.times.is_none(), "{none:?}");
        assert!(verdict_worth([]).unwrap().correlation.is_err());
    }
}
