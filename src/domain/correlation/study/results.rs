//! Results of a study: the numbers of `results.json`. Tables, figures and the report are rendered from them.

use serde::Serialize;

use crate::correlation::report::{FEW_MODELS, MixtureReport, PairReport, ResamplingReport};
use crate::correlation::{Provenance, Subjects};

/// Results of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// Program name and version.
    pub program: String,
    /// Title of the study.
    pub title: String,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Bootstrap of battles and items.
    pub bootstrap: ResamplingReport,
    /// Requested models; empty for all.
    pub models: Vec<String>,
    /// Input data.
    pub data: StudySources,
    /// Series, in the order of the study.
    pub series: Vec<StudiedSeries>,
    /// Pairs; those of a part of the votes follow all others.
    pub pairs: Vec<StudiedPair>,
    /// Mixtures.
    pub combinations: Vec<StudiedCombination>,
    /// Caveats for readers.
    pub warnings: Vec<String>,
}

/// Input data of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StudySources {
    /// SHA-256 of the table; `None` if there is no table.
    pub table_sha256: Option<String>,
    /// Data from the database and from papers.
    #[serde(flatten)]
    pub used: Provenance,
}

/// One property of the input data.
pub struct Fact {
    /// Source of the data.
    pub source: String,
    /// Name of the property.
    pub what: &'static str,
    /// Value of the property.
    pub value: String,
}

impl StudySources {
    /// Lists the properties of all input data, one per line.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut add = |source: &str, what: &'static str, value: String| {
            facts.push(Fact { source: source.to_owned(), what, value });
        };
        if let Some(sha256) = &self.table_sha256 {
            add("table", "SHA-256", sha256.clone());
        }
        if let Some(votes) = &self.used.votes {
            add("votes", "rated", votes.rated.to_string());
            votes.excluded.iter().for_each(|(rule, count)| add("votes", "not rated", format!("{count} as {rule}")));
            add("votes", "number of the last one in the log", votes.last_seq.to_string());
        }
        if let Some(votes) = self.used.satisfied_votes {
            add("votes", "with a satisfaction and an intent", votes.to_string());
        }
        for suite in &self.used.suites {
            let name = format!("suite {}", suite.suite);
            add(&name, "file", suite.file.clone());
            add(&name, "SHA-256", suite.sha256.clone());
            add(&name, "judges", suite.judges.join(", "));
            add(&name, "judgements", format!("{} of {} models", suite.judgements, suite.models));
        }
        self.used.published.iter().for_each(|(series, source)| add(series, "published in", source.clone()));
        facts
    }
}

/// Series of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedSeries {
    /// Name of the series.
    pub series: String,
    /// Title for readers.
    pub title: String,
    /// Kind of the subjects.
    pub subjects: Subjects,
    /// Whether the underlying data can be resampled.
    pub resampled: bool,
    /// Mean of all values.
    pub mean: Option<f64>,
    /// Sample standard deviation of all values.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// Coefficient of variation: standard deviation over mean; none for ratings, which have no zero point, and where the mean is not
    /// positive.
    #[serde(rename = "variation")]
    pub coefficient_of_variation: Option<f64>,
    /// Values in alphabetical order of their subjects.
    pub points: Vec<StudiedPoint>,
}

/// Value of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedPoint {
    /// Model, intent or method.
    pub subject: String,
    /// Value.
    pub value: f64,
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
}

/// Compared pair of series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedPair {
    /// Number of the pair in the study, from 1; the same for all parts of the votes.
    pub pair: usize,
    /// Part of the votes; `None` for all.
    pub slice: Option<String>,
    /// Correlation of the two series.
    #[serde(flatten)]
    pub report: PairReport,
}

/// Fitted mixture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedCombination {
    /// Number of the mixture in the study, from 1.
    pub combination: usize,
    /// Mixed series.
    pub of: Vec<String>,
    /// Target series.
    pub target: String,
    /// Step of the weights; 0 for the exact optimum.
    pub step: f64,
    /// Result of the fit.
    #[serde(flatten)]
    pub outcome: Mixture,
}

/// Best mixture, or why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mixture {
    /// Best mixture.
    Found(Box<MixtureReport>),
    /// Reason why it is undefined.
    Undefined(String),
}

impl StudiedPair {
    /// Returns the name of the pair in captions.
    #[must_use]
    pub fn name(&self) -> String {
        format!("pair {}: {} and {}", self.pair, self.report.x.series, self.report.y.series)
    }

    /// Returns the caveats of the pair.
    pub fn warnings(&self) -> Vec<String> {
        let name = match &self.slice {
            None => format!("pair {}", self.pair),
            Some(slice) => format!("pair {} in {slice}", self.pair),
        };
        let mut warnings = Vec::new();
        if self.report.n < FEW_MODELS {
            let n = self.report.n;
            warnings.push(format!("{name}: n = {n}, and a correlation of fewer than {FEW_MODELS} says little"));
        }
        for (coefficient, found) in self.report.correlations.named() {
            if let Some(why) = &found.undefined {
                warnings.push(format!("{name}: no {coefficient} correlation, since {why}"));
            }
            let resampled = found.resampled.as_ref();
            if let Some(why) = resampled.and_then(|resampled| resampled.undefined.as_ref()) {
                warnings.push(format!("{name}: no interval of {coefficient} resampled, since {why}"));
            }
            if let Some(resampled) = resampled.filter(|resampled| resampled.without > 0) {
                let without = resampled.without;
                warnings
                    .push(format!("{name}: {without} replicates have no {coefficient} correlation and are left out"));
            }
        }
        if !self.report.unmatched.is_empty() {
            warnings.push(format!("{name}: {} are left out, which one of both lacks", joined(&self.report.unmatched)));
        }
        warnings
    }
}

impl StudiedCombination {
    /// Returns the name of the mixture in captions.
    #[must_use]
    pub fn name(&self) -> String {
        format!("mixture {}: {} for {}", self.combination, self.of.join(", "), self.target)
    }

    /// Returns the caveats of the mixture.
    pub fn warnings(&self) -> Vec<String> {
        let name = format!("mixture {}", self.combination);
        let found = match &self.outcome {
            Mixture::Undefined(why) => return vec![format!("{name}: undefined, because {why}")],
            Mixture::Found(found) => found,
        };
        let fitted =
            "its correlation is in-sample, on the numbers that its weights were fitted to, and therefore optimistic";
        let mut warnings = vec![format!("{name}: {fitted}")];
        warnings.extend(found.notes.iter().map(|note| format!("{name}: {note}")));
        warnings
    }
}

/// Maximum number of names in a warning.
const MAX_LISTED_NAMES: usize = 8;

fn joined(names: &[String]) -> String {
    let named = names.iter().take(MAX_LISTED_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        all if all > MAX_LISTED_NAMES => format!("{named} and {} more (data/unmatched.csv)", all - MAX_LISTED_NAMES),
        _ => named,
    }
}
