//! Query parameters of a correlation request.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::correlation::catalog::{MixtureQuestion, SeriesGroup};
use crate::domain::correlation::snapshot::CorrelationSnapshot;
use crate::domain::stats::correlation::Coefficient;
use crate::frame::invalid_query::InvalidQuery;

/// Query parameters of the correlations page; an empty one counts as absent, as forms send it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CorrelationQuery {
    /// The first series of a pair.
    pub x: String,
    /// The second series of a pair.
    pub y: String,
    /// `pearson`, `spearman` or `kendall`: what is resampled.
    pub coefficient: String,
    /// `own`, `published` or `all`: the series of the matrix.
    pub group: String,
    /// `pearson`, `spearman` or `kendall`: the coefficient whose interval is resampled.
    pub a: String,
    /// The second series of a mixture.
    pub b: String,
    /// The third series of a mixture.
    pub c: String,
    /// The fourth series of a mixture.
    pub d: String,
    /// Target series of the mixture.
    pub target: String,
    /// Step of the weights: `0` (exact), `0.1`, `0.05`, `0.01`, `0.005` or `0.001`.
    pub step: String,
}

impl CorrelationQuery {
    pub fn from_request(request: &HttpRequest) -> Result<Self, InvalidQuery> {
        let wanted = web::Query::<Self>::from_query(request.query_string());
        wanted.map(web::Query::into_inner).map_err(|_| InvalidQuery("each parameter is given once".into()))
    }

    /// Returns the two series; `None` if none are named.
    pub fn pair(&self) -> Result<Option<[&str; 2]>, InvalidQuery> {
        match [self.x.as_str(), &self.y] {
            ["", ""] => Ok(None),
            ["", _] | [_, ""] => Err(InvalidQuery("x and y belong together: name both series".into())),
            [x, y] if x == y => Err(InvalidQuery(format!("x and y are both {x:?}: name two series"))),
            pair => Ok(Some(pair)),
        }
    }

    pub fn coefficient(&self) -> Result<Coefficient, InvalidQuery> {
        let name = if self.coefficient.is_empty() { "pearson" } else { &self.coefficient };
        let found = Coefficient::ALL.into_iter().find(|coefficient| coefficient.as_str() == name);
        found.ok_or_else(|| InvalidQuery(format!("coefficient is {name:?}: pearson, spearman or kendall")))
    }

    /// Returns the group; by default the arena's own series if there are at least two.
    pub fn group(&self, snapshot: &CorrelationSnapshot) -> Result<SeriesGroup, InvalidQuery> {
        match self.group.as_str() {
            "" if snapshot.catalog.group_len(SeriesGroup::Own) > 1 => Ok(SeriesGroup::Own),
            "" | "published" => Ok(SeriesGroup::Published),
            "own" => Ok(SeriesGroup::Own),
            "all" => Ok(SeriesGroup::All),
            other => Err(InvalidQuery(format!("group is {other:?}: own, published or all"))),
        }
    }

    /// Returns the mixture; `None` if none is named.
    pub fn mixture(&self) -> Result<Option<MixtureQuestion>, InvalidQuery> {
        let given = [&self.a, &self.b, &self.c, &self.d].into_iter().filter(|name| !name.is_empty());
        let series: Vec<String> = given.cloned().collect();
        match (series.is_empty(), self.target.as_str()) {
            (true, "") => Ok(None),
            (false, "") => Err(InvalidQuery("target is missing: name the series that the mixture is to follow".into())),
            (_, target) => Ok(Some(MixtureQuestion { series, target: target.to_owned(), steps: self.steps()? })),
        }
    }

    /// Whether the matrix is requested: it takes most of the page.
    pub fn shows_matrix(&self) -> bool {
        !self.group.is_empty()
    }

    /// Whether a mixture or its form is requested: its lists name every series several times.
    pub fn shows_mixture(&self) -> bool {
        [&self.a, &self.b, &self.c, &self.d, &self.target, &self.step].iter().any(|value| !value.is_empty())
    }

    pub fn steps(&self) -> Result<Option<u32>, InvalidQuery> {
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
        found.ok_or_else(|| InvalidQuery(format!("step is {:?}: 0, 0.1, 0.05, 0.01, 0.005 or 0.001", self.step)))
    }
}
