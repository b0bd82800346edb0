//! Pages as HTTP responses: headers and compression.

use actix_web::body::MessageBody;
use actix_web::http::header::HeaderValue;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use flate2::Compression;

use crate::frame::{gzip, language};

/// Maximum size in bytes for high-ratio compression; larger pages would delay the response.
const MAX_COMPRESSED_BYTES: usize = 64 * 1024;

/// Renders a page as a response; sets the language cookie if the visitor chose a language.
pub fn respond(request: &HttpRequest, status: StatusCode, page: &impl Template) -> HttpResponse {
    match page.render() {
        Ok(html) if html.len() <= MAX_COMPRESSED_BYTES && gzip::is_accepted(request.headers()) => {
            respond_gzip(request, status, gzip::compressed(html.as_bytes(), Compression::default()))
        }
        Ok(html) => respond_html(request, status, html),
        Err(error) => {
            tracing::error!(page.path = request.path(), error = %error, "a page could not be rendered");
            HttpResponse::InternalServerError().body("this page could not be made: reload it\n")
        }
    }
}

/// Builds the response of an already compressed page, for clients that accept gzip.
pub fn respond_gzip(request: &HttpRequest, status: StatusCode, html: impl MessageBody + 'static) -> HttpResponse {
    let mut response = respond_html(request, status, html);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// Builds the response of a rendered page, with the common headers.
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
