//! Comparison of two runs of a suite by item: changes of scores and answers, and whether a provider changed a model whose settings stayed
//! the same.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::super::Suite;
use super::super::item::Item;
use super::super::record::{BenchAnswerRow, BenchRunRow, ScoredJudgement};
use super::super::runs::canaries::canaries;
use super::super::runs::run_manifest::{RunChange, RunManifest};
use super::super::scores::judgement::Judgement;
use super::item_scores::ItemScores;
use crate::sha256::sha256;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::paired::{PairedDifference, holm, paired_difference};
use crate::stats::{real, real_len};

/// Significance level for drift: a smaller adjusted p value is drift.
const DRIFT_SIGNIFICANCE: f64 = 0.01;

/// Results of a run by model and item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResults {
    /// Mean scores over the run's judges.
    pub scores: BTreeMap<(String, String), f64>,
    /// Fingerprints of the answers of all turns.
    pub answers: BTreeMap<(String, String), AnswerFingerprint>,
}

impl RunResults {
    /// Computes the mean score of each item over the judges, and the fingerprints of the answers.
    #[must_use]
    pub fn new(suite: &dyn Suite, items: &[Item], judged: &[ScoredJudgement], answers: Vec<BenchAnswerRow>) -> Self {
        let mut by_judge: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
        for row in judged {
            by_judge.entry(&row.judgement.judge_model).or_default().push(&row.judgement);
        }
        let scores = by_judge.values().map(|own| ItemScores::new(suite, items, own)).filter(ItemScores::is_scored);
        let scores = ItemScores::panel_mean(&scores.collect::<Vec<_>>());
        let keyed = |(item, model, score): (&str, &str, f64)| ((model.to_owned(), item.to_owned()), score);
        Self { scores: scores.scores().map(keyed).collect(), answers: answer_fingerprints(answers) }
    }
}

/// Computes the fingerprints of the answers to each item; of several answers to one question the latest is used.
fn answer_fingerprints(mut answers: Vec<BenchAnswerRow>) -> BTreeMap<(String, String), AnswerFingerprint> {
    answers.sort_by_key(|answer| (answer.turn, answer.created_at.0));
    let mut texts: BTreeMap<(String, String), BTreeMap<u32, String>> = BTreeMap::new();
    for answer in answers {
        texts.entry((answer.model, answer.item)).or_default().insert(answer.turn, answer.text);
    }
    let print = |turns: BTreeMap<u32, String>| {
        let characters = turns.values().map(|text| text.chars().count()).sum::<usize>();
        let all: Vec<String> = turns.iter().map(|(turn, text)| format!("{turn} {}", sha256(text.as_bytes()))).collect();
        AnswerFingerprint {
            sha256: sha256(all.join("\n").as_bytes()),
            characters: characters.try_into().unwrap_or(u64::MAX),
        }
    };
    texts.into_iter().map(|(key, turns)| (key, print(turns))).collect()
}

/// Fingerprint of an item's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerFingerprint {
    /// SHA-256 of the texts.
    pub sha256: String,
    /// Number of characters.
    pub characters: u64,
}

/// Comparison of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    /// Differences between the runs' settings.
    pub changes: Vec<RunChange>,
    /// Models of both runs.
    pub models: Vec<ModelAcrossRuns>,
    /// Every item of a model that both runs have, sorted by descending change of the score.
    pub items: Vec<ItemChange>,
}

/// Changes of a model between two runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelAcrossRuns {
    /// Id of the model.
    pub model: String,
    /// Number of items with a score in both runs.
    pub items: u64,
    /// Number of these items with a higher score in the second run.
    pub higher: u64,
    /// Number of these items with a lower score in the second run.
    pub lower: u64,
    /// Mean of the second run's score minus the first's, with equal item weights; null for fewer than two items.
    pub difference: Option<PairedDifference>,
    /// Number of items with answers in both runs.
    pub answered: u64,
    /// Number of these items with identical answers.
    pub same_answers: u64,
    /// Drift test on the canaries; null if the model's settings changed or are unknown, so that differences are expected.
    pub canaries: Option<CanaryDriftTest>,
}

/// Drift test of a model on the canaries, with the same settings in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CanaryDriftTest {
    /// Number of canaries with answers or scores in both runs.
    pub items: u64,
    /// Difference of the scores.
    pub score: Option<PairedDifference>,
    /// Difference of the natural logarithms of the answers' lengths.
    pub length: Option<PairedDifference>,
    /// Smaller p value of both, adjusted for both and for all models (Holm); null without any.
    pub adjusted_p: Option<f64>,
    /// Whether the p value is significant: the provider has changed the model without a change of its settings here.
    pub drift: bool,
}

/// Changes of an item of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemChange {
    /// Id of the item.
    pub item: String,
    /// Id of the model.
    pub model: String,
    /// Score in the first run.
    pub before: Option<f64>,
    /// Score in the second run.
    pub after: Option<f64>,
    /// Whether the answers are identical; null if a run has none.
    pub same_answer: Option<bool>,
}

impl ItemChange {
    /// Returns the change of the score.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }
}

impl RunComparison {
    /// Compares two runs of one suite, without the items for which only one has scores or answers.
    #[must_use]
    pub fn of_runs([before, after]: [&BenchRunRow; 2], [first, second]: [&RunResults; 2]) -> Self {
        let mut compared = Self::new([&before.run.manifest, &after.run.manifest], first, second);
        compared.items.retain(|item| item.difference().is_some() || item.same_answer.is_some());
        compared.changes.splice(0..0, before.run.changes(&after.run));
        compared
    }

    /// Compares the results of two runs of the same suite.
    #[must_use]
    pub fn new(manifests: [&RunManifest; 2], before: &RunResults, after: &RunResults) -> Self {
        let keys = |run: &RunResults| run.scores.keys().chain(run.answers.keys()).cloned().collect::<BTreeSet<_>>();
        let both: Vec<(String, String)> = keys(before).intersection(&keys(after)).cloned().collect();
        let mut items: Vec<ItemChange> = both.iter().map(|key| item(key, before, after)).collect();
        let ids = both.iter().map(|(_, item)| item.as_str()).collect::<BTreeSet<_>>();
        let fixed: BTreeSet<&str> = canaries(ids).into_iter().collect();
        let models: BTreeSet<&String> = both.iter().map(|(model, _)| model).collect();
        let mut models: Vec<ModelAcrossRuns> = models
            .into_iter()
            .map(|model| {
                let own: Vec<&ItemChange> = items.iter().filter(|item| item.model == *model).collect();
                let is_same = manifests[0].has_same_settings(manifests[1], model);
                let found = || canary_finding(&own, &fixed, before, after);
                ModelAcrossRuns { canaries: is_same.then(found), ..model_change(model, &own) }
            })
            .collect();
        adjust_canary_tests(&mut models);
        items.sort_by(|one, other| change(other).total_cmp(&change(one)));
        Self { changes: manifests[0].changes(manifests[1]), models, items }
    }
}

fn item(key: &(String, String), before: &RunResults, after: &RunResults) -> ItemChange {
    let answers = before.answers.get(key).zip(after.answers.get(key));
    ItemChange {
        model: key.0.clone(),
        item: key.1.clone(),
        before: before.scores.get(key).copied(),
        after: after.scores.get(key).copied(),
        same_answer: answers.map(|(one, other)| one.sha256 == other.sha256),
    }
}

/// Returns the absolute change of the score as a sort key; an unknown one is the smallest.
fn change(item: &ItemChange) -> f64 {
    item.difference().map_or(-1.0, f64::abs)
}

fn model_change(model: &str, items: &[&ItemChange]) -> ModelAcrossRuns {
    let differences: Vec<f64> = items.iter().filter_map(|item| item.difference()).collect();
    let count = |holds: &dyn Fn(&ItemChange) -> bool| items.iter().fold(0, |sum, item| sum + u64::from(holds(item)));
    ModelAcrossRuns {
        model: model.to_owned(),
        items: count(&|item| item.difference().is_some()),
        higher: count(&|item| item.difference().is_some_and(|difference| difference > 0.0)),
        lower: count(&|item| item.difference().is_some_and(|difference| difference < 0.0)),
        difference: paired_difference(&differences, ConfidenceLevel::default()).ok(),
        answered: count(&|item| item.same_answer.is_some()),
        same_answers: count(&|item| item.same_answer == Some(true)),
        canaries: None,
    }
}

fn canary_finding(
    items: &[&ItemChange],
    fixed: &BTreeSet<&str>,
    before: &RunResults,
    after: &RunResults,
) -> CanaryDriftTest {
    let own: Vec<&&ItemChange> = items.iter().filter(|item| fixed.contains(item.item.as_str())).collect();
    let level = ConfidenceLevel::default();
    let scores: Vec<f64> = own.iter().filter_map(|item| item.difference()).collect();
    let length = |run: &RunResults, item: &ItemChange| {
        let print = run.answers.get(&(item.model.clone(), item.item.clone()))?;
        Some((1.0 + real(print.characters)).ln())
    };
    let lengths: Vec<f64> = own.iter().filter_map(|item| Some(length(after, item)? - length(before, item)?)).collect();
    CanaryDriftTest {
        items: own.len().try_into().unwrap_or(u64::MAX),
        score: paired_difference(&scores, level).ok(),
        length: paired_difference(&lengths, level).ok(),
        adjusted_p: None,
        drift: false,
    }
}

/// Adjusts the p values of all canary tests and determines which are drift.
fn adjust_canary_tests(models: &mut [ModelAcrossRuns]) {
    let tests = |model: &ModelAcrossRuns| {
        let found = model.canaries.iter();
        found.flat_map(|found| [found.score, found.length]).flatten().map(|test| test.p).collect::<Vec<f64>>()
    };
    let own: Vec<usize> = models.iter().map(|model| tests(model).len()).collect();
    let adjusted = holm(&models.iter().flat_map(tests).collect::<Vec<f64>>());
    let mut start = 0;
    for (model, number) in models.iter_mut().zip(own) {
        let least = adjusted[start..start + number].iter().copied().reduce(f64::min);
        start += number;
        if let Some(found) = &mut model.canaries {
            found.adjusted_p = least;
            found.drift = least.is_some_and(|p| p < DRIFT_SIGNIFICANCE);
        }
    }
}

impl ModelAcrossRuns {
    /// Returns the share of identical answers; `None` without any.
    #[must_use]
    pub fn same_share(&self) -> Option<f64> {
        let answered = usize::try_from(self.answered).ok().filter(|answered| *answered > 0)?;
        Some(real(self.same_answers) / real_len(answered))
    }
}

/// Two runs with their comparison.
#[derive(Debug, Clone)]
pub struct ComparedRuns {
    /// First run.
    pub before: BenchRunRow,
    /// Second run.
    pub after: BenchRunRow,
    /// Comparison of the runs.
    pub comparison: RunComparison,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::runs::run_manifest::ParticipantSettings;

    const ITEMS: u32 = 40;

    fn manifest(hash: &str) -> RunManifest {
        let settings = ParticipantSettings { settings_sha256: hash.to_owned(), ..ParticipantSettings::default() };
        let participants = ["steady", "changed"].map(|model| (model.to_owned(), settings.clone()));
        RunManifest { participants: participants.into(), ..RunManifest::default() }
    }

    /// Results of two models; the scores and lengths of one differ by this much.
    fn results(score: f64, length: u64, noise: u32) -> RunResults {
        let mut results = RunResults::default();
        for item in 0..ITEMS {
            for (model, score, length) in [("steady", 0.0, 0), ("changed", score, length)] {
                let key = (model.to_owned(), format!("q{item}"));
                // Averages out over all items.
                let varied = f64::from((item * 7 + noise * (item % 5)) % 5);
                results.scores.insert(key.clone(), 5.0 + varied + score);
                let characters = 200 + u64::from((item * 13 + noise) % 17) + length;
                results
                    .answers
                    .insert(key, AnswerFingerprint { sha256: format!("{item} {score} {noise}"), characters });
            }
        }
        results
    }

    fn compared(settings: &str, after: &RunResults) -> RunComparison {
        RunComparison::new([&manifest("00"), &manifest(settings)], &results(0.0, 0, 0), after)
    }

    fn of<'c>(compared: &'c RunComparison, model: &str) -> &'c ModelAcrossRuns {
        compared.models.iter().find(|row| row.model == model).unwrap()
    }

    #[test]
    fn runs_are_compared_item_by_item() {
        let same = compared("00", &results(0.0, 0, 0));
        assert_eq!((same.changes.len(), same.items.len()), (0, 2 * ITEMS as usize));
        let steady = of(&same, "steady");
        assert_eq!((steady.items, steady.higher, steady.lower, steady.same_answers), (40, 0, 0, 40));
        assert_eq!(steady.same_share(), Some(1.0));
        let mut after = results(0.0, 0, 0);
        let key = ("steady".to_owned(), "q3".to_owned());
        after.scores.insert(key.clone(), 1.0);
        after.answers.remove(&key);
        after.scores.remove(&("steady".to_owned(), "q4".to_owned()));
        let other = compared("00", &after);
        assert_eq!(
            (other.items[0].item.as_str(), other.items[0].same_answer),
            ("q3", None),
            "the largest change first"
        );
        let steady = of(&other, "steady");
        assert_eq!((steady.items, steady.lower, steady.answered), (39, 1, 39));
    }

    #[test]
    fn a_model_that_changed_behind_the_same_settings_drifts() {
        for after in [results(-2.0, 0, 1), results(0.0, 150, 1)] {
            let found = compared("00", &after);
            assert!(of(&found, "changed").canaries.as_ref().unwrap().drift, "{found:?}");
            let steady = of(&found, "steady").canaries.as_ref().unwrap();
            assert!(!steady.drift && steady.adjusted_p.is_some() && steady.items == 20, "{steady:?}");
        }
    }

    #[test]
    fn a_model_with_other_settings_is_no_drift() {
        let found = compared("01", &results(-2.0, 0, 1));
        assert_eq!(of(&found, "changed").canaries, None);
        assert_eq!(found.changes.len(), 2);
    }
}
