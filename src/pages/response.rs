//! A page as an answer: its headers, and compressed for clients that accept that.

use actix_web::body::MessageBody;
use actix_web::http::header::HeaderValue;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use flate2::Compression;

use crate::{gzip, language};

/// Longer pages would take a request too long to compress well.
const MOST_BYTES_TO_SHRINK: usize = 64 * 1024;

/// Renders a page as a response; remembers the language where the visitor chose one.
pub fn respond(request: &HttpRequest, status: StatusCode, page: &impl Template) -> HttpResponse {
    match page.render() {
        Ok(html) if html.len() <= MOST_BYTES_TO_SHRINK && gzip::is_accepted(request.headers()) => {
            respond_gzip(request, status, gzip::compressed(html.as_bytes(), Compression::default()))
        }
        Ok(html) => respond_html(request, status, html),
        Err(error) => {
            tracing::error!(page.path = request.path(), error = %error, "a page could not be rendered");
            HttpResponse::InternalServerError().body("this page could not be made: reload it\n")
        }
    }
}

/// A rendered page that is already compressed, for clients that accept that.
pub fn respond_gzip(request: &HttpRequest, status: StatusCode, html: impl MessageBody + 'static) -> HttpResponse {
    let mut response = respond_html(request, status, html);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// A rendered page as a response, with the headers of every page.
pub fn respond_html(request: &HttpRequest, status: StatusCode, html: impl MessageBody + 'static) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::VARY, "accept-language, cookie"));
    if let Some(cookie) = language::chosen(request) {
        response.cookie(cookie);
    }
    response.body(html)
}
