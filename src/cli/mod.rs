//! The command line: one file per subcommand.
//!
//! Results go to stdout; errors go to stderr with exit code 2 for bad usage or input and 1 for a failed run.

mod actor;
pub mod admin;
pub mod agree;
pub mod backup;
pub mod bench;
pub mod campaign;
pub mod command_reference;
pub mod correlate;
pub mod databases;
pub mod deletion_requests;
pub mod doctor;
pub mod error;
pub mod export;
pub mod fit;
pub mod import;
pub mod invites;
pub mod judge;
pub mod keys;
pub mod label;
mod model_run;
pub mod models;
pub mod moderation;
pub mod output;
pub mod passphrase;
pub mod retention;
pub mod serve;
pub mod signals;
pub mod simulate;
mod slice_flags;
pub mod upgrade;
pub mod verify;
pub mod vote_files;
pub mod votes;
pub mod webhooks;

use std::io::Write as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use actix_web::rt::SystemRunner;
use clap::{Args, Parser, Subcommand};

use langya_domain as domain;
use langya_formats as formats;
use langya_infra as infra;
use langya_render as render;
use langya_services as services;

use self::error::CommandResult;
use self::serve::ServeOptions;
use crate::infra::config::{ConfigError, Environment, Settings};
use crate::infra::telemetry;

#[derive(Parser)]
#[command(name = "langya", version = env!("LANGYA_VERSION"), about = "A self-hosted battle arena for language models")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the arena.
    Serve(ServeOptions),
    /// List, check, add, edit and pause models.
    Models(models::Options),
    /// Fit a leaderboard from the database or from files.
    Fit(Box<fit::FitCommand>),
    /// Import votes, benchmark data, published scores, or a whole arena.
    Import(import::ImportOptions),
    /// Export votes, battles, scores, data sets or the leaderboard to a file.
    Export(export::ExportOptions),
    /// Correlate score series of the same models: columns of a table, ratings of the arena, benchmark scores.
    Correlate(Box<correlate::CorrelateOptions>),
    /// Measure how far a judge agrees with people.
    Agree(agree::AgreeOptions),
    /// Label what prompts are about: by a classifier, then by reviewers.
    Label(label::LabelOptions),
    /// Have judge models judge the arena's own battles, and see how far they agree with people.
    Judge(judge::JudgeOptions),
    /// Create, list and revoke invite codes for visitors, where access.mode is "invite".
    Invites(invites::InviteOptions),
    /// Hash the visitors' passphrase from standard input, for the setting access.passphrase_hash.
    Passphrase,
    /// Manage admin accounts and print the audit log.
    Admin(admin::AdminOptions),
    /// Create, list and revoke API keys.
    Keys(keys::KeyOptions),
    /// List webhook messages, and resend those whose delivery was abandoned.
    Webhooks(webhooks::WebhookOptions),
    /// Run judge-based benchmarks on the arena's models.
    Bench(bench::BenchOptions),
    /// Have people judge stored answers: create a campaign, invite annotators, report their judgements.
    Campaign(campaign::CampaignOptions),
    /// List, add, grant and refuse requests to delete the texts of battles (privacy requests).
    Requests(deletion_requests::RequestsOptions),
    /// Review the texts that the moderation service flagged: list, show, keep or delete them.
    Moderation(moderation::ModerationOptions),
    /// Delete texts that are older than the settings allow, as the arena does automatically.
    Retention(retention::RetentionOptions),
    /// List votes, exclude them from the ratings, and rate them again.
    Votes(votes::VotesOptions),
    /// Simulate votes from known strengths.
    Simulate(simulate::SimulateOptions),
    /// Check the public vote log of an arena, and that its leaderboard follows from it.
    Verify(verify::VerifyOptions),
    /// Check everything that an arena needs, and report what is wrong and how to fix it.
    Doctor(doctor::DoctorOptions),
    /// Copy the database of a running arena to one file.
    Backup(backup::BackupOptions),
    /// Restore a backup; the target must not hold an arena yet.
    Restore(backup::RestoreOptions),
    /// Migrate the database of an earlier version to this one, or list what would change.
    Upgrade(upgrade::UpgradeOptions),
}

/// Heading of the [`Location`] flags in help texts.
const LOCATION_HEADING: &str = "Settings and database";

/// Where settings and data are; flags win over the environment, and that over the file.
#[derive(Debug, Clone, Default, Args)]
pub struct Location {
    /// Settings file [default: `langya.toml`, if it exists]
    #[arg(long, global = true, value_name = "FILE", help_heading = LOCATION_HEADING)]
    pub config: Option<PathBuf>,
    /// Database address [default: the settings, or else `langya.db` in the data folder]
    #[arg(long, global = true, value_name = "URL", help_heading = LOCATION_HEADING)]
    pub database: Option<String>,
    /// Data folder, which holds the embedded database [default: the settings, or else `data`]
    #[arg(long, global = true, value_name = "DIR", help_heading = LOCATION_HEADING)]
    pub data_dir: Option<PathBuf>,
}

impl Location {
    /// Reads the settings, overrides them by the flags, and initialises logging.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn settings(&self, env: &Environment) -> Result<Settings, ConfigError> {
        let mut settings = Settings::load(self.config.as_deref(), env)?;
        if let Some(database) = &self.database {
            settings.storage.database = database.as_str().into();
        }
        if let Some(folder) = &self.data_dir {
            settings.storage.data_dir.clone_from(folder);
        }
        telemetry::start(settings.log.format);
        Ok(settings)
    }
}

/// Entry point of `langya serve`, passed in from the crate that has the server. It is no type parameter, since that would compile all
/// subcommands there.
pub type Serve =
    for<'e> fn(ServeOptions, &'e Environment) -> Pin<Box<dyn Future<Output = CommandResult<ExitCode>> + 'e>>;

/// Parses the arguments, runs the subcommand, and returns its exit code.
#[must_use]
pub fn run(serve: Serve) -> ExitCode {
    let cli = Cli::parse();
    let env = Environment::of_process();
    let system = actix_web::rt::System::new();
    let done = system.block_on(async {
        let command = async {
            match cli.command {
                Command::Serve(options) => serve(options, &env).await,
                Command::Models(options) => models::run(&options, &env).await,
                Command::Fit(command) => fit::run(*command, &env).await,
                Command::Import(options) => import::run(options, &env).await,
                Command::Export(options) => export::run(options, &env).await,
                Command::Correlate(options) => correlate::run(*options, &env).await,
                Command::Agree(options) => agree::run(options),
                Command::Label(options) => label::run(options, &env).await,
                Command::Judge(options) => judge::run(options, &env).await,
                Command::Invites(options) => invites::run(options, &env).await,
                Command::Passphrase => passphrase::run(),
                Command::Admin(options) => admin::run(options, &env).await,
                Command::Keys(options) => keys::run(options, &env).await,
                Command::Webhooks(options) => webhooks::run(options, &env).await,
                Command::Bench(options) => bench::run(options, &env).await,
                Command::Campaign(options) => campaign::run(options, &env).await,
                Command::Requests(options) => deletion_requests::run(options, &env).await,
                Command::Moderation(options) => moderation::run(options, &env).await,
                Command::Retention(options) => retention::run(options, &env).await,
                Command::Votes(options) => votes::run(options, &env).await,
                Command::Simulate(options) => simulate::run(options).await,
                Command::Verify(options) => verify::run(options).await,
                Command::Doctor(options) => doctor::run(options, &env).await,
                Command::Backup(options) => backup::run(options, &env).await,
                Command::Restore(options) => backup::restore(options, &env).await,
                Command::Upgrade(options) => upgrade::run(options, &env).await,
            }
        };
        let armed = async {
            databases::until_embedded_opened().await;
            signals::end_if_busy();
        };
        let done = signals::until_signal(command, armed).await;
        databases::close_all(done.as_ref().is_err_and(error::CommandError::is_interrupt)).await;
        done
    });
    exit_command(system, done)
}

/// Prints the error of a failed command, and shuts down the runtime.
fn exit_command(system: SystemRunner, done: CommandResult) -> ExitCode {
    done.unwrap_or_else(|error| {
        // If the message cannot be written, the exit code still reports the failure.
        let _ = writeln!(std::io::stderr(), "error: {}", output::terminal_text::message(&error.message()));
        if error.is_interrupt() {
            // Dropping it would wait for threads with abandoned computations. They end with the process.
            std::mem::forget(system);
        }
        error.exit_code()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::error::Interrupted;
    use super::*;

    #[test]
    fn an_interrupted_command_does_not_wait_for_the_threads_that_compute() {
        let (stop, stopped) = channel::<()>();
        let (begin, begun) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let thread_ended = Arc::clone(&ended);
        let system = actix_web::rt::System::new();
        let interrupted: CommandResult = system.block_on(async {
            drop(tokio::task::spawn_blocking(move || {
                begin.send(()).unwrap();
                // Computes until the test ends, with a limit in case the test fails.
                let _ = stopped.recv_timeout(Duration::from_secs(10));
                thread_ended.store(true, Ordering::SeqCst);
            }));
            Err(Interrupted::NO_FILE.into())
        });
        begun.recv().unwrap();
        exit_command(system, interrupted);
        assert!(!ended.load(Ordering::SeqCst));
        drop(stop);
    }
}
