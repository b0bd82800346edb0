//! Reloads an edited settings file while the arena runs.
//!
//! The file is read every second, which works on every kind of mount, and at once on SIGHUP and after an edit in the admin. A text is
//! applied once two reads were equal, so that a half-written file is not mistaken for a complete one. Invalid settings are logged in one
//! line and shown in the admin, and the former settings stay in force.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::Signal;
use tokio::sync::{Mutex, mpsc};
use tokio::time::MissedTickBehavior;

use super::model_discovery::with_found_models;
use crate::formats::read_file;
use crate::http::check_logo;
use crate::infra::config::{ConfigError, Environment, Settings};
use crate::infra::llm::roster::Roster;
use crate::services::start_check::check_kept_until_restart;
use crate::state::AppState;
use crate::watched_settings_file::{Reader, SettingsProblem, WatchedSettingsFile};

/// Poll interval of the file.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Source of the settings.
pub struct SettingsSource {
    /// Watched settings file.
    pub file: Arc<WatchedSettingsFile>,
    /// Requests to read the file, each of which waits for the result.
    pub requests: mpsc::Receiver<Reader>,
    /// Reads the file; environment and flags override it.
    pub read: Box<dyn Fn() -> Result<Settings, ConfigError> + Send + Sync>,
    /// SIGHUP, whose default action would end the process.
    pub hangup: Signal,
}

/// Adds discovered models, and then follows the settings file.
pub async fn follow_settings(app: Arc<AppState>, source: Arc<Mutex<SettingsSource>>) {
    let mut source = source.lock().await;
    let shutdown = app.tasks.shutdown();
    let follow = async {
        let settings = app.settings.now();
        if let Err(error) = exchange_models(&app, &source.file.env, &settings).await {
            tracing::error!(error = %error, "the discovered models cannot be used");
        }
        watch(&app, &mut source).await;
    };
    tokio::select! {
        () = follow => {}
        () = shutdown.cancelled() => {}
    }
}

async fn watch(app: &AppState, source: &mut SettingsSource) {
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Nothing counts as applied at first: an edit between the start and here is found.
    let (mut taken, mut before) = (None, None);
    let mut is_set = false;
    loop {
        let asked = tokio::select! {
            _ = ticker.tick() => ReloadReason::Clock,
            Some(()) = source.hangup.recv() => ReloadReason::Signal,
            Some(reader) = source.requests.recv() => ReloadReason::Admin(reader),
        };
        let now = Some(read(source.file.path.clone()).await);
        let settled = now == before && now != taken;
        before.clone_from(&now);
        if matches!(asked, ReloadReason::Clock) && !settled {
            continue;
        }
        let is_blank = now.as_ref().is_some_and(|text| text.as_deref().is_none_or(|text| text.trim_ascii().is_empty()));
        taken = now;
        if is_set && is_blank {
            // Otherwise the defaults would be in force by accident: an editor on a full disk leaves an empty file.
            let problem = SettingsProblem::Blank;
            tracing::error!("{problem}: the previous settings stay in force");
            source.file.set_problem(Some(Arc::new(problem)));
        } else {
            is_set = !is_blank;
            reload(app, source).await;
        }
        if let ReloadReason::Admin(reader) = asked {
            // The requester may be gone.
            let _ = reader.send(());
        }
    }
}

/// Reason for reading the file.
enum ReloadReason {
    Clock,
    Signal,
    Admin(Reader),
}

/// Reads the file; if it cannot be read as text, returns the error message as its content, so that the change is noticed and refused with
/// it.
async fn read(file: PathBuf) -> Option<Vec<u8>> {
    let contents = move || match read_file(&file) {
        Err(error) if error.kind() == ErrorKind::InvalidData => Some(error.to_string().into_bytes()),
        found => found.ok(),
    };
    tokio::task::spawn_blocking(contents).await.ok().flatten()
}

async fn reload(app: &AppState, source: &SettingsSource) {
    let edited = match (source.read)() {
        Ok(settings) => apply_settings(app, &source.file.env, settings).await,
        Err(error) => Err(error.into()),
    };
    let edited = edited.map_err(Arc::new);
    let was_unusable = source.file.problem().is_some();
    source.file.set_problem(edited.as_ref().err().cloned());
    match edited {
        Ok(AppliedSettings::Nothing) if was_unusable => {
            tracing::info!("the settings file can be used again: its settings are those in force");
        }
        Ok(AppliedSettings::Nothing) => {}
        Ok(AppliedSettings::Edits) => {
            tracing::info!(models = app.models.current().all().len(), "the edited settings are in force");
            check_logo(&app.settings.now().site).await;
        }
        Err(error) => {
            tracing::error!(error = %error, "the edited settings are invalid: the previous settings stay in force");
        }
    }
}

/// Result of applying an edit.
enum AppliedSettings {
    /// The settings are unchanged.
    Nothing,
    /// New settings are in force.
    Edits,
}

async fn apply_settings(
    app: &AppState,
    env: &Environment,
    mut settings: Settings,
) -> Result<AppliedSettings, SettingsProblem> {
    let former = app.settings.now();
    let next_start = check_kept_until_restart(&settings, env);
    let waiting = settings.keep_until_restart(&former);
    if !waiting.is_empty() {
        tracing::warn!(keys = waiting.join(", "), "some edited settings take effect at the next start");
        if let Err(error) = next_start {
            tracing::error!(
                error = %error,
                "the next start will reject the edited settings unless the environment changes: fix them first"
            );
        }
    }
    if settings == *former {
        return Ok(AppliedSettings::Nothing);
    }
    settings.oidc.check_secret()?;
    exchange_models(app, env, &settings).await?;
    app.settings.replace(settings);
    Ok(AppliedSettings::Edits)
}

/// Replaces the roster by the models of these settings; unchanged entries keep running.
async fn exchange_models(app: &AppState, env: &Environment, settings: &Settings) -> Result<(), SettingsProblem> {
    let settings = with_found_models(settings, env).await;
    let roster = Roster::rebuild(&settings, env, app.rng.seed(), &app.models.current())?;
    roster.check_pairable(&settings)?;
    Ok(app.models.exchange(roster, &app.store, app.clock.as_ref()).await?)
}
