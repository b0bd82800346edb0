//! Which series, coefficient and models a request for correlations names.

use crate::domain::correlation::catalog::{MixtureQuestion, SeriesGroup};
use crate::domain::correlation::snapshot::CorrelationSnapshot;
use crate::domain::stats::correlation::Coefficient;
use crate::http::error::PageError;
use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a reader asks, in an address; an empty parameter asks for nothing, as a form sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CorrelationQuery {
    /// The first series of a pair.
    pub(crate) x: String,
    /// The second series of a pair.
    pub(crate) y: String,
    /// `pearson`, `spearman` or `kendall`: what is resampled.
    pub(crate) coefficient: String,
    /// `own`, `published` or `all`: the series of the matrix.
    pub(crate) group: String,
    /// The first series of a mixture.
    pub(crate) a: String,
    /// The second series of a mixture.
    pub(crate) b: String,
    /// The third series of a mixture.
    pub(crate) c: String,
    /// The fourth series of a mixture.
    pub(crate) d: String,
    /// The series that the mixture is to follow.
    pub(crate) target: String,
    /// Step of the weights: `0` (exact), `0.1`, `0.05`, `0.01`, `0.005` or `0.001`.
    pub(crate) step: String,
}

impl CorrelationQuery {
    pub(crate) fn from_request(request: &HttpRequest) -> Result<Self, PageError> {
        let wanted = web::Query::<Self>::from_query(request.query_string());
        wanted.map(web::Query::into_inner).map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))
    }

    /// The two series; `None` where none are asked for.
    pub(crate) fn pair(&self) -> Result<Option<[&str; 2]>, PageError> {
        match [self.x.as_str(), &self.y] {
            ["", ""] => Ok(None),
            ["", _] | [_, ""] => Err(PageError::InvalidQuery("x and y belong together: name both series".into())),
            [x, y] if x == y => Err(PageError::InvalidQuery(format!("x and y are both {x:?}: name two series"))),
            pair => Ok(Some(pair)),
        }
    }

    pub(super) fn coefficient(&self) -> Result<Coefficient, PageError> {
        let name = if self.coefficient.is_empty() { "pearson" } else { &self.coefficient };
        let found = Coefficient::ALL.into_iter().find(|coefficient| coefficient.as_str() == name);
        found.ok_or_else(|| PageError::InvalidQuery(format!("coefficient is {name:?}: pearson, spearman or kendall")))
    }

    /// The group; where none is asked for, the arena's own series if it has two.
    pub(crate) fn group(&self, snapshot: &CorrelationSnapshot) -> Result<SeriesGroup, PageError> {
        match self.group.as_str() {
            "" if snapshot.catalog.group_len(SeriesGroup::Own) > 1 => Ok(SeriesGroup::Own),
            "" | "published" => Ok(SeriesGroup::Published),
            "own" => Ok(SeriesGroup::Own),
            "all" => Ok(SeriesGroup::All),
            other => Err(PageError::InvalidQuery(format!("group is {other:?}: own, published or all"))),
        }
    }

    /// The mixture; `None` where none is asked for.
    pub(crate) fn mixture(&self) -> Result<Option<MixtureQuestion>, PageError> {
        let given = [&self.a, &self.b, &self.c, &self.d].into_iter().filter(|name| !name.is_empty());
        let series: Vec<String> = given.cloned().collect();
        match (series.is_empty(), self.target.as_str()) {
            (true, "") => Ok(None),
            (false, "") => {
                Err(PageError::InvalidQuery("target is missing: name the series that the mixture is to follow".into()))
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

    pub(crate) fn steps(&self) -> Result<Option<u32>, PageError> {
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
        found.ok_or_else(|| {
            PageError::InvalidQuery(format!("step is {:?}: 0, 0.1, 0.05, 0.01, 0.005 or 0.001", self.step))
        })
    }
}
