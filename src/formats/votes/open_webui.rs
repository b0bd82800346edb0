//! Open WebUI's export of feedback: a thumb rating of one model's answer, and the models of the sibling answers.
//!
//! Each sibling gives one vote, which the rated model won or lost. Ratings without an opponent are no votes on a pair.

use std::borrow::Cow;

use serde_json::Value;

use super::batch::{Details, VoteBatch};
use super::cell_value::{Cell, FileRow, as_seconds};
use super::column_names::{Field, Header};
use super::error::{RowError, shortened};
use crate::domain::battle::Outcome;
use crate::votes::json_fields::JsonFields;

/// Exclusion rules of feedback without a comparison.
const NO_OPPONENT: &str = "no_opponent";
const NO_RATING: &str = "no_rating";

/// One piece of feedback.
pub(super) struct Feedback<'r> {
    data: &'r Value,
    details: Details<'r>,
}

impl<'r> Feedback<'r> {
    /// Parses the feedback of an object, if it is one.
    pub(super) fn new(object: &'r JsonFields, header: &'r Header) -> Option<Self> {
        let cell = |field| header.one(field).map_or(Cell::Empty, |column| object.cell(column.at));
        let Cell::Json(data) = cell(Field::Feedback) else { return None };
        data.get("model_id")?;
        let text = |field: Field| header.all(field).iter().find_map(|column| object.cell(column.at).text());
        let seconds =
            header.all(Field::Time).iter().find_map(|column| as_seconds(object.cell(column.at).number("").ok()??));
        let tags = cell(Field::FeedbackMeta)
            .nested()
            .and_then(|meta| Cell::Json(meta.get("tags")?).label().map(Cow::into_owned));
        let details =
            Details { seconds, voter: text(Field::Voter), category: tags.map(Cow::Owned), ..Details::default() };
        Some(Self { data, details })
    }

    /// Adds its votes, all or none.
    pub(super) fn add(&self, batch: &mut VoteBatch) -> Result<(), RowError> {
        let model = self.data.get("model_id").and_then(Value::as_str).filter(|name| !name.is_empty());
        let model = model.ok_or_else(|| RowError::NoModel("data.model_id".into()))?;
        let Some(outcome) = self.outcome()? else {
            batch.exclude(NO_RATING);
            return Ok(());
        };
        let siblings = self.data.get("sibling_model_ids").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // A regenerated answer has the same model as a sibling.
        let opponents = siblings.iter().filter_map(Value::as_str).filter(|name| !name.is_empty() && *name != model);
        let mut any = false;
        for opponent in opponents {
            any = true;
            batch.push(model, opponent, outcome, &self.details)?;
        }
        if !any {
            batch.exclude(NO_OPPONENT);
        }
        Ok(())
    }

    fn outcome(&self) -> Result<Option<Outcome>, RowError> {
        let rating = self.data.get("rating").map_or(Cell::Empty, Cell::Json);
        match rating.text().as_deref() {
            None => Ok(None),
            Some("1" | "+1") => Ok(Some(Outcome::AWins)),
            Some("-1") => Ok(Some(Outcome::BWins)),
            Some(other) => Err(RowError::Winner(shortened(other))),
        }
    }
}
