//! The audit log as a page.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::http::request::error::PageError;
use crate::infra::storage::AuditFilter;
use crate::pages::admin::AdminTab;
use crate::pages::admin::audit::AuditPage;
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;

/// Entries per page.
const PAGE_SIZE: u32 = 50;

/// `GET /admin/audit`: `actor`, `action`, and `before` with the id of an entry.
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let given = |name: &str| call.fields.given(name).filter(|text| !text.contains('\0')).map(str::to_owned);
    let filter = AuditFilter { actor: given("actor"), action: given("action"), before: given("before") };
    let mut entries = call.app.store.audit_entries(&filter, PAGE_SIZE + 1).await?;
    let has_older = entries.len() > PAGE_SIZE as usize;
    entries.truncate(PAGE_SIZE as usize);
    let older = entries.last().filter(|_| has_older).map(|last| {
        let [actor, action] = [&filter.actor, &filter.action].map(|text| escaped(text.as_deref().unwrap_or("")));
        format!("/admin/audit?actor={actor}&action={action}&before={}", escaped(&last.id))
    });
    let users = call.app.admin_users.list().await?.into_iter().map(|user| user.name).collect();
    let (page, frame) = (call.page(), call.frame(AdminTab::Audit));
    Ok(respond(&call.request, StatusCode::OK, &AuditPage { page, frame, filter, entries, older, users }))
}
