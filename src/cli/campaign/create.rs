//! `langya campaign create`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::error::CommandResult;
use crate::cli::models::Format;
use crate::cli::output::{lines_of_csv, print};
use crate::cli::progress;
use crate::domain::campaign::forecast::Forecast;
use crate::formats::campaign_files::{read_campaign, read_plan, with_answers};
use crate::infra::clock::{Clock, SystemClock};
use crate::infra::storage::Store;
use crate::services::campaign::creation::PreparedCampaign;
use crate::services::campaign::suite_answers::suite_answers;

/// Flags of `langya campaign create`.
#[derive(Debug, Args)]
pub(super) struct CreateOptions {
    /// The campaign's file; paths in it are relative to it
    file: PathBuf,
    /// Only check the files, and say how many judgements and hours it takes and how precise the ratings will be
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How to print what it takes
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Created<'c> {
    campaign: &'c str,
    state: &'static str,
    #[serde(flatten)]
    forecast: &'c Forecast,
}

/// Whether only files are needed to say what the campaign would take.
///
/// # Errors
/// A file that cannot be used.
pub(super) fn needs_only_files(options: &CreateOptions) -> CommandResult<bool> {
    Ok(options.dry_run && read_plan(&options.file)?.suite().is_none())
}

/// Checks the files and prints what the campaign would take.
///
/// # Errors
/// Files that cannot be used.
pub(super) fn forecast(options: &CreateOptions) -> CommandResult<ExitCode> {
    let prepared = PreparedCampaign::new(read_campaign(&options.file)?)?;
    show(&prepared, "not made", options.format)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the campaign, or with `--dry-run` only says what it would take.
///
/// # Errors
/// Files that cannot be used, or an id that is taken.
pub(super) async fn create(store: &Store, options: &CreateOptions) -> CommandResult<()> {
    let plan = read_plan(&options.file)?;
    let files = match plan.suite() {
        None => read_campaign(&options.file)?,
        Some(suite) => {
            let rows = suite_answers(store, suite, &plan).await?;
            with_answers(&options.file, plan, rows)?
        }
    };
    let prepared = PreparedCampaign::new(files)?;
    if options.dry_run {
        return show(&prepared, "not made", options.format);
    }
    let bar = progress::bar("storing items");
    let items = prepared.forecast().items;
    prepared.store(store, SystemClock.now(), |done| progress::show(&bar, done, items)).await?;
    bar.finish_and_clear();
    show(&prepared, "draft", options.format)?;
    if options.format == Format::Table {
        let id = prepared.id();
        eprintln!("next: langya campaign invite {id} --count 3, then langya campaign open {id}");
    }
    Ok(())
}

fn show(prepared: &PreparedCampaign, state: &'static str, format: Format) -> CommandResult<()> {
    let created = Created { campaign: prepared.id(), state, forecast: prepared.forecast() };
    print(&match format {
        Format::Json => serde_json::to_string_pretty(&created)? + "\n",
        Format::Csv => lines_of_csv(&[Flat::new(&created)])?,
        Format::Table => text(&created),
    })
}

fn text(created: &Created) -> String {
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

/// The same as one row: CSV has no nesting.
#[derive(Serialize)]
struct Flat<'c> {
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
}

impl<'c> Flat<'c> {
    fn new(created: &Created<'c>) -> Self {
        let forecast = created.forecast;
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
        }
    }
}
