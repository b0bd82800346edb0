//! A study as it stands in its file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StudyError;
use crate::correlation::report::{StudyOptions, search};
use crate::correlation::{Aliases, SeriesName, VotePart};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::convex_mixture::Search;
use crate::stats::resample::BootstrapOptions;

/// A study, word for word. Written again it has every key, those with their default values too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Its title; the name of the file where there is none.
    #[serde(default)]
    pub title: String,
    /// Series, every two of which are compared unless there are `pairs`.
    #[serde(default)]
    pub series: Vec<String>,
    /// Only these models; all where there are none.
    #[serde(default)]
    pub models: Vec<String>,
    /// Parts of the votes that every series of all votes is studied in too.
    #[serde(default)]
    pub slices: Vec<String>,
    /// The judge of benchmark scores that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// A CSV file with one row a model, seen from the study's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Its column of models.
    #[serde(default = "key")]
    pub key: String,
    /// The level of all intervals.
    #[serde(default = "confidence")]
    pub confidence: f64,
    /// How often battles and judged items are resampled.
    #[serde(default = "bootstrap")]
    pub bootstrap: u32,
    /// The seed of the random numbers.
    #[serde(default)]
    pub seed: u64,
    /// What is compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairLine>,
    /// What is mixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combinations: Vec<CombinationLine>,
    /// Other names of models.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, Vec<String>>,
}

/// Two series that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairLine {
    /// A series.
    pub x: String,
    /// Another one.
    pub y: String,
}

/// Series that are mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinationLine {
    /// The series.
    pub of: Vec<String>,
    /// What the mixture is to follow.
    pub target: String,
    /// The step of the weights; 0 for the exact optimum.
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

/// A study, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// As it was written, with all defaults.
    pub file: StudyFile,
    /// Series, every two of which are compared unless there are `pairs`.
    pub series: Vec<SeriesName>,
    /// Empty where every two series are compared.
    pub pairs: Vec<[SeriesName; 2]>,
    /// Mixtures.
    pub combinations: Vec<MixturePlan>,
    /// Parts of the votes.
    pub slices: Vec<VotePart>,
    /// How correlations are computed.
    pub options: StudyOptions,
    /// Other names of models.
    pub aliases: Aliases,
}

/// Series that are mixed.
#[derive(Debug, Clone, PartialEq)]
pub struct MixturePlan {
    /// The series.
    pub of: Vec<SeriesName>,
    /// The series that the mixture is fitted to.
    pub target: SeriesName,
    /// The step of the weights; 0 for the exact optimum.
    pub step: f64,
    /// How the weights are searched.
    pub search: Search,
}

impl Study {
    /// Reads the text of a study; `name` is its title where it has none, and `known` the aliases that are known without it.
    ///
    /// # Errors
    /// [`StudyError`] names what cannot be used.
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
        if let Some(name) = twice(&self.series) {
            return Err(StudyError::Twice(name));
        }
        if let Some(name) = self.combinations.iter().find_map(|combination| twice(&combination.of)) {
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

    /// Every series that is to be read, once, those of parts of the votes last.
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
    /// A series, by the judge of the study where it names none.
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

fn twice(names: &[SeriesName]) -> Option<String> {
    let repeated = |(at, name): &(usize, &SeriesName)| names[..*at].contains(*name);
    names.iter().enumerate().find(repeated).map(|(_, name)| name.to_string())
}
