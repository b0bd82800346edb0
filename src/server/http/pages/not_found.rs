//! The answer for an address that leads nowhere: a page for people, a line of text below `/api/`.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::http::error::PageError;

#[derive(Template)]
#[template(path = "not_found.html")]
struct NotFoundPage {
    page: Page,
}

/// The default service.
///
/// # Errors
/// [`PageError::Missing`] below `/api/`.
pub async fn no_such_address(request: HttpRequest) -> Result<HttpResponse, PageError> {
    if request.path().starts_with("/api/") {
        let said = "the API has no such address: /api/v1/openapi.json lists all of them, none with a slash at its end";
        return Err(PageError::Missing(said.to_owned()));
    }
    Ok(not_found(request).await)
}

/// The page.
pub async fn not_found(request: HttpRequest) -> HttpResponse {
    let page = Page { path: "/".to_owned(), ..Page::new(&request, Section::None) };
    respond(&request, StatusCode::NOT_FOUND, &NotFoundPage { page })
}
