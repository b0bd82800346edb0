//! The rules: how models are paired, what counts, how ratings are made, what is kept.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Language, Page, Section, respond};

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
}

/// `GET /about`
pub async fn about(request: HttpRequest) -> HttpResponse {
    let page = Page::new(&request, Section::About);
    respond(&request, StatusCode::OK, &AboutPage { page })
}
