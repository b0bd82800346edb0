//! Redirects to the identity provider and back (see [`crate::infra::oidc`]), for admin users and visitors.
//!
//! A sign-in begins with a link, because forms may only target the arena (`form-action` of the policy). Another site can begin one, too: it
//! ends in the same browser, with the account used there.

use actix_web::cookie::{Cookie, SameSite, time::Duration};
use actix_web::{HttpRequest, HttpResponse, web};

use super::super::form_token::see_other;
use super::super::request::address::network_of;
use super::super::request::cookie_values::cookie_values;
use crate::infra::config::is_public_by_tls;
use crate::infra::limits::RateLimited;
use crate::infra::oidc::{FLOW_MINUTES, Identity, OidcError, ProviderCallback, Purpose, SignInFlow};
use crate::infra::time::clock::Clock as _;
use crate::state::AppState;

const COOKIE: &str = "langya_oidc";
/// Cookie name with the `__Host-` prefix: browsers accept it only over TLS, from this very host and not from a subdomain.
const SECURE_COOKIE: &str = "__Host-langya_oidc";
/// Key under which callbacks from loopback addresses are counted too: behind a proxy that is not trusted, every client has one.
const LOOPBACK_NETWORK: &str = "this machine";

/// Error of a sign-in at the provider.
#[derive(Debug)]
pub(in crate::http) enum OidcSignInError {
    /// The network's rate limit is exceeded.
    TooFast(RateLimited),
    /// The provider failed, or its response is invalid.
    Provider(OidcError),
}

/// Redirects to the provider. The cookie is valid for this sign-in only, which replaces the session `former`.
///
/// # Errors
/// [`OidcError`] if the provider is down or not configured.
pub(in crate::http) async fn begin(
    app: &AppState,
    purpose: Purpose,
    next: &str,
    former: Option<String>,
) -> Result<HttpResponse, OidcError> {
    let flow = SignInFlow::begin(purpose, next, &app.rng, app.clock.now()).replacing(former);
    let address = log_error(app.oidc.authorization(&flow).await)?;
    let mut response = see_other(&address);
    let cookie = cookie(flow.cookie(&app.sessions), &app.settings.now().server.public_url);
    // A cookie built here is always valid text.
    let _ = response.add_cookie(&cookie);
    Ok(response)
}

/// Returns the identity that the provider confirmed with this request.
///
/// # Errors
/// [`OidcSignInError`] without a valid callback.
pub(in crate::http) async fn identity(
    request: &HttpRequest,
    app: &AppState,
    flow: &SignInFlow,
) -> Result<Identity, OidcSignInError> {
    let network = network_of(request, &app.settings.now().server.trusted_proxies);
    let counted = app.limits.take_sign_in(network.as_deref().unwrap_or(LOOPBACK_NETWORK)).await;
    counted.map_err(OidcSignInError::TooFast)?;
    let foreign = || OidcSignInError::Provider(OidcError::Foreign);
    let query = web::Query::<Vec<(String, String)>>::from_query(request.query_string()).map_err(|_| foreign())?;
    let one = |name: &str| {
        let mut values = query.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let value = values.next();
        // A repeated parameter is ambiguous.
        if values.next().is_some() { Err(foreign()) } else { Ok(value) }
    };
    let (state, error) = (one("state")?.unwrap_or_default(), one("error")?);
    let answer = ProviderCallback { state, code: one("code")?.filter(|_| error.is_none()), issuer: one("iss")? };
    log_error(app.oidc.identity(flow, answer).await).map_err(OidcSignInError::Provider)
}

/// Logs errors that an operator can fix.
fn log_error<T>(result: Result<T, OidcError>) -> Result<T, OidcError> {
    result.inspect_err(|error| {
        if matches!(error, OidcError::Provider(_) | OidcError::Token(_)) {
            tracing::warn!(%error, "sign-in through the OIDC provider fails");
        }
    })
}

fn cookie(value: String, public_url: &str) -> Cookie<'static> {
    let secure = is_public_by_tls(public_url);
    let cookie = Cookie::build(name(secure), value).path("/").http_only(true).secure(secure);
    // Lax, because the provider's redirect is a cross-site navigation.
    cookie.same_site(SameSite::Lax).max_age(Duration::minutes(FLOW_MINUTES)).finish()
}

/// Builds a cookie that deletes the sign-in cookie.
pub(in crate::http) fn expired_cookie(public_url: &str) -> Cookie<'static> {
    let mut cookie = cookie(String::new(), public_url);
    cookie.make_removal();
    cookie
}

/// Returns the sign-in that this browser has begun.
pub(in crate::http) fn flow_of(request: &HttpRequest, app: &AppState) -> Option<SignInFlow> {
    let mut values = cookie_values(request, name(is_public_by_tls(&app.settings.now().server.public_url)));
    values.find_map(|value| SignInFlow::of_cookie(value, &app.sessions, app.clock.now()))
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}
