//! Serves the files of `static/`.
//!
//! Each has a strong ETag computed from its content. A browser may cache `/static/…?v=HASH` indefinitely; without the right hash (modules
//! that import each other) it revalidates each time and mostly gets 304.

use std::collections::BTreeMap;

use actix_web::http::header::{self, EntityTag};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use flate2::Compression;
use parking_lot::Mutex;

use super::request::entity_tags::is_known;
use crate::pages::frame::gzip;
use crate::pages::frame::static_files::{StaticFile, find};

/// Serves `/static/{path:.*}`, for `GET` and `HEAD`.
pub(super) async fn serve(request: HttpRequest, path: web::Path<String>) -> HttpResponse {
    let Some(file) = find(&path) else {
        return HttpResponse::NotFound().content_type("text/plain; charset=utf-8").body("no such file\n");
    };
    let tag = EntityTag::new_strong(file.hash.clone());
    let named_by_hash = request.query_string().strip_prefix("v=").is_some_and(|version| version == file.hash);
    let caching = if named_by_hash { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = is_known(&request, &tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header(header::ETag(tag)).insert_header((header::CACHE_CONTROL, caching));
    if known {
        return response.finish();
    }
    response.content_type(file.content_type.as_str());
    if file.is_text && gzip::is_accepted(request.headers()) {
        response.insert_header((header::CONTENT_ENCODING, "gzip")).insert_header((header::VARY, "accept-encoding"));
        return response.body(cached_gzip(&path, file));
    }
    response.body(file.content().into_owned())
}

/// Returns the file compressed with gzip at the highest level, cached by content.
fn cached_gzip(path: &str, file: StaticFile) -> Bytes {
    static MADE: Mutex<BTreeMap<String, (String, Bytes)>> = Mutex::new(BTreeMap::new());
    if let Some((of, made)) = MADE.lock().get(path)
        && *of == file.hash
    {
        return made.clone();
    }
    let made = Bytes::from(gzip::compressed(&file.content(), Compression::best()));
    MADE.lock().insert(path.to_owned(), (file.hash, made.clone()));
    made
}

#[cfg(test)]
mod tests {
    use actix_web::dev::ServiceResponse;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, http::StatusCode};

    use super::*;
    use crate::pages::frame::static_files::url;

    async fn get(uri: &str, known: Option<&str>) -> ServiceResponse {
        let app = init_service(App::new().route("/static/{path:.*}", web::get().to(serve))).await;
        let mut request = TestRequest::get().uri(uri);
        if let Some(tag) = known {
            request = request.insert_header((header::IF_NONE_MATCH, tag));
        }
        call_service(&app, request.to_request()).await.map_into_boxed_body()
    }

    fn text<'a>(response: &'a ServiceResponse, name: &str) -> &'a str {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[actix_web::test]
    async fn an_address_with_the_hash_may_be_kept_for_ever() {
        let response = get(&url("style.css"), None).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(text(&response, "content-type"), "text/css; charset=utf-8");
        assert!(text(&response, "cache-control").contains("immutable"));
        assert!(!read_body(response).await.is_empty());
    }

    #[actix_web::test]
    async fn an_address_without_the_hash_is_asked_for_each_time() {
        for uri in ["/static/style.css", "/static/style.css?v=old"] {
            let response = get(uri, None).await;
            assert_eq!(text(&response, "cache-control"), "no-cache");
            let tag = text(&response, "etag").to_owned();
            let again = get(uri, Some(&tag)).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(text(&again, "etag"), tag);
            assert!(read_body(again).await.is_empty());
            assert_eq!(get(uri, Some("\"other\"")).await.status(), StatusCode::OK);
        }
    }

    #[actix_web::test]
    async fn modules_and_icons_have_the_types_that_browsers_insist_on() {
        let module = get("/static/js/battle.js", None).await;
        assert_eq!(text(&module, "content-type"), "text/javascript; charset=utf-8");
        assert_eq!(text(&get("/static/icon.svg", None).await, "content-type"), "image/svg+xml");
    }

    #[actix_web::test]
    async fn nothing_outside_the_folder_is_served() {
        for uri in ["/static/missing.css", "/static/../Cargo.toml", "/static/..%2fCargo.toml", "/static/%2fetc/passwd"]
        {
            assert_eq!(get(uri, None).await.status(), StatusCode::NOT_FOUND, "{uri}");
        }
    }
}
