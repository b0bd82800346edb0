//! `langya label`: labels prompts by a classifier or a language model, and by reviewers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::Location;
use super::output::progress;
use super::output::standard_output::print;
use crate::bench::open_existing_beside;
use crate::databases;
use crate::domain::battle::ModelId;
use crate::domain::csv_injection::escape_formula;
use crate::domain::labeling::few_shot::{FewShotPrompt, FoldPrompts};
use crate::domain::labeling::report::LabelReport;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::labeling::seed_labels::Seed;
use crate::domain::labeling::validation::{Validation, ValidationOptions};
use crate::domain::plural::counted;
use crate::domain::stats::Undefined;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::llm::roster::{entries, provider_model};
use crate::infra::storage::{IfMissing, JobLock, Store};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::model_run::clients::{BudgetFlags, model_clients};
use crate::output::output_format::OutputFormat;
use crate::output::table::table;
use crate::services::labeling::model_labeler::{EXAMPLES_PER_LABEL, LabelingEstimate, ModelLabeler};
use crate::services::labeling::{self, ArenaPromptLabeler, ReviewImport};

/// Flags of `langya label`.
#[derive(Debug, Clone, Args)]
pub struct LabelOptions {
    #[command(subcommand)]
    what: LabelCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum LabelCommand {
    /// Train on labelled queries, show the cross-validated accuracy, and label every prompt of the arena. With --model, a
    /// language model is validated on the same folds, and the more accurate of the two labels the prompts
    Train(TrainOptions),
    /// Write the prompts for a reviewer to check, starting with those about which the classifier is least certain
    Queue(QueueOptions),
    /// Import a queue that a reviewer filled in; importing the same file again changes nothing
    Review(LabelReviewOptions),
    /// Show how far labelling has come and how far labels agree
    Report(LabelReportOptions),
}

#[derive(Debug, Clone, Args)]
struct CommonLabelOptions {
    #[command(flatten)]
    location: Location,
    /// Label scheme: SuperCLUE's ten categories or URS's six intents
    #[arg(long, value_enum, default_value_t = SchemeName::Superclue)]
    scheme: SchemeName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeName {
    /// Ten categories; 30 seeds of each
    Superclue,
    /// Six intents; URS's own data file serves as seeds
    Urs,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Superclue => Self::Superclue,
            SchemeName::Urs => Self::Urs,
        }
    }
}

#[derive(Debug, Clone, Args)]
struct TrainOptions {
    #[command(flatten)]
    common: CommonLabelOptions,
    /// CSV with the columns text and label, and query_id for a text that is a prompt of this arena
    #[arg(long, value_name = "FILE")]
    seed_file: PathBuf,
    /// Parts of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u8).range(2..=20))]
    folds: u8,
    /// Seed of the shuffle before cross-validation
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// A model of the settings that labels too, shown three examples of each label; it never labels prompts that it answered
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    #[command(flatten)]
    budget: BudgetFlags,
    /// Print how many requests the model would get and what they would cost; send and change nothing
    #[arg(long, requires = "model")]
    dry_run: bool,
}

#[derive(Debug, Clone, Args)]
struct QueueOptions {
    #[command(flatten)]
    common: CommonLabelOptions,
    /// Name of the reviewer; prompts that they have reviewed are left out
    #[arg(long, value_name = "NAME")]
    reviewer: String,
    /// CSV file to write; the reviewer fills in its column label
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Maximum number of prompts
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u32,
}

#[derive(Debug, Clone, Args)]
struct LabelReviewOptions {
    #[command(flatten)]
    common: CommonLabelOptions,
    /// The queue, filled in
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the reviewer
    #[arg(long, value_name = "NAME")]
    reviewer: String,
}

#[derive(Debug, Clone, Args)]
struct LabelReportOptions {
    #[command(flatten)]
    common: CommonLabelOptions,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Runs a subcommand. Writing labels takes a lock, and works beside a serving arena.
///
/// # Errors
/// An invalid file, or a database that is missing or in use.
pub async fn run(options: LabelOptions, env: &Environment) -> CommandResult<ExitCode> {
    match options.what {
        LabelCommand::Train(options) => train(options, env).await,
        LabelCommand::Queue(options) => queue(options, env).await,
        LabelCommand::Review(options) => review(options, env).await,
        LabelCommand::Report(options) => report(options, env).await,
    }
}

async fn train(options: TrainOptions, env: &Environment) -> CommandResult<ExitCode> {
    if options.model.is_none() && options.budget.is_given() {
        let said =
            "--budget and --max-calls limit what a language model is asked: name one with --model, or leave them out";
        return Err(BadInput(said.to_owned()).into());
    }
    let settings = options.common.location.settings(env)?;
    let scheme = Scheme::from(options.common.scheme);
    let folds = ValidationOptions { folds: options.folds.into(), seed: options.seed };
    let seeds = labeling::read_seeds(&options.seed_file, scheme, folds.folds)?;
    let asked =
        options.model.as_deref().map(|model| LabelingModel::new(model, &options, &settings, env)).transpose()?;
    if let (Some(asked), true) = (&asked, options.dry_run) {
        let store = databases::open(&settings.storage, IfMissing::Fail).await?;
        print(&dry_run(asked.labeler(&store, scheme), &store, &seeds, folds).await?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (lock, store) = open_to_write(&settings).await?;
    let labeler = asked.as_ref().map(|asked| asked.labeler(&store, scheme));
    let trained = labeling::train(seeds.clone(), scheme, folds).await?;
    print(&in_words("classifier", &trained.validation))?;
    let proposer = match (&asked, labeler) {
        (Some(asked), Some(labeler)) => asked.proposer(labeler, &seeds, folds, &trained.validation).await?,
        _ => None,
    };
    let now = SystemClock.now();
    let kept = labeling::store_seed_labels(&store, &options.seed_file, scheme, &seeds, now).await?;
    let bar = progress::bar("prompts");
    let label = labeling::label_all(&store, scheme, &trained.classifier, proposer.as_ref(), now, |done| {
        bar.set_position(done);
    });
    let done = label.await?;
    bar.finish_and_clear();
    let (prompts, labels) =
        (counted(done.queries, "prompt", "prompts"), counted(done.changed + kept, "label", "labels"));
    print(&format!("{prompts} labelled, {labels} new or changed, {kept} of them seeds\n"))?;
    lock.release().await;
    Ok(ExitCode::SUCCESS)
}

/// Language model for labelling.
struct LabelingModel {
    client: ModelClient,
    limits: RunLimits,
    /// Ids of configured models that are this model of the same provider.
    itself: BTreeSet<String>,
}

impl LabelingModel {
    fn new(id: &str, options: &TrainOptions, settings: &Settings, env: &Environment) -> CommandResult<Self> {
        let id = ModelId::new(id);
        let clients = model_clients(settings.clone(), env)?;
        let client = clients.one(&id, options.budget.amounts())?;
        let entries = entries(settings);
        let own = entries.iter().find(|entry| entry.id == id.as_str()).map(provider_model);
        let same = entries.iter().filter(|entry| Some(provider_model(entry)) == own);
        let itself = same.map(|entry| entry.id.clone()).collect();
        Ok(Self { client, limits: options.budget.limits()?, itself })
    }

    fn labeler<'l>(&'l self, store: &'l Store, scheme: Scheme) -> ModelLabeler<'l> {
        ModelLabeler { store, clock: &SystemClock, scheme, client: &self.client, limits: &self.limits }
    }

    /// Validates the model on the folds of the classifier, prints the result, and returns the model if it is better.
    async fn proposer<'l>(
        &self,
        labeler: ModelLabeler<'l>,
        seeds: &[Seed],
        folds: ValidationOptions,
        classifier: &Validation,
    ) -> CommandResult<Option<ArenaPromptLabeler<'l>>> {
        let bar = progress::bar("seeds");
        let found = labeler.validate(seeds, folds, |done| bar.set_position(done)).await?;
        bar.finish_and_clear();
        let name = &self.client.id;
        print(&in_words(name.as_str(), &found))?;
        if found.accuracy <= classifier.accuracy {
            print(&format!("{name} is not more accurate than the classifier, so the classifier labels the prompts\n"))?;
            return Ok(None);
        }
        print(&format!(
            "{name} is more accurate than the classifier and labels the prompts; the classifier labels those that {name} answered\n"
        ))?;
        let all: Vec<&Seed> = seeds.iter().collect();
        let prompt = FewShotPrompt::new(&all, labeler.scheme, EXAMPLES_PER_LABEL, folds.seed);
        Ok(Some(ArenaPromptLabeler { labeler, prompt, itself: self.itself.clone() }))
    }
}

/// Describes the maximum number of requests: for every prompt of the arena too, as if the model were better than the classifier.
async fn dry_run(
    labeler: ModelLabeler<'_>,
    store: &Store,
    seeds: &[Seed],
    folds: ValidationOptions,
) -> CommandResult<String> {
    let prompts = FoldPrompts::new(seeds, labeler.scheme, EXAMPLES_PER_LABEL, folds);
    let all: Vec<&Seed> = seeds.iter().collect();
    let prompt = FewShotPrompt::new(&all, labeler.scheme, EXAMPLES_PER_LABEL, folds.seed);
    let queries = labeling::all_prompts(store).await?;
    let texts: Vec<_> = queries.iter().map(|text| (&prompt, text.as_str())).collect();
    let line = |what: &str, LabelingEstimate { requests, kept, cost }| {
        let cost =
            cost.map_or_else(|| "an unknown cost (no prices are set)".to_owned(), |cost| format!("about {cost:.2}"));
        let (requests, kept) = (counted(requests, "request", "requests"), counted(kept, "reply is", "replies are"));
        format!("{what}: {requests} for {cost}; {kept} kept already\n")
    };
    let validation = labeler.estimate(&prompts.of(seeds)).await?;
    Ok(line("validation", validation) + &line("prompts, at most", labeler.estimate(&texts).await?))
}

async fn queue(options: QueueOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.common.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let scheme = options.common.scheme.into();
    let queued = labeling::write_queue(&store, scheme, &options.reviewer, options.limit, &options.out).await?;
    let queued = counted(queued, "prompt", "prompts");
    print(&format!("{queued} to review in {}: fill in the column label\n", options.out.display()))?;
    Ok(ExitCode::SUCCESS)
}

async fn review(options: LabelReviewOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.common.location.settings(env)?;
    let (lock, store) = open_to_write(&settings).await?;
    let (scheme, now) = (options.common.scheme.into(), SystemClock.now());
    let done = labeling::import_review(&store, scheme, &options.reviewer, &options.file, now).await?;
    let ReviewImport { decisions, changed } = done;
    let decisions = counted(decisions, "decision", "decisions");
    print(&format!("{}: {decisions}, {changed} new or changed\n", options.file.display()))?;
    lock.release().await;
    Ok(ExitCode::SUCCESS)
}

/// Opens the database for writing, also beside a serving arena, and takes the labelling lock.
async fn open_to_write(settings: &Settings) -> CommandResult<(JobLock, Store)> {
    let store = open_existing_beside(settings).await?;
    let taken = "another langya writes labels into this database: wait until it ends, or stop it";
    let lock = store.command_lock("label").await?.ok_or_else(|| BadInput(taken.to_owned()))?;
    Ok((lock, store))
}

async fn report(options: LabelReportOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.common.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let scheme = Scheme::from(options.common.scheme);
    let report = labeling::report(&store, scheme).await?;
    let json = report_json(scheme, &report);
    print(&match options.format {
        OutputFormat::Json => format!("{json}\n"),
        OutputFormat::Table => as_table(scheme, &report),
        OutputFormat::Csv => as_csv(&json)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Formats the labelling progress and agreement as a table.
fn as_table(scheme: Scheme, report: &LabelReport) -> String {
    let of_all = |count: u64| format!("{count} of {}", report.queries);
    let or_reason =
        |value: Result<f64, Undefined>| value.map_or_else(|why| format!("- ({why})"), |value| format!("{value:.3}"));
    let line = |what: &str, value: String| vec![what.to_owned(), value];
    let mut rows = vec![
        line("labels", scheme.as_str().to_owned()),
        line("prompts with a label", of_all(report.labelled)),
        line("prompts on which reviewers are undecided", report.undecided.to_string()),
    ];
    rows.extend(report.by_source.iter().map(|(source, count)| line(&format!("labels by {source}"), count.to_string())));
    let agreed = report.model_agrees;
    let rate = agreed.rate().map_or_else(|why| format!("- ({why})"), |rate| format!("{:.1} %", 100.0 * rate));
    rows.push(line("classifier agrees with reviewers", format!("{rate} ({} of {})", agreed.of, agreed.total)));
    rows.extend(report.reviewers.iter().map(|(name, count)| line(&format!("reviews by {name}"), count.to_string())));
    rows.push(line("Fleiss' kappa of reviewers", or_reason(report.fleiss.map(|kappa| kappa.kappa))));
    rows.push(line("Krippendorff's alpha of reviewers", or_reason(report.alpha)));
    table(&["what", "value"], rows)
}

fn in_words(who: &str, validation: &Validation) -> String {
    let Validation { texts, folds, seed, accuracy, macro_f1, labels } = validation;
    let mut text = format!(
        "{who}: {folds}-fold cross-validation of {texts} seeds (shuffle {seed}): accuracy {accuracy:.4}, macro-F1 {macro_f1:.4}\n"
    );
    for label in labels {
        text += &format!(
            "  {:<28} {:>5} seeds  precision {:.3}  recall {:.3}  F1 {:.3}\n",
            label.label, label.texts, label.precision, label.recall, label.f1
        );
    }
    text
}

/// Formats the report as JSON. An undefined statistic is null, with the reason beside it.
fn report_json(scheme: Scheme, report: &LabelReport) -> Value {
    let or_reason =
        |value: Result<f64, Undefined>| value.map_or_else(|why| (None, Some(why.to_string())), |v| (Some(v), None));
    let (kappa, no_kappa) = or_reason(report.fleiss.map(|kappa| kappa.kappa));
    let (alpha, no_alpha) = or_reason(report.alpha);
    json!({
        "scheme": scheme.as_str(),
        "queries": report.queries,
        "labelled": report.labelled,
        "sources": report.by_source,
        "undecided": report.undecided,
        "model_agreement": {
            "agree": report.model_agrees.of,
            "reviewed": report.model_agrees.total,
            "rate": report.model_agrees.rate().ok(),
        },
        "reviewers": report.reviewers,
        "fleiss_kappa": {
            "kappa": kappa,
            "items": report.fleiss.map_or(0, |kappa| kappa.items),
            "excluded": report.fleiss.map_or(0, |kappa| kappa.excluded),
            "undefined": no_kappa,
        },
        "krippendorff_alpha": { "alpha": alpha, "undefined": no_alpha },
    })
}

/// Flattens a report to dotted names and values; unknown values are omitted.
fn flatten_report(report: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (name, value) in report.as_object().into_iter().flatten() {
        match value {
            Value::Object(inner) => {
                rows.extend(inner.iter().map(|(part, value)| (format!("{name}.{part}"), value)));
            }
            value => rows.push((name.clone(), value)),
        }
    }
    let known = rows.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned))).collect()
}

fn as_csv(report: &Value) -> CommandResult<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "value"])?;
    for (name, value) in flatten_report(report) {
        writer.write_record([escape_formula(&name).as_ref(), escape_formula(&value).as_ref()])?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
