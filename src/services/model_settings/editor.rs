//! Edits the models of a settings file, each edit with its audit log entries.
//!
//! The entries are committed after the checked text is written to a temporary file and before it replaces the settings file: so no change
//! lacks its entry.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::error::{ModelEntryError, Warning};
use crate::admin::actor::{Actor, audit_json};
use crate::domain::battle::model_card::shared_names;
use crate::domain::hex::hex;
use crate::infra::config::edit::actions::{ModelAction, model_actions};
use crate::infra::config::edit::change::Change;
use crate::infra::config::edit::settings_file::SettingsFile;
use crate::infra::config::{ConfigError, Environment, ModelSettings, Settings};
use crate::infra::llm::ModelCard;
use crate::infra::llm::roster::{Roster, card, entries};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewAuditEntry, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Edits the models of one settings file.
pub struct ModelEditor<'e> {
    /// The settings file, which need not exist yet.
    pub file: PathBuf,
    /// Environment, for the models' keys.
    pub env: &'e Environment,
    /// Requirement on the edited settings.
    pub goal: EditGoal,
    /// The audit log; `None` where no arena has ever served.
    pub audit: Option<AuditTrail<'e>>,
}

/// Requirement on edited settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditGoal {
    /// Settings that can be parsed. What an arena lacks to run on them is a warning.
    Readable,
    /// Settings that an arena with this environment can run on.
    Runnable,
}

/// Access to the audit log, with the actor.
pub struct AuditTrail<'e> {
    /// The database.
    pub store: &'e Store,
    /// Source of audit entry ids.
    pub rng: &'e SharedRng,
    /// Clock of the entries.
    pub clock: &'e dyn Clock,
    /// Actor, for the audit log.
    pub actor: Actor,
}

/// New text of the file, if it changes, with the result of the edit.
pub(super) type Edited<T> = (Option<String>, T);

impl ModelEditor<'_> {
    /// Removes, pauses, resumes or changes one model. With the [`values_version`] that a form showed, values changed since are not
    /// overwritten: the file stays locked from this comparison until it is replaced.
    ///
    /// # Errors
    /// [`ModelEntryError`]
    pub async fn change(
        &self,
        id: &str,
        change: &Change,
        shown: Option<&str>,
    ) -> Result<Vec<Warning>, ModelEntryError> {
        change.check()?;
        let (id, change, env, goal) = (id.to_owned(), change.clone(), self.env.clone(), self.goal);
        let shown = shown.map(str::to_owned);
        self.edit(move |text, before| {
            let now = before.models.iter().find(|entry| entry.id == id).map(values_version);
            if shown.zip(now).is_some_and(|(shown, now)| shown != now) {
                return Err(ModelEntryError::Outdated);
            }
            let edited = change.apply(text, &id)?;
            let warnings = check_goal(&edited, &env, goal)?;
            Ok((Some(edited), warnings))
        })
        .await
    }

    /// Replaces the file's text, after committing the audit log entries.
    pub(super) async fn edit<T: Send + 'static>(
        &self,
        change: impl FnOnce(&str, &Settings) -> Result<Edited<T>, ModelEntryError> + Send + 'static,
    ) -> Result<T, ModelEntryError> {
        let (file, env) = (self.file.clone(), self.env.clone());
        let prepare = move || {
            SettingsFile::new(&file).prepare(&env, |text| {
                let origin = file.display().to_string();
                // The current text may be invalid, and the edit may fix it.
                let before = Settings::parse(text, &origin, &env);
                let (edited, output) = change(text, before.as_ref().unwrap_or(&Settings::default()))?;
                let actions = match (&edited, before) {
                    (Some(edited), Ok(before)) => {
                        model_actions(&before.models, &Settings::parse(edited, &origin, &env)?.models)
                    }
                    _ => Vec::new(),
                };
                Ok::<_, ModelEntryError>((edited, (output, actions)))
            })
        };
        let (prepared, (output, actions)) = tokio::task::spawn_blocking(prepare).await??;
        if let Some(prepared) = prepared {
            if let Some(audit) = &self.audit {
                audit.store_actions(&actions).await?;
            }
            tokio::task::spawn_blocking(move || prepared.replace_file()).await??;
        }
        Ok(output)
    }
}

impl AuditTrail<'_> {
    async fn store_actions(&self, actions: &[ModelAction]) -> Result<(), StoreError> {
        let entry = |action: &ModelAction| {
            let entry = self.actor.entry(self.rng, self.clock, action.action, &format!("model {}", action.model));
            let json = |value: &serde_json::Value| audit_json(value).filter(|_| !value.is_null());
            NewAuditEntry { former: json(&action.former), latter: json(&action.latter), ..entry }
        };
        let entries: Vec<NewAuditEntry> = actions.iter().map(entry).collect();
        self.store.add_audit_entries(&entries).await
    }
}

/// Returns the version of the values in a model's form, which changes with each of them.
#[must_use]
pub fn values_version(entry: &ModelSettings) -> String {
    let names = (&entry.name, &entry.organization);
    let limits = (entry.weight, entry.max_tokens, entry.max_concurrent, &entry.reason);
    let prices = (entry.input_price, entry.output_price, entry.price_date, &entry.price_source);
    hex(&Sha256::digest(format!("{names:?} {limits:?} {prices:?}")))
}

/// Checks edited settings against the goal: returns warnings, or an error if the goal is an arena that runs.
pub(super) fn check_goal(edited: &str, env: &Environment, goal: EditGoal) -> Result<Vec<Warning>, ConfigError> {
    let settings = Settings::parse(edited, "the edited settings", env)?;
    if goal == EditGoal::Runnable {
        // The seed only spreads waits between tries.
        Roster::build(&settings, env, 0)?.check_pairable(&settings)?;
    }
    let entries = entries(&settings);
    let drawn = entries.iter().filter(|entry| entry.weight > 0.0).count();
    let are_too_few = drawn < 2 && !Roster::may_find(&settings);
    let cards: Vec<ModelCard> = entries.iter().map(card).collect();
    let shared = shared_names(&cards).into_iter().map(Warning::SharedName);
    Ok(are_too_few.then_some(Warning::TooFewModels(drawn)).into_iter().chain(shared).collect())
}
