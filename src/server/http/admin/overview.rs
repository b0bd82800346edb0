//! The first page of the admin.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::call::SignedInRequest;
use crate::domain::admin::role::Role;
use crate::infra::clock::Clock as _;
use crate::server::http::error::PageError;
use crate::server::http::pages::admin::AdminTab;
use crate::server::http::pages::admin::overview::{FirstStep, OverviewModel, OverviewPage};
use crate::server::http::pages::respond;
use crate::server::http::pages::time::time_text;
use crate::services::admin::overview::overview;

/// `GET /admin`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let overview = overview(&call.app.store, call.app.clock.now()).await?;
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
        voter_check,
        moderation_failing_since,
    };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// What a new arena needs, of that what the reader may do; nothing once it has models of its own and a vote. Somebody who runs it alone invites
/// nobody, so that step does not keep the list.
async fn first_steps(call: &SignedInRequest, has_votes: bool) -> Result<Vec<FirstStep>, PageError> {
    let roster = call.app.models.current();
    let has_models = roster.all().iter().filter(|model| !model.card.practice).count() > 1;
    if !call.session.role.covers(Role::Operator) || (has_models && has_votes) {
        return Ok(Vec::new());
    }
    let has_people = call.app.admin_users.list().await?.len() > 1;
    let words = &call.page().t().admin.overview;
    let step = |is_done, path, text, hint| FirstStep { is_done, path, text, hint };
    let steps = [
        step(has_models, "/admin/models/add", words.add_models, words.add_models_hint),
        step(has_people, "/admin/users", words.invite_people, words.invite_people_hint),
        step(has_votes, "/", words.first_vote, words.first_vote_hint),
    ];
    let may_follow = |step: &FirstStep| step.path == "/" || super::may_read(call.session.role, step.path);
    Ok(steps.into_iter().filter(may_follow).collect())
}
