//! `langya admin`: admin accounts and the audit log.

mod audit;
mod users;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::Location;
use super::actor::actor;
use crate::databases;
use crate::error::CommandResult;
use crate::infra::config::{Environment, Settings};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store};
use crate::infra::time::clock::SystemClock;
use crate::services::admin::actor::Actor;
use crate::services::admin::users::AdminUsers;

/// Flags of `langya admin`.
#[derive(Debug, Args)]
pub struct AdminOptions {
    #[command(flatten)]
    location: Location,
    #[command(subcommand)]
    what: AdminCommand,
}

#[derive(Debug, Subcommand)]
enum AdminCommand {
    /// Print a single-use link that creates an account
    Invite(users::InviteUserOptions),
    /// List and change accounts
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Print what was done in the admin and by commands, the latest first
    Audit(audit::AuditOptions),
}

/// Dependencies of the subcommands.
struct Admin {
    store: Store,
    settings: Settings,
    users: AdminUsers,
    actor: Actor,
}

/// Runs the subcommand.
///
/// # Errors
/// Bad input, or an unavailable database.
pub async fn run(options: AdminOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let users = AdminUsers::new(store.clone(), Arc::new(SharedRng::from_system()), Arc::new(SystemClock));
    let admin = Admin { store, settings, users, actor: actor(env) };
    match options.what {
        AdminCommand::Invite(options) => users::invite(&admin, &options).await?,
        AdminCommand::Users(command) => users::run(&admin, command).await?,
        AdminCommand::Audit(options) => audit::run(&admin, &options).await?,
    }
    Ok(ExitCode::SUCCESS)
}
