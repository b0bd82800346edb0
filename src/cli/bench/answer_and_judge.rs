//! `langya bench answer`, `judge` and `run`: one resumable run at a time for each suite.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::batches::{BatchFlag, print_open_batches};
use super::{SuiteFlags, session};
use crate::Location;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_plan::PlannedRoles;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::model_run::clients::print_given_up;
use crate::model_run::rows::{failed_if_unreadable, outcome_rows, plan_rows};
use crate::model_run::{LimitFlags, PhaseBar, end, print_plans};
use crate::output::output_format::OutputFormat;
use crate::services::benchmark::answering;
use crate::services::benchmark::batches::check_servers;
use crate::services::benchmark::locked_run::LockedRun;
use crate::services::benchmark::run_error::RunRole;
use crate::services::benchmark::run_roles::{Phases, named_once};
use crate::services::benchmark::suite_run::{Participation, ReadySuite, StepOutcome, SuiteRun};

/// Flags of `langya bench answer`.
#[derive(Debug, Clone, Args)]
pub(super) struct AnswerOptions {
    #[command(flatten)]
    location: Location,
    #[command(flatten)]
    suite: SuiteFlags,
    /// Models to ask: comma-separated ids [default: all models in the settings]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    models: Vec<String>,
    /// Repeat requests that providers refused
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    batch: BatchFlag,
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
    /// Models to evaluate: comma-separated ids [default: all models with answers; for `run`, all models in the settings]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) models: Vec<String>,
    /// Judge, by id; several joined with commas are a panel
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) judge: Vec<String>,
    /// Baseline model, for suites that compare with one
    #[arg(long, value_name = "ID")]
    pub(super) baseline: Option<String>,
    /// Use this model's round-1 answers as references instead of those in the data file
    #[arg(long, value_name = "ID")]
    references: Option<String>,
    /// Repeat judgements that were refused or could not be parsed; with `run`, also answers that providers refused
    #[arg(long)]
    pub(super) retry_failed: bool,
    #[command(flatten)]
    pub(super) batch: BatchFlag,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
}

/// `langya bench answer`.
pub(super) async fn answer(options: AnswerOptions, env: &Environment) -> CommandResult<ExitCode> {
    named_once(RunRole::Model, &options.models)?;
    let bar = Arc::new(PhaseBar::default());
    let session = options.batch.session(session::open(&options.location, &options.limits, env).await?, &bar);
    let ready = ReadySuite::load(&session, &options.suite.choice(None)?).await?;
    let ids = match options.models.as_slice() {
        [] => session.clients.all(),
        named => named.iter().map(ModelId::new).collect(),
    };
    let models = ready.asked(&ids, options.limits.kept(&options.limits.budget))?;
    let suite = ready.bench().suite.name();
    let names: Vec<String> = models.iter().map(|model| model.id.to_string()).collect();
    print_changed_settings(&ready.changed_settings(names.iter()).await?);
    if options.limits.dry_run {
        let plans = answering::plan(ready.bench(), &models, options.retry_failed).await?;
        options.batch.print_plan_legend();
        print_open_batches(&session, [suite].into_iter()).await?;
        return print_plans(plan_rows("answer", &plans), options.limits.format);
    }
    check_servers(models.iter()).await?;
    let run = ready.begin(Arc::new(options.batch.limits(&options.limits.budget)?)).await?;
    let show = |phase, progress, spent| bar.show(phase, progress, spent);
    let steps = ready.ask_models((&models, options.retry_failed), &run, &show).await;
    bar.clear();
    print_given_up(&session.clients, &models);
    print_open_batches(&session, [suite].into_iter()).await?;
    end_steps(run, steps?, options.limits.format).await
}

impl BenchJudgeOptions {
    /// # Errors
    /// Reference answers for a run that also answers.
    pub(super) fn check_references(&self, phases: Phases) -> Result<(), BadInput> {
        if phases == Phases::Both && self.references.is_some() {
            let said = "reference answers must exist before the run: collect them first, then pass --references to `langya bench judge`";
            return Err(BadInput(said.to_owned()));
        }
        Ok(())
    }

    fn participation(&self) -> Participation {
        let (models, judges, baseline) = (self.models.clone(), self.judge.clone(), self.baseline.clone());
        let roles = PlannedRoles { models, judges, baseline };
        Participation { roles, budget: self.limits.kept(&self.limits.budget), retry_failed: self.retry_failed }
    }
}

/// `langya bench judge` and `langya bench run`.
pub(super) async fn judge(options: BenchJudgeOptions, phases: Phases, env: &Environment) -> CommandResult<ExitCode> {
    options.check_references(phases)?;
    let bar = Arc::new(PhaseBar::default());
    let session = options.batch.session(session::open(&options.location, &options.limits, env).await?, &bar);
    let ready = ReadySuite::load(&session, &options.suite.choice(options.references.clone())?).await?;
    let suite_run = SuiteRun::new(ready, &options.participation(), phases).await?;
    print_partial_judges(&suite_run);
    print_changed_settings(&suite_run.changed_settings().await?);
    if options.limits.dry_run {
        let (answers, judgements) = suite_run.plans().await?;
        let rows = [plan_rows("answer", &answers), plan_rows("judge", &judgements)].concat();
        options.batch.print_plan_legend();
        print_open_batches(&session, [suite_run.suite()].into_iter()).await?;
        return print_plans(rows, options.limits.format);
    }
    let run = suite_run.begin(Arc::new(options.batch.limits(&options.limits.budget)?)).await?;
    let show = |phase, progress, spent| bar.show(phase, progress, spent);
    let asked = suite_run.ask(&run, &show).await;
    bar.clear();
    print_given_up(&session.clients, suite_run.clients());
    print_open_batches(&session, [suite_run.suite()].into_iter()).await?;
    end_steps(run, asked?, options.limits.format).await
}

/// Prints judges that judge themselves.
pub(super) fn print_partial_judges(run: &SuiteRun<'_>) {
    for judge in run.partial_judges() {
        eprintln!("note: judge {judge} is evaluated too and may favour itself; the scores are flagged");
    }
}

/// Prints models and judges whose settings differ from earlier runs.
pub(super) fn print_changed_settings(mixed: &[MixedSettings]) {
    for mixed in mixed {
        eprintln!(
            "warning: {mixed} has changed since an earlier run, whose replies are kept and would be mixed with new ones: give the \
             changed model an id of its own, or begin another round with --round"
        );
    }
}

/// Prints the outcome of a run.
async fn end_steps(run: LockedRun, steps: Vec<StepOutcome>, format: OutputFormat) -> CommandResult<ExitCode> {
    let rows = steps.iter().flat_map(|(step, outcomes)| outcome_rows(step, outcomes)).collect();
    let outcomes: Vec<RunOutcome> = steps.into_iter().flat_map(|(_, outcomes)| outcomes).collect();
    let code = end(run, rows, &outcomes, format).await?;
    Ok(failed_if_unreadable(&outcomes, code))
}
