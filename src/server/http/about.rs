//! `/about`: the rules of the arena.

use actix_web::{HttpRequest, HttpResponse, web};

use super::request::error::PageError;
use crate::domain::battle::pairing::published_pairing::PublishedPair;
use crate::pages::about::{MeetingChance, rules};
use crate::services::arena::consent_version::storage_in_force;
use crate::state::AppState;

/// `GET /about`
///
/// # Errors
/// [`PageError`].
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let pair = |pair: &PublishedPair| MeetingChance {
        names: pair.models.each_ref().map(|model| app.models.card(model).name),
        probability: pair.probability,
    };
    let pairs = app.matchmaker.published().pairs.iter().map(pair).collect();
    let settings = app.settings.now();
    let judging = app.consents.judging().await?;
    Ok(rules(&request, &settings, storage_in_force(&settings), judging, pairs))
}
