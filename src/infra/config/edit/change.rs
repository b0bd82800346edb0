//! What an entry of the settings file may be changed to.

use super::{EditError, KeyValue, with_value, without_model};
use crate::domain::rating::value::prices::{PriceDate, PriceSource};

/// Why a change is refused before the text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChange {
    /// The weight is none.
    #[error("a weight must be 0 or more, for example 1; 0 pauses the model")]
    Weight,
    /// A price is no number.
    #[error("a price must be a number of 0 or more, for a million tokens")]
    Price,
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
    /// Name shown after the vote; an empty text takes it out, and the id is shown.
    pub name: Option<String>,
    /// Its maker; an empty text takes it out.
    pub organization: Option<String>,
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
    /// Refuses an invalid weight, whose message the settings' own would hide, and prices that are no number, which would not equal what is
    /// read back.
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
