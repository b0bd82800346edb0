//! Deletes what was said in battles once it is as old as the settings allow, as a request for deletion does: votes stay, and so do the public
//! log's commitments. Only texts, links to them and the salts that could prove them go.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::config::RetentionSettings;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};

/// For how long an image waits for its question, in milliseconds.
const UNUSED_IMAGE_MS: i64 = 24 * 3_600_000;

/// What deletes, and for whom.
pub struct Retention<'r> {
    /// The database.
    pub store: &'r Store,
    /// Ids of entries.
    pub rng: &'r SharedRng,
    /// What shows how old a text is.
    pub clock: &'r dyn Clock,
    /// Who deletes.
    pub actor: Actor,
}

impl Retention<'_> {
    /// Battles whose texts are past their age. Nothing is changed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn due(&self, settings: &RetentionSettings) -> Result<u64, StoreError> {
        match settings.texts_before(self.clock.now()) {
            Some(before) => self.store.battles_with_texts_before(before).await,
            None => Ok(0),
        }
    }

    /// Deletes images that were sent a day ago and that nobody asked about, and the texts that are past their age, and returns of how many
    /// battles. The entry of the audit log comes first, so that no deletion is without one; where it fails half-way, the next call does
    /// the rest.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn run(&self, settings: &RetentionSettings) -> Result<u64, StoreError> {
        self.store.delete_unused_images(Timestamp(self.clock.now().0 - UNUSED_IMAGE_MS)).await?;
        let Some(before) = settings.texts_before(self.clock.now()) else { return Ok(0) };
        let battles = self.store.battles_with_texts_before(before).await?;
        if battles == 0 {
            return Ok(0);
        }
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::DeleteTexts, "retention");
        entry.former = audit_json(&json!({ "battles": battles }));
        entry.latter = audit_json(&json!({ "text_days": settings.text_days }));
        self.store.add_audit_entry(&entry).await?;
        self.store.delete_texts_before(before).await
    }
}
