//! Review of texts that the moderation service flagged: keep or delete. Deletion removes the texts of the whole battle, as a deletion
//! request does; votes and the public log's commitments stay.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::moderation::ModerationFlagState;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    DeletionTarget, ModerationDecision, ModerationFlagRow, ModerationReview, Store, StoreError, is_storable,
};
use crate::infra::time::clock::Clock;

/// Error of deciding a moderation flag.
#[derive(Debug, thiserror::Error)]
pub enum ModerationReviewError {
    /// No flag has this id.
    #[error("there is no flag {0:?}: `langya moderation list` shows them")]
    Unknown(String),
    /// The flag is decided already, or its text is deleted.
    #[error("this flag has already been decided")]
    IsDecided,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Admin operations on moderation flags.
pub struct ModerationReviews<'r> {
    /// The database.
    pub store: &'r Store,
    /// Source of audit entry ids.
    pub rng: &'r SharedRng,
    /// Clock of the decisions.
    pub clock: &'r dyn Clock,
    /// Actor that decides, for the audit log.
    pub actor: Actor,
}

impl ModerationReviews<'_> {
    /// Returns a flag with its battle. Read-only.
    ///
    /// # Errors
    /// [`ModerationReviewError`].
    pub async fn look(&self, id: &str) -> Result<ModerationReview, ModerationReviewError> {
        let row = self.find(id).await?;
        let record = self.store.battle_record(&row.flag.battle).await?;
        let vote = self.store.vote_on(&row.flag.battle).await?.map(|vote| vote.seq);
        Ok(ModerationReview { row, record, vote })
    }

    /// Closes a flag and keeps the text.
    ///
    /// # Errors
    /// [`ModerationReviewError`].
    pub async fn keep(&self, id: &str) -> Result<(), ModerationReviewError> {
        let row = self.find_open(id).await?;
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::KeepFlagged, &subject(id));
        entry.former = audit_json(&json!({ "battle": row.flag.battle, "categories": row.flag.categories }));
        self.decide(id, ModerationFlagState::Kept, Some(&entry)).await
    }

    /// Deletes the texts of the flag's battle. If it fails half-way, the next call deletes the rest.
    ///
    /// # Errors
    /// [`ModerationReviewError`].
    pub async fn remove_texts(&self, id: &str) -> Result<(), ModerationReviewError> {
        let row = self.find_open(id).await?;
        let target = DeletionTarget { battle: row.flag.battle.clone(), visitor: None };
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::DeleteTexts, &subject(id));
        entry.former = audit_json(&json!({ "battle": row.flag.battle, "scope": "battle", "battles": 1 }));
        entry.latter = audit_json(&json!({ "reason": row.flag.categories }));
        self.store.begin_deletion(&target, self.clock.now(), &entry).await?;
        self.store.delete_texts_of_target(&target).await?;
        self.decide(id, ModerationFlagState::Removed, None).await
    }

    async fn decide(
        &self,
        id: &str,
        state: ModerationFlagState,
        audit: Option<&crate::infra::storage::NewAuditEntry>,
    ) -> Result<(), ModerationReviewError> {
        let decision = ModerationDecision { state, by: &self.actor.name, at: self.clock.now() };
        let was_open = self.store.decide_flag(id, decision, audit).await?;
        was_open.then_some(()).ok_or(ModerationReviewError::IsDecided)
    }

    async fn find(&self, id: &str) -> Result<ModerationFlagRow, ModerationReviewError> {
        let unknown = || ModerationReviewError::Unknown(id.to_owned());
        if !is_storable(id) {
            return Err(unknown());
        }
        self.store.flag(id).await?.ok_or_else(unknown)
    }

    async fn find_open(&self, id: &str) -> Result<ModerationFlagRow, ModerationReviewError> {
        let row = self.find(id).await?;
        if row.state == ModerationFlagState::Open { Ok(row) } else { Err(ModerationReviewError::IsDecided) }
    }
}

fn subject(id: &str) -> String {
    format!("flag {id}")
}
