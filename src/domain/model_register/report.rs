//! Published register: one entry per model, organizations with all of their entries, and the pairing policy's history.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::changes::{ChangeAuthor, ChangeKind, ModelChange, ModelState, PairingChange, kinds};
use super::days::{BattleDay, Period, RECENT_DAYS, day_of_number, number_of_day};
use crate::battle::ModelId;
use crate::battle::model_card::ModelCard;

/// Data of the register.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RegisterData {
    /// Every model, by id.
    pub models: Vec<ModelCard>,
    /// Changes of the models, in order per model.
    pub changes: Vec<ModelChange>,
    /// Changes of the pairing policy, in order.
    pub pairing: Vec<PairingChange>,
    /// Battles by finished day and model.
    pub days: Vec<BattleDay>,
    /// Battles of the last [`RECENT_DAYS`] counted days in which a model failed.
    pub failures: BTreeMap<ModelId, FailedBattles>,
    /// Last counted day.
    pub counted_through: Option<Date>,
}

/// Battles in which a model failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailedBattles {
    /// Number of battles in which the model failed.
    pub failed: u64,
    /// Number of those in which another model replaced it, so that it is on no side.
    pub replaced: u64,
}

/// Published register of models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Register {
    /// Last counted day in UTC; no number includes later battles.
    pub counted_through: Option<String>,
    /// Number of battles of this arena.
    pub battles: u64,
    /// Number of battles whose votes were imported.
    pub imported_battles: u64,
    /// Length of the periods.
    pub period: Period,
    /// Periods with battles of this arena, the latest last.
    pub periods: Vec<PeriodTotal>,
    /// Every model, by id.
    pub models: Vec<RegisterEntry>,
    /// Organizations by name, with all of their entries; models without a maker come last, under an empty name.
    pub organizations: Vec<OrganizationEntries>,
    /// History of the pairing policy, the latest last.
    pub pairing: Vec<PairingPeriod>,
}

/// Number of battles in a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeriodTotal {
    /// Label of the period, such as `2026-11` or the first day of a week.
    pub label: String,
    /// Number of battles of this arena.
    pub battles: u64,
}

/// State of a model's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    /// The model is drawn for battles.
    Active,
    /// The model's weight is 0.
    Paused,
    /// The model is no longer in the settings.
    Retired,
    /// The settings have not had the model since the register began: its votes were imported, or it was removed before.
    NotConfigured,
}

impl EntryState {
    fn after(last: Option<&ModelChange>) -> Self {
        match last.map(|change| change.snapshot.state) {
            Some(ModelState::Active) => Self::Active,
            Some(ModelState::Paused) => Self::Paused,
            Some(ModelState::Retired) => Self::Retired,
            None => Self::NotConfigured,
        }
    }

    /// Returns the name in JSON and tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Retired => "retired",
            Self::NotConfigured => "not_configured",
        }
    }
}

/// Entry of a model in the register.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RegisterEntry {
    /// Id of the model.
    pub id: String,
    /// Name shown after the vote.
    pub name: String,
    /// Organization that made the model.
    pub organization: String,
    /// Licence of the model.
    pub license: String,
    /// Whether it is one of the built-in practice models.
    pub practice: bool,
    /// State of the entry.
    pub state: EntryState,
    /// Pairing weight; `None` if the model is not configured.
    pub weight: Option<f64>,
    /// Whether the latest leaderboard has it.
    pub on_leaderboard: bool,
    /// First counted day with battles of this arena, or else with imported ones.
    pub first_day: Option<String>,
    /// Last counted day with battles, likewise.
    pub last_day: Option<String>,
    /// Number of battles of this arena.
    pub battles: u64,
    /// Share of all battles of this arena.
    pub share: Option<f64>,
    /// Number of battles whose votes were imported.
    pub imported_battles: u64,
    /// Recent failures of the model.
    pub recent_failures: RecentFailures,
    /// Battles and their share in each of the register's periods.
    pub by_period: Vec<PeriodShare>,
    /// Other entries of the same model of a provider.
    pub same_provider_model_as: Vec<SameProviderModel>,
    /// Changes of the model, the latest last.
    pub changes: Vec<EntryChange>,
}

/// Failures of a model in the battles of the last 30 counted days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct RecentFailures {
    /// Number of battles that drew the model, including those in which another model replaced it.
    pub drawn: u64,
    /// Number of battles in which the model failed: before its answer, so that another model replaced it, or during it, so that the battle
    /// got no vote.
    pub failed: u64,
    /// Share of the battles that drew the model; `None` without any.
    pub share: Option<f64>,
}

/// Battles of a model in a period.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PeriodShare {
    /// Number of battles.
    pub battles: u64,
    /// Share of all battles of the period.
    pub share: f64,
}

/// Another entry of the same model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SameProviderModel {
    /// Id of the other entry.
    pub id: String,
    /// Whether the latest changes of both entries name the same model; otherwise they did at an earlier time.
    pub at_present: bool,
}

/// Change of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EntryChange {
    /// Time of the change, in milliseconds since 1970.
    pub changed_at: i64,
    /// Kinds of the change.
    pub kinds: Vec<ChangeKind>,
    /// State after the change.
    pub state: ModelState,
    /// Weight before the change; `None` for the first one.
    pub weight_before: Option<f64>,
    /// Weight after the change.
    pub weight: f64,
    /// Name after the change.
    pub name: String,
    /// Maker after the change.
    pub organization: String,
    /// Licence after the change.
    pub license: String,
    /// Operator's reason; empty for none.
    pub reason: String,
    /// Author of the change.
    pub author: ChangeAuthor,
}

/// Number of an organization's entries, and of those that are visible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OrganizationEntries {
    /// Name of the organization; empty for models without one.
    pub organization: String,
    /// Number of entries ever.
    pub entries: u64,
    /// Number of entries ever in battles: those with battles on counted days, or on the leaderboard.
    pub in_battles: u64,
    /// Number of different provider models among the entries, where known.
    pub provider_models: u64,
    /// Number of entries on the latest leaderboard.
    pub on_leaderboard: u64,
    /// Number of active entries.
    pub active: u64,
}

/// Period under one pairing policy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairingPeriod {
    /// Beginning of the period, in milliseconds since 1970.
    pub from: i64,
    /// End of the period; `None` for the current policy.
    pub until: Option<i64>,
    /// Name of the policy.
    pub policy: String,
    /// Version of the policy, as stored with each battle.
    pub policy_version: u32,
    /// Share of battles in which every pair is equally likely; applies to `elo` and `active`.
    pub uniform_share: f64,
    /// Rating difference at which a pair is e times rarer; applies to `elo`.
    pub elo_width: f64,
    /// A model is new until it has this many votes.
    pub new_model_votes: u64,
    /// Factor on a new model's weight.
    pub new_model_boost: f64,
}

#[derive(Default)]
struct ModelBattles {
    own: u64,
    imported: u64,
    own_days: Option<[Date; 2]>,
    imported_days: Option<[Date; 2]>,
    by_period: BTreeMap<Date, u64>,
    /// Battles of this arena on the last [`RECENT_DAYS`] counted days.
    recent: u64,
    failures: FailedBattles,
}

impl ModelBattles {
    fn recent_failures(&self) -> RecentFailures {
        let FailedBattles { failed, replaced } = self.failures;
        let drawn = self.recent + replaced;
        RecentFailures { drawn, failed, share: share(failed, drawn) }
    }

    fn add(&mut self, day: &BattleDay, period: Period) {
        let days = if day.imported { &mut self.imported_days } else { &mut self.own_days };
        let [first, last] = days.unwrap_or([day.day; 2]);
        *days = Some([first.min(day.day), last.max(day.day)]);
        if day.imported {
            self.imported += day.battles;
        } else {
            self.own += day.battles;
            *self.by_period.entry(period.first_day(day.day)).or_default() += day.battles;
        }
    }

    /// Returns the first or last day with this arena's battles, or else with imported ones.
    fn day(&self, place: usize) -> Option<String> {
        self.own_days.or(self.imported_days).map(|days| days[place].to_string())
    }
}

impl Register {
    /// Builds the register with the latest `periods` periods that have battles. `on_leaderboard` holds the ids on the latest leaderboard.
    #[must_use]
    pub fn new(data: &RegisterData, on_leaderboard: &BTreeSet<String>, period: Period, periods: usize) -> Self {
        let mut battles: BTreeMap<&ModelId, ModelBattles> = BTreeMap::new();
        // A battle has two models.
        let mut sides: BTreeMap<Date, u64> = BTreeMap::new();
        let recent = data.counted_through.map(|last| day_of_number(number_of_day(last) - (RECENT_DAYS - 1))..=last);
        for day in &data.days {
            let of_model = battles.entry(&day.model).or_default();
            of_model.add(day, period);
            if !day.imported {
                *sides.entry(period.first_day(day.day)).or_default() += day.battles;
                let is_recent = recent.as_ref().is_some_and(|days| days.contains(&day.day));
                of_model.recent += if is_recent { day.battles } else { 0 };
            }
        }
        for (model, failures) in &data.failures {
            battles.entry(model).or_default().failures = *failures;
        }
        let [own, imported] = [false, true].map(|imported| {
            let of_kind = data.days.iter().filter(|day| day.imported == imported);
            of_kind.map(|day| day.battles).sum::<u64>() / 2
        });
        let shown: Vec<(Date, u64)> = sides.into_iter().map(|(first, sides)| (first, sides / 2)).collect();
        let shown = &shown[shown.len().saturating_sub(periods)..];
        let histories = Histories::new(&data.changes);
        let none = ModelBattles::default();
        let entry = |model: &ModelCard| {
            let battles = battles.get(&model.id).unwrap_or(&none);
            histories.entry(model, battles, own, shown, on_leaderboard.contains(model.id.as_str()))
        };
        let models: Vec<RegisterEntry> = data.models.iter().map(entry).collect();
        Self {
            counted_through: data.counted_through.map(|day| day.to_string()),
            battles: own,
            imported_battles: imported,
            period,
            periods: shown
                .iter()
                .map(|(first, battles)| PeriodTotal { label: period.label(*first), battles: *battles })
                .collect(),
            organizations: organizations(&models, &histories),
            models,
            pairing: pairing(&data.pairing),
        }
    }
}

/// Changes by model, and entries by provider model.
struct Histories<'d> {
    by_model: BTreeMap<&'d ModelId, Vec<&'d ModelChange>>,
    /// Entries that ever had each provider model.
    by_provider_model: BTreeMap<&'d str, BTreeSet<&'d ModelId>>,
}

impl<'d> Histories<'d> {
    fn new(changes: &'d [ModelChange]) -> Self {
        let mut histories = Self { by_model: BTreeMap::new(), by_provider_model: BTreeMap::new() };
        for change in changes {
            histories.by_model.entry(&change.model).or_default().push(change);
            if let Some(provider_model) = &change.snapshot.provider_model {
                histories.by_provider_model.entry(provider_model).or_default().insert(&change.model);
            }
        }
        histories
    }

    fn of(&self, model: &ModelId) -> &[&'d ModelChange] {
        self.by_model.get(model).map_or(&[], Vec::as_slice)
    }

    fn provider_model(&self, model: &ModelId) -> Option<&'d str> {
        self.of(model).last().and_then(|change| change.snapshot.provider_model.as_deref())
    }

    fn entry(
        &self,
        model: &ModelCard,
        battles: &ModelBattles,
        all: u64,
        periods: &[(Date, u64)],
        on_leaderboard: bool,
    ) -> RegisterEntry {
        let history = self.of(&model.id);
        let last = history.last().copied();
        let by_period = periods.iter().map(|(first, all)| {
            let own = battles.by_period.get(first).copied().unwrap_or(0);
            PeriodShare { battles: own, share: share(own, *all).unwrap_or(0.0) }
        });
        RegisterEntry {
            id: model.id.to_string(),
            name: model.name.clone(),
            organization: model.organization.clone(),
            license: model.license.clone(),
            practice: model.practice,
            state: EntryState::after(last),
            weight: last.map(|change| change.snapshot.weight),
            on_leaderboard,
            first_day: battles.day(0),
            last_day: battles.day(1),
            battles: battles.own,
            share: share(battles.own, all),
            imported_battles: battles.imported,
            recent_failures: battles.recent_failures(),
            by_period: by_period.collect(),
            same_provider_model_as: self.same_as(&model.id),
            changes: changes(history),
        }
    }

    /// Returns the other entries that ever had a provider model of this one.
    fn same_as(&self, model: &ModelId) -> Vec<SameProviderModel> {
        let ever = self.of(model).iter().filter_map(|change| change.snapshot.provider_model.as_deref());
        let others: BTreeSet<&ModelId> =
            ever.filter_map(|provider_model| self.by_provider_model.get(provider_model)).flatten().copied().collect();
        let latest = self.provider_model(model);
        let others = others.into_iter().filter(|other| *other != model);
        others
            .map(|other| SameProviderModel {
                id: other.to_string(),
                at_present: latest.is_some() && latest == self.provider_model(other),
            })
            .collect()
    }
}

fn changes(history: &[&ModelChange]) -> Vec<EntryChange> {
    let befores = std::iter::once(None).chain(history.iter().map(|change| Some(&change.snapshot)));
    let told = befores.zip(history).map(|(before, change)| EntryChange {
        changed_at: change.changed_at.0,
        kinds: kinds(before, &change.snapshot),
        state: change.snapshot.state,
        weight_before: before.map(|before| before.weight),
        weight: change.snapshot.weight,
        name: change.snapshot.name.clone(),
        organization: change.snapshot.organization.clone(),
        license: change.snapshot.license.clone(),
        reason: change.reason.clone(),
        author: change.author,
    });
    told.collect()
}

fn organizations(models: &[RegisterEntry], histories: &Histories<'_>) -> Vec<OrganizationEntries> {
    let mut organizations: BTreeMap<(bool, &str), (OrganizationEntries, BTreeSet<&str>)> = BTreeMap::new();
    for model in models {
        let name = model.organization.as_str();
        let (entries, provider_models) = organizations.entry((name.is_empty(), name)).or_default();
        name.clone_into(&mut entries.organization);
        entries.entries += 1;
        let in_battles = model.battles + model.imported_battles > 0 || model.on_leaderboard;
        entries.in_battles += u64::from(in_battles);
        entries.on_leaderboard += u64::from(model.on_leaderboard);
        entries.active += u64::from(model.state == EntryState::Active);
        let history = histories.of(&ModelId::new(model.id.as_str()));
        provider_models.extend(history.iter().filter_map(|change| change.snapshot.provider_model.as_deref()));
    }
    let counted = organizations.into_values().map(|(entries, provider_models)| OrganizationEntries {
        provider_models: provider_models.len() as u64,
        ..entries
    });
    counted.collect()
}

fn pairing(changes: &[PairingChange]) -> Vec<PairingPeriod> {
    let ends = changes.iter().skip(1).map(|next| Some(next.changed_at.0)).chain([None]);
    let periods = changes.iter().zip(ends).map(|(change, until)| PairingPeriod {
        from: change.changed_at.0,
        until,
        policy: change.policy.clone(),
        policy_version: change.policy_version,
        uniform_share: change.uniform_share,
        elo_width: change.elo_width,
        new_model_votes: change.new_model_votes,
        new_model_boost: change.new_model_boost,
    });
    periods.collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of battles are far below 2^53")]
fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

#[cfg(test)]
mod tests;
