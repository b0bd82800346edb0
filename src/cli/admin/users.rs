//! `langya admin invite` and `langya admin users list|add|role|disable|enable|reset`

use clap::{ArgGroup, Args, Subcommand};
use serde::Serialize;

use super::Admin;
use crate::domain::admin::role::Role;
use crate::error::CommandResult;
use crate::infra::storage::{AdminUserRow, UserChange};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, render};
use crate::output::times::show_time;
use crate::services::admin::oidc_users::ProviderUser;
use crate::services::admin::users::{link_address, passphrase_link_address};

/// Flags of `langya admin invite`.
#[derive(Debug, Args)]
pub(super) struct InviteUserOptions {
    /// Role of the new user: viewer, reviewer, operator or owner
    #[arg(long, value_name = "ROLE")]
    role: Role,
}

/// Flags of `langya admin users add`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("identity").required(true).args(["email", "subject"])))]
pub(super) struct AddUserOptions {
    /// Name of the account
    name: String,
    /// Role: viewer, reviewer, operator or owner
    #[arg(long, value_name = "ROLE")]
    role: Role,
    /// E-mail address, which the provider must have verified; identifies the account until its first sign-in
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Their subject at the provider: the claim `sub`
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
}

/// `langya admin users`
#[derive(Debug, Subcommand)]
pub(super) enum UsersCommand {
    /// List all accounts
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Print a single-use link that creates an account
    Invite(InviteUserOptions),
    /// Add an account for a person who signs in at the provider of `[oidc]`
    Add(AddUserOptions),
    /// Change the role of an account, from its next request on
    Role {
        /// Name of the account
        name: String,
        /// viewer, reviewer, operator or owner
        role: Role,
    },
    /// Lock an account and end all its sessions
    Disable {
        /// Name of the account
        name: String,
    },
    /// Unlock an account
    Enable {
        /// Name of the account
        name: String,
    },
    /// Remove an account's passphrase and second factor, end its sessions, and print a link for setting a new passphrase
    Reset {
        /// Name of the account
        name: String,
    },
}

#[derive(Serialize)]
struct UserLine {
    name: String,
    role: Role,
    second_factor: bool,
    state: &'static str,
    created_at: String,
}

impl TableRow for UserLine {
    const HEADS: &'static [&'static str] = &["name", "role", "second factor", "state", "created at"];

    fn cells(&self) -> Vec<String> {
        let factor = if self.second_factor { "yes" } else { "no" };
        vec![
            self.name.clone(),
            self.role.as_str().to_owned(),
            factor.to_owned(),
            self.state.to_owned(),
            self.created_at.clone(),
        ]
    }
}

impl UserLine {
    fn new(user: AdminUserRow) -> Self {
        let state = match &user {
            user if user.disabled_at.is_some() => "locked out",
            user if user.provider.is_some_and(|account| account.has_signed_in) => "signs in at the provider",
            user if user.provider.is_some() => "has not signed in at the provider yet",
            user if user.passphrase_hash.is_empty() => "waits for a new passphrase",
            _ => "active",
        };
        Self {
            name: user.name,
            role: user.role,
            second_factor: user.totp_secret.is_some(),
            state,
            created_at: show_time(user.created_at),
        }
    }
}

/// Prints a link for a new account.
pub(super) async fn invite(admin: &Admin, options: &InviteUserOptions) -> CommandResult<()> {
    let token = admin.users.invite(options.role, admin.settings.admin.link_hours, &admin.actor).await?;
    print_link(admin, &link_address(&admin.settings.server.public_url, &token))
}

/// Lists or changes accounts.
pub(super) async fn run(admin: &Admin, command: UsersCommand) -> CommandResult<()> {
    let Admin { users, actor, settings, .. } = admin;
    match command {
        UsersCommand::List { format } => {
            let lines: Vec<UserLine> = users.list().await?.into_iter().map(UserLine::new).collect();
            print(&render(&lines, format)?)?;
        }
        UsersCommand::Invite(options) => invite(admin, &options).await?,
        UsersCommand::Add(AddUserOptions { name, role, email, subject }) => {
            let user = ProviderUser { name: &name, role, email: email.as_deref(), subject: subject.as_deref() };
            users.add_at_provider(user, &settings.oidc.issuer, actor).await?;
        }
        UsersCommand::Role { name, role } => users.change(&name, UserChange::Role(role), actor).await?,
        UsersCommand::Disable { name } => users.change(&name, UserChange::Disable, actor).await?,
        UsersCommand::Enable { name } => users.change(&name, UserChange::Enable, actor).await?,
        UsersCommand::Reset { name } => {
            let token = users.reset(&name, settings.admin.link_hours, actor).await?;
            print_link(admin, &passphrase_link_address(&settings.server.public_url, &name, &token))?;
        }
    }
    Ok(())
}

/// Prints a link. Without `server.public_url` it is a path, since a flag of `serve` may have told the arena where to listen.
fn print_link(admin: &Admin, link: &str) -> CommandResult<()> {
    print(&format!("{link}\n"))?;
    if admin.settings.server.public_url.is_empty() {
        eprintln!(
            "open this path at the address of the arena, such as http://127.0.0.1:8717/admin/welcome#…; with \
             server.public_url set, the whole link is printed"
        );
    }
    Ok(())
}
