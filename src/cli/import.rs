//! `langya import`: bring in what was made elsewhere.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Location;
use crate::config::{Environment, ServiceUrl, StorageSettings};
use crate::storage::{DataLock, IfMissing, Moved, Store, transfer};

/// Flags of `langya import`.
#[derive(Debug, Clone, Args)]
pub struct ImportOptions {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// A whole arena: from its SQLite file into the empty PostgreSQL database that --database names
    Arena(ArenaOptions),
}

#[derive(Debug, Clone, Args)]
struct ArenaOptions {
    #[command(flatten)]
    location: Location,
    /// The arena's database file, such as data/langya.db; nobody may be serving from it
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Moves an arena over; all of it or nothing.
///
/// # Errors
/// A file that is missing, in use or of another version; a database that is not empty or out of reach.
pub async fn run(options: ImportOptions, env: &Environment) -> anyhow::Result<ExitCode> {
    let What::Arena(options) = options.what;
    let settings = options.location.settings(env)?;
    let from = StorageSettings {
        database: ServiceUrl::from(format!("sqlite:{}", options.file.display())),
        ..settings.storage.clone()
    };
    let source = Store::open(&from, IfMissing::Fail).await?;
    let _lock = DataLock::take(&from)?;
    let target = Store::open(&settings.storage, IfMissing::Create).await?;
    let on_terminal = std::io::stderr().is_terminal();
    let moved = transfer(&source, &target, |moved| {
        if on_terminal {
            eprint!("\r{:<14} {:>10}", moved.table, moved.rows);
        }
    })
    .await;
    if on_terminal {
        eprintln!();
    }
    report(&moved?);
    target.close().await;
    source.close().await;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "what came over is the command's result")]
fn report(moved: &[Moved]) {
    for Moved { table, rows } in moved {
        println!("{table:<14} {rows:>10}");
    }
}
