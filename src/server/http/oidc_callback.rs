//! `/oidc/callback`: redirect target of the provider, for admin users and visitors.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use super::admin;
use super::request::error::PageError;
use super::visitor::oidc::{self, OidcSignInError};
use super::visitor::sign_in;
use crate::infra::config::AccessMode;
use crate::infra::oidc::{OidcError, Purpose};
use crate::pages;
use crate::state::AppState;

/// `GET /oidc/callback`
///
/// # Errors
/// [`PageError`].
pub(super) async fn callback(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let settings = app.settings.now();
    if !settings.oidc.admins && settings.access.mode != AccessMode::Oidc {
        return Ok(pages::errors::not_found::not_found(&request));
    }
    let flow = oidc::flow_of(&request, &app);
    let identity = match &flow {
        Some(flow) => oidc::identity(&request, &app, flow).await,
        None => Err(OidcSignInError::Provider(OidcError::Foreign)),
    };
    let is_visitor = match &flow {
        Some(flow) => flow.purpose == Purpose::Visitor,
        None => !settings.oidc.admins,
    };
    let mut response = if is_visitor {
        sign_in::back(&request, &app, identity).await?
    } else {
        let (next, former) = flow.map(|flow| (flow.next, flow.former)).unwrap_or_default();
        admin::back_from_provider(request, app.clone(), identity, &next, former.as_deref()).await?
    };
    let gone = oidc::expired_cookie(&settings.server.public_url);
    // A cookie built here is always valid text.
    let _ = response.add_cookie(&gone);
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    Ok(response)
}
