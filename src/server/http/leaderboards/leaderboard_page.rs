//! `GET /leaderboard`. The page of all votes is rendered and compressed once for each leaderboard and language, and served until it
//! changes; a browser with a current copy gets 304.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, EntityTag};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use bytestring::ByteString;
use flate2::Compression;

use super::super::request::entity_tags::{is_known, weak_tag};
use super::super::request::error::PageError;
use super::leaderboard_view::{Latest, answer, frame_of, robustness_details, shown, style_chart, view};
use crate::domain::battle::ModelId;
use crate::domain::integrity::exclusions::exclusion_report::ExclusionReport;
use crate::domain::language::Language;
use crate::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use crate::infra::config::Settings;
use crate::infra::llm::roster::Roster;
use crate::pages::exclusions::{ChangeView, ExclusionsDetails};
use crate::pages::frame::gzip;
use crate::pages::leaderboards::leaderboard::{LeaderboardRow, LeaderboardView, leaderboard_html};
use crate::pages::leaderboards::leaderboard_controls::LeaderboardControls;
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::pages::leaderboards::leaderboard_selection::{LeaderboardSelection, ModelFacts};
use crate::pages::{self, requested_language};
use crate::render::i18n::pages::page_texts;
use crate::services::leaderboard::background_report::ReportSnapshot;
use crate::services::leaderboard::robustness::RobustnessReport;
use crate::state::AppState;

/// Latest page in each language.
#[derive(Default)]
pub(in crate::http) struct LeaderboardPages([Latest<PageKey, RenderedPage>; Language::ALL.len()]);

/// Rendered page, shared by requests. With hundreds of models, compressing and hashing it takes many times longer than sending it.
#[derive(Clone)]
struct RenderedPage {
    html: ByteString,
    gzip: Bytes,
    tag: EntityTag,
}

impl RenderedPage {
    fn new(html: String) -> Self {
        let gzip = Bytes::from(gzip::compressed(html.as_bytes(), Compression::fast()));
        Self { tag: weak_tag(html.as_bytes()), html: html.into(), gzip }
    }
}

/// Cache key: all inputs of the page of all votes.
struct PageKey {
    snapshot: Arc<LeaderboardSnapshot>,
    roster: Arc<Roster>,
    settings: Arc<Settings>,
    robustness: Arc<ReportSnapshot<RobustnessReport>>,
    exclusions: Arc<ReportSnapshot<ExclusionReport>>,
}

impl PageKey {
    fn now(app: &AppState) -> Self {
        Self {
            snapshot: app.leaderboard.latest(),
            roster: app.models.current(),
            settings: app.settings.now(),
            robustness: app.robustness.latest(),
            exclusions: app.exclusion_reports.latest(),
        }
    }
}

impl PartialEq for PageKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot)
            && Arc::ptr_eq(&self.roster, &other.roster)
            && Arc::ptr_eq(&self.settings, &other.settings)
            && Arc::ptr_eq(&self.robustness, &other.robustness)
            && Arc::ptr_eq(&self.exclusions, &other.exclusions)
    }
}

/// `GET /leaderboard`: the latest one, or that of the selected votes and models.
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn page(
    request: HttpRequest,
    app: web::Data<AppState>,
    known: web::Data<LeaderboardPages>,
) -> Result<HttpResponse, PageError> {
    if request.query_string().is_empty() {
        let language = requested_language(&request);
        let render = || {
            RenderedPage::new(leaderboard_html(
                &request,
                &unfiltered_view(&app, &LeaderboardSelection::default(), language),
            ))
        };
        return Ok(respond_with_etag(&request, known.0[language as usize].get(PageKey::now(&app), render)));
    }
    let query = LeaderboardQuery::parse(request.query_string())?;
    let choice = LeaderboardSelection::parse(request.query_string())?;
    let (filter, language) = (query.filter()?, requested_language(&request));
    if filter.is_plain() {
        return Ok(pages::respond_html(
            &request,
            StatusCode::OK,
            leaderboard_html(&request, &unfiltered_view(&app, &choice, language)),
        ));
    }
    let study = answer(&app, &filter).await?;
    // A past time has a fixed leaderboard; otherwise, and for a future time, the votes are those of the latest leaderboard, or a little
    // older.
    let latest_ms = app.leaderboard.latest().fitted_at.map(|time| time.0);
    let as_of_ms = filter.until.map_or(latest_ms, |until| latest_ms.map(|latest| latest.min(until.0)));
    let style_chart = style_chart(&study.leaderboard, frame_of(&request));
    let name = |model: &str| app.models.card(&ModelId::new(model)).name;
    let change = study.change.as_ref().map(|change| ChangeView::new(change, language, name));
    let view = LeaderboardView { as_of_ms, query, style_chart, change, ..shown(&app, &study.leaderboard) };
    Ok(pages::respond_html(
        &request,
        StatusCode::OK,
        leaderboard_html(&request, &apply_selection(view, &choice, language)),
    ))
}

/// Returns the leaderboard of all votes.
fn unfiltered_view(app: &AppState, choice: &LeaderboardSelection, language: Language) -> LeaderboardView {
    let votes = &app.leaderboard.latest().leaderboard.votes;
    let exclusions = Some(ExclusionsDetails::new(votes, &app.exclusion_reports.latest().report, language));
    apply_selection(
        LeaderboardView { robustness: robustness_details(app, language), exclusions, ..view(app) },
        choice,
        language,
    )
}

/// Returns the selected models in the selected order.
fn apply_selection(mut view: LeaderboardView, choice: &LeaderboardSelection, language: Language) -> LeaderboardView {
    view.query.language = view.slice_votes.counts.language_key(&view.query.language).to_owned();
    let all: Vec<ModelFacts<'_>> = view.rows.iter().map(model_facts).collect();
    view.controls = LeaderboardControls::new(&view.query, choice, &view.slice_votes, &all, page_texts(language));
    if !choice.is_plain() {
        view.rows.retain(|row| choice.shows(model_facts(row)));
        view.rows.sort_by(|one, other| choice.order(model_facts(one), model_facts(other)));
        // Adjacent rows may no longer be neighbours in rank.
        view.rows.iter_mut().for_each(|row| row.next = None);
    }
    view
}

fn model_facts(row: &LeaderboardRow) -> ModelFacts<'_> {
    ModelFacts {
        id: &row.model,
        name: &row.name,
        maker: &row.organization,
        license: &row.license,
        battles: row.battles,
        win_tie_rate: row.win_tie_rate.unwrap_or_default(),
        elo: row.elo,
    }
}

/// Builds the response with its ETag; 304 if the browser has the page.
fn respond_with_etag(request: &HttpRequest, page: RenderedPage) -> HttpResponse {
    let RenderedPage { html, gzip, tag } = page;
    let mut response = if is_known(request, &tag) {
        pages::respond_html(request, StatusCode::NOT_MODIFIED, ByteString::new())
    } else if gzip::is_accepted(request.headers()) {
        pages::respond_gzip(request, StatusCode::OK, gzip)
    } else {
        pages::respond_html(request, StatusCode::OK, html)
    };
    if let Ok(value) = header::HeaderValue::from_str(&tag.to_string()) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}
