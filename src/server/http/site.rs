//! What the operator gives the arena: a logo, the accent colour as a style sheet, and the pictures of battles in it.

use std::io;
use std::path::Path;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use super::pages;
use crate::domain::battle::Outcome;
use crate::domain::colour_contrast::{AccentColours, Rgb};
use crate::infra::config::SiteSettings;
use crate::render::link_preview::{preview_file, preview_picture};
use crate::server::state::AppState;

/// A larger file is no logo.
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
        _ => pages::not_found::not_found(request).await,
    }
}

async fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = tokio::fs::metadata(path).await?;
    // A pipe would never end.
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if metadata.len() > MAX_LOGO_BYTES {
        return Err(io::Error::other(format!("it is larger than {} kB", MAX_LOGO_BYTES / 1024)));
    }
    tokio::fs::read(path).await
}

/// Logs a warning where the logo of the settings cannot be shown.
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

/// `GET /site/accent.css`: the accent colour in place of the arena's own. Pages name the colour in the address.
pub(super) async fn accent(app: web::Data<AppState>) -> HttpResponse {
    let accent = Rgb::parse(&app.settings.now().site.accent).and_then(AccentColours::new);
    let sheet = accent.map(|colours| sheet(&colours)).unwrap_or_default();
    HttpResponse::Ok()
        .content_type("text/css; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "public, max-age=600"))
        .body(sheet)
}

/// `GET /site/preview/OUTCOME.png`: the picture that other sites show beside a link to a battle. It tells how the vote went and no more,
/// so the few that there are do for all battles.
pub(super) async fn preview(request: HttpRequest, app: web::Data<AppState>, file: web::Path<String>) -> HttpResponse {
    let known = || [None].into_iter().chain(Outcome::ALL.map(Some));
    let accent = Rgb::parse(&app.settings.now().site.accent);
    let picture =
        known().find(|outcome| preview_file(*outcome) == *file).and_then(|outcome| preview_picture(outcome, accent));
    match picture {
        Some(picture) => HttpResponse::Ok()
            .content_type("image/png")
            .insert_header((header::CACHE_CONTROL, "public, max-age=86400"))
            .body(picture),
        None => pages::not_found::not_found(request).await,
    }
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
