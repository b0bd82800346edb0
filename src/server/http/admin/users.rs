//! Who may run the arena.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::call::SignedIn;
use crate::domain::admin::role::Role;
use crate::infra::storage::UserChange;
use crate::server::http::error::PageError;
use crate::server::http::forms::see_other;
use crate::server::http::pages::admin::users::UsersPage;
use crate::server::http::pages::admin::{AdminFrame, AdminTab};
use crate::server::http::pages::respond;
use crate::services::admin::users::{UserError, link_address};

/// `GET /admin/users`
pub(super) async fn page(call: SignedIn) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Users);
    show(&call, StatusCode::OK, frame, None).await
}

/// `POST /admin/users/invite`: the link is on the answer itself, and nowhere later.
pub(super) async fn invite(call: SignedIn) -> Result<HttpResponse, PageError> {
    let role = role_of(call.fields.one("role"))?;
    let token = call.app.admin_users.invite(role, call.app.settings.now().admin.link_hours, &call.actor()).await?;
    show(&call, StatusCode::OK, call.frame(AdminTab::Users), Some(&token)).await
}

/// `POST /admin/users/change`: `name`, and `change` with the role, `disable`, `enable` or `reset`.
pub(super) async fn change(call: SignedIn) -> Result<HttpResponse, PageError> {
    let (name, users, actor) = (call.fields.one("name"), &call.app.admin_users, call.actor());
    let done = match call.fields.one("change") {
        "role" => users.change(name, UserChange::Role(role_of(call.fields.one("role"))?), &actor).await.map(|()| None),
        "disable" => users.change(name, UserChange::Disable, &actor).await.map(|()| None),
        "enable" => users.change(name, UserChange::Enable, &actor).await.map(|()| None),
        "reset" => users.reset(name, call.app.settings.now().admin.link_hours, &actor).await.map(Some),
        _ => return Err(PageError::InvalidQuery("change is role, disable, enable or reset".to_owned())),
    };
    match done {
        Ok(None) => Ok(see_other("/admin/users?done=1")),
        Ok(Some(token)) => show(&call, StatusCode::OK, call.frame(AdminTab::Users), Some(&token)).await,
        Err(UserError::Store(error)) => Err(error.into()),
        Err(error) => {
            let words = &call.page().t().admin.users;
            let problem = if matches!(error, UserError::LastOwner(_)) { words.last_owner } else { words.unknown };
            show(&call, StatusCode::CONFLICT, call.frame_with(AdminTab::Users, problem), None).await
        }
    }
}

fn role_of(text: &str) -> Result<Role, PageError> {
    text.parse().map_err(|error| PageError::InvalidQuery(format!("role: {error}")))
}

async fn show(
    call: &SignedIn,
    status: StatusCode,
    frame: AdminFrame,
    token: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let settings = call.app.settings.now();
    let host = format!("http://{}", call.request.connection_info().host());
    let public = settings.server.public_url.as_str();
    let link = token.map(|token| link_address(if public.is_empty() { &host } else { public }, token));
    let (page, users) = (call.page(), call.app.admin_users.list().await?);
    Ok(respond(&call.request, status, &UsersPage { page, frame, users, link, hours: settings.admin.link_hours }))
}
