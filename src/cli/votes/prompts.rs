//! `langya votes prompts`: prompts of votes, with identical and nearly identical ones clustered.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::Location;
use crate::databases;
use crate::domain::integrity::prompts::prompt_index::ClusterSummary;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::storage::{IfMissing, VoteRange};
use crate::infra::stored_votes::prompt_index::read_prompt_index;
use crate::output::output_format::OutputFormat;
use crate::output::table::{TableRow, render};
use crate::output::{progress, standard_output};

/// Maximum length of a prompt in a table, in characters.
const MAX_PROMPT_CHARS: usize = 60;

/// Flags of `langya votes prompts`.
#[derive(Debug, Clone, Args)]
pub(super) struct PromptsOptions {
    #[command(flatten)]
    location: Location,
    /// Only the N clusters with the most votes; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only clusters with at least N votes
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_votes: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Output row of a cluster.
#[derive(Serialize)]
struct ClusterLine {
    prompt_cluster: String,
    votes: u64,
    rated: u64,
    voters: u64,
    /// Share of the votes with a known prompt.
    share: f64,
    prompt: String,
}

impl ClusterLine {
    fn new(summary: &ClusterSummary, all: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
        let share = summary.votes as f64 / all.max(1) as f64;
        Self {
            prompt_cluster: summary.id.to_string(),
            votes: summary.votes,
            rated: summary.rated,
            voters: summary.voters,
            share,
            prompt: summary.excerpt.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

impl TableRow for ClusterLine {
    const HEADS: &'static [&'static str] = &["prompt cluster", "votes", "rated", "voters", "share", "first prompt"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.prompt_cluster.clone(),
            self.votes.to_string(),
            self.rated.to_string(),
            self.voters.to_string(),
            format!("{:.2} %", 100.0 * self.share),
            console::truncate_str(&self.prompt, MAX_PROMPT_CHARS, "…").into_owned(),
        ]
    }
}

/// Prints the clusters with the most votes.
///
/// # Errors
/// A database that is missing or unavailable.
pub(super) async fn run(options: &PromptsOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let bar = progress::bar("comparing prompts");
    let index = read_prompt_index(&store, |seq, last| progress::show(&bar, seq, last)).await?;
    bar.finish_and_clear();
    let summaries = index.summaries(&store.exclusions_in_force(VoteRange::ALL).await?);
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    let shown = summaries.iter().filter(|summary| summary.votes >= options.min_votes).take(limit);
    let all = index.votes_with_prompt();
    let lines: Vec<ClusterLine> = shown.map(|summary| ClusterLine::new(summary, all)).collect();
    standard_output::print(&render(&lines, options.format)?)?;
    let (prompts, clusters) = index.sizes();
    eprintln!(
        "note: {} about {} in {}",
        counted(all, "vote is", "votes are"),
        counted(prompts, "prompt", "prompts"),
        counted(clusters, "cluster", "clusters")
    );
    Ok(ExitCode::SUCCESS)
}
