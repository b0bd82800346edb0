//! The leaderboard: ranked models with ratings, intervals and counts, as `langya fit --format json` prints it.
//!
//! [`rank`] fits the votes and puts every number on the public scale. Nothing in a [`Leaderboard`] is NaN or infinite:
//! where the votes give no number there is none, and a note says why. A rank is 1 + the number of models of the same
//! component whose lower bound lies above this model's upper bound.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bradley_terry::{self, Bridge, Direction, Fit, Standing};
use super::comparison::ComparisonSet;
use super::elo::EloTable;
use super::interval::{ConfidenceLevel, sandwich};
use super::newton::logistic;
use super::notes::notes;
use super::scoring::Scoring;
use super::tally::{TalliedModel, Tally};
use super::unbounded::limit;
use super::vote_log::VoteLog;
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
    /// By the sandwich formula.
    #[default]
    Sandwich,
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
            "none" => Ok(Self::None),
            _ => Err(UnknownChoice("sandwich or none")),
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
    /// What ties and both-bad votes count.
    pub scoring: Scoring,
    /// Models with fewer counted votes are provisional.
    pub min_votes: u64,
    /// A model whose rating is given; otherwise the mean of each component is 1000.
    pub anchor: Option<Anchor>,
    /// Votes that were left out before they came here, by rule; they are shown as read and excluded.
    pub excluded: BTreeMap<String, u64>,
}

impl Default for LeaderboardOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            interval: IntervalMethod::default(),
            confidence: ConfidenceLevel::default(),
            scoring: Scoring::default(),
            min_votes: 30,
            anchor: None,
            excluded: BTreeMap::new(),
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
    /// Mean predicted share of wins against every other model of the component; none where there is no other.
    pub average_win_rate: Option<f64>,
    /// Ratings of different components cannot be compared.
    pub component: usize,
    /// It has fewer votes than the minimum.
    pub provisional: bool,
    /// It only won, or only lost, against the rated models: the rating is a bound.
    pub unbounded: Option<Direction>,
    /// Standard error of the rating.
    pub standard_error: Option<f64>,
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
/// # Errors
/// [`FitError`] for an anchor that cannot be one. Too few votes are no error: the notes say what is missing.
pub fn rank(
    comparisons: &ComparisonSet,
    elo: &EloTable,
    options: &LeaderboardOptions,
) -> Result<Leaderboard, FitError> {
    rank_tally(&comparisons.tally(options.scoring), elo, options)
}

/// Fits and ranks the votes of a log.
///
/// # Errors
/// As [`rank`].
pub fn rank_log(log: &VoteLog, options: &LeaderboardOptions) -> Result<Leaderboard, FitError> {
    let (tally, elo) = rayon::join(|| Tally::of_log(log, options.scoring), || EloTable::of_log(log, options.scoring));
    let mut board = rank_tally(&tally, &elo, options)?;
    board.votes.exclude(&log.excluded);
    Ok(board)
}

fn rank_tally(tally: &Tally, elo: &EloTable, options: &LeaderboardOptions) -> Result<Leaderboard, FitError> {
    let (fit, interval) = match options.method {
        Method::Bt => (bradley_terry::fit(tally)?, options.interval),
        Method::Elo => (elo_as_fit(tally, elo), IntervalMethod::None),
    };
    let mut placed = place(tally, &fit, interval, options.confidence)?;
    if let Some(anchor) = &options.anchor {
        move_to_anchor(&mut placed, tally, anchor)?;
    }
    let mut models: Vec<RankedModel> =
        (0..placed.len()).map(|model| line(model, &placed, &tally.models[model], elo, options.min_votes)).collect();
    sort(&mut models);
    let notes = notes(tally, &fit, &models, options);
    let name = |model: usize| tally.models[model].name.clone();
    let named = |b: &Bridge| OneWayBridge { winner: name(b.winner), loser: name(b.loser), votes: b.votes };
    Ok(Leaderboard {
        method: options.method,
        interval,
        confidence: options.confidence.share(),
        converged: fit.converged,
        iterations: fit.iterations,
        log_likelihood: fit.log_likelihood,
        votes: count_votes(tally, options),
        components: fit.components,
        models,
        style: Vec::new(),
        bridges: fit.bridges.iter().map(named).collect(),
        notes,
    })
}

/// Elo ratings as strengths: they need no connected graph, so all models are in one component.
fn elo_as_fit(tally: &Tally, elo: &EloTable) -> Fit {
    let strength = |model: &TalliedModel| (elo.rating(model.index) - CENTRE) / POINTS_PER_STRENGTH;
    let standing = |model| Standing::Rated { component: 0, strength: strength(model) };
    Fit {
        standings: tally.models.iter().map(standing).collect(),
        components: tally.models.len().min(1),
        bridges: Vec::new(),
        converged: true,
        iterations: 0,
        log_likelihood: elo.log_likelihood(),
    }
}

/// Ratings that differ by less, in points, differ only by rounding.
const ROUNDING: f64 = 1e-9;

/// Where a model stands on the public scale.
#[derive(Debug, Clone, Copy)]
struct Placed {
    rating: f64,
    /// Half the width of the interval, where there is one.
    margin: Option<f64>,
    standard_error: Option<f64>,
    unbounded: Option<Direction>,
    component: usize,
}

impl Placed {
    fn lower(&self) -> Option<f64> {
        match self.unbounded {
            Some(Direction::Above) => Some(self.rating),
            Some(Direction::Below) => None,
            None => self.margin.map(|margin| self.rating - margin),
        }
    }

    fn upper(&self) -> Option<f64> {
        match self.unbounded {
            Some(Direction::Above) => None,
            Some(Direction::Below) => Some(self.rating),
            None => self.margin.map(|margin| self.rating + margin),
        }
    }

    /// Whether all of this model's interval lies above all of the other's; without intervals, whether its rating does.
    fn surely_above(&self, other: &Placed) -> bool {
        self.unbounded != Some(Direction::Below)
            && other.unbounded != Some(Direction::Above)
            && self.lower().unwrap_or(self.rating) > other.upper().unwrap_or(other.rating) + ROUNDING
    }

    /// Predicted share of wins against the other; none between two that are unbounded to the same side.
    fn win_rate(&self, other: &Placed) -> Option<f64> {
        let side = |placed: &Placed| placed.unbounded.map_or(0.0, Direction::sign);
        match (self.unbounded, other.unbounded) {
            (None, None) => Some(logistic((self.rating - other.rating) / POINTS_PER_STRENGTH)),
            (one, another) if one == another => None,
            _ => Some(f64::midpoint(1.0, (side(self) - side(other)).clamp(-1.0, 1.0))),
        }
    }
}

fn place(tally: &Tally, fit: &Fit, interval: IntervalMethod, level: ConfidenceLevel) -> Result<Vec<Placed>, FitError> {
    let errors = match interval {
        IntervalMethod::Sandwich => sandwich(tally, fit)?,
        IntervalMethod::None => vec![None; tally.models.len()],
    };
    let place = |(model, standing): (usize, &Standing)| {
        let unbounded = match standing {
            Standing::Rated { .. } => None,
            Standing::Unbounded { direction, .. } => Some(*direction),
        };
        let standard_error = errors[model].map(|error| error * POINTS_PER_STRENGTH);
        let rating = CENTRE + POINTS_PER_STRENGTH * limit(tally, fit, model, level)?;
        let margin = standard_error.map(|error| level.z() * error);
        Ok(Placed { rating, margin, standard_error, unbounded, component: standing.component() })
    };
    fit.standings.iter().enumerate().map(place).collect()
}

fn move_to_anchor(placed: &mut [Placed], tally: &Tally, anchor: &Anchor) -> Result<(), FitError> {
    if !anchor.rating.is_finite() {
        return Err(FitError::AnchorRating(anchor.rating));
    }
    if placed.is_empty() {
        return Ok(());
    }
    let position = tally
        .models
        .binary_search_by(|model| model.name.as_str().cmp(&anchor.model))
        .map_err(|_| FitError::UnknownAnchor(anchor.model.clone()))?;
    if placed[position].unbounded.is_some() {
        return Err(FitError::UnboundedAnchor(anchor.model.clone()));
    }
    let (component, shift) = (placed[position].component, anchor.rating - placed[position].rating);
    placed.iter_mut().filter(|model| model.component == component).for_each(|model| model.rating += shift);
    Ok(())
}

fn line(model: usize, placed: &[Placed], tallied: &TalliedModel, elo: &EloTable, min_votes: u64) -> RankedModel {
    let (here, counts) = (&placed[model], tallied.counts);
    let peers = || placed.iter().filter(|other| other.component == here.component);
    let others = placed.iter().enumerate().filter(|&(other, p)| other != model && p.component == here.component);
    RankedModel {
        model: tallied.name.clone(),
        rank: 1 + peers().map(|other| u64::from(other.surely_above(here))).sum::<u64>(),
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
        average_win_rate: mean(others.filter_map(|(_, other)| here.win_rate(other))),
        component: here.component,
        provisional: counts.battles() < min_votes,
        unbounded: here.unbounded,
        standard_error: here.standard_error,
    }
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
