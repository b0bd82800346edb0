//! The public list of exclusions, and the section of the leaderboard page about excluded votes.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::frame::time::ShownTime;
use super::{Page, Section, respond};
use crate::domain::integrity::exclusions::exclusion_report::ExclusionReport;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::exclusions::leaderboard_change::{ChangedModel, LeaderboardChange, LeaderboardPlace};
use crate::domain::language::Language;
use crate::domain::rating::leaderboards::leaderboard::VoteTotals;
use crate::render::i18n::pages::{ExclusionTexts, page_texts};

/// One page of the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExclusionsView {
    /// Exclusions, latest first.
    pub lines: Vec<ExclusionLine>,
    /// Address of the next page.
    pub older: Option<String>,
    /// Whether it is the first page.
    pub is_latest: bool,
}

/// Row of an exclusion.
#[derive(Debug, Clone, PartialEq)]
pub struct ExclusionLine {
    /// Sequence number of the vote.
    pub seq: i64,
    /// Name of the exclusion rule.
    pub rule: String,
    /// Reason of the exclusion.
    pub reason: String,
    /// Time of the exclusion, in milliseconds since 1970.
    pub excluded_ms: i64,
    /// Time of the withdrawal; `None` while it is in force.
    pub withdrawn_ms: Option<i64>,
}

#[derive(Template)]
#[template(path = "exclusions.html")]
struct ExclusionsPage<'a> {
    page: Page,
    words: &'static ExclusionTexts,
    view: &'a ExclusionsView,
    rules: [(&'static str, &'static str, &'static str); ExclusionRule::ALL.len()],
}

impl ExclusionLine {
    fn excluded(&self) -> ShownTime {
        ShownTime::new(self.excluded_ms)
    }

    fn withdrawn(&self) -> Option<ShownTime> {
        self.withdrawn_ms.map(ShownTime::new)
    }
}

/// `GET /exclusions`
#[must_use]
pub fn exclusions(request: &HttpRequest, view: &ExclusionsView) -> HttpResponse {
    let page = Page::new(request, Section::Leaderboard);
    let words = &page.t().exclusions;
    let rules = ExclusionRule::ALL.map(|rule| (rule.name(), words.rule_name(rule.name()), words.rule(rule.name())));
    respond(request, StatusCode::OK, &ExclusionsPage { words, view, rules, page })
}

/// Collapsed section about excluded votes.
#[derive(Debug, Clone, PartialEq)]
pub struct ExclusionsDetails {
    pub(super) sentence: String,
    pub(super) rules: Vec<RuleExclusions>,
}

/// Votes excluded by one rule.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RuleExclusions {
    pub(super) rule: String,
    pub(super) votes: u64,
    pub(super) meaning: &'static str,
    /// Effect of including them, once computed.
    pub(super) effect: Option<String>,
}

impl ExclusionsDetails {
    /// Builds the section from the leaderboard's vote counts and the latest report.
    pub fn new(votes: &VoteTotals, report: &ExclusionReport, language: Language) -> Self {
        let texts = &page_texts(language).exclusions;
        let effect =
            |rule: &str| report.effect_of(rule).map(|found| texts.effect(found.ranks_changed, found.largest_change));
        let rule = |(rule, &votes): (&String, &u64)| RuleExclusions {
            effect: effect(rule),
            rule: rule.clone(),
            votes,
            meaning: texts.rule(rule),
        };
        Self {
            sentence: texts.fold(votes.excluded.values().sum(), votes.read),
            rules: votes.excluded.iter().map(rule).collect(),
        }
    }
}

/// Effect of another vote selection on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeView {
    pub(super) sentence: String,
    pub(super) models: Vec<ChangeLine>,
}

/// Model whose rank changes: rank, rating and votes before and after.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChangeLine {
    pub(super) name: String,
    pub(super) places: [[String; 3]; 2],
}

impl ChangeView {
    /// Formats a change; `name` maps a model id to its display name.
    pub fn new(change: &LeaderboardChange, language: Language, name: impl Fn(&str) -> String) -> Self {
        let texts = &page_texts(language).exclusions;
        let line = |change: &ChangedModel| ChangeLine {
            name: name(&change.model),
            places: [change.before, change.after].map(cells),
        };
        Self {
            sentence: texts.change(
                [change.votes_before, change.votes_after],
                change.ranks_changed,
                change.models.len(),
                change.largest_change,
            ),
            models: change.models.iter().filter(|change| change.changes_rank()).map(line).collect(),
        }
    }
}

fn cells(place: Option<LeaderboardPlace>) -> [String; 3] {
    let dash = || "–".to_owned();
    let Some(place) = place else { return [dash(), dash(), dash()] };
    let rank = place.shown_ranks.map_or_else(dash, |ranks| ranks.to_string());
    [rank, place.rating.map_or_else(dash, |rating| format!("{rating:.0}")), place.battles.to_string()]
}
