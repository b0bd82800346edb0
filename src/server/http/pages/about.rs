//! The rules: how models are paired, what counts, how ratings are made, what is kept.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::battle::pacing::measured::PacingKind;
use crate::domain::language::Language;
use crate::infra::config::{BattleSettings, PacingMode};
use crate::render::i18n::pages::PacingInForce;
use crate::server::state::AppState;

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
    /// Whether models judge battles, so that their providers see them too.
    judged: bool,
    /// What time may tell before the vote.
    pacing: PacingInForce,
}

/// `GET /about`
pub async fn about(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let settings = app.settings.now();
    rules(&request, !settings.judge.models.is_empty(), &settings.battle)
}

/// The rules, with a word on judges where there are any.
pub(super) fn rules(request: &HttpRequest, judged: bool, battle: &BattleSettings) -> HttpResponse {
    let page = Page::new(request, Section::About);
    respond(request, StatusCode::OK, &AboutPage { page, judged, pacing: in_force(battle) })
}

fn in_force(battle: &BattleSettings) -> PacingInForce {
    let kind = match battle.pacing {
        PacingMode::Common => PacingKind::Common,
        PacingMode::Classes => PacingKind::Classes,
        PacingMode::Whole => PacingKind::Whole,
        PacingMode::Raw => PacingKind::Raw,
    };
    PacingInForce {
        kind,
        start_classes_ms: battle.start_classes_ms.clone(),
        tempo_classes: battle.tempo_classes.clone(),
        slow_class_share: battle.slow_class_share,
    }
}
