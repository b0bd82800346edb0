//! `langya campaign invite|revoke`

use clap::Args;
use serde_json::json;

use crate::domain::campaign::MAX_LINK_DAYS;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::output::standard_output::print;
use crate::services::campaign::administration::{AnnotatorInvites, CampaignAdmin};

/// Flags of `langya campaign invite`.
#[derive(Debug, Args)]
pub(super) struct InviteAnnotatorOptions {
    /// Id of the campaign
    id: String,
    /// Number of annotators; each gets a personal token, or a place of the shared link
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Make one link for all of them, instead of one for each: each person who opens it takes a place and gets a personal link
    #[arg(long)]
    shared: bool,
    /// Maximum number of judgements per annotator [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quota: Option<u32>,
    /// Days until the links expire; 0 means never
    #[arg(long, value_name = "DAYS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_LINK_DAYS)))]
    days: u32,
    /// One token per line, or JSON
    #[arg(long, value_enum, default_value_t)]
    format: InviteFormat,
}

/// Output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum InviteFormat {
    /// One token per line.
    #[default]
    Table,
    /// One object with all of them.
    Json,
    /// A heading and one token per line.
    Csv,
}

/// Flags of `langya campaign revoke`.
#[derive(Debug, Args)]
pub(super) struct RevokeOptions {
    /// Id of the campaign
    id: String,
    /// The annotator's pseudonym, from the report, or the name of a shared link, such as pilot-link-1
    annotator: String,
}

/// Creates links and prints their tokens.
///
/// # Errors
/// An unknown campaign.
pub(super) async fn invite(admin: &CampaignAdmin<'_>, options: &InviteAnnotatorOptions) -> CommandResult<()> {
    let InviteAnnotatorOptions { id, count, quota, days, .. } = options;
    let invites = AnnotatorInvites { count: *count, quota: *quota, days: *days };
    if options.shared {
        return share(admin, options, invites).await;
    }
    let tokens = admin.invite(id, invites).await?;
    let lines = tokens.iter().map(|token| format!("{token}\n")).collect::<String>();
    print(&match options.format {
        InviteFormat::Table => lines,
        InviteFormat::Csv => format!("invite\n{lines}"),
        InviteFormat::Json => json!({"invites": tokens}).to_string() + "\n",
    })?;
    if options.format == InviteFormat::Table {
        eprintln!("each annotator opens /campaign/{id}#invite=TOKEN; the tokens are not shown again");
    }
    Ok(())
}

/// Creates a shared link and prints its token.
async fn share(
    admin: &CampaignAdmin<'_>,
    options: &InviteAnnotatorOptions,
    invites: AnnotatorInvites,
) -> CommandResult<()> {
    let token = admin.share(&options.id, invites).await?;
    print(&match options.format {
        InviteFormat::Table => format!("{token}\n"),
        InviteFormat::Csv => format!("join\n{token}\n"),
        InviteFormat::Json => json!({ "join": token }).to_string() + "\n",
    })?;
    if options.format == InviteFormat::Table {
        let (id, annotators) = (&options.id, counted(options.count, "annotator", "annotators"));
        eprintln!("for up to {annotators}: /campaign/{id}#join=TOKEN; the token is not shown again");
    }
    Ok(())
}

/// Revokes an annotator's link or a shared one.
///
/// # Errors
/// An unknown campaign or annotator.
pub(super) async fn revoke(admin: &CampaignAdmin<'_>, options: &RevokeOptions) -> CommandResult<()> {
    let RevokeOptions { id, annotator } = options;
    admin.revoke(id, annotator).await?;
    eprintln!("the link of {annotator} is revoked; their judgements stay");
    Ok(())
}
