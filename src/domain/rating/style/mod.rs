//! Covariates: ratings adjusted for the length and formatting of the replies (style control), for the side on which a model
//! was shown, and for the maker of a judge.
//!
//! Bradley–Terry with covariates, d = θ_a − θ_b + x·β (Li et al. 2024, "Does style matter?"; Chiang et al. 2024). The
//! features x of a vote are (a − b)/(a + b) of the two replies' tokens, headings, list items and bold spans, 0 if both
//! have none, each z-scored by the population standard deviation over all rated votes. Strengths and effects are fitted
//! jointly without a penalty, and their errors come from one joint sandwich, so the intervals of the ratings include
//! the uncertainty of the effects.
//!
//! The side is a feature too: 1 for the model on side A, not z-scored, so that its effect is the log odds of a preference for A
//! between equal models (Agresti 2013, section 11.6.3, has it as the advantage of the home team). In battles of several turns
//! a further feature, also 1 for A, has the change of this advantage. The maker's feature is 1 for a model of the maker of
//! the judge who voted, so that its effect is the judge's preference for models of its own maker.
//!
//! Unbounded models and components are the same as without style: the likelihood of such votes goes to 1 for any β. All
//! components share β. A feature whose effect is not identified, because it is constant, depends on the others or
//! separates the votes, is left out with a note.

mod errors;
mod features;
mod jackknife;
mod leaderboard_style;
mod negative_log_likelihood;

use nalgebra::{DMatrix, DVector};

pub use features::FEATURES;
pub use leaderboard_style::StyleEffect;
pub(super) use leaderboard_style::{StyledLeaderboard, style_controlled};

use super::FitError;
use super::counts::tally::Tally;
use super::intervals::covariance::Covariances;
use super::notes::RatingNote;
use super::strengths::newton::newton_minimise;
use super::votes::scoring::Scoring;
use super::votes::vote_log::VoteLog;
use crate::rating::strengths::fit::{Fit, ModelStrength};
use errors::{Variances, covariance, has_zero_variance};
use features::{NAMES, StyledVotes};
use negative_log_likelihood::StyleLoss;

/// Threshold of a feature's own share of the information, given the other features and the models, below which it
/// counts as dependent: rounding leaves about 1e-15, and a feature that differs at all keeps far more.
const MIN_OWN_INFORMATION: f64 = 1e-10;
/// Share of the information at β = 0 below which the fit diverges: every informative vote is then predicted to about
/// nine digits.
const MIN_INFORMATION_SHARE: f64 = 1e-9;

/// Kind of standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StyleErrors {
    /// No errors.
    None,
    /// Independent votes.
    #[default]
    Votes,
    /// Clustered by voter; a vote without a voter is its own cluster.
    Voters,
    /// By leaving out one voter at a time, as in [`IntervalMethod::Jackknife`](super::options::IntervalMethod).
    Jackknife,
}

/// Covariates that ratings are adjusted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covariates {
    /// The features of style, [`FEATURES`].
    pub style: bool,
    /// The side on which a model was shown.
    pub side: bool,
}

impl Default for Covariates {
    fn default() -> Self {
        Self { style: true, side: false }
    }
}

/// Options of a fit with covariates.
#[derive(Debug, Clone, Copy, Default)]
pub struct StyleOptions<'log> {
    /// Treatment of ties and both-bad votes; the same as for the tally.
    pub scoring: Scoring,
    /// Covariates; the features of style by default.
    pub covariates: Covariates,
    /// Kind of standard errors.
    pub errors: StyleErrors,
    /// Weight of each log row; 1 if `None`.
    pub weights: Option<&'log [f64]>,
    /// The number of turns of each log row, to adjust for the side in battles of several turns.
    pub turns: Option<&'log [u32]>,
    /// For each log row, whether A (1), B (−1) or neither alone (0) is of the judge's maker, to adjust for that.
    pub same_maker: Option<&'log [i8]>,
}

/// Strengths with style control, and the effects of the features.
#[derive(Debug, Clone, PartialEq)]
pub struct StyledFit {
    /// The fit, with the same models and components as the one without style.
    pub fit: Fit,
    /// Standard errors of the strengths, by position in [`Tally::models`]; `None` as in [`super::intervals::sandwich::sandwich`].
    pub errors: Vec<Option<f64>>,
    /// Effective number of voters by model, with [`StyleErrors::Jackknife`].
    pub voters: Option<Vec<f64>>,
    /// Models without a standard error because only a single voter's votes connect them with the rest.
    pub single_voter: Vec<usize>,
    /// Joint covariance of the strengths.
    pub(super) covariances: Covariances,
    /// Effects of the features in the fit, in the order of [`FEATURES`], then the side, the side in battles of several turns,
    /// and the judge's maker.
    pub effects: Vec<Effect>,
    /// Features left out and missing intervals.
    pub notes: Vec<RatingNote>,
}

/// The effect of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Its name: one of [`FEATURES`], `side`, `side_in_later_turns` or `same_maker`.
    pub feature: &'static str,
    /// Change of the log odds of a preference per standard deviation of a feature of style; for the others, as in
    /// [`StyleEffect::coefficient`].
    pub coefficient: f64,
    /// Standard error of the coefficient, if requested and identified.
    pub error: Option<f64>,
    /// Effective number of voters, with [`StyleErrors::Jackknife`].
    pub voters: Option<f64>,
}

/// Fits the votes of `log` with covariates. `tally` must hold the same votes, with
/// [`super::counts::tally::TalliedModel::index`] by position in [`VoteLog::models`], and `plain` must be its fit without style.
///
/// # Errors
/// [`FitError::NoStyle`] without style counts, [`FitError::NoVoters`] for clustered errors without voters,
/// [`FitError::Solver`] as for the fit without style.
pub fn fit_style(log: &VoteLog, tally: &Tally, plain: &Fit, options: StyleOptions) -> Result<StyledFit, FitError> {
    let columns = match options.covariates.style {
        true => Some(log.style.as_ref().ok_or(FitError::NoStyle)?),
        false => None,
    };
    let voters = match (options.errors, &log.voters) {
        (StyleErrors::Voters | StyleErrors::Jackknife, None) => return Err(FitError::NoVoters),
        (StyleErrors::Voters | StyleErrors::Jackknife, Some(voters)) => Some(voters),
        _ => None,
    };
    let votes = StyledVotes::gather(log, columns, tally, plain, options);
    let mut notes: Vec<RatingNote> = votes.constant().map(constant).collect();
    let (loss, found) = fit_identified_features(&votes, plain, &mut notes)?;
    let variances = match (options.errors, voters) {
        (StyleErrors::None, _) => None,
        (StyleErrors::Jackknife, Some(voters)) => jackknife::variances(&loss, &found.point, voters)?,
        (_, voters) => covariance(&loss, &found.point, voters)?.map(Variances::of_votes),
    };
    if voters.is_some() && variances.is_none() {
        notes.push(RatingNote::OneVoter);
    }
    Ok(assemble_styled_fit(&loss, &found, variances.as_ref(), plain, notes))
}

/// Optimum with style, in the parameter order of [`StyleLoss`]: strengths, then effects.
struct StyleOptimum {
    point: DVector<f64>,
    loss: f64,
    iterations: u64,
    converged: bool,
}

/// Fits the model, leaving out features one at a time until all are identified.
fn fit_identified_features<'votes>(
    votes: &'votes StyledVotes,
    plain: &Fit,
    notes: &mut Vec<RatingNote>,
) -> Result<(StyleLoss<'votes>, StyleOptimum), FitError> {
    let mut kept: Vec<usize> = votes.varying().collect();
    loop {
        let loss = StyleLoss::new(votes, kept.clone());
        let start = loss.start(plain);
        let before = loss.information_on_style(&start);
        if let Some(place) = before.as_ref().and_then(dependent) {
            notes.push(dependent_feature(NAMES[kept.remove(place)]));
            continue;
        }
        let found = newton_minimise(&loss, start);
        // After a failed search, the last point shows in which direction it diverged.
        let last = loss.last_point();
        let after = last.as_ref().and_then(|point| loss.information_on_style(point));
        if let Some(place) = diverging_column(before.as_ref().map(|own| &own.left), after.as_ref().map(|own| &own.left))
        {
            notes.push(separating_feature(NAMES[kept.remove(place)]));
            continue;
        }
        let found = found?;
        let converged = found.converged;
        let found = StyleOptimum {
            loss: found.cost * loss.total(),
            point: found.point,
            iterations: found.iterations,
            converged,
        };
        return Ok((loss, found));
    }
}

/// Information on the effects: by themselves, and given the strengths.
struct OwnInformation {
    /// Block of the Hessian of the features.
    alone: DMatrix<f64>,
    /// Schur complement of that block: the remaining information when the strengths adapt to any change of the effects.
    left: DMatrix<f64>,
}

/// Finds the first feature that depends on those before it and on the models: the pivots of a Cholesky factor are the
/// remaining information.
fn dependent(own: &OwnInformation) -> Option<usize> {
    let mut matrix = own.left.clone();
    for place in 0..matrix.nrows() {
        let pivot = matrix[(place, place)];
        if pivot <= MIN_OWN_INFORMATION * own.alone[(place, place)] {
            return Some(place);
        }
        for row in place + 1..matrix.nrows() {
            for column in place + 1..matrix.nrows() {
                let taken = matrix[(row, place)] * matrix[(place, column)] / pivot;
                matrix[(row, column)] -= taken;
            }
        }
    }
    None
}

/// Finds the feature with the largest part in a direction in which the fit lost almost all its information: there the
/// likelihood grows without limit.
fn diverging_column(before: Option<&DMatrix<f64>>, after: Option<&DMatrix<f64>>) -> Option<usize> {
    let (before, after) = (before?, after?);
    let scale = DVector::from_fn(before.nrows(), |place, _| before[(place, place)].sqrt());
    let relative = DMatrix::from_fn(after.nrows(), after.ncols(), |i, j| after[(i, j)] / (scale[i] * scale[j]));
    let eigen = relative.symmetric_eigen();
    let (least, &value) = eigen.eigenvalues.iter().enumerate().min_by(|x, y| x.1.total_cmp(y.1))?;
    (value < MIN_INFORMATION_SHARE).then(|| eigen.eigenvectors.column(least).iamax())
}

fn assemble_styled_fit(
    loss: &StyleLoss<'_>,
    found: &StyleOptimum,
    variances: Option<&Variances>,
    plain: &Fit,
    notes: Vec<RatingNote>,
) -> StyledFit {
    let mut fit = plain.clone();
    let mut errors = vec![None; plain.model_strengths.len()];
    let error = |place: usize| variances.and_then(|variances| variances.error(place));
    let voters = |place: usize| variances?.voters.as_ref().map(|voters| voters[place]);
    let mut voters_by_model = vec![0.0; plain.model_strengths.len()];
    let mut single_voter = Vec::new();
    let unvarying = variances.map_or_else(Vec::new, |_| has_zero_variance(loss, &found.point));
    for (place, &model) in loss.models().iter().enumerate() {
        if let ModelStrength::Rated { strength, .. } = &mut fit.model_strengths[model] {
            *strength = found.point[place];
        }
        errors[model] = error(place).filter(|_| !unvarying[place]);
        voters_by_model[model] = voters(place).unwrap_or(0.0);
        if variances.is_some_and(|variances| variances.is_carried(place)) {
            single_voter.push(model);
        }
    }
    let first = loss.models().len();
    let effect = |(place, &feature): (usize, &usize)| Effect {
        feature: NAMES[feature],
        coefficient: found.point[first + place],
        error: error(first + place),
        voters: voters(first + place),
    };
    let effects = loss.kept().iter().enumerate().map(effect).collect();
    fit.converged = found.converged;
    fit.iterations = found.iterations;
    fit.log_likelihood = 0.0 - found.loss;
    let mut covariances = Covariances::default();
    if let Some(variances) = variances.filter(|_| Covariances::is_kept_for(first)) {
        covariances.put_models(loss.models(), variances.covariance.clone());
    }
    let voters = variances.and_then(|variances| variances.voters.as_ref()).map(|_| voters_by_model);
    StyledFit { fit, errors, voters, single_voter, covariances, effects, notes }
}

fn constant(feature: &'static str) -> RatingNote {
    RatingNote::ConstantFeature { feature: feature.to_owned() }
}

fn dependent_feature(feature: &'static str) -> RatingNote {
    RatingNote::DependentFeature { feature: feature.to_owned() }
}

fn separating_feature(feature: &'static str) -> RatingNote {
    RatingNote::SeparatingFeature { feature: feature.to_owned() }
}
