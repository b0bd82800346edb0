//! Benchmark pages: suites, report of a suite, its items, and one item.

mod comparison;
mod item;
mod side_choice;
pub mod suite_card;

use std::collections::{BTreeSet, HashMap};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

pub use comparison::{ComparisonView, comparison};
pub use item::{ItemChoice, ItemOrder, ItemPageView, Neighbours, item};

use self::side_choice::{SideChoice, side_choices};
use super::{Page, Section, respond};
use crate::benchmark::suite_card::SuiteCard;
use crate::domain::benchmark::analysis::item_scores::{ItemPair, ModelComparison};
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::suite_options::BUILT_IN_SUITES;
use crate::domain::benchmark::suites::registry::suite as suite_named;
use crate::domain::benchmark::{Suite, SuiteOptions};
use crate::domain::correlation::suite_score_table::{
    ScoreTableComparison, ScoreTableModel, SuiteScore, SuiteScoreTable, SuperClueTotal,
};
use crate::frame::query_string::escaped;
use crate::render::i18n::fill;
use crate::render::i18n::reports::{ReportTexts, named, report_texts};
use crate::render::report::benchmark::{Report, html};
use crate::render::report::suite_score_table::day;

/// Maximum length of a question in a list, in characters.
const MAX_QUESTION_CHARS: usize = 220;
/// Significance level for adjusted p values.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

#[derive(Template)]
#[template(path = "benchmarks.html")]
struct SuitesPage<'a> {
    page: Page,
    words: &'static ReportTexts,
    cards: &'a [SuiteCard],
    score_table: &'a SuiteScoreTable,
    compared: Option<&'a ScoreTableComparison>,
    /// Known suites without data.
    waiting: Vec<(&'static str, String)>,
    /// Maps a model id to its display name.
    name: &'a dyn Fn(&str) -> String,
}

/// `GET /benchmarks`; `name` maps model and judge ids to display names.
#[must_use]
pub fn suites(
    request: &HttpRequest,
    cards: &[SuiteCard],
    score_table: &SuiteScoreTable,
    compared: Option<&ScoreTableComparison>,
    name: &dyn Fn(&str) -> String,
) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    let waiting = BUILT_IN_SUITES.into_iter().filter(|name| cards.iter().all(|card| card.suite != *name));
    let waiting = waiting.map(|name| (name, title(name))).collect();
    let words = report_texts(page.language);
    respond(request, StatusCode::OK, &SuitesPage { page, words, cards, score_table, compared, waiting, name })
}

/// Returns the display name of a built-in suite.
fn title(name: &str) -> String {
    suite_named(name, &SuiteOptions::default()).map_or_else(|_| name.to_owned(), |suite| suite.title().to_owned())
}

impl SuitesPage<'_> {
    /// Returns the address of a data file's report; for the suite's latest file the suite's name suffices.
    fn address(&self, card: &SuiteCard) -> String {
        let latest = self.cards.iter().find(|other| other.suite == card.suite);
        let query = match latest.is_some_and(|latest| latest.version == card.version) {
            true => String::new(),
            false => format!("?data={}", card.version.chars().take(12).collect::<String>()),
        };
        format!("/benchmarks/{}{query}", escaped(&card.suite))
    }

    /// Whether the other models are compared with this one.
    fn is_compared(&self, model: &str) -> bool {
        self.compared.is_some_and(|compared| compared.with == model)
    }

    /// Returns the query of the download for the same comparison.
    fn query(&self) -> String {
        self.compared.map_or_else(String::new, |compared| format!("?compare_with={}", escaped(&compared.with)))
    }

    fn win_rate(compared: &ModelComparison) -> String {
        compared.win_rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
    }

    fn win_interval(compared: &ModelComparison) -> Option<String> {
        compared.win_interval.map(|interval| format!("{:.1}–{:.1}", 100.0 * interval.lower, 100.0 * interval.upper))
    }

    /// Returns the result of the paired test: better or worse; `None` if not significant.
    fn finding(&self, compared: &ModelComparison) -> Option<&'static str> {
        let (own, mean) = (&self.page.t().benchmark, compared.difference?.mean);
        let is_sure = compared.adjusted_p.is_some_and(|p| p < SIGNIFICANCE_LEVEL);
        is_sure.then_some(if mean > 0.0 { own.better } else { own.worse })
    }

    /// Describes coverage, cost and day of a score.
    fn facts(score: &SuiteScore) -> Option<String> {
        let facts = score.facts?;
        let coverage = format!("{}/{}", facts.coverage.ok, facts.coverage.total);
        let cost = facts.cost.map(|cost| format!("{cost:.2}"));
        Some([Some(coverage), cost, day(facts.judged_at)].into_iter().flatten().collect::<Vec<_>>().join(" · "))
    }

    fn total_score(total: &SuperClueTotal) -> String {
        format!("{:.2}", total.score)
    }

    fn total_interval(total: &SuperClueTotal) -> Option<String> {
        total.interval.map(|interval| format!("{:.2}–{:.2}", interval.lower, interval.upper))
    }

    fn score(score: &SuiteScore) -> String {
        format!("{:.2}", score.score)
    }

    fn mean_rank(model: &ScoreTableModel) -> String {
        format!("{:.1}", model.mean_rank)
    }

    /// Formats the confidence interval of a score, if it has one.
    fn interval(score: &SuiteScore) -> Option<String> {
        score.interval.map(|interval| format!("{:.2}–{:.2}", interval.lower, interval.upper))
    }

    fn day(card: &SuiteCard) -> String {
        let moment = card.judged_at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        moment.map_or_else(|| "–".to_owned(), |moment| moment.strftime("%Y-%m-%d").to_string())
    }

    fn called(&self, model: &str) -> String {
        (self.name)(model)
    }

    fn judges(&self, card: &SuiteCard) -> String {
        let judges: Vec<String> = card.judges.iter().map(|judge| self.called(judge)).collect();
        if judges.is_empty() { "–".to_owned() } else { judges.join(", ") }
    }
}

/// Report of a suite, with the options for others.
pub struct SuiteView {
    /// Report to render.
    pub report: Report,
    /// Judging variants.
    pub variants: BTreeSet<String>,
    /// Sample numbers of the answers.
    pub samples: BTreeSet<u32>,
    /// Selected data file; empty for the latest.
    pub data: String,
    /// Query parameters that select the answers, for links.
    pub query_prefix: String,
}

#[derive(Template)]
#[template(path = "benchmark.html")]
struct SuitePage<'a> {
    page: Page,
    words: &'static ReportTexts,
    view: &'a SuiteView,
    body: String,
}

/// `GET /benchmarks/SUITE`
///
/// # Errors
/// [`askama::Error`] if the template fails to render.
pub fn suite(request: &HttpRequest, view: &SuiteView) -> askama::Result<HttpResponse> {
    let page = Page::new(request, Section::Benchmarks);
    let body = html::body(&view.report, page.language)?;
    let words = report_texts(page.language);
    Ok(respond(request, StatusCode::OK, &SuitePage { page, words, view, body }))
}

impl SuitePage<'_> {
    /// Returns the display name of a judge or of a panel of judges.
    fn judge(&self, judge: &str) -> String {
        let is_panel = self.view.report.is_panel(judge);
        if is_panel { self.page.t().benchmark.panel.replace("{judges}", judge) } else { judge.to_owned() }
    }
}

impl SuiteView {
    /// Whether the page offers a choice of judges, baselines, variants or samples.
    fn has_choice(&self) -> bool {
        self.report.judges.len() > 1
            || self.report.models.len() > 1
            || self.variants.len() > 1
            || self.samples.len() > 1
    }

    fn suite(&self) -> String {
        escaped(&self.report.suite)
    }

    /// Whether the reader selected this model as the baseline.
    fn is_compared(&self, model: &str) -> bool {
        self.report.compared_with.as_deref() == Some(model)
    }
}

/// Returns the parameters that sort items by the score difference of two models, each followed by an ampersand.
fn by_difference(sides: [&str; 2]) -> String {
    let [left, right] = sides.map(escaped);
    format!("sort=difference&left={left}&right={right}&")
}

/// One page of a suite's items.
pub struct ItemsView<'a> {
    /// Suite of the items.
    pub suite: &'a dyn Suite,
    /// Categories to choose from.
    pub categories: BTreeSet<&'a str>,
    /// Selected category; empty for all.
    pub category: &'a str,
    /// Items on this page.
    pub items: Vec<&'a Item>,
    /// Page number, from 1.
    pub page: usize,
    /// Number of pages.
    pub pages: usize,
    /// Whether the list shows only items on which judges disagree.
    pub is_disputed: bool,
    /// Whether judges disagree on any item.
    pub are_disputed: bool,
    /// Models available for sorting.
    pub models: Vec<&'a str>,
    /// Models by whose score difference the items are sorted.
    pub sides: Option<[&'a str; 2]>,
    /// Scores of both models, by item.
    pub pairs: HashMap<String, ItemPair>,
    /// Query parameters that select the answers, for links.
    pub query_prefix: String,
    /// The same parameters as form fields.
    pub fields: Vec<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "benchmark_items.html")]
struct ItemsPage<'a> {
    page: Page,
    view: &'a ItemsView<'a>,
    /// Maps a model id to its display name.
    name: &'a dyn Fn(&str) -> String,
}

/// `GET /benchmarks/SUITE/items`; `name` maps model ids to display names.
#[must_use]
pub fn items(request: &HttpRequest, view: &ItemsView<'_>, name: &dyn Fn(&str) -> String) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    respond(request, StatusCode::OK, &ItemsPage { page, view, name })
}

impl ItemsPage<'_> {
    fn suite(&self) -> String {
        escaped(self.view.suite.name())
    }

    fn category(&self, name: &str) -> String {
        named(self.view.suite.category_title(name), self.page.language).to_owned()
    }

    fn address(&self, item: &Item) -> String {
        format!("/benchmarks/{}/items/{}?{}{}", self.suite(), escaped(&item.id), self.view.query_prefix, self.order())
    }

    /// Returns the sort order as query parameters, each followed by an ampersand.
    fn order(&self) -> String {
        match self.view.sides {
            Some(sides) => by_difference(sides),
            None => String::new(),
        }
    }

    fn side_choices(&self) -> [SideChoice; 2] {
        let (models, sides) = (self.view.models.iter().copied(), self.view.sides.unwrap_or_default());
        side_choices(&self.page.t().benchmark, models, sides, self.name)
    }

    fn called(&self, model: &str) -> String {
        (self.name)(model)
    }

    /// Formats both models' scores on an item, and the difference.
    fn pair(&self, item: &Item) -> Option<[String; 3]> {
        let pair = self.view.pairs.get(&item.id)?;
        let [left, right] = pair.scores.map(|score| format!("{score:.2}"));
        Some([left, right, format!("{:+.2}", pair.difference())])
    }

    fn page_address(&self, page: usize) -> String {
        let (query_prefix, category) = (&self.view.query_prefix, escaped(self.view.category));
        let order = if self.view.is_disputed { "disputed=1&".to_owned() } else { self.order() };
        format!("/benchmarks/{}/items?{query_prefix}{order}category={category}&page={page}", self.suite())
    }

    fn turns(&self, item: &Item) -> String {
        fill(self.page.t().benchmark.turns, &[("n", &item.turns.len().to_string())])
    }

    fn page_of(&self) -> String {
        let (page, pages) = (self.view.page.to_string(), self.view.pages.to_string());
        self.page.t().benchmark.page_of.replace("{page}", &page).replace("{pages}", &pages)
    }

    /// Returns the first question, shortened for the list.
    #[expect(clippy::unused_self, reason = "templates call it on the page")]
    fn question(&self, item: &Item) -> String {
        let question = item.turns.first().map_or("", |turn| turn.question.trim());
        match question.char_indices().nth(MAX_QUESTION_CHARS) {
            None => question.to_owned(),
            Some((end, _)) => format!("{}…", &question[..end]),
        }
    }
}
