//! `langya campaign create`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::IfNoDatabase;
use super::ask_models::{AnswerCollection, AskingFlags, AskingOutcome};
use crate::domain::campaign::forecast::Forecast;
use crate::domain::campaign::plan::CampaignPlan;
use crate::error::CommandResult;
use crate::formats::campaign_files::{CampaignFiles, read_campaign, read_plan, with_answers};
use crate::infra::config::{Environment, Settings, VoteAccess};
use crate::model_run::clients::BudgetFlags;
use crate::model_run::rows::PlanRow;
use crate::model_run::{LimitFlags, print_plan_legend};
use crate::output::output_format::OutputFormat;
use crate::output::progress;
use crate::output::standard_output::{lines_of_csv, print};
use crate::output::table::render;
use crate::services::campaign::administration::CampaignAdmin;
use crate::services::campaign::creation::{CreateCampaignError, PreparedCampaign};
use crate::services::campaign::suite_answers::suite_answers;

/// Flags of `langya campaign create`.
#[derive(Debug, Args)]
pub(super) struct CreateCampaignOptions {
    /// The campaign's file; paths in it are relative to it
    pub(super) file: PathBuf,
    /// Only check the files, and say how many judgements and hours it takes and how precise the ratings will be
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) budget: BudgetFlags,
    /// Repeat requests that providers refused, where answers = "ask:FILE"
    #[arg(long)]
    pub(super) retry_failed: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

#[derive(Serialize)]
struct CreatedCampaign<'c> {
    campaign: &'c str,
    state: &'static str,
    #[serde(flatten)]
    forecast: &'c Forecast,
    /// Planned requests to models, and their total, if the campaign is not created.
    #[serde(skip_serializing_if = "Option::is_none")]
    asking: Option<&'c [PlanRow]>,
}

/// Whether the forecast needs only files.
///
/// # Errors
/// An invalid file.
pub(super) fn needs_only_files(options: &CreateCampaignOptions) -> CommandResult<bool> {
    let plan = read_plan(&options.file)?;
    Ok(options.dry_run && plan.suite().is_none() && plan.prompts().is_none())
}

/// Returns the behaviour without an existing database. A dry run creates none: the planned requests are the same with an empty one.
///
/// # Errors
/// An invalid file.
pub(super) fn if_no_database(options: &CreateCampaignOptions) -> CommandResult<IfNoDatabase> {
    let asks = read_plan(&options.file)?.prompts().is_some();
    Ok(match (options.dry_run, asks) {
        (false, _) => IfNoDatabase::Make,
        (true, true) => IfNoDatabase::MakeTemporary,
        (true, false) => IfNoDatabase::Refuse,
    })
}

/// Validates the files and prints the forecast of the campaign.
///
/// # Errors
/// Invalid files.
pub(super) fn forecast(options: &CreateCampaignOptions) -> CommandResult<ExitCode> {
    let prepared = PreparedCampaign::new(read_campaign(&options.file)?)?;
    show(&prepared, None, options.format)?;
    Ok(ExitCode::SUCCESS)
}

/// Creates the campaign, or with `--dry-run` only prints its forecast. If answers of models are missing it is not created, and the exit
/// code is 1.
///
/// # Errors
/// Invalid files, or an id that is taken.
pub(super) async fn create(
    admin: &CampaignAdmin<'_>,
    options: &CreateCampaignOptions,
    environment: (Settings, &Environment),
) -> CommandResult<ExitCode> {
    let plan = read_plan(&options.file)?;
    if plan.rated && environment.0.api.votes == VoteAccess::Public {
        eprintln!(
            "note: with rated = true and api.votes = \"public\", /api/v1/votes shows every judgement within seconds, with the models' names and \
             counts of their answers: annotators who read it are not blind; set api.votes = \"key\" until the campaign is closed"
        );
    }
    if plan.prompts().is_some() {
        return ask_and_create(admin, plan, options, environment).await;
    }
    let files = match plan.suite() {
        None => read_campaign(&options.file)?,
        Some(suite) => {
            let rows = suite_answers(admin.store, suite, &plan).await?;
            eprintln!(
                "note: /benchmarks/{suite} shows these answers with their models' names, so annotators should not \
                 see that page; no page shows the answers of a campaign with answers = \"ask:FILE\""
            );
            with_answers(&options.file, plan, rows)?
        }
    };
    create_or_forecast(admin, files, options).await
}

/// Queries models first, or prints the expected cost, and then creates the campaign.
async fn ask_and_create(
    admin: &CampaignAdmin<'_>,
    plan: CampaignPlan,
    options: &CreateCampaignOptions,
    environment: (Settings, &Environment),
) -> CommandResult<ExitCode> {
    if !options.dry_run && admin.store.campaign(&plan.id).await?.is_some() {
        return Err(CreateCampaignError::Exists(plan.id).into());
    }
    let budget = options.budget.or(plan.budget, plan.max_calls);
    let limits = LimitFlags { dry_run: options.dry_run, budget, format: options.format };
    let flags = AskingFlags { path: &options.file, limits, retry_failed: options.retry_failed };
    let asking = AnswerCollection::new(admin.store, plan, flags, environment).await?;
    if options.dry_run {
        let plans = asking.plans().await?;
        show(&PreparedCampaign::new(asking.with_placeholder_answers()?)?, Some(&plans), options.format)?;
        return Ok(print_plan_legend());
    }
    match asking.ask().await? {
        AskingOutcome::All(files) => create_or_forecast(admin, *files, options).await,
        AskingOutcome::Left => Ok(ExitCode::FAILURE),
    }
}

async fn create_or_forecast(
    admin: &CampaignAdmin<'_>,
    files: CampaignFiles,
    options: &CreateCampaignOptions,
) -> CommandResult<ExitCode> {
    let prepared = PreparedCampaign::new(files)?;
    if options.dry_run {
        show(&prepared, None, options.format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let bar = progress::bar("storing items");
    let items = prepared.forecast().items;
    admin.create(&prepared, |done| progress::show(&bar, done, items)).await?;
    bar.finish_and_clear();
    print_created(&CreatedCampaign::new(&prepared, "draft"), options.format)?;
    if options.format == OutputFormat::Table {
        let id = prepared.id();
        eprintln!("next: langya campaign invite {id} --count 3, then langya campaign open {id}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the forecast of a campaign that is not created.
fn show(prepared: &PreparedCampaign, asking: Option<&[PlanRow]>, format: OutputFormat) -> CommandResult<()> {
    if let (Some(plans), OutputFormat::Table) = (asking, format) {
        print(&(render(plans, format)? + "\n"))?;
    }
    print_created(&CreatedCampaign { asking, ..CreatedCampaign::new(prepared, "not made") }, format)
}

impl<'c> CreatedCampaign<'c> {
    fn new(prepared: &'c PreparedCampaign, state: &'static str) -> Self {
        Self { campaign: prepared.id(), state, forecast: prepared.forecast(), asking: None }
    }
}

fn print_created(created: &CreatedCampaign, format: OutputFormat) -> CommandResult<()> {
    print(&match format {
        OutputFormat::Json => serde_json::to_string_pretty(created)? + "\n",
        OutputFormat::Csv => lines_of_csv(&[ForecastRow::new(created)])?,
        OutputFormat::Table => format_created(created),
    })
}

fn format_created(created: &CreatedCampaign) -> String {
    let Forecast { items, models, units, judgements, repeats, annotators_at_least, half_width, hours } =
        created.forecast;
    let width = half_width.map_or_else(String::new, |width| {
        format!("ratings        ± {width:.0} points at 95 %, where models are about equal\n")
    });
    format!(
        "campaign       {} ({})\nitems          {items}, answers of {models} models, {units} to judge\njudgements     {judgements} and \
         {repeats} repetitions\nannotators     at least {annotators_at_least}, because nobody judges an item twice\n{width}\
         work           {hours:.1} hours at a minute a judgement\n",
        created.campaign, created.state,
    )
}

/// Forecast as one flat row for CSV.
#[derive(Serialize)]
struct ForecastRow<'c> {
    campaign: &'c str,
    state: &'static str,
    items: u64,
    models: u64,
    units: u64,
    judgements: u64,
    repeats: u64,
    annotators_at_least: u64,
    half_width: Option<f64>,
    hours: f64,
    /// Number of requests to models, with their expected cost.
    calls: Option<u64>,
    cost: Option<f64>,
}

impl<'c> ForecastRow<'c> {
    fn new(created: &CreatedCampaign<'c>) -> Self {
        let (forecast, asking) = (created.forecast, created.asking.and_then(<[PlanRow]>::last));
        Self {
            campaign: created.campaign,
            state: created.state,
            items: forecast.items,
            models: forecast.models,
            units: forecast.units,
            judgements: forecast.judgements,
            repeats: forecast.repeats,
            annotators_at_least: forecast.annotators_at_least,
            half_width: forecast.half_width,
            hours: forecast.hours,
            calls: asking.map(|all| all.calls),
            cost: asking.and_then(|all| all.cost),
        }
    }
}
