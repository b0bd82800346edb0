//! `/sign-in` and `/sign-out`, for arenas that are not public.
//!
//! No other site can sign a visitor in or out (see [`form_token`]). Signing in begins a new session of the same visitor.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::super::form_token::{self, TokenForm, see_other, visitor};
use super::super::request::address::network_of;
use super::super::request::error::PageError;
use super::super::session::{Visitor, cookie_of, expired_cookie};
use super::oidc;
use crate::infra::config::AccessMode;
use crate::infra::oidc::{Identity, OidcError, Purpose};
use crate::pages::visitor::battle::BattlePageState;
use crate::pages::visitor::sign_in::{SignInView, sign_in_page};
use crate::pages::{self, Page, Section};
use crate::render::i18n::fill;
use crate::render::i18n::pages::SignInTexts;
use crate::services::arena::access::{SignInError, SignedIn};
use crate::state::AppState;

/// Key under which failed attempts from loopback addresses are counted too: behind a proxy that is not trusted, every client has one.
const LOOPBACK_NETWORK: &str = "this machine";
/// Query of the page after signing out.
const SIGNED_OUT_QUERY: &str = "signed_out=1";

/// Form of `/sign-in`.
#[derive(Deserialize)]
pub(in crate::http) struct SignInForm {
    /// Invite code or passphrase.
    secret: String,
    token: String,
}

/// `GET /`: the battle page, or the sign-in page.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn battle_page(
    request: HttpRequest,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let visitor = match admitted(&request, &app).await {
        Ok((visitor, _)) => visitor,
        Err(PageError::SignInRequired) => return Ok(see_other("/sign-in")),
        Err(error) => return Err(error),
    };
    let models = app.models.current();
    let (practice, pairable) = (models.only_practice(), models.pairable());
    let takes_images = app.matchmaker.takes_images();
    let asks_consent = asks_consent(&app, &visitor).await;
    let state = BattlePageState { takes_images, practice, asks_consent, pairable };
    let mut response = pages::visitor::battle::battle(&request, &app.settings.now(), state);
    if app.access.mode() != AccessMode::Open {
        // Browsers show cached pages on Back without a request: after signing out, Back must lead to the sign-in page.
        response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// Whether a visitor has not yet given consent. If the database fails, the visitor is asked again.
async fn asks_consent(app: &AppState, visitor: &Visitor) -> bool {
    visitor.new_cookie.is_some() || !app.consents.is_given(&visitor.session).await.unwrap_or(false)
}

/// Returns the admitted visitor of a request, with the end of the admission. In an open arena an ended session is replaced by a new one,
/// whose cookie the response must set.
///
/// # Errors
/// [`PageError::SignInRequired`] if the visitor has to sign in first.
pub(in crate::http) async fn admitted(request: &HttpRequest, app: &AppState) -> Result<(Visitor, SignedIn), PageError> {
    let mut visitor = visitor(request, app);
    if visitor.new_cookie.is_none() {
        if let Some(signed_in) = app.access.admit(&visitor.session.id).await? {
            return Ok((visitor, signed_in));
        }
        visitor = Visitor::begin(&app.sessions, &app.settings.now().server.public_url);
    }
    let signed_in = app.access.admit_new(&visitor.session.id).ok_or(PageError::SignInRequired)?;
    Ok((visitor, signed_in))
}

/// `GET /sign-in`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    if app.access.mode() == AccessMode::Open {
        return Ok(pages::errors::not_found::not_found(&request));
    }
    let visitor = visitor(&request, &app);
    let signed_in = visitor.new_cookie.is_none() && app.access.admit(&visitor.session.id).await?.is_some();
    let signed_out = !signed_in && request.query_string().split('&').any(|pair| pair == SIGNED_OUT_QUERY);
    Ok(show(&request, &app, &visitor, SignInState { signed_in, signed_out, ..SignInState::default() }))
}

/// `POST /sign-in`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn sign_in(
    request: HttpRequest,
    app: web::Data<AppState>,
    form: web::Form<SignInForm>,
) -> Result<HttpResponse, PageError> {
    if app.access.mode() == AccessMode::Open {
        return Ok(pages::errors::not_found::not_found(&request));
    }
    let visitor = visitor(&request, &app);
    form_token::check(&request, &app, &visitor, &form.token)?;
    let network = network_of(&request, &app.settings.now().server.trusted_proxies);
    let network = network.as_deref().unwrap_or(LOOPBACK_NETWORK);
    match app.access.sign_in(&form.secret, network, &visitor.session).await {
        Ok(session) => {
            let mut response = see_other("/");
            let cookie = cookie_of(session.token, &app.settings.now().server.public_url);
            response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(error) => {
            let state = SignInState { typed: Some(form.secret.as_str()), ..SignInState::refused(&error) };
            Ok(show(&request, &app, &visitor, state))
        }
    }
}

/// `GET /sign-in/provider`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn provider(
    request: HttpRequest,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    if app.access.mode() != AccessMode::Oidc {
        return Ok(pages::errors::not_found::not_found(&request));
    }
    match oidc::begin(&app, Purpose::Visitor, "/", None).await {
        Ok(response) => Ok(response),
        Err(error) => Ok(show(&request, &app, &visitor(&request, &app), SignInState::refused(&error.into()))),
    }
}

/// Completes a sign-in at the provider.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn back(
    request: &HttpRequest,
    app: &AppState,
    identity: Result<Identity, oidc::OidcSignInError>,
) -> Result<HttpResponse, PageError> {
    let signed_in = match identity {
        Ok(identity) => app.access.sign_in_account(&identity).await,
        Err(oidc::OidcSignInError::TooFast(limited)) => Err(limited.into()),
        Err(oidc::OidcSignInError::Provider(error)) => Err(error.into()),
    };
    match signed_in {
        Ok(session) => {
            let mut response = see_other("/");
            let cookie = cookie_of(session.token, &app.settings.now().server.public_url);
            response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(error) => Ok(show(request, app, &visitor(request, app), SignInState::refused(&error))),
    }
}

/// `POST /sign-out`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn sign_out(
    request: HttpRequest,
    app: web::Data<AppState>,
    form: web::Form<TokenForm>,
) -> Result<HttpResponse, PageError> {
    let visitor = visitor(&request, &app);
    form_token::check(&request, &app, &visitor, &form.token)?;
    app.access.sign_out(&visitor.session.id).await?;
    let mut response = see_other(&format!("/sign-in?{SIGNED_OUT_QUERY}"));
    let gone = expired_cookie(&app.settings.now().server.public_url);
    response.add_cookie(&gone).map_err(|_| PageError::ForeignForm)?;
    Ok(response)
}

/// State of the visitor and of a failed attempt.
#[derive(Default)]
struct SignInState<'s> {
    signed_in: bool,
    /// Whether the visitor has just signed out.
    signed_out: bool,
    error: Option<&'s SignInError>,
    /// Invite code or passphrase of the failed attempt.
    typed: Option<&'s str>,
}

impl<'s> SignInState<'s> {
    /// Creates the state after a failed attempt.
    fn refused(error: &'s SignInError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

fn show(request: &HttpRequest, app: &AppState, visitor: &Visitor, state: SignInState<'_>) -> HttpResponse {
    let SignInState { signed_in, signed_out, error, typed } = state;
    let page = Page::new(request, Section::Battle);
    let provider = app.settings.now().oidc.shown_name();
    let problem = error.map(|error| problem(error, &page.t().sign_in, &provider));
    let by_code = app.access.mode() == AccessMode::Invite;
    let provider = (app.access.mode() == AccessMode::Oidc).then_some(provider);
    let typed = typed.filter(|_| by_code).map(str::to_owned);
    let token = form_token::token(app, visitor);
    let view = SignInView { page, by_code, provider, signed_in, signed_out, problem, typed, token };
    let mut response = sign_in_page(request, status(error), view);
    if let Some(SignInError::TooFast(limited)) = error {
        response.headers_mut().insert(header::RETRY_AFTER, limited.seconds().into());
    }
    // The page contains a token of the session: caches must not store it.
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    if let Some(cookie) = &visitor.new_cookie {
        // A cookie built here is always valid text.
        let _ = response.add_cookie(cookie);
    }
    response
}

fn status(error: Option<&SignInError>) -> StatusCode {
    match error {
        None => StatusCode::OK,
        Some(SignInError::TooFast(_)) => StatusCode::TOO_MANY_REQUESTS,
        Some(SignInError::Busy | SignInError::Provider(OidcError::Provider(_) | OidcError::Token(_))) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Some(_) => StatusCode::FORBIDDEN,
    }
}

/// Returns the message for a failed attempt.
fn problem(error: &SignInError, words: &SignInTexts, provider: &str) -> String {
    match error {
        SignInError::TooFast(limited) => fill(words.too_fast, &[("n", &limited.seconds().to_string())]),
        SignInError::Expired => words.expired.to_owned(),
        SignInError::UsedUp => words.used_up.to_owned(),
        SignInError::Revoked => words.revoked.to_owned(),
        SignInError::Busy => words.busy.to_owned(),
        SignInError::Provider(OidcError::Foreign | OidcError::Off) => words.foreign.to_owned(),
        SignInError::Provider(OidcError::Denied) => words.provider_denied.replace("{name}", provider),
        SignInError::Provider(_) => words.provider_down.replace("{name}", provider),
        SignInError::Wrong | SignInError::Store(_) => words.wrong.to_owned(),
    }
}
