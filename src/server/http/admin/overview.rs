//! The overview page of the admin.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::first_steps::first_steps;
use super::models::settings_file_problem;
use super::signed_in_request::SignedInRequest;
use crate::http::leaderboards::leaderboard_view::name_of;
use crate::http::request::error::PageError;
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::AdminTab;
use crate::pages::admin::overview::{OverviewModel, OverviewPage};
use crate::pages::frame::time::time_text;
use crate::pages::respond;

/// `GET /admin`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let mut overview = call.app.store.admin_overview(call.app.clock.now()).await?;
    for failure in &mut overview.failures {
        failure.model = name_of(&failure.model, &call.app.models);
    }
    let first_steps = first_steps(&call, overview.last_vote > 0).await?;
    let roster = call.app.models.current();
    let models = roster.all().iter().map(|model| OverviewModel {
        name: model.card.name.clone(),
        weight: model.weight,
        healthy: model.healthy(),
        failures: model.state().failures,
    });
    let (models, snapshot) = (models.collect(), call.app.leaderboard.latest());
    let (page, frame) = (call.page(), call.frame(AdminTab::Overview));
    let database_outage = call.app.store.outage_kind().is_some();
    let fitted_ms = snapshot.fitted_at.map(|time| time.0);
    let check = &call.app.voter_check;
    let voter_check = check.is_wanted().then(|| check.state());
    let rated = snapshot.leaderboard.votes.rated;
    let endpoint = call.app.prompts.endpoint.as_ref();
    let failing_since = endpoint.and_then(|endpoint| endpoint.state().failing_since);
    let moderation_failing_since = failing_since.map(|time| time_text(time.0));
    let view = OverviewPage {
        page,
        frame,
        overview,
        first_steps,
        models,
        rated,
        fitted_ms,
        database_outage,
        settings_problem: settings_file_problem(&call),
        voter_check,
        moderation_failing_since,
    };
    Ok(respond(&call.request, StatusCode::OK, &view))
}
