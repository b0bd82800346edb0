//! Query parameters that filter and sort the models of a leaderboard. Ratings and ranks remain those of all models.

use std::cmp::Ordering;

use actix_web::web;
use serde::Deserialize;

use crate::frame::invalid_query::InvalidQuery;

/// Query parameters of the model selection; an empty one counts as absent, as forms send it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LeaderboardSelection {
    /// Search text, matched with name, id, maker and licence.
    pub q: String,
    /// Maker of the model.
    pub maker: String,
    /// Licence of the model.
    pub license: String,
    /// `yes` for models with an open licence, `no` for the others.
    pub open: String,
    /// Sort column, with `-` before it for descending order; empty for the rating.
    pub sort: String,
}

/// Properties of a model that a selection uses.
#[derive(Debug, Clone, Copy)]
pub struct ModelFacts<'m> {
    /// Model id.
    pub id: &'m str,
    /// Display name.
    pub name: &'m str,
    /// Maker; may be empty.
    pub maker: &'m str,
    /// Licence; may be empty.
    pub license: &'m str,
    /// Number of rated battles.
    pub battles: u64,
    /// Share of battles won or tied.
    pub win_tie_rate: f64,
    /// Elo rating.
    pub elo: f64,
}

/// Sort columns besides the rating.
const SORT_COLUMNS: [&str; 4] = ["name", "battles", "rate", "elo"];

impl LeaderboardSelection {
    /// Parses the query string; unknown parameters are ignored.
    ///
    /// # Errors
    /// [`InvalidQuery`] names the parameter and the allowed values.
    pub fn parse(query_string: &str) -> Result<Self, InvalidQuery> {
        let query = web::Query::<Self>::from_query(query_string);
        let choice = query.map(web::Query::into_inner).map_err(|_| InvalidQuery("each parameter is given once".into()));
        let choice = choice?;
        let column = choice.sort.strip_prefix('-').unwrap_or(&choice.sort);
        if !choice.sort.is_empty() && !SORT_COLUMNS.contains(&column) {
            let refused =
                format!("sort is {:?}: {}, with - before it for the reverse", choice.sort, SORT_COLUMNS.join(", "));
            return Err(InvalidQuery(refused));
        }
        if !["", "yes", "no"].contains(&choice.open.as_str()) {
            return Err(InvalidQuery(format!("open is {:?}: yes, no or nothing", choice.open)));
        }
        Ok(choice)
    }

    /// Whether the selection shows all models by rating.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the non-empty parameters with their values.
    #[must_use]
    pub fn given(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("q", &self.q),
            ("maker", &self.maker),
            ("license", &self.license),
            ("open", &self.open),
            ("sort", &self.sort),
        ];
        all.into_iter().map(|(name, value)| (name, value.as_str())).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Whether the selection includes a model.
    #[must_use]
    pub fn shows(&self, model: ModelFacts<'_>) -> bool {
        let wanted = self.q.trim().to_lowercase();
        let texts = [model.name, model.id, model.maker, model.license];
        texts.iter().any(|text| text.to_lowercase().contains(&wanted))
            && (self.maker.is_empty() || self.maker == model.maker)
            && (self.license.is_empty() || self.license == model.license)
            && match self.open.as_str() {
                "yes" => is_open(model.license),
                "no" => !is_open(model.license),
                _ => true,
            }
    }

    /// Compares two models by the sort column; equal ones keep their order by rating.
    #[must_use]
    pub fn order(&self, one: ModelFacts<'_>, other: ModelFacts<'_>) -> Ordering {
        let (column, reversed) = match self.sort.strip_prefix('-') {
            Some(column) => (column, true),
            None => (self.sort.as_str(), false),
        };
        let order = match column {
            "name" => one.name.to_lowercase().cmp(&other.name.to_lowercase()),
            "battles" => other.battles.cmp(&one.battles),
            "rate" => other.win_tie_rate.total_cmp(&one.win_tie_rate),
            "elo" => other.elo.total_cmp(&one.elo),
            _ => Ordering::Equal,
        };
        if reversed { order.reverse() } else { order }
    }
}

/// Whether a licence lets anyone run the model, judged by its name: an empty, proprietary, closed or commercial one does not.
#[must_use]
pub fn is_open(license: &str) -> bool {
    let license = license.to_lowercase();
    let closed = ["proprietary", "closed", "commercial", "api only", "专有", "闭源", "商业"];
    !license.trim().is_empty()
        && (license.contains("non-commercial") || !closed.iter().any(|word| license.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'m>(name: &'m str, license: &'m str, battles: u64) -> ModelFacts<'m> {
        ModelFacts { id: "id", name, maker: "Maker", license, battles, win_tie_rate: 0.5, elo: 1000.0 }
    }

    fn choice(query: &str) -> LeaderboardSelection {
        LeaderboardSelection::parse(query).unwrap()
    }

    #[test]
    fn models_are_found_by_any_of_their_texts_and_by_licence() {
        for (query, shown) in [
            ("", true),
            ("q=CRANE", true),
            ("q=mit", true),
            ("q=heron", false),
            ("maker=Maker", true),
            ("maker=make", false),
            ("license=MIT&open=yes", true),
            ("open=no", false),
        ] {
            assert_eq!(choice(query).shows(facts("Crane", "MIT", 1)), shown, "{query}");
        }
    }

    #[test]
    fn an_open_licence_is_one_that_is_named_and_not_called_closed() {
        for license in ["MIT", "Apache-2.0", "CC-BY-NC 4.0, non-commercial", "Llama 3 Community"] {
            assert!(is_open(license), "{license}");
        }
        for license in ["", " ", "Proprietary", "Closed source", "Commercial API", "闭源"] {
            assert!(!is_open(license), "{license}");
        }
    }

    #[test]
    fn rows_are_sorted_by_a_column_or_its_reverse_and_stay_in_order_otherwise() {
        let (small, large) = (facts("b", "", 1), facts("A", "", 2));
        assert_eq!(choice("sort=battles").order(small, large), Ordering::Greater);
        assert_eq!(choice("sort=-battles").order(small, large), Ordering::Less);
        assert_eq!(choice("sort=name").order(small, large), Ordering::Greater);
        assert_eq!(choice("sort=elo").order(small, large), Ordering::Equal);
        assert_eq!(choice("").order(small, large), Ordering::Equal);
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_can() {
        for (query, said) in [
            ("sort=price", "sort is \"price\": name, battles, rate, elo, with - before it for the reverse"),
            ("open=maybe", "open is \"maybe\": yes, no or nothing"),
        ] {
            assert_eq!(LeaderboardSelection::parse(query).unwrap_err().to_string(), said);
        }
        assert!(choice("lang=zh&style=control").is_plain());
        assert_eq!(choice("sort=elo&q=a").given(), [("q", "a"), ("sort", "elo")]);
    }
}
