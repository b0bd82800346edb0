//! `langya judge`: has models judge the arena's own battles or the answers of a campaign, and reports their agreement with people.

mod report;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::Location;
use super::bench::{open_beside, read_text};
use super::output::progress::BenchBar;
use super::output::times::parse_time;
use crate::databases;
use crate::domain::battle::ModelId;
use crate::domain::battle_judging::pending::{MAX_BATTLE_TOKENS, PendingWork, Skipped};
use crate::domain::battle_judging::prompt::BattlePrompt;
use crate::domain::battle_judging::sample::Sample;
use crate::domain::battle_judging::scope::{RetryFailed, Scope};
use crate::domain::campaign::plan::{CampaignPlan, Task};
use crate::domain::plural::counted;
use crate::domain::time::Timestamp;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::infra::storage::{IfMissing, Store, StoreError};
use crate::infra::time::clock::SystemClock;
use crate::model_run::clients::{model_clients, print_given_up};
use crate::model_run::rows::{OutcomeRow, PlanRow};
use crate::model_run::{LimitFlags, begin, end, print_plans};
use crate::services::battle_judging::judging::judge;
use crate::services::battle_judging::pending_work::{pending_units, pending_work, request_plans};
use crate::services::battle_judging::{BattleJudging, LOCK_NAME};
use crate::services::benchmark::run_error::{RunError, RunRole};
use crate::services::benchmark::run_roles::named_once;
use crate::services::campaign::administration::CampaignAdminError;

/// Flags of `langya judge`.
#[derive(Debug, Clone, Args)]
pub struct JudgeOptions {
    #[command(subcommand)]
    what: JudgeCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum JudgeCommand {
    /// Have judges judge a share of the rated battles, or the pairs judged in a campaign; stored verdicts are not requested again
    Run(RunOptions),
    /// Agreement of judges with people, and the leaderboard of their verdicts
    Report(report::JudgeReportOptions),
}

#[derive(Debug, Clone, Args)]
struct RunOptions {
    #[command(flatten)]
    location: Location,
    /// Judges, by id and joined with commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
    judge: Vec<String>,
    /// Judge the pairs of answers that people have judged in this campaign, instead of battles
    #[arg(long, value_name = "ID", conflicts_with_all = ["since", "until"])]
    campaign: Option<String>,
    /// Share of the rated battles to judge [default: 0.1; for a campaign, 1]. A larger share includes the battles of a smaller one
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    share: Option<f64>,
    /// Seed for drawing the battles or pairs
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Only battles voted on at this time or later: 2026-11-21, or 2026-11-21T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only battles voted on before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Instructions of your own to the judges, with {conversation_a} and {conversation_b}
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Repeat requests that were refused or whose replies could not be parsed
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    limits: LimitFlags,
}

/// Default share of judged battles.
const DEFAULT_SHARE: f64 = 0.1;

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1, for example 0.1".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a failed run (1).
pub async fn run(options: JudgeOptions, env: &Environment) -> CommandResult<ExitCode> {
    match options.what {
        JudgeCommand::Run(options) => run_judges(&options, env).await,
        JudgeCommand::Report(options) => report::run(&options, env).await,
    }
}

async fn run_judges(options: &RunOptions, env: &Environment) -> CommandResult<ExitCode> {
    let own = options.prompt.as_deref().map(read_text).transpose()?;
    let prompt = BattlePrompt::new(own.as_deref())?;
    let settings = with_discovered(options.location.settings(env)?, env, &DiscoveryTargets::default()).await;
    // A dry run only reads.
    let store = match options.limits.dry_run {
        true => databases::open(&settings.storage, IfMissing::Fail).await?,
        false => open_beside(&settings, IfMissing::Fail).await?,
    };
    let names_judges = !settings.judge.models.is_empty();
    let clients = model_clients(settings, env)?;
    let judges = clients.asked(&options.judges()?, options.limits.kept(&options.limits.budget))?;
    let battle_judging = BattleJudging { store: &store, clock: &SystemClock, rng: &clients.rng, prompt: &prompt };
    options.check_campaign(&store).await?;
    let visitors_informed = options.campaign.is_some() || names_judges || store.has_verdicts().await?;
    if options.limits.dry_run {
        let found = options.pending(battle_judging, &judges).await?;
        options.print_notes(&found, visitors_informed);
        let plans = request_plans(&found, battle_judging, &judges).await?;
        return print_plans(plans.iter().map(|plan| PlanRow::new("judge", plan)).collect(), options.limits.format);
    }
    let taken = "another langya judges battles of this database: wait until it ends, or stop it. A running arena judges \
                 automatically if judge.models names models";
    let run = begin(&store, LOCK_NAME, taken, Arc::new(options.limits.budget.limits()?)).await?;
    // Read under the lock: its previous holder may have judged more.
    let found = options.pending(battle_judging, &judges).await?;
    options.print_notes(&found, visitors_informed);
    let bar = BenchBar::new("judging");
    let show = |progress| bar.show(progress, run.limits.budget.spent());
    let outcomes = run.until_lock_is_lost(judge(battle_judging, &found, &judges, &run.limits, &show)).await?;
    drop(bar);
    print_given_up(&clients, &judges);
    let rows = outcomes.iter().map(|outcome| OutcomeRow::new("judge", outcome)).collect();
    end(run, rows, &outcomes, options.limits.format).await
}

impl RunOptions {
    /// Prints the number of battles that are not judged, and a warning if visitors were not informed that models judge battles. The answers
    /// of a campaign are not theirs.
    fn print_notes(&self, found: &PendingWork, visitors_informed: bool) {
        if found.battles > 0 && !visitors_informed {
            eprintln!(
                "note: visitors have not been told that models judge battles, and judging sends conversations to the judge's \
                 provider. From the first verdict on, or once judge.models names a judge (the arena then judges automatically), \
                 /consent says so and asks every visitor again. Use --since to leave out earlier battles"
            );
        }
        let Skipped { without_text, with_images, too_long } = found.skipped;
        if found.own_battles > 0 {
            eprintln!(
                "note: in {} of the sample a judge took part itself, and it may favour its own replies: `langya judge report` and \
                 /judges count its own battles",
                counted(found.own_battles, "battle", "battles")
            );
        }
        if self.share.is_some_and(|share| share <= 0.0) {
            eprintln!("note: a share of 0 is no battle: give a larger --share, such as 0.1");
        } else if found.battles == 0 && found.skipped == Skipped::default() && self.campaign.is_none() {
            eprintln!(
                "note: no rated vote is in this range and share; votes that a rule excludes are not judged (/exclusions)"
            );
        }
        let (one, more) =
            if self.campaign.is_some() { ("pair of answers", "pairs of answers") } else { ("battle", "battles") };
        let not_judged = |number: u64, why: &str| {
            if number > 0 {
                eprintln!("note: not judged: {} {why}", counted(number, one, more));
            }
        };
        not_judged(with_images, "asked with images, which judges do not see");
        not_judged(without_text, "imported without what was said");
        not_judged(too_long, &format!("of more than {MAX_BATTLE_TOKENS} tokens"));
    }

    fn judges(&self) -> Result<Vec<ModelId>, RunError> {
        named_once(RunRole::Judge, &self.judge)?;
        Ok(self.judge.iter().map(ModelId::new).collect())
    }

    /// Checks that the campaign compares two answers, as judges do.
    async fn check_campaign(&self, store: &Store) -> CommandResult<()> {
        let Some(id) = &self.campaign else { return Ok(()) };
        let row = store.campaign(id).await?.ok_or_else(|| CampaignAdminError::UnknownCampaign(id.clone()))?;
        let plan: CampaignPlan = serde_json::from_str(&row.plan)?;
        if plan.task != Task::Pairwise {
            let task = plan.task.as_str();
            return Err(BadInput(format!(
                "the campaign {id:?} has the task {task:?}, and judges compare two answers: name a campaign with the task \"pairwise\""
            ))
            .into());
        }
        Ok(())
    }

    /// Finds the pending judgements.
    async fn pending(&self, judging: BattleJudging<'_>, judges: &[ModelClient]) -> Result<PendingWork, StoreError> {
        match &self.campaign {
            None => pending_work(judging, self.scope(), judges).await,
            Some(id) => {
                let sample = Sample { seed: self.seed, share: self.share.unwrap_or(1.0) };
                pending_units(judging, id, sample, self.retry_failed(), judges).await
            }
        }
    }

    fn scope(&self) -> Scope {
        let all = Scope::all(Sample { seed: self.seed, share: self.share.unwrap_or(DEFAULT_SHARE) });
        let (since, until) = (self.since.unwrap_or(all.since), self.until.unwrap_or(all.until));
        Scope { since, until, retry_failed: self.retry_failed(), ..all }
    }

    fn retry_failed(&self) -> RetryFailed {
        if self.retry_failed { RetryFailed::Yes } else { RetryFailed::No }
    }
}
