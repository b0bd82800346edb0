//! The page of one model.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::charts::ChartView;
use super::{Page, Section, respond};
use crate::domain::model_register::days::RECENT_DAYS;
use crate::domain::model_register::report::{RecentFailures, RegisterEntry};
use crate::domain::rating::leaderboard::RankedModel;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::pooling::PooledRating;
use crate::domain::rating::value::usage::ModelUsage;
use crate::infra::llm::ModelCard;
use crate::query_string::escaped;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{ModelTexts, PageTexts};

/// What is known of a model.
pub struct ModelView {
    /// Its names.
    pub card: ModelCard,
    /// Its row on the leaderboard; `None` where it has no rated vote.
    pub row: Option<RankedModel>,
    /// Models that it is compared with on the leaderboard, and itself.
    pub models: usize,
    /// Whether the leaderboard has others, which the votes do not compare with it.
    pub is_grouped: bool,
    /// How the intervals of the leaderboard come about.
    pub interval_method: IntervalMethod,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Its entry in the register.
    pub entry: Option<RegisterEntry>,
    /// Whether history, opponents, slices and speed are known already.
    pub is_computed: bool,
    /// Its rating over time.
    pub history: Option<ChartView>,
    /// Opponents that it beats most and least often.
    pub opponents: [Vec<OpponentRow>; 2],
    /// Its ratings in slices of one column.
    pub slices: Option<SliceGroup>,
    /// Its scores in benchmarks.
    pub scores: Vec<ModelScoreRow>,
    /// How fast it answered lately.
    pub speed: Option<ModelUsage>,
}

/// An opponent.
#[derive(Clone)]
pub struct OpponentRow {
    pub id: String,
    pub name: String,
    /// Share of the votes that the model won.
    pub won: f64,
    /// Rated votes between both.
    pub votes: f64,
    /// Share that the ratings predict.
    pub predicted: Option<f64>,
}

/// Ratings in the slices of a column.
pub struct SliceGroup {
    pub column: &'static str,
    pub rows: Vec<SliceRow>,
}

/// The rating in a slice.
pub struct SliceRow {
    pub slice: String,
    pub rated: PooledRating,
}

/// A score of a benchmark, and how many models have a better one.
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
    /// Where the model stands, in a sentence.
    fn standing(&self) -> String {
        let Some(row) = &self.view.row else { return self.words.unrated.to_owned() };
        let Some(rating) = row.rating else { return self.words.unbounded.to_owned() };
        let ranks = row.rank_range(self.view.interval_method);
        let values = [
            ("rating", whole(rating)),
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

    /// The interval of the rating.
    fn interval(&self) -> Option<String> {
        let row = self.view.row.as_ref()?;
        Some(format!("{} – {}", whole(row.lower?), whole(row.upper?)))
    }

    /// The interval's label.
    fn interval_label(&self) -> String {
        self.texts().leaderboard.confident(self.words.interval, self.view.confidence)
    }

    fn texts(&self) -> &'static PageTexts {
        self.page.t()
    }

    /// Statistics of the row with their labels.
    fn statistics(&self, row: &RankedModel) -> Vec<(&'static str, String)> {
        let (leaderboard, words) = (&self.texts().leaderboard, &self.texts().leaderboard_controls);
        let mut statistics = vec![
            (leaderboard.elo, whole(row.elo)),
            (leaderboard.win_tie_rate, percent(row.win_tie_rate)),
            (words.record, words.record([row.wins, row.ties, row.losses, row.both_bad])),
        ];
        statistics.extend(row.average_win_rate.map(|rate| (self.words.average, percent(rate))));
        statistics
    }

    /// How fast it answers, as far as there were enough battles.
    fn speeds(&self) -> Vec<(&'static str, String)> {
        let Some(speed) = self.view.speed else { return Vec::new() };
        let seconds = speed.first_token_seconds.map(|seconds| {
            (self.words.first_token, fill(self.texts().script.seconds, &[("n", &format!("{seconds:.1}"))]))
        });
        let tokens = speed.tokens_per_second.map(|tokens| (self.words.tokens_per_second, whole(tokens)));
        let length = speed.reply_tokens.map(|tokens| (self.words.reply_tokens, whole(tokens)));
        [seconds, tokens, length].into_iter().flatten().collect()
    }

    /// The two lists of opponents with their headings.
    fn opponents(&self) -> Vec<(&'static str, &'static str, &[OpponentRow])> {
        let [best, worst] = &self.view.opponents;
        let lists = [("best", self.words.best, best.as_slice()), ("worst", self.words.worst, worst.as_slice())];
        lists.into_iter().filter(|(.., rows)| !rows.is_empty()).collect()
    }

    fn state(&self, entry: &RegisterEntry) -> &'static str {
        self.texts().register.state(entry.state)
    }

    /// Battles in which it failed, with their label; `None` where none drew it.
    fn failures(&self, entry: &RegisterEntry) -> Option<(String, String)> {
        let RecentFailures { drawn, failed, share } = entry.recent_failures;
        let [drawn, failed, share] = [drawn.to_string(), failed.to_string(), percent(share?)];
        let label = fill(self.words.failed, &[("days", &RECENT_DAYS.to_string())]);
        Some((label, fill(self.words.failed_share, &[("share", &share), ("failed", &failed), ("drawn", &drawn)])))
    }

    /// First and last day in battles.
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
        whole(self.votes)
    }

    fn predicted(&self) -> String {
        self.predicted.map_or_else(|| "–".to_owned(), percent)
    }
}

impl SliceRow {
    fn rating(&self) -> String {
        whole(self.rated.rating)
    }

    fn interval(&self) -> String {
        format!("{} – {}", whole(self.rated.lower), whole(self.rated.upper))
    }

    /// What the slice adds to the rating; a zero has no sign.
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

fn whole(number: f64) -> String {
    format!("{number:.0}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
