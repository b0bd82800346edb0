//! `langya requests`: requests to delete the texts of battles, as on the admin page.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Location;
use super::actor::actor;
use super::output::standard_output::print;
use super::output::table::{TableRow, render};
use super::output::times::show_time;
use crate::databases;
use crate::domain::admin::deletion_request::DeletionScope;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::DeletionPreview;
use crate::infra::storage::{DeletionRequestRow, IfMissing, Store};
use crate::infra::time::clock::SystemClock;
use crate::output::output_format::OutputFormat;
use crate::services::deletion_requests::DeletionRequests;

/// Flags of `langya requests`.
#[derive(Debug, Args)]
pub struct RequestsOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: RequestsCommand,
}

#[derive(Debug, Subcommand)]
enum RequestsCommand {
    /// List requests, the open ones first
    List(ListRequestsOptions),
    /// Enter a request on somebody's behalf, and print its id
    Add(AddRequestOptions),
    /// Delete the texts that a request is about; votes stay
    DeleteTexts(DeleteTextsOptions),
    /// Refuse a request; the texts stay
    Refuse(RefuseOptions),
}

#[derive(Debug, Args)]
struct ListRequestsOptions {
    /// Maximum number of requests
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Debug, Args)]
struct AddRequestOptions {
    /// Id of a battle, or the link of its page
    battle: String,
    /// About all battles of its visitor, not only this one
    #[arg(long)]
    all_of_visitor: bool,
    /// Applicant and reason
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Debug, Args)]
struct DeleteTextsOptions {
    /// Id of the request
    id: String,
    /// Why it is granted
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct RefuseOptions {
    /// Id of the request
    id: String,
    /// Why it is refused
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a database failure (1).
pub async fn run(options: RequestsOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let rng = SharedRng::from_system();
    let requests = DeletionRequests { store: &store, rng: &rng, clock: &SystemClock, actor: actor(env) };
    match options.what {
        RequestsCommand::List(options) => list(&store, &options).await?,
        RequestsCommand::Add(options) => add(&requests, &options).await?,
        RequestsCommand::DeleteTexts(options) => delete_texts(&requests, &options).await?,
        RequestsCommand::Refuse(RefuseOptions { id, reason }) => {
            requests.refuse(&id, &reason).await?;
            eprintln!("request {id} is refused; the texts stay");
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &Store, options: &ListRequestsOptions) -> CommandResult<()> {
    let rows = store.deletion_requests(options.limit).await?;
    let lines: Vec<RequestLine> = rows.into_iter().map(RequestLine::new).collect();
    print(&render(&lines, options.format)?)
}

async fn add(requests: &DeletionRequests<'_>, options: &AddRequestOptions) -> CommandResult<()> {
    let scope = if options.all_of_visitor { DeletionScope::Visitor } else { DeletionScope::Battle };
    let id = requests.add(&options.battle, scope, &options.reason).await?;
    print(&format!("{id}\n"))
}

async fn delete_texts(requests: &DeletionRequests<'_>, options: &DeleteTextsOptions) -> CommandResult<()> {
    let DeleteTextsOptions { id, reason, dry_run } = options;
    if *dry_run {
        let DeletionPreview { battles, .. } = requests.preview(id).await?;
        eprintln!("the texts of {} would be deleted; votes would stay", counted(battles, "battle", "battles"));
        return Ok(());
    }
    let battles = requests.delete_texts(id, reason).await?;
    eprintln!(
        "the texts of {} are deleted; votes stay. Copies in backups and exports remain: delete them yourself",
        counted(battles, "battle", "battles")
    );
    Ok(())
}

#[derive(Serialize)]
struct RequestLine {
    request: String,
    state: &'static str,
    scope: &'static str,
    battle: String,
    entered_by: String,
    created_at: String,
    reason: String,
    decided_by: String,
    decided_at: Option<String>,
    answer: String,
    battles: u64,
}

impl RequestLine {
    fn new(row: DeletionRequestRow) -> Self {
        Self {
            state: row.state.as_str(),
            scope: row.request.scope.as_str(),
            battle: row.request.battle.to_string(),
            entered_by: row.request.entered_by,
            created_at: show_time(row.request.created_at),
            reason: row.request.reason,
            decided_by: row.decided_by,
            decided_at: row.decided_at.map(show_time),
            answer: row.answer,
            battles: row.battles,
            request: row.request.id,
        }
    }
}

impl TableRow for RequestLine {
    const HEADS: &'static [&'static str] =
        &["request", "state", "scope", "battle", "entered by", "asked at", "reason", "answer", "battles"];

    fn cells(&self) -> Vec<String> {
        let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
        vec![
            self.request.clone(),
            self.state.to_owned(),
            self.scope.to_owned(),
            self.battle.clone(),
            or(&self.entered_by, "on the page"),
            self.created_at.clone(),
            or(&self.reason, "-"),
            or(&self.answer, "-"),
            self.battles.to_string(),
        ]
    }
}
