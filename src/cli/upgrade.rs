//! `langya upgrade`: lists or applies this version's migrations of an earlier database.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Location;
use super::output::standard_output::print;
use super::output::table::{TableRow, render};
use super::output::times::show_time;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::infra::config::{Environment, StorageSettings};
use crate::infra::storage::backup::LastBackup;
use crate::infra::storage::{DataLock, PendingMigration, Store};
use crate::output::output_format::OutputFormat;

/// Flags of `langya upgrade`.
#[derive(Debug, Args)]
pub struct UpgradeOptions {
    #[command(flatten)]
    location: Location,
    /// Only list what would be changed
    #[arg(long)]
    check: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Runs the subcommand: prints the changes to stdout, and instructions to stderr.
///
/// # Errors
/// Settings invalid in this version (exit code 2); a missing, newer or serving arena, or a failed change (1).
pub async fn run(options: UpgradeOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let changes = if options.check {
        Store::pending_migrations(&settings.storage).await?
    } else {
        // Two versions must not serve one embedded database; instances of PostgreSQL are restarted one after another.
        let _lock = DataLock::acquire_existing(&settings.storage, "upgrade").await?;
        Store::migrate(&settings.storage).await?
    };
    let count = changes.len();
    if count == 0 {
        eprintln!("the database schema is up to date");
    } else if options.check {
        let pending = counted(count, "schema migration is", "schema migrations are");
        eprintln!("{pending} pending; {}", backup_advice(&settings.storage));
        eprintln!(
            "run langya upgrade to apply them, or langya serve, which applies them first; earlier versions cannot open the database then"
        );
    } else {
        eprintln!("{} applied", counted(count, "schema migration is", "schema migrations are"));
    }
    let rows: Vec<PrintedChange> = changes.into_iter().map(PrintedChange::from).collect();
    if count > 0 || !matches!(options.format, OutputFormat::Table) {
        print(&render(&rows, options.format)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn backup_advice(settings: &StorageSettings) -> String {
    LastBackup::read(settings).map_or_else(
        || "there is no backup: make one first with langya backup --out FOLDER".to_owned(),
        |backup| {
            let (at, path) = (show_time(backup.at), backup.path.display());
            format!("the newest backup is of {at} ({path}): make another one first with langya backup --out FOLDER")
        },
    )
}

/// Output row of a change.
#[derive(Debug, Serialize)]
struct PrintedChange {
    version: i64,
    change: String,
}

impl From<PendingMigration> for PrintedChange {
    fn from(migration: PendingMigration) -> Self {
        Self { version: migration.version, change: migration.description }
    }
}

impl TableRow for PrintedChange {
    const HEADS: &'static [&'static str] = &["version", "change"];

    fn cells(&self) -> Vec<String> {
        vec![self.version.to_string(), self.change.clone()]
    }
}
