//! File format of studies, and its parsed form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StudyError;
use crate::correlation::report::{StudyOptions, search};
use crate::correlation::{Aliases, SeriesName, VotePart};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::convex_mixture::Search;
use crate::stats::resample::BootstrapOptions;

/// A study as serialized in its file. When written, it has every key, including those with default values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Title; the name of the file if empty.
    #[serde(default)]
    pub title: String,
    /// Series; all pairs of them are compared unless there are `pairs`.
    #[serde(default)]
    pub series: Vec<String>,
    /// Models to compare; empty for all.
    #[serde(default)]
    pub models: Vec<String>,
    /// Slices of the votes in which every series of all votes is also compared.
    #[serde(default)]
    pub slices: Vec<String>,
    /// Judge of benchmark scores that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// CSV file with one row per model, relative to the study's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Column of model names in the table.
    #[serde(default = "key")]
    pub key: String,
    /// Confidence level of all intervals.
    #[serde(default = "confidence")]
    pub confidence: f64,
    /// Number of bootstrap replicates of battles and judged items.
    #[serde(default = "bootstrap")]
    pub bootstrap: u32,
    /// Seed of the random numbers.
    #[serde(default)]
    pub seed: u64,
    /// Pairs of series to compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairLine>,
    /// Mixtures to fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combinations: Vec<CombinationLine>,
    /// Aliases of models.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, Vec<String>>,
}

/// Two series to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairLine {
    /// Name of the first series.
    pub x: String,
    /// Name of the second series.
    pub y: String,
}

/// Mixture to fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinationLine {
    /// Mixed series.
    pub of: Vec<String>,
    /// Target series.
    pub target: String,
    /// Step of the weights; 0 for the exact optimum.
    #[serde(default = "step")]
    pub step: f64,
}

fn key() -> String {
    "model".to_owned()
}

fn confidence() -> f64 {
    0.95
}

fn bootstrap() -> u32 {
    1000
}

fn step() -> f64 {
    0.001
}

/// Parsed study.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// File content with all defaults.
    pub file: StudyFile,
    /// Series; all pairs of them are compared unless there are `pairs`.
    pub series: Vec<SeriesName>,
    /// Pairs to compare; empty if all pairs are compared.
    pub pairs: Vec<[SeriesName; 2]>,
    /// Mixtures to fit.
    pub combinations: Vec<MixturePlan>,
    /// Slices of the votes.
    pub slices: Vec<VotePart>,
    /// Options of the correlations.
    pub options: StudyOptions,
    /// Aliases of models.
    pub aliases: Aliases,
}

/// Mixture to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct MixturePlan {
    /// Mixed series.
    pub of: Vec<SeriesName>,
    /// Target series.
    pub target: SeriesName,
    /// The step of the weights; 0 for the exact optimum.
    pub step: f64,
    /// Search of the weights.
    pub search: Search,
}

impl Study {
    /// Parses the text of a study; `name` is the default title, and `known` are aliases from elsewhere.
    ///
    /// # Errors
    /// [`StudyError`] names the invalid entry.
    pub fn parse(text: &str, name: &str, known: Aliases) -> Result<Self, StudyError> {
        let mut file: StudyFile =
            toml::from_str(text).map_err(|error| StudyError::Text(error.to_string().trim_end().to_owned()))?;
        if file.title.is_empty() {
            name.clone_into(&mut file.title);
        }
        let aliases = known.and(Aliases::new(&file.aliases)?);
        file.aliases = aliases.table();
        file.models = file.models.iter().map(|name| aliases.model(name).to_owned()).collect();
        let study = Self {
            series: file.series.iter().map(|name| file.name(name)).collect::<Result<_, _>>()?,
            pairs: file.pairs.iter().map(|pair| file.pair(pair)).collect::<Result<_, _>>()?,
            combinations: file.combinations.iter().map(|line| file.combination(line)).collect::<Result<_, _>>()?,
            slices: file.slices.iter().map(|slice| slice_of(slice)).collect::<Result<_, _>>()?,
            options: StudyOptions {
                level: ConfidenceLevel::new(file.confidence)?,
                bootstrap: BootstrapOptions { replicates: file.bootstrap, seed: file.seed },
            },
            aliases,
            file,
        };
        study.checked()
    }

    fn checked(self) -> Result<Self, StudyError> {
        if let Some(name) = find_duplicate_name(&self.series) {
            return Err(StudyError::Twice(name));
        }
        if let Some(name) = self.combinations.iter().find_map(|combination| find_duplicate_name(&combination.of)) {
            return Err(StudyError::Twice(name));
        }
        if let Some([x, _]) = self.pairs.iter().find(|[x, y]| x == y) {
            return Err(StudyError::Itself(x.to_string()));
        }
        if self.pairs.is_empty() && self.series.len() < 2 && self.combinations.is_empty() {
            return Err(StudyError::Nothing);
        }
        Ok(self)
    }

    /// Lists all series to read, without repetition, those of parts of the votes last.
    #[must_use]
    pub fn names(&self) -> Vec<SeriesName> {
        let mixed = self.combinations.iter().flat_map(|combination| combination.of.iter().chain([&combination.target]));
        let whole: Vec<&SeriesName> = self.series.iter().chain(self.pairs.iter().flatten()).chain(mixed).collect();
        let sliced = self.slices.iter().flat_map(|slice| whole.iter().filter_map(|name| name.of_part(slice)));
        let mut names: Vec<SeriesName> = Vec::new();
        for name in whole.iter().map(|name| (*name).clone()).chain(sliced) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl StudyFile {
    /// Parses a series name, with the study's judge where it names none.
    fn name(&self, text: &str) -> Result<SeriesName, StudyError> {
        let name: SeriesName = text.parse()?;
        Ok(match &self.judge {
            Some(judge) => name.judged_by(judge),
            None => name,
        })
    }

    fn pair(&self, PairLine { x, y }: &PairLine) -> Result<[SeriesName; 2], StudyError> {
        Ok([self.name(x)?, self.name(y)?])
    }

    fn combination(&self, line: &CombinationLine) -> Result<MixturePlan, StudyError> {
        Ok(MixturePlan {
            of: line.of.iter().map(|name| self.name(name)).collect::<Result<_, _>>()?,
            target: self.name(&line.target)?,
            step: line.step,
            search: search(line.step).ok_or(StudyError::Step(line.step))?,
        })
    }
}

fn slice_of(text: &str) -> Result<VotePart, StudyError> {
    let part = VotePart::parse(text).filter(|part| *part != VotePart::default());
    part.ok_or_else(|| StudyError::Slice(text.to_owned()))
}

fn find_duplicate_name(names: &[SeriesName]) -> Option<String> {
    let repeated = |(at, name): &(usize, &SeriesName)| names[..*at].contains(*name);
    names.iter().enumerate().find(repeated).map(|(_, name)| name.to_string())
}
