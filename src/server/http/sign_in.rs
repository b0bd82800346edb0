//! `/sign-in` and `/sign-out`, for arenas that are not open to everybody.
//!
//! No other site can sign a visitor in or out (see [`form_token`]). Signing in begins a new session.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::address::network_of;
use super::error::PageError;
use super::form_token::{self, TokenForm, see_other, visitor};
use super::oidc;
use super::session::{Visitor, cookie_of, expired_cookie};
use crate::infra::config::AccessMode;
use crate::infra::oidc::{Identity, OidcError, Purpose};
use crate::pages::battle::BattlePageState;
use crate::pages::sign_in::{SignInView, sign_in_page};
use crate::pages::{self, Page, Section};
use crate::render::i18n::fill;
use crate::services::arena::access::{SignInError, SignedIn};
use crate::state::AppState;

/// Guesses from this very machine are counted too: behind a proxy that is not trusted, everybody is this machine.
const THIS_MACHINE: &str = "this machine";

/// What `/sign-in` is sent.
#[derive(Deserialize)]
pub(super) struct SignInForm {
    /// The invite code or passphrase.
    secret: String,
    token: String,
}

/// `GET /`: the battle page, or the way to sign in.
///
/// # Errors
/// [`PageError`].
pub(super) async fn battle_page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let visitor = visitor(&request, &app);
    if app.access.mode() != AccessMode::Open && app.access.admit(&visitor.session).await?.is_none() {
        return Ok(see_other("/sign-in"));
    }
    let practice = app.models.current().only_practice();
    let takes_images = app.matchmaker.takes_images();
    let state = BattlePageState { takes_images, practice, asks_consent: asks_consent(&app, &visitor).await };
    Ok(pages::battle::battle(&request, &app.settings.now(), state))
}

/// Whether a visitor has yet to agree to what is stored. Where the database does not say, the visitor is asked once more.
async fn asks_consent(app: &AppState, visitor: &Visitor) -> bool {
    visitor.new_cookie.is_some() || !app.consents.is_given(&visitor.id).await.unwrap_or(false)
}

/// Whether the visitor of a request may take part.
///
/// # Errors
/// [`PageError::SignInRequired`] where they have to sign in first.
pub(super) async fn admitted(app: &AppState, visitor: &Visitor) -> Result<SignedIn, PageError> {
    app.access.admit(&visitor.session).await?.ok_or(PageError::SignInRequired)
}

/// `GET /sign-in`
///
/// # Errors
/// [`PageError`].
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    if app.access.mode() == AccessMode::Open {
        return Ok(pages::not_found::not_found(&request));
    }
    let visitor = visitor(&request, &app);
    let signed_in = visitor.new_cookie.is_none() && app.access.admit(&visitor.session).await?.is_some();
    Ok(show(&request, &app, &visitor, signed_in, None))
}

/// `POST /sign-in`
///
/// # Errors
/// [`PageError`].
pub(super) async fn sign_in(
    request: HttpRequest,
    app: web::Data<AppState>,
    form: web::Form<SignInForm>,
) -> Result<HttpResponse, PageError> {
    if app.access.mode() == AccessMode::Open {
        return Ok(pages::not_found::not_found(&request));
    }
    let visitor = visitor(&request, &app);
    form_token::check(&request, &app, &visitor, &form.token)?;
    let network = network_of(&request, &app.settings.now().server.trusted_proxies);
    match app.access.sign_in(&form.secret, network.as_deref().unwrap_or(THIS_MACHINE)).await {
        Ok(session) => {
            let mut response = see_other("/");
            let cookie = cookie_of(session.token, &app.settings.now().server.public_url);
            response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(error) => Ok(show(&request, &app, &visitor, false, Some(&error))),
    }
}

/// `GET /sign-in/provider`
///
/// # Errors
/// [`PageError`].
pub(super) async fn provider(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    if app.access.mode() != AccessMode::Oidc {
        return Ok(pages::not_found::not_found(&request));
    }
    match oidc::begin(&app, Purpose::Visitor, "/", None).await {
        Ok(response) => Ok(response),
        Err(error) => Ok(show(&request, &app, &visitor(&request, &app), false, Some(&error.into()))),
    }
}

/// What comes of a sign-in at the provider.
///
/// # Errors
/// [`PageError`].
pub(super) async fn back(
    request: &HttpRequest,
    app: &AppState,
    identity: Result<Identity, oidc::Refused>,
) -> Result<HttpResponse, PageError> {
    let signed_in = match identity {
        Ok(identity) => app.access.sign_in_account(&identity).await,
        Err(oidc::Refused::TooFast(limited)) => Err(limited.into()),
        Err(oidc::Refused::Provider(error)) => Err(error.into()),
    };
    match signed_in {
        Ok(session) => {
            let mut response = see_other("/");
            let cookie = cookie_of(session.token, &app.settings.now().server.public_url);
            response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(error) => Ok(show(request, app, &visitor(request, app), false, Some(&error))),
    }
}

/// `POST /sign-out`
///
/// # Errors
/// [`PageError`].
pub(super) async fn sign_out(
    request: HttpRequest,
    app: web::Data<AppState>,
    form: web::Form<TokenForm>,
) -> Result<HttpResponse, PageError> {
    let visitor = visitor(&request, &app);
    form_token::check(&request, &app, &visitor, &form.token)?;
    app.access.sign_out(&visitor.session).await?;
    let mut response = see_other("/sign-in");
    let gone = expired_cookie(&app.settings.now().server.public_url);
    response.add_cookie(&gone).map_err(|_| PageError::ForeignForm)?;
    Ok(response)
}

fn show(
    request: &HttpRequest,
    app: &AppState,
    visitor: &Visitor,
    signed_in: bool,
    error: Option<&SignInError>,
) -> HttpResponse {
    let status = match error {
        None => StatusCode::OK,
        Some(SignInError::TooFast(_)) => StatusCode::TOO_MANY_REQUESTS,
        Some(SignInError::Busy | SignInError::Provider(OidcError::Provider(_) | OidcError::Token(_))) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Some(_) => StatusCode::FORBIDDEN,
    };
    let page = Page::new(request, Section::Battle);
    let (words, provider) = (&page.t().sign_in, app.settings.now().oidc.shown_name());
    let problem = error.map(|error| match error {
        SignInError::TooFast(limited) => fill(words.too_fast, &[("n", &limited.seconds().to_string())]),
        SignInError::Expired => words.expired.to_owned(),
        SignInError::UsedUp => words.used_up.to_owned(),
        SignInError::Revoked => words.revoked.to_owned(),
        SignInError::Busy => words.busy.to_owned(),
        SignInError::Provider(OidcError::Foreign | OidcError::Off) => words.foreign.to_owned(),
        SignInError::Provider(OidcError::Denied) => words.provider_denied.replace("{name}", &provider),
        SignInError::Provider(_) => words.provider_down.replace("{name}", &provider),
        SignInError::Wrong | SignInError::Store(_) => words.wrong.to_owned(),
    });
    let by_code = app.access.mode() == AccessMode::Invite;
    let provider = (app.access.mode() == AccessMode::Oidc).then_some(provider);
    let token = form_token::token(app, visitor);
    let view = SignInView { page, by_code, provider, signed_in, problem, token };
    let mut response = sign_in_page(request, status, view);
    if let Some(SignInError::TooFast(limited)) = error {
        response.headers_mut().insert(header::RETRY_AFTER, limited.seconds().into());
    }
    // The page holds a token of the session: nobody keeps it.
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    if let Some(cookie) = &visitor.new_cookie {
        // A cookie of our own making is always text.
        let _ = response.add_cookie(cookie);
    }
    response
}
