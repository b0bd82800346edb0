//! The operations page: background jobs of this instance, health checks, and the other instances.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use tokio::time::Instant;

use super::models::settings_file_problem;
use super::signed_in_request::SignedInRequest;
use crate::domain::doctor::Finding;
use crate::domain::time::Timestamp;
use crate::http::request::error::PageError;
use crate::infra::config::{OnFailure, Settings};
use crate::infra::job_report::JobStatus;
use crate::infra::storage::InstanceRow;
use crate::infra::tasks::{JobState, PanickedJob};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::pages::admin::AdminTab;
use crate::pages::admin::operations::{FindingLine, InstanceLine, JobLine, JobLineState, OperationsPage};
use crate::pages::frame::time::time_text;
use crate::pages::respond;
use crate::services::doctor::examine_open;
use crate::state::AppState;

/// `GET /admin/operations`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let app = &call.app;
    let (settings, now) = (app.settings.now(), app.clock.now());
    let mut findings = examine_open(&settings, &app.store, SystemClock.now()).await;
    findings.extend(moderation(app, &settings));
    let instances = if app.instances.is_alone() { Vec::new() } else { app.store.instances().await? };
    let (page, frame) = (call.page(), call.frame(AdminTab::Operations));
    let findings = findings.iter().map(|finding| FindingLine::new(finding, page.language)).collect();
    let (jobs, bus) = (jobs(app), *app.events.state().borrow());
    let (settings_problem, instances) = (settings_file_problem(&call), instance_lines(&instances, app, now));
    let view = OperationsPage { page, frame, settings_problem, findings, jobs, instances, bus };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// Returns the last known state of the moderation service, without a request; `None` until a prompt was checked.
fn moderation(app: &AppState, settings: &Settings) -> Option<Finding> {
    let endpoint = app.prompts.endpoint.as_ref()?;
    let state = endpoint.state();
    let host = endpoint.host().to_owned();
    let refuses = settings.moderation.on_failure == OnFailure::Refuse;
    match (state.failing_since, state.answered_at) {
        (Some(since), _) => Some(Finding::ModerationSilent { host, reason: time_text(since.0), refuses }),
        (None, answered) => answered.map(|_| Finding::ModerationAnswers(host)),
    }
}

fn jobs(app: &AppState) -> Vec<JobLine> {
    let (now, panicked) = (Instant::now(), app.tasks.panicked_jobs());
    let all = app.tasks.jobs().into_iter();
    all.map(|(name, status)| job_line(name, &status, panicked.get(name), now)).collect()
}

fn job_line(name: &'static str, status: &JobStatus, panic: Option<&PanickedJob>, now: Instant) -> JobLine {
    let ago = |at: Instant| now.saturating_duration_since(at);
    JobLine {
        name,
        state: match panic.map(|job| job.state) {
            Some(JobState::Down) => JobLineState::Down,
            Some(JobState::Restarted) => JobLineState::Restarted,
            None if status.running_since.is_some() => JobLineState::Running,
            None => JobLineState::Waiting,
        },
        last: status.last.map(|run| (ago(run.ended), run.took)),
        next: status.next.map(|next| next.saturating_duration_since(now)),
        failure: status.failure.as_ref().map(|failure| (ago(failure.at), failure.reason.clone())),
    }
}

fn instance_lines(rows: &[InstanceRow], app: &AppState, now: Timestamp) -> Vec<InstanceLine> {
    let own = &app.events.instance().0;
    let settings = rows.iter().find(|row| row.id == *own).map(|row| &row.settings);
    let line = |row: &InstanceRow| InstanceLine {
        id: row.id.clone(),
        is_own: row.id == *own,
        started_ms: row.started_at.0,
        seen: Duration::from_millis(u64::try_from(now.0 - row.seen_at.0).unwrap_or(0)),
        has_same_settings: settings == Some(&row.settings),
    };
    rows.iter().map(line).collect()
}
