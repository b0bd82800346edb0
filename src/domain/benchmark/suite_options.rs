//! Asking for a suite by name, with an ablation, a prompt of one's own, `compat` switches, and a model whose answers are the
//! references.

use std::collections::BTreeSet;

use crate::judging::judge_prompt::JudgePromptError;

/// The suites that are built in.
pub const NAMES: [&str; 5] = ["superclue-open", "superclue-close", "urs", "alignbench", "mtbench101"];

/// What stands before the model's name in a variant. It comes last, and no other part of a variant holds it.
const REFERENCES: &str = "references=";

/// What is asked of a suite beside its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteOptions {
    /// Another way of asking or judging, as the papers compare them.
    pub ablation: Option<String>,
    /// The text of a prompt file, instead of the built-in prompt.
    pub prompt: Option<String>,
    /// Switches that reproduce what the official programs do, such as `mtbench101.first_bracket`.
    pub compat: BTreeSet<String>,
    /// The model whose answers are the references instead of the data file's: see [`ReferenceSuite`](super::cross_validation::ReferenceSuite).
    pub references: Option<String>,
}

/// Why a suite cannot be had as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// No such suite.
    #[error("suite {name:?} is unknown: name one of {known}, or import a suite of your own with its suite file")]
    UnknownSuite {
        /// The requested name.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such ablation.
    #[error("suite {suite} has no ablation {name:?}: it has {known}")]
    UnknownAblation {
        /// Of which suite.
        suite: String,
        /// The requested name.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such switch.
    #[error("suite {suite} has no compat switch {name:?}: it has {known}")]
    UnknownCompat {
        /// Of which suite.
        suite: String,
        /// The requested name.
        name: String,
        /// What there is.
        known: String,
    },
    /// A suite file that cannot be used.
    #[error("the suite file cannot be used: {0}")]
    File(String),
    /// A prompt that cannot be used.
    #[error(transparent)]
    Prompt(#[from] JudgePromptError),
    /// A prompt that asks for three levels where five are read.
    #[error(
        "the prompt for {0:?} does not ask for [[A>>B]], and five_levels reads only such verdicts: have it name all five, or leave \
         five_levels out"
    )]
    AsksForThree(String),
    /// A prompt that asks for five levels where three are read.
    #[error("the prompt for {0:?} asks for [[A>>B]], which only five_levels reads: add --ablation five_levels")]
    AsksForFive(String),
}

impl SuiteOptions {
    /// Checks that the suite has the ablation and the switches.
    pub(super) fn check(&self, suite: &str, ablations: &[&str], switches: &[&str]) -> Result<(), SuiteError> {
        let (suite, list) = (suite.to_owned(), |known: &[&str]| match known {
            [] => "none".to_owned(),
            known => known.join(", "),
        });
        if let Some(name) = self.ablation.clone().filter(|name| !ablations.contains(&name.as_str())) {
            return Err(SuiteError::UnknownAblation { suite, name, known: list(ablations) });
        }
        match self.compat.iter().find(|name| !switches.contains(&name.as_str())).cloned() {
            None => Ok(()),
            Some(name) => Err(SuiteError::UnknownCompat { suite, name, known: list(switches) }),
        }
    }

    /// Whether a switch is set.
    pub(super) fn has(&self, switch: &str) -> bool {
        self.compat.contains(switch)
    }

    /// The options in one line: see [`super::Suite::variant`].
    pub(super) fn variant(&self) -> String {
        let prompt =
            self.prompt.as_ref().map(|text| format!("prompt {}", &crate::sha256::sha256(text.as_bytes())[..12]));
        let references = self.references.as_ref().map(|model| format!("{REFERENCES}{model}"));
        let parts = self.ablation.iter().cloned().chain(prompt).chain(self.compat.iter().cloned()).chain(references);
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// A variant without its references, and the model whose answers they are; none where they are the data file's.
#[must_use]
pub fn split_references(variant: &str) -> (&str, Option<&str>) {
    match variant.split_once(REFERENCES) {
        Some((rest, model)) => (rest.trim_end_matches(", "), Some(model)),
        None => (variant, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stand_last_in_a_variant_and_are_found_again() {
        let plain = SuiteOptions { references: Some("a, b.c=d".to_owned()), ..SuiteOptions::default() };
        assert_eq!(split_references(&plain.variant()), ("", Some("a, b.c=d")));
        let compat = BTreeSet::from(["alignbench.official_parser".to_owned()]);
        let full = SuiteOptions { ablation: Some("rules".to_owned()), compat, ..plain };
        assert_eq!(split_references(&full.variant()), ("rules, alignbench.official_parser", Some("a, b.c=d")));
        assert_eq!(split_references("rules"), ("rules", None));
    }
}
