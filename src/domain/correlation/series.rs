//! Series of one number a model, wherever they come from.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::SeriesName;
use crate::rating::intervals::bootstrap::ResamplingUnit;
use crate::stats::Interval;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::{BootstrapOptions, uncertainty};

/// What a series has one number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
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
    /// Its standard error, where the interval is not a normal one.
    pub error: Option<f64>,
    /// What it is when everything behind it is resampled, one a replicate; empty where it is held fixed.
    pub samples: Vec<Option<f64>>,
}

impl Point {
    /// A number that is held fixed.
    #[must_use]
    pub fn fixed(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    /// A number with what it is when it is resampled. The interval lies between the percentiles of the samples; where these
    /// do not vary they do not show how sure the number is, and there is none.
    #[must_use]
    pub fn from_samples(value: f64, samples: Vec<Option<f64>>, level: ConfidenceLevel) -> Self {
        let values: Vec<_> = samples.iter().map(|draw| draw.ok_or(crate::stats::Undefined::Nothing)).collect();
        Self { value, interval: uncertainty(&values, level).ok(), error: None, samples }
    }
}

/// One number per model, intent or method.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the series.
    pub name: SeriesName,
    /// What it is, for people.
    pub title: String,
    /// What it has one number of.
    pub subjects: Subjects,
    /// The numbers by subject; those of models under their ids.
    pub points: BTreeMap<String, Point>,
    /// What a reader must know of it.
    pub notes: Vec<String>,
    /// What was resampled of people's votes; `None` for other series, and for votes whose voters were not read.
    pub resampled: Option<ResamplingUnit>,
}

/// The values of a series before it has a name.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesValues {
    /// Title for people.
    pub title: String,
    /// What it has one number of.
    pub subjects: Subjects,
    /// The numbers by subject.
    pub points: BTreeMap<String, Point>,
    /// Notes for readers.
    pub notes: Vec<String>,
    /// What was resampled of people's votes; `None` for other series, and for votes whose voters were not read.
    pub resampled: Option<ResamplingUnit>,
}

impl SeriesValues {
    /// Values that are held fixed.
    #[must_use]
    pub fn fixed(title: String, subjects: Subjects, values: BTreeMap<String, f64>) -> Self {
        let points = values.into_iter().map(|(subject, value)| (subject, Point::fixed(value))).collect();
        Self { title, subjects, points, notes: Vec::new(), resampled: None }
    }
}

/// Random numbers for a source: what one samples says nothing of what another does.
pub fn bootstrap_for(bootstrap: BootstrapOptions, source: &str) -> BootstrapOptions {
    let digest = Sha256::digest(source.as_bytes());
    let own = digest.iter().take(8).fold(0_u64, |seed, &byte| seed << 8 | u64::from(byte));
    BootstrapOptions { seed: bootstrap.seed ^ own, ..bootstrap }
}
