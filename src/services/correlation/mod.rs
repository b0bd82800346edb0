//! Series of one number a model, wherever they come from, and how they go together.
//!
//! A [`SeriesName`] says what a series is; a [`SeriesReader`] reads it out of a table, the arena's votes, a benchmark's
//! verdicts or what was published, each under the names of its source. [`Aliases`] bring different names of one model
//! together, [`align`](fn@align) puts series side by side, and [`report`] says how two of them, or a mixture and its target, go
//! together, with the uncertainty of both sides: battles and judged items are drawn anew.

mod aliases;
mod align;
pub mod board;
mod error;
pub mod figures;
mod name;
mod printed;
mod reader;
pub mod report;
mod satisfaction;
pub mod study;
mod suite;
mod table;
mod used;
mod votes;

use std::collections::BTreeMap;

pub use aliases::{AliasError, Aliases};
pub use align::{Aligned, align};
pub use error::SeriesError;
pub use name::{SeriesName, VotePart};
pub use printed::printed;
pub use reader::{SeriesReader, Sources, Suites};
pub use table::Table;
pub use used::{SuiteUsed, Used, VotesUsed};

use crate::rating::interval::ConfidenceLevel;
use sha2::{Digest, Sha256};

use crate::rating::bootstrap::BootstrapOptions;
use crate::stats::Interval;
use crate::stats::resample::percentiles;

/// What a series has one number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subjects {
    /// Models.
    Models,
    /// What visitors want: URS's intents.
    Intents,
    /// Ways of judging.
    Methods,
}

impl Subjects {
    /// Its name in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Intents => "intents",
            Self::Methods => "methods",
        }
    }
}

/// One number of a series, and how sure it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The number.
    pub value: f64,
    /// Where it lies at the confidence level of the study; none where nothing is known of it.
    pub interval: Option<Interval>,
    /// What it is when everything behind it is drawn anew, one a replicate; empty where it is held fixed.
    pub draws: Vec<Option<f64>>,
}

impl Point {
    /// A number that is held fixed.
    #[must_use]
    pub fn fixed(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    /// A number with what it is when it is drawn anew. The interval lies between the percentiles of the draws; where these
    /// do not vary they tell nothing of how sure the number is, and there is none.
    #[must_use]
    pub fn drawn(value: f64, draws: Vec<Option<f64>>, level: ConfidenceLevel) -> Self {
        let values: Vec<_> = draws.iter().map(|draw| draw.ok_or(crate::stats::Undefined::Nothing)).collect();
        let interval = percentiles(&values, level).ok().map(|found| found.interval);
        let interval = interval.filter(|interval| interval.lower < interval.upper);
        Self { value, interval, draws }
    }
}

/// One number a model, or whatever the series is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// How it is asked for.
    pub name: SeriesName,
    /// What it is, for people.
    pub title: String,
    /// What it has one number of.
    pub subjects: Subjects,
    /// The numbers by subject; those of models under their ids.
    pub points: BTreeMap<String, Point>,
    /// What a reader must know of it.
    pub notes: Vec<String>,
}

/// What a source gives.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    title: String,
    subjects: Subjects,
    points: BTreeMap<String, Point>,
    notes: Vec<String>,
}

/// Random numbers for a source: what one draws says nothing of what another does.
fn drawn_for(bootstrap: BootstrapOptions, source: &str) -> BootstrapOptions {
    let digest = Sha256::digest(source.as_bytes());
    let own = digest.iter().take(8).fold(0_u64, |seed, &byte| seed << 8 | u64::from(byte));
    BootstrapOptions { seed: bootstrap.seed ^ own, ..bootstrap }
}
