//! Runs of benchmarks with their progress and cost.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::call::SignedIn;
use crate::infra::clock::Clock as _;
use crate::server::http::error::PageError;
use crate::server::http::pages::admin::AdminTab;
use crate::server::http::pages::admin::bench_runs::{BenchRunsPage, RunLine};
use crate::server::http::pages::respond;

/// Runs that are listed.
const SHOWN: u32 = 50;

/// `GET /admin/benchmarks`
pub(super) async fn page(call: SignedIn) -> Result<HttpResponse, PageError> {
    let rows = call.app.store.bench_runs(SHOWN).await?;
    let (page, frame, now) = (call.page(), call.frame(AdminTab::Benchmarks), call.app.clock.now());
    let runs =
        rows.into_iter().map(|row| RunLine { state: row.figures.state.seen(row.changed_at, now), row }).collect();
    Ok(respond(&call.request, StatusCode::OK, &BenchRunsPage { page, frame, runs }))
}
