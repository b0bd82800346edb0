//! `/healthz`: liveness. `/readyz`: readiness for visitors, with reasons that contain no names.

use std::borrow::Cow;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};

use super::log::public_log::is_behind;
use crate::infra::disk;
use crate::infra::events::BusState;
use crate::infra::metrics;
use crate::infra::storage::{OutageKind, StoreError};
use crate::infra::tasks::{JobNeed, JobState, PanickedJob, Tasks};
use crate::state::AppState;

/// Timeout for the database, and for the disk of the data folder.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// `GET /healthz`: confirms that the process runs.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Conditions that prevent battles, and warnings that do not.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    obstacles: Vec<Cow<'static, str>>,
    remarks: Vec<Cow<'static, str>>,
}

impl Readiness {
    /// Checks everything that a battle needs.
    pub(super) async fn new(app: &AppState) -> Self {
        let database = database(app).await;
        let models =
            (!app.matchmaker.can_draw()).then_some("models: fewer than two can be drawn, see `langya models check`");
        let draining = is_draining(app).then_some("process: it is about to end");
        let remarks = [refused_votes(app), redis(app), data_folder(app).await];
        let remarks = remarks.into_iter().flatten().map(Cow::from);
        let mut readiness = Self {
            obstacles: [database, models, draining].into_iter().flatten().map(Cow::from).collect(),
            remarks: remarks.chain(public_log(app).await).collect(),
        };
        readiness.add_jobs(&app.tasks);
        readiness
    }

    /// Adds jobs that have panicked: one that is down prevents battles if they need it.
    fn add_jobs(&mut self, tasks: &Tasks) {
        for (name, job) in tasks.panicked_jobs() {
            let state = match job.state {
                JobState::Down => "restarting after a panic",
                JobState::Restarted => "running again after a panic",
            };
            let lines = match job {
                PanickedJob { need: JobNeed::Battles, state: JobState::Down } => &mut self.obstacles,
                _ => &mut self.remarks,
            };
            lines.push(format!("job {name}: {state}, see the log").into());
        }
    }

    /// Whether battles can start and continue.
    pub(super) fn is_ready(&self) -> bool {
        self.obstacles.is_empty()
    }

    fn text(&self) -> String {
        let first = if self.is_ready() { "ready" } else { "not ready" };
        let lines = self.obstacles.iter().chain(&self.remarks);
        lines.fold(format!("{first}\n"), |text, line| text + line + "\n")
    }
}

/// `GET /readyz`
pub(super) async fn readyz(app: web::Data<AppState>) -> HttpResponse {
    let readiness = Readiness::new(&app).await;
    metrics::readiness(readiness.is_ready(), is_draining(&app));
    let status = if readiness.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    HttpResponse::build(status).content_type("text/plain; charset=utf-8").body(readiness.text())
}

async fn database(app: &AppState) -> Option<&'static str> {
    match tokio::time::timeout(PROBE_TIMEOUT, app.store.check()).await {
        Ok(Ok(())) => None,
        Ok(Err(_)) | Err(_) if app.store.outage_kind() == Some(OutageKind::NoConnection) => {
            Some("database: its server has no connection left, raise its max_connections")
        }
        Ok(Err(_)) if app.store.outage_kind() == Some(OutageKind::FileReplaced) => {
            Some("database: its file was removed or replaced, see the log before you stop the arena")
        }
        Ok(Err(_)) if app.store.outage_kind() == Some(OutageKind::Damaged) => {
            Some("database: its file is damaged, stop the arena and see the log")
        }
        Ok(Err(_)) if app.store.outage_kind().is_some_and(OutageKind::loses_commits) => {
            Some("database: it would lose votes in a crash, see the log")
        }
        Ok(Err(error)) if error.outage_kind() == Some(OutageKind::NoPrivilege) => {
            Some("database: its user lacks a right that the arena needs, see `langya doctor`")
        }
        Ok(Err(error)) if error.stops_writes_only() => Some("database: it refuses writes, see the log"),
        Ok(Err(StoreError::Newer(_) | StoreError::Older)) => Some("database: its tables are another version's"),
        Ok(Err(error)) => {
            if !error.is_outage() {
                tracing::warn!(error = ?error, "the database does not answer");
            }
            Some("database: it does not answer")
        }
        // The trial write may take longer than the timeout; the known reason is used then.
        Err(_) if app.store.outage_kind().is_some_and(OutageKind::stops_writes_only) => {
            Some("database: it refuses writes, see the log")
        }
        Err(_) => Some("database: no answer within 2 s"),
    }
}

/// Returns a warning while a database lock blocks votes. Battles continue, and only the next vote shows the end of the lock, so visitors
/// are still sent here.
fn refused_votes(app: &AppState) -> Option<&'static str> {
    let is_locked = app.store.refuses_votes() == Some(OutageKind::TableLocked);
    is_locked.then_some("database: votes are refused while another session holds a lock, see the log")
}

/// Returns a warning while no inclusion in the public log is promised, with the missing rights if the database refuses its entries.
async fn public_log(app: &AppState) -> Option<Cow<'static, str>> {
    if !is_behind(app) {
        return None;
    }
    let rights = if app.public_log.lacks_right() { missing_rights(app).await } else { None };
    Some(match rights {
        Some(rights) => format!(
            "public log: behind, new votes are counted without a promise: the database's user lacks {rights}, see `langya doctor`"
        )
        .into(),
        None => "public log: behind, new votes are counted without a promise, see the log".into(),
    })
}

async fn missing_rights(app: &AppState) -> Option<String> {
    match tokio::time::timeout(PROBE_TIMEOUT, app.store.check_rights()).await {
        Ok(Err(StoreError::MissingRights { rights, .. })) => Some(rights),
        Ok(_) | Err(_) => None,
    }
}

fn redis(app: &AppState) -> Option<&'static str> {
    match *app.events.state().borrow() {
        BusState::Lost => Some("redis: lost, live updates are late and limits are counted without it"),
        BusState::Connected if !takes_writes(app) => Some("redis: it refuses writes, limits are counted without it"),
        BusState::Connected | BusState::Alone => None,
    }
}

/// Returns an error if no file can be created in the data folder. An embedded database in it is checked separately.
async fn data_folder(app: &AppState) -> Option<&'static str> {
    let folder = app.settings.now().storage.data_dir.clone();
    let is_writable = app.data_folder.is_writable(PROBE_TIMEOUT, move || disk::is_writable(&folder)).await;
    (!is_writable).then_some("data folder: not writable, see `langya doctor`")
}

/// Whether Redis accepts writes; true without Redis.
pub(super) fn takes_writes(app: &AppState) -> bool {
    app.link.as_ref().is_none_or(|link| link.connection().is_some())
}

/// Whether the process is draining.
pub(super) fn is_draining(app: &AppState) -> bool {
    app.tasks.is_draining()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_job_that_battles_need_stands_in_their_way_while_it_is_down() {
        let tasks = Tasks::default();
        for (name, need) in [("needed", JobNeed::Battles), ("other", JobNeed::Nothing)] {
            let (first, shutdown) = (AtomicBool::new(true), tasks.shutdown());
            tasks.supervise(name, need, move || {
                assert!(!first.swap(false, Ordering::Relaxed));
                shutdown.clone().cancelled_owned()
            });
        }
        let text = || {
            let mut readiness = Readiness::default();
            readiness.add_jobs(&tasks);
            readiness.text()
        };
        tokio::task::yield_now().await;
        let down = |name| format!("job {name}: restarting after a panic, see the log\n");
        assert_eq!(text(), format!("not ready\n{}{}", down("needed"), down("other")));
        tokio::time::sleep(Duration::from_secs(2)).await;
        let up = |name| format!("job {name}: running again after a panic, see the log\n");
        assert_eq!(text(), format!("ready\n{}{}", up("needed"), up("other")));
    }

    #[test]
    fn the_first_line_says_whether_and_the_others_why() {
        let redis = "redis: lost, live updates are late and limits are counted without it";
        let fine = Readiness { remarks: vec![redis.into()], ..Readiness::default() };
        assert_eq!((fine.is_ready(), fine.text()), (true, format!("ready\n{redis}\n")));
        let bad =
            Readiness { obstacles: vec!["models: none".into(), "database: gone".into()], remarks: vec![redis.into()] };
        assert_eq!(bad.text(), format!("not ready\nmodels: none\ndatabase: gone\n{redis}\n"));
        assert!(!bad.is_ready());
    }
}
