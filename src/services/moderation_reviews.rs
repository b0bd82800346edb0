//! The review of texts that the moderation service flagged: looked at, kept or deleted. Deleting takes the texts of the battle, as a request
//! for deletion does: votes stay, and so do the public log's commitments.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::moderation::ModerationFlagState;
use crate::infra::clock::Clock;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    DeletionTarget, ModerationDecision, ModerationFlagRow, ModerationReview, Store, StoreError, is_storable,
};

/// Why a flag is not decided.
#[derive(Debug, thiserror::Error)]
pub enum ModerationReviewError {
    /// There is none of this id.
    #[error("there is no flag {0:?}: `langya moderation list` shows them")]
    Unknown(String),
    /// It was decided before, or its text is gone.
    #[error("this flag has already been decided")]
    IsDecided,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where decisions go.
pub struct ModerationReviews<'r> {
    /// The database.
    pub store: &'r Store,
    /// Ids of entries.
    pub rng: &'r SharedRng,
    /// Time of decisions.
    pub clock: &'r dyn Clock,
    /// Who decides.
    pub actor: Actor,
}

impl ModerationReviews<'_> {
    /// A flag with its battle. Nothing is changed.
    ///
    /// # Errors
    /// [`ModerationReviewError`].
    pub async fn look(&self, id: &str) -> Result<ModerationReview, ModerationReviewError> {
        let row = self.find(id).await?;
        let record = self.store.battle_record(&row.flag.battle).await?;
        let vote = self.store.vote_on(&row.flag.battle).await?.map(|vote| vote.seq);
        Ok(ModerationReview { row, record, vote })
    }

    /// Leaves the text as it is.
    ///
    /// # Errors
    /// [`ModerationReviewError`].
    pub async fn keep(&self, id: &str) -> Result<(), ModerationReviewError> {
        let row = self.find_open(id).await?;
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::KeepFlagged, &subject(id));
        entry.former = audit_json(&json!({ "battle": row.flag.battle, "categories": row.flag.categories }));
        self.decide(id, ModerationFlagState::Kept, Some(&entry)).await
    }

    /// Deletes the texts of the flag's battle. Where it fails half-way, the next call does the rest.
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
