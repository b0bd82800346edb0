//! `langya retention`: deletes the texts that are older than the settings allow, as the arena does automatically.

use std::process::ExitCode;

use clap::Args;

use super::Location;
use super::actor::actor;
use crate::databases;
use crate::domain::plural::counted;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::IfMissing;
use crate::infra::time::clock::SystemClock;
use crate::services::retention::Retention;

/// Flags of `langya retention`.
#[derive(Debug, Args)]
pub struct RetentionOptions {
    #[command(flatten)]
    location: Location,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Days to keep prompts and replies, in place of retention.text_days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    text_days: Option<u32>,
}

/// Runs the subcommand.
///
/// # Errors
/// Settings that keep everything (exit code 2), or a database failure (1).
pub async fn run(options: RetentionOptions, env: &Environment) -> CommandResult<ExitCode> {
    let mut settings = options.location.settings(env)?;
    if let Some(days) = options.text_days {
        settings.retention.text_days = days;
    }
    if settings.retention.text_days == 0 {
        let nothing = "texts are kept forever: set retention.text_days, or give --text-days";
        return Err(BadInput(nothing.to_owned()).into());
    }
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let rng = SharedRng::from_system();
    let retention = Retention { store: &store, rng: &rng, clock: &SystemClock, actor: actor(env) };
    if options.dry_run {
        let battles = retention.due(&settings.retention).await?;
        eprintln!("the texts of {} would be deleted; votes would stay", counted(battles, "battle", "battles"));
    } else {
        let battles = retention.run(&settings.retention).await?;
        eprintln!(
            "the texts of {} are deleted; votes stay. Copies in backups and exports remain: delete them yourself",
            counted(battles, "battle", "battles")
        );
    }
    Ok(ExitCode::SUCCESS)
}
