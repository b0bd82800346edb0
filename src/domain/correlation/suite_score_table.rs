//! Table of models and suites: the overall score in each suite, with its interval over resampled items.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::series::Series;
use super::{Point, SeriesName, Subjects};
use crate::benchmark::analysis::item_scores::ModelComparison;
use crate::benchmark::judging_forms::pairwise::THREE_ONE_ZERO;
use crate::benchmark::scores::score::Coverage;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::{Interval, ranks, real_len};

/// Scores of all models in all suites of an arena.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SuiteScoreTable {
    /// Suites (columns).
    pub suites: Vec<ScoreTableSuite>,
    /// Models (rows), by number of suites, then mean rank, then name.
    pub models: Vec<ScoreTableModel>,
    /// SuperCLUE totals of models with both of its suites, the best first.
    pub superclue: Vec<SuperClueTotal>,
}

/// SuperCLUE total of its later editions: 0.6 · OPEN + 0.4 · OPT, where OPEN scores a win 3, a tie 1 and a loss 0, and OPT is the share of
/// right answers in the CLOSE set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuperClueTotal {
    /// Model id.
    pub model: String,
    /// Total in percent.
    pub score: f64,
    /// Interval over resampled items of both suites.
    pub interval: Option<Interval>,
}

/// Suite, as a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoreTableSuite {
    /// Suite id.
    pub suite: String,
    /// Title for readers.
    pub title: String,
}

/// Model, as a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScoreTableModel {
    /// Model id.
    pub model: String,
    /// Scores by suite; null where it has none.
    pub scores: Vec<Option<SuiteScore>>,
    /// Number of suites with a score.
    pub scored: usize,
    /// Mean of the ranks in these suites, 1 for the best; equal scores share the mean of their ranks.
    pub mean_rank: f64,
}

/// Overall score in a suite: the mean over its judges, in the suite's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SuiteScore {
    /// Score in the suite's unit.
    pub score: f64,
    /// Interval over items resampled within their categories; null where they cannot vary.
    pub interval: Option<Interval>,
    /// Rank in the suite.
    pub rank: f64,
    /// Coverage, date and cost; null for a score that is not this arena's own.
    pub facts: Option<ScoreFacts>,
}

/// Coverage, date and cost of a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScoreFacts {
    /// Number of judged answers out of all.
    pub coverage: Coverage,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
    /// Cost of answers and judgements by the prices of the settings; null where a model has no price or no token was counted.
    pub cost: Option<f64>,
}

/// Comparison of one model with all others, suite by suite, on the same items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScoreTableComparison {
    /// Id of the model.
    pub with: String,
    /// Suites with judgements of the model.
    pub suites: Vec<SuiteComparison>,
}

/// Comparison of one model with the others in a suite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuiteComparison {
    /// Suite id.
    pub suite: String,
    /// Other models, by the mean of all judges; p-values are adjusted within the suite.
    pub models: Vec<ModelComparison>,
}

impl ScoreTableComparison {
    /// Returns the comparison with a model in a suite, if there is one.
    #[must_use]
    pub fn of(&self, suite: &str, model: &str) -> Option<&ModelComparison> {
        let suite = self.suites.iter().find(|compared| compared.suite == suite)?;
        suite.models.iter().find(|compared| compared.model == model)
    }
}

impl SuiteScoreTable {
    /// Returns whether a model is in the table.
    #[must_use]
    pub fn has(&self, model: &str) -> bool {
        self.models.iter().any(|row| row.model == model)
    }

    /// Builds the table from overall scores of suites by all judges; other series are ignored.
    #[must_use]
    pub fn new<'s>(series: impl IntoIterator<Item = &'s Series>) -> Self {
        let series: Vec<&Series> = series.into_iter().collect();
        let columns: Vec<(ScoreTableSuite, BTreeMap<&str, SuiteScore>)> =
            series.iter().copied().filter_map(column).collect();
        let models: BTreeSet<&str> = columns.iter().flat_map(|(_, scores)| scores.keys().copied()).collect();
        let mut models: Vec<ScoreTableModel> = models.into_iter().map(|model| row(model, &columns)).collect();
        models.sort_by(|one, other| {
            other.scored.cmp(&one.scored).then_with(|| one.mean_rank.total_cmp(&other.mean_rank))
        });
        let superclue = superclue_totals(&series);
        Self { suites: columns.into_iter().map(|(suite, _)| suite).collect(), models, superclue }
    }

    /// Adds coverage, date and cost of each score, by suite and model.
    #[must_use]
    pub fn with_facts(mut self, facts: impl Fn(&str, &str) -> Option<ScoreFacts>) -> Self {
        for row in &mut self.models {
            for (suite, score) in self.suites.iter().zip(&mut row.scores) {
                if let Some(score) = score {
                    score.facts = facts(&suite.suite, &row.model);
                }
            }
        }
        self
    }
}

fn column(series: &Series) -> Option<(ScoreTableSuite, BTreeMap<&str, SuiteScore>)> {
    let SeriesName::Bench { suite, judge: None, part } = &series.name else { return None };
    if !part.is_empty() || series.subjects != Subjects::Models {
        return None;
    }
    let values: Vec<f64> = series.points.values().map(|point| point.value).collect();
    // Ranks count from the lowest score.
    let from_best = |rank: f64| real_len(values.len()) + 1.0 - rank;
    let scored = series.points.iter().zip(ranks(&values)).map(|((model, point), rank)| {
        (
            model.as_str(),
            SuiteScore { score: point.value, interval: point.interval, rank: from_best(rank), facts: None },
        )
    });
    Some((ScoreTableSuite { suite: suite.clone(), title: series.title.clone() }, scored.collect()))
}

fn superclue_totals(series: &[&Series]) -> Vec<SuperClueTotal> {
    let points = |suite: &str, part: &str| {
        let is_it = |name: &SeriesName| matches!(name, SeriesName::Bench { suite: own, judge: None, part: of } if own == suite && of == part);
        series.iter().find(|series| is_it(&series.name)).map(|series| &series.points)
    };
    let (Some(open), Some(opt)) = (points("superclue-open", THREE_ONE_ZERO), points("superclue-close", "")) else {
        return Vec::new();
    };
    let mix = |open: f64, opt: f64| 0.6 * open + 0.4 * opt;
    let total = |(model, open): (&String, &Point)| {
        let opt = opt.get(model)?;
        let samples = open.samples.iter().zip(&opt.samples).map(|(open, opt)| Some(mix((*open)?, (*opt)?))).collect();
        let point = Point::from_samples(mix(open.value, opt.value), samples, ConfidenceLevel::default());
        Some(SuperClueTotal { model: model.clone(), score: point.value, interval: point.interval })
    };
    let mut totals: Vec<SuperClueTotal> = open.iter().filter_map(total).collect();
    totals.sort_by(|one, other| other.score.total_cmp(&one.score));
    totals
}

fn row(model: &str, columns: &[(ScoreTableSuite, BTreeMap<&str, SuiteScore>)]) -> ScoreTableModel {
    let scores: Vec<Option<SuiteScore>> = columns.iter().map(|(_, scores)| scores.get(model).copied()).collect();
    let own: Vec<f64> = scores.iter().flatten().map(|score| score.rank).collect();
    let mean_rank = own.iter().sum::<f64>() / real_len(own.len().max(1));
    ScoreTableModel { model: model.to_owned(), scored: own.len(), scores, mean_rank }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, scores: &[(&str, f64)]) -> Series {
        let points = scores.iter().map(|(model, score)| ((*model).to_owned(), Point::fixed(*score))).collect();
        let (name, title) = (name.parse().unwrap(), name.to_owned());
        Series { name, title, subjects: Subjects::Models, points, notes: Vec::new(), resampled: None }
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
        let table = SuiteScoreTable::new(&all);
        assert_eq!(table.suites.iter().map(|suite| suite.suite.as_str()).collect::<Vec<_>>(), ["urs", "alignbench"]);
        let rows: Vec<(&str, usize, f64)> =
            table.models.iter().map(|row| (row.model.as_str(), row.scored, row.mean_rank)).collect();
        assert_eq!(rows, [("b", 2, 2.0), ("a", 2, 2.25), ("d", 1, 1.0), ("c", 1, 2.5)]);
        assert_eq!(table.models[2].scores[0], None);
    }

    #[test]
    fn superclues_total_takes_both_of_its_suites() {
        let open = format!("bench:superclue-open:{THREE_ONE_ZERO}");
        let all = [
            series("bench:superclue-open", &[("a", 90.0), ("b", 90.0)]),
            series(&open, &[("a", 40.0), ("b", 70.0), ("c", 10.0)]),
            series("bench:superclue-close", &[("a", 80.0), ("b", 60.0)]),
        ];
        let table = SuiteScoreTable::new(&all);
        let totals: Vec<String> = table.superclue.iter().map(|row| format!("{} {:.3}", row.model, row.score)).collect();
        assert_eq!(totals, ["b 66.000", "a 56.000"], "nobody has a total of one suite alone");
        assert_eq!(format!("{}", table.models[0].mean_rank), "1.25", "it is no suite of its own");
        assert_eq!(SuiteScoreTable::new(&all[..2]).superclue, []);
    }

    #[test]
    fn a_score_table_says_what_is_behind_each_score() {
        let facts = ScoreFacts { coverage: Coverage { ok: 3, total: 4 }, judged_at: 7, cost: None };
        let table = SuiteScoreTable::new(&[series("bench:urs", &[("a", 7.0), ("b", 8.0)])]);
        let table = table.with_facts(|suite, model| (suite == "urs" && model == "a").then_some(facts));
        let found: Vec<Option<ScoreFacts>> = table.models.iter().map(|row| row.scores[0].unwrap().facts).collect();
        assert_eq!(found, [None, Some(facts)]);
    }
}
