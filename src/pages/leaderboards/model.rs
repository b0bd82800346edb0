//! The page of one model.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use super::charts::ChartView;
use crate::domain::model_register::days::RECENT_DAYS;
use crate::domain::model_register::report::{RecentFailures, RegisterEntry};
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::pooling::PooledRating;
use crate::domain::rating::value::usage::ModelUsage;
use crate::domain::rating::votes::slice::SliceColumn;
use crate::frame::query_string::escaped;
use crate::infra::llm::ModelCard;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{ModelTexts, PageTexts};

/// Data of a model's page.
pub struct ModelView {
    /// Names and origin of the model.
    pub card: ModelCard,
    /// Leaderboard row; `None` without a rated vote.
    pub row: Option<RankedModel>,
    /// Number of models in its group on the leaderboard, including itself.
    pub models: usize,
    /// Whether the leaderboard has other groups, with which the votes do not compare it.
    pub is_grouped: bool,
    /// Method of the leaderboard's intervals.
    pub interval_method: IntervalMethod,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Entry in the model register.
    pub entry: Option<RegisterEntry>,
    /// Whether history, opponents, slices and speed have been computed.
    pub is_computed: bool,
    /// Chart of the rating over time.
    pub history: Option<ChartView>,
    /// Opponents with the highest and the lowest win share.
    pub opponents: [Vec<OpponentRow>; 2],
    /// Ratings in the slices of one column.
    pub slices: Option<SliceGroup>,
    /// Benchmark scores.
    pub scores: Vec<ModelScoreRow>,
    /// Recent speeds and reply length.
    pub speed: Option<ModelUsage>,
}

/// Row of an opponent.
#[derive(Clone)]
pub struct OpponentRow {
    pub id: String,
    pub name: String,
    /// Share of the votes won.
    pub won: f64,
    /// Rated votes between both models.
    pub votes: f64,
    /// Win share predicted by the ratings.
    pub predicted: Option<f64>,
}

/// Ratings in the slices of a column.
pub struct SliceGroup {
    pub column: &'static str,
    /// Column of the slices.
    pub by: SliceColumn,
    pub rows: Vec<SliceRow>,
}

/// Rating in a slice.
pub struct SliceRow {
    pub slice: String,
    pub rated: PooledRating,
}

/// Benchmark score with the model's rank.
pub struct ModelScoreRow {
    pub title: String,
    pub score: f64,
    pub place: usize,
    pub of: usize,
}

#[derive(Template)]
#[template(path = "model.html")]
struct ModelPage {
    page: Page,
    words: &'static ModelTexts,
    view: ModelView,
}

/// `GET /models/ID`
#[must_use]
pub fn model(request: &HttpRequest, view: ModelView) -> HttpResponse {
    let page = Page::new(request, Section::Register);
    respond(request, StatusCode::OK, &ModelPage { words: &page.t().model, view, page })
}

impl ModelPage {
    /// Describes the rank in a sentence.
    fn standing(&self) -> String {
        let Some(row) = &self.view.row else { return self.words.unrated.to_owned() };
        let Some(rating) = row.rating else { return self.words.unbounded.to_owned() };
        let ranks = row.rank_range(self.view.interval_method);
        let values = [
            ("rating", format_integer(rating)),
            ("rank", ranks.map(|ranks| ranks.to_string()).unwrap_or_default()),
            ("models", self.view.models.to_string()),
            ("battles", row.battles.to_string()),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        let words = match ranks {
            None => self.words.standing_unranked,
            Some(_) if self.view.is_grouped => self.words.standing_in_group,
            Some(_) => self.words.standing,
        };
        fill(words, &values)
    }

    /// Formats the confidence interval of the rating.
    fn interval(&self) -> Option<String> {
        let row = self.view.row.as_ref()?;
        Some(format!("{} – {}", format_integer(row.lower?), format_integer(row.upper?)))
    }

    /// Returns the label of the interval.
    fn interval_label(&self) -> String {
        self.texts().leaderboard.confident(self.words.interval, self.view.confidence)
    }

    fn texts(&self) -> &'static PageTexts {
        self.page.t()
    }

    /// Returns the statistics of the row with their labels.
    fn statistics(&self, row: &RankedModel) -> Vec<(&'static str, String)> {
        let (leaderboard, words) = (&self.texts().leaderboard, &self.texts().leaderboard_controls);
        let mut statistics = vec![
            (leaderboard.elo, format_integer(row.elo)),
            (leaderboard.win_tie_rate, percent(row.win_tie_rate)),
            (words.record, words.record([row.wins, row.ties, row.losses, row.both_bad])),
        ];
        statistics.extend(row.average_win_rate.map(|rate| (self.words.average, percent(rate))));
        statistics
    }

    /// Returns speeds and reply length with their labels, as far as there were enough battles.
    fn speeds(&self) -> Vec<(&'static str, String)> {
        let Some(speed) = self.view.speed else { return Vec::new() };
        let seconds = speed.first_token_seconds.map(|seconds| {
            (self.words.first_token, fill(self.texts().script.seconds, &[("n", &format!("{seconds:.1}"))]))
        });
        let tokens = speed.tokens_per_second.map(|tokens| (self.words.tokens_per_second, format_integer(tokens)));
        let length = speed.reply_tokens.map(|tokens| (self.words.reply_tokens, format_integer(tokens)));
        [seconds, tokens, length].into_iter().flatten().collect()
    }

    /// Returns the two lists of opponents with their headings.
    fn opponents(&self) -> Vec<(&'static str, &'static str, &[OpponentRow])> {
        let [best, worst] = &self.view.opponents;
        let lists = [("best", self.words.best, best.as_slice()), ("worst", self.words.worst, worst.as_slice())];
        lists.into_iter().filter(|(.., rows)| !rows.is_empty()).collect()
    }

    fn state(&self, entry: &RegisterEntry) -> &'static str {
        self.texts().register.state(entry.state)
    }

    /// Returns the battles that failed because of the model, with their label; `None` if it was in none.
    fn failures(&self, entry: &RegisterEntry) -> Option<(String, String)> {
        let RecentFailures { drawn, failed, share } = entry.recent_failures;
        let [drawn, failed, share] = [drawn.to_string(), failed.to_string(), percent(share?)];
        let label = fill(self.words.failed, &[("days", &RECENT_DAYS.to_string())]);
        Some((label, fill(self.words.failed_share, &[("share", &share), ("failed", &failed), ("drawn", &drawn)])))
    }

    /// Returns the first and the last day in battles.
    fn days(&self, entry: &RegisterEntry) -> Option<String> {
        let (first, last) = entry.first_day.as_ref().zip(entry.last_day.as_ref())?;
        Some(format!("{first} – {last}"))
    }
}

impl OpponentRow {
    fn href(&self) -> String {
        format!("/models/{}", escaped(&self.id))
    }

    fn won(&self) -> String {
        percent(self.won)
    }

    fn votes(&self) -> String {
        format_integer(self.votes)
    }

    fn predicted(&self) -> String {
        self.predicted.map_or_else(|| "–".to_owned(), percent)
    }
}

impl SliceRow {
    fn rating(&self) -> String {
        format_integer(self.rated.rating)
    }

    fn interval(&self) -> String {
        format!("{} – {}", format_integer(self.rated.lower), format_integer(self.rated.upper))
    }

    /// Formats the rating difference of the slice; zero has no sign.
    fn difference(&self) -> String {
        match self.rated.difference.round() {
            0.0 => "0".to_owned(),
            points if points < 0.0 => format!("−{:.0}", points.abs()),
            points => format!("+{points:.0}"),
        }
    }
}

impl ModelScoreRow {
    fn score(&self) -> String {
        format!("{:.2}", self.score)
    }
}

fn format_integer(number: f64) -> String {
    format!("{number:.0}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
