//! `langya keys create|list|revoke`: keys with which programs use the API.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Location;
use super::actor::actor;
use super::output::standard_output::print;
use super::output::table::{TableRow, render};
use super::output::terminal_text::printable;
use super::output::times::show_time;
use crate::databases;
use crate::domain::admin::key_scope::{KeyScope, MAX_LIFETIME_DAYS};
use crate::domain::time::Timestamp;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ApiKeyRow, IfMissing};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::services::admin::api_keys::{ApiKeys, CreatedKey, KeyRequest};

/// Flags of `langya keys`.
#[derive(Debug, Args)]
pub struct KeyOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Make a key and print it, once: the arena keeps only its hash
    Create(CreateKeyOptions),
    /// List all keys, the latest first
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Revoke a key, from the next request on
    Revoke {
        /// Id of the key, from `list`
        id: String,
    },
}

#[derive(Debug, Args)]
struct CreateKeyOptions {
    /// Purpose of the key
    name: String,
    /// Scopes: read, annotate or admin, or several of them, joined with commas
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true)]
    scope: Vec<KeyScope>,
    /// Days until it expires; 0 means never
    #[arg(long, value_name = "DAYS", default_value_t = 90, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_LIFETIME_DAYS)))]
    days: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Output row of a new key.
#[derive(Serialize)]
struct CreatedLine {
    id: String,
    key: String,
    expires_at: Option<String>,
}

impl TableRow for CreatedLine {
    const HEADS: &'static [&'static str] = &["key", "id", "expires at"];

    fn cells(&self) -> Vec<String> {
        vec![self.key.clone(), self.id.clone(), expiry_or_never(self.expires_at.as_ref())]
    }
}

/// Output row of a listed key.
#[derive(Serialize)]
struct KeyLine {
    id: String,
    name: String,
    scopes: Vec<&'static str>,
    state: &'static str,
    /// Day of the last use; the time is not stored.
    last_used: Option<String>,
    expires_at: Option<String>,
    created_at: String,
    created_by: String,
}

impl TableRow for KeyLine {
    const HEADS: &'static [&'static str] =
        &["id", "name", "scopes", "state", "last used", "expires at", "created at", "by"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            printable(&self.name).to_string(),
            self.scopes.join(","),
            self.state.to_owned(),
            expiry_or_never(self.last_used.as_ref()),
            expiry_or_never(self.expires_at.as_ref()),
            self.created_at.clone(),
            printable(&self.created_by).to_string(),
        ]
    }
}

impl KeyLine {
    fn new(row: ApiKeyRow, now: Timestamp) -> Self {
        let state = match &row {
            row if row.revoked_at.is_some() => "revoked",
            row if row.is_in_force(now) => "in force",
            _ => "expired",
        };
        Self {
            state,
            id: row.id,
            name: row.name,
            scopes: row.scopes.iter().map(|scope| scope.as_str()).collect(),
            last_used: row.used_day.map(|day| show_time(day).chars().take("2026-11-25".len()).collect()),
            expires_at: row.expires_at.map(show_time),
            created_at: show_time(row.created_at),
            created_by: row.created_by,
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A missing or failing database, or an id of no valid key.
pub async fn run(options: KeyOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let keys = ApiKeys::new(store.clone(), Arc::new(SharedRng::from_system()), Arc::new(SystemClock));
    match options.what {
        KeyCommand::Create(CreateKeyOptions { name, scope, days, format }) => {
            let CreatedKey { id, key, expires_at } =
                keys.create(KeyRequest { name: &name, scopes: &scope, days }, &actor(env)).await?;
            print(&render(&[CreatedLine { id, key, expires_at: expires_at.map(show_time) }], format)?)?;
        }
        KeyCommand::List { format } => {
            let now = SystemClock.now();
            let lines: Vec<KeyLine> = keys.list().await?.into_iter().map(|row| KeyLine::new(row, now)).collect();
            print(&render(&lines, format)?)?;
        }
        KeyCommand::Revoke { id } => keys.revoke(&id, &actor(env)).await?,
    }
    Ok(ExitCode::SUCCESS)
}

fn expiry_or_never(text: Option<&String>) -> String {
    text.map_or_else(|| "never".to_owned(), String::clone)
}
