//! Style control: ratings with the looks of the replies held equal.
//!
//! Bradley–Terry with covariates, d = θ_a − θ_b + x·β (Li et al. 2024, "Does style matter?"; Chiang et al. 2024). The
//! features x of a vote are (a − b)/(a + b) of the two replies' tokens, headings, list items and bold spans, 0 where
//! both have none, each then z-scored by the population standard deviation over all counted votes. Strengths and
//! effects are fitted jointly and without any penalty, and their errors come from one joint sandwich, so what the
//! effects leave unsure shows in the intervals of the ratings.
//!
//! Models that only win or only lose, and components, are as without style: such a vote's likelihood goes to 1 whatever
//! β is. The components share β, which all of their votes fit together. A feature whose effect the votes cannot tell,
//! because it is constant, follows from the others or decides every vote, is left out and a note says so.

mod board;
mod errors;
mod features;
mod loss;

use nalgebra::{DMatrix, DVector};

pub(super) use board::style_controlled;
pub use features::FEATURES;

use super::FitError;
use super::bradley_terry::{Fit, ModelStrength};
use super::newton::descend;
use super::scoring::Scoring;
use super::tally::Tally;
use super::vote_log::VoteLog;
use errors::variances;
use features::StyledVotes;
use loss::StyleLoss;

/// A feature's own share of information, beside the other features and the models, below which it is taken to follow
/// from them: rounding leaves about 1e-15 of what does, and features that differ at all keep far more.
const DEPENDENT: f64 = 1e-10;
/// The share of the information at β = 0 below which the fit has run off to infinity: every vote that could tell is
/// then predicted to about nine digits.
const SEPARATED: f64 = 1e-9;

/// What the errors are to allow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StyleErrors {
    /// No errors.
    None,
    /// Every vote for itself.
    #[default]
    Votes,
    /// All votes of one voter together; a vote without a voter is one of its own.
    Voters,
}

/// What is to be fitted.
#[derive(Debug, Clone, Copy, Default)]
pub struct StyleOptions<'log> {
    /// What ties and both-bad votes count; as for the tally.
    pub scoring: Scoring,
    /// Which errors are wanted.
    pub errors: StyleErrors,
    /// What each vote of the log weighs; 1 without it.
    pub weights: Option<&'log [f64]>,
}

/// Strengths with style held equal, and the effects of style.
#[derive(Debug, Clone, PartialEq)]
pub struct StyledFit {
    /// The fit, laid out like the one without style.
    pub fit: Fit,
    /// Standard errors of the strengths, by position in [`Tally::models`]; none as in [`super::interval::sandwich`].
    pub errors: Vec<Option<f64>>,
    /// Effects of the features that are in the fit, in the order of [`FEATURES`].
    pub effects: Vec<Effect>,
    /// What was left out, in whole sentences.
    pub notes: Vec<String>,
}

/// The effect of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Its name, one of [`FEATURES`].
    pub feature: &'static str,
    /// Log odds of a preference for one standard deviation more of it.
    pub coefficient: f64,
    /// Standard error of the coefficient, where errors were asked for and can be told.
    pub error: Option<f64>,
}

/// Fits the votes of `log` with style. `tally` must hold the same votes, with [`super::tally::TalliedModel::index`]
/// by position in [`VoteLog::models`], and `plain` must be its fit without style.
///
/// # Errors
/// [`FitError::NoStyle`] without counts of style, [`FitError::NoVoters`] where voters are wanted and the log has none,
/// [`FitError::Solver`] as for the fit without style.
pub fn fit_style(log: &VoteLog, tally: &Tally, plain: &Fit, options: StyleOptions) -> Result<StyledFit, FitError> {
    let columns = log.style.as_ref().ok_or(FitError::NoStyle)?;
    let voters = match (options.errors, &log.voters) {
        (StyleErrors::Voters, None) => return Err(FitError::NoVoters),
        (StyleErrors::Voters, Some(voters)) => Some(voters),
        _ => None,
    };
    let votes = StyledVotes::gather(log, columns, tally, plain, options);
    let mut notes: Vec<String> = votes.constant().map(constant).collect();
    let (loss, found) = fit_what_can_be_told(&votes, plain, &mut notes)?;
    let variances = match options.errors {
        StyleErrors::None => None,
        StyleErrors::Votes | StyleErrors::Voters => variances(&loss, &found.point, voters)?,
    };
    if options.errors == StyleErrors::Voters && variances.is_none() {
        notes.push("all votes are one voter's, so nothing says how much voters differ: there are no intervals".into());
    }
    Ok(assemble(&loss, &found, variances.as_ref(), plain, notes))
}

/// The optimum with style, in the order of [`StyleLoss`]: strengths, then effects.
struct Found {
    point: DVector<f64>,
    loss: f64,
    iterations: u64,
    converged: bool,
}

/// Fits, leaving out one feature after another as long as the votes cannot tell its effect.
fn fit_what_can_be_told<'votes>(
    votes: &'votes StyledVotes,
    plain: &Fit,
    notes: &mut Vec<String>,
) -> Result<(StyleLoss<'votes>, Found), FitError> {
    let mut kept: Vec<usize> = votes.varying().collect();
    loop {
        let loss = StyleLoss::new(votes, kept.clone());
        let start = loss.start(plain);
        let before = loss.information_on_style(&start);
        if let Some(place) = before.as_ref().and_then(dependent) {
            notes.push(follows(FEATURES[kept.remove(place)]));
            continue;
        }
        let found = descend(&loss, start);
        // Where the search broke off, its last point shows which way it ran.
        let last = loss.last_point();
        let after = last.as_ref().and_then(|point| loss.information_on_style(point));
        if let Some(place) = runaway(before.as_ref().map(|own| &own.left), after.as_ref().map(|own| &own.left)) {
            notes.push(decides(FEATURES[kept.remove(place)]));
            continue;
        }
        let found = found?;
        let converged = found.converged;
        let found =
            Found { loss: found.cost * loss.total(), point: found.point, iterations: found.iterations, converged };
        return Ok((loss, found));
    }
}

/// What the votes tell of the effects: by themselves, and beyond what strengths could explain as well.
struct OwnInformation {
    /// The block of the curvature that belongs to the features.
    alone: DMatrix<f64>,
    /// Its Schur complement: what is left once strengths adapt to any change of the effects.
    left: DMatrix<f64>,
}

/// The place of the first feature that follows from those before it and from who met whom: the pivots of a Cholesky
/// factor are what each has left.
fn dependent(own: &OwnInformation) -> Option<usize> {
    let mut matrix = own.left.clone();
    for place in 0..matrix.nrows() {
        let pivot = matrix[(place, place)];
        if pivot <= DEPENDENT * own.alone[(place, place)] {
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

/// The feature that moves most in a direction in which the fit has lost all but nothing of its information: there the
/// likelihood grows without end.
fn runaway(before: Option<&DMatrix<f64>>, after: Option<&DMatrix<f64>>) -> Option<usize> {
    let (before, after) = (before?, after?);
    let scale = DVector::from_fn(before.nrows(), |place, _| before[(place, place)].sqrt());
    let relative = DMatrix::from_fn(after.nrows(), after.ncols(), |i, j| after[(i, j)] / (scale[i] * scale[j]));
    let eigen = relative.symmetric_eigen();
    let (least, &value) = eigen.eigenvalues.iter().enumerate().min_by(|x, y| x.1.total_cmp(y.1))?;
    (value < SEPARATED).then(|| eigen.eigenvectors.column(least).iamax())
}

fn assemble(
    loss: &StyleLoss<'_>,
    found: &Found,
    variances: Option<&DVector<f64>>,
    plain: &Fit,
    notes: Vec<String>,
) -> StyledFit {
    let mut fit = plain.clone();
    let mut errors = vec![None; plain.model_strengths.len()];
    let error = |place: usize| variances.map(|variances| variances[place].sqrt());
    for (place, &model) in loss.models().iter().enumerate() {
        if let ModelStrength::Rated { strength, .. } = &mut fit.model_strengths[model] {
            *strength = found.point[place];
        }
        errors[model] = error(place);
    }
    let first = loss.models().len();
    let effect = |(place, &feature): (usize, &usize)| Effect {
        feature: FEATURES[feature],
        coefficient: found.point[first + place],
        error: error(first + place),
    };
    let effects = loss.kept().iter().enumerate().map(effect).collect();
    fit.converged = found.converged;
    fit.iterations = found.iterations;
    fit.log_likelihood = 0.0 - found.loss;
    StyledFit { fit, errors, effects, notes }
}

fn constant(feature: &'static str) -> String {
    format!("every vote has the same difference in {feature}, so its effect cannot be told: it is left out")
}

fn follows(feature: &'static str) -> String {
    format!("the difference in {feature} follows from the other features and the models, so it is left out")
}

fn decides(feature: &'static str) -> String {
    format!(
        "{feature} goes with the preference in every vote that could tell, so its effect has no limit: it is left out"
    )
}
