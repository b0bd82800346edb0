//! Score series: one number per model, intent or method, from any source.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::SeriesName;
use crate::rating::intervals::bootstrap::ResamplingUnit;
use crate::stats::Interval;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::{BootstrapOptions, uncertainty};

/// Kind of subject that a series has one number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Subjects {
    /// Models.
    Models,
    /// Intents of visitors, as in URS.
    Intents,
    /// Methods of judging.
    Methods,
}

impl Subjects {
    /// Returns the name in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Intents => "intents",
            Self::Methods => "methods",
        }
    }
}

/// Value of a series with its uncertainty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// Value.
    pub value: f64,
    /// Interval at the confidence level of the study; `None` if the uncertainty is unknown.
    pub interval: Option<Interval>,
    /// Standard error, if the interval is not a normal one.
    pub error: Option<f64>,
    /// Value in each replicate of the bootstrap; empty if the value is held fixed.
    pub samples: Vec<Option<f64>>,
}

impl Point {
    /// Builds a point with a fixed value.
    #[must_use]
    pub fn fixed(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    /// Builds a point with resampled values. The interval is that of the percentiles of the samples; `None` if the samples do not vary,
    /// since they then do not show the uncertainty.
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
    /// Title for readers.
    pub title: String,
    /// Kind of the subjects.
    pub subjects: Subjects,
    /// Points by subject; models by their ids.
    pub points: BTreeMap<String, Point>,
    /// Caveats for readers.
    pub notes: Vec<String>,
    /// Resampled unit of people's votes; `None` for other series, and for votes whose voters were not read.
    pub resampled: Option<ResamplingUnit>,
}

/// Values of a series that has no name yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesValues {
    /// Title for readers.
    pub title: String,
    /// Kind of the subjects.
    pub subjects: Subjects,
    /// Points by subject.
    pub points: BTreeMap<String, Point>,
    /// Caveats for readers.
    pub notes: Vec<String>,
    /// Resampled unit of people's votes; `None` for other series, and for votes whose voters were not read.
    pub resampled: Option<ResamplingUnit>,
}

impl SeriesValues {
    /// Builds a series of fixed values.
    #[must_use]
    pub fn fixed(title: String, subjects: Subjects, values: BTreeMap<String, f64>) -> Self {
        let points = values.into_iter().map(|(subject, value)| (subject, Point::fixed(value))).collect();
        Self { title, subjects, points, notes: Vec::new(), resampled: None }
    }
}

/// Derives bootstrap options with a seed for one source, so that the samples of different sources are independent.
pub fn bootstrap_for(bootstrap: BootstrapOptions, source: &str) -> BootstrapOptions {
    let digest = Sha256::digest(source.as_bytes());
    let own = digest.iter().take(8).fold(0_u64, |seed, &byte| seed << 8 | u64::from(byte));
    BootstrapOptions { seed: bootstrap.seed ^ own, ..bootstrap }
}
