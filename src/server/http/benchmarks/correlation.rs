//! Correlations as a page and as JSON, computed by the [`CorrelationService`].
//!
//! [`CorrelationService`]: crate::services::correlation::snapshot::CorrelationService

use crate::domain::battle::ModelId;
use crate::pages::correlation_query::CorrelationQuery;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::request::error::PageError;
use crate::domain::correlation::Series;
use crate::domain::correlation::catalog::{PairStudy, SeriesGroup, SeriesSource};
use crate::domain::correlation::report::Correlations;
use crate::domain::correlation::snapshot::CorrelationSnapshot;
use crate::domain::stats::correlation::Coefficient;
use crate::pages::correlation as pages;
use crate::state::AppState;

/// `GET /correlation`
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let wanted = CorrelationQuery::from_request(&request)?;
    let snapshot = app.correlation.latest();
    let (coefficient, group) = (wanted.coefficient()?, wanted.group(&snapshot)?);
    let (asked, mixed) = (wanted.pair()?, wanted.mixture()?);
    if snapshot.made_at.is_none() && (asked.is_some() || mixed.is_some()) {
        return Err(PageError::Early);
    }
    let default = snapshot.catalog.default_pair();
    let named = asked.or_else(|| default.as_ref().map(|[x, y]| [x.as_str(), y]));
    let pair = match named {
        Some(pair) => Some(app.correlation.pair(&snapshot, pair, coefficient).await?),
        None => None,
    };
    let mixture = match &mixed {
        Some(question) => Some(app.correlation.mixture(&snapshot, question).await?),
        None => None,
    };
    let intents = intents(&app, &snapshot).await?;
    if wanted.shows_matrix() {
        app.correlation.prepare(&snapshot, group).await?;
    }
    let view = pages::View { snapshot: &snapshot, wanted: &wanted, coefficient, group, pair, mixture, intents };
    let model_name = |model: &str| app.models.card(&ModelId::new(model)).name;
    Ok(pages::correlation(&request, &model_name, &view))
}

/// `GET /correlation/papers`
///
/// # Errors
/// [`PageError`] if they cannot be computed.
pub(in crate::http) async fn papers(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(pages::papers::papers(&request, &app.correlation.claims().await?))
}

/// Returns the correlation of satisfaction with a suite's means, by intent.
async fn intents(app: &AppState, snapshot: &Arc<CorrelationSnapshot>) -> Result<Option<Arc<PairStudy>>, PageError> {
    let Some([satisfaction, suite]) = snapshot.catalog.intents() else { return Ok(None) };
    Ok(Some(app.correlation.pair(snapshot, [&satisfaction, &suite], Coefficient::Pearson).await?))
}

/// `GET /api/v1/correlation`: two series, a mixture, or all series with their matrix.
///
/// # Errors
/// As [`page`].
pub(in crate::http) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let wanted = CorrelationQuery::from_request(&request)?;
    let snapshot = app.correlation.latest();
    let (coefficient, group) = (wanted.coefficient()?, wanted.group(&snapshot)?);
    let (pair, mixed) = (wanted.pair()?, wanted.mixture()?);
    if snapshot.made_at.is_none() {
        return Err(PageError::Early);
    }
    match (pair, mixed) {
        (Some(_), Some(_)) => {
            Err(PageError::InvalidQuery("x and y, or a mixture with its target: not both at once".into()))
        }
        (Some(pair), None) => {
            Ok(HttpResponse::Ok().json(&app.correlation.pair(&snapshot, pair, coefficient).await?.report))
        }
        (None, Some(question)) => Ok(HttpResponse::Ok().json(&*app.correlation.mixture(&snapshot, &question).await?)),
        (None, None) => {
            app.correlation.prepare(&snapshot, group).await?;
            let claims = app.correlation.claims().await?;
            Ok(HttpResponse::Ok().json(CatalogJson { claims: &claims, ..CatalogJson::new(&snapshot, group) }))
        }
    }
}

/// All series, and the correlation matrix of a group.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct CatalogJson<'b> {
    /// Time of computation, in milliseconds since 1970.
    made_at: Option<i64>,
    /// Number of bootstrap samples.
    replicates: u32,
    /// All series.
    series: Vec<ListedSeries>,
    /// Group of the matrix.
    group: &'static str,
    /// Number of series in the group; the matrix has the first of them.
    of: usize,
    /// Cells of the matrix, each pair once.
    matrix: Vec<ListedCell>,
    /// Claims of the papers, with values recomputed from their published numbers.
    claims: &'b [crate::domain::benchmark::paper_claims::Claim],
}

#[derive(Serialize, JsonSchema)]
struct ListedSeries {
    /// Name, as used in parameters.
    series: String,
    /// Display name.
    title: String,
    /// Source of the values.
    source: SeriesSource,
    /// Kind of the subjects, to which the values belong.
    subjects: crate::domain::correlation::Subjects,
    /// Number of subjects.
    n: usize,
}

#[derive(Serialize, JsonSchema)]
struct ListedCell {
    /// Name of the first series.
    x: String,
    /// Name of the second series.
    y: String,
    /// Number of subjects in both series.
    n: usize,
    #[serde(flatten)]
    correlations: Correlations,
}

impl CatalogJson<'_> {
    fn new(snapshot: &CorrelationSnapshot, group: SeriesGroup) -> Self {
        let grid = snapshot.matrix(group);
        let series = |series: &Series| ListedSeries {
            series: series.name.to_string(),
            title: series.title.clone(),
            source: SeriesSource::from_series(series),
            subjects: series.subjects,
            n: series.points.len(),
        };
        let name = |place: usize| snapshot.catalog.series()[grid.series[place]].name.to_string();
        let cell = |row: usize, column: usize| {
            let cell = grid.cell(row, column);
            let correlations = Correlations::new(&cell, snapshot.catalog.options.level);
            ListedCell { x: name(row), y: name(column), n: cell.n, correlations }
        };
        let rows = 0..grid.series.len();
        Self {
            made_at: snapshot.made_at.map(|time| time.0),
            replicates: snapshot.catalog.options.bootstrap.replicates,
            series: snapshot.catalog.series().iter().map(series).collect(),
            group: group.as_str(),
            of: grid.of,
            matrix: rows
                .flat_map(|row| (0..row).map(move |column| (row, column)))
                .map(|(row, column)| cell(row, column))
                .collect(),
            claims: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(query: &str) -> CorrelationQuery {
        let request = actix_web::test::TestRequest::get().uri(&format!("/correlation?{query}")).to_http_request();
        CorrelationQuery::from_request(&request).unwrap()
    }

    #[test]
    fn an_address_says_which_series_are_wanted() {
        let asked = wanted("x=arena%3Arating&y=bench%3Aurs&lang=zh&coefficient=kendall&group=all");
        assert_eq!(asked.pair().unwrap(), Some(["arena:rating", "bench:urs"]));
        assert_eq!(asked.coefficient().unwrap(), Coefficient::Kendall);
        assert_eq!(asked.group(&CorrelationSnapshot::default()).unwrap(), SeriesGroup::All);
        let mixed = wanted("a=one&c=three&b=&target=votes&step=0.01").mixture().unwrap().unwrap();
        assert_eq!(
            (mixed.series, mixed.target, mixed.steps),
            (vec!["one".into(), "three".into()], "votes".into(), Some(100))
        );
        let nothing = wanted("x=&y=&a=&target=");
        assert_eq!((nothing.pair().unwrap(), nothing.mixture().unwrap()), (None, None));
        assert_eq!(
            nothing.group(&CorrelationSnapshot::default()).unwrap(),
            SeriesGroup::Published,
            "an empty arena has none of its own"
        );
        assert!(!nothing.shows_matrix() && !nothing.shows_mixture() && !wanted("x=a&y=b").shows_matrix());
        assert!(wanted("group=own").shows_matrix() && wanted("step=0").shows_mixture());
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_can() {
        let snapshot = CorrelationSnapshot::default();
        let refusal = |query: &str| {
            let asked = wanted(query);
            let refused = asked.pair().err().or(asked.coefficient().err()).or(asked.group(&snapshot).err());
            refused.or(asked.mixture().err()).unwrap().to_string()
        };
        assert_eq!(refusal("x=a"), "x and y belong together: name both series");
        assert_eq!(refusal("x=a&y=a"), "x and y are both \"a\": name two series");
        assert_eq!(refusal("coefficient=r"), "coefficient is \"r\": pearson, spearman or kendall");
        assert_eq!(refusal("group=mine"), "group is \"mine\": own, published or all");
        assert_eq!(refusal("a=b"), "target is missing: name the series that the mixture is to follow");
        assert_eq!(refusal("a=b&b=c&target=d&step=2"), "step is \"2\": 0, 0.1, 0.05, 0.01, 0.005 or 0.001");
    }
}
