//! `langya webhooks list|retry`: webhook messages, including abandoned ones.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::Location;
use super::actor::actor;
use super::output::standard_output::print;
use super::output::table::{TableRow, or_dash, render, value_or_dash};
use super::output::terminal_text::printable;
use super::output::times::show_time;
use crate::databases;
use crate::domain::webhook::DeliveryState;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, WebhookMessageRow};
use crate::infra::time::clock::SystemClock;
use crate::output::output_format::OutputFormat;
use crate::services::webhooks::retry;

/// Flags of `langya webhooks`.
#[derive(Debug, Args)]
pub struct WebhookOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// List messages, the latest first
    List {
        /// Only messages that are waiting, delivered, or abandoned (dead)
        #[arg(long, value_enum)]
        state: Option<ListedState>,
        /// Maximum number of messages
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Resend a message whose delivery was abandoned
    Retry {
        /// Id of the message, from `list`
        id: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ListedState {
    Waiting,
    Delivered,
    Dead,
}

impl From<ListedState> for DeliveryState {
    fn from(state: ListedState) -> Self {
        match state {
            ListedState::Waiting => Self::Waiting,
            ListedState::Delivered => Self::Delivered,
            ListedState::Dead => Self::Dead,
        }
    }
}

#[derive(Serialize)]
struct MessageLine {
    id: String,
    webhook: String,
    event: &'static str,
    state: &'static str,
    failures: u32,
    error: String,
    created_at: String,
    /// Time of the next attempt, if the message is waiting.
    next_at: Option<String>,
    body: String,
}

impl TableRow for MessageLine {
    const HEADS: &'static [&'static str] =
        &["id", "webhook", "event", "state", "failures", "error", "created at", "next"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            printable(&self.webhook).to_string(),
            self.event.to_owned(),
            self.state.to_owned(),
            self.failures.to_string(),
            or_dash(&printable(&self.error)),
            self.created_at.clone(),
            value_or_dash(self.next_at.as_ref()),
        ]
    }
}

impl MessageLine {
    fn new(row: WebhookMessageRow) -> Self {
        let waits = row.state == DeliveryState::Waiting;
        Self {
            id: row.id,
            webhook: row.webhook,
            event: row.event.as_str(),
            state: row.state.as_str(),
            failures: row.failures,
            error: row.error,
            created_at: show_time(row.created_at),
            next_at: waits.then(|| show_time(row.next_at)),
            body: row.body,
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A missing or failing database, or an id of no abandoned message.
pub async fn run(options: WebhookOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    match options.what {
        WebhookCommand::List { state, limit, format } => {
            let rows = store.webhook_messages(state.map(DeliveryState::from), limit).await?;
            let lines: Vec<MessageLine> = rows.into_iter().map(MessageLine::new).collect();
            print(&render(&lines, format)?)?;
        }
        WebhookCommand::Retry { id } => {
            retry(&store, &SharedRng::from_system(), &SystemClock, &id, &actor(env)).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
