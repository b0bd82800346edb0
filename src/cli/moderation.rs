//! `langya moderation`: texts flagged by the moderation service, as on the admin page, and moderation of a text.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Location;
use super::actor::actor;
use super::output::standard_output::print;
use super::output::table::{TableRow, or_dash, render};
use super::output::times::show_time;
use crate::databases;
use crate::domain::moderation::ModerationResult;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{Environment, Settings};
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, ModerationFlagRow};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::services::moderation_reviews::ModerationReviews;

/// Maximum length of a text in bytes.
const MAX_TEXT_BYTES: u64 = 64 << 10;

/// Flags of `langya moderation`.
#[derive(Debug, Args)]
pub struct ModerationOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: ModerationCommand,
}

#[derive(Debug, Subcommand)]
enum ModerationCommand {
    /// List flagged texts, the open ones first
    List(ListFlagsOptions),
    /// Print the texts of a flag's battle
    Show(FlagOptions),
    /// Leave a flagged text as it is
    Keep(FlagOptions),
    /// Delete the texts of a flag's battle; its vote stays
    DeleteTexts(FlagOptions),
    /// Ask the service about a text from standard input, and print what the arena would do with it
    Check,
}

#[derive(Debug, Args)]
struct ListFlagsOptions {
    /// Maximum number of flags
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Debug, Args)]
struct FlagOptions {
    /// Id of the flag
    id: String,
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a failure of database or service (1).
pub async fn run(options: ModerationOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    if matches!(options.what, ModerationCommand::Check) {
        check(&settings, env).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let rng = SharedRng::from_system();
    let reviews = ModerationReviews { store: &store, rng: &rng, clock: &SystemClock, actor: actor(env) };
    match options.what {
        ModerationCommand::List(options) => {
            let rows = store.flags(None, options.limit).await?;
            let lines: Vec<FlagLine> = rows.into_iter().map(FlagLine::new).collect();
            print(&render(&lines, options.format)?)?;
        }
        ModerationCommand::Show(FlagOptions { id }) => show(&reviews, &id).await?,
        ModerationCommand::Keep(FlagOptions { id }) => {
            reviews.keep(&id).await?;
            eprintln!("the text of flag {id} is kept");
        }
        ModerationCommand::DeleteTexts(FlagOptions { id }) => {
            reviews.remove_texts(&id).await?;
            eprintln!(
                "the texts of the battle are deleted; its vote stays. Copies in backups and exports remain: delete them yourself"
            );
        }
        ModerationCommand::Check => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints texts as JSON, which cannot contain terminal control sequences.
async fn show(reviews: &ModerationReviews<'_>, id: &str) -> CommandResult<()> {
    let review = reviews.look(id).await?;
    let texts = review.record.map(|record| FlaggedTexts {
        prompts: record.turns.iter().map(|turn| turn.prompt.clone()).collect(),
        replies: record.replies.iter().map(|row| row.reply.text.clone()).collect(),
    });
    let shown = ShownFlag { flag: FlagLine::new(review.row), vote: review.vote, texts };
    print(&format!("{}\n", serde_json::to_string_pretty(&shown)?))
}

async fn check(settings: &Settings, env: &Environment) -> CommandResult<()> {
    let endpoint = ModerationEndpoint::open(settings, env)?;
    let endpoint = endpoint.ok_or_else(|| BadInput("no moderation service: set moderation.base_url".to_owned()))?;
    let mut text = String::new();
    std::io::stdin().take(MAX_TEXT_BYTES).read_to_string(&mut text)?;
    let within = Duration::from_millis(settings.moderation.timeout_ms);
    let found = endpoint.ask(&text, within, SystemClock.now()).await;
    let found = found.map_err(|error| anyhow::anyhow!("the moderation service at {}: {error}", endpoint.host()))?;
    let result = match settings.moderation.categories().apply(&found) {
        ModerationResult::Allowed => "allowed",
        ModerationResult::Flagged(_) => "flagged",
        ModerationResult::Refused(_) => "refused",
    };
    print(&format!("{result}: {}\n", if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") }))
}

#[derive(Serialize)]
struct ShownFlag {
    #[serde(flatten)]
    flag: FlagLine,
    vote: Option<i64>,
    texts: Option<FlaggedTexts>,
}

#[derive(Serialize)]
struct FlaggedTexts {
    prompts: Vec<String>,
    replies: Vec<String>,
}

#[derive(Serialize)]
struct FlagLine {
    flag: String,
    state: &'static str,
    battle: String,
    turn: u32,
    part: &'static str,
    categories: Vec<String>,
    flagged_at: String,
    decided_by: String,
    decided_at: Option<String>,
}

impl FlagLine {
    fn new(row: ModerationFlagRow) -> Self {
        Self {
            state: row.state.as_str(),
            battle: row.flag.battle.to_string(),
            turn: row.flag.turn,
            part: row.flag.part.as_str(),
            categories: row.flag.categories,
            flagged_at: show_time(row.flag.flagged_at),
            decided_by: row.decided_by,
            decided_at: row.decided_at.map(show_time),
            flag: row.flag.id,
        }
    }
}

impl TableRow for FlagLine {
    const HEADS: &'static [&'static str] =
        &["flag", "state", "battle", "turn", "text", "categories", "flagged at", "decided by"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.flag.clone(),
            self.state.to_owned(),
            self.battle.clone(),
            self.turn.to_string(),
            self.part.to_owned(),
            self.categories.join(", "),
            self.flagged_at.clone(),
            or_dash(&self.decided_by),
        ]
    }
}
