//! `langya votes`: lists votes, excludes them from the ratings, and readmits them.

mod decide;
mod filters;
mod flagged;
mod list;
mod prompts;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::error::CommandResult;
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
    List(Box<list::ListVotesOptions>),
    /// List voters whose votes differ from everybody else's: for or against one model, or against the crowd. Excludes nobody
    Flagged(Box<flagged::FlaggedOptions>),
    /// Exclude votes from the ratings, all of them or none; the votes stay, and `include` reverses it
    Exclude(decide::ExcludeOptions),
    /// Withdraw exclusions, so that the votes are rated again
    Include(decide::IncludeOptions),
    /// List the prompts with the most votes; those that are the same, or nearly the same, are one cluster
    Prompts(prompts::PromptsOptions),
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a failed run (1).
pub async fn run(options: VotesOptions, env: &Environment) -> CommandResult<ExitCode> {
    match options.what {
        VotesCommand::List(options) => list::run(&options, env).await,
        VotesCommand::Flagged(options) => flagged::run(&options, env).await,
        VotesCommand::Exclude(options) => decide::exclude(options, env).await,
        VotesCommand::Include(options) => decide::include(options, env).await,
        VotesCommand::Prompts(options) => prompts::run(&options, env).await,
    }
}
