//! What an entry of the settings file may be changed to.

use super::{EditError, KeyValue, with_value, without_model};
use crate::domain::rating::value::prices::{PriceDate, PriceSource};

/// Why a change is refused before the text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChange {
    /// The weight is none.
    #[error("a weight must be above 0, for example 1")]
    Weight,
    /// No value was given.
    #[error("there is nothing to change: give a weight, a limit, prices or a reason")]
    Nothing,
}

/// Another state of one entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Takes the entry out.
    Remove,
    /// Sets the pairing weight; 0 pauses.
    Weight(f64),
    /// Sets these values.
    Values(ModelValues),
}

/// Values of an entry; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelValues {
    /// Pairing weight; 0 pauses.
    pub weight: Option<f64>,
    /// Why, for the register of models; an empty text takes the reason out.
    pub reason: Option<String>,
    /// Longest reply in tokens.
    pub max_tokens: Option<u32>,
    /// Requests that benchmarks have under way at the same time.
    pub max_concurrent: Option<u32>,
    /// The prices.
    pub prices: Option<PriceValues>,
}

/// The prices of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum PriceValues {
    /// Takes them out, with their date and source.
    Remove,
    /// Sets them.
    Set {
        /// Price of a million tokens of input.
        input: f64,
        /// Price of a million tokens of output.
        output: f64,
        /// When they were looked up.
        date: PriceDate,
        /// Where; the source that stands there is taken out where it is left out.
        source: Option<PriceSource>,
    },
}

impl Change {
    /// Refuses an invalid weight, whose message the settings' own would hide.
    ///
    /// # Errors
    /// [`InvalidChange`]
    pub fn check(&self) -> Result<(), InvalidChange> {
        let weight = match self {
            Self::Weight(weight) => Some(*weight),
            Self::Values(values) => values.weight,
            Self::Remove => None,
        };
        if weight.is_some_and(|weight| !(weight.is_finite() && weight >= 0.0)) {
            return Err(InvalidChange::Weight);
        }
        if matches!(self, Self::Values(values) if *values == ModelValues::default()) {
            return Err(InvalidChange::Nothing);
        }
        Ok(())
    }

    /// The text with the change.
    ///
    /// # Errors
    /// [`EditError`]
    pub fn apply(&self, text: &str, id: &str) -> Result<String, EditError> {
        match self {
            Self::Remove => without_model(text, id),
            Self::Weight(weight) => with_value(text, id, "weight", Some(&KeyValue::Number(*weight))),
            Self::Values(values) => values.apply(text, id),
        }
    }
}

impl ModelValues {
    fn apply(&self, text: &str, id: &str) -> Result<String, EditError> {
        let mut edited = text.to_owned();
        for (key, value) in self.keys() {
            edited = with_value(&edited, id, key, value.as_ref())?;
        }
        Ok(edited)
    }

    /// The keys that are set, or taken out where they have no value.
    fn keys(&self) -> Vec<(&'static str, Option<KeyValue>)> {
        let text = |text: &String| Some(KeyValue::Text(text.clone())).filter(|_| !text.is_empty());
        let mut keys = Vec::new();
        keys.extend(self.weight.map(|weight| ("weight", Some(KeyValue::Number(weight)))));
        keys.extend(self.reason.as_ref().map(|reason| ("reason", text(reason))));
        keys.extend(self.max_tokens.map(|tokens| ("max_tokens", Some(KeyValue::Whole(tokens)))));
        keys.extend(self.max_concurrent.map(|requests| ("max_concurrent", Some(KeyValue::Whole(requests)))));
        match &self.prices {
            None => {}
            Some(PriceValues::Remove) => {
                keys.extend(["input_price", "output_price", "price_date", "price_source"].map(|key| (key, None)));
            }
            Some(PriceValues::Set { input, output, date, source }) => keys.extend([
                ("input_price", Some(KeyValue::Number(*input))),
                ("output_price", Some(KeyValue::Number(*output))),
                ("price_date", Some(KeyValue::Text(date.to_string()))),
                ("price_source", source.clone().map(|source| KeyValue::Text(String::from(source)))),
            ]),
        }
        keys
    }
}
