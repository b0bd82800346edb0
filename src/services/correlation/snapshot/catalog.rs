//! The catalog of series and their order.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Group, is_of_models};
use crate::domain::correlation::{Series, SeriesName, Subjects, VotePart};
use crate::domain::rating::facets::Facets;
use crate::domain::rating::resample::Metric;
use crate::domain::rating::slice::{Slice, Turns};
use crate::infra::storage::PublishedScoreRow;
use crate::services::battle_judging::reports::BattleJudgingError;
use crate::services::correlation::{ReadSeriesError, SeriesReader};

/// A part of the votes with fewer than this is no series.
const LEAST_VOTES: u64 = 20;
/// Parts of the votes by one thing, those with the most votes first.
const PARTS: usize = 8;

/// Where a series comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The arena's votes, and what judges say of its battles.
    Votes,
    /// A benchmark that was run here.
    Benchmark,
    /// Scores that were imported.
    Imported,
    /// What the papers print.
    Printed,
    /// Of any of them, by intent instead of by model.
    Intents,
}

impl Source {
    /// That of a series.
    #[must_use]
    pub fn of(series: &Series) -> Self {
        match &series.name {
            _ if series.subjects == Subjects::Intents => Self::Intents,
            SeriesName::Arena { .. } | SeriesName::Satisfaction | SeriesName::Verdicts(_) => Self::Votes,
            SeriesName::Bench { .. } => Self::Benchmark,
            name if name.is_stored() => Self::Imported,
            SeriesName::Column(_) | SeriesName::Published(_) => Self::Printed,
        }
    }
}

/// The series of the arena's votes: every figure of all of them, and the rating in each part that has enough.
#[must_use]
pub fn arena_names(facets: &Facets) -> Vec<SeriesName> {
    let whole = [Metric::Rating, Metric::Elo, Metric::WinTieRate].map(|metric| (metric, Slice::default()));
    let parts = [
        most(&facets.languages, |language| Slice { language, ..Slice::default() }),
        most(&facets.categories, |category| Slice { category, ..Slice::default() }),
        most(&facets.intents, |intent| Slice { intent, ..Slice::default() }),
        [Turns::First, Turns::Multi].map(|turns| Slice { turns: Some(turns), ..Slice::default() }).to_vec(),
        vec![Slice { long_prompts: true, ..Slice::default() }],
    ];
    let parts = parts.concat().into_iter().map(|slice| (Metric::Rating, slice));
    let name = |(metric, slice)| SeriesName::Arena { metric, part: VotePart(slice) };
    whole.into_iter().chain(parts).map(name).chain([SeriesName::Satisfaction]).collect()
}

/// Whether every prompt has to be read for a series.
pub(super) fn reads_prompts(name: &SeriesName) -> bool {
    matches!(name, SeriesName::Arena { part, .. } if part.0.long_prompts)
}

/// The parts with the most votes; none where all votes are in one.
fn most(votes: &BTreeMap<String, u64>, slice: impl Fn(Option<String>) -> Slice) -> Vec<Slice> {
    let mut parts: Vec<(&String, u64)> =
        votes.iter().map(|(name, &votes)| (name, votes)).filter(|(_, votes)| *votes >= LEAST_VOTES).collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.sort_by_key(|&(name, votes)| (Reverse(votes), name));
    parts.into_iter().take(PARTS).map(|(name, _)| slice(Some(name.clone()))).collect()
}

/// Reads the series that have a number, and says why others cannot be used where somebody can mend that.
pub(super) async fn read(
    reader: &mut SeriesReader<'_>,
    names: &[SeriesName],
    unusable: &mut Vec<String>,
) -> Result<Vec<Series>, ReadSeriesError> {
    reader.read_votes(names).await?;
    let mut series = Vec::new();
    for name in names {
        match reader.read(name).await {
            Ok(found) if found.points.is_empty() => {}
            Ok(found) => series.push(found),
            // Nobody has voted or judged there.
            Err(
                ReadSeriesError::Slice(_)
                | ReadSeriesError::NoSatisfaction
                | ReadSeriesError::NotJudged { .. }
                | ReadSeriesError::BattleJudging(BattleJudgingError::NoVerdicts(..)),
            ) => {}
            Err(error) if error.is_input() => unusable.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(series)
}

/// By source, wholes before their parts, and otherwise in the order in which they were read.
pub(super) fn sort(series: &mut [Series]) {
    series.sort_by_key(|series| (Source::of(series), is_part(series)));
}

/// Whether it is a part of another series.
fn is_part(series: &Series) -> bool {
    match &series.name {
        SeriesName::Arena { part, .. } => part.0 != Slice::default(),
        SeriesName::Bench { part, .. } => !part.is_empty(),
        SeriesName::Published(id) => id.strip_suffix(":overall").unwrap_or(id).contains(':'),
        SeriesName::Column(_) | SeriesName::Satisfaction | SeriesName::Verdicts(_) => false,
    }
}

/// The places of the series of a group that have one number a model, wholes before parts.
pub(super) fn of_group(series: &[Series], group: Group) -> Vec<usize> {
    let belongs = |series: &Series| {
        let published_names = Source::of(series) == Source::Printed;
        is_of_models(series) && (group == Group::All || published_names == (group == Group::Published))
    };
    let mut places: Vec<usize> = (0..series.len()).filter(|&at| belongs(&series[at])).collect();
    places.sort_by_key(|&at| is_part(&series[at]));
    places
}

/// A number that changes with the scores that were imported.
pub(super) fn fingerprint(rows: &[PublishedScoreRow]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for row in rows {
        (&row.series, &row.part, &row.model, row.score.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
}
