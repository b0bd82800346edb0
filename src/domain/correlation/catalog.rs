//! Catalog of an arena's series at one moment: their order, their groups, and the correlations that pages show.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::aligned_series::{align, column};
use super::history::{HistoryPoint, correlation_history};
use super::report::{MixtureReport, PairReport, StudyOptions, compare, mixture};
use super::{Series, SeriesError, SeriesName, Subjects, VotePart};
use crate::rating::bootstrap_samples::Metric;
use crate::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::rating::leaderboards::history::Moment;
use crate::rating::votes::slice::{Slice, Turns};
use crate::stats::convex_mixture::Search;
use crate::stats::correlation::Coefficient;
use crate::stats::correlation_matrix::{ColumnCorrelations, Matrix, matrix, pair};

/// Minimum number of votes in a slice that becomes a series.
const MIN_SLICE_VOTES: u64 = 20;
/// Maximum number of series per property of the votes; those with the most votes come first.
const MAX_SLICES: usize = 8;
/// Number of series in a matrix.
pub const MATRIX_SERIES: usize = 40;
/// Number of series in a mixture.
const MAX_MIXTURE_SERIES: usize = 4;
/// Number of mixtures evaluated for one request: about a tenth of a second.
const MAX_MIXTURES: f64 = 3e6;

/// Source of a series, in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesSource {
    /// Votes, and verdicts of judges on the arena's battles.
    Votes,
    /// A benchmark run in this arena.
    Benchmark,
    /// Imported scores.
    Imported,
    /// A table of one of the papers.
    Published,
    /// Series of any source by intent instead of by model.
    Intents,
}

impl SeriesSource {
    /// Returns the source of a series.
    #[must_use]
    pub fn from_series(series: &Series) -> Self {
        match &series.name {
            _ if series.subjects == Subjects::Intents => Self::Intents,
            SeriesName::Arena { .. }
            | SeriesName::Satisfaction
            | SeriesName::Verdicts(_)
            | SeriesName::Campaign { .. } => Self::Votes,
            SeriesName::Bench { .. } => Self::Benchmark,
            name if name.is_stored() => Self::Imported,
            SeriesName::Column(_) | SeriesName::Published(_) => Self::Published,
        }
    }
}

/// Group of series for one matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeriesGroup {
    /// Series of this arena: votes, benchmarks and imported scores.
    #[default]
    Own,
    /// Tables of the papers.
    Published,
    /// All series.
    All,
}

impl SeriesGroup {
    /// Returns the name in URLs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Published => "published",
            Self::All => "all",
        }
    }
}

/// Correlations of the series of a group.
pub struct CorrelationMatrix {
    /// Positions of the series in [`SeriesCatalog::series`].
    pub series: Vec<usize>,
    /// Number of series in the group; the matrix has the first [`MATRIX_SERIES`].
    pub of: usize,
    matrix: Matrix,
}

impl CorrelationMatrix {
    /// Returns the correlations of two different series of the matrix.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> ColumnCorrelations {
        self.matrix.cell(row, column)
    }
}

/// The correlation of two series.
#[derive(Debug, Clone, PartialEq)]
pub struct PairStudy {
    /// The report.
    pub report: PairReport,
    /// The correlation coefficients, or why they are undefined.
    pub cell: ColumnCorrelations,
    /// The correlation at past moments; empty unless one series is the arena's rating.
    pub history: Vec<HistoryPoint>,
}

/// A mixture to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixtureQuestion {
    /// Names of the mixed series.
    pub series: Vec<String>,
    /// Name of the series to predict.
    pub target: String,
    /// Steps from 0 to 1; `None` for the exact optimum.
    pub steps: Option<u32>,
}

/// Error of a catalog query.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Unknown series.
    #[error("unknown series {0:?}: /api/v1/correlation lists all series")]
    Unknown(String),
    /// Too few or too many series, or repeated ones.
    #[error(
        "{0} series cannot be mixed here: choose two to {MAX_MIXTURE_SERIES} different series and a target that is not one of them"
    )]
    Count(usize),
    /// The grid is too fine for this number of series and models.
    #[error(
        "steps of {step} over {series} series and {models} models take too long here: choose larger steps, 0 for the exact optimum, or langya correlate --combine"
    )]
    Fine {
        /// The step.
        step: String,
        /// Number of mixed series.
        series: usize,
        /// Number of models that have all series.
        models: usize,
    },
    /// The series cannot be compared.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

impl CatalogError {
    /// Returns whether the request is at fault.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Count(_) | Self::Fine { .. } => true,
            Self::Series(error) => error.is_input(),
        }
    }
}

/// All series of the arena at one moment.
#[derive(Debug, Clone)]
pub struct SeriesCatalog {
    series: Vec<Series>,
    /// Confidence level and bootstrap of all correlations.
    pub options: StudyOptions,
    history: Vec<Moment>,
}

impl SeriesCatalog {
    /// A catalog: series ordered by source, wholes before their parts, and otherwise as given. `history` has the
    /// arena's ratings at past moments.
    #[must_use]
    pub fn new(mut series: Vec<Series>, history: Vec<Moment>, options: StudyOptions) -> Self {
        series.sort_by_key(|series| (SeriesSource::from_series(series), is_part(series)));
        Self { series, options, history }
    }

    /// Returns the series in display order.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Finds a series by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name.to_string() == name)
    }

    fn get(&self, name: &str) -> Result<&Series, CatalogError> {
        self.find(name).ok_or_else(|| CatalogError::Unknown(name.to_owned()))
    }

    /// Returns the number of series in a group.
    #[must_use]
    pub fn group_len(&self, group: SeriesGroup) -> usize {
        self.group(group).len()
    }

    /// Returns the positions of a group's series with one number per model, wholes before parts.
    fn group(&self, group: SeriesGroup) -> Vec<usize> {
        let belongs = |series: &Series| {
            let published = SeriesSource::from_series(series) == SeriesSource::Published;
            let in_group = group == SeriesGroup::All || published == (group == SeriesGroup::Published);
            series.subjects == Subjects::Models && in_group
        };
        let mut positions: Vec<usize> = (0..self.series.len()).filter(|&at| belongs(&self.series[at])).collect();
        positions.sort_by_key(|&at| is_part(&self.series[at]));
        positions
    }

    /// Returns the default pair: the arena's rating with the first benchmark, else with imported scores, else with its own win or tie rate;
    /// without votes, two series that a paper compares.
    #[must_use]
    pub fn default_pair(&self) -> Option<[String; 2]> {
        const PUBLISHED: [&str; 2] = ["published:superclue_close", "published:superclue_open:turn:1"];
        let rating = self.find("arena:rating").map(|series| series.name.to_string());
        let first =
            |source: SeriesSource| self.series.iter().find(|series| SeriesSource::from_series(series) == source);
        let other = first(SeriesSource::Benchmark)
            .or_else(|| first(SeriesSource::Imported))
            .or_else(|| self.find("arena:win_tie_rate"));
        if let (Some(rating), Some(other)) = (rating, other) {
            return Some([rating, other.name.to_string()]);
        }
        PUBLISHED.iter().all(|name| self.find(name).is_some()).then(|| PUBLISHED.map(str::to_owned))
    }

    /// Returns satisfaction and a suite's means by intent, if both exist; a benchmark run in this arena comes first.
    #[must_use]
    pub fn intents(&self) -> Option<[String; 2]> {
        let by_intent =
            || self.series.iter().filter(|series| SeriesSource::from_series(series) == SeriesSource::Intents);
        let satisfaction = by_intent().find(|series| series.name == SeriesName::Satisfaction)?;
        let suite = by_intent().find(|series| series.name != SeriesName::Satisfaction)?;
        Some([&satisfaction.name, &suite.name].map(ToString::to_string))
    }

    /// Computes the matrix of a group.
    #[must_use]
    pub fn matrix(&self, group: SeriesGroup) -> CorrelationMatrix {
        let all = self.group(group);
        let shown: Vec<usize> = all.iter().copied().take(MATRIX_SERIES).collect();
        let series: Vec<&Series> = shown.iter().map(|&at| &self.series[at]).collect();
        let models: BTreeSet<&String> = series.iter().flat_map(|series| series.points.keys()).collect();
        let values = |series: &&Series| column(models.iter().map(|model| series.points.get(*model)));
        let columns: Vec<_> = series.iter().map(values).collect();
        CorrelationMatrix { series: shown, of: all.len(), matrix: matrix(&columns, self.options.level) }
    }

    /// Compares two series; the history is that of the given coefficient.
    ///
    /// # Errors
    /// [`CatalogError::Unknown`], [`CatalogError::Series`].
    pub fn pair(&self, [x, y]: [&str; 2], coefficient: Coefficient) -> Result<PairStudy, CatalogError> {
        let (x, y) = (self.get(x)?, self.get(y)?);
        let report = compare(x, y, &[], self.options)?;
        let columns = align(&[x, y], &[])?.columns();
        let cell = pair(&columns[0], &columns[1], self.options.level);
        Ok(PairStudy { report, cell, history: correlation_history(&self.history, x, y, coefficient) })
    }

    /// Computes the mixture of series that predicts a target best.
    ///
    /// # Errors
    /// [`CatalogError`].
    pub fn mixture(&self, question: &MixtureQuestion) -> Result<MixtureReport, CatalogError> {
        let count = question.series.len();
        let repeated = (0..count).any(|at| question.series[..at].contains(&question.series[at]));
        if !(2..=MAX_MIXTURE_SERIES).contains(&count) || repeated || question.series.contains(&question.target) {
            return Err(CatalogError::Count(count));
        }
        let series: Vec<&Series> = question.series.iter().map(|name| self.get(name)).collect::<Result<_, _>>()?;
        let target = self.get(&question.target)?;
        let search = match question.steps {
            None => Search::Exact,
            Some(steps) => grid_search(steps, &series, target)?,
        };
        Ok(mixture(&series, target, &[], search, self.options)?)
    }
}

fn grid_search(steps: u32, series: &[&Series], target: &Series) -> Result<Search, CatalogError> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    let models = align(&all, &[])?.models.len();
    // The search is repeated without each of the models.
    let searches = f64::from(u32::try_from(models + 1).unwrap_or(u32::MAX));
    if mixtures(steps, series.len()) * searches > MAX_MIXTURES {
        let step = format!("{}", 1.0 / f64::from(steps));
        return Err(CatalogError::Fine { step, series: series.len(), models });
    }
    Ok(Search::Grid { steps })
}

/// Returns the number of mixtures on a grid: weights that are multiples of 1/`steps` with sum 1.
fn mixtures(steps: u32, series: usize) -> f64 {
    (1..u32::try_from(series).unwrap_or(u32::MAX)).map(|place| f64::from(steps + place) / f64::from(place)).product()
}

/// Returns whether a series is a part of another one.
fn is_part(series: &Series) -> bool {
    match &series.name {
        SeriesName::Arena { part, .. } => part.0 != Slice::default(),
        SeriesName::Bench { part, .. } => !part.is_empty(),
        SeriesName::Published(id) => id.strip_suffix(":overall").unwrap_or(id).contains(':'),
        SeriesName::Column(_) | SeriesName::Satisfaction | SeriesName::Verdicts(_) | SeriesName::Campaign { .. } => {
            false
        }
    }
}

/// Lists the series of the arena's votes: every metric of all votes, and the rating in each slice with enough votes.
#[must_use]
pub fn arena_names(votes: &SliceVoteCounts) -> Vec<SeriesName> {
    let whole = [Metric::Rating, Metric::Elo, Metric::WinTieRate].map(|metric| (metric, Slice::default()));
    let slices = [
        largest_slices(&votes.languages, |language| Slice { language, ..Slice::default() }),
        largest_slices(&votes.categories, |category| Slice { category, ..Slice::default() }),
        largest_slices(&votes.intents, |intent| Slice { intent, ..Slice::default() }),
        [Turns::First, Turns::Multi].map(|turns| Slice { turns: Some(turns), ..Slice::default() }).to_vec(),
        vec![Slice { long_prompts: true, ..Slice::default() }],
    ];
    let slices = slices.concat().into_iter().map(|slice| (Metric::Rating, slice));
    let name = |(metric, slice)| SeriesName::Arena { metric, part: VotePart(slice) };
    whole.into_iter().chain(slices).map(name).chain([SeriesName::Satisfaction]).collect()
}

/// Returns whether a series needs the texts of all prompts.
#[must_use]
pub fn reads_prompts(name: &SeriesName) -> bool {
    matches!(name, SeriesName::Arena { part, .. } if part.0.long_prompts)
}

/// Returns the slices with the most votes; none if all votes are in one.
fn largest_slices(votes: &BTreeMap<String, u64>, slice: impl Fn(Option<String>) -> Slice) -> Vec<Slice> {
    let mut slices: Vec<(&String, u64)> =
        votes.iter().map(|(name, &votes)| (name, votes)).filter(|(_, votes)| *votes >= MIN_SLICE_VOTES).collect();
    if slices.len() < 2 {
        return Vec::new();
    }
    slices.sort_by_key(|&(name, votes)| (Reverse(votes), name));
    slices.into_iter().take(MAX_SLICES).map(|(name, _)| slice(Some(name.clone()))).collect()
}

#[cfg(test)]
mod tests;
