//! Detection of models and judges whose settings changed between runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::run_manifest::{ParticipantSettings, RunManifest};

/// Model or judge that was asked with several settings under one id, so that its scores mix different configurations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MixedSettings {
    /// Id of the model or judge.
    pub participant: String,
    /// Distinct settings, in the order of the runs.
    pub settings: Vec<String>,
}

impl MixedSettings {
    /// Finds mixed settings among runs in this order.
    #[must_use]
    pub fn among<'m>(runs: impl IntoIterator<Item = &'m RunManifest>) -> Vec<Self> {
        let mut known: BTreeMap<&String, Vec<&ParticipantSettings>> = BTreeMap::new();
        for (participant, settings) in runs.into_iter().flat_map(|run| &run.participants) {
            let known = known.entry(participant).or_default();
            if !known.contains(&settings) {
                known.push(settings);
            }
        }
        let mixed = known.into_iter().filter(|(_, settings)| settings.len() > 1);
        let named = |(participant, settings): (&String, Vec<&ParticipantSettings>)| Self {
            participant: participant.clone(),
            settings: settings.into_iter().map(ToString::to_string).collect(),
        };
        mixed.map(named).collect()
    }
}

impl std::fmt::Display for MixedSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.participant, self.settings.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(participants: &[(&str, &str)]) -> RunManifest {
        let settings = |model: &str| ParticipantSettings {
            provider: "openai".into(),
            model: model.into(),
            settings_sha256: format!("{model}-0123456789abcdef"),
        };
        let participants = participants.iter().map(|(id, model)| ((*id).to_owned(), settings(model))).collect();
        RunManifest { participants, ..RunManifest::default() }
    }

    #[test]
    fn only_who_was_asked_with_several_settings_is_named() {
        let runs =
            [run(&[("m", "old"), ("j", "g")]), run(&[("m", "new"), ("j", "g"), ("n", "x")]), run(&[("m", "old")])];
        let mixed: Vec<String> = MixedSettings::among(&runs).iter().map(ToString::to_string).collect();
        assert_eq!(mixed, ["m (openai old (old-01234567); openai new (new-01234567))"]);
        assert_eq!(MixedSettings::among(&runs[..1]), []);
    }
}
