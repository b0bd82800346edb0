//! Scores of single items by model: comparisons of models on the same items, discrimination of items, and disagreement of judges.
//!
//! The score of an item is that of [`Suite::item_score`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::benchmark::Suite;
use crate::benchmark::item::Item;
use crate::benchmark::scores::judgement::{Judgement, Status};
use crate::benchmark::scores::score::{Verdicts, mean};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::pearson_r;
use crate::stats::distribution::Summary;
use crate::stats::paired::{PairedDifference, holm, paired_difference};
use crate::stats::proportion::wilson_of_rate;
use crate::stats::{Interval, real, real_len};

/// Minimum number of models for an item's discrimination: with two, every item correlates perfectly.
const MIN_MODELS_PER_ITEM: usize = 3;

/// Scores of every item by model, from one judge's verdicts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemScores {
    /// Models in alphabetical order.
    models: Vec<String>,
    items: Vec<ItemRow>,
}

#[derive(Debug, Clone, PartialEq)]
struct ItemRow {
    id: String,
    category: String,
    /// Scores by model; `None` if a verdict is missing.
    scores: Vec<Option<f64>>,
}

/// Comparison of two models on the same items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelComparison {
    /// Model that is compared with the reference.
    pub model: String,
    /// Number of items on which the model scores higher than the reference.
    pub wins: u64,
    /// Number of items on which both score the same.
    pub ties: u64,
    /// Number of items on which the model scores lower.
    pub losses: u64,
    /// Share of the items that the model wins, with a tie as half a win; `None` without items that both have scores for.
    pub win_rate: Option<f64>,
    /// Wilson interval of the win rate.
    pub win_interval: Option<Interval>,
    /// Mean of the model's score minus the reference's, in the suite's unit, with equal item weights; `None` for fewer than two items that
    /// both have scores for.
    pub difference: Option<PairedDifference>,
    /// P value of the difference, adjusted for all compared models (Holm).
    pub adjusted_p: Option<f64>,
}

/// Statistics of one item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemAnalysis {
    /// Id of the item.
    pub item: String,
    /// Category of the item.
    pub category: String,
    /// Number of models with a score.
    pub models: usize,
    /// Mean score of the models.
    pub mean: f64,
    /// Sample standard deviation of the models' scores: 0 if the item does not separate models.
    pub std_dev: f64,
    /// Corrected item-total correlation: Pearson's r of the models' scores on this item with their means over the other items. `None` for
    /// fewer than three models, or if all score the same. A negative value means that the item ranks models against the rest of the suite.
    pub discrimination: Option<f64>,
}

/// Disagreement of judges on one item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemDisagreement {
    /// Id of the item.
    pub item: String,
    /// Category of the item.
    pub category: String,
    /// Number of models that at least two judges have scored on the item.
    pub models: usize,
    /// Sample standard deviation between the judges, averaged over these models.
    pub std_dev: f64,
}

/// Scores of two models on one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPair {
    /// Id of the item.
    pub item: String,
    /// Score of each model, averaged over the judges who have scored both.
    pub scores: [f64; 2],
}

impl ItemPair {
    /// Returns the first model's score minus the second's.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.scores[0] - self.scores[1]
    }
}

/// Returns the items on which a judge has scored both models, sorted by descending difference and then in the suite's order. All judges
/// have scored the same items.
#[must_use]
pub fn item_pairs<'j>(judges: impl IntoIterator<Item = &'j ItemScores>, models: [&str; 2]) -> Vec<ItemPair> {
    let mut pairs: Vec<(ItemPair, f64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for judge in judges {
        let at = models.map(|model| judge.models.iter().position(|known| known == model));
        let [Some(left), Some(right)] = at else { continue };
        for item in &judge.items {
            let (Some(first), Some(second)) = (item.scores[left], item.scores[right]) else { continue };
            let place = *places.entry(&item.id).or_insert_with(|| {
                pairs.push((ItemPair { item: item.id.clone(), scores: [0.0; 2] }, 0.0));
                pairs.len() - 1
            });
            let (pair, judges) = &mut pairs[place];
            *judges += 1.0;
            // Updates the running mean.
            for (mean, score) in pair.scores.iter_mut().zip([first, second]) {
                *mean += (score - *mean) / *judges;
            }
        }
    }
    let mut pairs: Vec<ItemPair> = pairs.into_iter().map(|(pair, _)| pair).collect();
    pairs.sort_by(|one, other| other.difference().abs().total_cmp(&one.difference().abs()));
    pairs
}

impl ItemScores {
    /// Scores each item separately; the judgements are those of one judge, with one baseline where there is one.
    #[must_use]
    pub fn new(suite: &dyn Suite, items: &[Item], judgements: &[&Judgement]) -> Self {
        let mut by_model: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
        for judgement in judgements {
            by_model.entry(&judgement.model).or_default().push(judgement);
        }
        // A verdict replaces an earlier failure.
        by_model.values_mut().for_each(|own| own.sort_by_key(|judgement| judgement.status == Status::Ok));
        let verdicts: Vec<Verdicts<'_>> = by_model.values().map(|own| Verdicts::new(own.iter().copied())).collect();
        let models: Vec<&str> = by_model.into_keys().collect();
        Self::of_verdicts(suite, items, &models, &verdicts.iter().collect::<Vec<_>>())
    }

    /// Scores each item from the judge's verdicts on these models, which are in alphabetical order.
    #[must_use]
    pub fn of_verdicts(suite: &dyn Suite, items: &[Item], models: &[&str], verdicts: &[&Verdicts<'_>]) -> Self {
        let row = |item: &Item| ItemRow {
            id: item.id.clone(),
            category: item.category.clone(),
            scores: verdicts.iter().map(|verdicts| suite.item_score(item, verdicts)).collect(),
        };
        Self { models: models.iter().map(|&model| model.to_owned()).collect(), items: items.iter().map(row).collect() }
    }

    /// Averages the scores over judges, for each model and item that all of them have scored. All scores are of the same items in the same
    /// order.
    #[must_use]
    pub fn panel_mean(judges: &[Self]) -> Self {
        let Some(first) = judges.first() else { return Self::default() };
        let models: BTreeSet<&String> = judges.iter().flat_map(|judge| &judge.models).collect();
        // Position of each model in each judge's scores.
        let places = |model: &&String| judges.iter().map(|judge| judge.models.binary_search(model).ok()).collect();
        let places: Vec<Vec<Option<usize>>> = models.iter().map(places).collect();
        let score = |at: usize, places: &[Option<usize>]| {
            let own = judges.iter().zip(places).map(|(judge, place)| judge.items.get(at)?.scores[(*place)?]);
            mean(&own.collect::<Option<Vec<f64>>>()?)
        };
        let row = |(at, item): (usize, &ItemRow)| ItemRow {
            id: item.id.clone(),
            category: item.category.clone(),
            scores: places.iter().map(|places| score(at, places)).collect(),
        };
        let items = first.items.iter().enumerate().map(row).collect();
        Self { models: models.into_iter().cloned().collect(), items }
    }

    /// Returns the models.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Iterates over the scores by item and model.
    pub fn scores(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.items.iter().flat_map(|item| {
            let scored = self.models.iter().zip(&item.scores);
            scored.filter_map(|(model, score)| Some((item.id.as_str(), model.as_str(), (*score)?)))
        })
    }

    /// Whether any item has a score.
    #[must_use]
    pub fn is_scored(&self) -> bool {
        self.items.iter().any(|item| item.scores.iter().any(Option::is_some))
    }

    /// Compares every other model with this one, over the items that both have scores for, best first; `None` if the model has no
    /// judgement.
    #[must_use]
    pub fn compare_with(&self, reference: &str, level: ConfidenceLevel) -> Option<Vec<ModelComparison>> {
        let reference = self.models.iter().position(|model| model == reference)?;
        let others = (0..self.models.len()).filter(|model| *model != reference);
        let mut compared: Vec<ModelComparison> = others.map(|model| self.comparison(model, reference, level)).collect();
        let tested: Vec<f64> =
            compared.iter().filter_map(|row| row.difference.map(|difference| difference.p)).collect();
        let mut adjusted = holm(&tested).into_iter();
        for row in &mut compared {
            row.adjusted_p = row.difference.and_then(|_| adjusted.next());
        }
        let key = |row: &ModelComparison| row.difference.map_or(f64::NEG_INFINITY, |difference| difference.mean);
        compared.sort_by(|one, other| key(other).total_cmp(&key(one)));
        Some(compared)
    }

    fn comparison(&self, model: usize, reference: usize, level: ConfidenceLevel) -> ModelComparison {
        let both = self.items.iter().filter_map(|item| Some(item.scores[model]? - item.scores[reference]?));
        let differences: Vec<f64> = both.collect();
        let count = |holds: fn(f64) -> bool| {
            differences.iter().fold(0, |count, difference| count + u64::from(holds(*difference)))
        };
        let (wins, ties) = (count(|difference| difference > 0.0), count(|difference| difference == 0.0));
        let n = real_len(differences.len());
        let win_rate = (!differences.is_empty()).then(|| (real(wins) + 0.5 * real(ties)) / n);
        ModelComparison {
            model: self.models[model].clone(),
            wins,
            ties,
            losses: count(|difference| difference < 0.0),
            win_rate,
            win_interval: win_rate.map(|rate| wilson_of_rate(rate, n, level)),
            difference: paired_difference(&differences, level).ok(),
            adjusted_p: None,
        }
    }

    /// Computes the statistics of each item, in the suite's order; items without a score are left out.
    #[must_use]
    pub fn analyse(&self) -> Vec<ItemAnalysis> {
        let totals: Vec<(f64, usize)> = (0..self.models.len()).map(|model| self.total(model)).collect();
        self.items.iter().filter_map(|item| item.analyse(&totals)).collect()
    }

    fn score(&self, item: usize, model: &String) -> Option<f64> {
        self.items.get(item)?.scores[self.models.binary_search(model).ok()?]
    }

    /// Returns the sum and the number of a model's scores.
    fn total(&self, model: usize) -> (f64, usize) {
        let scores = self.items.iter().filter_map(|item| item.scores[model]);
        scores.fold((0.0, 0), |(sum, count), score| (sum + score, count + 1))
    }
}

impl ItemRow {
    /// Computes the item's statistics; `totals` has the sum and number of each model's scores over all items.
    fn analyse(&self, totals: &[(f64, usize)]) -> Option<ItemAnalysis> {
        let scored: Vec<f64> = self.scores.iter().flatten().copied().collect();
        let mean = mean(&scored)?;
        let others = self.scores.iter().zip(totals).filter_map(|(score, (sum, count))| {
            let score = (*score)?;
            (*count > 1).then(|| (score, (sum - score) / real_len(count - 1)))
        });
        let (own, rest): (Vec<f64>, Vec<f64>) = others.unzip();
        let enough = own.len() >= MIN_MODELS_PER_ITEM;
        Some(ItemAnalysis {
            item: self.id.clone(),
            category: self.category.clone(),
            models: scored.len(),
            mean,
            std_dev: Summary::new(&scored).map_or(0.0, |summary| summary.std_dev),
            discrimination: enough.then(|| pearson_r(&own, &rest).ok()).flatten(),
        })
    }
}

/// Computes the disagreement of judges on each item, in the suite's order; items scored by fewer than two judges are left out. All scores
/// are of the same items in the same order.
#[must_use]
pub fn disagreements(judges: &[ItemScores]) -> Vec<ItemDisagreement> {
    let Some(first) = judges.first() else { return Vec::new() };
    let models: BTreeSet<&String> = judges.iter().flat_map(|judge| &judge.models).collect();
    let on_item = |(at, item): (usize, &ItemRow)| {
        let spread = |model: &&String| {
            let scores: Vec<f64> = judges.iter().filter_map(|judge| judge.score(at, model)).collect();
            Some(Summary::new(&scores).ok()?.std_dev)
        };
        let spreads: Vec<f64> = models.iter().filter_map(spread).collect();
        let (item, category) = (item.id.clone(), item.category.clone());
        Some(ItemDisagreement { item, category, models: spreads.len(), std_dev: mean(&spreads)? })
    };
    first.items.iter().enumerate().filter_map(on_item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::SuiteOptions;
    use crate::benchmark::analysis::any_judgement;
    use crate::benchmark::item::Question;
    use crate::benchmark::suites::registry::suite;
    use crate::judging::verdict::{Rating, Verdict};
    use crate::language::Language;

    fn item(id: &str) -> Item {
        Item {
            id: id.to_owned(),
            category: crate::benchmark::suites::urs::INTENTS[0].name.to_owned(),
            subcategory: None,
            language: Language::English,
            turns: vec![Question { question: "q".to_owned(), reference: Some("r".to_owned()) }],
            choices: None,
        }
    }

    fn rated(item: &str, model: &str, judge: &str, score: f64) -> Judgement {
        Judgement {
            item_id: item.to_owned(),
            model: model.to_owned(),
            judge_model: judge.to_owned(),
            parsed: Some(Verdict::Rating(Rating::new(score, [].into()))),
            ..any_judgement()
        }
    }

    /// Scores with a row per item and a column for each of the models a, b, c.
    fn judged(scores: &[[f64; 3]]) -> ItemScores {
        let ids: Vec<String> = (0..scores.len()).map(|at| at.to_string()).collect();
        let items: Vec<Item> = ids.iter().map(|id| item(id)).collect();
        let row = |(id, row): (&String, &[f64; 3])| {
            ["a", "b", "c"].into_iter().zip(row).map(|(model, score)| rated(id, model, "j", *score)).collect::<Vec<_>>()
        };
        let judgements: Vec<Judgement> = ids.iter().zip(scores).flat_map(row).collect();
        scored(&items, &judgements)
    }

    fn scored(items: &[Item], judgements: &[Judgement]) -> ItemScores {
        let suite = suite("urs", &SuiteOptions::default()).unwrap();
        ItemScores::new(suite.as_ref(), items, &judgements.iter().collect::<Vec<_>>())
    }

    #[test]
    fn models_are_compared_on_the_same_items() {
        let scores = judged(&[[5.0, 7.0, 5.0], [5.0, 6.0, 4.0], [5.0, 8.0, 5.0]]);
        let compared = scores.compare_with("a", ConfidenceLevel::default()).unwrap();
        let counts = |row: &ModelComparison| (row.model.clone(), row.wins, row.ties, row.losses);
        assert_eq!(compared.iter().map(counts).collect::<Vec<_>>(), [("b".into(), 3, 0, 0), ("c".into(), 0, 2, 1)]);
        let (b, c) = (&compared[0], &compared[1]);
        assert_eq!(b.difference.map(|difference| difference.mean), Some(2.0));
        let (p, other) = (b.difference.unwrap().p, c.difference.unwrap().p);
        assert!(p < other && b.adjusted_p == Some(2.0 * p) && c.adjusted_p == Some(other.max(2.0 * p)));
        assert_eq!(scores.compare_with("nobody", ConfidenceLevel::default()), None);
        assert_eq!((b.win_rate, c.win_rate), (Some(1.0), Some(1.0 / 3.0)));
        let interval = c.win_interval.unwrap();
        assert!(interval.lower > 0.0 && interval.upper < 1.0 && b.win_interval.unwrap().lower < 1.0);
    }

    #[test]
    fn a_panel_scores_what_all_of_its_judges_have_scored() {
        let items = [item("1"), item("2")];
        let one = [rated("1", "a", "i", 4.0), rated("1", "b", "i", 5.0), rated("2", "a", "i", 9.0)];
        let other = [rated("1", "a", "j", 6.0), rated("2", "b", "j", 5.0)];
        let panel = ItemScores::panel_mean(&[scored(&items, &one), scored(&items, &other)]);
        assert_eq!(panel.models(), ["a", "b"]);
        assert_eq!(
            panel.items.iter().map(|item| item.scores.clone()).collect::<Vec<_>>(),
            [[Some(5.0), None], [None; 2]]
        );
        assert!(panel.is_scored() && !ItemScores::panel_mean(&[]).is_scored());
    }

    #[test]
    fn items_come_by_how_far_two_models_are_apart_on_them() {
        let one = judged(&[[5.0, 7.0, 5.0], [9.0, 6.0, 4.0], [5.0, 5.0, 5.0]]);
        let pairs = |judges: &[ItemScores], models| {
            let pairs = item_pairs(judges, models).into_iter();
            pairs.map(|pair| (pair.item.clone(), pair.scores, pair.difference())).collect::<Vec<_>>()
        };
        let [zero, first, second] = ["0", "1", "2"].map(str::to_owned);
        let by_one =
            [(first.clone(), [9.0, 6.0], 3.0), (zero.clone(), [5.0, 7.0], -2.0), (second.clone(), [5.0, 5.0], 0.0)];
        assert_eq!(pairs(std::slice::from_ref(&one), ["a", "b"]), by_one);
        let items = ["0", "1", "2"].map(item);
        let rated = [rated("0", "a", "k", 2.0), rated("0", "b", "k", 9.0), rated("1", "a", "k", 1.0)];
        let other = scored(&items, &rated);
        let by_both = [(zero, [3.5, 8.0], -4.5), (first, [9.0, 6.0], 3.0), (second, [5.0, 5.0], 0.0)];
        assert_eq!(pairs(&[one.clone(), other], ["a", "b"]), by_both, "who scored one alone does not count");
        assert_eq!(pairs(&[one], ["a", "nobody"]), []);
    }

    #[test]
    fn an_item_that_ranks_models_against_the_rest_is_reported() {
        let scores = judged(&[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [9.0, 5.0, 1.0], [5.0, 5.0, 5.0]]);
        let items = scores.analyse();
        let found: Vec<Option<f64>> = items.iter().map(|item| item.discrimination.map(f64::round)).collect();
        assert_eq!(found, [Some(-1.0), Some(-1.0), Some(-1.0), None], "each against the sum of the others");
        let kept = judged(&[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 2.5]]).analyse();
        assert_eq!(kept.iter().map(|item| item.discrimination.unwrap().signum()).collect::<Vec<_>>(), [1.0, 1.0, -1.0]);
        assert_eq!((items[3].std_dev, items[0].mean, items[0].models), (0.0, 2.0, 3));
    }

    #[test]
    fn judges_disagree_where_their_scores_differ() {
        let items = [item("1"), item("2"), item("3")];
        let one = [rated("1", "a", "i", 4.0), rated("1", "b", "i", 5.0), rated("2", "a", "i", 9.0)];
        let other = [rated("1", "a", "j", 6.0), rated("1", "b", "j", 5.0), rated("3", "a", "j", 9.0)];
        let found = disagreements(&[scored(&items, &one), scored(&items, &other)]);
        assert_eq!(found.len(), 1, "no item that one judge alone scored");
        assert_eq!((found[0].models, found[0].std_dev), (2, f64::midpoint(2.0_f64.sqrt(), 0.0)));
        assert_eq!(disagreements(&[scored(&items, &one)]), []);
    }

    #[test]
    fn a_verdict_replaces_an_earlier_failure_and_no_later_one_replaces_it() {
        let failed = || Judgement { parsed: None, status: Status::ParseFailed, ..rated("1", "a", "j", 0.0) };
        let found = scored(&[item("1")], &[failed(), rated("1", "a", "j", 7.0), failed()]).analyse();
        assert_eq!((found.len(), found[0].mean), (1, 7.0));
    }
}
