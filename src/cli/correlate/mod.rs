//! `langya correlate`: correlates score series of the same models and fits mixtures.

mod charts;
mod papers;
mod print;
mod replace_folder;
mod study;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::Location;
use super::output::progress;
use super::output::standard_output::print;
use crate::databases;
use crate::domain::benchmark::paper_claims;
use crate::domain::correlation::report::{StudyOptions, compare, mixture, search};
use crate::domain::correlation::study::StudyError;
use crate::domain::correlation::{AliasError, Aliases, Series, SeriesName};
use crate::domain::rating::bootstrap_samples::Metric;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::stats::convex_mixture::Search;
use crate::domain::stats::resample::BootstrapOptions;
use crate::error::CommandResult;
use crate::formats::model_table::ModelTable;
use crate::formats::read_text;
use crate::infra::config::{Environment, Settings};
use crate::infra::storage::{IfMissing, Store};
use crate::output::charts::{Charts, write_all};
use crate::output::output_format::OutputFormat;
use crate::output::terminal_text::printable;
use crate::services::correlation::{SeriesReader, Sources};

/// Flags of `langya correlate`. A SERIES is a column of the table, `arena:rating|elo|win_tie_rate[:slice]`,
/// `arena:satisfaction`, `verdicts:JUDGE`, `bench:SUITE[@JUDGE][:part]` or `published:ID[:part]`.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["x", "combine", "list", "papers", "study"]))]
pub struct CorrelateOptions {
    #[command(flatten)]
    location: Location,
    /// CSV file with one row per model
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Column of the table with the models
    #[arg(long, value_name = "COLUMN", default_value = "model")]
    key: String,
    /// A column, arena:rating, arena:elo or arena:win_tie_rate and after a colon a slice such as language=English,
    /// arena:satisfaction, verdicts:JUDGE, campaign:ID, campaign:ID:QUESTION or campaign:ID@JUDGE, bench:SUITE,
    /// bench:SUITE@JUDGE or bench:SUITE:PART, published:ID or published:ID:PART; --list prints all
    #[arg(long, value_name = "SERIES", requires = "y")]
    x: Option<String>,
    /// Series to compare --x with
    #[arg(long, value_name = "SERIES", requires = "x")]
    y: Option<String>,
    /// Series to mix, joined by commas
    #[arg(long, value_name = "SERIES", value_delimiter = ',', requires = "target")]
    combine: Vec<String>,
    /// Series that the mixture should predict
    #[arg(long, value_name = "SERIES", requires = "combine")]
    target: Option<String>,
    /// Step of the weights; 0 for the exact optimum
    #[arg(long, value_name = "STEP", default_value_t = 0.001)]
    step: f64,
    /// List the available series
    #[arg(long)]
    list: bool,
    /// Run the study that a TOML file describes: its keys are title, series, pairs (x, y), combinations (of, target, step), models,
    /// slices, judge, table, key, confidence, bootstrap, seed and aliases
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "key", "step", "models", "aliases", "confidence", "bootstrap", "seed", "charts"])]
    study: Option<PathBuf>,
    /// Output folder of the study [default: the name of the study file without its extension]
    #[arg(long, value_name = "DIR", requires = "study")]
    out: Option<PathBuf>,
    /// Print the papers' own studies: their numbers beside those that follow from their tables
    #[arg(long)]
    papers: bool,
    /// Only these models, joined by commas
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Vec<String>,
    /// Other names of models, beside those of the settings: TOML lines such as "model-id" = ["Another name"]
    #[arg(long, value_name = "FILE")]
    aliases: Option<PathBuf>,
    /// Confidence level of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    confidence: f64,
    /// Number of bootstrap replicates of battles and judged items; 0 holds them fixed
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    bootstrap: u32,
    /// Seed of the random numbers
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Also draw charts into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Runs the command: correlates series, fits a mixture, lists series or runs a study.
///
/// # Errors
/// An invalid table, series or option.
pub async fn run(mut options: CorrelateOptions, env: &Environment) -> CommandResult<ExitCode> {
    if options.papers {
        return print_papers(options.format);
    }
    let settings = options.location.settings(env)?;
    if let Some(file) = &options.study {
        study::run(file, options.out.as_deref(), options.format, &settings).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let level = ConfidenceLevel::new(options.confidence)?;
    let search = search(options.step).ok_or(StudyError::Step(options.step))?;
    if let Some(folder) = &options.charts {
        super::output::charts::prepare(folder)?;
    }
    let names = options.names()?;
    let table = options.table.as_ref().map(|file| ModelTable::read(file, &options.key)).transpose()?;
    let aliases = aliases(&options, &settings)?;
    let store = open(&settings, &names).await?;
    let study = StudyOptions { level, bootstrap: options.bootstrap() };
    options.models = aliases.models(&options.models);
    let mut reader = SeriesReader::new(Sources {
        store: store.as_ref(),
        table: table.as_ref(),
        aliases,
        rating: LeaderboardOptions { confidence: level, ..settings.rating.leaderboard_options()? },
        bootstrap: study.bootstrap,
    });
    if options.list {
        return list(&mut reader, store.as_ref(), table.as_ref(), options.format).await;
    }
    let series = read_series(&mut reader, &names, store.as_ref()).await?;
    let folder = options.charts.clone();
    // On a blocking thread, so that a signal does not wait for it.
    let compared = tokio::task::spawn_blocking(move || options.compare(&series, search, study)).await??;
    warn(&compared.notes);
    if let Some(folder) = folder {
        write_all(&folder, compared.charts)?;
    }
    print(&compared.text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the series and closes the database.
async fn read_series(
    reader: &mut SeriesReader<'_>,
    names: &[SeriesName],
    store: Option<&Store>,
) -> CommandResult<Vec<Series>> {
    let bar = progress::count("series");
    let series = reader.read_all(names).await?;
    bar.finish_and_clear();
    // Closed before minutes of computing: a killed command leaves the log of an open database beside it.
    if let Some(store) = store {
        store.close().await;
    }
    Ok(series)
}

/// Correlation report, with its charts.
#[derive(Default)]
struct CorrelationOutput {
    notes: Vec<String>,
    charts: Charts,
    text: String,
}

impl CorrelateOptions {
    fn names(&self) -> CommandResult<Vec<SeriesName>> {
        let names = self.x.iter().chain(&self.y).chain(&self.combine).chain(&self.target);
        Ok(names.map(|name| name.parse()).collect::<Result<_, _>>()?)
    }

    /// Returns the bootstrap options: no replicates for a list or a mixture, which use the values as they are.
    fn bootstrap(&self) -> BootstrapOptions {
        let replicates = if self.list || !self.combine.is_empty() { 0 } else { self.bootstrap };
        BootstrapOptions { replicates, seed: self.seed }
    }

    /// Compares two series, or fits a mixture of all but the last to the last, and draws charts if requested.
    fn compare(&self, series: &[Series], search: Search, study: StudyOptions) -> CommandResult<CorrelationOutput> {
        match series {
            [x, y] if self.combine.is_empty() => {
                let report = compare(x, y, &self.models, study)?;
                let charts = self.charts_if_requested(|| charts::of_pair(x, y, &self.models, &report))?;
                let text = self.rendered(&report, || print::pair(&report))?;
                Ok(CorrelationOutput { notes: report.notes, charts, text })
            }
            [series @ .., target] => {
                let series: Vec<&Series> = series.iter().collect();
                let report = mixture(&series, target, &self.models, search, study)?;
                let charts =
                    self.charts_if_requested(|| charts::of_mixture(&series, target, &self.models, &report, study))?;
                let text = self.rendered(&report, || print::mixture(&report))?;
                Ok(CorrelationOutput { notes: report.notes, charts, text })
            }
            [] => Ok(CorrelationOutput::default()),
        }
    }

    fn charts_if_requested(&self, draw: impl FnOnce() -> CommandResult<Charts>) -> CommandResult<Charts> {
        if self.charts.is_some() { draw() } else { Ok(Charts::new()) }
    }

    fn rendered(&self, report: &impl Serialize, table: impl FnOnce() -> String) -> CommandResult<String> {
        match self.format {
            OutputFormat::Json => Ok(serde_json::to_string_pretty(report)? + "\n"),
            OutputFormat::Table => Ok(table()),
            OutputFormat::Csv => print::csv(&serde_json::to_value(report)?),
        }
    }
}

fn warn(notes: &[String]) {
    notes.iter().for_each(|note| eprintln!("warning: {}", printable(note)));
}

/// Opens the database only if it may be needed: listing series and published series work without one.
async fn open(settings: &Settings, names: &[SeriesName]) -> CommandResult<Option<Store>> {
    let stored: Vec<&SeriesName> = names.iter().filter(|name| name.is_stored()).collect();
    if stored.is_empty() && !names.is_empty() {
        return Ok(None);
    }
    let may_lack = stored.iter().all(|name| matches!(name, SeriesName::Published(_)));
    match databases::open(&settings.storage, IfMissing::Fail).await {
        Err(error) if may_lack && !error.may_be_transient() => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

fn aliases(options: &CorrelateOptions, settings: &Settings) -> CommandResult<Aliases> {
    let known = Aliases::new(&settings.aliases)?;
    Ok(match &options.aliases {
        Some(file) => {
            let cannot = |error: std::io::Error| AliasError::File { file: file.clone(), reason: error.to_string() };
            known.and(Aliases::parse(file, &read_text(file).map_err(cannot)?)?)
        }
        None => known,
    })
}

fn print_papers(format: OutputFormat) -> CommandResult<ExitCode> {
    let claims = paper_claims::all();
    print(&match format {
        OutputFormat::Json => serde_json::to_string_pretty(&claims)? + "\n",
        OutputFormat::Table => papers::table(&claims),
        OutputFormat::Csv => papers::csv(&claims)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints every available series.
async fn list(
    reader: &mut SeriesReader<'_>,
    store: Option<&Store>,
    table: Option<&ModelTable>,
    format: OutputFormat,
) -> CommandResult<ExitCode> {
    let mut names: Vec<String> = table.iter().flat_map(|table| table.columns()).map(str::to_owned).collect();
    if store.is_some() {
        names.extend(Metric::ALL.map(|metric| format!("arena:{}", metric.as_str())));
        names.push(SeriesName::Satisfaction.to_string());
        names.extend(reader.stored_scores().await?.iter().map(ToString::to_string));
    }
    names.extend(crate::domain::correlation::published_series::published_names());
    match format {
        OutputFormat::Json => print(&(serde_json::to_string_pretty(&names)? + "\n"))?,
        OutputFormat::Table | OutputFormat::Csv => print(&(names.join("\n") + "\n"))?,
    }
    Ok(ExitCode::SUCCESS)
}
