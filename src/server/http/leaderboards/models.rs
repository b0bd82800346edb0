//! The model register, as a page and as JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};

use schemars::JsonSchema;

use super::super::request::error::PageError;
use crate::domain::model_register::days::Period;
use crate::domain::model_register::report::Register;
use crate::pages;
use crate::state::AppState;

/// Query parameters of the register.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes a parameter that is read as text")]
pub(in crate::http) struct RegisterQuery {
    /// `day`, `week` or `month` (default): length of the periods.
    period: String,
}

/// `GET /api/v1/models`, with `period=day|week|month`: every model that was ever in the arena.
///
/// # Errors
/// As [`register`].
pub(in crate::http) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(&*register(&request, &app).await?))
}

/// `GET /models`, with the same parameter.
///
/// # Errors
/// As [`register`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(pages::leaderboards::models::models(&request, &*register(&request, &app).await?))
}

/// Returns the register with the selected period.
///
/// # Errors
/// [`PageError::InvalidQuery`] for an unknown period, [`PageError::Register`] if it cannot be read.
async fn register(request: &HttpRequest, app: &AppState) -> Result<Arc<Register>, PageError> {
    let named = request.query_string().split('&').find_map(|pair| pair.strip_prefix("period="));
    let unknown = || PageError::InvalidQuery("period is day, week or month".into());
    let period = named.map_or(Ok(Period::default()), |name| Period::parse(name).ok_or_else(unknown))?;
    let latest = app.leaderboard.latest();
    let on_leaderboard: BTreeSet<String> = latest.leaderboard.models.iter().map(|row| row.model.clone()).collect();
    Ok(app.register.get(period, on_leaderboard).await?)
}
