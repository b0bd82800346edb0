//! One's own account: sessions, pass phrase and second factor.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::call::SignedInRequest;
use crate::server::http::error::PageError;
use crate::server::http::form_token::see_other;
use crate::server::http::pages::admin::account::{AccountPage, SessionLine};
use crate::server::http::pages::admin::{AdminFrame, AdminTab};
use crate::server::http::pages::respond;
use crate::services::admin::users::UserError;

/// Where a change leads.
const DONE: &str = "/admin/account?done=1";

/// `GET /admin/account`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Account);
    show(&call, StatusCode::OK, frame, Vec::new()).await
}

/// `POST /admin/account/passphrase`
pub(super) async fn passphrase(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (former, latter) = (call.fields.one("former"), call.fields.one("latter"));
    match call.app.admin_users.change_passphrase(&call.session.id, former, latter, &call.actor()).await {
        Ok(()) => Ok(see_other(DONE)),
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/session`
pub(super) async fn end_session(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    call.app.admin_sessions.end(call.fields.one("session"), &call.session, &call.actor()).await?;
    Ok(see_other(DONE))
}

/// `POST /admin/account/factor/begin`
pub(super) async fn begin_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match call.app.admin_users.begin_second_factor(&call.session.name).await {
        Ok(()) => Ok(see_other("/admin/account#factor")),
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/factor/on`: the recovery codes are on the answer itself, and nowhere later.
pub(super) async fn confirm_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match call.app.admin_users.confirm_second_factor(call.fields.one("code"), &call.actor()).await {
        Ok(Some(codes)) => show(&call, StatusCode::OK, call.frame(AdminTab::Account), codes).await,
        Ok(None) => {
            let problem = call.page().t().admin.account.wrong_code;
            show(&call, StatusCode::FORBIDDEN, call.frame_with(AdminTab::Account, problem), Vec::new()).await
        }
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/factor/off`
pub(super) async fn disable_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match call.app.admin_users.disable_second_factor(call.fields.one("former"), &call.actor()).await {
        Ok(()) => Ok(see_other(DONE)),
        Err(error) => refused(&call, error).await,
    }
}

async fn refused(call: &SignedInRequest, error: UserError) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin;
    let problem = match error {
        UserError::Store(error) => return Err(error.into()),
        UserError::Account(error) => words.account_problem(error),
        UserError::Passphrase(_) => words.sign_in.busy,
        _ => words.account.wrong_passphrase,
    };
    show(call, StatusCode::FORBIDDEN, call.frame_with(AdminTab::Account, problem), Vec::new()).await
}

async fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    recovery_codes: Vec<String>,
) -> Result<HttpResponse, PageError> {
    let page = call.page();
    let factor = match call.app.admin_users.second_factor(&call.session.name, page.site_name()).await {
        Ok(factor) => factor,
        Err(UserError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(PageError::AdminSignInRequired),
    };
    let sessions = call.app.admin_sessions.list(&call.session.user_id).await?;
    let sessions = sessions.into_iter().map(|row| SessionLine { is_own: row.id == call.session.id, row }).collect();
    let user = call.app.store.admin_user(&call.session.name).await?;
    let provider = user.and_then(|user| user.provider).map(|_| call.app.settings.now().oidc.shown_name());
    let view = AccountPage { page, frame, sessions, factor, provider, recovery_codes };
    Ok(respond(&call.request, status, &view))
}
