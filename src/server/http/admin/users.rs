//! The list of admin users.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::role::Role;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::http::request::hosts::public_address;
use crate::infra::storage::UserChange;
use crate::pages::admin::users::UsersPage;
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::services::admin::oidc_users::ProviderUser;
use crate::services::admin::users::{UserError, link_address, passphrase_link_address};

/// `GET /admin/users`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Users);
    show(&call, StatusCode::OK, frame, None).await
}

/// `POST /admin/users/invite`: the link appears in this response only.
pub(super) async fn invite(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let role = role_of(call.fields.one("role"))?;
    let token = call.app.admin_users.invite(role, call.app.settings.now().admin.link_hours, &call.actor()).await?;
    let link = link_address(&public_address(&call.request, &call.app), &token);
    show(&call, StatusCode::OK, call.frame(AdminTab::Users), Some(link)).await
}

/// `POST /admin/users/add`: `name`, `role`, and `email` or `subject`.
pub(super) async fn add(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (fields, settings) = (&call.fields, call.app.settings.now());
    let role = role_of(fields.one("role"))?;
    let user =
        ProviderUser { name: fields.one("name"), role, email: fields.given("email"), subject: fields.given("subject") };
    match call.app.admin_users.add_at_provider(user, &settings.oidc.issuer, &call.actor()).await {
        Ok(()) => Ok(see_other("/admin/users?done=1")),
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/users/change`: `name`, and `change` with the role, `disable`, `enable` or `reset`.
pub(super) async fn change(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (name, users, actor) = (call.fields.one("name"), &call.app.admin_users, call.actor());
    let done = match call.fields.one("change") {
        "role" => users.change(name, UserChange::Role(role_of(call.fields.one("role"))?), &actor).await.map(|()| None),
        "disable" => users.change(name, UserChange::Disable, &actor).await.map(|()| None),
        "enable" => users.change(name, UserChange::Enable, &actor).await.map(|()| None),
        "reset" => users.reset(name, call.app.settings.now().admin.link_hours, &actor).await.map(Some),
        _ => return Err(PageError::InvalidQuery("change is role, disable, enable or reset".to_owned())),
    };
    match done {
        Ok(None) => Ok(see_other(after_change(&call))),
        Ok(Some(token)) => {
            let link = passphrase_link_address(&public_address(&call.request, &call.app), name, &token);
            show(&call, StatusCode::OK, call.frame(AdminTab::Users), Some(link)).await
        }
        Err(error) => refused(&call, error).await,
    }
}

/// Returns the redirect target after a change: an owner who has given up the role may no longer open the list.
fn after_change(call: &SignedInRequest) -> &'static str {
    let is_own = call.fields.one("name") == call.session.name && call.fields.one("change") == "role";
    let stays = call.fields.one("role") == Role::Owner.as_str();
    if is_own && !stays { "/admin?done=1" } else { "/admin/users?done=1" }
}

async fn refused(call: &SignedInRequest, error: UserError) -> Result<HttpResponse, PageError> {
    let (admin, provider) = (&call.page().t().admin, call.app.settings.now().oidc.shown_name());
    let words = &admin.users;
    let problem = match error {
        UserError::Store(error) => return Err(error.into()),
        UserError::Account(error) => admin.account_problem(error),
        UserError::LastOwner(_) => words.last_owner,
        UserError::NameTaken(_) => words.name_taken,
        UserError::NoIdentity | UserError::NoProvider => words.no_identity,
        UserError::IdentityTaken => words.identity_taken,
        UserError::AtProvider(_) | UserError::RoleFromClaim(_) => words.managed_there,
        _ => words.unknown,
    };
    let frame = call.frame_with(AdminTab::Users, &problem.replace("{name}", &provider));
    show(call, StatusCode::CONFLICT, frame, None).await
}

fn role_of(text: &str) -> Result<Role, PageError> {
    text.parse().map_err(|error| PageError::InvalidQuery(format!("role: {error}")))
}

async fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    link: Option<String>,
) -> Result<HttpResponse, PageError> {
    let settings = call.app.settings.now();
    let (page, users, hours) = (call.page(), call.app.admin_users.list().await?, settings.admin.link_hours);
    let oidc = &settings.oidc;
    let (provider, adds_at_provider) = (oidc.shown_name(), oidc.admins);
    let view = UsersPage { page, frame, users, link, hours, provider, adds_at_provider };
    Ok(respond(&call.request, status, &view))
}
