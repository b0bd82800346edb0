//! Which answers and judgements of a suite are looked at.

use super::SuiteOptions;
use super::suite_options::split_references;

/// The round of answers that are compared with a model's first.
pub const SECOND_ROUND: u32 = 2;

/// Which answers and judgements of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSelector {
    /// The first characters of a data file's SHA-256; the latest one where there are none.
    pub data: String,
    /// How it was judged where that is not the suite's own way.
    pub variant: String,
    /// Which round of answers, from 1.
    pub sample: u32,
}

impl Default for RunSelector {
    fn default() -> Self {
        Self { data: String::new(), variant: String::new(), sample: 1 }
    }
}

impl RunSelector {
    /// The options that a variant's scores depend on: its ablation, its switches and its references, not its prompt.
    #[must_use]
    pub fn options(&self) -> SuiteOptions {
        let (variant, references) = split_references(&self.variant);
        let parts = variant.split(", ").filter(|part| !part.is_empty() && !part.starts_with("prompt "));
        let (switches, ablations): (Vec<&str>, Vec<&str>) = parts.partition(|part| part.contains('.'));
        SuiteOptions {
            ablation: ablations.first().map(|name| (*name).to_owned()),
            prompt: None,
            compat: switches.into_iter().map(str::to_owned).collect(),
            references: references.map(str::to_owned),
        }
    }

    /// Whether a judgement beside a model's answers belongs to this way's cross validation. A generator's own answer is the
    /// one of the second round at least: beside itself the first would be worth what the reference is.
    #[must_use]
    pub fn crosses(&self, (sample, variant): (u32, &str), model: &str, generator: &str) -> bool {
        let wanted = if model == generator { self.sample.max(SECOND_ROUND) } else { self.sample };
        sample == wanted && split_references(variant).0 == split_references(&self.variant).0
    }
}
