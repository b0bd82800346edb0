//! Prices of models, with their currency, date and source.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judging::budget::Prices;
use crate::text_direction;

/// A code of three capital letters, as in ISO 4217.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(String);

/// Error of an invalid currency code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("currency is {0:?}: write its three capital letters, for example USD")]
pub struct InvalidCurrency(String);

impl FromStr for Currency {
    type Err = InvalidCurrency;

    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_code { Ok(Self(text.to_owned())) } else { Err(InvalidCurrency(text.to_owned())) }
    }
}

impl TryFrom<String> for Currency {
    type Error = InvalidCurrency;

    fn try_from(text: String) -> Result<Self, InvalidCurrency> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.0
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The day on which a price was looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PriceDate(Date);

/// Error of an invalid date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the date of a price is {0:?}: write year, month and day, for example 2026-11-21")]
pub struct InvalidPriceDate(String);

impl FromStr for PriceDate {
    type Err = InvalidPriceDate;

    /// Parses a date. Other spellings of a day are refused, so that the date is displayed as written.
    fn from_str(text: &str) -> Result<Self, InvalidPriceDate> {
        let day = text.parse().ok().filter(|day: &Date| day.to_string() == text);
        day.map(Self).ok_or_else(|| InvalidPriceDate(text.to_owned()))
    }
}

impl TryFrom<String> for PriceDate {
    type Error = InvalidPriceDate;

    fn try_from(text: String) -> Result<Self, InvalidPriceDate> {
        text.parse()
    }
}

impl From<PriceDate> for String {
    fn from(date: PriceDate) -> Self {
        date.0.to_string()
    }
}

impl fmt::Display for PriceDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Source of a price: a short text in one line, such as a web address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PriceSource(String);

/// Maximum length of a source in characters.
pub const MAX_SOURCE_CHARS: usize = 200;

/// Error of an invalid source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the source of a price has {0} characters, or contains an invisible one: write one line of at most {MAX_SOURCE_CHARS} \
     characters, for example https://example.org/pricing, or leave it out"
)]
pub struct InvalidPriceSource(usize);

impl FromStr for PriceSource {
    type Err = InvalidPriceSource;

    fn from_str(text: &str) -> Result<Self, InvalidPriceSource> {
        let length = text.chars().count();
        let is_line = (1..=MAX_SOURCE_CHARS).contains(&length)
            && !text.contains(char::is_control)
            && text_direction::in_name(text) == text;
        if is_line { Ok(Self(text.to_owned())) } else { Err(InvalidPriceSource(length)) }
    }
}

impl TryFrom<String> for PriceSource {
    type Error = InvalidPriceSource;

    fn try_from(text: String) -> Result<Self, InvalidPriceSource> {
        text.parse()
    }
}

impl From<PriceSource> for String {
    fn from(source: PriceSource) -> Self {
        source.0
    }
}

impl fmt::Display for PriceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Price of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPrice {
    /// Prices per million tokens.
    pub prices: Prices,
    /// Day on which the prices were looked up, if given.
    pub date: Option<PriceDate>,
    /// Source of the prices, if given.
    pub source: Option<PriceSource>,
}

/// Prices of several models in one currency.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceList {
    /// The currency, if given.
    pub currency: Option<Currency>,
    /// Prices by model.
    pub models: BTreeMap<String, ModelPrice>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_has_three_capital_letters() {
        assert_eq!("CNY".parse::<Currency>().unwrap().to_string(), "CNY");
        for text in ["", "usd", "US", "EURO", "U$D", "元元元"] {
            let refused = text.parse::<Currency>().unwrap_err().to_string();
            assert!(refused.contains("for example USD") && refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn a_date_is_a_day_in_one_spelling() {
        assert_eq!("2026-02-28".parse::<PriceDate>().unwrap().to_string(), "2026-02-28");
        for text in ["2026-02-29", "20260228", "2026-2-28", "2026-02-28T00:00:00", "today", ""] {
            let refused = text.parse::<PriceDate>().unwrap_err().to_string();
            assert!(refused.contains("2026-11-21"), "{refused}");
        }
    }

    #[test]
    fn a_source_is_one_short_line() {
        assert_eq!("price list, p. 3".parse::<PriceSource>().unwrap().to_string(), "price list, p. 3");
        for text in [String::new(), "x".repeat(201), "two\nlines".to_owned(), "\u{202e}".to_owned()] {
            let refused = text.parse::<PriceSource>().unwrap_err().to_string();
            assert!(refused.contains("one line") && !refused.contains('\n'), "{refused}");
        }
    }
}
