//! The first page of the admin.

use actix_web::HttpResponse;

use super::call::SignedIn;
use crate::server::http::error::PageError;
use crate::server::http::forms::see_other;

/// `GET /admin`
#[expect(clippy::unused_async, reason = "handlers of the table are alike")]
pub(super) async fn page(_call: SignedIn) -> Result<HttpResponse, PageError> {
    Ok(see_other("/admin/account"))
}
