//! Texts for the errors of the router itself, which have none: one line that says what to do.

use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, HttpResponse};

use super::error::PageError;
use crate::pages::errors::not_found::not_found;

/// Middleware for `actix_web::middleware::from_fn`: adds the text to an empty error.
///
/// # Errors
/// Error of the inner service.
pub(in crate::http) async fn with_text<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let response = next.call(request).await?;
    let is_bare = matches!(response.response().body().size(), BodySize::None | BodySize::Sized(0));
    if response.status() != StatusCode::METHOD_NOT_ALLOWED || !is_bare {
        return Ok(response.map_into_left_body());
    }
    let kind = header::HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = response.map_body(|_, _| {
        EitherBody::right(BoxBody::new(
            "this address does not take this method: read with GET, send forms and JSON with POST\n",
        ))
    });
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Default service: a 404 page, or a line of text below `/api/`.
///
/// # Errors
/// [`PageError::Missing`] below `/api/`.
pub(in crate::http) async fn no_such_address(request: HttpRequest) -> Result<HttpResponse, PageError> {
    if request.path().starts_with("/api/") {
        let said = "the API has no such address: /api/v1/openapi.json lists all of them, none with a slash at its end";
        return Err(PageError::Missing(said.to_owned()));
    }
    Ok(not_found(&request))
}

#[cfg(test)]
mod tests {
    use actix_web::middleware::from_fn;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, HttpResponse, web};

    use super::*;

    #[actix_web::test]
    async fn another_method_is_refused_in_words_and_other_answers_stay() {
        let app = App::new().wrap(from_fn(with_text)).service(web::resource("/page").get(HttpResponse::Ok));
        let app = init_service(app.route("/empty", web::post().to(HttpResponse::NotFound))).await;
        for (request, status, said) in [
            (TestRequest::get().uri("/page"), 200, ""),
            (TestRequest::post().uri("/page"), 405, "this address does not take this method"),
            (TestRequest::post().uri("/empty"), 404, ""),
        ] {
            let response = call_service(&app, request.to_request()).await;
            assert_eq!(response.status().as_u16(), status);
            let body = read_body(response).await;
            assert!(body.starts_with(said.as_bytes()) && (said.is_empty() == body.is_empty()), "{body:?}");
        }
    }
}
