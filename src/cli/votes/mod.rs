//! `langya votes`: list votes, exclude them from the ratings, and rate them again.

mod filters;
mod flagged;
mod list;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::cli::error::CommandResult;
use crate::infra::config::Environment;

/// Flags of `langya votes`.
#[derive(Debug, Clone, Args)]
pub struct VotesOptions {
    #[command(subcommand)]
    what: VotesCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum VotesCommand {
    /// List votes with their voters and the rules that exclude them
    List(Box<list::ListOptions>),
    /// List voters who vote like nobody else: for or against one model, or against the crowd. It excludes nobody
    Flagged(Box<flagged::FlaggedOptions>),
}

/// Runs the subcommand.
///
/// # Errors
/// Input that cannot be used (exit code 2), or a run that failed (1).
pub async fn run(options: VotesOptions, env: &Environment) -> CommandResult<ExitCode> {
    match options.what {
        VotesCommand::List(options) => list::run(&options, env).await,
        VotesCommand::Flagged(options) => flagged::run(&options, env).await,
    }
}
