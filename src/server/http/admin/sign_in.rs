//! Admin sign-in and sign-out, and acceptance of invitation links.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};

use super::cookie::{self, cookie_of, expired_cookie};
use super::signed_in_request::{Call, SignedInRequest};
use crate::domain::admin::account::{AccountError, parse_name};
use crate::domain::admin::role::Role;
use crate::http::form_token::{self, see_other};
use crate::http::request::error::PageError;
use crate::http::visitor::oidc;
use crate::infra::oidc::{Identity, OidcError, Purpose};
use crate::infra::storage::{ActedVia, AdminSessionRow, AdminUserRow};
use crate::pages::admin::sign_in::{AdminSignInPage, SignedInPage, WelcomePage};
use crate::pages::errors::not_found::not_found;
use crate::pages::respond;
use crate::render::i18n::fill;
use crate::services::admin::actor::Actor;
use crate::services::admin::sessions::{AdminSignInError, Credentials, session_hash};
use crate::services::admin::users::UserError;

/// `GET /admin/sign-in`
pub(super) async fn page(call: Call<()>) -> Result<HttpResponse, PageError> {
    show(&call, StatusCode::OK, None, "/admin").await
}

/// Renders the sign-in page in place of a page that needs a session, with that page as the target.
pub(super) async fn ask(call: &Call<()>) -> Result<HttpResponse, PageError> {
    let next = call.request.uri().path_and_query().map_or("/admin", |address| address.as_str()).to_owned();
    show(call, StatusCode::UNAUTHORIZED, None, &next).await
}

/// `POST /admin/sign-in`
pub(super) async fn sign_in(call: Call<()>) -> Result<HttpResponse, PageError> {
    call.check_visitor()?;
    let fields = &call.fields;
    let given =
        Credentials { name: fields.one("name"), passphrase: fields.one("passphrase"), code: fields.one("code") };
    let next = own_address(fields.one("next"));
    match call.app.admin_sessions.sign_in(given, &call.origin()).await {
        Ok(token) => signed_in(&call, token, &next).await,
        Err(error) => refused(&call, error, &next).await,
    }
}

/// `GET /admin/sign-in/provider`
pub(super) async fn provider(call: Call<()>) -> Result<HttpResponse, PageError> {
    if !call.app.settings.now().oidc.admins {
        return Ok(not_found(&call.request));
    }
    let next = own_address(call.fields.one("next"));
    let token = cookie::token_of(&call.request, &call.app.settings.now().server.public_url);
    match oidc::begin(&call.app, Purpose::Admin, &next, token.as_deref().map(session_hash)).await {
        Ok(response) => Ok(response),
        Err(error) => refused(&call, error.into(), &next).await,
    }
}

/// Completes a sign-in at the provider.
pub(super) async fn back(
    call: Call<()>,
    identity: Result<Identity, oidc::OidcSignInError>,
    next: &str,
    former: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let (settings, next) = (call.app.settings.now(), own_address(next));
    let identity = match identity {
        Ok(identity) if settings.oidc.admins => identity,
        Ok(_) => return Ok(not_found(&call.request)),
        Err(oidc::OidcSignInError::TooFast(limited)) => return refused(&call, limited.into(), &next).await,
        Err(oidc::OidcSignInError::Provider(error)) => return refused(&call, error.into(), &next).await,
    };
    match call.app.admin_sessions.sign_in_at_provider(&identity, &call.origin()).await {
        Ok(token) => {
            if let Some(former) = former {
                end_previous_session(&call, call.app.admin_sessions.find_by_hash(former).await?).await?;
            }
            let mut response = respond(&call.request, StatusCode::OK, &SignedInPage { page: call.page(), next });
            let cookie = cookie_of(token, &settings.server.public_url);
            response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
            Ok(response)
        }
        Err(error) => refused(&call, error, &next).await,
    }
}

async fn refused(call: &Call<()>, error: AdminSignInError, next: &str) -> Result<HttpResponse, PageError> {
    let status = match &error {
        AdminSignInError::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
        AdminSignInError::Busy(_) | AdminSignInError::Provider(OidcError::Provider(_) | OidcError::Token(_)) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => StatusCode::FORBIDDEN,
    };
    match error {
        AdminSignInError::Store(error) => Err(error.into()),
        error => show(call, status, Some(&error), next).await,
    }
}

/// `POST /admin/sign-out`
pub(super) async fn sign_out(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    call.app.admin_sessions.end(&call.session.id, &call.session, &call.actor()).await?;
    let mut response = see_other("/admin/sign-in");
    let gone = expired_cookie(&call.app.settings.now().server.public_url);
    response.add_cookie(&gone).map_err(|_| PageError::ForeignForm)?;
    Ok(response)
}

/// `GET /admin/welcome`: the code of the link is in the fragment (`#`), so that no server and no log sees it. `account` names the account
/// that gets a new passphrase.
pub(super) async fn welcome(call: Call<()>) -> Result<HttpResponse, PageError> {
    Ok(show_welcome(&call, StatusCode::OK, None))
}

/// `POST /admin/welcome`
pub(super) async fn join(call: Call<()>) -> Result<HttpResponse, PageError> {
    call.check_visitor()?;
    let (fields, address) = (&call.fields, call.origin().address);
    let joined = call.app.admin_users.join(fields.one("link"), fields.one("name"), fields.one("passphrase"), &address);
    match joined.await {
        Ok(user) if user.totp_secret.is_none() => {
            let token = call.app.admin_sessions.begin(&user, &address).await?;
            signed_in(&call, token, first_page(&call, &user).await?).await
        }
        Ok(_) => Ok(see_other("/admin/sign-in")),
        Err(UserError::Store(error)) => Err(error.into()),
        Err(error) => Ok(show_welcome(&call, StatusCode::UNPROCESSABLE_ENTITY, Some(&error))),
    }
}

/// Returns the first page of a new account: the overview with the setup steps for the first owner, otherwise the account page, which offers
/// the second factor.
async fn first_page(call: &Call<()>, user: &AdminUserRow) -> Result<&'static str, PageError> {
    let is_first = user.role == Role::Owner && call.app.admin_users.list().await?.len() == 1;
    Ok(if is_first { "/admin" } else { "/admin/account" })
}

/// Sets the cookie of the new session and ends the browser's former one, which could no longer be signed out.
async fn signed_in(call: &Call<()>, token: String, next: &str) -> Result<HttpResponse, PageError> {
    end_previous_session(call, super::session_of(&call.request, &call.app).await?).await?;
    let mut response = see_other(next);
    let cookie = cookie_of(token, &call.app.settings.now().server.public_url);
    response.add_cookie(&cookie).map_err(|_| PageError::ForeignForm)?;
    Ok(response)
}

async fn end_previous_session(call: &Call<()>, former: Option<AdminSessionRow>) -> Result<(), PageError> {
    let Some(former) = former else { return Ok(()) };
    let actor = Actor { name: former.name.clone(), via: ActedVia::Page, address: call.origin().address };
    call.app.admin_sessions.end(&former.id, &former, &actor).await?;
    Ok(())
}

/// Returns the target if it is an admin address: prevents open redirects.
fn own_address(typed: &str) -> String {
    let is_plain = typed.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_own = typed == "/admin" || typed.starts_with("/admin/") || typed.starts_with("/admin?");
    if is_own && is_plain && typed.len() <= 2_000 { typed.to_owned() } else { "/admin".to_owned() }
}

async fn show(
    call: &Call<()>,
    status: StatusCode,
    error: Option<&AdminSignInError>,
    next: &str,
) -> Result<HttpResponse, PageError> {
    let (page, visitor) = (call.page(), form_token::visitor(&call.request, &call.app));
    let (words, settings) = (&page.t().admin.sign_in, call.app.settings.now());
    let provider = settings.oidc.shown_name();
    let problem = error.map(|error| match error {
        AdminSignInError::TooFast(limited) => fill(words.too_fast, &[("n", &limited.seconds().to_string())]),
        AdminSignInError::Busy(_) => words.busy.to_owned(),
        AdminSignInError::NoRole => words.no_role.replace("{name}", &provider),
        AdminSignInError::Provider(OidcError::Foreign | OidcError::Off) => words.foreign.to_owned(),
        AdminSignInError::Provider(OidcError::Denied) => words.provider_denied.replace("{name}", &provider),
        AdminSignInError::Provider(_) => words.provider_down.replace("{name}", &provider),
        AdminSignInError::Wrong | AdminSignInError::Store(_) => words.wrong.to_owned(),
    });
    let view = AdminSignInPage {
        name: call.fields.one("name").to_owned(),
        no_owner: !call.app.store.has_admin_owner().await?,
        token: form_token::token(&call.app, &visitor),
        next: next.to_owned(),
        problem,
        provider: settings.oidc.admins.then_some(provider),
        page,
    };
    let mut response = respond(&call.request, status, &view);
    if let Some(AdminSignInError::TooFast(limited)) = error {
        response.headers_mut().insert(header::RETRY_AFTER, limited.seconds().into());
    }
    with_visitor(&mut response, visitor.new_cookie.as_ref());
    Ok(response)
}

fn show_welcome(call: &Call<()>, status: StatusCode, error: Option<&UserError>) -> HttpResponse {
    let (page, visitor) = (call.page(), form_token::visitor(&call.request, &call.app));
    let words = &page.t().admin;
    let problem = error.map(|error| match error {
        UserError::Account(error) => words.account_problem(*error),
        UserError::NameTaken(_) => words.welcome.name_taken,
        UserError::Passphrase(_) => words.sign_in.busy,
        _ => words.welcome.void_link,
    });
    // A link for a new account needs a name.
    let needs_name = matches!(error, Some(UserError::Account(AccountError::Name)));
    let view = WelcomePage {
        link: call.fields.one("link").to_owned(),
        name: call.fields.one("name").to_owned(),
        account: parse_name(call.fields.one("account")).ok().filter(|_| !needs_name),
        token: form_token::token(&call.app, &visitor),
        problem,
        page,
    };
    let mut response = respond(&call.request, status, &view);
    with_visitor(&mut response, visitor.new_cookie.as_ref());
    response
}

/// Adds the visitor's cookie, to which the form's CSRF token belongs.
fn with_visitor(response: &mut HttpResponse, cookie: Option<&actix_web::cookie::Cookie<'static>>) {
    if let Some(cookie) = cookie {
        // A cookie built here is always valid text.
        let _ = response.add_cookie(cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_only_into_the_admin() {
        for own in ["/admin", "/admin/votes?voter=a&rule=admin", "/admin?lang=zh"] {
            assert_eq!(own_address(own), own);
        }
        for foreign in
            ["", "/", "//evil.example/admin", "https://evil.example", "/administrator", "/admin/\\evil", "/admin/\r\n"]
        {
            assert_eq!(own_address(foreign), "/admin", "{foreign:?}");
        }
    }
}
