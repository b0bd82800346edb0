//! Models beside suites: the whole's score of each suite, with its interval over resampled items.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::series::Series;
use super::{SeriesName, Subjects};
use crate::benchmark::analysis::item_scores::ModelComparison;
use crate::stats::{Interval, ranks, real_len};

/// The scores of all models in all suites of an arena.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SuiteBoard {
    /// The suites.
    pub suites: Vec<BoardSuite>,
    /// The models: those with more suites first, then the better mean rank, then the name.
    pub models: Vec<BoardModel>,
}

/// A suite, as a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardSuite {
    /// Its name.
    pub suite: String,
    /// Its name for people.
    pub title: String,
}

/// A model, as a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BoardModel {
    /// The model.
    pub model: String,
    /// Its scores by suite; null where it has none.
    pub scores: Vec<Option<BoardScore>>,
    /// Suites that it has a score in.
    pub scored: usize,
    /// Mean of its ranks in these suites, 1 for the best; equal scores share the mean of their ranks.
    pub mean_rank: f64,
}

/// A score of the whole of a suite: the mean over its judges, in the suite's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BoardScore {
    /// The score.
    pub score: f64,
    /// Where it lies when the suite's items are resampled within their categories; null where they cannot vary.
    pub interval: Option<Interval>,
    /// Its rank in the suite.
    pub rank: f64,
}

/// One model beside the others, suite by suite, on the same items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BoardComparison {
    /// The model.
    pub with: String,
    /// The suites that it has judgements in.
    pub suites: Vec<SuiteComparison>,
}

/// The models of a suite beside one of them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuiteComparison {
    /// The suite.
    pub suite: String,
    /// The other models, by the mean of all judges; p values are adjusted within the suite.
    pub models: Vec<ModelComparison>,
}

impl BoardComparison {
    /// A model in a suite, where it is compared there.
    #[must_use]
    pub fn of(&self, suite: &str, model: &str) -> Option<&ModelComparison> {
        let suite = self.suites.iter().find(|compared| compared.suite == suite)?;
        suite.models.iter().find(|compared| compared.model == model)
    }
}

impl SuiteBoard {
    /// Whether a model is on it.
    #[must_use]
    pub fn has(&self, model: &str) -> bool {
        self.models.iter().any(|row| row.model == model)
    }

    /// Takes the series that are the whole of a suite by all of its judges, and leaves the others.
    #[must_use]
    pub fn new<'s>(series: impl IntoIterator<Item = &'s Series>) -> Self {
        let columns: Vec<(BoardSuite, BTreeMap<&str, BoardScore>)> = series.into_iter().filter_map(column).collect();
        let models: BTreeSet<&str> = columns.iter().flat_map(|(_, scores)| scores.keys().copied()).collect();
        let mut models: Vec<BoardModel> = models.into_iter().map(|model| row(model, &columns)).collect();
        models.sort_by(|one, other| {
            other.scored.cmp(&one.scored).then_with(|| one.mean_rank.total_cmp(&other.mean_rank))
        });
        Self { suites: columns.into_iter().map(|(suite, _)| suite).collect(), models }
    }
}

fn column(series: &Series) -> Option<(BoardSuite, BTreeMap<&str, BoardScore>)> {
    let SeriesName::Bench { suite, judge: None, part } = &series.name else { return None };
    if !part.is_empty() || series.subjects != Subjects::Models {
        return None;
    }
    let values: Vec<f64> = series.points.values().map(|point| point.value).collect();
    // Ranks count from the lowest score.
    let from_best = |rank: f64| real_len(values.len()) + 1.0 - rank;
    let scored = series.points.iter().zip(ranks(&values)).map(|((model, point), rank)| {
        (model.as_str(), BoardScore { score: point.value, interval: point.interval, rank: from_best(rank) })
    });
    Some((BoardSuite { suite: suite.clone(), title: series.title.clone() }, scored.collect()))
}

fn row(model: &str, columns: &[(BoardSuite, BTreeMap<&str, BoardScore>)]) -> BoardModel {
    let scores: Vec<Option<BoardScore>> = columns.iter().map(|(_, scores)| scores.get(model).copied()).collect();
    let own: Vec<f64> = scores.iter().flatten().map(|score| score.rank).collect();
    let mean_rank = own.iter().sum::<f64>() / real_len(own.len().max(1));
    BoardModel { model: model.to_owned(), scored: own.len(), scores, mean_rank }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correlation::Point;

    fn series(name: &str, scores: &[(&str, f64)]) -> Series {
        let points = scores.iter().map(|(model, score)| ((*model).to_owned(), Point::fixed(*score))).collect();
        let (name, title) = (name.parse().unwrap(), name.to_owned());
        Series { name, title, subjects: Subjects::Models, points, notes: Vec::new() }
    }

    #[test]
    fn models_with_more_suites_come_first_and_then_the_better_ranks() {
        let all = [
            series("bench:urs", &[("a", 7.0), ("b", 8.0), ("c", 7.0)]),
            series("bench:alignbench", &[("a", 6.0), ("b", 5.0), ("d", 9.0)]),
            series("bench:urs:en", &[("e", 9.0)]),
            series("bench:urs@judge", &[("e", 9.0)]),
            series("arena:rating", &[("e", 1200.0)]),
        ];
        let board = SuiteBoard::new(&all);
        assert_eq!(board.suites.iter().map(|suite| suite.suite.as_str()).collect::<Vec<_>>(), ["urs", "alignbench"]);
        let rows: Vec<(&str, usize, f64)> =
            board.models.iter().map(|row| (row.model.as_str(), row.scored, row.mean_rank)).collect();
        assert_eq!(rows, [("b", 2, 2.0), ("a", 2, 2.25), ("d", 1, 1.0), ("c", 1, 2.5)]);
        assert_eq!(board.models[2].scores[0], None);
    }
}
