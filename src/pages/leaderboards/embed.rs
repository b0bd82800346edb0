//! The leaderboard for embedding in a frame on another site: a short table, without scripts, whose links open outside of the frame.

use askama::Template;
use serde::Deserialize;

use super::super::Page;
use super::super::frame::time::time_text;
use super::leaderboard::LeaderboardView;
use crate::frame::query_string::escaped;
use crate::render::i18n::fill;
use crate::render::i18n::pages::EmbedTexts;

/// Colour theme of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedTheme {
    /// Light theme.
    Light,
    /// Dark theme.
    Dark,
}

/// Data of the embedded leaderboard.
pub struct EmbedView {
    /// Language of the frame and name of the arena.
    pub page: Page,
    /// Leaderboard with the rows to show.
    pub leaderboard: LeaderboardView,
    /// Number of models on the whole leaderboard.
    pub models: usize,
    /// Colour theme; `None` for the reader's system setting.
    pub theme: Option<EmbedTheme>,
}

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbedPage<'a> {
    page: &'a Page,
    words: &'static EmbedTexts,
    view: &'a EmbedView,
    rows: Vec<EmbedRow>,
    as_of: String,
}

/// Row of a model in the frame.
struct EmbedRow {
    rank: String,
    name: String,
    href: String,
    rating: String,
    interval: String,
    battles: u64,
}

impl EmbedPage<'_> {
    fn theme(&self) -> &'static str {
        match self.view.theme {
            None => "",
            Some(EmbedTheme::Light) => "light",
            Some(EmbedTheme::Dark) => "dark",
        }
    }

    /// Returns the address of the whole leaderboard, in the language of the frame.
    fn whole(&self) -> String {
        format!("/leaderboard?lang={}", self.page.language.code())
    }

    fn all(&self) -> String {
        fill(self.words.all, &[("n", &self.view.models.to_string())])
    }
}

/// Renders the frame as HTML.
pub fn embed_html(view: &EmbedView) -> String {
    let page = &view.page;
    let lang = page.language.code();
    let text = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), |number| format!("{number:.0}"));
    let rows = view.leaderboard.rows.iter().map(|row| EmbedRow {
        rank: row.rank_text(),
        name: row.name.clone(),
        href: format!("/models/{}?lang={lang}", escaped(&row.model)),
        rating: text(row.rating),
        interval: match (row.lower, row.upper) {
            (Some(lower), Some(upper)) => format!("{lower:.0}–{upper:.0}"),
            _ => String::new(),
        },
        battles: row.battles,
    });
    let as_of = view.leaderboard.as_of_ms.map(time_text).unwrap_or_default();
    let words = &page.t().embed;
    let page = EmbedPage { page, words, view, rows: rows.collect(), as_of };
    page.render().unwrap_or_else(|error| {
        tracing::error!(error = %error, "the frame of the leaderboard could not be rendered");
        String::new()
    })
}
