//! Reads suites with their coverage, the scores of a suite, and single items with all their judgements.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::RunContext;
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::judgement::{Judgement, Status};
use crate::domain::benchmark::panel_scores::{self, PanelScores, panel_scores};
use crate::domain::benchmark::score::{Coverage, Score, Scores};
use crate::domain::time::Timestamp;
use crate::infra::storage::{
    BenchAnswerRow, BenchJudgementRow, BenchSet, BenchSuiteRow, IncludeText, JudgedGroup, Store, StoreError,
};

/// A data file of a suite, with what was done over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSummary {
    /// The file.
    pub suite: BenchSuiteRow,
    /// Rounds of answers, each with how many there are by model.
    pub answered: BTreeMap<u32, BTreeMap<String, u64>>,
    /// Who judged whom, and how that went.
    pub judged: Vec<JudgedGroup>,
}

impl SuiteSummary {
    /// The models that have answers.
    #[must_use]
    pub fn models(&self) -> BTreeSet<&str> {
        self.answered.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// The judges.
    #[must_use]
    pub fn judges(&self) -> BTreeSet<&str> {
        self.judged.iter().map(|group| group.judge.as_str()).filter(|judge| !judge.is_empty()).collect()
    }

    /// Judgements with a verdict, and all.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let count = |ok: &dyn Fn(&JudgedGroup) -> bool| {
            self.judged.iter().filter(|group| ok(group)).map(|group| group.count).sum()
        };
        Coverage { ok: count(&|group| group.status == Status::Ok.as_str()), total: count(&|_| true) }
    }

    /// The latest judgement.
    #[must_use]
    pub fn latest(&self) -> Option<Timestamp> {
        self.judged.iter().map(|group| group.latest).max()
    }
}

/// Every data file, the latest of a suite first.
///
/// # Errors
/// [`StoreError`].
pub async fn suites(store: &Store) -> Result<Vec<SuiteSummary>, StoreError> {
    let mut summaries = Vec::new();
    for suite in store.bench_suites().await? {
        let judged = store.judged(&suite.suite, &suite.version).await?;
        let mut answered: BTreeMap<u32, BTreeMap<String, u64>> = BTreeMap::new();
        for group in store.answered(&suite.suite, &suite.version).await? {
            answered.entry(group.sample).or_default().insert(group.model, group.answers);
        }
        summaries.push(SuiteSummary { suite, answered, judged });
    }
    Ok(summaries)
}

/// The scores of one model by one judge, or by a jury.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelScores {
    /// The model.
    pub model: String,
    /// The judge; several, in alphabetical order and joined with `+`, for the mean of a jury; empty where none is needed.
    pub judge: String,
    /// Who was compared with; empty where nobody was.
    pub baseline: String,
    /// Whether the judge, or one of a jury, is a contestant too, so that it may have favoured itself.
    pub judge_is_contestant: bool,
    /// Judgements by how they ended.
    pub statuses: BTreeMap<&'static str, u64>,
    /// The latest of them, in milliseconds since 1970.
    pub judged_at: i64,
    /// The scores.
    pub scores: Scores,
}

/// The scores of a suite, by judge and model; where there are several judges, also the mean of all of them.
///
/// # Errors
/// [`StoreError`].
pub async fn scores(bench: RunContext<'_>, filter: &Filter) -> Result<Vec<ModelScores>, StoreError> {
    let mut rows = bench.store.bench_judgements(&bench.set(), "", "", IncludeText::No).await?;
    rows.retain(|row| row.variant == bench.suite.variant());
    // Whoever is judged at all is a contestant, shown or not.
    let contestants: BTreeSet<String> = rows.iter().map(|row| row.judgement.model.clone()).collect();
    rows.retain(|row| filter.takes(row));
    Ok(scores_of(bench.suite, &bench.data.items, rows, &contestants))
}

/// Whose scores are wanted; all where a list is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these models.
    pub models: Vec<String>,
    /// By these judges.
    pub judges: Vec<String>,
}

impl Filter {
    pub(super) fn takes(&self, row: &BenchJudgementRow) -> bool {
        let takes = |wanted: &[String], name: &String| wanted.is_empty() || wanted.contains(name);
        takes(&self.models, &row.judgement.model) && takes(&self.judges, &row.judgement.judge_model)
    }
}

/// One score as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreRow {
    /// The suite.
    pub suite: String,
    /// SHA-256 of its data file.
    pub suite_version: String,
    /// How it was asked and judged where that is not the suite's own way.
    pub variant: String,
    /// Which round of answers, from 1.
    pub sample: u32,
    /// The model.
    pub model: String,
    /// The judge, or the jury.
    pub judge: String,
    /// Who was compared with.
    pub baseline: String,
    /// The part of the suite, such as `overall`.
    pub part: String,
    /// The score, with all of its digits; none where nothing could be judged.
    pub score: Option<f64>,
    /// Sample standard deviation of what it is the mean of.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// What could be judged.
    pub judged: u64,
    /// What was to be judged.
    pub total: u64,
    /// Whether less than 95 % could be judged.
    pub flagged: bool,
    /// Whether the judge is a contestant too.
    pub judge_is_contestant: bool,
    /// The latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
}

impl ScoreRow {
    /// The rows of one model by one judge.
    #[must_use]
    pub fn all(bench: RunContext<'_>, scores: &ModelScores) -> Vec<Self> {
        let row = |score: &Score| Self {
            suite: bench.suite.name().to_owned(),
            suite_version: bench.data.sha256.clone(),
            variant: bench.suite.variant().to_owned(),
            sample: bench.sample,
            model: scores.model.clone(),
            judge: scores.judge.clone(),
            baseline: scores.baseline.clone(),
            part: score.part.key(),
            score: score.value,
            std_dev: score.std_dev,
            judged: score.coverage.ok,
            total: score.coverage.total,
            flagged: score.coverage.is_low(),
            judge_is_contestant: scores.judge_is_contestant,
            judged_at: scores.judged_at,
        };
        scores.scores.0.iter().map(row).collect()
    }
}

/// The scores that judgements give, by baseline, model and judge; behind a model's rows the mean of a jury of all judges.
pub(super) fn scores_of(
    suite: &dyn Suite,
    items: &[Item],
    rows: Vec<BenchJudgementRow>,
    contestants: &BTreeSet<String>,
) -> Vec<ModelScores> {
    let mut by_baseline: BTreeMap<String, Vec<Judgement>> = BTreeMap::new();
    for row in rows {
        by_baseline.entry(row.baseline).or_default().push(row.judgement);
    }
    let score = |(baseline, mut judgements): (String, Vec<Judgement>)| {
        // A verdict wins over a failure that came after it.
        judgements.sort_by_key(|judgement| judgement.status == Status::Ok);
        let panel_scores = panel_scores(suite, items, &judgements);
        let scored: Vec<ModelScores> = panel_scores
            .into_iter()
            .map(|standing| ModelScores::of(standing, &baseline, &judgements, contestants))
            .collect();
        scored
    };
    by_baseline.into_iter().flat_map(score).collect()
}

impl ModelScores {
    fn of(standing: PanelScores, baseline: &str, judgements: &[Judgement], contestants: &BTreeSet<String>) -> Self {
        let judges = match standing.bench {
            panel_scores::JudgePanel::Judge(judge) => vec![judge],
            panel_scores::JudgePanel::Jury(judges) => judges,
        };
        let said = |said: &&Judgement| said.model == standing.model && judges.contains(&said.judge_model);
        let mut statuses = BTreeMap::new();
        for judgement in judgements.iter().filter(said) {
            *statuses.entry(judgement.status.as_str()).or_default() += 1;
        }
        let judged_at = judgements.iter().filter(said).map(|judgement| judgement.ts).max().unwrap_or_default();
        Self {
            judge_is_contestant: judges.iter().any(|judge| contestants.contains(judge) || judge == baseline),
            judge: judges.join("+"),
            statuses,
            judged_at,
            model: standing.model,
            baseline: baseline.to_owned(),
            scores: standing.scores,
        }
    }
}

/// One item with everything that was said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemView {
    /// Question, reference, category.
    pub item: Item,
    /// Each model's answers, by model and turn.
    pub answers: Vec<BenchAnswerRow>,
    /// Each judgement with the judge's own words, in the order in which they came.
    pub judgements: Vec<BenchJudgementRow>,
}

/// One item of a data file; none where there is no such item.
///
/// # Errors
/// [`StoreError`].
pub async fn item(store: &Store, set: &BenchSet, id: &str) -> Result<Option<ItemView>, StoreError> {
    let Some(body) = store.bench_item(&set.suite, &set.version, id).await? else { return Ok(None) };
    let item = super::loading::item_of(id, &body)?;
    let answers = store.bench_answers(set, "", id).await?;
    let judgements = store.bench_judgements(set, "", id, IncludeText::Yes).await?;
    Ok(Some(ItemView { item, answers, judgements }))
}
