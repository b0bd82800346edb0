//! Runs of benchmarks with their progress and cost.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::role::Role;
use crate::http::request::error::PageError;
use crate::infra::storage::StoreError;
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::bench_plans::PlanView;
use crate::pages::admin::bench_runs::{BenchRunsPage, RunLine};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::services::benchmark::plans::latest_plan;

/// Maximum number of runs listed.
const MAX_LISTED_RUNS: u32 = 50;

/// `GET /admin/benchmarks`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Benchmarks);
    show_runs(&call, StatusCode::OK, frame).await
}

/// Renders the page, also after a refusal.
pub(super) async fn show_runs(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
) -> Result<HttpResponse, PageError> {
    let rows = call.app.store.bench_runs(MAX_LISTED_RUNS).await?;
    let (page, plan, now) = (call.page(), latest(call).await?, call.app.clock.now());
    let runs =
        rows.into_iter().map(|row| RunLine { state: row.snapshot.state.seen(row.changed_at, now), row }).collect();
    Ok(respond(&call.request, status, &BenchRunsPage { page, frame, runs, plan, may_change: may_change(call) }))
}

/// Returns the progress of the latest plan.
async fn latest(call: &SignedInRequest) -> Result<Option<PlanView>, StoreError> {
    let progress = latest_plan(&call.app.store, call.app.clock.now()).await?;
    let may_change = may_change(call);
    Ok(progress.map(|progress| PlanView { progress, may_change }))
}

/// Whether the signed-in user may start and stop plans.
fn may_change(call: &SignedInRequest) -> bool {
    call.session.role.covers(Role::Operator)
}
