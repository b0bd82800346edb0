//! The account page: sessions, passphrase and second factor.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::second_factor::SecondFactor;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::limits::RateLimited;
use crate::pages::admin::account::{AccountPage, SessionLine};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::render::i18n::fill;
use crate::services::admin::users::UserError;

/// Redirect target after a change.
const DONE_LOCATION: &str = "/admin/account?done=1";

/// `GET /admin/account`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Account);
    show(&call, StatusCode::OK, frame, Vec::new()).await
}

/// `POST /admin/account/passphrase`
pub(super) async fn passphrase(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (former, latter) = (call.fields.one("former"), call.fields.one("latter"));
    let changed = async {
        count_sign_in_attempt(&call).await?;
        call.app.admin_users.change_passphrase(&call.session.id, former, latter, &call.actor()).await
    };
    match changed.await {
        Ok(()) => Ok(see_other(DONE_LOCATION)),
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/session`
pub(super) async fn end_session(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    call.app.admin_sessions.end(call.fields.one("session"), &call.session, &call.actor()).await?;
    Ok(see_other(DONE_LOCATION))
}

/// `POST /admin/account/factor/begin`
pub(super) async fn begin_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let begun = async {
        count_sign_in_attempt(&call).await?;
        call.app.admin_users.begin_second_factor(&call.session.name, call.fields.one("former")).await
    };
    match begun.await {
        Ok(()) => Ok(see_other("/admin/account#factor")),
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/factor/on`: the recovery codes appear in this response only.
pub(super) async fn confirm_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match call.app.admin_users.confirm_second_factor(call.fields.one("code"), &call.actor()).await {
        Ok(Some(codes)) => show(&call, StatusCode::OK, call.frame(AdminTab::Account), codes).await,
        Ok(None) => {
            let page = call.page();
            let words = &page.t().admin.account;
            let is_off = matches!(factor_of(&call, page.site_name()).await?, SecondFactor::Off);
            let problem = if is_off { words.factor_expired } else { words.wrong_code };
            show(&call, StatusCode::FORBIDDEN, call.frame_with(AdminTab::Account, problem), Vec::new()).await
        }
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/account/factor/off`
pub(super) async fn disable_factor(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let disabled = async {
        count_sign_in_attempt(&call).await?;
        call.app.admin_users.disable_second_factor(call.fields.one("former"), &call.actor()).await
    };
    match disabled.await {
        Ok(()) => Ok(see_other(DONE_LOCATION)),
        Err(error) => refused(&call, error).await,
    }
}

/// Counts a passphrase typed here as a sign-in attempt, before checking it: someone with a stolen session guesses no faster than anyone
/// else, and does not block others.
async fn count_sign_in_attempt(call: &SignedInRequest) -> Result<(), UserError> {
    Ok(call.app.limits.take_admin_sign_in(&call.session.name, &call.origin().network).await?)
}

async fn refused(call: &SignedInRequest, error: UserError) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin;
    let problem = match error {
        UserError::Store(error) => return Err(error.into()),
        UserError::TooFast(limited) => return too_fast(call, &limited).await,
        UserError::Account(error) => words.account_problem(error),
        UserError::Passphrase(_) => words.sign_in.busy,
        _ => words.account.wrong_passphrase,
    };
    show(call, StatusCode::FORBIDDEN, call.frame_with(AdminTab::Account, problem), Vec::new()).await
}

async fn too_fast(call: &SignedInRequest, limited: &RateLimited) -> Result<HttpResponse, PageError> {
    let problem = fill(call.page().t().admin.sign_in.too_fast, &[("n", &limited.seconds().to_string())]);
    let frame = call.frame_with(AdminTab::Account, &problem);
    let mut response = show(call, StatusCode::TOO_MANY_REQUESTS, frame, Vec::new()).await?;
    response.headers_mut().insert(header::RETRY_AFTER, limited.seconds().into());
    Ok(response)
}

async fn factor_of(call: &SignedInRequest, site_name: &str) -> Result<SecondFactor, PageError> {
    call.app.admin_users.second_factor(&call.session.name, site_name).await.map_err(|error| match error {
        UserError::Store(error) => error.into(),
        _ => PageError::AdminSignInRequired,
    })
}

async fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    recovery_codes: Vec<String>,
) -> Result<HttpResponse, PageError> {
    let page = call.page();
    let factor = factor_of(call, page.site_name()).await?;
    let sessions = call.app.admin_sessions.list(&call.session.user_id).await?;
    let sessions = sessions.into_iter().map(|row| SessionLine { is_own: row.id == call.session.id, row }).collect();
    let user = call.app.store.admin_user(&call.session.name).await?;
    let provider = user.and_then(|user| user.provider).map(|_| call.app.settings.now().oidc.shown_name());
    let view = AccountPage { page, frame, sessions, factor, provider, recovery_codes };
    Ok(respond(&call.request, status, &view))
}
