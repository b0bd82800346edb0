//! Correlations as a page and as JSON: what the address asks for, answered by the [`CorrelationService`].
//!
//! [`CorrelationService`]: crate::services::correlation::snapshot::Correlator

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::error::PageError;
use super::pages::correlation as pages;
use crate::app::AppState;
use crate::domain::correlation::Series;
use crate::domain::correlation::report::{Correlations, MixtureReport};
use crate::domain::stats::correlation::Coefficient;
use crate::services::correlation::snapshot::{CorrelationSnapshot, Group, MixtureQuestion, PairStudy, Source};

/// What a reader asks, in an address; an empty parameter asks for nothing, as a form sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct CorrelationQuery {
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) coefficient: String,
    pub(crate) group: String,
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) c: String,
    pub(crate) d: String,
    pub(crate) target: String,
    pub(crate) step: String,
}

impl CorrelationQuery {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let wanted = web::Query::<Self>::from_query(request.query_string());
        wanted.map(web::Query::into_inner).map_err(|_| PageError::Question("each parameter is given once".into()))
    }

    /// The two series; `None` where none are asked for.
    fn pair(&self) -> Result<Option<[&str; 2]>, PageError> {
        match [self.x.as_str(), &self.y] {
            ["", ""] => Ok(None),
            ["", _] | [_, ""] => Err(PageError::Question("x and y belong together: name both series".into())),
            [x, y] if x == y => Err(PageError::Question(format!("x and y are both {x:?}: name two series"))),
            pair => Ok(Some(pair)),
        }
    }

    pub(super) fn coefficient(&self) -> Result<Coefficient, PageError> {
        let name = if self.coefficient.is_empty() { "pearson" } else { &self.coefficient };
        let found = Coefficient::ALL.into_iter().find(|coefficient| coefficient.as_str() == name);
        found.ok_or_else(|| PageError::Question(format!("coefficient is {name:?}: pearson, spearman or kendall")))
    }

    /// The group; where none is asked for, the arena's own series if it has two.
    fn group(&self, board: &CorrelationSnapshot) -> Result<Group, PageError> {
        match self.group.as_str() {
            "" if board.of_group(Group::Own) > 1 => Ok(Group::Own),
            "" | "published" => Ok(Group::Published),
            "own" => Ok(Group::Own),
            "all" => Ok(Group::All),
            other => Err(PageError::Question(format!("group is {other:?}: own, published or all"))),
        }
    }

    /// The mixture; `None` where none is asked for.
    fn mixture(&self) -> Result<Option<MixtureQuestion>, PageError> {
        let given = [&self.a, &self.b, &self.c, &self.d].into_iter().filter(|name| !name.is_empty());
        let series: Vec<String> = given.cloned().collect();
        match (series.is_empty(), self.target.as_str()) {
            (true, "") => Ok(None),
            (false, "") => {
                Err(PageError::Question("target is missing: name the series that the mixture is to follow".into()))
            }
            (_, target) => Ok(Some(MixtureQuestion { series, target: target.to_owned(), steps: self.steps()? })),
        }
    }

    /// Whether the table of all correlations is asked for: it takes most of the page.
    pub(crate) fn shows_matrix(&self) -> bool {
        !self.group.is_empty()
    }

    /// Whether a mixture is asked for, or the form for one: its lists name every series several times.
    pub(crate) fn shows_mixture(&self) -> bool {
        [&self.a, &self.b, &self.c, &self.d, &self.target, &self.step].iter().any(|value| !value.is_empty())
    }

    fn steps(&self) -> Result<Option<u32>, PageError> {
        const STEPS: [(&str, Option<u32>); 7] = [
            ("", None),
            ("0", None),
            ("0.1", Some(10)),
            ("0.05", Some(20)),
            ("0.01", Some(100)),
            ("0.005", Some(200)),
            ("0.001", Some(1_000)),
        ];
        let found = STEPS.into_iter().find(|(text, _)| *text == self.step).map(|(_, steps)| steps);
        found.ok_or_else(|| PageError::Question(format!("step is {:?}: 0, 0.1, 0.05, 0.01, 0.005 or 0.001", self.step)))
    }
}

/// `GET /correlation`
///
/// # Errors
/// [`PageError`] where it asks for what cannot be.
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let wanted = CorrelationQuery::of(&request)?;
    let board = app.correlation.latest();
    let (coefficient, group) = (wanted.coefficient()?, wanted.group(&board)?);
    let (asked, mixed) = (wanted.pair()?, wanted.mixture()?);
    if board.made_at.is_none() && (asked.is_some() || mixed.is_some()) {
        return Err(PageError::Early);
    }
    let default = board.default_pair();
    let named = asked.or_else(|| default.as_ref().map(|[x, y]| [x.as_str(), y]));
    let pair = match named {
        Some(pair) => Some(app.correlation.pair(&board, pair, coefficient).await?),
        None => None,
    };
    let mixture = match &mixed {
        Some(question) => Some(app.correlation.mixture(&board, question).await?),
        None => None,
    };
    let intents = intents(&app, &board).await?;
    if wanted.shows_matrix() {
        app.correlation.prepare(&board, group).await?;
    }
    let claims = app.correlation.claims().await?;
    let view =
        pages::View { board: &board, wanted: &wanted, coefficient, group, pair, mixture, intents, claims: &claims };
    Ok(pages::correlation(&request, &app.models, &view))
}

/// Satisfaction beside a suite's means, by intent.
async fn intents(app: &AppState, board: &Arc<CorrelationSnapshot>) -> Result<Option<PairStudy>, PageError> {
    let Some([satisfaction, suite]) = board.intents() else { return Ok(None) };
    Ok(Some(app.correlation.pair(board, [&satisfaction, &suite], Coefficient::Pearson).await?))
}

/// `GET /api/v1/correlation`: two series, a mixture, or all that there are with their matrix.
///
/// # Errors
/// As [`page`].
pub(super) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let wanted = CorrelationQuery::of(&request)?;
    let board = app.correlation.latest();
    let (coefficient, group) = (wanted.coefficient()?, wanted.group(&board)?);
    let (pair, mixed) = (wanted.pair()?, wanted.mixture()?);
    if board.made_at.is_none() {
        return Err(PageError::Early);
    }
    match (pair, mixed) {
        (Some(_), Some(_)) => {
            Err(PageError::Question("x and y, or a mixture with its target: not both at once".into()))
        }
        (Some(pair), None) => {
            Ok(HttpResponse::Ok().json(app.correlation.pair(&board, pair, coefficient).await?.report))
        }
        (None, Some(question)) => {
            let found: MixtureReport = app.correlation.mixture(&board, &question).await?;
            Ok(HttpResponse::Ok().json(found))
        }
        (None, None) => {
            app.correlation.prepare(&board, group).await?;
            let claims = app.correlation.claims().await?;
            Ok(HttpResponse::Ok().json(Listed { claims: &claims, ..Listed::of(&board, group) }))
        }
    }
}

/// All series and the correlations of a group of them.
#[derive(Serialize)]
struct Listed<'b> {
    /// When it was reckoned, in milliseconds since 1970.
    made_at: Option<i64>,
    /// How often votes and items were drawn anew.
    replicates: u32,
    series: Vec<ListedSeries>,
    group: &'static str,
    /// As many series as the group has; the matrix has the first of them.
    of: usize,
    matrix: Vec<ListedCell>,
    claims: &'b [crate::domain::benchmark::claims::Claim],
}

#[derive(Serialize)]
struct ListedSeries {
    series: String,
    title: String,
    source: Source,
    subjects: crate::domain::correlation::Subjects,
    n: usize,
}

#[derive(Serialize)]
struct ListedCell {
    x: String,
    y: String,
    n: usize,
    #[serde(flatten)]
    correlations: Correlations,
}

impl Listed<'_> {
    fn of(board: &CorrelationSnapshot, group: Group) -> Self {
        let grid = board.grid(group);
        let series = |series: &Series| ListedSeries {
            series: series.name.to_string(),
            title: series.title.clone(),
            source: Source::of(series),
            subjects: series.subjects,
            n: series.points.len(),
        };
        let name = |place: usize| board.series[grid.series[place]].name.to_string();
        let cell = |row: usize, column: usize| {
            let cell = grid.cell(row, column);
            let correlations = Correlations::of(&cell, board.options.level);
            ListedCell { x: name(row), y: name(column), n: cell.n, correlations }
        };
        let rows = 0..grid.series.len();
        Self {
            made_at: board.made_at.map(|time| time.0),
            replicates: board.options.bootstrap.replicates,
            series: board.series.iter().map(series).collect(),
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
        CorrelationQuery::of(&request).unwrap()
    }

    #[test]
    fn an_address_says_which_series_are_wanted() {
        let asked = wanted("x=arena%3Arating&y=bench%3Aurs&lang=zh&coefficient=kendall&group=all");
        assert_eq!(asked.pair().unwrap(), Some(["arena:rating", "bench:urs"]));
        assert_eq!(asked.coefficient().unwrap(), Coefficient::Kendall);
        assert_eq!(asked.group(&CorrelationSnapshot::default()).unwrap(), Group::All);
        let mixed = wanted("a=one&c=three&b=&target=votes&step=0.01").mixture().unwrap().unwrap();
        assert_eq!(
            (mixed.series, mixed.target, mixed.steps),
            (vec!["one".into(), "three".into()], "votes".into(), Some(100))
        );
        let nothing = wanted("x=&y=&a=&target=");
        assert_eq!((nothing.pair().unwrap(), nothing.mixture().unwrap()), (None, None));
        assert_eq!(
            nothing.group(&CorrelationSnapshot::default()).unwrap(),
            Group::Published,
            "an empty arena has none of its own"
        );
        assert!(!nothing.shows_matrix() && !nothing.shows_mixture() && !wanted("x=a&y=b").shows_matrix());
        assert!(wanted("group=own").shows_matrix() && wanted("step=0").shows_mixture());
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_can() {
        let board = CorrelationSnapshot::default();
        let said = |query: &str| {
            let asked = wanted(query);
            let refused = asked.pair().err().or(asked.coefficient().err()).or(asked.group(&board).err());
            refused.or(asked.mixture().err()).unwrap().to_string()
        };
        assert_eq!(said("x=a"), "x and y belong together: name both series");
        assert_eq!(said("x=a&y=a"), "x and y are both \"a\": name two series");
        assert_eq!(said("coefficient=r"), "coefficient is \"r\": pearson, spearman or kendall");
        assert_eq!(said("group=mine"), "group is \"mine\": own, published or all");
        assert_eq!(said("a=b"), "target is missing: name the series that the mixture is to follow");
        assert_eq!(said("a=b&b=c&target=d&step=2"), "step is \"2\": 0, 0.1, 0.05, 0.01, 0.005 or 0.001");
    }
}
