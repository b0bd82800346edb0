//! `langya serve`: run the arena until it is told to stop.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::{BadInput, Location};
use crate::app::{AppState, Worlds};
use crate::chance::Chance;
use crate::clock::SystemClock;
use crate::config::{Environment, Settings};
use crate::events::{InstanceId, LocalBus};
use crate::http;
use crate::jobs::discovery;
use crate::llm::roster::Roster;
use crate::services::tasks::Tasks;
use crate::storage::{DataLock, IfMissing, Store};

/// How long running turns may take to end after a signal.
const PATIENCE: Duration = Duration::from_secs(10);

/// Flags of `langya serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    location: Location,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address of Redis, where several instances serve one arena
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

/// Serves until SIGINT or SIGTERM.
///
/// # Errors
/// What keeps the arena from starting.
#[expect(clippy::print_stdout, reason = "the address is the command's result")]
pub async fn run(options: ServeOptions, env: &Environment) -> anyhow::Result<ExitCode> {
    let mut settings = options.location.settings(env)?;
    if let Some(listen) = options.listen {
        settings.server.listen = listen;
    }
    if let Some(redis) = options.redis {
        settings.redis.url = redis.into();
    }
    let chance = Chance::from_system();
    let roster = Roster::build(&settings, env, chance.seed())?;
    let listener = bind(&settings.server.listen)?;
    let _lock = DataLock::take(&settings.storage)?;
    let store = Store::open(&settings.storage, IfMissing::Create).await?;
    check_pool(&settings, &roster)?;
    let events = Arc::new(LocalBus::new(InstanceId(chance.token())));
    let worlds = Worlds { store: store.clone(), events, roster, clock: Arc::new(SystemClock), chance };
    let app = AppState::start(settings, worlds).await?;
    app.tasks.spawn(discovery::join_found_models(Arc::clone(&app), env.clone()));
    let address = listener.local_addr().context("the listening address is unknown")?;
    let server = http::server(Arc::clone(&app), listener).context("the server could not start")?;
    app.tasks.spawn(stop_on_signal(app.tasks.clone()));
    println!("listening on http://{address}");
    server.await.context("the server failed")?;
    if !app.tasks.end(PATIENCE).await {
        tracing::warn!("some battles were still running at the end");
    }
    if let Err(error) = app.fleet.leave().await {
        tracing::warn!(error = ?error, "other instances could not be told of the end: they will find out");
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Tells everything to end on SIGINT or SIGTERM.
async fn stop_on_signal(tasks: Tasks) {
    let shutdown = tasks.shutdown();
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
        () = shutdown.cancelled() => {}
    }
    tasks.stop();
}

fn bind(address: &str) -> anyhow::Result<TcpListener> {
    let parsed: SocketAddr = address.parse().map_err(|_| {
        BadInput(format!("cannot listen on {address:?}: give an address and a port, such as 127.0.0.1:8717"))
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

/// Fewer than two models make no battle. Where models may still be found, the arena starts and waits for them.
fn check_pool(settings: &Settings, roster: &Roster) -> Result<(), BadInput> {
    let pairable = roster.all().iter().filter(|model| model.weight > 0.0).count();
    let may_find = settings.providers.discover && settings.models.is_empty();
    if pairable >= 2 || may_find {
        return Ok(());
    }
    Err(BadInput(format!(
        "a battle needs two models and {pairable} can be drawn: add [[models]] with a weight above 0, or set \
         providers.practice = \"always\""
    )))
}
