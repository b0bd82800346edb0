//! The leaderboard: ranked models with ratings, intervals and counts, as `langya fit --format json` prints it.
//!
//! [`rank`] fits the votes and puts every number on the public scale. Nothing in a [`Leaderboard`] is NaN or infinite:
//! where the votes give no number there is none, and a note says why. A rank is 1 + the number of models of the same
//! component whose lower bound lies above this model's upper bound.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bootstrap::{BootstrapOptions, BootstrapReport, bootstrap as resample};
use super::bradley_terry::{self, Bridge, Direction, Fit, ModelStrength};
use super::cluster::cluster;
use super::comparison::ComparisonSet;
use super::davidson;
use super::elo::EloTable;
use super::interval::{ConfidenceLevel, Ends, Intervals, joint_sandwich};
use super::matrices::{Matrices, empirical_win_rates};
use super::notes::notes;
use super::placing::{Placed, move_to_anchor, place};
use super::robustness::Robustness;
use super::scoring::{Scoring, TieRule};
use super::style::style_controlled;
use super::tally::{TalliedModel, Tally};
use super::vote_log::VoteLog;
use super::weighting::{Reweight, Weights, weigh};
use super::{CENTRE, FitError, POINTS_PER_STRENGTH, real, real_len};

/// How models are rated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Bradley–Terry by maximum likelihood.
    #[default]
    Bt,
    /// Elo in log order.
    Elo,
}

/// How intervals are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalMethod {
    /// By the sandwich formula, every vote standing for itself.
    #[default]
    Sandwich,
    /// By the sandwich formula, the votes of one voter standing together.
    Cluster,
    /// By resampling votes.
    Bootstrap,
    /// Not at all.
    None,
}

/// A text that names no such choice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct UnknownChoice(&'static str);

impl std::str::FromStr for Method {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "bt" => Ok(Self::Bt),
            "elo" => Ok(Self::Elo),
            _ => Err(UnknownChoice("bt or elo")),
        }
    }
}

impl std::str::FromStr for IntervalMethod {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "sandwich" => Ok(Self::Sandwich),
            "cluster" => Ok(Self::Cluster),
            "bootstrap" => Ok(Self::Bootstrap),
            "none" => Ok(Self::None),
            _ => Err(UnknownChoice("sandwich, cluster, bootstrap or none")),
        }
    }
}

/// A model held at a given rating; its whole component moves with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// Its name.
    pub model: String,
    /// Its rating.
    pub rating: f64,
}

/// What to fit and how to show it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderboardOptions {
    /// What the ratings and ranks are by.
    pub method: Method,
    /// How intervals are found; Elo has none.
    pub interval: IntervalMethod,
    /// The level of the intervals.
    pub confidence: ConfidenceLevel,
    /// How to resample, where intervals are found so.
    pub bootstrap: BootstrapOptions,
    /// What each vote weighs.
    pub reweight: Reweight,
    /// What ties and both-bad votes count.
    pub scoring: Scoring,
    /// Models with fewer counted votes are provisional.
    pub min_votes: u64,
    /// A model whose rating is given; otherwise the mean of each component is 1000.
    pub anchor: Option<Anchor>,
    /// Votes that were left out before they came here, by rule; they are shown as read and excluded.
    pub excluded: BTreeMap<String, u64>,
    /// Whether the leaderboard is to hold [`Matrices`].
    pub matrices: bool,
    /// Whether ratings are to be those with the looks of the replies held equal.
    pub style: bool,
}

impl Default for LeaderboardOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            interval: IntervalMethod::default(),
            confidence: ConfidenceLevel::default(),
            bootstrap: BootstrapOptions::default(),
            reweight: Reweight::default(),
            scoring: Scoring::default(),
            min_votes: 30,
            anchor: None,
            excluded: BTreeMap::new(),
            matrices: false,
            style: false,
        }
    }
}

/// Ranked models, and how the fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaderboard {
    /// What the ratings are by.
    pub method: Method,
    /// How the intervals were found.
    pub interval: IntervalMethod,
    /// Their confidence level.
    pub confidence: f64,
    /// Whether the fit reached its optimum.
    pub converged: bool,
    /// Steps of the fit.
    pub iterations: u64,
    /// Log likelihood of the rated votes; under Elo each is predicted from the ratings before it.
    pub log_likelihood: f64,
    /// How many votes were read, and how many count.
    pub votes: VoteCounts,
    /// Number of components that are rated apart.
    pub components: usize,
    /// By component, then rank, then rating; a model that only won (lost) comes first (last) in its component.
    pub models: Vec<RankedModel>,
    /// Effects of style; empty without style control.
    pub style: Vec<StyleEffect>,
    /// Votes between components that all went one way.
    pub bridges: Vec<OneWayBridge>,
    /// What a reader must know, in whole sentences.
    pub notes: Vec<String>,
    /// What each vote weighed.
    #[serde(default)]
    pub reweight: Reweight,
    /// How often equals tie, where ties were fitted as an outcome of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub davidson: Option<TieEffect>,
    /// How the resampling went, where intervals were found so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapReport>,
    /// Every pair in numbers, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrices: Option<Matrices>,
    /// How firm the order is, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robustness: Option<Robustness>,
}

/// Davidson's ν: models of equal strength tie with probability ν / (2 + ν).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TieEffect {
    /// Its estimate.
    pub nu: f64,
    /// Lower bound; none without intervals.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// How many votes were read, and how many count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteCounts {
    /// All votes.
    pub read: u64,
    /// Those in the fit.
    pub rated: u64,
    /// The rest by reason.
    pub excluded: BTreeMap<String, u64>,
}

impl VoteCounts {
    /// Adds votes that were read and are not rated, by the rule that excludes them.
    pub fn exclude(&mut self, excluded: &BTreeMap<String, u64>) {
        for (rule, &count) in excluded {
            *self.excluded.entry(rule.clone()).or_default() += count;
            self.read += count;
        }
    }
}

/// One line of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedModel {
    /// Its name, unchanged.
    pub model: String,
    /// 1 is best; models that the intervals do not separate can share a rank.
    pub rank: u64,
    /// On the public scale; for an unbounded model its finite bound.
    pub rating: f64,
    /// Lower bound; none without intervals, below a model that only lost, and for one alone in its component.
    pub lower: Option<f64>,
    /// Upper bound; none likewise.
    pub upper: Option<f64>,
    /// Elo rating, whatever the method.
    pub elo: f64,
    /// Votes that count.
    pub battles: u64,
    /// Votes for it.
    pub wins: u64,
    /// Votes for the other.
    pub losses: u64,
    /// Ties.
    pub ties: u64,
    /// Votes for "both bad".
    pub both_bad: u64,
    /// (wins + ties + both bad) / battles, as SuperCLUE has it.
    pub win_tie_rate: f64,
    /// Mean predicted share of points against every other model of the component; none where there is no other.
    pub average_win_rate: Option<f64>,
    /// Ratings of different components cannot be compared.
    pub component: usize,
    /// It has fewer votes than the minimum.
    pub provisional: bool,
    /// It only won, or only lost, against the rated models: the rating is a bound.
    pub unbounded: Option<Direction>,
    /// Standard error of the rating.
    pub standard_error: Option<f64>,
    /// Mean, over the opponents that it met, of its share of points against each: a half for a vote for neither.
    #[serde(default)]
    pub empirical_win_rate: Option<f64>,
}

/// The effect of one feature of style.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleEffect {
    /// Its name.
    pub feature: String,
    /// Log odds of a preference for one standard deviation more of it.
    pub coefficient: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

/// Two models of different components between whom one won every time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneWayBridge {
    /// The one that won.
    pub winner: String,
    /// The one that lost.
    pub loser: String,
    /// How often.
    pub votes: f64,
}

/// Fits and ranks votes that were counted as they came. `elo` must have read the same votes with the same scoring.
///
/// Counts alone have no voters, and cannot be reweighted by the probabilities of pairs.
///
/// # Errors
/// [`FitError`] for an anchor that cannot be one, or options that need more than counts. Too few votes are no error: the
/// notes say what is missing.
pub fn rank(
    comparisons: &ComparisonSet,
    elo: &EloTable,
    options: &LeaderboardOptions,
) -> Result<Leaderboard, FitError> {
    rank_tally(comparisons.tally(options.scoring), elo, None, options)
}

/// Fits and ranks the votes of a log.
///
/// # Errors
/// As [`rank`].
pub fn rank_log(log: &VoteLog, options: &LeaderboardOptions) -> Result<Leaderboard, FitError> {
    let (tally, elo) = rayon::join(|| Tally::of_log(log, options.scoring), || EloTable::of_log(log, options.scoring));
    let mut board = rank_tally(tally, &elo, Some(log), options)?;
    board.votes.exclude(&log.excluded);
    Ok(board)
}

/// Fits and ranks the votes of a tally. `log` holds the same votes, where they are at hand one by one.
fn rank_tally(
    mut tally: Tally,
    elo: &EloTable,
    log: Option<&VoteLog>,
    options: &LeaderboardOptions,
) -> Result<Leaderboard, FitError> {
    let weights = weigh(&mut tally, log, options.scoring, options.reweight)?;
    let (fit, interval) = match options.method {
        Method::Bt => (fit_strengths(&tally, options.scoring)?, options.interval),
        Method::Elo => (elo_as_fit(&tally, elo), IntervalMethod::None),
    };
    let styled = match options.style {
        true => Some(style_controlled(log, &tally, &fit, &weights, options)?),
        false => None,
    };
    let (intervals, bootstrap) = match styled {
        Some(_) => (Intervals::none(0), None),
        None => intervals_by(interval, &tally, &fit, (log, &weights), options)?,
    };
    let intervals = styled.as_ref().map_or(intervals, |styled| styled.intervals.clone());
    // The limit of an unbounded model is that of the fit without style: its votes tell nothing of style.
    let mut placed = place(&tally, &fit, &intervals, options.confidence)?;
    let (fit, effects, style_notes) = match styled {
        Some(styled) => (styled.fit, styled.effects, styled.notes),
        None => (fit, Vec::new(), Vec::new()),
    };
    for (placed, strength) in placed.iter_mut().zip(fit.strengths()) {
        placed.rating = strength.map_or(placed.rating, |strength| CENTRE + POINTS_PER_STRENGTH * strength);
    }
    if let Some(anchor) = &options.anchor {
        move_to_anchor(&mut placed, &tally, anchor)?;
    }
    let models = lines(&tally, &fit, &placed, elo, options.min_votes);
    let order: Vec<String> = models.iter().map(|model| model.model.clone()).collect();
    let name = |model: usize| tally.models[model].name.clone();
    let named = |b: &Bridge| OneWayBridge { winner: name(b.winner), loser: name(b.loser), votes: b.votes };
    let mut board = Leaderboard {
        method: options.method,
        interval,
        confidence: options.confidence.share(),
        converged: fit.converged && bootstrap.is_none_or(|report| report.converged),
        iterations: fit.iterations,
        log_likelihood: fit.log_likelihood,
        votes: count_votes(&tally, options),
        components: fit.components,
        models,
        style: effects,
        bridges: fit.bridges.iter().map(named).collect(),
        notes: Vec::new(),
        reweight: options.reweight,
        davidson: tie_effect(&fit, &intervals),
        bootstrap,
        matrices: options.matrices.then(|| Matrices::new(&tally, &fit, &placed, &order)),
        robustness: None,
    };
    board.notes = notes(&tally, &board, options);
    board.notes.extend(style_notes);
    Ok(board)
}

/// Intervals of a fit without style. Those by voter read the votes with their weights.
fn intervals_by(
    method: IntervalMethod,
    tally: &Tally,
    fit: &Fit,
    (log, weights): (Option<&VoteLog>, &Weights),
    options: &LeaderboardOptions,
) -> Result<(Intervals, Option<BootstrapReport>), FitError> {
    match method {
        IntervalMethod::Sandwich => Ok((joint_sandwich(tally, fit)?.around(fit, options.confidence), None)),
        IntervalMethod::Cluster => {
            let log = log.ok_or(FitError::NoVoters)?;
            let errors = cluster(log, options.scoring, weights, tally, fit)?;
            Ok((errors.around(fit, options.confidence), None))
        }
        IntervalMethod::Bootstrap if options.reweight == Reweight::PairProbability => Err(FitError::WeightedBootstrap),
        IntervalMethod::Bootstrap => {
            let (intervals, report) = resample(tally, fit, options.bootstrap, options.confidence)?;
            Ok((intervals, Some(report)))
        }
        IntervalMethod::None => Ok((Intervals::none(tally.models.len()), None)),
    }
}

pub(super) fn fit_strengths(tally: &Tally, scoring: Scoring) -> Result<Fit, FitError> {
    match scoring.ties {
        TieRule::Davidson => davidson::fit(tally),
        TieRule::Half | TieRule::Drop => bradley_terry::fit(tally),
    }
}

fn tie_effect(fit: &Fit, intervals: &Intervals) -> Option<TieEffect> {
    let end = |end: fn(&Ends) -> f64| intervals.log_nu.as_ref().map(end).map(f64::exp).filter(|nu| nu.is_finite());
    Some(TieEffect { nu: fit.log_nu?.exp(), lower: end(|ends| ends.lower), upper: end(|ends| ends.upper) })
}

/// Elo ratings as strengths: they need no connected graph, so all models are in one component.
fn elo_as_fit(tally: &Tally, elo: &EloTable) -> Fit {
    let strength = |model: &TalliedModel| (elo.rating(model.index) - CENTRE) / POINTS_PER_STRENGTH;
    let standing = |model| ModelStrength::Rated { component: 0, strength: strength(model) };
    Fit {
        model_strengths: tally.models.iter().map(standing).collect(),
        components: tally.models.len().min(1),
        bridges: Vec::new(),
        converged: true,
        iterations: 0,
        log_likelihood: elo.log_likelihood(),
        log_nu: None,
    }
}

/// Every model in the order of the leaderboard.
fn lines(tally: &Tally, fit: &Fit, placed: &[Placed], elo: &EloTable, min_votes: u64) -> Vec<RankedModel> {
    let empirical = empirical_win_rates(tally);
    let line = |(model, here): (usize, &Placed)| {
        let (tallied, counts) = (&tally.models[model], tally.models[model].counts);
        let peers = || placed.iter().filter(|other| other.component == here.component);
        let others = placed.iter().enumerate().filter(|&(other, _)| other != model);
        RankedModel {
            model: tallied.name.clone(),
            rank: 1 + peers().map(|other| u64::from(other.significantly_above(here))).sum::<u64>(),
            rating: here.rating,
            lower: here.lower(),
            upper: here.upper(),
            elo: elo.rating(tallied.index),
            battles: counts.battles(),
            wins: counts.wins,
            losses: counts.losses,
            ties: counts.ties,
            both_bad: counts.both_bad,
            win_tie_rate: real(counts.wins + counts.ties + counts.both_bad) / real(counts.battles()),
            average_win_rate: mean(others.filter_map(|(_, other)| here.win_rate(other, fit))),
            component: here.component,
            provisional: counts.battles() < min_votes,
            unbounded: here.unbounded,
            standard_error: here.ends.and_then(|ends| ends.error),
            empirical_win_rate: Some(empirical[model]),
        }
    };
    let mut models: Vec<RankedModel> = placed.iter().enumerate().map(line).collect();
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
            .then_with(|| y.rating.total_cmp(&x.rating))
            .then_with(|| x.model.cmp(&y.model))
    });
}

fn count_votes(tally: &Tally, options: &LeaderboardOptions) -> VoteCounts {
    let mut excluded = options.excluded.clone();
    for (&outcome, &count) in &tally.dropped {
        *excluded.entry(format!("{outcome}_dropped")).or_default() += count;
    }
    VoteCounts { read: tally.votes + excluded.values().sum::<u64>(), rated: tally.votes, excluded }
}
