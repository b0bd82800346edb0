//! `langya bench construct` and `langya bench review`: turn open questions into multiple-choice items.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::read_text;
use crate::Location;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::suites::superclue::construction::{DraftPrompt, ReviewProgress};
use crate::error::CommandResult;
use crate::formats::draft_review::{DraftReviewStatus, Review, review};
use crate::infra::config::Environment;
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::model_run::clients::{BudgetFlags, model_clients, print_given_up};
use crate::model_run::rows::left_over;
use crate::output::out_file::{OutFile, Overwrite};
use crate::output::output_format::OutputFormat;
use crate::output::progress::BenchBar;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, or_dash, render, value_or_dash};
use crate::services::benchmark::construction::{DraftRunInput, DraftRunOutcome, construct};

/// Flags of `langya bench construct`.
#[derive(Debug, Clone, Args)]
pub(super) struct ConstructOptions {
    #[command(flatten)]
    location: Location,
    /// A data file of superclue-open; the first turns are rewritten
    #[arg(value_name = "QUESTIONS")]
    questions: PathBuf,
    /// Model to ask, by id
    #[arg(long, value_name = "ID")]
    model: String,
    /// File of drafts, one JSON object per line; drafts in it are not requested again
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A prompt of your own instead of the built-in one: the variant `construct` of a prompt file
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Repeat requests whose replies could not be parsed
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    budget: BudgetFlags,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Flags of `langya bench review`.
#[derive(Debug, Clone, Args)]
pub(super) struct ReviewOptions {
    /// File of drafts that `langya bench construct` wrote
    #[arg(value_name = "DRAFTS")]
    drafts: PathBuf,
    /// Decisions of reviewers in order of time, as CSV or lines of JSON: id, stage (1 to 3), reviewer, decision (accept,
    /// revise or reject), and question, options and answer where they are revised. A draft passes a stage once two of its three
    /// reviewers accept it, or revise it, and is dropped once two reject it
    #[arg(value_name = "REVIEWS", required = true)]
    reviews: Vec<PathBuf>,
    /// Data file of superclue-close to write, with the items that were accepted
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// `langya bench construct`.
pub(super) async fn draft(options: ConstructOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = with_discovered(options.location.settings(env)?, env, &DiscoveryTargets::default()).await;
    let prompt = options.prompt.as_deref().map(read_text).transpose()?;
    let prompt = DraftPrompt::new(prompt.as_deref())?;
    let clients = model_clients(settings, env)?;
    let model = clients.one(&ModelId::new(&options.model), options.budget.amounts())?;
    let limits = options.budget.limits()?;
    let bar = BenchBar::new("rewriting");
    let show = |progress| bar.show(progress, limits.budget.spent());
    let work = DraftRunInput {
        questions: &options.questions,
        drafts: &options.out,
        prompt: &prompt,
        retry_failed: options.retry_failed,
    };
    let constructed = construct(&work, &model, &limits, &show).await?;
    drop(bar);
    print(&render(&[ConstructedRow::new(&constructed)], options.format)?)?;
    print_given_up(&clients, [&model]);
    Ok(left_over(constructed.outcome.left(), 0, &limits))
}

/// `langya bench review`.
pub(super) fn check(options: &ReviewOptions) -> CommandResult<ExitCode> {
    let Review { items, statuses, unreadable } = review(&options.drafts, &options.reviews)?;
    let count = |is: fn(&ReviewProgress) -> bool| statuses.iter().filter(|status| is(&status.progress)).count();
    let accepted = count(|progress| *progress == ReviewProgress::Accepted);
    let rejected = count(|progress| matches!(progress, ReviewProgress::Rejected { .. }));
    let waiting = count(|progress| matches!(progress, ReviewProgress::Open { .. }));
    let out = options.out.display();
    if accepted > 0 {
        OutFile::create(&options.out, options.overwrite)?.write(|file| file.write_all(items.as_bytes()))?;
    }
    let rows: Vec<ReviewStatusRow> = statuses.iter().map(ReviewStatusRow::new).collect();
    print(&render(&rows, options.format)?)?;
    eprintln!("{accepted} accepted, {rejected} rejected, {waiting} waiting, {unreadable} could not be read");
    match accepted {
        0 => eprintln!("{out} was not written: no draft is accepted yet"),
        _ => eprintln!("{out}: import it with `langya import suite superclue-close {out}`"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Output row of a drafting run.
#[derive(Debug, Clone, Serialize)]
struct ConstructedRow {
    model: String,
    total: u64,
    before: u64,
    made: u64,
    unreadable: u64,
    left: u64,
    failed: String,
}

impl ConstructedRow {
    fn new(constructed: &DraftRunOutcome) -> Self {
        let DraftRunOutcome { outcome, unreadable } = constructed;
        Self {
            model: outcome.model.to_string(),
            total: outcome.total,
            before: outcome.before,
            made: outcome.kept - unreadable,
            unreadable: *unreadable,
            left: outcome.left(),
            failed: outcome.failures(),
        }
    }
}

impl TableRow for ConstructedRow {
    const HEADS: &'static [&'static str] = &["model", "all", "before", "made", "unreadable", "left", "failed"];

    fn cells(&self) -> Vec<String> {
        let numbers = [self.total, self.before, self.made, self.unreadable, self.left].map(|number| number.to_string());
        [self.model.clone()].into_iter().chain(numbers).chain([or_dash(&self.failed)]).collect()
    }
}

/// Output row with the review status of a draft.
#[derive(Debug, Clone, Serialize)]
struct ReviewStatusRow {
    id: String,
    state: &'static str,
    stage: Option<u8>,
    waits_for: Vec<String>,
}

impl ReviewStatusRow {
    fn new(status: &DraftReviewStatus) -> Self {
        let (state, stage) = match status.progress {
            ReviewProgress::Accepted => ("accepted", None),
            ReviewProgress::Rejected { stage } => ("rejected", Some(stage)),
            ReviewProgress::Open { stage } => ("waiting", Some(stage)),
        };
        Self { id: status.id.clone(), state, stage, waits_for: status.waits_for.clone() }
    }
}

impl TableRow for ReviewStatusRow {
    const HEADS: &'static [&'static str] = &["id", "state", "stage", "waits for"];

    fn cells(&self) -> Vec<String> {
        vec![self.id.clone(), self.state.to_owned(), value_or_dash(self.stage), or_dash(&self.waits_for.join(", "))]
    }
}
