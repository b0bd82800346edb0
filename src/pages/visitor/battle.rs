//! The battle page: ask, read two replies, vote, see the names. `static/js/battle.js` speaks the websocket protocol.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::domain::battle::mode::BattleMode;
use crate::infra::config::{AccessMode, Settings};
use crate::render::i18n::pages::{ModeText, OfferTexts};

#[derive(Template)]
#[template(path = "battle.html")]
struct BattlePage {
    page: Page,
    /// Texts of the script, as JSON.
    script_strings: String,
    /// Label of the button that asks again after a failed battle.
    retry: &'static str,
    /// Label of the button that asks again after a vote.
    again: &'static str,
    /// Maximum length of a prompt in bytes.
    max_prompt_bytes: usize,
    /// Maximum number of images with the first prompt; 0 if images are not accepted.
    max_images: usize,
    /// Maximum size of an image in bytes.
    max_image_bytes: usize,
    /// Texts about images, as JSON.
    image_strings: String,
    /// Whether only practice models answer.
    practice: bool,
    /// Whether the visitor has not yet given consent.
    asks_consent: bool,
    /// Whether the visitor is signed in and can sign out.
    signed_in: bool,
    /// Modes that the arena offers; a single one is not shown as a choice.
    modes: Vec<ModeOption>,
    /// Texts of the script that differ by mode, as JSON.
    mode_strings: String,
}

/// Option of the mode selection.
struct ModeOption {
    value: &'static str,
    text: &'static ModeText,
}

/// State of the visitor and the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BattlePageState {
    /// Whether images are accepted with the first prompt.
    pub takes_images: bool,
    /// Whether only practice models answer.
    pub practice: bool,
    /// Whether the visitor has not yet given consent.
    pub asks_consent: bool,
    /// Number of models that can be paired.
    pub pairable: usize,
}

/// Renders the battle page for an admitted visitor.
#[must_use]
pub fn battle(request: &HttpRequest, settings: &Settings, state: BattlePageState) -> HttpResponse {
    let BattlePageState { takes_images, practice, asks_consent, pairable } = state;
    let page = Page::new(request, Section::Battle);
    let texts = page.t();
    let OfferTexts { retry, again, script } = OfferTexts::of(pairable, &texts.battle, &texts.script, &texts.two_models);
    let script_strings = serde_json::to_string(&script).expect("a struct of strings is JSON");
    let max_prompt_bytes = settings.battle.max_prompt_bytes;
    let signed_in = settings.access.mode != AccessMode::Open;
    let offered = BattleMode::ALL.into_iter().filter(|mode| settings.battle.modes.contains(mode));
    let modes = offered.map(|mode| ModeOption { value: mode.as_str(), text: page.t().modes.of(mode) }).collect();
    let mode_strings = serde_json::to_string(&page.t().modes.script).expect("structs of strings are JSON");
    let image_strings = serde_json::to_string(&page.t().images.script).expect("a struct of strings is JSON");
    let page = BattlePage {
        page,
        script_strings,
        retry,
        again,
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
