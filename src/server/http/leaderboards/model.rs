//! `GET /models/ID`: one model, from the leaderboard, the register, the benchmarks and recent battles.

use std::collections::BTreeSet;

use actix_web::{HttpRequest, HttpResponse, web};

use super::super::request::error::PageError;
use super::leaderboard_view::frame_of;
use crate::domain::battle::ModelId;
use crate::domain::correlation::catalog::SeriesSource;
use crate::domain::correlation::{Series, Subjects};
use crate::domain::model_register::days::Period;
use crate::domain::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::domain::rating::leaderboards::leaderboard_filter::LeaderboardFilter;
use crate::domain::rating::pooling::PooledSlices;
use crate::domain::rating::votes::slice::SliceColumn;
use crate::infra::llm::ModelCard;
use crate::pages;
use crate::pages::leaderboards::charts::ChartView;
use crate::pages::leaderboards::model::{ModelScoreRow, ModelView, OpponentRow, SliceGroup, SliceRow};
use crate::pages::requested_language;
use crate::render::chart;
use crate::render::i18n::pages::{PageTexts, page_texts};
use crate::services::leaderboard::filtered::{FilteredLeaderboard, FilteredLeaderboardError};
use crate::state::AppState;

/// Maximum number of opponents in each list.
const MAX_LISTED_OPPONENTS: usize = 5;

/// `GET /models/ID`
///
/// # Errors
/// [`PageError`]; a model without any battle has no page.
pub(in crate::http) async fn page(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
) -> Result<HttpResponse, PageError> {
    let Some(card) = app.models.find(&ModelId::new(id.into_inner())) else {
        return Ok(pages::errors::not_found::not_found(&request));
    };
    let view = view(&request, &app, card).await?;
    Ok(pages::leaderboards::model::model(&request, view))
}

async fn view(request: &HttpRequest, app: &AppState, card: ModelCard) -> Result<ModelView, PageError> {
    let (latest, language) = (app.leaderboard.latest(), requested_language(request));
    let on_leaderboard: BTreeSet<String> = latest.leaderboard.models.iter().map(|row| row.model.clone()).collect();
    let register = app.register.get(Period::default(), on_leaderboard).await?;
    let id = card.id.as_str();
    let place = latest.leaderboard.models.iter().position(|row| row.model == id);
    let rated = match place {
        Some(_) => pending_as_none(app.filtered.get(&LeaderboardFilter::default(), latest.last_public_seq()).await)?,
        None => None,
    };
    let usage = match place {
        Some(_) => pending_as_none(app.value.recent_usage(latest.last_public_seq()).await)?,
        None => None,
    };
    let column = place.and_then(|_| sliced_by(&app.leaderboard.slice_votes().counts));
    let sliced = match column {
        Some(column) => {
            let filter = LeaderboardFilter { pool_by: Some(column), ..LeaderboardFilter::default() };
            pending_as_none(app.filtered.get(&filter, latest.last_public_seq()).await)?
        }
        None => None,
    };
    // None of votes that cannot be compared within several slices.
    let pooled = sliced.as_deref().and_then(|found| found.leaderboard.pooled.as_ref());
    let slices = column.zip(pooled).map(|(column, pooled)| slices(pooled, id, column, page_texts(language)));
    let row = place.map(|place| &latest.leaderboard.models[place]);
    let group = row.and_then(|row| latest.leaderboard.group_of(row));
    Ok(ModelView {
        row: row.cloned(),
        models: group.as_ref().map_or(latest.leaderboard.models.len(), Vec::len),
        is_grouped: group.is_some(),
        interval_method: latest.leaderboard.interval,
        confidence: latest.leaderboard.confidence,
        entry: register.models.iter().find(|entry| entry.id == id).cloned(),
        is_computed: place.is_none() || (rated.is_some() && usage.is_some() && sliced.is_some() == column.is_some()),
        history: rated.as_deref().and_then(|rated| history(rated, &card, request)),
        opponents: rated.as_deref().map(|rated| opponents(app, rated, id)).unwrap_or_default(),
        slices,
        scores: app.correlation.latest().catalog.series().iter().filter_map(|series| score(series, id)).collect(),
        speed: usage.and_then(|usage| usage.models.get(id).copied()),
        card,
    })
}

/// Maps a pending computation to `None`; database outages stay errors.
fn pending_as_none<T>(found: Result<T, FilteredLeaderboardError>) -> Result<Option<T>, PageError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_outage() => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Returns the first column with several slices.
fn sliced_by(votes: &SliceVoteCounts) -> Option<SliceColumn> {
    let columns = [
        (SliceColumn::Category, &votes.categories),
        (SliceColumn::Intent, &votes.intents),
        (SliceColumn::Language, &votes.languages),
    ];
    columns.into_iter().find(|(_, slices)| slices.len() > 1).map(|(column, _)| column)
}

fn slices(pooled: &PooledSlices, id: &str, column: SliceColumn, texts: &'static PageTexts) -> SliceGroup {
    let words = &texts.leaderboard;
    let rows = pooled.slices.iter().filter_map(|slice| {
        let rated = slice.models.iter().find(|rated| rated.model == id)?;
        Some(SliceRow { slice: slice.slice.clone(), rated: rated.clone() })
    });
    let label = match column {
        SliceColumn::Language => words.language,
        SliceColumn::Category => words.category,
        SliceColumn::Intent => words.intent,
    };
    SliceGroup { column: label, by: column, rows: rows.collect() }
}

fn history(rated: &FilteredLeaderboard, card: &ModelCard, request: &HttpRequest) -> Option<ChartView> {
    let row = rated.leaderboard.models.iter().find(|row| row.model == card.id.as_str())?;
    let mut traces = chart::history::traces(std::slice::from_ref(row), &rated.history);
    traces.iter_mut().for_each(|trace| trace.name.clone_from(&card.name));
    let times = |trace: &chart::history::RatingTrace| {
        trace.points.first().zip(trace.points.last()).map(|(one, other)| [one.0, other.0])
    };
    let has_moments = traces.iter().filter_map(times).any(|[first, last]| first < last);
    has_moments.then(|| ChartView::new(chart::history::draw(&traces, frame_of(request))))
}

/// Returns the opponents with the highest and the lowest win share, among those it has met.
fn opponents(app: &AppState, rated: &FilteredLeaderboard, id: &str) -> [Vec<OpponentRow>; 2] {
    let models = &rated.leaderboard.models;
    let Some(place) = models.iter().position(|row| row.model == id) else { return Default::default() };
    let met = rated.pairs.opponent_records(place, models.len()).into_iter().filter_map(|meeting| {
        let (won, votes) = (meeting.won?, meeting.votes.filter(|votes| *votes > 0.0)?);
        let opponent = app.models.card(&ModelId::new(&models[meeting.opponent].model));
        Some(OpponentRow { id: opponent.id.to_string(), name: opponent.name, won, votes, predicted: meeting.predicted })
    });
    let mut met: Vec<OpponentRow> = met.collect();
    met.sort_by(|one, other| other.won.total_cmp(&one.won).then(other.votes.total_cmp(&one.votes)));
    let best = met.len().div_ceil(2).min(MAX_LISTED_OPPONENTS);
    let worst = (met.len() - best).min(MAX_LISTED_OPPONENTS);
    let worst = met.iter().rev().take(worst).cloned().collect();
    met.truncate(best);
    [met, worst]
}

/// Returns the model's score and rank in a benchmark.
fn score(series: &Series, id: &str) -> Option<ModelScoreRow> {
    let is_score = matches!(SeriesSource::from_series(series), SeriesSource::Benchmark | SeriesSource::Imported);
    let point = series.points.get(id).filter(|_| is_score && series.subjects == Subjects::Models)?;
    let better = series.points.values().filter(|other| other.value > point.value).count();
    let of = series.points.len();
    Some(ModelScoreRow { title: series.title.clone(), score: point.value, place: better + 1, of })
}
