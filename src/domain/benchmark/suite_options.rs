//! Options of a suite: ablation, custom prompt, `compat` switches, and a model whose answers are the references.

use std::collections::BTreeSet;

use crate::judging::judge_prompt::JudgePromptError;

/// Names of the built-in suites.
pub const BUILT_IN_SUITES: [&str; 5] = ["superclue-open", "superclue-close", "urs", "alignbench", "mtbench101"];

/// Prefix of the model's name in a variant. It comes last, and no other part of a variant contains it.
const REFERENCES_PREFIX: &str = "references=";

/// Options of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteOptions {
    /// Ablation: a different way of asking or judging, as compared in the papers.
    pub ablation: Option<String>,
    /// Text of a prompt file that replaces the built-in prompt.
    pub prompt: Option<String>,
    /// Switches that reproduce the official programs, such as `mtbench101.first_bracket`.
    pub compat: BTreeSet<String>,
    /// Model whose answers replace the data file's references: see
    /// [`ReferenceSuite`](super::judging_forms::cross_validation::ReferenceSuite).
    pub references: Option<String>,
}

/// Error of a suite's options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// The suite is unknown.
    #[error("suite {name:?} is unknown: name one of {known}, or import a suite of your own with its suite file")]
    UnknownSuite {
        /// Requested name.
        name: String,
        /// Known suites.
        known: String,
    },
    /// The ablation is unknown.
    #[error("suite {suite} has no ablation {name:?}: it has {known}")]
    UnknownAblation {
        /// Name of the suite.
        suite: String,
        /// Requested name.
        name: String,
        /// Known ablations.
        known: String,
    },
    /// The switch is unknown.
    #[error("suite {suite} has no compat switch {name:?}: it has {known}")]
    UnknownCompat {
        /// Name of the suite.
        suite: String,
        /// Requested name.
        name: String,
        /// Known switches.
        known: String,
    },
    /// The suite file is invalid.
    #[error("the suite file cannot be used: {0}")]
    File(String),
    /// The prompt is invalid.
    #[error(transparent)]
    Prompt(#[from] JudgePromptError),
    /// The prompt asks for three levels, but five are expected.
    #[error(
        "the prompt for {0:?} does not ask for [[A>>B]], and five_levels reads only such verdicts: have it name all five, or leave \
         five_levels out"
    )]
    AsksForThree(String),
    /// The prompt asks for five levels, but three are expected.
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

    /// Formats the options in one line: see [`super::Suite::variant`].
    pub(super) fn variant(&self) -> String {
        let prompt =
            self.prompt.as_ref().map(|text| format!("prompt {}", &crate::sha256::sha256(text.as_bytes())[..12]));
        let references = self.references.as_ref().map(|model| format!("{REFERENCES_PREFIX}{model}"));
        let parts = self.ablation.iter().cloned().chain(prompt).chain(self.compat.iter().cloned()).chain(references);
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Splits a variant into the part without references and the model whose answers they are; `None` if they are the data file's.
#[must_use]
pub fn split_references(variant: &str) -> (&str, Option<&str>) {
    match variant.split_once(REFERENCES_PREFIX) {
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
