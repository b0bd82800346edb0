//! Step of `langya campaign create` that queries models with the prompts of a campaign.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::prompts::CampaignPrompt;
use crate::error::{BadInput, CommandResult};
use crate::formats::campaign_files::{CampaignFiles, read_prompts, with_answers};
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::infra::storage::Store;
use crate::infra::time::clock::SystemClock;
use crate::model_run::clients::{model_clients, print_given_up};
use crate::model_run::rows::{OutcomeRow, PlanRow, left_over};
use crate::model_run::{LimitFlags, PhaseBar};
use crate::output::output_format::OutputFormat;
use crate::output::table::render;
use crate::services::benchmark::answering;
use crate::services::benchmark::batches::BatchOptions;
use crate::services::benchmark::loading::LoadedSuite;
use crate::services::benchmark::run_error::RunRole;
use crate::services::benchmark::run_roles::named_once;
use crate::services::benchmark::suite_run::{ReadySuite, RunSession};
use crate::services::campaign::asked_answers::{asked_answers, asked_suite, store_missing_items};

/// Flags for querying models.
pub(super) struct AskingFlags<'a> {
    /// Campaign file.
    pub(super) path: &'a Path,
    /// Limits of the run.
    pub(super) limits: LimitFlags,
    /// Whether to repeat requests that providers refused.
    pub(super) retry_failed: bool,
}

/// Prompts of a campaign, with the models to query.
pub(super) struct AnswerCollection<'a> {
    flags: AskingFlags<'a>,
    plan: CampaignPlan,
    prompts: Vec<CampaignPrompt>,
    session: RunSession,
    models: Vec<ModelClient>,
}

/// Outcome of querying the models.
pub(super) enum AskingOutcome {
    /// All requests are completed or refused: the campaign with the prompts that all models answered.
    All(Box<CampaignFiles>),
    /// Answers are missing, so the campaign is not created yet.
    Left,
}

impl<'a> AnswerCollection<'a> {
    /// Reads the prompts, and validates everything before any request is paid for.
    ///
    /// # Errors
    /// Invalid files, or models that cannot be queried.
    pub(super) async fn new(
        store: &Store,
        plan: CampaignPlan,
        flags: AskingFlags<'a>,
        (settings, env): (Settings, &Environment),
    ) -> CommandResult<Self> {
        let prompts = read_prompts(flags.path, &plan)?;
        if !flags.limits.budget.is_given() {
            let said = "models are asked under a budget: write budget or max_calls in the file, or give --budget or --max-calls";
            return Err(BadInput(said.to_owned()).into());
        }
        named_once(RunRole::Model, &plan.models)?;
        let settings = with_discovered(settings, env, &DiscoveryTargets::default()).await;
        let clients = model_clients(settings, env)?;
        let session = RunSession { store: store.clone(), clients, batches: BatchOptions::default() };
        let ids: Vec<ModelId> = plan.models.iter().map(ModelId::new).collect();
        let models = session.clients.asked(&ids, flags.limits.budget.amounts())?;
        let asking = Self { flags, plan, prompts, session, models };
        asking.with_placeholder_answers()?;
        Ok(asking)
    }

    /// Returns the campaign with placeholder answers of every model.
    ///
    /// # Errors
    /// Prompts that are invalid for a campaign.
    pub(super) fn with_placeholder_answers(&self) -> CommandResult<CampaignFiles> {
        let models = &self.plan.models;
        let rows = self.prompts.iter().flat_map(|prompt| models.iter().map(|model| prompt.answered(model, "…")));
        Ok(with_answers(self.flags.path, self.plan.clone(), rows.collect())?)
    }

    fn suite(&self) -> LoadedSuite {
        asked_suite(&self.plan, &self.prompts, &SystemClock)
    }

    /// Returns the planned requests with their expected cost.
    ///
    /// # Errors
    /// A database failure.
    pub(super) async fn plans(&self) -> CommandResult<Vec<PlanRow>> {
        let loaded = self.suite();
        let bench = loaded.bench(&self.session.store, &self.session.clients.rng, 1);
        let plans = answering::plan(bench, &self.models, self.flags.retry_failed).await?;
        let mut rows: Vec<PlanRow> = plans.iter().map(|plan| PlanRow::new("answer", plan)).collect();
        rows.push(PlanRow::total(&rows));
        Ok(rows)
    }

    /// Requests missing answers. Every answer is stored at once, so the same command continues after an interruption.
    ///
    /// # Errors
    /// A database failure, or a lock that another process holds.
    pub(super) async fn ask(self) -> CommandResult<AskingOutcome> {
        store_missing_items(&self.session.store, &self.suite()).await?;
        let ready = ReadySuite::over(&self.session, self.suite());
        let run = ready.begin(Arc::new(self.flags.limits.budget.limits()?)).await?;
        let bar = PhaseBar::default();
        let show = |phase, progress, spent| bar.show(phase, progress, spent);
        let steps = ready.ask_models((&self.models, self.flags.retry_failed), &run, &show).await;
        bar.clear();
        print_given_up(&self.session.clients, &self.models);
        let outcomes: Vec<RunOutcome> = steps?.into_iter().flat_map(|(_, outcomes)| outcomes).collect();
        let rows: Vec<OutcomeRow> = outcomes.iter().map(|outcome| OutcomeRow::new("answer", outcome)).collect();
        eprint!("{}", render(&rows, OutputFormat::Table)?);
        let sum = |number: fn(&RunOutcome) -> u64| outcomes.iter().map(number).sum();
        let left: u64 = sum(RunOutcome::left);
        // Unlike for a suite, missing answers prevent creating the campaign.
        let limits = run.release().await;
        let _: ExitCode = left_over(left, sum(|outcome| outcome.refused), &limits);
        if left > 0 {
            eprintln!("campaign {} is created once all models have answered", self.plan.id);
            return Ok(AskingOutcome::Left);
        }
        let rows = asked_answers(&self.session.store, &self.suite(), &self.plan, &self.prompts).await?;
        let left_out = self.prompts.len() - rows.len() / self.plan.models.len().max(1);
        if left_out > 0 {
            let all = self.prompts.len();
            eprintln!(
                "left out, because not every model gave an answer that can be shown: {left_out} of {all} prompts"
            );
        }
        Ok(AskingOutcome::All(Box::new(with_answers(self.flags.path, self.plan, rows)?)))
    }
}
