//! Benchmarks as pages and as JSON, read from [`SuiteResultsCache`](crate::services::benchmark::suite_results_cache).

use std::collections::HashMap;

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::leaderboards::leaderboard_view::name_of;
use super::super::request::error::PageError;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::runs::run_selector::RunSelector;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::language::Language;
use crate::pages::benchmark as pages;
use crate::pages::benchmark::{ItemOrder, Neighbours};
use crate::pages::frame::query_string::escaped;
use crate::pages::requested_language;
use crate::render::report::benchmark::suite_results::{ReportChoice, SuiteResults};
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::scores::{self};
use crate::state::AppState;

/// Items per page.
const PAGE_SIZE: usize = 50;

/// Query parameters of benchmark pages; an empty one counts as absent, as forms send it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct BenchmarkQuery {
    /// Judge of the scores.
    judge: String,
    /// Baseline model for comparisons.
    compare_with: String,
    /// Judging variant; empty for the suite's own.
    variant: String,
    /// Prefix of the data file's SHA-256.
    data: String,
    /// Sample number of the answers.
    sample: String,
    /// Category of the items.
    category: String,
    /// Page number of the items, from 1.
    page: String,
    /// Non-empty to list only items on which judges disagree, by disagreement descending.
    disputed: String,
    /// `difference` to sort items by the score difference of the two models below, descending.
    sort: String,
    /// Model on the left of a side-by-side view.
    left: String,
    /// Model on the right of a side-by-side view.
    right: String,
}

impl BenchmarkQuery {
    fn from_request(request: &HttpRequest) -> Result<Self, PageError> {
        let wanted = web::Query::<Self>::from_query(request.query_string());
        wanted.map(web::Query::into_inner).map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))
    }

    fn way(&self) -> Result<RunSelector, PageError> {
        let sample = number("sample", &self.sample)?;
        Ok(RunSelector { data: self.data.clone(), variant: self.variant.clone(), sample })
    }

    fn choice(&self) -> ReportChoice {
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        ReportChoice { judge: given(&self.judge), compare_with: given(&self.compare_with) }
    }

    fn is_disputed(&self) -> bool {
        !self.disputed.is_empty()
    }

    /// Returns the two models by whose score difference items are sorted, among those with judgements; by default the first two.
    fn sorted_by(&self, suite: &str, models: &[&str]) -> Result<Option<[String; 2]>, PageError> {
        match self.sort.as_str() {
            "" => return Ok(None),
            "difference" => {}
            other => return Err(PageError::InvalidQuery(format!("sort is {other:?}: difference, or nothing"))),
        }
        let named = [&self.left, &self.right];
        if let Some(unknown) = named.into_iter().find(|name| !name.is_empty() && !models.contains(&name.as_str())) {
            return Err(PageError::Missing(format!("suite {suite} has no judgements of {unknown:?}")));
        }
        if !self.left.is_empty() && self.left == self.right {
            return Err(PageError::InvalidQuery("left and right name the same model: name two".to_owned()));
        }
        let mut others = models.iter().filter(|model| named.into_iter().all(|name| name != *model));
        let chosen = named.map(|name| match name.as_str() {
            "" => others.next().map(|model| (*model).to_owned()),
            name => Some(name.to_owned()),
        });
        let [Some(left), Some(right)] = chosen else { return Ok(None) };
        Ok(Some([left, right]))
    }

    /// Returns the query parameters that select the answers, each followed by an ampersand.
    fn query_prefix(&self) -> String {
        self.fields().into_iter().map(|(name, value)| format!("{name}={}&", escaped(&value))).collect()
    }

    /// Returns the same parameters as form fields.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let all = [("variant", &self.variant), ("data", &self.data), ("sample", &self.sample)];
        let given = all.into_iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| (name, value.clone())).collect()
    }
}

/// Parses a number from 1; by default 1.
fn number(name: &str, text: &str) -> Result<u32, PageError> {
    match text {
        "" => Ok(1),
        text => text
            .parse()
            .ok()
            .filter(|&number| number > 0)
            .ok_or_else(|| PageError::InvalidQuery(format!("{name} is {text:?}: a whole number from 1"))),
    }
}

/// Query parameters of a benchmark report.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the parameters of BenchmarkQuery that a program may use")]
pub(in crate::http) struct ReportQuery {
    /// Judge of the scores.
    judge: String,
    /// Baseline model, compared with the others on the same items; the best one by default.
    compare_with: String,
    /// Judging variant; empty for the suite's own.
    variant: String,
    /// Prefix of the data file's SHA-256.
    data: String,
    /// Sample number of the answers, from 1.
    sample: String,
}

/// `GET /benchmarks/SUITE`: its report, by the selected judge.
///
/// # Errors
/// [`PageError`] for an unknown suite or judge.
pub(in crate::http) async fn suite(
    request: HttpRequest,
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let wanted = BenchmarkQuery::from_request(&request)?;
    let language: Language = requested_language(&request);
    let report = report(&app, &path, &wanted, language).await?;
    let summaries = app.suite_results.suites().await?;
    let mine = summaries
        .iter()
        .find(|summary| summary.suite.suite.as_str() == path.as_str() && summary.suite.version == report.version);
    let groups = mine.map(|summary| summary.judged.as_slice()).unwrap_or_default();
    let view = pages::SuiteView {
        variants: groups.iter().map(|group| &group.variant).chain([&report.variant]).cloned().collect(),
        samples: groups.iter().map(|group| group.sample).collect(),
        data: wanted.data.clone(),
        query_prefix: wanted.query_prefix(),
        report,
    };
    Ok(pages::suite(&request, &view)?)
}

/// `GET /api/v1/benchmarks/SUITE`: the same report as JSON.
///
/// # Errors
/// As [`suite`].
pub(in crate::http) async fn suite_json(
    request: HttpRequest,
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let report = report(&app, &path, &BenchmarkQuery::from_request(&request)?, Language::English).await?;
    Ok(HttpResponse::Ok().json(report))
}

/// `GET /benchmarks/SUITE/items`: its items, by category and page.
///
/// # Errors
/// [`PageError`] for an unknown suite or an invalid page number.
pub(in crate::http) async fn items(
    request: HttpRequest,
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let wanted = BenchmarkQuery::from_request(&request)?;
    let page = usize::try_from(number("page", &wanted.page)?).unwrap_or(usize::MAX);
    let measured = app.suite_results.measured(&SuiteId::new(path.as_str()), &wanted.way()?).await?;
    let (suite, items) = (measured.suite.as_ref(), &measured.data.items);
    let (disputed, models) = (measured.disputed_items(), measured.judged_models());
    let sides = wanted.sorted_by(suite.name(), &models)?;
    let pairs = sides.as_ref().map(|sides| measured.item_pairs(sides.each_ref().map(String::as_str)));
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let listed: Vec<&Item> = match &pairs {
        Some(pairs) => pairs.iter().filter_map(|pair| by_id.get(pair.item.as_str()).copied()).collect(),
        None if wanted.is_disputed() => disputed.iter().filter_map(|id| by_id.get(id).copied()).collect(),
        None => items.iter().collect(),
    };
    let chosen =
        || listed.iter().copied().filter(|item| wanted.category.is_empty() || item.category == wanted.category);
    let pages = chosen().count().div_ceil(PAGE_SIZE).max(1);
    let view = pages::ItemsView {
        suite,
        categories: items.iter().map(|item| item.category.as_str()).collect(),
        category: &wanted.category,
        items: chosen().skip(page.saturating_sub(1).saturating_mul(PAGE_SIZE)).take(PAGE_SIZE).collect(),
        page,
        pages,
        is_disputed: wanted.is_disputed() && sides.is_none(),
        are_disputed: !disputed.is_empty(),
        models,
        sides: sides.as_ref().map(|sides| sides.each_ref().map(String::as_str)),
        pairs: pairs.unwrap_or_default().into_iter().map(|pair| (pair.item.clone(), pair)).collect(),
        query_prefix: wanted.query_prefix(),
        fields: wanted.fields(),
    };
    Ok(pages::items(&request, &view, &|id: &str| name_of(id, &app.models)))
}

/// `GET /benchmarks/SUITE/items/ID`: one item with answers and judgements.
///
/// # Errors
/// [`PageError`] for an unknown item.
pub(in crate::http) async fn item(
    request: HttpRequest,
    path: web::Path<(String, String)>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let (name, id) = path.into_inner();
    let wanted = BenchmarkQuery::from_request(&request)?;
    let measured = app.suite_results.measured(&SuiteId::new(&name), &wanted.way()?).await?;
    let view = scores::item(&app.store, &measured.set(), &id).await.map_err(BenchError::from)?;
    let mut view = view.ok_or_else(|| PageError::Missing(format!("suite {name} has no item {id:?}")))?;
    view.judgements.retain(|row| row.variant == wanted.variant);
    let (language, query_prefix) = (requested_language(&request), wanted.query_prefix());
    let sorted_by = wanted.sorted_by(&name, &measured.judged_models())?;
    let around = neighbours_of(&measured, &id, sorted_by.as_ref());
    let sides = sorted_by.clone().unwrap_or_else(|| [wanted.left.clone(), wanted.right.clone()]);
    let choice = pages::ItemChoice { sides, around, sorted_by, query_prefix, fields: wanted.fields() };
    // Rendering Markdown of many answers would block the thread.
    let view =
        tokio::task::spawn_blocking(move || pages::ItemPageView::new(measured.suite.as_ref(), &view, language, choice));
    Ok(pages::item(&request, &view.await.map_err(BenchError::from)?, &|id: &str| name_of(id, &app.models)))
}

/// Returns the previous and next item: by the score difference of two models, among the disputed items, or in suite order.
fn neighbours_of(measured: &SuiteResults, id: &str, sorted_by: Option<&[String; 2]>) -> Neighbours {
    if let Some(models) = sorted_by {
        let pairs = measured.item_pairs(models.each_ref().map(String::as_str));
        let ids: Vec<&str> = pairs.iter().map(|pair| pair.item.as_str()).collect();
        if ids.contains(&id) {
            return Neighbours::new(&ids, id, ItemOrder::Difference);
        }
    }
    match measured.disputed_items() {
        disputed if sorted_by.is_none() && disputed.contains(&id) => {
            Neighbours::new(&disputed, id, ItemOrder::Disagreement)
        }
        _ => Neighbours::new(&all_items(measured), id, ItemOrder::Suite),
    }
}

fn all_items(measured: &SuiteResults) -> Vec<&str> {
    measured.data.items.iter().map(|item| item.id.as_str()).collect()
}

async fn report(
    app: &AppState,
    suite: &str,
    wanted: &BenchmarkQuery,
    language: Language,
) -> Result<crate::render::report::benchmark::Report, PageError> {
    let choice = wanted.choice();
    let report = app.suite_results.report(&SuiteId::new(suite), &wanted.way()?, choice.clone(), language).await?;
    match choice.judge.filter(|judge| !report.judges.contains(judge)) {
        None => Ok(report),
        Some(judge) => Err(PageError::Missing(format!("suite {suite} has no judgements by {judge:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn wanted(query: &str) -> Result<BenchmarkQuery, PageError> {
        BenchmarkQuery::from_request(&TestRequest::get().uri(&format!("/benchmarks/urs?{query}")).to_http_request())
    }

    #[test]
    fn an_address_says_whose_judgements_of_which_answers_are_wanted() {
        let asked = wanted("judge=a%2Bb&variant=&sample=2&data=00ff").unwrap();
        assert_eq!(asked.choice(), ReportChoice { judge: Some("a+b".into()), compare_with: None });
        assert_eq!(asked.way().unwrap(), RunSelector { data: "00ff".into(), variant: String::new(), sample: 2 });
        assert_eq!(asked.query_prefix(), "data=00ff&sample=2&");
        let query_prefix = wanted("variant=rules%2C%20x%26y").unwrap().query_prefix();
        assert_eq!(wanted(&query_prefix).unwrap().variant, "rules, x&y");
        assert_eq!(wanted("").unwrap().way().unwrap(), RunSelector::default());
    }

    #[test]
    fn items_are_sorted_by_two_models_that_have_judgements() {
        let models = ["a", "b", "c"];
        let sorted = |query: &str| wanted(query).unwrap().sorted_by("urs", &models);
        let both = |left: &str, right: &str| Some([left.to_owned(), right.to_owned()]);
        for (query, expected) in [
            ("left=b&right=a", None),
            ("sort=difference", both("a", "b")),
            ("sort=difference&left=c&right=b", both("c", "b")),
            ("sort=difference&right=a", both("b", "a")),
        ] {
            assert_eq!(sorted(query).unwrap(), expected, "{query}");
        }
        assert_eq!(wanted("sort=difference").unwrap().sorted_by("urs", &["a"]).unwrap(), None, "there is no second");
        for (query, said) in [
            ("sort=x", "sort is \"x\""),
            ("sort=difference&left=d", "no judgements of \"d\""),
            ("sort=difference&left=a&right=a", "name two"),
        ] {
            assert!(sorted(query).unwrap_err().to_string().contains(said), "{query}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_name() {
        for (query, said) in
            [("sample=0", "sample is \"0\""), ("sample=x", "a whole number from 1"), ("data=a&data=b", "once")]
        {
            let refused = wanted(query).and_then(|wanted| wanted.way()).unwrap_err();
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }
}
