//! `/admin`: one table gives the minimum role of each address, and one function authorises requests. Every change also needs the CSRF token
//! of the session's own pages.

mod account;
mod audit;
mod bench_plans;
mod bench_runs;
mod campaigns;
mod cookie;
mod deletion_requests;
mod first_steps;
mod keys;
mod models;
mod moderation;
mod operations;
mod overview;
mod plan_refusals;
mod reviews;
mod sign_in;
mod signed_in_request;
mod users;
mod votes;
mod webhooks;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, header};
use actix_web::middleware::{Next, from_fn};
use actix_web::{Error, HttpRequest, HttpResponse, web};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use super::request::error::PageError;
use super::request::hosts;
use super::visitor::oidc::OidcSignInError;
use crate::domain::admin::role::Role;
use crate::infra::oidc::Identity;
use crate::infra::storage::AdminSessionRow;
use crate::state::AppState;
use signed_in_request::{Call, Fields, SignedInRequest};

/// Maximum size of a form in bytes.
const MAX_FORM_BYTES: usize = 64 * 1024;
/// Purpose that the CSRF token's signature covers.
const CSRF_PURPOSE: &str = "admin form";

type AdminResponse = LocalBoxFuture<'static, Result<HttpResponse, PageError>>;

/// Access rule of a route.
#[derive(Clone, Copy)]
enum AdminAccess {
    /// Everyone, signed in or not.
    Anybody(fn(Call<()>) -> AdminResponse),
    /// Signed-in users with at least this role.
    AtLeast(Role, fn(SignedInRequest) -> AdminResponse),
}

/// HTTP method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminMethod {
    /// Safe requests.
    Get,
    /// Changes.
    Post,
}

/// Route of the admin.
pub struct AdminRoute {
    /// HTTP method.
    pub method: AdminMethod,
    /// Path of the route.
    pub path: &'static str,
    access: AdminAccess,
}

impl AdminRoute {
    /// Returns the minimum role; `None` if no sign-in is needed.
    #[must_use]
    pub fn least_role(&self) -> Option<Role> {
        match self.access {
            AdminAccess::Anybody(_) => None,
            AdminAccess::AtLeast(role, _) => Some(role),
        }
    }

    const fn open(method: AdminMethod, path: &'static str, handler: fn(Call<()>) -> AdminResponse) -> Self {
        Self { method, path, access: AdminAccess::Anybody(handler) }
    }

    const fn read(path: &'static str, least: Role, handler: fn(SignedInRequest) -> AdminResponse) -> Self {
        Self { method: AdminMethod::Get, path, access: AdminAccess::AtLeast(least, handler) }
    }

    const fn change(path: &'static str, least: Role, handler: fn(SignedInRequest) -> AdminResponse) -> Self {
        Self { method: AdminMethod::Post, path, access: AdminAccess::AtLeast(least, handler) }
    }
}

/// Route table of the admin.
pub static ADMIN_ROUTES: [AdminRoute; 62] = [
    AdminRoute::open(AdminMethod::Get, "/admin/sign-in", |call| sign_in::page(call).boxed_local()),
    AdminRoute::open(AdminMethod::Post, "/admin/sign-in", |call| sign_in::sign_in(call).boxed_local()),
    AdminRoute::open(AdminMethod::Get, "/admin/sign-in/provider", |call| sign_in::provider(call).boxed_local()),
    AdminRoute::open(AdminMethod::Get, "/admin/welcome", |call| sign_in::welcome(call).boxed_local()),
    AdminRoute::open(AdminMethod::Post, "/admin/welcome", |call| sign_in::join(call).boxed_local()),
    AdminRoute::change("/admin/sign-out", Role::Viewer, |call| sign_in::sign_out(call).boxed_local()),
    AdminRoute::read("/admin", Role::Viewer, |call| overview::page(call).boxed_local()),
    AdminRoute::read("/admin/account", Role::Viewer, |call| account::page(call).boxed_local()),
    AdminRoute::change("/admin/account/passphrase", Role::Viewer, |call| account::passphrase(call).boxed_local()),
    AdminRoute::change("/admin/account/session", Role::Viewer, |call| account::end_session(call).boxed_local()),
    AdminRoute::change("/admin/account/factor/begin", Role::Viewer, |call| account::begin_factor(call).boxed_local()),
    AdminRoute::change("/admin/account/factor/on", Role::Viewer, |call| account::confirm_factor(call).boxed_local()),
    AdminRoute::change("/admin/account/factor/off", Role::Viewer, |call| account::disable_factor(call).boxed_local()),
    AdminRoute::read("/admin/models", Role::Viewer, |call| models::page(call).boxed_local()),
    AdminRoute::change("/admin/models/pause", Role::Operator, |call| models::pause(call).boxed_local()),
    AdminRoute::read("/admin/models/change", Role::Operator, |call| models::show_change_form(call).boxed_local()),
    AdminRoute::change("/admin/models/change", Role::Operator, |call| models::change(call).boxed_local()),
    AdminRoute::read("/admin/models/add", Role::Operator, |call| models::adding::page(call).boxed_local()),
    AdminRoute::change("/admin/models/add", Role::Operator, |call| models::adding::add(call).boxed_local()),
    AdminRoute::read("/admin/models/pairing", Role::Viewer, |call| models::pairing::page(call).boxed_local()),
    AdminRoute::change("/admin/models/test", Role::Operator, |call| models::test(call).boxed_local()),
    AdminRoute::read("/admin/voters", Role::Reviewer, |call| votes::voters(call).boxed_local()),
    AdminRoute::read("/admin/votes", Role::Reviewer, |call| votes::votes(call).boxed_local()),
    AdminRoute::read("/admin/votes/decide", Role::Operator, |call| votes::preview_decision(call).boxed_local()),
    AdminRoute::change("/admin/votes/decide", Role::Operator, |call| votes::decide(call).boxed_local()),
    AdminRoute::change("/admin/votes/export", Role::Operator, |call| votes::export(call).boxed_local()),
    AdminRoute::read("/admin/leaks", Role::Reviewer, |call| reviews::leaks(call).boxed_local()),
    AdminRoute::change("/admin/leaks", Role::Reviewer, |call| reviews::decide_leak(call).boxed_local()),
    AdminRoute::read("/admin/labels", Role::Reviewer, |call| reviews::labels(call).boxed_local()),
    AdminRoute::change("/admin/labels", Role::Reviewer, |call| reviews::decide_label(call).boxed_local()),
    AdminRoute::read("/admin/moderation", Role::Reviewer, |call| moderation::list(call).boxed_local()),
    AdminRoute::read("/admin/moderation/one", Role::Reviewer, |call| moderation::one(call).boxed_local()),
    AdminRoute::change("/admin/moderation/keep", Role::Reviewer, |call| moderation::keep(call).boxed_local()),
    AdminRoute::change("/admin/moderation/remove", Role::Operator, |call| moderation::remove(call).boxed_local()),
    AdminRoute::read("/admin/audit", Role::Operator, |call| audit::page(call).boxed_local()),
    AdminRoute::read("/admin/users", Role::Owner, |call| users::page(call).boxed_local()),
    AdminRoute::change("/admin/users/invite", Role::Owner, |call| users::invite(call).boxed_local()),
    AdminRoute::change("/admin/users/add", Role::Owner, |call| users::add(call).boxed_local()),
    AdminRoute::change("/admin/users/change", Role::Owner, |call| users::change(call).boxed_local()),
    AdminRoute::read("/admin/keys", Role::Operator, |call| keys::page(call).boxed_local()),
    AdminRoute::change("/admin/keys/create", Role::Operator, |call| keys::create(call).boxed_local()),
    AdminRoute::change("/admin/keys/revoke", Role::Operator, |call| keys::revoke(call).boxed_local()),
    AdminRoute::read("/admin/webhooks", Role::Viewer, |call| webhooks::page(call).boxed_local()),
    AdminRoute::change("/admin/webhooks/retry", Role::Operator, |call| webhooks::send_again(call).boxed_local()),
    AdminRoute::read("/admin/operations", Role::Viewer, |call| operations::page(call).boxed_local()),
    AdminRoute::read("/admin/benchmarks", Role::Viewer, |call| bench_runs::page(call).boxed_local()),
    AdminRoute::read("/admin/benchmarks/plan", Role::Operator, |call| bench_plans::show_plan_form(call).boxed_local()),
    AdminRoute::change("/admin/benchmarks/plan", Role::Operator, |call| bench_plans::consider_text(call).boxed_local()),
    AdminRoute::change("/admin/benchmarks/start", Role::Operator, |call| bench_plans::start(call).boxed_local()),
    AdminRoute::change("/admin/benchmarks/stop", Role::Operator, |call| bench_plans::stop(call).boxed_local()),
    AdminRoute::read("/admin/campaigns", Role::Viewer, |call| campaigns::list(call).boxed_local()),
    AdminRoute::read("/admin/campaigns/one", Role::Viewer, |call| campaigns::one(call).boxed_local()),
    AdminRoute::read("/admin/campaigns/report", Role::Viewer, |call| campaigns::report(call).boxed_local()),
    AdminRoute::change("/admin/campaigns/state", Role::Operator, |call| campaigns::change(call).boxed_local()),
    AdminRoute::change("/admin/campaigns/invite", Role::Operator, |call| campaigns::invite(call).boxed_local()),
    AdminRoute::change("/admin/campaigns/revoke", Role::Operator, |call| campaigns::revoke(call).boxed_local()),
    AdminRoute::change("/admin/campaigns/leave-out", Role::Operator, |call| campaigns::leave_out(call).boxed_local()),
    AdminRoute::change("/admin/campaigns/readmit", Role::Operator, |call| campaigns::readmit(call).boxed_local()),
    AdminRoute::read("/admin/requests", Role::Operator, |call| deletion_requests::list(call).boxed_local()),
    AdminRoute::read("/admin/requests/one", Role::Operator, |call| deletion_requests::one(call).boxed_local()),
    AdminRoute::change("/admin/requests/add", Role::Operator, |call| deletion_requests::add(call).boxed_local()),
    AdminRoute::change("/admin/requests/decide", Role::Operator, |call| deletion_requests::decide(call).boxed_local()),
];

/// Registers the routes of the table.
pub(super) fn routes(config: &mut web::ServiceConfig) {
    let mut paths: Vec<&'static str> = ADMIN_ROUTES.iter().map(|route| route.path).collect();
    paths.dedup();
    for path in paths {
        let answer = move |request, app, body| answer(path, request, app, body);
        let form = web::PayloadConfig::new(MAX_FORM_BYTES);
        config
            .service(web::resource(path).app_data(form).wrap(from_fn(forbid_caching)).default_service(web::to(answer)));
    }
}

/// Completes a sign-in at the provider: redirects to `next` within the admin and ends the session `former`.
///
/// # Errors
/// [`PageError`].
pub(super) async fn back_from_provider(
    request: HttpRequest,
    app: web::Data<AppState>,
    identity: Result<Identity, OidcSignInError>,
    next: &str,
    former: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let call = Call { request, app, fields: Fields::new("")?, session: () };
    sign_in::back(call, identity, next, former).await
}

/// Whether a role may open an address.
fn may_read(role: Role, path: &str) -> bool {
    let route = ADMIN_ROUTES.iter().find(|route| route.path == path && route.method == AdminMethod::Get);
    route.and_then(AdminRoute::least_role).is_some_and(|least| role.covers(least))
}

/// Forbids browsers and proxies to cache any admin response, including refusals.
async fn forbid_caching(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let mut response = next.call(request).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Calls the handler of a request if its session has the required role.
async fn answer(
    path: &'static str,
    request: HttpRequest,
    app: web::Data<AppState>,
    body: web::Bytes,
) -> Result<HttpResponse, PageError> {
    let method = match *request.method() {
        Method::GET | Method::HEAD => AdminMethod::Get,
        Method::POST => AdminMethod::Post,
        _ => return Ok(HttpResponse::MethodNotAllowed().finish()),
    };
    let Some(route) = ADMIN_ROUTES.iter().find(|route| route.path == path && route.method == method) else {
        return Ok(HttpResponse::MethodNotAllowed().finish());
    };
    let fields = Fields::new(if method == AdminMethod::Get { request.query_string() } else { as_text(&body)? })?;
    let call = Call { request, app, fields, session: () };
    match route.access {
        AdminAccess::Anybody(handler) => handler(call).await,
        AdminAccess::AtLeast(least, handler) => match session_of(&call.request, &call.app).await? {
            None if method == AdminMethod::Get => sign_in::ask(&call).await,
            None => Err(PageError::AdminSignInRequired),
            Some(session) if !session.role.covers(least) => Err(PageError::AdminRole(least)),
            Some(session) => {
                if method == AdminMethod::Post {
                    check_form(&call, &session)?;
                }
                handler(call.signed_in(session)).await
            }
        },
    }
}

fn as_text(body: &web::Bytes) -> Result<&str, PageError> {
    std::str::from_utf8(body).map_err(|_| PageError::ForeignForm)
}

/// Returns the valid session of a request.
async fn session_of(request: &HttpRequest, app: &AppState) -> Result<Option<AdminSessionRow>, PageError> {
    match cookie::token_of(request, &app.settings.now().server.public_url) {
        Some(token) => Ok(app.admin_sessions.find(&token).await?),
        None => Ok(None),
    }
}

/// Returns the CSRF token of a session's forms.
fn form_token(app: &AppState, session: &AdminSessionRow) -> String {
    app.sessions.signature(CSRF_PURPOSE, &session.id)
}

/// Checks that a form comes from one of the arena's own pages and carries the CSRF token of this session.
fn check_form(call: &Call<()>, session: &AdminSessionRow) -> Result<(), PageError> {
    let from_us = hosts::is_own_page(call.request.headers(), &call.app.settings.now().server.public_url);
    let of_session = call.app.sessions.is_signature(CSRF_PURPOSE, &session.id, call.fields.one("token"));
    if from_us && of_session { Ok(()) } else { Err(PageError::ForeignForm) }
}
