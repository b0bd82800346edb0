//! The Atom feed of the leaderboard (RFC 4287).

use askama::Template;

use super::super::Page;
use crate::domain::rating::leaderboards::daily_rank_changes::{DayChanges, RankChange, RankChangeKind};
use crate::domain::time::Timestamp;
use crate::render::i18n::fill;
use crate::render::i18n::pages::FeedTexts;

/// Feed document.
#[derive(Template)]
#[template(path = "feed.xml")]
pub struct Feed {
    page: Page,
    id: String,
    /// Base address of the arena, without a trailing slash.
    address: String,
    updated: String,
    entries: Vec<FeedEntry>,
}

/// Entry for a day on which ranks changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    id: String,
    date: String,
    updated: String,
    title: String,
    lines: Vec<String>,
}

impl Feed {
    /// Creates a feed from entries, latest first.
    pub fn new(page: Page, id: String, address: String, entries: Vec<FeedEntry>) -> Self {
        let updated = entries.first().map_or_else(|| moment(Timestamp(0)), |entry| entry.updated.clone());
        Self { page, id, address: xml_text(&address), updated, entries }
    }

    /// Returns the name of the arena.
    fn site_name(&self) -> String {
        xml_text(self.page.site_name())
    }
}

impl FeedEntry {
    /// Creates the entry of a day; `id` maps its date to the entry id, `name` a model id to its display name.
    pub fn new(
        day: &DayChanges,
        id: impl Fn(&str) -> String,
        name: impl Fn(&str) -> String,
        words: &FeedTexts,
    ) -> Self {
        let updated = moment(day.as_of);
        let date = updated.split('T').next().unwrap_or_default().to_owned();
        let lines = day.changes.iter().map(|change| describe_change(change, &name(&change.model), words)).collect();
        let title = fill(words.entry, &[("date", &date), ("votes", &day.votes.to_string())]);
        Self { id: id(&date), updated, title, lines, date }
    }
}

fn describe_change(change: &RankChange, name: &str, words: &FeedTexts) -> String {
    let name = xml_text(name);
    let number = |rank: Option<u64>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let (text, from, to) = match change.kind {
        RankChangeKind::Joined(rank) => (words.joined, None, rank),
        RankChangeKind::Moved { from, to } => (words.moved, from, to),
        RankChangeKind::Left => (words.left, None, None),
    };
    fill(text, &[("model", &name), ("from", &number(from)), ("to", &number(to))])
}

/// Removes characters that XML does not allow even when escaped.
fn xml_text(text: &str) -> String {
    let is_held = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_held(c) { c } else { '\u{fffd}' }).collect()
}

/// Formats a time as RFC 3339.
fn moment(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(xml_text("a\u{1}b\u{ffff}c\n琅\u{1f600}"), "a\u{fffd}b\u{fffd}c\n琅\u{1f600}");
    }
}
