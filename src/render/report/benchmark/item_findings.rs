//! Item-level findings about a suite's models, items and judges, as tables.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::analysis_rows::{count, name_with_baseline, table};
use super::{Analysis, Datum, ScoreEntry};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::analysis::item_scores::{
    ItemAnalysis, ItemDisagreement, ItemPair, ItemScores, ModelComparison, disagreements, item_pairs,
};
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::scores::judgement::Judgement;
use crate::domain::benchmark::scores::panel_scores::JudgementsByBaseline;
use crate::domain::benchmark::scores::score::Part;
use crate::domain::language::Language;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::i18n::findings::{FindingTexts, finding_texts};
use crate::i18n::reports::named;

/// Maximum number of items in a table.
const MAX_LISTED_ITEMS: usize = 10;

/// Displayed in place of the judge where none is needed.
const NO_JUDGE: &str = "–";

/// Findings about the items of a suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ItemFindings {
    judges: Vec<JudgeItems>,
    disputed: Vec<ItemDisagreement>,
    /// Title of each category in the suite.
    categories: BTreeMap<String, String>,
}

/// Item scores of one judge and baseline.
#[derive(Debug, Clone, PartialEq)]
struct JudgeItems {
    /// Displayed name of the judge.
    judge: String,
    /// The best model, with which the others are compared.
    best: String,
    scores: ItemScores,
    /// Number of items with a score, and of those on which all of at least two models have the same score.
    scored: usize,
    level: usize,
    telling: Vec<ItemAnalysis>,
    contrary: Vec<ItemAnalysis>,
}

impl ItemFindings {
    pub(super) fn new(
        suite: &dyn Suite,
        items: &[Item],
        by_baseline: &JudgementsByBaseline,
        entries: &[ScoreEntry],
    ) -> Self {
        let mut judges = Vec::new();
        let mut disputed: Vec<ItemDisagreement> = Vec::new();
        for (baseline, judgements) in by_baseline {
            let mut by_judge: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
            for judgement in judgements {
                by_judge.entry(&judgement.judge_model).or_default().push(judgement);
            }
            let said: Vec<&Vec<&Judgement>> = by_judge.values().collect();
            let scores = said.par_iter().map(|judgements| ItemScores::new(suite, items, judgements));
            let scores: Vec<ItemScores> = scores.collect();
            disputed.extend(disagreements(&scores));
            let found = by_judge.keys().zip(scores).filter_map(|(judge, scores)| {
                let best = best_of(entries, judge, baseline)?;
                let shown = if judge.is_empty() { NO_JUDGE } else { *judge };
                Some(JudgeItems::new(name_with_baseline(shown, baseline), best, scores))
            });
            judges.extend(found);
        }
        disputed.retain(|item| item.std_dev > 0.0);
        disputed.sort_by(|one, other| other.std_dev.total_cmp(&one.std_dev));
        let titles = items.iter().map(|item| (item.category.clone(), suite.category_title(&item.category).to_owned()));
        Self { judges, disputed, categories: titles.collect() }
    }

    /// Models that others can be compared with.
    pub(super) fn models(&self) -> BTreeSet<&str> {
        self.judges.iter().flat_map(|judge| judge.scores.models()).map(String::as_str).collect()
    }

    /// Items with scores of both models, the largest difference first.
    pub(super) fn item_pairs(&self, models: [&str; 2]) -> Vec<ItemPair> {
        item_pairs(self.judges.iter().map(|judge| &judge.scores), models)
    }

    /// Items on which judges disagree, the largest disagreement first.
    pub(super) fn disputed_items(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let items = self.disputed.iter().map(|item| item.item.as_str());
        items.filter(|item| known.insert(*item)).collect()
    }

    /// Builds the tables; models are compared with `compare_with`, or by default with the best one.
    pub(super) fn analyses(&self, compare_with: Option<&str>, language: Language) -> [Analysis; 5] {
        let words = finding_texts(language);
        let rows = |items: fn(&JudgeItems) -> &[ItemAnalysis]| self.item_rows(items, language);
        let telling = table("telling-items", &words.telling_items, rows(|judge| &judge.telling));
        let contrary = table("contrary-items", &words.contrary_items, rows(|judge| &judge.contrary));
        [self.same_items(compare_with, words), self.level(words), telling, contrary, self.disputed(language)]
    }

    /// A category in the reader's language.
    fn category(&self, category: &str, language: Language) -> Datum {
        let title = self.categories.get(category).map_or(category, String::as_str);
        Datum::Text(named(title, language).to_owned())
    }

    fn same_items(&self, compare_with: Option<&str>, words: &FindingTexts) -> Analysis {
        let row = |judge: &JudgeItems, reference: &str, row: &ModelComparison| {
            let of = row.difference;
            let interval = of.and_then(|difference| difference.interval);
            vec![
                Datum::Text(judge.judge.clone()),
                Datum::Text(row.model.clone()),
                Datum::Text(reference.to_owned()),
                Datum::Count(row.wins),
                Datum::Count(row.ties),
                Datum::Count(row.losses),
                Datum::Number(row.win_rate),
                Datum::Number(row.win_interval.map(|interval| interval.lower)),
                Datum::Number(row.win_interval.map(|interval| interval.upper)),
                Datum::Number(of.map(|difference| difference.mean)),
                Datum::Number(interval.map(|interval| interval.lower)),
                Datum::Number(interval.map(|interval| interval.upper)),
                Datum::Number(of.map(|difference| difference.p)),
                Datum::Number(row.adjusted_p),
            ]
        };
        let of_judge = |judge: &JudgeItems| {
            let reference = compare_with.unwrap_or(&judge.best);
            let compared = judge.scores.compare_with(reference, ConfidenceLevel::default()).unwrap_or_default();
            compared.iter().map(|one| row(judge, reference, one)).collect::<Vec<_>>()
        };
        table("same-items", &words.same_items, self.judges.iter().flat_map(of_judge).collect())
    }

    fn level(&self, words: &FindingTexts) -> Analysis {
        let judges = self.judges.iter().filter(|judge| judge.scores.models().len() > 1);
        let row = |judge: &JudgeItems| vec![Datum::Text(judge.judge.clone()), count(judge.scored), count(judge.level)];
        table("level-items", &words.level_items, judges.map(row).collect())
    }

    fn item_rows(&self, items: fn(&JudgeItems) -> &[ItemAnalysis], language: Language) -> Vec<Vec<Datum>> {
        let row = |judge: &str, item: &ItemAnalysis| {
            vec![
                Datum::Text(judge.to_owned()),
                Datum::Text(item.item.clone()),
                self.category(&item.category, language),
                count(item.models),
                Datum::Number(Some(item.mean)),
                Datum::Number(Some(item.std_dev)),
                Datum::Number(item.discrimination),
            ]
        };
        let of_judge = |judge: &JudgeItems| items(judge).iter().map(|item| row(&judge.judge, item)).collect::<Vec<_>>();
        self.judges.iter().flat_map(of_judge).collect()
    }

    fn disputed(&self, language: Language) -> Analysis {
        let row = |item: &ItemDisagreement| {
            vec![
                Datum::Text(item.item.clone()),
                self.category(&item.category, language),
                count(item.models),
                Datum::Number(Some(item.std_dev)),
            ]
        };
        table(
            "disputed-items",
            &finding_texts(language).disputed_items,
            self.disputed.iter().take(MAX_LISTED_ITEMS).map(row).collect(),
        )
    }
}

impl JudgeItems {
    fn new(judge: String, best: &str, scores: ItemScores) -> Self {
        let mut items = scores.analyse();
        let scored = items.len();
        let level = items.iter().filter(|item| item.models > 1 && item.std_dev == 0.0).count();
        items.retain(|item| item.discrimination.is_some());
        items.sort_by(|one, other| other.discrimination.unwrap_or(0.0).total_cmp(&one.discrimination.unwrap_or(0.0)));
        let below = items.iter().rev().filter(|item| item.discrimination.is_some_and(|r| r < 0.0));
        let contrary = below.take(MAX_LISTED_ITEMS).cloned().collect();
        items.retain(|item| item.discrimination.is_some_and(|r| r > 0.0));
        items.truncate(MAX_LISTED_ITEMS);
        Self { judge, best: best.to_owned(), scores, scored, level, telling: items, contrary }
    }
}

/// Model with the highest overall score by a judge.
fn best_of<'e>(entries: &'e [ScoreEntry], judge: &str, baseline: &str) -> Option<&'e str> {
    let own = entries.iter().filter(|entry| entry.judge == judge && entry.baseline == baseline);
    let scored = own.filter_map(|entry| Some((entry.scores.of(&Part::overall())?.value?, entry.model.as_str())));
    scored.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, model)| model)
}
