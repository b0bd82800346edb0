//! What changed about a model or about the pairing policy: snapshots that are only ever added, and the words for the difference
//! between two of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::battle::ModelId;
use crate::battle::pairing::{POLICY_VERSION, PairingRules};
use crate::time::Timestamp;

/// Whether a model is drawn for battles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// Its weight is above 0.
    Active,
    /// Its weight is 0.
    Paused,
    /// The settings have it no more.
    Retired,
}

impl ModelState {
    /// The name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Retired => "retired",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Active, Self::Paused, Self::Retired].into_iter().find(|state| state.as_str() == name)
    }

    /// The state of a configured model with this weight.
    #[must_use]
    pub fn of_weight(weight: f64) -> Self {
        if weight > 0.0 { Self::Active } else { Self::Paused }
    }
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAuthor {
    /// The settings in force changed.
    Settings,
    /// `langya models reason`.
    Command,
}

impl ChangeAuthor {
    /// The name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Command => "command",
        }
    }

    /// The author of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Settings, Self::Command].into_iter().find(|author| author.as_str() == name)
    }
}

/// A model as the settings have it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSnapshot {
    /// Whether it is drawn.
    pub state: ModelState,
    /// Its pairing weight; 0 while it is retired.
    pub weight: f64,
    /// Name shown after the vote.
    pub name: String,
    /// Its maker.
    pub organization: String,
    /// Its licence.
    pub license: String,
    /// Whether it is one of the built-in practice models.
    pub practice: bool,
    /// Keyed digest of provider, host and name at the provider: equal for two entries of one model, and useless without the
    /// key. `None` where the arena does not know.
    pub provider_model: Option<String>,
}

/// A model of the settings in force, with the reason that stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredModel {
    /// Its id.
    pub model: ModelId,
    /// What the settings say.
    pub snapshot: ModelSnapshot,
    /// Why it is as it is; empty where the operator gives no reason.
    pub reason: String,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChange {
    /// The model.
    pub model: ModelId,
    /// 1 for the first change of the model, and one more for each further one.
    pub number: u32,
    /// Time of the change.
    pub changed_at: Timestamp,
    /// The model from then on.
    pub snapshot: ModelSnapshot,
    /// The operator's reason; empty for none.
    pub reason: String,
    /// Who made it.
    pub author: ChangeAuthor,
}

/// What has to be recorded so that the register says what the settings say. `recorded` holds the changes of each model in their
/// order; running this twice on the same input gives the same numbers, so that of two writers one has an effect.
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
    // A reason counts for the change that it was written for, and not again for later ones.
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

/// The change that only gives a reason, for a model whose latest change is this one.
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

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was configured for the first time.
    Added,
    /// It is configured again after it was retired.
    Returned,
    /// It left the settings.
    Retired,
    /// Its weight became 0.
    Paused,
    /// Its weight is above 0 again.
    Resumed,
    /// Its weight changed between two numbers above 0.
    Reweighted,
    /// Another model of a provider answers under its id.
    ProviderModel,
    /// Its name, maker or licence changed.
    Labels,
    /// Nothing but a reason was given.
    Reason,
}

/// What the change from one snapshot to the next did; `None` for the first one of a model.
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

/// A recorded change of the pairing policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PairingChange {
    /// 1 for the first one.
    pub number: u32,
    /// Time of the change.
    pub changed_at: Timestamp,
    /// Name of the policy from then on.
    pub policy: String,
    /// Its version, as stored with each battle.
    pub policy_version: u32,
    /// Share of battles in which every pair is alike.
    pub uniform_share: f64,
    /// Rating difference at which a pair is e times rarer.
    pub elo_width: f64,
    /// A model is new until it has this many votes.
    pub new_model_votes: u64,
    /// A new model's weight is multiplied by this.
    pub new_model_boost: f64,
}

/// What has to be recorded so that the history ends with these rules; `last` is its latest entry.
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

    /// A register that follows settings; every step is written at the next second.
    #[derive(Default)]
    struct Story {
        recorded: Vec<ModelChange>,
        second: i64,
    }

    impl Story {
        /// The kinds of each change that these settings make.
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
