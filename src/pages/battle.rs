//! The battle page: ask, read two replies, vote, see the names. `static/js/battle.js` speaks the wire.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::battle::mode::BattleMode;
use crate::infra::config::{AccessMode, Settings};
use crate::render::i18n::pages::ModeText;

#[derive(Template)]
#[template(path = "battle.html")]
struct BattlePage {
    page: Page,
    /// The words that the script needs, as JSON.
    script_strings: String,
    /// The longest prompt that the arena takes.
    max_prompt_bytes: usize,
    /// Images beside a first question at most; 0 where none are taken.
    max_images: usize,
    /// Bytes of one of them at most.
    max_image_bytes: usize,
    /// What is said about them, as JSON.
    image_strings: String,
    /// Whether only practice models answer.
    practice: bool,
    /// Whether the visitor has yet to agree to what is stored.
    asks_consent: bool,
    /// Whether the visitor has signed in, and so can sign out.
    signed_in: bool,
    /// The modes that the arena offers; one alone is no choice.
    modes: Vec<ModeOption>,
    /// What the script says in other words in these modes, as JSON.
    mode_strings: String,
}

/// A mode that can be chosen.
struct ModeOption {
    value: &'static str,
    text: &'static ModeText,
}

/// What the page knows of its visitor and of the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BattlePageState {
    /// Whether images may stand beside a first question.
    pub takes_images: bool,
    /// Whether only practice models answer.
    pub practice: bool,
    /// Whether the visitor has yet to agree to what is stored.
    pub asks_consent: bool,
}

/// The page for visitors who may take part, under these settings.
#[must_use]
pub fn battle(request: &HttpRequest, settings: &Settings, state: BattlePageState) -> HttpResponse {
    let BattlePageState { takes_images, practice, asks_consent } = state;
    let page = Page::new(request, Section::Battle);
    let script_strings = serde_json::to_string(&page.t().script).expect("a struct of strings is JSON");
    let max_prompt_bytes = settings.battle.max_prompt_bytes;
    let signed_in = settings.access.mode != AccessMode::Open;
    let offered = BattleMode::ALL.into_iter().filter(|mode| settings.battle.modes.contains(mode));
    let modes = offered.map(|mode| ModeOption { value: mode.as_str(), text: page.t().modes.of(mode) }).collect();
    let mode_strings = serde_json::to_string(&page.t().modes.script).expect("structs of strings are JSON");
    let image_strings = serde_json::to_string(&page.t().images.script).expect("a struct of strings is JSON");
    let page = BattlePage {
        page,
        script_strings,
        max_prompt_bytes,
        max_images: if takes_images { settings.battle.max_images } else { 0 },
        max_image_bytes: settings.battle.max_image_bytes,
        image_strings,
        practice,
        asks_consent,
        signed_in,
        modes,
        mode_strings,
    };
    respond(request, StatusCode::OK, &page)
}
