//! `langya bench`: lists suites and runs, queries models and judges, reports scores, constructs items.

mod answer_and_judge;
mod batches;
mod compare;
mod construct;
mod planned_run;
mod plans;
mod report;
mod runs;
mod session;
mod suite_rows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use self::suite_rows::SuiteRow;
use super::Location;
use crate::databases;
use crate::domain::benchmark::{SuiteOptions, suite_options::BUILT_IN_SUITES};
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{Environment, Settings};
use crate::infra::storage::{DataLock, IfMissing, Store, StoreError};
use crate::output::output_format::OutputFormat;
use crate::services::benchmark::run_roles::Phases;
use crate::services::benchmark::scores::suites;
use crate::services::benchmark::suite_run::SuiteChoice;

/// Flags of `langya bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchOptions {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum BenchCommand {
    /// List the suites, with their data, answers and judges
    List(ListSuitesOptions),
    /// Collect models' answers to a suite's items; stored answers are not requested again
    Answer(answer_and_judge::AnswerOptions),
    /// Have judge models score the stored answers
    Judge(answer_and_judge::BenchJudgeOptions),
    /// Collect answers, then judge them; SUITE may be `all` (every suite with data) or a plan file of several (.toml), as one run
    Run(answer_and_judge::BenchJudgeOptions),
    /// List runs with their progress and cost, the latest first
    Runs(runs::RunsOptions),
    /// List the plans that the server runs, which operators start on the admin page /admin/benchmarks, the latest first
    Plans(plans::PlansOptions),
    /// List the batches whose replies no run has collected yet, or abandon one
    Batches(batches::BatchesOptions),
    /// Stop the plan that the server runs; requests under way are finished
    Stop(plans::StopOptions),
    /// Compare two runs of a suite item by item: what changed in data, prompts and settings, in answers and scores
    Compare(compare::CompareOptions),
    /// Print the scores of a suite
    Report(report::BenchReportOptions),
    /// Have a model rewrite open questions of SuperCLUE as multiple choice; existing drafts are not requested again
    Construct(construct::ConstructOptions),
    /// Write the accepted drafts as data of superclue-close, and list the drafts that still need reviewers
    Review(construct::ReviewOptions),
}

#[derive(Debug, Clone, Args)]
struct ListSuitesOptions {
    #[command(flatten)]
    location: Location,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Selection of a suite, its prompts and its judging.
#[derive(Debug, Clone, Args)]
pub(super) struct SuiteFlags {
    /// The suite, such as mtbench101
    #[arg(value_name = "SUITE")]
    pub(super) name: String,
    /// Only 20 items, the same in every run: to try things out, or asked again in another round of answers to see whether a provider
    /// has changed a model (see `bench compare`)
    #[arg(long)]
    pub(super) canaries: bool,
    /// Seed sent with each request, for models that accept one; each further round adds 1. Changing the seed sends all requests again
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) way: RunSelectorFlags,
}

/// Prompts, judging and data of a suite.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RunSelectorFlags {
    /// Variant of the prompts or the judging. alignbench: general, rules;
    /// mtbench101: self_context; superclue-open and pairwise suites of your own: five_levels, the verdicts of Arena-Hard;
    /// every suite of scores: logprob_weighted, the mean over the scores that the judge could have given, weighted by its own
    /// probabilities, if its provider returns them
    #[arg(long, value_name = "NAME")]
    pub(super) ablation: Option<String>,
    /// A judge prompt of your own instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub(super) prompt: Option<PathBuf>,
    /// Reproduce a behaviour of the official program that differs from langya's; may be repeated. alignbench.include_failed_as_minus1,
    /// alignbench.official_parser, alignbench.round_each_stage, mtbench101.first_bracket,
    /// mtbench101.min_over_parsed_turns, mtbench101.whole_dialogue_reference, superclue-open.first_token,
    /// urs.chinese_prompt, urs.official_parser
    #[arg(long, value_name = "SWITCH")]
    pub(super) compat: Vec<String>,
    /// Data file, by a prefix of its SHA-256 [default: the latest]
    #[arg(long, value_name = "SHA256")]
    pub(super) data: Option<String>,
    /// Round of answers: each round collects new answers to every item
    #[arg(long = "round", alias = "sample", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) sample: u32,
}

impl SuiteFlags {
    /// Returns the selected suite, with a model's answers as references if one is given.
    pub(super) fn choice(&self, references: Option<String>) -> CommandResult<SuiteChoice> {
        Ok(SuiteChoice {
            name: self.name.clone(),
            options: SuiteOptions { references, ..self.way.options()? },
            data: self.way.data.clone(),
            sample: self.way.sample,
            canaries: self.canaries,
            seed: self.seed,
        })
    }
}

impl RunSelectorFlags {
    /// Returns the options of the suite.
    pub(super) fn options(&self) -> CommandResult<SuiteOptions> {
        Ok(SuiteOptions {
            ablation: self.ablation.clone(),
            prompt: self.prompt.as_deref().map(read_text).transpose()?,
            compat: self.compat.iter().cloned().collect(),
            references: None,
        })
    }
}

/// Reads a prompt or declaration file.
pub(super) fn read_text(path: &Path) -> Result<String, BadInput> {
    crate::formats::read_text(path).map_err(|error| BadInput(format!("cannot read {}: {error}", path.display())))
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a failed run (1).
pub async fn run(options: BenchOptions, env: &Environment) -> CommandResult<ExitCode> {
    match options.what {
        BenchCommand::List(options) => list(&options, env).await,
        BenchCommand::Answer(options) => answer_and_judge::answer(options, env).await,
        BenchCommand::Judge(options) => answer_and_judge::judge(options, Phases::Judging, env).await,
        BenchCommand::Run(options) if planned_run::is_plan(&options.suite.name) => planned_run::run(options, env).await,
        BenchCommand::Run(options) => answer_and_judge::judge(options, Phases::Both, env).await,
        BenchCommand::Runs(options) => runs::run(&options, env).await,
        BenchCommand::Plans(options) => plans::list(&options, env).await,
        BenchCommand::Batches(options) => batches::batches(&options, env).await,
        BenchCommand::Stop(options) => plans::stop(&options, env).await,
        BenchCommand::Compare(options) => compare::run(&options, env).await,
        BenchCommand::Report(options) => report::run(options, env).await,
        BenchCommand::Construct(options) => construct::draft(options, env).await,
        BenchCommand::Review(options) => construct::check(&options),
    }
}

/// Lock holder name while one of several commands opens the database.
const OPENING_LOCK_HOLDER: &str = "opening the database";

/// Opens the database for writing, also beside a serving arena: an embedded one lets processes write in turns. Tables are migrated only if
/// no arena is serving.
pub(super) async fn open_beside(settings: &Settings, if_missing: IfMissing) -> Result<Store, StoreError> {
    let lock = match if_missing {
        IfMissing::Create => DataLock::acquire_usable(&settings.storage, OPENING_LOCK_HOLDER).await,
        IfMissing::Fail => DataLock::acquire_existing(&settings.storage, OPENING_LOCK_HOLDER).await,
    };
    match lock {
        Ok(_while_opening) => databases::open(&settings.storage, IfMissing::Create).await,
        Err(StoreError::Locked { .. }) => databases::open(&settings.storage, IfMissing::Fail).await,
        Err(error) => Err(error),
    }
}

/// Opens an existing database, as needed for suite data.
pub(super) async fn open_with_suites(settings: &Settings) -> CommandResult<Store> {
    with_suites(open_beside(settings, IfMissing::Fail).await)
}

/// Opens the database for a dry run, without a lock or migration.
async fn open_for_dry_run(settings: &Settings) -> CommandResult<Store> {
    with_suites(databases::open(&settings.storage, IfMissing::Fail).await)
}

fn with_suites(opened: Result<Store, StoreError>) -> CommandResult<Store> {
    match opened {
        Err(StoreError::Missing(place)) => Err(BadInput(format!(
            "there is no database at {place} yet: import a suite with `langya import suite NAME FILE`, or name another database with \
             --data-dir or --database"
        ))
        .into()),
        opened => Ok(opened?),
    }
}

/// Opens an existing database as [`open_beside`] does, without migration.
pub(super) async fn open_existing_beside(settings: &Settings) -> Result<Store, StoreError> {
    let _while_opening = match DataLock::acquire_existing(&settings.storage, OPENING_LOCK_HOLDER).await {
        Err(StoreError::Locked { .. }) => None,
        taken => Some(taken?),
    };
    databases::open(&settings.storage, IfMissing::Fail).await
}

async fn list(options: &ListSuitesOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let known = match databases::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => suites(&store).await?,
        Err(StoreError::Missing(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut listed: Vec<SuiteRow> = known.iter().map(SuiteRow::new).collect();
    let without_data =
        BUILT_IN_SUITES.iter().filter(|name| known.iter().all(|summary| summary.suite.suite.as_str() != **name));
    listed.extend(without_data.map(|name| SuiteRow::without_data(name)));
    super::output::standard_output::print(&super::output::table::render(&listed, options.format)?)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;
    use crate::domain::benchmark::{SuiteError, suite};

    /// Describes the options that a suite supports.
    fn known(name: &str, options: &SuiteOptions) -> Vec<String> {
        let known = match suite(name, options).map(|_| ()).unwrap_err() {
            SuiteError::UnknownAblation { known, .. } | SuiteError::UnknownCompat { known, .. } => known,
            other => panic!("{other}"),
        };
        known.split(", ").filter(|name| *name != "none").map(str::to_owned).collect()
    }

    #[test]
    fn help_lists_every_ablation_and_switch() {
        let help = RunSelectorFlags::augment_args(clap::Command::new("bench")).render_long_help().to_string();
        let unknown = "?".to_owned();
        for name in BUILT_IN_SUITES {
            let ablation = SuiteOptions { ablation: Some(unknown.clone()), ..SuiteOptions::default() };
            let compat = SuiteOptions { compat: [unknown.clone()].into(), ..SuiteOptions::default() };
            for value in known(name, &ablation).into_iter().chain(known(name, &compat)) {
                assert!(help.contains(&value), "{name}: {value} is not in the help: {help}");
            }
        }
    }
}
