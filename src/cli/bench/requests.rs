//! `langya bench answer`, `judge` and `run`: one resumable run at a time for each suite.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::SuiteFlags;
use super::rows::{outcome_rows, plan_rows};
use super::run::{LimitFlags, Run, print_plans};
use super::session::Session;
use crate::cli::Location;
use crate::cli::bench::model_clients::named_once;
use crate::cli::error::{BadInput, CommandError, CommandResult};
use crate::cli::models::Format;
use crate::cli::progress::BenchBar;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::canaries::retain_canaries;
use crate::domain::benchmark::contestant::PlannedOver;
use crate::domain::benchmark::run_report::{RequestPlan, RunOutcome};
use crate::domain::benchmark::seeded::Seeded;
use crate::domain::benchmark::{JudgeMode, SuiteOptions, participants};
use crate::infra::clock::{Clock as _, SystemClock};
use crate::infra::config::Environment;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::storage::{BenchSet, NewBenchRun, StoreError};
use crate::services::benchmark::answering::AnswerPlan;
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::judging::JudgingPlan;
use crate::services::benchmark::loading::{Loaded, load};
use crate::services::benchmark::run_record::{RunPhase, RunRecord, planned};
use crate::services::benchmark::{RunContext, answering, judging};

/// Flags of `langya bench answer`.
#[derive(Debug, Clone, Args)]
pub(super) struct AnswerOptions {
    #[command(flatten)]
    location: Location,
    #[command(flatten)]
    suite: SuiteFlags,
    /// Models to ask, by id and joined with commas; all of the settings where it is left out
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    models: Vec<String>,
    /// Ask models again what their providers refused
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    limits: LimitFlags,
}

/// Flags of `langya bench judge` and `langya bench run`.
#[derive(Debug, Clone, Args)]
pub(super) struct BenchJudgeOptions {
    #[command(flatten)]
    pub(super) location: Location,
    #[command(flatten)]
    pub(super) suite: SuiteFlags,
    /// Contestants, by id and joined with commas; where it is left out, all that have answers, or for `run` all of the settings
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) models: Vec<String>,
    /// Judge, by id; several joined with commas are a jury
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) judge: Vec<String>,
    /// Baseline model, for suites that compare with one
    #[arg(long, value_name = "ID")]
    pub(super) baseline: Option<String>,
    /// Judge beside this model's first answers instead of the data file's references
    #[arg(long, value_name = "ID")]
    references: Option<String>,
    /// Ask judges again about what they refused, or could not be read on; with `run` also models what their providers refused
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
}

/// What `judge` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phases {
    /// Judges only.
    JudgeTask,
    /// Models, then judges.
    Both,
}

/// `langya bench answer`.
pub(super) async fn answer(options: AnswerOptions, env: &Environment) -> CommandResult<ExitCode> {
    named_once("model", &options.models)?;
    let session = Session::open(&options.location, env).await?;
    let ready = Ready::make(&session, &options.suite, None).await?;
    let models = session.askers.asked(&ready.configured_or(&options.models), &options.limits.budget)?;
    if options.limits.dry_run {
        let plans = answering::plan(ready.bench(), &models, options.retry_failed).await?;
        return print_plans(plan_rows("answer", &plans), options.limits.format);
    }
    let (run, steps) = ready.ask_models(&models, options.retry_failed, &options.limits).await?;
    end(run, steps, options.limits.format).await
}

impl BenchJudgeOptions {
    /// # Errors
    /// References for answers that are still to come.
    pub(super) fn check_references(&self, phases: Phases) -> Result<(), BadInput> {
        if phases == Phases::Both && self.references.is_some() {
            let said = "answers have to be there before they are references: give --references to `langya bench judge`";
            return Err(BadInput(said.to_owned()));
        }
        Ok(())
    }
}

/// `langya bench judge` and `langya bench run`.
pub(super) async fn judge(options: BenchJudgeOptions, phases: Phases, env: &Environment) -> CommandResult<ExitCode> {
    options.check_references(phases)?;
    let session = Session::open(&options.location, env).await?;
    let ready = Ready::make(&session, &options.suite, options.references.clone()).await?;
    let suite_run = SuiteRun::new(ready, &options, phases).await?;
    if options.limits.dry_run {
        let (answers, judgements) = suite_run.plans().await?;
        let rows = [plan_rows("answer", &answers), plan_rows("judge", &judgements)].concat();
        return print_plans(rows, options.limits.format);
    }
    let run = suite_run.ready.begin(&options.limits).await?;
    let asked = suite_run.ask(&run).await;
    session.askers.tell_given_up(suite_run.clients());
    end(run, asked?, options.limits.format).await
}

/// What a step came to.
pub(in crate::cli) type Step = (&'static str, Vec<RunOutcome>);

/// Writes how a run ended.
async fn end_record(
    run: &Run,
    record: RunRecord<'_>,
    asked: Result<Vec<Step>, StoreError>,
) -> Result<Vec<Step>, StoreError> {
    let left = |steps: &Vec<Step>| steps.iter().flat_map(|(_, outcomes)| outcomes).map(RunOutcome::left).sum();
    let ended = record.end(&run.limits, asked.as_ref().map(left)).await;
    let steps = asked?;
    ended?;
    Ok(steps)
}

/// Says how a run ended.
async fn end(run: Run, steps: Vec<Step>, format: Format) -> CommandResult<ExitCode> {
    let rows = steps.iter().flat_map(|(step, outcomes)| outcome_rows(step, outcomes)).collect();
    let outcomes: Vec<RunOutcome> = steps.into_iter().flat_map(|(_, outcomes)| outcomes).collect();
    run.end(rows, &outcomes, format).await
}

/// A run over one round of answers to a suite, before anything is asked.
pub(super) struct SuiteRun<'s> {
    ready: Ready<'s>,
    cast: Cast,
    retry_failed: bool,
    over: PlannedOver,
}

/// The lock of a suite, and what is said where it is taken.
pub(super) struct SuiteLock {
    /// Its name.
    pub(super) name: String,
    /// What is said.
    pub(super) taken: String,
}

impl<'s> SuiteRun<'s> {
    /// Checks who takes part.
    pub(super) async fn new(ready: Ready<'s>, options: &BenchJudgeOptions, phases: Phases) -> CommandResult<Self> {
        let cast = ready.cast(options, phases).await?;
        let over = if phases == Phases::Both { PlannedOver::AllAnswers } else { PlannedOver::KeptAnswers };
        Ok(Self { ready, cast, retry_failed: options.retry_failed, over })
    }

    /// The suite.
    pub(super) fn suite(&self) -> &str {
        self.ready.loaded.suite.name()
    }

    /// Which round of answers.
    pub(super) fn sample(&self) -> u32 {
        self.ready.sample
    }

    pub(super) fn lock(&self) -> SuiteLock {
        self.ready.lock()
    }

    /// Everybody who is asked.
    pub(super) fn clients(&self) -> impl Iterator<Item = &ModelClient> {
        self.cast.answering.iter().chain(&self.cast.judges)
    }

    fn judging(&self) -> JudgingPlan<'_> {
        let Cast { models, baseline, .. } = &self.cast;
        JudgingPlan { models, baseline: baseline.as_ref(), retry_failed: self.retry_failed, over: self.over }
    }

    /// The requests to models, and those to judges.
    pub(super) async fn plans(&self) -> Result<(Vec<RequestPlan>, Vec<RequestPlan>), StoreError> {
        let bench = self.ready.bench();
        let answers = answering::plan(bench, &self.cast.answering, self.retry_failed).await?;
        Ok((answers, judging::plan(bench, &self.cast.judges, self.judging()).await?))
    }

    /// Asks everybody, under the lock.
    pub(super) async fn ask(&self, run: &Run) -> Result<Vec<Step>, StoreError> {
        // Only now: who had the lock before has kept more.
        let (answers, judgements) = self.plans().await?;
        let record = self.ready.record(self.cast.roles(), (&answers, &judgements), run).await?;
        let asked = self.ready.ask(&self.cast, self.judging(), run, &record).await;
        end_record(run, record, asked).await
    }
}

/// A suite that is loaded, before anything is asked.
pub(in crate::cli) struct Ready<'s> {
    session: &'s Session,
    loaded: Loaded,
    sample: u32,
    canaries: bool,
}

/// The models in their roles.
struct Cast {
    models: Vec<ModelId>,
    baseline: Option<ModelId>,
    /// Models that answer first; none if there is only judging.
    answering: Vec<ModelClient>,
    judges: Vec<ModelClient>,
}

impl Cast {
    fn roles(&self) -> Roles {
        Roles {
            models: self.models.iter().map(ToString::to_string).collect(),
            judges: self.judges.iter().map(|judge| judge.id.to_string()).collect(),
            baseline: self.baseline.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// Ids of those who take part, for the row of the run.
#[derive(Default)]
struct Roles {
    models: Vec<String>,
    judges: Vec<String>,
    baseline: String,
}

impl<'s> Ready<'s> {
    pub(super) async fn make(
        session: &'s Session,
        suite: &SuiteFlags,
        references: Option<String>,
    ) -> CommandResult<Self> {
        let options = SuiteOptions { references, ..suite.way.options()? };
        let askers = &session.askers;
        let loaded = load(&session.store, &suite.name, suite.way.data.as_deref(), &options).await;
        let mut loaded = loaded.map_err(|error| match error {
            BenchError::NoAnswers { model, .. } if !askers.all().contains(&ModelId::new(&model)) => {
                CommandError::from(askers.unknown(&ModelId::new(model)))
            }
            error => error.into(),
        })?;
        if let Some(seed) = suite.seed {
            loaded.suite = Box::new(Seeded::new(loaded.suite, seed, suite.way.sample));
        }
        if suite.canaries {
            retain_canaries(&mut loaded.data.items);
        }
        Ok(Self { session, loaded, sample: suite.way.sample, canaries: suite.canaries })
    }

    /// A suite that is loaded already.
    pub(in crate::cli) fn over(session: &'s Session, loaded: Loaded) -> Self {
        Self { session, loaded, sample: 1, canaries: false }
    }

    /// Asks models under the suite's lock.
    pub(in crate::cli) async fn ask_models(
        &self,
        models: &[ModelClient],
        retry_failed: bool,
        flags: &LimitFlags,
    ) -> CommandResult<(Run, Vec<Step>)> {
        let run = self.begin(flags).await?;
        let plans = answering::plan(self.bench(), models, retry_failed).await?;
        let ids = models.iter().map(|model| model.id.to_string()).collect();
        let record = self.record(Roles { models: ids, ..Roles::default() }, (&plans, &[]), &run).await?;
        let work = AnswerPlan { models, retry_failed, limits: &run.limits };
        let asked = self.answer(work, &run, &record).await;
        self.session.askers.tell_given_up(models);
        let steps = end_record(&run, record, asked).await?;
        Ok((run, steps))
    }

    /// How the suite is judged.
    pub(super) fn mode(&self) -> JudgeMode {
        self.loaded.suite.mode()
    }

    fn bench(&self) -> RunContext<'_> {
        self.loaded.bench(&self.session.store, &self.session.askers.rng, self.sample)
    }

    /// The models named, or all of the settings.
    fn configured_or(&self, named: &[String]) -> Vec<ModelId> {
        match named {
            [] => self.session.askers.all(),
            named => named.iter().map(ModelId::new).collect(),
        }
    }

    /// The models in their roles, if these fit the suite.
    async fn cast(&self, options: &BenchJudgeOptions, phases: Phases) -> CommandResult<Cast> {
        let (name, mode) = (self.loaded.suite.name(), self.loaded.suite.mode());
        self.check_roles(options)?;
        let baseline = options.baseline.as_ref().map(ModelId::new);
        let judges: Vec<ModelId> = options.judge.iter().map(ModelId::new).collect();
        let named = |models: &[ModelId]| models.iter().map(ToString::to_string).collect::<Vec<_>>();
        let check = |models: &[String]| {
            let plan =
                participants::Participants { models, judges: &options.judge, baseline: options.baseline.as_deref() };
            plan.check(mode).map_err(|error| BadInput(format!("suite {name}: {error}")))
        };
        check(&options.models)?;
        let models = self.contestants(options, phases, &judges, baseline.as_ref()).await?;
        for judge in check(&named(&models))? {
            eprintln!("note: judge {judge} is a contestant too and may favour itself; the scores are flagged");
        }
        let answering: Vec<ModelId> = match phases {
            Phases::JudgeTask => Vec::new(),
            Phases::Both => models.iter().chain(&baseline).cloned().collect(),
        };
        Ok(Cast {
            answering: self.session.askers.asked(&answering, &options.limits.budget)?,
            judges: self.session.askers.asked(&judges, &options.limits.budget)?,
            models,
            baseline,
        })
    }

    /// Refuses roles that the suite does not have, and who is named twice in one.
    fn check_roles(&self, options: &BenchJudgeOptions) -> Result<(), BadInput> {
        let (name, mode) = (self.loaded.suite.name(), self.loaded.suite.mode());
        if options.baseline.is_some() && mode != JudgeMode::PairwiseBaseline {
            return Err(BadInput(format!("suite {name} compares with nobody: leave --baseline out")));
        }
        if !options.judge.is_empty() && mode == JudgeMode::MultipleChoice {
            return Err(BadInput(format!("suite {name} is read without a judge: leave --judge out")));
        }
        named_once("judge", &options.judge)?;
        named_once("model", &options.models)
    }

    async fn contestants(
        &self,
        options: &BenchJudgeOptions,
        phases: Phases,
        judges: &[ModelId],
        baseline: Option<&ModelId>,
    ) -> CommandResult<Vec<ModelId>> {
        let named: Vec<ModelId> = options.models.iter().map(ModelId::new).collect();
        let answered = self.answered().await?;
        let all = match phases {
            Phases::JudgeTask => {
                self.check_answered(&answered, named.iter().chain(baseline))?;
                if named.is_empty() { answered } else { named }
            }
            Phases::Both if !named.is_empty() => named,
            // A judge is a contestant only where it is named as one.
            Phases::Both => self.configured_or(&[]).into_iter().filter(|model| !judges.contains(model)).collect(),
        };
        let models: Vec<ModelId> = all.into_iter().filter(|model| Some(model) != baseline).collect();
        if models.is_empty() {
            let suite = self.loaded.suite.name();
            return Err(
                BadInput(format!("suite {suite} has no answers to judge: run `langya bench answer {suite}`")).into()
            );
        }
        Ok(models)
    }

    /// Models with answers in this round.
    async fn answered(&self) -> CommandResult<Vec<ModelId>> {
        let BenchSet { suite, version, sample } = self.bench().set();
        let answered = self.session.store.answered(&suite, &version).await?;
        Ok(answered.into_iter().filter(|row| row.sample == sample).map(|row| ModelId::new(row.model)).collect())
    }

    /// Nobody is judged on nothing.
    fn check_answered<'m>(
        &self,
        answered: &[ModelId],
        mut models: impl Iterator<Item = &'m ModelId>,
    ) -> Result<(), BadInput> {
        let suite = self.loaded.suite.name();
        match models.find(|model| !answered.contains(model)) {
            None => Ok(()),
            Some(model) => Err(BadInput(format!(
                "model {model} has no answers to suite {suite}: run `langya bench answer {suite} --models {model}`"
            ))),
        }
    }

    /// Stores that the run begins.
    async fn record(
        &self,
        roles: Roles,
        (answers, judgements): (&[RequestPlan], &[RequestPlan]),
        run: &Run,
    ) -> Result<RunRecord<'_>, StoreError> {
        let BenchSet { suite, version, sample } = self.bench().set();
        let all = roles.models.iter().chain(&roles.judges).chain([&roles.baseline]);
        let manifest = self.session.askers.manifest(&self.loaded, all, self.canaries);
        let Roles { models, judges, baseline } = roles;
        let (answers, cost) = planned(answers);
        let (judgements, judging_cost) = planned(judgements);
        let begun = NewBenchRun {
            id: self.session.askers.rng.id(&SystemClock),
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
        };
        RunRecord::begin(&self.session.store, &SystemClock, begun, run.limits.budget.spent()).await
    }

    /// Asks models, and then judges.
    async fn ask(
        &self,
        cast: &Cast,
        plan: JudgingPlan<'_>,
        run: &Run,
        record: &RunRecord<'_>,
    ) -> Result<Vec<Step>, StoreError> {
        let mut steps = match cast.answering.as_slice() {
            [] => Vec::new(),
            models => {
                let work = AnswerPlan { models, retry_failed: plan.retry_failed, limits: &run.limits };
                self.answer(work, run, record).await?
            }
        };
        let bar = BenchBar::new("judging");
        let show = |progress| {
            bar.show(progress, run.limits.budget.spent());
            record.note(RunPhase::Judging, progress);
        };
        let judging = judging::judge(self.bench(), &cast.judges, plan, &run.limits, &show);
        let outcomes = run.until_lock_is_lost(record.follow(&run.limits.budget, judging)).await?;
        record.note_failures(&outcomes);
        steps.push(("judge", outcomes));
        Ok(steps)
    }

    /// Asks models.
    async fn answer(&self, work: AnswerPlan<'_>, run: &Run, record: &RunRecord<'_>) -> Result<Vec<Step>, StoreError> {
        let bar = BenchBar::new("answering");
        let show = |progress| {
            bar.show(progress, run.limits.budget.spent());
            record.note(RunPhase::Answering, progress);
        };
        let answering = answering::answer(self.bench(), work, &show);
        let outcomes = run.until_lock_is_lost(record.follow(&run.limits.budget, answering)).await?;
        record.note_failures(&outcomes);
        Ok(vec![("answer", outcomes)])
    }

    /// Takes the suite's lock and listens to signals.
    async fn begin(&self, flags: &LimitFlags) -> CommandResult<Run> {
        let SuiteLock { name, taken } = self.lock();
        Run::begin(&self.session.store, &name, taken, Arc::new(flags.budget.limits()?)).await
    }

    fn lock(&self) -> SuiteLock {
        let suite = self.loaded.suite.name();
        let taken = format!("another langya runs suite {suite} on this database: wait for its end, or stop it");
        SuiteLock { name: format!("bench-{suite}"), taken }
    }
}
