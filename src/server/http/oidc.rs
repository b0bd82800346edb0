//! The way to the provider and back (see [`crate::infra::oidc`]), for people who run the arena and for visitors.
//!
//! A sign-in begins by a link, because a form may lead nowhere but to the arena (`form-action` of the policy). Another site can begin
//! one, too: it ends in the same browser, with the person who signs in there.

use actix_web::cookie::{Cookie, SameSite, time::Duration};
use actix_web::{HttpRequest, HttpResponse, web};

use super::address::network_of;
use super::cookie_values::cookie_values;
use super::form_token::see_other;
use crate::infra::clock::Clock as _;
use crate::infra::config::is_public_by_tls;
use crate::infra::limits::RateLimited;
use crate::infra::oidc::{FLOW_MINUTES, Flow, Identity, OidcError, ProviderCallback, Purpose};
use crate::state::AppState;

const COOKIE: &str = "langya_oidc";
/// By this name browsers promise that the cookie came over TLS, from this very host and not from one of its subdomains.
const SECURE_COOKIE: &str = "__Host-langya_oidc";
/// Returns from this very machine are counted too: behind a proxy that is not trusted, everybody is this machine.
const THIS_MACHINE: &str = "this machine";

/// Why nobody came back from the provider.
#[derive(Debug)]
pub(super) enum Refused {
    /// Too many from one network.
    TooFast(RateLimited),
    /// The provider, or what was brought back from it.
    Provider(OidcError),
}

/// Leads to the provider. What the browser keeps meanwhile is good for this one sign-in, which replaces the session `former`.
///
/// # Errors
/// [`OidcError`] of a provider that is down or not set.
pub(super) async fn begin(
    app: &AppState,
    purpose: Purpose,
    next: &str,
    former: Option<String>,
) -> Result<HttpResponse, OidcError> {
    let flow = Flow::begin(purpose, next, &app.rng, app.clock.now()).replacing(former);
    let address = noted(app.oidc.authorization(&flow).await)?;
    let mut response = see_other(&address);
    let cookie = cookie(flow.cookie(&app.sessions), &app.settings.now().server.public_url);
    // A cookie of our own making is always text.
    let _ = response.add_cookie(&cookie);
    Ok(response)
}

/// Who came back from the provider with this request.
///
/// # Errors
/// [`Refused`].
pub(super) async fn identity(request: &HttpRequest, app: &AppState, flow: &Flow) -> Result<Identity, Refused> {
    let network = network_of(request, &app.settings.now().server.trusted_proxies);
    let counted = app.limits.take_sign_in(network.as_deref().unwrap_or(THIS_MACHINE)).await;
    counted.map_err(Refused::TooFast)?;
    let foreign = || Refused::Provider(OidcError::Foreign);
    let query = web::Query::<Vec<(String, String)>>::from_query(request.query_string()).map_err(|_| foreign())?;
    let one = |name: &str| {
        let mut values = query.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let value = values.next();
        // What comes twice may be understood in two ways.
        if values.next().is_some() { Err(foreign()) } else { Ok(value) }
    };
    let (state, error) = (one("state")?.unwrap_or_default(), one("error")?);
    let answer = ProviderCallback { state, code: one("code")?.filter(|_| error.is_none()), issuer: one("iss")? };
    noted(app.oidc.identity(flow, answer).await).map_err(Refused::Provider)
}

/// Logs what an operator can fix.
fn noted<T>(result: Result<T, OidcError>) -> Result<T, OidcError> {
    result.inspect_err(|error| {
        if matches!(error, OidcError::Provider(_) | OidcError::Token(_)) {
            tracing::warn!(%error, "sign-in through the OIDC provider fails");
        }
    })
}

fn cookie(value: String, public_url: &str) -> Cookie<'static> {
    let secure = is_public_by_tls(public_url);
    let cookie = Cookie::build(name(secure), value).path("/").http_only(true).secure(secure);
    // Lax, because people come back from another site.
    cookie.same_site(SameSite::Lax).max_age(Duration::minutes(FLOW_MINUTES)).finish()
}

/// A cookie that takes the one of a sign-in away.
pub(super) fn expired_cookie(public_url: &str) -> Cookie<'static> {
    let mut cookie = cookie(String::new(), public_url);
    cookie.make_removal();
    cookie
}

/// The sign-in that this browser has begun.
pub(super) fn flow_of(request: &HttpRequest, app: &AppState) -> Option<Flow> {
    let mut values = cookie_values(request, name(is_public_by_tls(&app.settings.now().server.public_url)));
    values.find_map(|value| Flow::of_cookie(value, &app.sessions, app.clock.now()))
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}
