//! Deletes the texts of battles at the age that the settings set, as a deletion request does: votes and the public log's commitments stay.
//! Only texts, links to them and the salts that could prove them are deleted.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::time::Timestamp;
use crate::infra::config::RetentionSettings;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;

/// Lifetime of an uploaded image without a question, in milliseconds.
const UNUSED_IMAGE_MS: i64 = 24 * 3_600_000;

/// Deletes texts and images past their retention period.
pub struct Retention<'r> {
    /// The database.
    pub store: &'r Store,
    /// Source of audit entry ids.
    pub rng: &'r SharedRng,
    /// Clock against which the age of texts is measured.
    pub clock: &'r dyn Clock,
    /// Actor that deletes, for the audit log.
    pub actor: Actor,
}

impl Retention<'_> {
    /// Counts battles whose texts are past the retention period. Read-only.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn due(&self, settings: &RetentionSettings) -> Result<u64, StoreError> {
        match settings.texts_before(self.clock.now()) {
            Some(before) => self.store.battles_with_texts_before(before).await,
            None => Ok(0),
        }
    }

    /// Deletes images that were uploaded a day ago without a question, and texts past the retention period; returns the number of battles.
    /// The audit entry is written first, so that no deletion is without one; if it fails half-way, the next call deletes the rest.
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
