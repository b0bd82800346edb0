//! Parses stored replies of judges by other rules, without new requests.
//!
//! A `compat` switch that changes parsing leaves the prompts unchanged, so their replies are stored already. A run with the same switches
//! would store the same judgements.

use std::collections::BTreeSet;

use super::RunContext;
use super::judging::{JudgementOf, JudgingPlan, evaluated_model, known};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::item::{Item, ItemSampling};
use crate::domain::benchmark::runs::run_selector::RunSelector;
use crate::domain::benchmark::scores::evaluated_model::{AnswerScope, PendingJudgement};
use crate::domain::benchmark::scores::judgement::JudgeStep;
use crate::domain::benchmark::scores::panel_scores::JudgementFilter;
use crate::infra::llm::query_judge::JudgeReply;
use crate::infra::storage::{BenchFilter, BenchJudgementRow, IncludeText, JudgedGroup, StoreError};

/// Model, judge and baseline of judgements.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Judging {
    judge: String,
    baseline: String,
    model: String,
}

/// Computes the judgements that a run would make from stored replies to the same prompts, of every model by every judge with judgements of
/// it in any variant. Stored judgements are not included.
///
/// # Errors
/// [`StoreError`].
pub async fn reparse(bench: RunContext<'_>, filter: &JudgementFilter) -> Result<Vec<BenchJudgementRow>, StoreError> {
    let set = bench.set();
    let takes = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    let groups = bench.store.judged(&set.suite, &set.version).await?;
    let judgings: BTreeSet<Judging> = groups
        .into_iter()
        .filter(|group| group.sample == set.sample && takes(&filter.models, &group.model))
        .filter(|group| takes(&filter.judges, &group.judge))
        .map(|JudgedGroup { judge, baseline, model, .. }| Judging { judge, baseline, model })
        .collect();
    let mut rows = Vec::new();
    for judging in judgings {
        rows.extend(judging.reparse(bench).await?);
    }
    Ok(rows)
}

/// Counts verdicts imported with options that differ only in `compat` switches, of models and judges without imported verdicts for these
/// options. Imported verdicts are parsed at import, and their prompts are unknown, so they cannot be parsed again here.
///
/// # Errors
/// [`StoreError`].
pub async fn imported_otherwise(bench: RunContext<'_>, filter: &JudgementFilter) -> Result<usize, StoreError> {
    let takes = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    let rows = bench.store.bench_judgements(&bench.set(), BenchFilter::ALL, IncludeText::No).await?;
    let imported = rows.iter().filter(|row| {
        let said = &row.judgement;
        !row.source.is_empty() && takes(&filter.models, &said.model) && takes(&filter.judges, &said.judge_model)
    });
    let (here, elsewhere): (Vec<_>, Vec<_>) = imported.partition(|row| row.variant == bench.suite.variant());
    let who = |row: &BenchJudgementRow| (row.judgement.model.clone(), row.judgement.judge_model.clone());
    let known: BTreeSet<_> = here.into_iter().map(who).collect();
    let asked = without_switches(bench.suite.variant());
    let is_same = |row: &&&BenchJudgementRow| without_switches(&row.variant) == asked && !known.contains(&who(row));
    Ok(elsewhere.iter().filter(is_same).count())
}

/// Parses the options of a variant without its `compat` switches.
fn without_switches(variant: &str) -> SuiteOptions {
    let selector = RunSelector { variant: variant.to_owned(), ..RunSelector::default() };
    SuiteOptions { compat: BTreeSet::new(), ..selector.options() }
}

impl Judging {
    async fn reparse(&self, bench: RunContext<'_>) -> Result<Vec<BenchJudgementRow>, StoreError> {
        let name = |name: &str| Some(name).filter(|name| !name.is_empty()).map(ModelId::new);
        let (model, judge, baseline) = (ModelId::new(&self.model), name(&self.judge), name(&self.baseline));
        let (models, over) = (std::slice::from_ref(&model), AnswerScope::KeptAnswers);
        let plan = JudgingPlan { models, baseline: baseline.as_ref(), retry_failed: false, over };
        let evaluated_model = evaluated_model(bench, plan, &model).await?;
        let mut rows = Vec::new();
        for item in &bench.data.items {
            let open = evaluated_model.open(bench.suite, item, judge.as_ref());
            for PendingJudgement { judging, prompt_sha256, .. } in open.into_iter().filter(|open| !open.done) {
                let sampling = sampling(&judging.step);
                let reply = reply(bench, plan, judge.as_ref(), item, judging.step, &prompt_sha256).await?;
                let Some(judge_reply) = reply else { continue };
                let (model, judge, baseline) = (&model, judge.as_ref(), plan.baseline);
                let (turn, game) = (judging.turn, judging.game);
                let of = JudgementOf { model, judge, baseline, item, turn, game, prompt_sha256 };
                rows.push(of.row(bench, bench.rng.id(bench.clock), judge_reply, sampling));
            }
        }
        // Judgements of empty answers are no replies of a judge.
        let is_reply = |row: &BenchJudgementRow| judge.is_none() || !row.judgement.judge_prompt_sha256.is_empty();
        Ok(if rows.iter().any(is_reply) { rows } else { Vec::new() })
    }
}

fn sampling(step: &JudgeStep) -> ItemSampling {
    match step {
        JudgeStep::Ask(request) => request.sampling,
        JudgeStep::Read(_) | JudgeStep::Failed(_) => ItemSampling::default(),
    }
}

/// Returns the stored reply; `None` if a request would be needed.
async fn reply(
    bench: RunContext<'_>,
    plan: JudgingPlan<'_>,
    judge: Option<&ModelId>,
    item: &Item,
    step: JudgeStep,
    prompt_sha256: &str,
) -> Result<Option<JudgeReply>, StoreError> {
    match (step, judge) {
        (JudgeStep::Read(verdict), _) => Ok(Some(JudgeReply::read(verdict))),
        (JudgeStep::Failed(status), _) => Ok(Some(JudgeReply::failed(status))),
        (JudgeStep::Ask(request), Some(judge)) => known(bench, plan, judge, item, &request, prompt_sha256).await,
        (JudgeStep::Ask(_), None) => Ok(None),
    }
}
