//! `langya campaign`: creates a campaign from a file, invites annotators, and reports their judgements.

mod ask_models;
mod create;
mod export;
mod invite;
mod list;
mod report;
mod state;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use tempfile::TempDir;

use super::Location;
use super::actor::actor;
use crate::databases;
use crate::domain::campaign::state::StateChange;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{Environment, StorageSettings};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{CampaignRow, DataLock, IfMissing, Store, StoreError};
use crate::infra::time::clock::SystemClock;
use crate::services::campaign::administration::CampaignAdmin;

/// Flags of `langya campaign`.
#[derive(Debug, Args)]
pub struct CampaignOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: CampaignCommand,
}

#[derive(Debug, Subcommand)]
enum CampaignCommand {
    /// Create a campaign from its file, as a draft; with --dry-run only print the effort that it would take
    Create(create::CreateCampaignOptions),
    /// List all campaigns
    List(list::ListCampaignsOptions),
    /// Open a campaign, so that annotators can judge
    Open(state::CampaignArgument),
    /// Pause a campaign: annotators see that it is paused, and nothing is lost
    Pause(state::CampaignArgument),
    /// Close a campaign; it can be reopened
    Close(state::CampaignArgument),
    /// Make links for annotators and print their tokens, once: only hashes are kept
    Invite(invite::InviteAnnotatorOptions),
    /// Revoke an annotator's link; their judgements stay
    Revoke(invite::RevokeOptions),
    /// Report ratings, agreement and each annotator's work; --leave-out excludes an annotator from now on
    Report(report::ReportOptions),
    /// Write every judgement to a file
    Export(export::ExportCampaignOptions),
    /// Delete a campaign with all its judgements
    Delete(state::DeleteCampaignOptions),
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid input (exit code 2), or a failed run (1).
pub async fn run(options: CampaignOptions, env: &Environment) -> CommandResult<ExitCode> {
    let location = &options.location;
    if let CampaignCommand::Create(create) = &options.what
        && create::needs_only_files(create)?
    {
        return create::forecast(create);
    }
    let settings = location.settings(env)?;
    let if_no_database = match &options.what {
        CampaignCommand::Create(create) => create::if_no_database(create)?,
        _ => IfNoDatabase::Refuse,
    };
    let (store, _temporary) = open(&settings.storage, if_no_database).await?;
    let rng = SharedRng::from_system();
    let admin = CampaignAdmin { store: &store, rng: &rng, clock: &SystemClock, actor: actor(env) };
    let mut code = ExitCode::SUCCESS;
    match options.what {
        CampaignCommand::Create(create) => code = create::create(&admin, &create, (settings, env)).await?,
        CampaignCommand::List(options) => list::run(&store, &options).await?,
        CampaignCommand::Open(id) => state::change(&admin, &id, StateChange::Open).await?,
        CampaignCommand::Pause(id) => state::change(&admin, &id, StateChange::Pause).await?,
        CampaignCommand::Close(id) => state::change(&admin, &id, StateChange::Close).await?,
        CampaignCommand::Invite(options) => invite::invite(&admin, &options).await?,
        CampaignCommand::Revoke(options) => invite::revoke(&admin, &options).await?,
        CampaignCommand::Report(options) => report::run(&admin, &settings, &options).await?,
        CampaignCommand::Export(options) => export::run(&store, options).await?,
        CampaignCommand::Delete(options) => state::delete(&admin, &options).await?,
    }
    Ok(code)
}

/// Behaviour of a command without an existing database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfNoDatabase {
    /// Fail.
    Refuse,
    /// Create it: a first campaign may come before the first start of the server.
    Make,
    /// Use an empty temporary one.
    MakeTemporary,
}

/// Opens the database, also beside a serving arena; a temporary one is returned with its folder.
async fn open(settings: &StorageSettings, if_none: IfNoDatabase) -> CommandResult<(Store, Option<TempDir>)> {
    match (databases::open(settings, IfMissing::Fail).await, if_none) {
        (Err(StoreError::Missing(_)), IfNoDatabase::Make) => {
            let _lock = DataLock::take(settings, "campaign create")?;
            Ok((databases::open(settings, IfMissing::Create).await?, None))
        }
        (Err(StoreError::Missing(_)), IfNoDatabase::MakeTemporary) => {
            let folder = tempfile::tempdir()?;
            let settings =
                StorageSettings { database: "".into(), data_dir: folder.path().to_owned(), ..settings.clone() };
            Ok((databases::open(&settings, IfMissing::Create).await?, Some(folder)))
        }
        (opened, _) => Ok((opened?, None)),
    }
}

/// Returns the campaign with this id.
async fn find(store: &Store, id: &str) -> CommandResult<CampaignRow> {
    store.campaign(id).await?.ok_or_else(|| unknown(id).into())
}

fn unknown(id: &str) -> BadInput {
    BadInput(format!("there is no campaign {id:?}: `langya campaign list` shows them"))
}
