//! Results of a study: the numbers of `results.json`. Tables, figures and the report only show them.

use serde::Serialize;

use crate::correlation::report::{FEW, MixtureReport, PairReport, ResamplingReport};
use crate::correlation::{Provenance, Subjects};

/// Results of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// The program and its version.
    pub program: String,
    /// The study's title.
    pub title: String,
    /// The level of all intervals.
    pub confidence: f64,
    /// How battles and items were resampled.
    pub bootstrap: ResamplingReport,
    /// The requested models; empty for all.
    pub models: Vec<String>,
    /// What all of it is made from.
    pub data: StudySources,
    /// The series, in the order of the study.
    pub series: Vec<StudiedSeries>,
    /// The pairs; those of a part of the votes follow all others.
    pub pairs: Vec<StudiedPair>,
    /// The mixtures.
    pub combinations: Vec<StudiedCombination>,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// What a study is made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StudySources {
    /// SHA-256 of the table; none where there is no table.
    pub table_sha256: Option<String>,
    /// What of the database and of papers.
    #[serde(flatten)]
    pub used: Provenance,
}

/// One thing that a study is made from.
pub struct Fact {
    /// Where it comes from.
    pub source: String,
    /// Its name.
    pub what: &'static str,
    /// Its value.
    pub value: String,
}

impl StudySources {
    /// All of it, one line each.
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

/// A series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedSeries {
    /// Name of the series.
    pub series: String,
    /// What it is.
    pub title: String,
    /// What it has one number of.
    pub subjects: Subjects,
    /// Whether what is behind it can be resampled.
    pub resampled: bool,
    /// The mean of all of its numbers.
    pub mean: Option<f64>,
    /// Their sample standard deviation.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// The coefficient of variation: deviation over mean; none for ratings, which have no zero point, and where the mean is not positive.
    #[serde(rename = "variation")]
    pub coefficient_of_variation: Option<f64>,
    /// The numbers, by name.
    pub points: Vec<StudiedPoint>,
}

/// A number of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedPoint {
    /// What it is of.
    pub subject: String,
    /// The number.
    pub value: f64,
    /// The lower end of its interval.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
}

/// Two series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedPair {
    /// The number of the pair in the study, from 1. The same pair in parts of the votes has the same number.
    pub pair: usize,
    /// The part of the votes; none for all.
    pub slice: Option<String>,
    /// How the series go together.
    #[serde(flatten)]
    pub report: PairReport,
}

/// A mixture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudiedCombination {
    /// Its number in the study, from 1.
    pub combination: usize,
    /// The series that are mixed.
    pub of: Vec<String>,
    /// What it is to follow.
    pub target: String,
    /// The step of the weights; 0 for the exact optimum.
    pub step: f64,
    /// What was found.
    #[serde(flatten)]
    pub outcome: Mixture,
}

/// The best mixture, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mixture {
    /// There is one.
    Found(Box<MixtureReport>),
    /// There is none, for this reason.
    Undefined(String),
}

impl StudiedPair {
    /// The pair in captions.
    #[must_use]
    pub fn name(&self) -> String {
        format!("pair {}: {} and {}", self.pair, self.report.x.series, self.report.y.series)
    }

    /// What a reader must know of it.
    pub fn warnings(&self) -> Vec<String> {
        let name = match &self.slice {
            None => format!("pair {}", self.pair),
            Some(slice) => format!("pair {} in {slice}", self.pair),
        };
        let mut warnings = Vec::new();
        if self.report.n < FEW {
            let n = self.report.n;
            warnings.push(format!("{name}: n = {n}, and a correlation of fewer than {FEW} says little"));
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
    /// The mixture in captions.
    #[must_use]
    pub fn name(&self) -> String {
        format!("mixture {}: {} for {}", self.combination, self.of.join(", "), self.target)
    }

    /// What a reader must know of it.
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

/// Names that a warning has room for.
const NAMED: usize = 8;

fn joined(names: &[String]) -> String {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        all if all > NAMED => format!("{named} and {} more (data/unmatched.csv)", all - NAMED),
        _ => named,
    }
}
