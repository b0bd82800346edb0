//! Changes of one `[[models]]` entry of the settings file.

use super::{EditError, KeyValue, with_value, without_model};
use crate::domain::rating::value::prices::{PriceDate, PriceSource};

/// Reason why a change is refused before the file is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChange {
    /// The weight is invalid.
    #[error("a weight must be 0 or more, for example 1; 0 pauses the model")]
    Weight,
    /// A price is not a number.
    #[error("a price must be a number of 0 or more, for a million tokens")]
    Price,
    /// No value was given.
    #[error("there is nothing to change: give a weight, a limit, prices or a reason")]
    Nothing,
}

/// Change of one entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Removes the entry.
    Remove,
    /// Sets the pairing weight; 0 pauses.
    Weight(f64),
    /// Sets these values.
    Values(ModelValues),
}

/// New values of an entry; `None` leaves the value unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelValues {
    /// Name shown after the vote; an empty text removes it, and the id is shown.
    pub name: Option<String>,
    /// Organization that makes the model; an empty text removes it.
    pub organization: Option<String>,
    /// Pairing weight; 0 pauses.
    pub weight: Option<f64>,
    /// Reason of the change for the model register; an empty text removes it.
    pub reason: Option<String>,
    /// Maximum length of a reply in tokens.
    pub max_tokens: Option<u32>,
    /// Maximum number of concurrent benchmark requests.
    pub max_concurrent: Option<u32>,
    /// Prices of the model.
    pub prices: Option<PriceValues>,
}

/// Change of an entry's prices.
#[derive(Debug, Clone, PartialEq)]
pub enum PriceValues {
    /// Removes them with their date and source.
    Remove,
    /// Sets them.
    Set {
        /// Price of a million input tokens.
        input: f64,
        /// Price of a million output tokens.
        output: f64,
        /// Date of the prices.
        date: PriceDate,
        /// Source of the prices; `None` removes the current source.
        source: Option<PriceSource>,
    },
}

impl Change {
    /// Refuses an invalid weight, whose message that of the settings would hide, and prices that are NaN, which would not equal themselves
    /// when read back.
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
        if let Self::Values(ModelValues { prices: Some(PriceValues::Set { input, output, .. }), .. }) = self
            && (input.is_nan() || output.is_nan())
        {
            return Err(InvalidChange::Price);
        }
        if matches!(self, Self::Values(values) if *values == ModelValues::default()) {
            return Err(InvalidChange::Nothing);
        }
        Ok(())
    }

    /// Returns the text with the change applied to the entry `id`.
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

    /// Returns the keys to set, or to remove if they have no value.
    fn keys(&self) -> Vec<(&'static str, Option<KeyValue>)> {
        let text = |text: &String| Some(KeyValue::Text(text.clone())).filter(|_| !text.is_empty());
        let mut keys = Vec::new();
        keys.extend(self.name.as_ref().map(|name| ("name", text(name))));
        keys.extend(self.organization.as_ref().map(|maker| ("organization", text(maker))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_prices_that_are_no_numbers_are_refused_before_the_text_is_read() {
        for weight in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Change::Weight(weight).check(), Err(InvalidChange::Weight), "{weight}");
        }
        assert_eq!(Change::Weight(0.0).check(), Ok(()));
        let prices = |input, output| {
            let set = PriceValues::Set { input, output, date: "2026-11-21".parse().unwrap(), source: None };
            Change::Values(ModelValues { prices: Some(set), ..ModelValues::default() })
        };
        for change in [prices(f64::NAN, 1.0), prices(1.0, f64::NAN)] {
            assert_eq!(change.check(), Err(InvalidChange::Price));
        }
        assert_eq!(prices(0.0, 1.0).check(), Ok(()));
    }
}
