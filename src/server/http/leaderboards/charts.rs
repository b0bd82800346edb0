//! The charts of a leaderboard: of the best models, 25 by default, and one model against each of them.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::super::request::error::PageError;
use super::leaderboard_view::{answer, frame_of, name_of, style_chart};
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::pages;
use crate::pages::frame::query_string::query_string;
use crate::pages::leaderboards::charts::{AgainstView, ChartModelChoice, ChartView, ChartsView, CountLink, MeetingRow};
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::render::chart;
use crate::render::chart::heatmap::HeatValues;
use crate::render::chart::pair_values::Pairs;
use crate::state::AppState;

/// Numbers of models to choose from.
const MODEL_COUNTS: [usize; 4] = [10, 25, 50, 100];
/// Default number of models in the charts: as many remain legible.
const DEFAULT_MODEL_COUNT: usize = 25;

/// Query parameters of the charts: `?models=50&model=crane`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChartsQuery {
    /// Number of models, or `all`.
    models: String,
    /// Model to compare with each opponent.
    model: String,
}

impl ChartsQuery {
    fn parse(query: &str) -> Result<Self, PageError> {
        let parsed = web::Query::<Self>::from_query(query);
        parsed.map(web::Query::into_inner).map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))
    }

    /// Returns how many of `total` models are shown.
    fn count(&self, total: usize) -> Result<usize, PageError> {
        let refused = || PageError::InvalidQuery(format!("models is {:?}: 10, 25, 50, 100 or all", self.models));
        match self.models.as_str() {
            "" => Ok(DEFAULT_MODEL_COUNT.min(total)),
            "all" => Ok(total),
            number => {
                let known = number.parse().ok().filter(|number| MODEL_COUNTS.contains(number));
                Ok(known.ok_or_else(refused)?.min(total))
            }
        }
    }
}

/// `GET /leaderboard/charts`
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn charts(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let query = LeaderboardQuery::parse(request.query_string())?;
    let wanted = ChartsQuery::parse(request.query_string())?;
    let filter = query.filter()?;
    let study = answer(&app, &filter).await?;
    let (frame, total) = (frame_of(&request), study.leaderboard.models.len());
    let count = wanted.count(total)?;
    let shown = &study.leaderboard.models[..count];
    let named = |model: &RankedModel| RankedModel { model: name_of(&model.model, &app.models), ..model.clone() };
    let models: Vec<RankedModel> = shown.iter().map(named).collect();
    let names: Vec<String> = models.iter().map(|model| model.model.clone()).collect();
    let mut traces = chart::history::traces(shown, &study.history);
    for trace in &mut traces {
        trace.name = name_of(&trace.name, &app.models);
    }
    let leaderboard = &study.leaderboard;
    let ratings = chart::forest::draw(&models, leaderboard.interval, leaderboard.confidence, frame);
    let mut charts = vec![ChartView::table_on_phones(ratings)];
    charts.extend(style_chart(leaderboard, frame));
    if !filter.style && !filter.side {
        charts.push(ChartView::new(chart::history::draw(&traces, frame)));
    }
    let pairs = [HeatValues::Wins, HeatValues::Counts, HeatValues::Predicted];
    charts.extend(pairs.map(|shown| ChartView::table_on_phones(study.pairs.draw(shown, &names, frame))));
    let ids = shown.iter().map(|model| model.model.as_str()).zip(names.iter().map(String::as_str)).collect();
    let view = ChartsView {
        votes: study.leaderboard.votes.rated,
        counts: count_links(&query, count, total),
        against: opponent_rows(ids, &wanted, &query, &study.pairs),
        query: query.query_string(),
        charts,
    };
    Ok(pages::leaderboards::charts::charts(&request, &view))
}

/// Returns links to other numbers of models; empty if all are shown anyway.
fn count_links(query: &LeaderboardQuery, count: usize, total: usize) -> Vec<CountLink> {
    if total <= MODEL_COUNTS[0] {
        return Vec::new();
    }
    let link = |value: &str, models: usize| {
        let mut parameters = query.given();
        parameters.push(("models", value));
        CountLink { models, href: format!("/leaderboard/charts{}", query_string(&parameters)), chosen: models == count }
    };
    let fewer = MODEL_COUNTS.into_iter().filter(|&models| models < total);
    fewer.map(|models| link(&models.to_string(), models)).chain([link("all", total)]).collect()
}

/// Returns the selected or else the first model against each other model shown; `None` without any shared battle.
fn opponent_rows(
    models: Vec<(&str, &str)>,
    wanted: &ChartsQuery,
    query: &LeaderboardQuery,
    pairs: &Pairs,
) -> Option<AgainstView> {
    if models.len() < 2 {
        return None;
    }
    let chosen = models.iter().position(|(id, _)| *id == wanted.model).unwrap_or(0);
    let meetings = pairs.opponent_records(chosen, models.len()).into_iter();
    let mut kept: Vec<(String, String)> =
        query.given().into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if !wanted.models.is_empty() {
        kept.push(("models".to_owned(), wanted.models.clone()));
    }
    Some(AgainstView {
        kept,
        model: models[chosen].1.to_owned(),
        rows: meetings.map(|meeting| MeetingRow::new(models[meeting.opponent].1, &meeting)).collect(),
        choices: models
            .into_iter()
            .enumerate()
            .map(|(at, (id, name))| ChartModelChoice { id: id.to_owned(), name: name.to_owned(), chosen: at == chosen })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_chooses_how_many_models_are_drawn() {
        let count = |models: &str, total| ChartsQuery { models: models.into(), ..ChartsQuery::default() }.count(total);
        assert_eq!(count("", 300).unwrap(), 25);
        assert_eq!(count("", 7).unwrap(), 7);
        assert_eq!(count("100", 300).unwrap(), 100);
        assert_eq!(count("all", 300).unwrap(), 300);
        let refused = count("1000", 300).unwrap_err().to_string();
        assert!(refused.contains("models is \"1000\": 10, 25, 50, 100 or all"), "{refused}");
    }

    #[test]
    fn links_keep_the_part_of_the_votes_and_mark_the_number_that_is_shown() {
        let query = LeaderboardQuery { language: "zh".into(), ..LeaderboardQuery::default() };
        let links = count_links(&query, 25, 60);
        let all: Vec<(usize, bool)> = links.iter().map(|link| (link.models, link.chosen)).collect();
        assert_eq!(all, [(10, false), (25, true), (50, false), (60, false)]);
        assert_eq!(links[3].href, "/leaderboard/charts?language=zh&models=all");
        assert!(count_links(&query, 8, 8).is_empty());
    }
}
