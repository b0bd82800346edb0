//! Run over one round of answers to a suite: checked and planned before the first request, then executed under the suite's lock.

use std::sync::Arc;

use super::batches::{BatchOptions, SuiteBatches, check_servers};
use super::error::BenchError;
use super::loading::{LoadedSuite, load};
use super::locked_run::LockedRun;
use super::model_clients::ModelClients;
use super::run_error::RunError;
use super::run_manifests::manifests_of;
use super::run_record::{RunPhase, RunRecord, planned};
use super::run_roles::{Phases, RoleAssignment, RoleIds, RunRoles};
use super::{RunContext, RunProgress, answering, judging};
use crate::benchmark::answering::AnswerPlan;
use crate::benchmark::judging::JudgingPlan;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::canaries::retain_canaries;
use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_manifest::RunManifest;
use crate::domain::benchmark::runs::run_plan::PlannedRoles;
use crate::domain::benchmark::runs::run_report::{RequestPlan, RunOutcome};
use crate::domain::benchmark::scores::evaluated_model::AnswerScope;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::suites::seeded_suite::Seeded;
use crate::domain::benchmark::{JudgeMode, SuiteOptions};
use crate::domain::judging::budget::{Budget, Spent};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::storage::{AnswerRound, NewBenchRun, PlanStep, Store, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};

/// Dependencies of runs.
pub struct RunSession {
    /// The database.
    pub store: Store,
    /// The models.
    pub clients: ModelClients,
    /// Batch options of requests.
    pub batches: BatchOptions,
}

/// Selection of a suite, with its options.
#[derive(Debug, Clone)]
pub struct SuiteChoice {
    /// Name of the suite.
    pub name: String,
    /// Options for answering and judging.
    pub options: SuiteOptions,
    /// Prefix of the data file's SHA-256; the latest file if `None`.
    pub data: Option<String>,
    /// Round of answers, from 1.
    pub sample: u32,
    /// Whether to use only the canary items, which are the same in every run.
    pub canaries: bool,
    /// Seed of the first round's requests.
    pub seed: Option<u64>,
}

/// Participants and limits of a run.
#[derive(Debug, Clone)]
pub struct Participation {
    /// Participants by role.
    pub roles: PlannedRoles,
    /// Budget.
    pub budget: Budget,
    /// Whether to repeat requests whose replies were refusals or unparsable.
    pub retry_failed: bool,
}

/// Name of a step and its outcomes.
pub type StepOutcome = (&'static str, Vec<RunOutcome>);

/// Callback for the progress of a run, with its spending so far.
pub type OnRunProgress<'p> = &'p (dyn Fn(RunPhase, RunProgress, Spent) + Sync);

/// Checked run over one round of answers, before the first request.
pub struct SuiteRun<'s> {
    ready: ReadySuite<'s>,
    roles: RunRoles,
    retry_failed: bool,
    over: AnswerScope,
    plan: Option<PlanStep>,
}

impl<'s> SuiteRun<'s> {
    /// Checks the participants and creates the run.
    ///
    /// # Errors
    /// [`RunError`] if the participants do not fit the suite, or cannot be queried.
    pub async fn new(ready: ReadySuite<'s>, who: &Participation, phases: Phases) -> Result<Self, RunError> {
        let ReadySuite { session, loaded, sample, batches, .. } = &ready;
        let (store, clients) = (&session.store, &session.clients);
        let assignment = RoleAssignment { store, clients, batches, loaded, sample: *sample, phases };
        let roles = assignment.assign(&who.roles, who.budget).await?;
        let over = if phases == Phases::Both { AnswerScope::AllAnswers } else { AnswerScope::KeptAnswers };
        Ok(Self { roles, retry_failed: who.retry_failed, over, plan: None, ready })
    }

    /// Marks the run as a step of a stored plan.
    #[must_use]
    pub fn as_step_of(self, plan: PlanStep) -> Self {
        Self { plan: Some(plan), ..self }
    }

    /// Returns the name of the suite.
    #[must_use]
    pub fn suite(&self) -> &str {
        self.ready.loaded.suite.name()
    }

    /// Returns the round of answers.
    #[must_use]
    pub fn sample(&self) -> u32 {
        self.ready.sample
    }

    /// Returns judges that also judge their own answers.
    #[must_use]
    pub fn partial_judges(&self) -> &[String] {
        &self.roles.partial
    }

    /// Finds models and judges whose settings differ from earlier runs: their stored replies would be mixed with new ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn changed_settings(&self) -> Result<Vec<MixedSettings>, StoreError> {
        let RoleIds { models, judges, baseline } = self.roles.ids();
        self.ready.changed_settings(models.iter().chain(&judges).chain([&baseline])).await
    }

    /// Iterates over the clients of all models and judges.
    pub fn clients(&self) -> impl Iterator<Item = &ModelClient> {
        self.roles.answering.iter().chain(&self.roles.judges)
    }

    /// Acquires the suite's lock.
    ///
    /// # Errors
    /// [`RunError::SuiteTaken`] if another run holds it, or [`RunError::NoBatches`].
    pub async fn begin(&self, limits: Arc<RunLimits>) -> Result<LockedRun, RunError> {
        check_servers(self.clients()).await?;
        self.ready.begin(limits).await
    }

    fn judging(&self) -> JudgingPlan<'_> {
        let RunRoles { models, baseline, .. } = &self.roles;
        JudgingPlan { models, baseline: baseline.as_ref(), retry_failed: self.retry_failed, over: self.over }
    }

    /// Plans the requests to models and to judges.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn plans(&self) -> Result<(Vec<RequestPlan>, Vec<RequestPlan>), StoreError> {
        let bench = self.ready.bench();
        let answers = answering::plan(bench, &self.roles.answering, self.retry_failed).await?;
        Ok((answers, judging::plan(bench, &self.roles.judges, self.judging()).await?))
    }

    /// Queries models and judges, under the lock.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn ask(&self, run: &LockedRun, show: OnRunProgress<'_>) -> Result<Vec<StepOutcome>, StoreError> {
        // Loaded under the lock: its previous holder may have stored more.
        self.ready.batches.load().await?;
        let (answers, judgements) = self.plans().await?;
        let begun = self.ready.new_run_row(self.roles.ids(), (&answers, &judgements), self.plan.clone());
        let record =
            RunRecord::begin(&self.ready.session.store, &SystemClock, begun, run.limits.budget.spent()).await?;
        let asked = self.ready.ask(&self.roles, self.judging(), run, &record, show).await;
        end_record(run, record, asked).await
    }
}

/// Stores the end of a run.
async fn end_record(
    run: &LockedRun,
    record: RunRecord<'_>,
    asked: Result<Vec<StepOutcome>, StoreError>,
) -> Result<Vec<StepOutcome>, StoreError> {
    let left = |steps: &Vec<StepOutcome>| steps.iter().flat_map(|(_, outcomes)| outcomes).map(RunOutcome::left).sum();
    let ended = record.end(&run.limits, asked.as_ref().map(left)).await;
    let steps = asked?;
    ended?;
    Ok(steps)
}

/// Loaded suite, before the first request.
pub struct ReadySuite<'s> {
    session: &'s RunSession,
    loaded: LoadedSuite,
    sample: u32,
    canaries: bool,
    batches: SuiteBatches,
}

impl<'s> ReadySuite<'s> {
    /// Loads a suite.
    ///
    /// # Errors
    /// [`RunError`] for an unknown suite, or an unknown reference model.
    pub async fn load(session: &'s RunSession, choice: &SuiteChoice) -> Result<Self, RunError> {
        let clients = &session.clients;
        let loaded = load(&session.store, &choice.name, choice.data.as_deref(), &choice.options).await;
        let mut loaded = loaded.map_err(|error| match error {
            BenchError::NoAnswers { model, .. } if !clients.all().contains(&ModelId::new(&model)) => {
                clients.unknown(&ModelId::new(model))
            }
            error => error.into(),
        })?;
        if let Some(seed) = choice.seed {
            loaded.suite = Box::new(Seeded::new(loaded.suite, seed, choice.sample));
        }
        if choice.canaries {
            retain_canaries(&mut loaded.data.items);
        }
        Ok(Self { sample: choice.sample, canaries: choice.canaries, ..Self::over(session, loaded) })
    }

    /// Wraps a suite that is loaded already.
    #[must_use]
    pub fn over(session: &'s RunSession, loaded: LoadedSuite) -> Self {
        let RunSession { store, clients, batches } = session;
        let suite = SuiteId::new(loaded.suite.name());
        let batches = SuiteBatches::new(store, &clients.rng, suite, clients.bench_settings(), batches);
        Self { session, loaded, sample: 1, canaries: false, batches }
    }

    /// Returns clients of models for this suite.
    ///
    /// # Errors
    /// As [`ModelClients::asked`], or [`RunError::NoBatches`].
    pub fn asked(&self, ids: &[ModelId], budget: Budget) -> Result<Vec<ModelClient>, RunError> {
        self.batches.attach(self.session.clients.asked(ids, budget)?)
    }

    /// Returns the judging mode of the suite.
    #[must_use]
    pub fn mode(&self) -> JudgeMode {
        self.loaded.suite.mode()
    }

    /// Returns the context of a run over the suite.
    #[must_use]
    pub fn bench(&self) -> RunContext<'_> {
        self.loaded.bench(&self.session.store, &self.session.clients.rng, self.sample)
    }

    /// Finds the given participants whose settings differ from earlier runs over this round of answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn changed_settings(&self, ids: impl Iterator<Item = &String>) -> Result<Vec<MixedSettings>, StoreError> {
        let now = self.session.clients.manifest(&self.loaded, ids, self.canaries);
        let earlier = manifests_of(&self.session.store, &self.bench().set()).await?;
        let mut mixed = MixedSettings::among(earlier.iter().chain([&now]));
        mixed.retain(|mixed| now.participants.contains_key(&mixed.participant));
        Ok(mixed)
    }

    /// Acquires the suite's lock.
    ///
    /// # Errors
    /// [`RunError::SuiteTaken`] if another run holds it.
    pub async fn begin(&self, limits: Arc<RunLimits>) -> Result<LockedRun, RunError> {
        let suite = self.loaded.suite.name();
        let run = LockedRun::begin(&self.session.store, &format!("bench-{suite}"), limits).await?;
        run.ok_or_else(|| RunError::SuiteTaken { suite: suite.to_owned() })
    }

    /// Queries models without judges, under the lock.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn ask_models(
        &self,
        (models, retry_failed): (&[ModelClient], bool),
        run: &LockedRun,
        show: OnRunProgress<'_>,
    ) -> Result<Vec<StepOutcome>, StoreError> {
        self.batches.load().await?;
        let plans = answering::plan(self.bench(), models, retry_failed).await?;
        let ids = models.iter().map(|model| model.id.to_string()).collect();
        let begun = self.new_run_row(RoleIds { models: ids, ..RoleIds::default() }, (&plans, &[]), None);
        let record = RunRecord::begin(&self.session.store, &SystemClock, begun, run.limits.budget.spent()).await?;
        let work = AnswerPlan { models, retry_failed, limits: &run.limits };
        let asked = self.answer(work, run, &record, show).await;
        end_record(run, record, asked).await
    }

    /// Creates the database row of a new run.
    fn new_run_row(
        &self,
        roles: RoleIds,
        (answers, judgements): (&[RequestPlan], &[RequestPlan]),
        plan: Option<PlanStep>,
    ) -> NewBenchRun {
        let AnswerRound { suite, version, sample } = self.bench().set();
        let all = roles.models.iter().chain(&roles.judges).chain([&roles.baseline]);
        let manifest = self.session.clients.manifest(&self.loaded, all, self.canaries);
        let manifest = RunManifest { batch: Some(self.session.batches.sends), ..manifest };
        let RoleIds { models, judges, baseline } = roles;
        let (answers, cost) = planned(answers);
        let (judgements, judging_cost) = planned(judgements);
        NewBenchRun {
            id: self.session.clients.rng.id(&SystemClock),
            suite: suite.to_string(),
            expected_cost: cost.zip(judging_cost).map(|(answering, judging)| answering + judging),
            started_at: SystemClock.now(),
            version,
            sample,
            models,
            judges,
            baseline,
            answers,
            judgements,
            manifest,
            plan,
        }
    }

    /// Queries models, then judges.
    async fn ask(
        &self,
        roles: &RunRoles,
        plan: JudgingPlan<'_>,
        run: &LockedRun,
        record: &RunRecord<'_>,
        show: OnRunProgress<'_>,
    ) -> Result<Vec<StepOutcome>, StoreError> {
        let mut steps = match roles.answering.as_slice() {
            [] => Vec::new(),
            models => {
                let work = AnswerPlan { models, retry_failed: plan.retry_failed, limits: &run.limits };
                self.answer(work, run, record, show).await?
            }
        };
        let note = |progress| {
            show(RunPhase::Judging, progress, run.limits.budget.spent());
            record.note(RunPhase::Judging, progress);
        };
        let judging = judging::judge(self.bench(), &roles.judges, plan, &run.limits, &note);
        let outcomes = run.until_lock_is_lost(record.follow(&run.limits.budget, judging)).await?;
        self.batches.mark_all_stored().await?;
        record.note_failures(&outcomes);
        steps.push(("judge", outcomes));
        Ok(steps)
    }

    /// Queries models.
    async fn answer(
        &self,
        work: AnswerPlan<'_>,
        run: &LockedRun,
        record: &RunRecord<'_>,
        show: OnRunProgress<'_>,
    ) -> Result<Vec<StepOutcome>, StoreError> {
        let note = |progress| {
            show(RunPhase::Answering, progress, run.limits.budget.spent());
            record.note(RunPhase::Answering, progress);
        };
        let answering = answering::answer(self.bench(), work, &note);
        let outcomes = run.until_lock_is_lost(record.follow(&run.limits.budget, answering)).await?;
        self.batches.mark_all_stored().await?;
        record.note_failures(&outcomes);
        Ok(vec![("answer", outcomes)])
    }
}
