//! Selection of a suite's answers and judgements.

use super::super::SuiteOptions;
use super::super::suite_options::split_references;

/// Round of answers that is compared with a model's first.
pub const SECOND_ROUND: u32 = 2;

/// Selector of a suite's answers and judgements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSelector {
    /// First characters of a data file's SHA-256; empty for the latest file.
    pub data: String,
    /// Variant of the suite; empty for the plain one.
    pub variant: String,
    /// Round of answers, from 1.
    pub sample: u32,
}

impl Default for RunSelector {
    fn default() -> Self {
        Self { data: String::new(), variant: String::new(), sample: 1 }
    }
}

impl RunSelector {
    /// Returns the options that determine a variant's scores: its ablation, switches and references, but not its prompt.
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

    /// Whether a judgement with a model's answers as references belongs to this selector's cross-validation. A generator's own answers are
    /// used from the second round on: the first ones are the references themselves.
    #[must_use]
    pub fn crosses(&self, (sample, variant): (u32, &str), model: &str, generator: &str) -> bool {
        let wanted = if model == generator { self.sample.max(SECOND_ROUND) } else { self.sample };
        sample == wanted && split_references(variant).0 == split_references(&self.variant).0
    }
}
