//! Prompt validation and moderation: the form, the operator's patterns, and a moderation service if configured. The service is queried
//! before the pair is sampled and before any model, so its result reveals no model.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::battle::BattleId;
use crate::domain::battle::prompt_check::{PromptError, check_form};
use crate::domain::moderation::{ModeratedPart, ModerationResult};
use crate::infra::config::{CurrentSettings, OnFailure};
use crate::infra::metrics;
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewModerationFlag, Store};
use crate::infra::time::clock::Clock;

/// Validates and moderates prompts.
pub struct PromptRules {
    /// The settings in force.
    pub settings: CurrentSettings,
    /// Moderation service; `None` if none is configured.
    pub endpoint: Option<Arc<ModerationEndpoint>>,
    /// Database, for flags.
    pub store: Store,
    /// Source of flag ids.
    pub rng: Arc<SharedRng>,
    /// Clock of the flags.
    pub clock: Arc<dyn Clock>,
}

impl PromptRules {
    /// Checks the form and the operator's patterns, without a network request.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn check(&self, prompt: &str) -> Result<(), PromptError> {
        let settings = self.settings.now();
        check_form(prompt, settings.battle.max_prompt_bytes)?;
        match settings.moderation.refuses(prompt) {
            None => Ok(()),
            Some(rule) => {
                tracing::info!(rule, "a prompt is refused by a rule of moderation.refuse");
                Err(PromptError::Refused)
            }
        }
    }

    /// Moderates a prompt that passed [`Self::check`], within the service's timeout. Returns the categories that need a review; empty if
    /// there are none, or no service is configured.
    ///
    /// # Errors
    /// [`PromptError::Refused`] and [`PromptError::Unchecked`].
    pub async fn moderate(&self, prompt: &str) -> Result<Vec<String>, PromptError> {
        let on_failure = self.settings.now().moderation.on_failure;
        match self.ask(ModeratedPart::Prompt, prompt).await {
            Some(ModerationResult::Allowed) => Ok(Vec::new()),
            Some(ModerationResult::Flagged(categories)) => Ok(categories),
            Some(ModerationResult::Refused(categories)) => {
                tracing::info!(?categories, "a prompt is refused by the moderation service");
                Err(PromptError::Refused)
            }
            None if on_failure == OnFailure::Refuse => Err(PromptError::Unchecked),
            None => Ok(Vec::new()),
        }
    }

    /// Moderates a text; `None` if the service does not answer.
    pub(super) async fn ask(&self, part: ModeratedPart, text: &str) -> Option<ModerationResult> {
        let Some(endpoint) = &self.endpoint else { return Some(ModerationResult::Allowed) };
        let settings = self.settings.now();
        let within = Duration::from_millis(settings.moderation.timeout_ms);
        let failed_before = endpoint.state().failing_since.is_some();
        match endpoint.ask(text, within, self.clock.now()).await {
            Ok(found) => {
                if failed_before {
                    tracing::info!("the moderation service answers again");
                }
                let result = settings.moderation.categories().apply(&found);
                metrics::moderated(part.as_str(), result.as_str());
                Some(result)
            }
            Err(error) => {
                metrics::moderated(part.as_str(), "failed");
                // Logged once per outage, since it affects every prompt.
                if !failed_before {
                    tracing::warn!(%error, "the moderation service did not answer: moderation.on_failure is applied until it does");
                }
                None
            }
        }
    }

    /// Flags a prompt for review. A failure does not stop the battle: its visitor has done nothing wrong.
    pub async fn flag_prompt(&self, battle: &BattleId, turn: u32, categories: Vec<String>) {
        if !categories.is_empty() {
            self.flag(vec![self.new_flag(battle, turn, ModeratedPart::Prompt, categories)]).await;
        }
    }

    pub(super) fn new_flag(
        &self,
        battle: &BattleId,
        turn: u32,
        part: ModeratedPart,
        categories: Vec<String>,
    ) -> NewModerationFlag {
        let (id, flagged_at) = (self.rng.id(self.clock.as_ref()), self.clock.now());
        NewModerationFlag { id, battle: battle.clone(), turn, part, categories, flagged_at }
    }

    pub(super) async fn flag(&self, flags: Vec<NewModerationFlag>) {
        if let Err(error) = self.store.insert_flags(&flags).await {
            metrics::flags_lost(flags.len() as u64);
            tracing::error!(error = ?error, flags = flags.len(), "flagged texts could not be stored for review");
        }
    }
}
