//! `langya invites create|list|revoke`: codes with which people sign in where `access.mode` is "invite".

use std::process::ExitCode;

use clap::{Args, Subcommand};
use rand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::Location;
use super::actor::actor;
use super::output::standard_output::{lines_of_csv, print};
use crate::databases;
use crate::domain::access::invite_code;
use crate::domain::admin::action::AdminAction;
use crate::domain::time::Timestamp;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::passphrase_hash::code_hash;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, InviteRow, NewInvite, Store};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::terminal_text::printable;
use crate::output::times::show_time;
use crate::services::admin::actor::audit_json;

const DAY_MS: i64 = 24 * 3_600_000;

/// Flags of `langya invites`.
#[derive(Debug, Args)]
pub struct InviteOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: InviteCommand,
}

#[derive(Debug, Subcommand)]
enum InviteCommand {
    /// Make codes and print them, once: the arena keeps only their hashes
    Create(CreateInviteOptions),
    /// List all invites with their uses
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Revoke an invite, and sign out everyone who used it
    Revoke {
        /// Id of the invite, from `list`
        id: String,
    },
}

#[derive(Debug, Args)]
struct CreateInviteOptions {
    /// Number of people who may use each code
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    quota: u32,
    /// Number of codes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    count: u32,
    /// Days until they expire; 0 means never
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=3_650))]
    days: u32,
    /// Note on the recipients
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Output row of a new invite.
#[derive(Debug, Serialize)]
struct CreatedInvite {
    id: String,
    code: String,
    quota: u32,
    expires_at: Option<String>,
}

/// Output row of a listed invite.
#[derive(Debug, Serialize)]
struct ListedInvite {
    id: String,
    note: String,
    uses: i64,
    quota: i64,
    created_at: String,
    expires_at: Option<String>,
    state: &'static str,
}

/// Runs the subcommand.
///
/// # Errors
/// A missing or failing database, or an id of no valid invite.
pub async fn run(options: InviteOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    match options.what {
        InviteCommand::Create(create) => {
            let invites = json!({ "count": create.count, "quota": create.quota, "note": create.note });
            write_audit_entry(&store, env, AdminAction::CreateInvites, "", Some(&invites)).await?;
            print(&create_invites(&store, &create).await?)?;
        }
        InviteCommand::List { format } => print(&listed(&store.invites().await?, SystemClock.now(), format)?)?,
        InviteCommand::Revoke { id } => {
            let is_in_force =
                store.invites().await?.iter().any(|invite| invite.id == id && invite.revoked_at.is_none());
            if is_in_force {
                write_audit_entry(&store, env, AdminAction::RevokeInvite, &id, None).await?;
            }
            if !store.revoke_invite(&id, SystemClock.now()).await? {
                let said = format!("no invite in force has the id {id:?}: `langya invites list` shows them");
                return Err(BadInput(said).into());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the audit log entry, before the action: no action is without one.
async fn write_audit_entry(
    store: &Store,
    env: &Environment,
    action: AdminAction,
    invite: &str,
    latter: Option<&Value>,
) -> CommandResult<()> {
    let mut entry = actor(env).entry(&SharedRng::from_system(), &SystemClock, action, invite);
    entry.latter = latter.and_then(audit_json);
    store.add_audit_entry(&entry).await?;
    Ok(())
}

async fn create_invites(store: &Store, options: &CreateInviteOptions) -> CommandResult<String> {
    let (rng, now) = (SharedRng::from_system(), SystemClock.now());
    let expires_at = (options.days > 0).then(|| Timestamp(now.0 + i64::from(options.days) * DAY_MS));
    let mut invites = Vec::new();
    for _ in 0..options.count {
        let (id, code) = (rng.id(&SystemClock), invite_code::encode(random_bits(&rng)));
        let letters = code.replace('-', "");
        let (hash, note) = (code_hash(&letters), options.note.as_str());
        let invite = NewInvite { id: &id, code_hash: &hash, note, quota: options.quota, created_at: now, expires_at };
        store.insert_invite(invite).await?;
        invites.push(CreatedInvite { id, code, quota: options.quota, expires_at: expires_at.map(show_time) });
    }
    match options.format {
        OutputFormat::Table => Ok(invites.iter().map(|invite| format!("{}  {}\n", invite.code, invite.id)).collect()),
        OutputFormat::Json => Ok(serde_json::to_string_pretty(&invites)? + "\n"),
        OutputFormat::Csv => lines_of_csv(&invites),
    }
}

fn listed(invites: &[InviteRow], now: Timestamp, format: OutputFormat) -> CommandResult<String> {
    let rows: Vec<ListedInvite> = invites.iter().map(|invite| ListedInvite::new(invite, now)).collect();
    match format {
        OutputFormat::Table => Ok(rows.iter().map(ListedInvite::line).collect()),
        OutputFormat::Json => Ok(serde_json::to_string_pretty(&rows)? + "\n"),
        OutputFormat::Csv => lines_of_csv(&rows),
    }
}

impl ListedInvite {
    fn new(invite: &InviteRow, now: Timestamp) -> Self {
        let state = match invite {
            invite if invite.revoked_at.is_some() => "revoked",
            invite if invite.expires_at.is_some_and(|at| at <= now) => "expired",
            invite if invite.uses >= invite.quota => "used up",
            _ => "open",
        };
        Self {
            id: invite.id.clone(),
            note: invite.note.clone(),
            uses: invite.uses,
            quota: invite.quota,
            created_at: show_time(invite.created_at),
            expires_at: invite.expires_at.map(show_time),
            state,
        }
    }

    fn line(&self) -> String {
        let expires = self.expires_at.as_deref().unwrap_or("never");
        let (uses, note) = (format!("{}/{}", self.uses, self.quota), printable(&self.note));
        format!("{}  {:<8} {uses:>9}  expires {expires}  {note}\n", self.id, self.state)
    }
}

fn random_bits(rng: &SharedRng) -> u128 {
    let mut bytes = [0; 16];
    rng.with(|rng| rng.fill_bytes(&mut bytes));
    u128::from_be_bytes(bytes)
}
