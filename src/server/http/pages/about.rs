//! The rules: how models are paired, what counts, how ratings are made, what is kept, how much one may do.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::battle::pacing::measured::PacingKind;
use crate::domain::language::Language;
use crate::infra::config::{BattleSettings, LimitSettings, PacingMode, Settings, WindowLimits};
use crate::render::i18n::fill;
use crate::render::i18n::pages::{LimitTexts, PacingInForce};
use crate::server::state::AppState;

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
    /// Whether models judge battles, so that their providers see them too.
    judged: bool,
    /// What is said of limits; nothing where there are none.
    limits: Vec<String>,
    /// What time may tell before the vote.
    pacing: PacingInForce,
}

/// `GET /about`
pub async fn about(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    rules(&request, &app.settings.now())
}

/// The rules as the settings make them.
pub(super) fn rules(request: &HttpRequest, settings: &Settings) -> HttpResponse {
    let page = Page::new(request, Section::About);
    let limits = limits(&page.t().about.limits, &settings.limits);
    let about =
        AboutPage { page, judged: !settings.judge.models.is_empty(), limits, pacing: in_force(&settings.battle) };
    respond(request, StatusCode::OK, &about)
}

fn limits(words: &LimitTexts, limits: &LimitSettings) -> Vec<String> {
    let sentence = |text: &str, limit: WindowLimits| {
        let windows = words.windows.iter().zip([limit.minute, limit.hour, limit.day]);
        let said = windows.filter(|(_, number)| *number > 0);
        let said: Vec<String> = said.map(|(text, number)| fill(text, &[("n", &number.to_string())])).collect();
        (!said.is_empty()).then(|| fill(text, &[("limits", &said.join(words.comma))]))
    };
    let visitor = sentence(words.visitor, limits.votes);
    let network = sentence(words.network, limits.votes_per_address);
    let proof = (limits.proof_above < 1.0).then(|| words.proof.to_owned());
    let mut said: Vec<String> = [visitor, network, proof].into_iter().flatten().collect();
    if !said.is_empty() {
        said.insert(0, words.reason.to_owned());
    }
    said
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
