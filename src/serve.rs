//! `langya serve`: runs the arena until a signal stops it.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;

use crate::cli::command_reference;
use crate::cli::databases;
use crate::cli::error::{BadInput, CommandError, CommandResult};
use crate::cli::output::standard_output::print;
use crate::cli::output::terminal_text::printable;
use crate::cli::serve::ServeOptions;
use crate::cli::signals::Signals;
use crate::domain::plural::counted;
use crate::infra::config::{DEFAULT_FILE, Environment, Settings, ignored_variables};
use crate::infra::events::{EventBus, InstanceId, LocalBus, RedisBus};
use crate::infra::llm::roster::Roster;
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::redis::{AddressError, RedisConnectionTask, RedisHandle};
use crate::infra::rng::SharedRng;
use crate::infra::shared_clock::SharedClock;
use crate::infra::storage::{DataLock, IfMissing};
use crate::infra::tasks::JobNeed;
use crate::infra::telemetry;
use crate::infra::time::clock::SystemClock;
use crate::infra::webhooks::WebhookSender;
use crate::server::app::{Dependencies, StartError};
use crate::server::http::{self, RunningServer};
use crate::server::jobs::settings_reload::{self, SettingsSource};
use crate::server::state::AppState;
use crate::server::watched_settings_file::WatchedSettingsFile;
use crate::services::admin::users::link_address;

/// Time limit for storing battles that were cut after the drain. With the longest drain and the server's own shutdown it keeps the whole
/// within 30 seconds.
const CUT_BATTLES_TIMEOUT: Duration = Duration::from_secs(2);

type Bus = (Arc<dyn EventBus>, Option<(RedisHandle, RedisConnectionTask)>);

/// Returns the source of the settings, with the flags over them, for reloads while the arena runs.
fn source(options: ServeOptions, env: &Environment) -> std::io::Result<SettingsSource> {
    let (hangup, for_reading) = (signal(SignalKind::hangup())?, env.clone());
    let (file, requests) = WatchedSettingsFile::new(options.file(), env.clone());
    let read = Box::new(move || options.settings(&for_reading));
    Ok(SettingsSource { file: Arc::new(file), requests, read, hangup })
}

/// Serves until SIGINT or SIGTERM, then drains running battles; a second signal ends the process at once.
///
/// # Errors
/// Error that prevents the start, or that ended the server.
pub fn serve(options: ServeOptions, env: &Environment) -> Pin<Box<dyn Future<Output = CommandResult<ExitCode>> + '_>> {
    Box::pin(run(options, env))
}

async fn run(options: ServeOptions, env: &Environment) -> CommandResult<ExitCode> {
    telemetry::log_panics();
    let settings = options.settings(env)?;
    for (name, instead) in ignored_variables(env) {
        tracing::warn!("the environment variable {name} is not read: use {instead}, or remove it");
    }
    settings.oidc.check_secret()?;
    let rng = SharedRng::from_system();
    let roster = Roster::build(&settings, env, rng.seed())?;
    let moderation = ModerationEndpoint::open(&settings, env)?;
    let webhooks = WebhookSender::open(&settings, env)?;
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let source = source(options, env).context("signals cannot be listened to")?;
    // All settings are checked before anything is created.
    roster.check_pairable(&settings)?;
    let (events, connected) = bus(&settings, InstanceId(rng.token()))?;
    let (link, connection) = connected.unzip();
    let listener = bind(&settings.server.listen)?;
    let _lock = DataLock::acquire_usable(&settings.storage, "serve").await?;
    let store = databases::open(&settings.storage, IfMissing::Create).await?;
    let worlds = Dependencies {
        store: store.clone(),
        events,
        link,
        roster,
        clock: Arc::new(SharedClock::new(Arc::new(SystemClock))),
        rng,
        moderation,
        webhooks,
        settings_file: Some(Arc::clone(&source.file)),
    };
    let app = AppState::start(settings, worlds).await.map_err(command_error)?;
    http::check_logo(&app.settings.now().site).await;
    supervise(&app, connection, source);
    let address = listener.local_addr().context("the listening address is unknown")?;
    let first_link = first_link(&app).await;
    let mut serving =
        http::serve(Arc::clone(&app), listener, command_reference::commands).context("the server could not start")?;
    let lines = {
        let roster = app.models.current();
        first_lines(&format!("http://{address}"), roster.all().iter().map(|model| model.card.name.as_str()))
    };
    print(&lines)?;
    if let Some(token) = first_link {
        print_first_link(&app, &format!("http://{address}"), &token);
    }
    tokio::select! {
        _ = signals.next() => {}
        ended = serving.failed() => {
            app.tasks.end(CUT_BATTLES_TIMEOUT).await;
            return Err(ended.err().map_or_else(|| anyhow!("the server ended by itself").into(), Into::into));
        }
    }
    actix_web::rt::spawn(signals.exit_at_next_signal());
    end(&app, &serving).await;
    Ok(ExitCode::SUCCESS)
}

/// Maps a start error to a command error, which says whether the user can fix it.
fn command_error(error: StartError) -> CommandError {
    match error {
        StartError::Store(error) => error.into(),
        StartError::Rating(error) => error.into(),
        StartError::PublicLog(error) => error.into(),
    }
}

/// Returns the start message: address, models, and how to add others.
fn first_lines<'a>(url: &str, models: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = models.map(printable).collect();
    format!(
        "listening on {url}\n\
         models: {}\n\
         add others: langya models add --from URL, or write [[models]] in {DEFAULT_FILE}\n",
        names.join(", ")
    )
}

/// Returns the token of the link to the first owner account; `None` if an owner exists or the link fails, since the arena serves without it
/// too.
async fn first_link(app: &AppState) -> Option<String> {
    let made = app.admin_users.first_link(app.settings.now().admin.link_hours).await;
    made.unwrap_or_else(|error| {
        tracing::warn!(error = ?error, "no link for the first owner: make one with `langya admin invite --role owner`");
        None
    })
}

/// Prints the link to stderr, not to the log, which others may read.
fn print_first_link(app: &AppState, listening: &str, token: &str) {
    let settings = app.settings.now();
    let public = settings.server.public_url.as_str();
    let link = link_address(if public.is_empty() { listening } else { public }, token);
    // A closed stderr does not stop the arena.
    let _ = writeln!(
        std::io::stderr(),
        "no owner yet: open {link} within {} to become the owner of this arena; it works once, and \
         `langya admin invite --role owner` makes another one",
        counted(settings.admin.link_hours, "hour", "hours")
    );
}

/// Supervises the jobs of the process besides those of the arena: the Redis connection, and the settings file.
fn supervise(app: &Arc<AppState>, connection: Option<RedisConnectionTask>, source: SettingsSource) {
    if let Some(connection) = connection {
        let (connection, shutdown) = (Arc::new(Mutex::new(connection)), app.tasks.shutdown());
        app.tasks.supervise("connect_redis", JobNeed::Nothing, move || {
            let (connection, shutdown) = (Arc::clone(&connection), shutdown.clone());
            async move { connection.lock().await.run(shutdown).await }
        });
    }
    let (followed, source) = (Arc::clone(app), Arc::new(Mutex::new(source)));
    app.tasks.supervise("follow_settings", JobNeed::Nothing, move || {
        settings_reload::follow_settings(Arc::clone(&followed), Arc::clone(&source))
    });
}

/// Returns the event bus: a local one, or that of Redis with its handle and connection task.
fn bus(settings: &Settings, instance: InstanceId) -> Result<Bus, AddressError> {
    if settings.redis.url.is_empty() {
        return Ok((Arc::new(LocalBus::new(instance)), None));
    }
    let (bus, connection) = RedisBus::new(&settings.redis, instance)?;
    if !settings.storage.is_postgres() {
        tracing::warn!(
            "redis.url is set, and the database is SQLite, which only one instance can use: set storage.database to a \
             PostgreSQL address, or remove redis.url"
        );
    }
    let link = bus.handle().clone();
    Ok((Arc::new(bus), Some((link, connection))))
}

/// Shuts down in order: refuses new connections, drains running battles, then ends everything else.
async fn end(app: &AppState, serving: &RunningServer) {
    let patience = Duration::from_secs(app.settings.now().server.drain_seconds);
    tracing::info!(battles.under_way = app.battles.under_way(), "draining: no new battles or turns");
    if let Err(error) = serving.stop_accepting().await {
        tracing::warn!(error = %error, "new connections could not be refused: they wait until the end");
    }
    if app.tasks.drain(patience).await {
        tracing::info!("drained: every running battle has ended");
    } else {
        tracing::warn!(battles.cut = app.battles.under_way(), "drain timeout: stopped what was still running");
    }
    if !app.tasks.end(CUT_BATTLES_TIMEOUT).await {
        tracing::warn!("some battles were still running at exit");
    }
    if let Err(error) = app.instances.leave().await {
        tracing::warn!(error = ?error, "the other instances could not be notified of this shutdown: they will notice it by themselves");
    }
    // Closed before the threads that its connections belong to.
    app.store.close().await;
    serving.stop().await;
}

fn bind(address: &str) -> CommandResult<TcpListener> {
    let parsed: SocketAddr = address.parse().map_err(|_| {
        BadInput(format!("cannot listen on {address:?}: give an IP address and a port, such as 127.0.0.1:8717"))
    })?;
    let listener = TcpListener::bind(parsed).map_err(|error| {
        BadInput(match error.kind() {
            ErrorKind::AddrInUse => {
                format!("the address {address} is in use: stop what listens there, or choose another with --listen")
            }
            _ => format!("cannot listen on {address}: {error}; choose another address with --listen"),
        })
    })?;
    listener.set_nonblocking(true).context("the socket cannot be set up")?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_model_steers_the_terminal_where_the_arena_starts() {
        let lines = first_lines("http://127.0.0.1:8717", ["a\u{1b}[31m\u{7}", "b\nc", "d\u{202e}e"].into_iter());
        assert_eq!(lines.lines().nth(1), Some("models: a\u{fffd}[31m\u{fffd}, b\u{fffd}c, d⟨U+202E⟩e"));
        assert_eq!(lines.lines().count(), 3);
    }
}
