//! The files of `static/`, built into the program.
//!
//! Each has a strong entity tag made of its content. Pages link to `/static/…?v=HASH`, which browsers may keep for
//! ever; without the right hash (modules that import each other) a browser asks each time and mostly hears "not modified".

use crate::domain::hex::hex;
use std::borrow::Cow;
use std::collections::BTreeMap;

use actix_web::http::header::{self, EntityTag};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use flate2::Compression;
use parking_lot::Mutex;
use rust_embed::{Embed, EmbeddedFile};

use super::entity_tags::is_known;
use super::gzip;

#[derive(Embed)]
#[folder = "../../static"]
struct StaticFiles;

/// Serves `/static/{path:.*}`, for `GET` and `HEAD`.
pub async fn serve(request: HttpRequest, path: web::Path<String>) -> HttpResponse {
    let Some(file) = StaticFiles::get(&path) else {
        return HttpResponse::NotFound().content_type("text/plain; charset=utf-8").body("no such file\n");
    };
    let hash = hash_of(&file);
    let tag = EntityTag::new_strong(hash.clone());
    let named_by_hash = request.query_string().strip_prefix("v=").is_some_and(|version| version == hash);
    let caching = if named_by_hash { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = is_known(&request, &tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header(header::ETag(tag)).insert_header((header::CACHE_CONTROL, caching));
    if known {
        return response.finish();
    }
    response.content_type(content_type(&file));
    if is_text(&file) && gzip::is_accepted(request.headers()) {
        response.insert_header((header::CONTENT_ENCODING, "gzip")).insert_header((header::VARY, "accept-encoding"));
        return response.body(smallest(&path, hash, &file));
    }
    response.body(sent(&file).into_owned())
}

/// What is sent of a file. Comments are a sixth of a compressed style sheet, so it goes without them.
fn sent(file: &EmbeddedFile) -> Cow<'_, [u8]> {
    match std::str::from_utf8(&file.data) {
        Ok(sheet) if file.metadata.mimetype() == "text/css" => Cow::Owned(without_comments(sheet).into_bytes()),
        _ => Cow::Borrowed(file.data.as_ref()),
    }
}

/// A style sheet without its comments. None of ours has their signs in a string.
fn without_comments(sheet: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(sheet.len()), sheet);
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The file as small as gzip makes it, once for each content.
fn smallest(path: &str, hash: String, file: &EmbeddedFile) -> Bytes {
    static MADE: Mutex<BTreeMap<String, (String, Bytes)>> = Mutex::new(BTreeMap::new());
    if let Some((of, made)) = MADE.lock().get(path)
        && *of == hash
    {
        return made.clone();
    }
    let made = Bytes::from(gzip::compressed(&sent(file), Compression::best()));
    MADE.lock().insert(path.to_owned(), (hash, made.clone()));
    made
}

/// The address of a file, with its hash; for templates.
#[must_use]
pub fn url(path: &str) -> String {
    match StaticFiles::get(path) {
        Some(file) => format!("/static/{path}?v={}", hash_of(&file)),
        None => format!("/static/{path}"),
    }
}

/// The first 128 bits of the content's SHA-256.
fn hash_of(file: &EmbeddedFile) -> String {
    hex(&file.metadata.sha256_hash()[..16])
}

fn content_type(file: &EmbeddedFile) -> String {
    let mime = file.metadata.mimetype();
    if is_text(file) && !mime.ends_with("xml") { format!("{mime}; charset=utf-8") } else { mime.to_owned() }
}

fn is_text(file: &EmbeddedFile) -> bool {
    let mime = file.metadata.mimetype();
    mime.starts_with("text/") || ["javascript", "json", "xml"].iter().any(|end| mime.ends_with(end))
}

#[cfg(test)]
mod tests {
    use actix_web::dev::ServiceResponse;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, http::StatusCode};

    use super::*;

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
    async fn style_sheets_are_sent_whole_but_for_their_comments() {
        assert_eq!(without_comments("/* a */b { c: d; /* e\n * f */ }/**/g/* h"), "b { c: d;  }g");
        let sheets = StaticFiles::iter().filter_map(|path| Some((StaticFiles::get(&path)?, path)));
        for (file, path) in sheets.filter(|(file, _)| file.metadata.mimetype() == "text/css") {
            let source = std::str::from_utf8(&file.data).unwrap();
            let mut quoted = source.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
            assert!(quoted.all(|text| !text.contains("/*")), "{path} has the sign of a comment in a string");
            let sheet = String::from_utf8(read_body(get(&url(&path), None).await).await.to_vec()).unwrap();
            assert!(sheet.len() > 100 && !sheet.contains("/*") && !sheet.contains("*/"), "{path}: {sheet}");
            assert_eq!(sheet.matches('{').count(), sheet.matches('}').count(), "{path}");
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
