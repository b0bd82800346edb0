//! The operator's branding: logo, style sheet with the accent colour, and preview images of battles in that colour.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use actix_web::http::header;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use parking_lot::Mutex;

use crate::domain::battle::Outcome;
use crate::domain::colour_contrast::{AccentColours, Rgb};
use crate::infra::config::SiteSettings;
use crate::pages;
use crate::render::link_preview::{preview_file, preview_picture};
use crate::state::AppState;

/// Maximum size of the logo in bytes.
const MAX_LOGO_BYTES: u64 = 512 * 1024;

/// `GET /site/logo`
pub(super) async fn logo(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let settings = app.settings.now();
    let path = &settings.site.logo;
    match (content_type(path), read(path).await) {
        (Some(kind), Ok(bytes)) => HttpResponse::Ok()
            .content_type(kind)
            .insert_header((header::CACHE_CONTROL, "public, max-age=600"))
            .body(bytes),
        _ => pages::errors::not_found::not_found(&request),
    }
}

async fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = tokio::fs::metadata(path).await?;
    // Reading a pipe would never end.
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if metadata.len() > MAX_LOGO_BYTES {
        return Err(io::Error::other(format!("it is larger than {} kB", MAX_LOGO_BYTES / 1024)));
    }
    tokio::fs::read(path).await
}

/// Logs a warning if the configured logo cannot be served.
pub async fn check_logo(settings: &SiteSettings) {
    let path = &settings.logo;
    if path.as_os_str().is_empty() {
        return;
    }
    if let Err(error) = read(path).await {
        tracing::warn!(path = %path.display(), %error, "site.logo cannot be read: pages show a broken picture");
    }
}

fn content_type(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "svg" => Some("image/svg+xml"),
        "png" => Some("image/png"),
        "webp" => Some("image/webp"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        _ => None,
    }
}

/// `GET /site/accent.css`: the accent colour in place of the arena's own. The address contains the colour.
pub(super) async fn accent(app: web::Data<AppState>) -> HttpResponse {
    let accent = Rgb::parse(&app.settings.now().site.accent).and_then(AccentColours::new);
    let sheet = accent.map(|colours| sheet(&colours)).unwrap_or_default();
    HttpResponse::Ok()
        .content_type("text/css; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "public, max-age=600"))
        .body(sheet)
}

/// `GET /site/preview/OUTCOME.png`: link preview image of a battle. It shows only the outcome of the vote, so a few images suffice for all
/// battles.
pub(super) async fn preview(request: HttpRequest, app: web::Data<AppState>, file: web::Path<String>) -> HttpResponse {
    let mut known = [None].into_iter().chain(Outcome::ALL.map(Some));
    let outcome = known.find(|outcome| preview_file(*outcome) == *file);
    match outcome.and_then(|outcome| cached_picture(outcome, &app.settings.now().site.accent)) {
        Some(picture) => HttpResponse::Ok()
            .content_type("image/png")
            .insert_header((header::CACHE_CONTROL, "public, max-age=86400"))
            .body(picture),
        None => pages::errors::not_found::not_found(&request),
    }
}

/// Preview images in one accent colour, by file name.
struct DrawnPictures {
    accent: String,
    pictures: BTreeMap<String, Bytes>,
}

/// Returns an image, rendered at the first request: that takes tens of milliseconds, which block the battles of the thread.
fn cached_picture(outcome: Option<Outcome>, accent: &str) -> Option<Bytes> {
    static PICTURE_CACHE: Mutex<DrawnPictures> =
        Mutex::new(DrawnPictures { accent: String::new(), pictures: BTreeMap::new() });
    let mut drawn = PICTURE_CACHE.lock();
    if drawn.accent != accent {
        *drawn = DrawnPictures { accent: accent.to_owned(), pictures: BTreeMap::new() };
    }
    let file = preview_file(outcome);
    if let Some(picture) = drawn.pictures.get(&file) {
        return Some(picture.clone());
    }
    let picture = Bytes::from(preview_picture(outcome, Rgb::parse(accent))?);
    drawn.pictures.insert(file, picture.clone());
    Some(picture)
}

fn sheet(colours: &AccentColours) -> String {
    let property = |name: &str, [light, dark]: &[String; 2]| format!("  --{name}: light-dark({light}, {dark});\n");
    let properties = [
        property("jade", &colours.accent),
        property("jade-strong", &colours.strong),
        property("jade-wash", &colours.wash),
    ];
    format!(":root {{\n{}}}\n", properties.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_once_for_each_outcome_and_again_in_another_colour() {
        let drawn = |outcome, accent| cached_picture(outcome, accent).unwrap();
        let first = drawn(Some(Outcome::Tie), "");
        assert_eq!(drawn(Some(Outcome::Tie), "").as_ptr(), first.as_ptr(), "the same bytes, and no copy of them");
        assert_ne!(drawn(None, ""), first);
        assert_ne!(drawn(Some(Outcome::AWins), "#1d6755"), drawn(Some(Outcome::AWins), "#7a1f5c"));
    }
}
