//! Recorded changes of models and of the pairing policy: append-only snapshots, and the kinds of difference between two of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::battle::ModelId;
use crate::battle::pairing::{POLICY_VERSION, PairingRules};
use crate::time::Timestamp;

/// State of a model: whether it is drawn for battles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// The weight is above 0.
    Active,
    /// The weight is 0.
    Paused,
    /// The model is no longer in the settings.
    Retired,
}

impl ModelState {
    /// Returns the name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Retired => "retired",
        }
    }

    /// Parses the name of a state.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Active, Self::Paused, Self::Retired].into_iter().find(|state| state.as_str() == name)
    }

    /// Returns the state of a configured model with this weight.
    #[must_use]
    pub fn of_weight(weight: f64) -> Self {
        if weight > 0.0 { Self::Active } else { Self::Paused }
    }
}

/// Author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAuthor {
    /// The settings in force changed.
    Settings,
    /// The command `langya models reason`.
    Command,
}

impl ChangeAuthor {
    /// Returns the name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Command => "command",
        }
    }

    /// Parses the name of an author.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Settings, Self::Command].into_iter().find(|author| author.as_str() == name)
    }
}

/// Snapshot of a model's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSnapshot {
    /// State of the model.
    pub state: ModelState,
    /// Pairing weight; 0 while the model is retired.
    pub weight: f64,
    /// Name shown after the vote.
    pub name: String,
    /// Organization that made the model.
    pub organization: String,
    /// Licence of the model.
    pub license: String,
    /// Whether it is one of the built-in practice models.
    pub practice: bool,
    /// Keyed digest of provider, host and the provider's model name: equal for two entries of one model, and meaningless without the key.
    /// `None` where it is unknown.
    pub provider_model: Option<String>,
}

/// Model in the current settings, with the stated reason.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredModel {
    /// Id of the model.
    pub model: ModelId,
    /// Snapshot of the settings.
    pub snapshot: ModelSnapshot,
    /// Reason for the model's settings; empty if the operator gives none.
    pub reason: String,
}

/// Recorded change of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChange {
    /// Id of the model.
    pub model: ModelId,
    /// Sequence number among the model's changes, from 1.
    pub number: u32,
    /// Time of the change.
    pub changed_at: Timestamp,
    /// Snapshot after the change.
    pub snapshot: ModelSnapshot,
    /// Operator's reason; empty for none.
    pub reason: String,
    /// Author of the change.
    pub author: ChangeAuthor,
}

/// Computes the changes to record so that the register matches the settings. `recorded` holds the changes of each model in order. The
/// result has the same numbers when computed twice from the same input, so that of two writers only one takes effect.
#[must_use]
pub fn due_changes(recorded: &[ModelChange], configured: &[ConfiguredModel], now: Timestamp) -> Vec<ModelChange> {
    let mut histories: BTreeMap<&ModelId, Vec<&ModelChange>> = BTreeMap::new();
    for change in recorded {
        histories.entry(&change.model).or_default().push(change);
    }
    let mut due: Vec<ModelChange> = configured
        .iter()
        .filter_map(|model| due_change(histories.get(&model.model).map_or(&[][..], Vec::as_slice), model, now))
        .collect();
    let is_configured = |id: &ModelId| configured.iter().any(|model| model.model == *id);
    let gone = histories.iter().filter(|(id, _)| !is_configured(id));
    due.extend(gone.filter_map(|(_, history)| retirement(history.last()?, now)));
    due
}

fn due_change(history: &[&ModelChange], model: &ConfiguredModel, now: Timestamp) -> Option<ModelChange> {
    let of_settings = history.iter().rev().filter(|change| change.author == ChangeAuthor::Settings);
    let stated = of_settings.map(|change| change.reason.as_str()).find(|reason| !reason.is_empty());
    // A reason applies to the change that it was written for, and not to later ones.
    let reason = if stated == Some(model.reason.as_str()) { "" } else { model.reason.as_str() };
    let last = history.last();
    let is_recorded = last.is_some_and(|last| last.snapshot == model.snapshot);
    (!is_recorded || !reason.is_empty()).then(|| ModelChange {
        model: model.model.clone(),
        number: last.map_or(1, |last| last.number + 1),
        changed_at: now,
        snapshot: model.snapshot.clone(),
        reason: reason.to_owned(),
        author: ChangeAuthor::Settings,
    })
}

fn retirement(last: &ModelChange, now: Timestamp) -> Option<ModelChange> {
    (last.snapshot.state != ModelState::Retired).then(|| ModelChange {
        number: last.number + 1,
        changed_at: now,
        snapshot: ModelSnapshot { state: ModelState::Retired, weight: 0.0, ..last.snapshot.clone() },
        reason: String::new(),
        author: ChangeAuthor::Settings,
        ..last.clone()
    })
}

/// Builds a change that only states a reason, after a model's latest change.
#[must_use]
pub fn stated_reason(last: &ModelChange, reason: &str, now: Timestamp) -> ModelChange {
    ModelChange {
        number: last.number + 1,
        changed_at: now,
        reason: reason.to_owned(),
        author: ChangeAuthor::Command,
        ..last.clone()
    }
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The model was configured for the first time.
    Added,
    /// The model is configured again after it was retired.
    Returned,
    /// The model was removed from the settings.
    Retired,
    /// The weight became 0.
    Paused,
    /// The weight is above 0 again.
    Resumed,
    /// The weight changed between two values above 0.
    Reweighted,
    /// Another model of a provider answers under the id.
    ProviderModel,
    /// The name, maker or licence changed.
    Labels,
    /// Only a reason was given.
    Reason,
}

/// Returns the kinds of change between two snapshots; without `before`, of a model's first change.
#[must_use]
pub fn kinds(before: Option<&ModelSnapshot>, after: &ModelSnapshot) -> Vec<ChangeKind> {
    let Some(before) = before else {
        let paused = (after.state == ModelState::Paused).then_some(ChangeKind::Paused);
        return [ChangeKind::Added].into_iter().chain(paused).collect();
    };
    let moved = match (before.state, after.state) {
        (ModelState::Retired, ModelState::Retired) => None,
        (ModelState::Retired, _) => Some(ChangeKind::Returned),
        (_, ModelState::Retired) => Some(ChangeKind::Retired),
        (ModelState::Active, ModelState::Paused) => Some(ChangeKind::Paused),
        (ModelState::Paused, ModelState::Active) => Some(ChangeKind::Resumed),
        _ if before.weight.total_cmp(&after.weight).is_ne() => Some(ChangeKind::Reweighted),
        _ => None,
    };
    let other_model = before.provider_model.is_some()
        && after.provider_model.is_some()
        && before.provider_model != after.provider_model;
    let labels = |model: &ModelSnapshot| (model.name.clone(), model.organization.clone(), model.license.clone());
    let other_labels = labels(before) != labels(after);
    let mut kinds: Vec<ChangeKind> = moved.into_iter().collect();
    kinds.extend(other_model.then_some(ChangeKind::ProviderModel));
    kinds.extend(other_labels.then_some(ChangeKind::Labels));
    if kinds.is_empty() {
        kinds.push(ChangeKind::Reason);
    }
    kinds
}

/// Recorded change of the pairing policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PairingChange {
    /// Sequence number, from 1.
    pub number: u32,
    /// Time of the change.
    pub changed_at: Timestamp,
    /// Name of the policy from then on.
    pub policy: String,
    /// Version of the policy, as stored with each battle.
    pub policy_version: u32,
    /// Share of battles in which every pair is equally likely.
    pub uniform_share: f64,
    /// Rating difference at which a pair is e times rarer.
    pub elo_width: f64,
    /// A model is new until it has this many votes.
    pub new_model_votes: u64,
    /// Factor on a new model's weight.
    pub new_model_boost: f64,
}

/// Computes the change to record so that the history ends with these rules; `last` is its latest entry.
#[must_use]
pub fn due_pairing(last: Option<&PairingChange>, rules: &PairingRules, now: Timestamp) -> Option<PairingChange> {
    let change = PairingChange {
        number: last.map_or(1, |last| last.number + 1),
        changed_at: now,
        policy: rules.policy.as_str().to_owned(),
        policy_version: POLICY_VERSION,
        uniform_share: rules.uniform_share,
        elo_width: rules.elo_width,
        new_model_votes: rules.new_model_votes,
        new_model_boost: rules.new_model_boost,
    };
    let same = last.is_some_and(|last| {
        PairingChange { number: last.number, changed_at: last.changed_at, ..change.clone() } == *last
    });
    (!same).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::pairing::Policy;

    fn snapshot(weight: f64, provider_model: &str) -> ModelSnapshot {
        ModelSnapshot {
            state: ModelState::of_weight(weight),
            weight,
            name: "Crane".into(),
            organization: "Northern Institute".into(),
            license: String::new(),
            practice: false,
            provider_model: Some(provider_model.into()),
        }
    }

    fn configured(id: &str, weight: f64, provider_model: &str, reason: &str) -> ConfiguredModel {
        ConfiguredModel { model: ModelId::new(id), snapshot: snapshot(weight, provider_model), reason: reason.into() }
    }

    /// Register that follows settings; each step is recorded one second later.
    #[derive(Default)]
    struct Story {
        recorded: Vec<ModelChange>,
        second: i64,
    }

    impl Story {
        /// Returns the kinds of each change that these settings cause.
        fn settings(&mut self, configured: &[ConfiguredModel]) -> Vec<(String, Vec<ChangeKind>)> {
            self.second += 1;
            let due = due_changes(&self.recorded, configured, Timestamp(self.second * 1000));
            let told = due.iter().map(|change| {
                let before = self.recorded.iter().rev().find(|earlier| earlier.model == change.model);
                (change.model.to_string(), kinds(before.map(|earlier| &earlier.snapshot), &change.snapshot))
            });
            let told = told.collect();
            self.recorded.extend(due);
            told
        }

        fn reasons(&self) -> Vec<&str> {
            self.recorded.iter().map(|change| change.reason.as_str()).collect()
        }
    }

    fn one(kind: ChangeKind) -> Vec<(String, Vec<ChangeKind>)> {
        vec![("m".into(), vec![kind])]
    }

    #[test]
    fn a_model_is_followed_from_its_first_day_to_its_return() {
        let mut story = Story::default();
        let m = |weight, provider| configured("m", weight, provider, "");
        assert_eq!(story.settings(&[m(1.0, "p")]), one(ChangeKind::Added));
        assert_eq!(story.settings(&[m(1.0, "p")]), [], "nothing changed");
        assert_eq!(story.settings(&[m(0.0, "p")]), one(ChangeKind::Paused));
        assert_eq!(story.settings(&[m(2.0, "p")]), one(ChangeKind::Resumed));
        assert_eq!(story.settings(&[m(3.0, "p")]), one(ChangeKind::Reweighted));
        assert_eq!(story.settings(&[m(3.0, "q")]), one(ChangeKind::ProviderModel));
        assert_eq!(story.settings(&[]), one(ChangeKind::Retired));
        assert_eq!(story.settings(&[]), [], "it is retired once");
        assert_eq!(story.settings(&[m(3.0, "q")]), one(ChangeKind::Returned));
        let numbers: Vec<u32> = story.recorded.iter().map(|change| change.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
        let retired = &story.recorded[5];
        assert_eq!((retired.snapshot.state, retired.snapshot.weight), (ModelState::Retired, 0.0));
        assert_eq!(retired.snapshot.name, "Crane", "a retired model keeps its name");
    }

    #[test]
    fn another_name_or_maker_is_a_change_of_labels() {
        let before = snapshot(1.0, "p");
        let after = ModelSnapshot { organization: "Elsewhere".into(), weight: 2.0, ..before.clone() };
        assert_eq!(kinds(Some(&before), &after), [ChangeKind::Reweighted, ChangeKind::Labels]);
        assert_eq!(kinds(None, &snapshot(0.0, "p")), [ChangeKind::Added, ChangeKind::Paused]);
        let unknown = ModelSnapshot { provider_model: None, ..before.clone() };
        assert_eq!(kinds(Some(&unknown), &before), [ChangeKind::Reason], "from unknown to known is no other model");
    }

    #[test]
    fn a_reason_counts_once_and_a_new_one_is_recorded_by_itself() {
        let mut story = Story::default();
        story.settings(&[configured("m", 1.0, "p", "for the spring comparison")]);
        story.settings(&[configured("m", 2.0, "p", "for the spring comparison")]);
        assert_eq!(story.reasons(), ["for the spring comparison", ""]);
        assert_eq!(story.settings(&[configured("m", 2.0, "p", "more votes wanted")]), one(ChangeKind::Reason));
        assert_eq!(story.reasons(), ["for the spring comparison", "", "more votes wanted"]);
        let by_command = stated_reason(&story.recorded[2], "asked by its maker", Timestamp(9));
        story.recorded.push(by_command);
        assert_eq!(story.settings(&[configured("m", 2.0, "p", "more votes wanted")]), [], "a command's reason stays");
        assert_eq!(story.settings(&[]), one(ChangeKind::Retired));
    }

    #[test]
    fn the_pairing_history_grows_when_a_rule_changes() {
        let rules = PairingRules {
            policy: Policy::Weighted,
            uniform_share: 0.2,
            elo_width: 100.0,
            new_model_votes: 50,
            new_model_boost: 2.0,
        };
        let first = due_pairing(None, &rules, Timestamp(1)).unwrap();
        assert_eq!((first.number, first.policy.as_str(), first.policy_version), (1, "weighted", POLICY_VERSION));
        assert_eq!(due_pairing(Some(&first), &rules, Timestamp(2)), None);
        let active = PairingRules { policy: Policy::Active, ..rules.clone() };
        assert_eq!(due_pairing(Some(&first), &active, Timestamp(2)).unwrap().number, 2);
        let boosted = PairingRules { new_model_boost: 3.0, ..rules.clone() };
        assert!(due_pairing(Some(&first), &boosted, Timestamp(2)).is_some());
        let older = PairingChange { policy_version: 0, ..first };
        assert!(due_pairing(Some(&older), &rules, Timestamp(2)).is_some(), "another version of the program");
    }
}
