//! `langya campaign invite|revoke`

use clap::Args;
use serde_json::json;

use super::{find, unknown};
use crate::cli::error::{BadInput, CommandResult};
use crate::cli::output::print;
use crate::domain::time::Timestamp;
use crate::infra::clock::{Clock, SystemClock};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewAnnotator, Store};
use crate::services::campaign::annotating::token_hash;

const DAY_MS: i64 = 24 * 3_600_000;

/// Flags of `langya campaign invite`.
#[derive(Debug, Args)]
pub(super) struct InviteOptions {
    /// Id of the campaign
    id: String,
    /// How many annotators; each gets a token of their own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Judgements that each may make at the most; no limit without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quota: Option<u32>,
    /// Days until the links expire; 0 means never
    #[arg(long, value_name = "DAYS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=3_650))]
    days: u32,
    /// One token a line, or JSON
    #[arg(long, value_enum, default_value_t)]
    format: InviteFormat,
}

/// How tokens are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum InviteFormat {
    /// One token a line.
    #[default]
    Table,
    /// One object with all of them.
    Json,
    /// A heading and one token a line.
    Csv,
}

/// Flags of `langya campaign revoke`.
#[derive(Debug, Args)]
pub(super) struct RevokeOptions {
    /// Id of the campaign
    id: String,
    /// The annotator's pseudonym, from the report
    annotator: String,
}

/// Makes links and prints their tokens.
///
/// # Errors
/// An unknown campaign.
pub(super) async fn invite(store: &Store, options: &InviteOptions) -> CommandResult<()> {
    let id = &find(store, &options.id).await?.id;
    let (rng, now) = (SharedRng::from_system(), SystemClock.now());
    let tokens: Vec<String> = (0..options.count).map(|_| rng.token()).collect();
    let hashes: Vec<String> = tokens.iter().map(|token| token_hash(token)).collect();
    let expires_at = (options.days > 0).then(|| Timestamp(now.0 + i64::from(options.days) * DAY_MS));
    let new = |token_hash| NewAnnotator { token_hash, quota: options.quota, expires_at };
    let annotators: Vec<NewAnnotator<'_>> = hashes.iter().map(String::as_str).map(new).collect();
    store.insert_annotators(id, &annotators, now).await?;
    let lines = tokens.iter().map(|token| format!("{token}\n")).collect::<String>();
    print(&match options.format {
        InviteFormat::Table => lines,
        InviteFormat::Csv => format!("invite\n{lines}"),
        InviteFormat::Json => json!({"invites": tokens}).to_string() + "\n",
    })?;
    if options.format == InviteFormat::Table {
        eprintln!("each annotator opens /campaign/{id}?invite=TOKEN; the tokens are not shown again");
    }
    Ok(())
}

/// Makes an annotator's link unusable.
///
/// # Errors
/// An unknown campaign or annotator.
pub(super) async fn revoke(store: &Store, options: &RevokeOptions) -> CommandResult<()> {
    let RevokeOptions { id, annotator } = options;
    if store.campaign(id).await?.is_none() {
        return Err(unknown(id).into());
    }
    if !store.revoke_annotator(id, annotator, SystemClock.now()).await? {
        let said = format!("campaign {id} has no annotator {annotator:?} with a link in force: its report names them");
        return Err(BadInput(said).into());
    }
    eprintln!("the link of {annotator} is revoked; what they judged stays");
    Ok(())
}
