//! The leaderboard page. One template renders its rows for the page and for live updates over the websocket, so that both are identical.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::HttpRequest;
use askama::Template;

use super::super::exclusions::{ChangeView, ExclusionsDetails};
use super::super::frame::time::ShownTime;
use super::super::{Page, Section};
use super::charts::ChartView;
use super::leaderboard_controls::{LeaderboardControls, SortLink};
use super::robustness_details::RobustnessDetails;
use crate::domain::labeling::final_labels::LabeledSliceVotes;
use crate::domain::language::Language;
use crate::domain::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::domain::rating::intervals::sequential_testing::NeighbourState;
use crate::domain::rating::leaderboards::leaderboard::{RankedModel, votes_to_rank};
use crate::domain::rating::notes::RatingNote;
use crate::domain::rating::pooling::{PooledRating, PooledSlices};
use crate::domain::rating::style::StyleEffect;
use crate::domain::rating::votes::slice::SliceColumn;
use crate::frame::query_string::escaped;
use crate::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::render::i18n::pages::page_texts;
use crate::render::i18n::pages::{LeaderboardTexts, PageTexts};

/// Leaderboard for display.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeaderboardView {
    /// Time of the fit, in milliseconds since 1970; `None` before the first vote.
    pub as_of_ms: Option<i64>,
    /// Confidence level of intervals and ranks, as a share.
    pub confidence: f64,
    /// Number of rated votes.
    pub votes: u64,
    /// Set while there are too few votes for a ranking.
    pub early: Option<EarlyVotes>,
    /// Notes on the leaderboard, with model names.
    pub notes: Vec<RatingNote>,
    /// The two best models; `None` if fewer than two can be compared.
    pub top: Option<TopTwo>,
    /// Models, best first.
    pub rows: Vec<LeaderboardRow>,
    /// Vote selection of the leaderboard.
    pub query: LeaderboardQuery,
    /// Tabs, search, chips and sorting.
    pub controls: LeaderboardControls,
    /// Numbers of votes in each slice.
    pub slice_votes: Arc<LabeledSliceVotes>,
    /// Pooled ratings by slice, if requested, with model names.
    pub pooled: Option<PooledSlices>,
    /// Models by share of acceptable replies, if requested, with model names.
    pub levels: Vec<RankedModel>,
    /// Effect of the side, if controlled.
    pub side: Option<StyleEffect>,
    /// Number of models with prices.
    pub priced: usize,
    /// Chart of style effects, if style is controlled.
    pub style_chart: Option<ChartView>,
    /// Robustness of the ranking, once computed.
    pub robustness: Option<RobustnessDetails>,
    /// Excluded votes, on the leaderboard of all votes.
    pub exclusions: Option<ExclusionsDetails>,
    /// Effect of the vote selection, if it differs from the default.
    pub change: Option<ChangeView>,
}

impl LeaderboardView {
    /// Whether it is the leaderboard of all votes, which is updated live.
    fn is_live(&self) -> bool {
        self.query == LeaderboardQuery::default() && !self.controls.narrowed
    }

    /// Whether the model selection matches no model.
    fn shows_none(&self) -> bool {
        self.controls.narrowed && self.rows.is_empty()
    }

    /// Whether the query has parameters other than the slices of the tabs.
    fn counts_otherwise(&self) -> bool {
        let LeaderboardQuery { language, category, intent, .. } = self.query.clone();
        self.query != LeaderboardQuery { language, category, intent, ..LeaderboardQuery::default() }
    }

    /// Returns the heading of a column.
    fn sort_by(&self, column: &str) -> SortLink {
        self.controls.sort_by(column)
    }

    /// Returns key and label of each column with several slices.
    fn columns(&self, words: &LeaderboardTexts) -> Vec<(String, String)> {
        let SliceVoteCounts { languages, categories, intents } = &self.slice_votes.counts;
        [
            (SliceColumn::Language, words.language, languages),
            (SliceColumn::Category, words.category, categories),
            (SliceColumn::Intent, words.intent, intents),
        ]
        .into_iter()
        .filter(|(.., slices)| slices.len() > 1)
        .map(|(column, label, _)| (column.as_str().to_owned(), label.to_owned()))
        .collect()
    }

    /// Whether a value-for-money page exists for these votes: with two prices, and not for a past time.
    fn offers_value(&self) -> bool {
        self.priced > 1 && self.query.until.is_empty()
    }

    /// Returns the selection lists with at least one option.
    fn fields(&self, texts: &PageTexts) -> Vec<FilterField> {
        let PageTexts { leaderboard: words, levels, exclusions, slices, .. } = texts;
        let fixed = |value: &str, label: &'static str| (value.to_owned(), label.to_owned());
        let counted = |column: SliceColumn, votes: &BTreeMap<String, u64>| -> Vec<(String, String)> {
            let label = |value: &str, count: u64| format!("{} ({count})", slices.of(column, value));
            votes.iter().map(|(value, count)| (value.clone(), label(value, *count))).collect()
        };
        let SliceVoteCounts { languages, categories, intents } = &self.slice_votes.counts;
        let query = &self.query;
        [
            ("language", words.language, &query.language, counted(SliceColumn::Language, languages)),
            ("category", words.category, &query.category, counted(SliceColumn::Category, categories)),
            ("intent", words.intent, &query.intent, counted(SliceColumn::Intent, intents)),
            (
                "turns",
                words.turns,
                &query.turns,
                vec![fixed("first", words.turns_first), fixed("multi", words.turns_multi)],
            ),
            ("prompts", words.prompts, &query.prompts, vec![fixed("long", words.prompts_long)]),
            (
                "source",
                words.source,
                &query.source,
                vec![
                    fixed("arena", words.source_arena),
                    fixed("import", words.source_import),
                    fixed("campaign", words.source_campaign),
                ],
            ),
            ("ties", words.ties, &query.ties, vec![fixed("drop", words.ties_drop)]),
            ("style", words.style, &query.style, vec![fixed("control", words.style_control)]),
            ("side", levels.side, &query.side, vec![fixed("control", levels.side_held_equal)]),
            ("level", levels.title, &query.level, vec![fixed("show", levels.choice)]),
            ("pool_by", words.pool_by, &query.pool_by, self.columns(words)),
            (
                "votes",
                exclusions.counted,
                &query.votes,
                vec![
                    fixed("with_excluded", exclusions.with_excluded),
                    fixed("unique_prompts", exclusions.unique_prompts),
                ],
            ),
        ]
        .into_iter()
        .filter(|(.., choices)| !choices.is_empty())
        .map(|(name, label, chosen, choices)| {
            let choice = |(value, label)| FilterChoice { chosen: value == *chosen, value, label };
            let unchosen = match name {
                "style" | "side" | "level" | "pool_by" => texts.leaderboard_controls.off,
                "ties" => texts.leaderboard_controls.ties_half,
                "votes" => texts.leaderboard_controls.rated_votes,
                _ => words.all,
            };
            FilterField { name, label, unchosen, choices: choices.into_iter().map(choice).collect() }
        })
        .collect()
    }
}

/// Progress towards the votes needed for a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyVotes {
    /// Number of rated votes.
    pub votes: u64,
    /// Rated votes needed for a ranking.
    pub needed: u64,
    /// Mean battles per model at that number.
    pub each: u64,
}

impl EarlyVotes {
    /// Returns the progress; `None` before the first vote and once there are enough.
    #[must_use]
    pub fn new(votes: u64, models: u64, each: u64) -> Option<Self> {
        let needed = votes_to_rank(models, each);
        (1..needed).contains(&votes).then_some(Self { votes, needed, each })
    }
}

/// The two best models, to explain their rating difference.
#[derive(Debug, Clone, PartialEq)]
pub struct TopTwo {
    /// Names of the models.
    pub names: [String; 2],
    /// Rating difference in points.
    pub lead: f64,
    /// Whether the difference is significant.
    pub apart: bool,
}

impl TopTwo {
    /// Formats the expected wins of the first in 100 battles.
    fn expected(&self) -> String {
        format_integer(100.0 / (1.0 + 10_f64.powf(-self.lead / 400.0)))
    }
}

/// Selection list.
struct FilterField {
    name: &'static str,
    label: &'static str,
    /// Label of the default.
    unchosen: &'static str,
    choices: Vec<FilterChoice>,
}

struct FilterChoice {
    value: String,
    label: String,
    chosen: bool,
}

/// Row of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeaderboardRow {
    /// Rank by confidence intervals; `None` without a rating.
    pub rank: Option<u32>,
    /// Best and worst rank compatible with the votes, if known.
    pub ranks: Option<(u64, u64)>,
    /// Whether the model differs significantly from the next.
    pub next: Option<NeighbourState>,
    /// Model id.
    pub model: String,
    /// Display name.
    pub name: String,
    /// Maker; may be empty.
    pub organization: String,
    /// Licence; may be empty.
    pub license: String,
    /// Whether it is a practice model.
    pub practice: bool,
    /// Bradley–Terry rating; `None` before the first vote, and for a model with only wins or only losses.
    pub rating: Option<f64>,
    /// Lower bound of the rating of a model with only wins.
    pub at_least: Option<f64>,
    /// Upper bound of the rating of a model with only losses.
    pub at_most: Option<f64>,
    /// Lower end of the confidence interval.
    pub lower: Option<f64>,
    /// Upper end of the confidence interval.
    pub upper: Option<f64>,
    /// Online Elo rating.
    pub elo: f64,
    /// Number of rated battles.
    pub battles: u64,
    /// Share of battles won or tied, 0 to 1.
    pub win_tie_rate: Option<f64>,
    /// Rated battles by outcome: won, tied, lost, both bad.
    pub record: [u64; 4],
    /// Whether there are too few votes for a firm rating.
    pub provisional: bool,
    /// Number of the model's connected group, from 1, if the votes leave several that cannot be compared.
    pub group: Option<usize>,
}

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage<'a> {
    page: Page,
    view: &'a LeaderboardView,
    /// Time in UTC, for readers without scripts and for machines.
    as_of: Option<ShownTime>,
    notes: String,
    rows: String,
}

/// Renders the page of `GET /leaderboard`.
#[must_use]
pub fn leaderboard_html(request: &HttpRequest, view: &LeaderboardView) -> String {
    let page = Page::new(request, Section::Leaderboard);
    let (notes, rows) = (notes_html(view, page.language), rows_html(view, page.language));
    let rendered = LeaderboardPage { as_of: view.as_of_ms.map(ShownTime::new), page, view, notes, rows }.render();
    rendered.expect("writing numbers and strings to a String does not fail")
}

/// Renders the notes above the table; empty without notes.
#[must_use]
pub fn notes_html(view: &LeaderboardView, language: Language) -> String {
    let words = &page_texts(language).leaderboard;
    let notes = view.notes.iter().map(|note| words.note(note)).collect();
    let top = view.top.as_ref().filter(|_| view.early.is_none());
    let meaning = top.map(|top| {
        let [first, second] = top.names.each_ref().map(String::as_str);
        page_texts(language).leaderboard_controls.meaning([first, second], &top.expected(), top.apart)
    });
    Notes { words, early: view.early, notes, meaning }.render().expect("writing to a String does not fail")
}

#[derive(Template)]
#[template(path = "_parts/leaderboard_notes.html")]
struct Notes {
    words: &'static LeaderboardTexts,
    early: Option<EarlyVotes>,
    notes: Vec<String>,
    /// Explanation of the current ratings.
    meaning: Option<String>,
}

/// Renders the table body, `<tr>…</tr>…`; empty without models.
#[must_use]
pub fn rows_html(view: &LeaderboardView, language: Language) -> String {
    let scale = AxisScale::new(&view.rows);
    let rows = view.rows.iter().map(|row| IntervalRow { row, bar: scale.bar(row) }).collect();
    let rendered = Rows { t: page_texts(language), rows }.render();
    rendered.expect("writing numbers and strings to a String does not fail")
}

#[derive(Template)]
#[template(path = "_parts/leaderboard_rows.html")]
struct Rows<'a> {
    t: &'static PageTexts,
    rows: Vec<IntervalRow<'a>>,
}

struct IntervalRow<'a> {
    row: &'a LeaderboardRow,
    bar: Option<Bar>,
}

impl LeaderboardRow {
    /// Formats the range of ranks compatible with the votes; a dash if every rank is.
    pub(super) fn rank_text(&self) -> String {
        match (self.ranks, self.rank) {
            (Some((best, worst)), _) if best < worst => format!("{best}–{worst}"),
            (Some((best, _)), _) => best.to_string(),
            (None, Some(rank)) => rank.to_string(),
            (None, None) => "–".to_owned(),
        }
    }
}

impl IntervalRow<'_> {
    /// Formats the range of ranks as HTML with a line break opportunity after the dash.
    fn rank(&self) -> String {
        self.row.rank_text().replace('–', "–<wbr>")
    }

    /// Whether the first rank is the only one compatible with the votes.
    fn is_first(&self) -> bool {
        self.row.ranks.map_or(self.row.rank == Some(1), |ranks| ranks == (1, 1))
    }

    /// Returns the CSS class of the line below the row.
    fn line(&self) -> &'static str {
        match self.row.next {
            Some(NeighbourState::Separated) => " next-separated",
            Some(NeighbourState::Open) => " next-open",
            Some(NeighbourState::Equal) => " next-equal",
            None => "",
        }
    }

    /// Returns the text alternative of the line.
    fn next(&self, words: &LeaderboardTexts) -> Option<&'static str> {
        Some(match self.row.next? {
            NeighbourState::Separated => words.next_separated,
            NeighbourState::Open => words.next_open,
            NeighbourState::Equal => words.next_equal,
        })
    }

    fn rating(&self) -> String {
        match (self.row.rating, self.row.at_least, self.row.at_most) {
            (Some(rating), ..) => format_integer(rating),
            (None, Some(limit), _) => format!("≥ {}", format_integer(limit)),
            (None, None, Some(limit)) => format!("≤ {}", format_integer(limit)),
            (None, None, None) => "–".to_owned(),
        }
    }

    /// Whether the model has only wins or only losses.
    fn is_unbounded(&self) -> bool {
        self.row.at_least.or(self.row.at_most).is_some()
    }

    fn interval(&self) -> Option<String> {
        Some(format!("{} – {}", format_integer(self.row.lower?), format_integer(self.row.upper?)))
    }

    /// Returns the address of the model's page.
    fn href(&self) -> String {
        format!("/models/{}", escaped(&self.row.model))
    }

    /// Returns the outcome bar: class, start and width in percent of wins, ties, losses and both bad.
    fn record(&self) -> Vec<(&'static str, String, String)> {
        let total: u64 = self.row.record.iter().sum();
        let mut before = 0;
        let parts = ["won", "tied", "lost", "bad"].into_iter().zip(self.row.record).map(|(class, count)| {
            let start = share(before, total);
            before += count;
            (class, count, start, share(count, total))
        });
        let parts = parts.filter(|(_, count, ..)| *count > 0);
        parts.map(|(class, _, start, width)| (class, format!("{start:.1}"), format!("{width:.1}"))).collect()
    }

    fn elo(&self) -> String {
        format_integer(self.row.elo)
    }

    fn win_tie_rate(&self) -> String {
        self.row.win_tie_rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.0} %", 100.0 * rate))
    }

    /// Formats maker and licence, as far as known.
    fn origin(&self) -> String {
        let known = [self.row.organization.as_str(), self.row.license.as_str()];
        known.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }
}

/// Formats the rating difference of a slice, with its interval.
fn difference(rated: &PooledRating) -> String {
    let PooledRating { difference, difference_lower, difference_upper, .. } = rated;
    let [difference, lower, upper] = [difference, difference_lower, difference_upper].map(|points| signed(*points));
    format!("{difference} ({lower} – {upper})")
}

/// Formats points with their sign; zero has none.
fn signed(points: f64) -> String {
    match points.round() {
        0.0 => "0".to_owned(),
        points if points < 0.0 => format!("−{:.0}", points.abs()),
        points => format!("+{points:.0}"),
    }
}

/// Computes a share in percent.
#[expect(clippy::cast_precision_loss, reason = "a count of battles fits in 53 bits")]
fn share(count: u64, total: u64) -> f64 {
    100.0 * count as f64 / total.max(1) as f64
}

fn format_integer(number: f64) -> String {
    format!("{number:.0}")
}

/// Interval bar on the common scale, in percent of its width.
struct Bar {
    start: String,
    width: String,
    point: String,
    /// Position of the mean rating 1000, if on the scale.
    mean: Option<String>,
}

/// Rating range shared by all bars.
struct AxisScale {
    low: f64,
    high: f64,
}

impl AxisScale {
    fn new(rows: &[LeaderboardRow]) -> Self {
        let ends = rows.iter().flat_map(|row| [row.lower, row.upper, row.rating]).flatten().filter(|x| x.is_finite());
        let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if low < high { Self { low, high } } else { Self { low: 900.0, high: 1100.0 } }
    }

    fn bar(&self, row: &LeaderboardRow) -> Option<Bar> {
        let (rating, lower, upper) = (row.rating?, row.lower?, row.upper?);
        let place = |x: f64| (100.0 * (x - self.low) / (self.high - self.low)).clamp(0.0, 100.0);
        let number = |x: f64| format!("{x:.2}");
        let mean = (self.low..=self.high).contains(&1000.0).then(|| number(place(1000.0)));
        let width = (place(upper) - place(lower)).max(0.8);
        Some(Bar { start: number(place(lower)), width: number(width), point: number(place(rating)), mean })
    }
}
