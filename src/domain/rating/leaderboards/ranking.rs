//! Ranking: fits the votes, puts every number on the public scale and orders the models.
//!
//! A rank is 1 + the number of models of the same component whose lower bound lies above this model's upper bound.

mod note_rules;
mod voter_numbers;

use std::collections::BTreeSet;

use self::note_rules::{decided_by_few_voters, notes, too_few_voters};
use self::voter_numbers::VoterNumbers;
use super::super::counts::comparison::ComparisonSet;
use super::super::counts::count_by_pair::count_by_pair;
use super::super::counts::pair_counts::PairCounts;
use super::super::counts::tally::{TalliedModel, Tally};
use super::super::counts::votes_by_voter::VotesByVoter;
use super::super::counts::weighting::{Reweight, Weights, weigh};
use super::super::intervals::bootstrap::{BootstrapReport, bootstrap as resample};
use super::super::intervals::clustered_sandwich::cluster;
use super::super::intervals::jackknife::jackknife;
use super::super::intervals::sandwich::{IntervalEnds, Intervals, joint_sandwich};
use super::super::intervals::sequential_testing::{OrderedModel, neighbours};
use super::super::intervals::voter_resampling::{VoterVotes, votes_to_resample};
use super::super::notes::RatingNote;
use super::super::options::{IntervalMethod, LeaderboardOptions, Method};
use super::super::pooling::pool_slices;
use super::super::public_scale::{ScaledModel, move_to_anchor, scale_models};
use super::super::rank_intervals::rank_intervals;
use super::super::strengths::elo::EloTable;
use super::super::strengths::fit::{Bridge, Direction, Fit, ModelStrength, OneWayBridge};
use super::super::strengths::{bradley_terry, davidson};
use super::super::style::{StyleEffect, StyledLeaderboard, style_controlled};
use super::super::ties::comparison::{TieComparison, compare_ties};
use super::super::ties::good_enough::good_enough;
use super::super::ties::good_enough_change::{ShareErrors, good_enough_changes};
use super::super::votes::scoring::{Scoring, TieRule};
use super::super::votes::vote_log::{StyleColumns, VoteLog, VotersKnown};
use super::super::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use super::differences::Differences;
use super::leaderboard::{Leaderboard, RankedModel, TieEffect, VoteTotals};
use super::pair_matrices::{Matrices, empirical_win_rates};
use crate::stats::real_len;
use crate::stats::resample::MIN_CLUSTERS;

/// Exclusion rule of style control for votes without style counts.
const NO_TEXT_COUNTS: &str = "no_text_counts";

/// Fits and ranks counted votes. `elo` must have counted the same votes with the same scoring.
///
/// Counts have no voters and no pair probabilities.
///
/// # Errors
/// [`FitError`] for an invalid anchor, or for options that need single votes. Too few votes are not an error: a note
/// reports them.
pub fn rank(
    comparisons: &ComparisonSet,
    elo: &EloTable,
    options: &LeaderboardOptions,
) -> Result<Leaderboard, FitError> {
    let counts = options.good_enough.then(|| comparisons.pairs().collect());
    Ok(rank_tally(comparisons.tally(options.scoring), elo, RankedVotes { log: None, counts }, options)?.leaderboard)
}

/// Fits and ranks the votes of a log.
///
/// # Errors
/// Those of [`rank`].
pub fn rank_log(log: &VoteLog, options: &LeaderboardOptions) -> Result<Leaderboard, FitError> {
    Ok(rank_log_with_differences(log, options)?.leaderboard)
}

/// Leaderboard with the differences of its models.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The leaderboard.
    pub leaderboard: Leaderboard,
    /// Differences of any two of its models.
    pub differences: Differences,
}

/// Fits and ranks the votes of a log like [`rank_log`], and returns the differences of any two models too.
///
/// # Errors
/// Those of [`rank`].
pub fn rank_log_with_differences(log: &VoteLog, options: &LeaderboardOptions) -> Result<Ranking, FitError> {
    let counted = log.style.as_ref().filter(|_| options.style).and_then(|style| votes_with_counts(log, style));
    let log = counted.as_ref().unwrap_or(log);
    let (tally, elo) =
        rayon::join(|| Tally::from_log(log, options.scoring), || EloTable::from_log(log, options.scoring));
    let counts = options.good_enough.then(|| count_by_pair(log));
    let mut ranking = rank_tally(tally, &elo, RankedVotes { log: Some(log), counts }, options)?;
    ranking.leaderboard.votes.exclude(&log.excluded);
    Ok(ranking)
}

/// Selects the votes with all style counts; `None` where all have them.
fn votes_with_counts(log: &VoteLog, style: &StyleColumns) -> Option<VoteLog> {
    let complete = style.complete()?;
    let mut counted = log.clone();
    counted.retain(&complete);
    counted.excluded.insert(NO_TEXT_COUNTS.to_owned(), (log.len() - counted.len()) as u64);
    Some(counted)
}

/// Single votes and counts behind a tally.
struct RankedVotes<'log> {
    /// Single votes, if available.
    log: Option<&'log VoteLog>,
    /// Counts by pair and outcome, if the options need them.
    counts: Option<Vec<(u32, u32, PairCounts)>>,
}

/// Fits and ranks a tally.
fn rank_tally(
    mut tally: Tally,
    elo: &EloTable,
    RankedVotes { log, counts }: RankedVotes<'_>,
    options: &LeaderboardOptions,
) -> Result<Ranking, FitError> {
    let weights = weigh(&mut tally, log, options.scoring, options.reweight)?;
    let UnrankedLeaderboard { fit, interval, intervals, bootstrap, effects, style_notes, tie_models, scaled } =
        estimate(&tally, elo, log, &weights, options)?;
    let mut models = ranked_models(&tally, &fit, &scaled, &intervals, elo, options);
    if let Some(counts) = counts {
        add_good_enough(&mut models, &tally, &counts, log, options);
    }
    // Without joint covariances there is nothing to compare; pairs with an unbounded model are open without one.
    let is_comparable = !intervals.covariances.is_empty()
        || (interval.has_errors() && models.iter().all(|model| model.unbounded.is_some()));
    let sequential = options.sequential.filter(|_| is_comparable);
    let neighbours = sequential.map(|how| neighbours(&in_order(&models, &tally), &intervals, options.confidence, how));
    let pool = |by| pool_slices(log, &tally, &fit, &intervals, by, options);
    let pooled = options.pool_by.map(pool).transpose()?.flatten();
    let order: Vec<String> = models.iter().map(|model| model.model.clone()).collect();
    let voters = VoterNumbers::behind(interval, bootstrap, log, options.scoring);
    let name = |model: usize| tally.models[model].name.clone();
    let named = |b: &Bridge| OneWayBridge { winner: name(b.winner), loser: name(b.loser), votes: b.votes };
    let mut leaderboard = Leaderboard {
        method: options.method,
        interval,
        confidence: options.confidence.share(),
        converged: fit.converged && bootstrap.is_none_or(|report| report.converged),
        iterations: fit.iterations,
        log_likelihood: fit.log_likelihood,
        votes: count_votes(&tally, options),
        voters: voters.map(|numbers| numbers.voters),
        components: fit.components,
        models,
        style: effects,
        bridges: fit.bridges.iter().map(named).collect(),
        notes: Vec::new(),
        reweight: options.reweight,
        davidson: tie_effect(&fit, &intervals),
        bootstrap,
        sequential,
        neighbours: neighbours.unwrap_or_default(),
        tie_models,
        pooled,
        matrices: options.matrices.then(|| Matrices::new(&tally, &fit, &scaled, &order)),
        robustness: None,
    };
    leaderboard.notes = notes(&tally, &leaderboard, &intervals.single_voter, options);
    leaderboard.notes.extend(too_few_voters(&leaderboard, voters));
    leaderboard.notes.extend(decided_by_few_voters(&leaderboard, voters));
    leaderboard.notes.extend(note_rules::notes_on_options(&leaderboard, log, options));
    leaderboard.notes.extend(style_notes);
    let differences = Differences::new(&tally, intervals, options.confidence);
    Ok(Ranking { leaderboard, differences })
}

/// Fit, intervals and effects before the models are ranked.
struct UnrankedLeaderboard {
    fit: Fit,
    interval: IntervalMethod,
    intervals: Intervals,
    bootstrap: Option<BootstrapReport>,
    effects: Vec<StyleEffect>,
    style_notes: Vec<RatingNote>,
    tie_models: Vec<TieComparison>,
    /// Ratings and intervals on the public scale, by position in the tally.
    scaled: Vec<ScaledModel>,
}

fn estimate(
    tally: &Tally,
    elo: &EloTable,
    log: Option<&VoteLog>,
    weights: &Weights,
    options: &LeaderboardOptions,
) -> Result<UnrankedLeaderboard, FitError> {
    let voters = log.map_or(VotersKnown::None, VoteLog::voters_known);
    let (plain, interval) = match options.method {
        Method::Bt => (fit_strengths(tally, options.scoring)?, options.interval.resolve(voters)),
        Method::Elo => (elo_as_fit(tally, elo), IntervalMethod::None),
    };
    let tie_models = if options.compare_ties { compare_ties(tally, &plain)? } else { Vec::new() };
    let mut found = if options.has_covariates() {
        let styled = style_controlled(log, tally, &plain, weights, interval, options)?;
        // The bound of an unbounded model comes from the fit without style, since its votes determine no effects.
        let scaled = scale_models(tally, &plain, &styled.intervals, options.confidence)?;
        let StyledLeaderboard { fit, intervals, effects, notes: style_notes } = styled;
        UnrankedLeaderboard { fit, interval, intervals, bootstrap: None, effects, style_notes, tie_models, scaled }
    } else {
        let (intervals, bootstrap) = intervals_by(interval, tally, &plain, log, weights, options)?;
        let scaled = scale_models(tally, &plain, &intervals, options.confidence)?;
        let (effects, style_notes) = (Vec::new(), Vec::new());
        UnrankedLeaderboard { fit: plain, interval, intervals, bootstrap, effects, style_notes, tie_models, scaled }
    };
    for (scaled, strength) in found.scaled.iter_mut().zip(found.fit.strengths()) {
        scaled.rating = strength.map_or(scaled.rating, |strength| MEAN_RATING + POINTS_PER_STRENGTH * strength);
    }
    if let Some(anchor) = &options.anchor {
        move_to_anchor(&mut found.scaled, tally, anchor)?;
    }
    Ok(found)
}

/// Computes the intervals of a fit without style. Clustered intervals read single votes and their weights.
fn intervals_by(
    method: IntervalMethod,
    tally: &Tally,
    fit: &Fit,
    log: Option<&VoteLog>,
    weights: &Weights,
    options: &LeaderboardOptions,
) -> Result<(Intervals, Option<BootstrapReport>), FitError> {
    match method {
        IntervalMethod::Jackknife => {
            let errors = jackknife(log.ok_or(FitError::NoVoters)?, options.scoring, weights, tally, fit)?;
            Ok((errors.around(fit, options.confidence), None))
        }
        IntervalMethod::Auto | IntervalMethod::Sandwich => {
            Ok((joint_sandwich(tally, fit)?.around(fit, options.confidence), None))
        }
        IntervalMethod::Cluster => {
            let log = log.ok_or(FitError::NoVoters)?;
            let errors = cluster(log, options.scoring, weights, tally, fit)?;
            Ok((errors.around(fit, options.confidence), None))
        }
        IntervalMethod::Bootstrap if options.reweight == Reweight::PairProbability => Err(FitError::WeightedBootstrap),
        IntervalMethod::Bootstrap => {
            let votes = log.and_then(|log| votes_to_resample(log, options.scoring, tally));
            let voters = votes.map(|votes| VoterVotes::new(&votes, tally));
            let (intervals, report) = resample(tally, fit, voters.as_ref(), options.bootstrap, options.confidence)?;
            Ok((intervals.without_zero_variance(tally, fit), Some(report)))
        }
        IntervalMethod::None => Ok((Intervals::none(tally.models.len()), None)),
    }
}

/// Returns a note if too few voters cast these votes for intervals from resampled voters.
pub(crate) fn few_voters_to_resample(log: &VoteLog, scoring: Scoring) -> Option<RatingNote> {
    let VoterNumbers { voters, effective } = VoterNumbers::count(log, scoring)?;
    (effective < real_len(MIN_CLUSTERS)).then_some(RatingNote::TooFewVoters { voters, effective })
}

pub(in crate::rating) fn fit_strengths(tally: &Tally, scoring: Scoring) -> Result<Fit, FitError> {
    match scoring.ties {
        TieRule::Davidson => davidson::fit(tally),
        TieRule::Half | TieRule::Drop => bradley_terry::fit(tally),
    }
}

fn tie_effect(fit: &Fit, intervals: &Intervals) -> Option<TieEffect> {
    let end =
        |end: fn(&IntervalEnds) -> f64| intervals.log_nu.as_ref().map(end).map(f64::exp).filter(|nu| nu.is_finite());
    Some(TieEffect { nu: fit.log_nu?.exp(), lower: end(|ends| ends.lower), upper: end(|ends| ends.upper) })
}

/// Converts Elo ratings to strengths. They need no connected graph, so all models are in one component.
fn elo_as_fit(tally: &Tally, elo: &EloTable) -> Fit {
    let strength = |model: &TalliedModel| (elo.rating(model.index) - MEAN_RATING) / POINTS_PER_STRENGTH;
    let model_strength = |model| ModelStrength::Rated { component: 0, strength: strength(model) };
    Fit {
        model_strengths: tally.models.iter().map(model_strength).collect(),
        components: tally.models.len().min(1),
        bridges: Vec::new(),
        converged: true,
        iterations: 0,
        log_likelihood: elo.log_likelihood(),
        log_nu: None,
    }
}

/// Selects the error model of shares for an interval method; `None` for no intervals.
fn share_errors(interval: IntervalMethod, voters: VotersKnown) -> Option<ShareErrors> {
    let by_voter = match interval.resolve(voters) {
        IntervalMethod::None => return None,
        IntervalMethod::Jackknife | IntervalMethod::Cluster => true,
        IntervalMethod::Bootstrap => voters == VotersKnown::Several,
        IntervalMethod::Auto | IntervalMethod::Sandwich => false,
    };
    Some(if by_voter { ShareErrors::Voters } else { ShareErrors::Votes })
}

/// Adds the share of prompts for which each model is good enough, and its change if intervals are requested. `log` gives the
/// voters and the order of the votes.
fn add_good_enough(
    models: &mut [RankedModel],
    tally: &Tally,
    counts: &[(u32, u32, PairCounts)],
    log: Option<&VoteLog>,
    options: &LeaderboardOptions,
) {
    let errors = share_errors(options.interval, log.map_or(VotersKnown::None, VoteLog::voters_known));
    let by_voter = errors == Some(ShareErrors::Voters);
    let voters = log.and_then(|log| Some((log, log.voters.as_ref().filter(|_| by_voter)?)));
    let votes = voters.map(|(log, voters)| VotesByVoter::new(log, voters, options.scoring, tally));
    let (found, changes) = rayon::join(
        || good_enough(tally, counts, options.scoring, votes.as_ref(), options.confidence),
        || Some(good_enough_changes(log?, errors?, options.scoring, options.confidence)),
    );
    for model in models {
        if let Some(change) = changes.as_ref().and_then(|changes| changes.get(&model.model)) {
            model.good_enough_change = Some(change.change);
            model.good_enough_change_lower = Some(change.lower);
            model.good_enough_change_upper = Some(change.upper);
        }
        let position = tally.models.binary_search_by(|tallied| tallied.name.cmp(&model.model));
        let Some(found) = position.ok().and_then(|position| found[position]) else { continue };
        model.good_enough = Some(found.share);
        if errors.is_some() {
            (model.good_enough_lower, model.good_enough_upper) = (found.lower, found.upper);
        }
    }
}

/// Converts the models, in leaderboard order, for the comparison of neighbours.
fn in_order<'a>(models: &'a [RankedModel], tally: &Tally) -> Vec<OrderedModel<'a>> {
    let ordered = |model: &'a RankedModel| {
        let position = tally.models.binary_search_by(|tallied| tallied.name.cmp(&model.model));
        OrderedModel {
            name: &model.model,
            position: position.expect("every ranked model is tallied"),
            component: model.component,
            rating: model.rating,
            has_error: model.standard_error.is_some(),
        }
    };
    models.iter().map(ordered).collect()
}

/// Builds the rows in leaderboard order.
fn ranked_models(
    tally: &Tally,
    fit: &Fit,
    scaled: &[ScaledModel],
    intervals: &Intervals,
    elo: &EloTable,
    options: &LeaderboardOptions,
) -> Vec<RankedModel> {
    let empirical = empirical_win_rates(tally);
    let ranks = rank_intervals(scaled, intervals, options.confidence);
    let is_measured = |model: &&ScaledModel| model.unbounded.is_none() && model.ends.is_some();
    let measured: BTreeSet<usize> = scaled.iter().filter(is_measured).map(|model| model.component).collect();
    let line = |(model, here): (usize, &ScaledModel)| {
        let (tallied, counts) = (&tally.models[model], tally.models[model].counts);
        let peers = || scaled.iter().filter(|other| other.component == here.component);
        // Beside models with intervals, the order of two without is not certain.
        let is_certain = |other: &ScaledModel| other.ends.is_some() || !measured.contains(&here.component);
        let above = |other: &ScaledModel| other.significantly_above(here) && is_certain(other);
        let others = scaled.iter().enumerate().filter(|&(other, _)| other != model);
        RankedModel {
            model: tallied.name.clone(),
            rank: 1 + peers().map(|other| u64::from(above(other))).sum::<u64>(),
            best_rank: ranks[model].map(|rank| rank.best),
            worst_rank: ranks[model].map(|rank| rank.worst),
            rating: here.unbounded.is_none().then_some(here.rating),
            lower: here.lower(),
            upper: here.upper(),
            elo: elo.rating(tallied.index),
            battles: counts.battles(),
            wins: counts.wins,
            losses: counts.losses,
            ties: counts.ties,
            both_bad: counts.both_bad,
            win_tie_rate: counts.results().win_tie_rate().unwrap_or(0.0),
            average_win_rate: mean(others.filter_map(|(_, other)| here.win_rate(other, fit))),
            component: here.component,
            provisional: counts.battles() < options.min_votes,
            unbounded: here.unbounded,
            at_least: (here.unbounded == Some(Direction::Above)).then_some(here.rating),
            at_most: (here.unbounded == Some(Direction::Below)).then_some(here.rating),
            standard_error: here.ends.and_then(|ends| ends.error),
            empirical_win_rate: Some(empirical[model]),
            effective_voters: intervals.voters_of(model).filter(|voters| *voters > 0.0),
            good_enough: None,
            good_enough_lower: None,
            good_enough_upper: None,
            good_enough_change: None,
            good_enough_change_lower: None,
            good_enough_change_upper: None,
        }
    };
    let mut models: Vec<RankedModel> = scaled.iter().enumerate().map(line).collect();
    sort(&mut models);
    models
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real_len(values.len()))
}

fn sort(models: &mut [RankedModel]) {
    let end = |model: &RankedModel| match model.unbounded {
        Some(Direction::Above) => 0,
        None => 1,
        Some(Direction::Below) => 2,
    };
    models.sort_by(|x, y| {
        (x.component, end(x), x.rank)
            .cmp(&(y.component, end(y), y.rank))
            .then_with(|| y.rating_or_limit().total_cmp(&x.rating_or_limit()))
            .then_with(|| x.model.cmp(&y.model))
    });
}

fn count_votes(tally: &Tally, options: &LeaderboardOptions) -> VoteTotals {
    let mut excluded = options.excluded.clone();
    for (&outcome, &count) in &tally.dropped {
        *excluded.entry(format!("{outcome}_dropped")).or_default() += count;
    }
    VoteTotals { read: tally.votes + excluded.values().sum::<u64>(), rated: tally.votes, excluded }
}
