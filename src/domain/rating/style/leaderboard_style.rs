//! Covariates of a leaderboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::FitError;
use super::super::counts::tally::Tally;
use super::super::counts::weighting::Weights;
use super::super::intervals::sandwich::{IntervalEnds, Intervals};
use super::super::notes::RatingNote;
use super::super::options::{IntervalMethod, LeaderboardOptions, Method};
use super::super::strengths::fit::Fit;
use super::super::votes::scoring::{Scoring, TieRule};
use super::super::votes::vote_log::VoteLog;
use super::{Covariates, Effect, StyleErrors, StyleOptions, fit_style};
use crate::stats::confidence::ConfidenceLevel;

/// Effect of a feature of style, of the side or of a judge's maker, with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StyleEffect {
    /// Name of the feature.
    pub feature: String,
    /// Change of the log odds of a preference per standard deviation of the feature; for `side`, the log odds of a
    /// preference for the model on side A between equal models; for `side_in_later_turns`, its change in battles of several turns; for
    /// `same_maker`, the log odds of a judge's preference for a model of its own maker.
    pub coefficient: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

/// Parts of a fit with style control that a leaderboard shows.
pub(in super::super) struct StyledLeaderboard {
    pub(in super::super) fit: Fit,
    pub(in super::super) intervals: Intervals,
    pub(in super::super) effects: Vec<StyleEffect>,
    pub(in super::super) notes: Vec<RatingNote>,
}

/// Refits with covariates. `plain` is the fit without them.
///
/// # Errors
/// [`FitError::StyleOptions`] for options that style control does not support, and the errors of [`fit_style`].
pub(in super::super) fn style_controlled(
    log: Option<&VoteLog>,
    tally: &Tally,
    plain: &Fit,
    weights: &Weights,
    interval: IntervalMethod,
    options: &LeaderboardOptions,
) -> Result<StyledLeaderboard, FitError> {
    let errors = match interval {
        _ if options.method == Method::Elo || options.scoring.ties == TieRule::Davidson => {
            return Err(FitError::StyleOptions);
        }
        IntervalMethod::Bootstrap => return Err(FitError::StyleOptions),
        IntervalMethod::Cluster => StyleErrors::Voters,
        IntervalMethod::Jackknife => StyleErrors::Jackknife,
        // Effects have intervals even where ratings have none.
        IntervalMethod::Auto | IntervalMethod::Sandwich | IntervalMethod::None => StyleErrors::Votes,
    };
    let log = log.ok_or(FitError::SingleVotes)?;
    let weights = weights_of(log, tally, weights, options.scoring);
    let covariates = Covariates { style: options.style, side: options.side || options.turn };
    let turns = match options.turn {
        true => Some(log.turns.as_deref().ok_or(FitError::NoTurns)?),
        false => None,
    };
    let same_maker = options.makers.as_ref().map(|makers| makers.preferences(log)).transpose()?;
    let options_of_style = StyleOptions {
        scoring: options.scoring,
        covariates,
        errors,
        weights: weights.as_deref(),
        turns,
        same_maker: same_maker.as_deref(),
    };
    let styled = fit_style(log, tally, plain, options_of_style)?;
    let shown = interval != IntervalMethod::None;
    let voters = styled.voters;
    let strength = |(model, strength): (usize, Option<f64>)| {
        let quantile = options.confidence.quantile(voters.as_ref().map(|voters| voters[model]));
        Some(IntervalEnds::around(strength?, styled.errors[model]?, quantile)).filter(|_| shown)
    };
    let strengths = styled.fit.strengths().enumerate().map(strength).collect();
    let effects = styled.effects.iter().filter_map(|effect| shown_effect(effect, options.confidence)).collect();
    Ok(StyledLeaderboard {
        fit: styled.fit,
        intervals: Intervals {
            strengths,
            voters,
            single_voter: styled.single_voter,
            covariances: styled.covariances,
            ..Intervals::default()
        },
        effects,
        notes: styled.notes,
    })
}

fn shown_effect(effect: &Effect, level: ConfidenceLevel) -> Option<StyleEffect> {
    let quantile = level.quantile(effect.voters);
    let IntervalEnds { lower, upper, .. } = IntervalEnds::around(effect.coefficient, effect.error?, quantile);
    Some(StyleEffect { feature: effect.feature.to_owned(), coefficient: effect.coefficient, lower, upper })
}

/// Returns the weight of every log row; `None` for equal weights.
fn weights_of(log: &VoteLog, tally: &Tally, weights: &Weights, scoring: Scoring) -> Option<Vec<f64>> {
    if *weights == Weights::Equal {
        return None;
    }
    let mut places = vec![0; log.models.as_slice().len()];
    tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = place);
    let place = |model: u32| places[model as usize];
    let weight = |row: usize| match scoring.counts(log.outcomes[row]) {
        true => weights.of_vote(row, place(log.a[row]), place(log.b[row])),
        false => 0.0,
    };
    Some((0..log.len()).map(weight).collect())
}
