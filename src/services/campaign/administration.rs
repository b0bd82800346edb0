//! Administration of campaigns: creates, opens, pauses, closes and deletes them, invites annotators and revokes their links. Each change
//! has its own audit log entry.

use serde_json::json;

use super::annotating::token_hash;
use super::creation::{CreateCampaignError, PreparedCampaign};
use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::action::AdminAction;
use crate::domain::campaign::state::{CampaignState, StateChange};
use crate::domain::time::Timestamp;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{CampaignRow, NewAnnotator, NewAuditEntry, NewSharedLink, Store, StoreError, is_storable};
use crate::infra::time::clock::Clock;

const DAY_MS: i64 = 24 * 3_600_000;

/// Error of changing a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignAdminError {
    /// No campaign has this id.
    #[error("there is no campaign {0:?}: `langya campaign list` shows them")]
    UnknownCampaign(String),
    /// The campaign's state was changed concurrently.
    #[error(
        "the state of campaign {0} was changed meanwhile: look at it (`langya campaign list`), then repeat the change if it still fits"
    )]
    StateChanged(String),
    /// The annotator is unknown, or the link is revoked already.
    #[error("campaign {campaign} has no annotator {annotator:?} with a link in force: its report names them")]
    UnknownAnnotator {
        /// Id of the campaign.
        campaign: String,
        /// Pseudonym of the annotator.
        annotator: String,
    },
    /// The annotator is unknown, or excluded already.
    #[error(
        "campaign {campaign} has no annotator {annotator:?} whose judgements count: its report lists the annotators"
    )]
    NotCounted {
        /// Id of the campaign.
        campaign: String,
        /// Pseudonym of the annotator.
        annotator: String,
    },
    /// The annotator is not excluded.
    #[error("campaign {campaign} does not leave out {annotator:?}: its report lists the annotators left out")]
    NotLeftOut {
        /// Id of the campaign.
        campaign: String,
        /// Pseudonym of the annotator.
        annotator: String,
    },
    /// The reason is empty or too long.
    #[error("the reason must have 1 to {MAX_REASON_CHARS} characters: write why the judgements do not count")]
    Reason,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Parameters of new annotator links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnnotatorInvites {
    /// Number of annotators.
    pub count: u32,
    /// Maximum number of judgements per annotator.
    pub quota: Option<u32>,
    /// Days until the links expire; 0 means never.
    pub days: u32,
}

/// Admin operations on campaigns.
pub struct CampaignAdmin<'c> {
    /// The database.
    pub store: &'c Store,
    /// Source of tokens and audit entry ids.
    pub rng: &'c SharedRng,
    /// Clock of the changes.
    pub clock: &'c dyn Clock,
    /// Actor that changes campaigns, for the audit log.
    pub actor: Actor,
}

impl CampaignAdmin<'_> {
    /// Stores a new campaign as a draft. `progress` gets the number of items so far.
    ///
    /// # Errors
    /// [`CreateCampaignError`].
    pub async fn create(
        &self,
        prepared: &PreparedCampaign,
        progress: impl Fn(u64) + Sync,
    ) -> Result<(), CreateCampaignError> {
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::CreateCampaign, &subject(prepared.id()));
        entry.latter = audit_json(&json!({ "items": prepared.forecast().items }));
        prepared.store(self.store, &entry, progress).await
    }

    /// Deletes a campaign with all its judgements.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn delete(&self, campaign: &CampaignRow) -> Result<(), CampaignAdminError> {
        let id = &campaign.id;
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::DeleteCampaign, &subject(id));
        let former = json!({ "state": campaign.state.as_str(), "judgements": campaign.judgements });
        entry.former = audit_json(&former);
        let was_there = self.store.delete_campaign(id, &entry).await?;
        was_there.then_some(()).ok_or_else(|| CampaignAdminError::UnknownCampaign(id.clone()))
    }

    /// Opens, pauses or closes a campaign; no-op if it is in this state already. If the form has `shown` a state that is outdated by now,
    /// the campaign stays as it is.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn set_state(
        &self,
        id: &str,
        change: StateChange,
        shown: Option<CampaignState>,
    ) -> Result<(), CampaignAdminError> {
        let campaign = self.store.campaign(id).await?;
        let former = campaign.ok_or_else(|| CampaignAdminError::UnknownCampaign(id.to_owned()))?.state;
        let latter = change.state();
        if former == latter {
            return Ok(());
        }
        let mut entry = self.actor.entry(self.rng, self.clock, change.action(), &subject(id));
        entry.former = audit_json(&json!({ "state": former.as_str() }));
        entry.latter = audit_json(&json!({ "state": latter.as_str() }));
        let is_as_shown = shown.is_none_or(|shown| shown == former);
        let is_done = is_as_shown && self.store.set_campaign_state(id, (former, latter), &entry).await?;
        is_done.then_some(()).ok_or_else(|| CampaignAdminError::StateChanged(id.to_owned()))
    }

    /// Creates links for annotators, and returns their tokens, which are not stored.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn invite(&self, id: &str, invites: AnnotatorInvites) -> Result<Vec<String>, CampaignAdminError> {
        if self.store.campaign(id).await?.is_none() {
            return Err(CampaignAdminError::UnknownCampaign(id.to_owned()));
        }
        let AnnotatorInvites { count, quota, days } = invites;
        let now = self.clock.now();
        let tokens: Vec<String> = (0..count).map(|_| self.rng.token()).collect();
        let hashes: Vec<String> = tokens.iter().map(|token| token_hash(token)).collect();
        let expires_at = (days > 0).then(|| Timestamp(now.0 + i64::from(days) * DAY_MS));
        let new = |token_hash| NewAnnotator { token_hash, quota, expires_at };
        let annotators: Vec<NewAnnotator<'_>> = hashes.iter().map(String::as_str).map(new).collect();
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::InviteAnnotators, &subject(id));
        entry.latter = audit_json(&json!({ "annotators": count, "quota": quota, "days": days }));
        self.store.insert_annotators(id, &annotators, now, &entry).await?;
        Ok(tokens)
    }

    /// Creates one shared link for up to `invites.count` annotators, and returns its token, which is not stored.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn share(&self, id: &str, invites: AnnotatorInvites) -> Result<String, CampaignAdminError> {
        if self.store.campaign(id).await?.is_none() {
            return Err(CampaignAdminError::UnknownCampaign(id.to_owned()));
        }
        let AnnotatorInvites { count, quota, days } = invites;
        let (token, now) = (self.rng.token(), self.clock.now());
        let hash = token_hash(&token);
        let expires_at = (days > 0).then(|| Timestamp(now.0 + i64::from(days) * DAY_MS));
        let link = NewSharedLink { token_hash: &hash, places: count, quota, expires_at };
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::InviteAnnotators, &subject(id));
        entry.latter = audit_json(&json!({ "shared": true, "annotators": count, "quota": quota, "days": days }));
        self.store.insert_shared_link(id, link, now, &entry).await?;
        Ok(token)
    }

    /// Revokes an annotator's link or a shared one; judgements stay, and annotators who joined can continue.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn revoke(&self, id: &str, annotator: &str) -> Result<(), CampaignAdminError> {
        let entry = self.annotator_entry(id, annotator, AdminAction::RevokeAnnotator).await?;
        let now = self.clock.now();
        let was_in_force = self.store.revoke_annotator(id, annotator, now, &entry).await?
            || self.store.revoke_shared_link(id, annotator, now, &entry).await?;
        let (campaign, annotator) = (id.to_owned(), annotator.to_owned());
        was_in_force.then_some(()).ok_or(CampaignAdminError::UnknownAnnotator { campaign, annotator })
    }

    /// Excludes an annotator's judgements from the report, and their votes from the arena's ratings, until [`Self::readmit`]; the link does
    /// not work until then.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn leave_out(&self, id: &str, annotator: &str, reason: &str) -> Result<(), CampaignAdminError> {
        let reason = reason.trim();
        if reason.is_empty() || reason.chars().count() > MAX_REASON_CHARS || !is_storable(reason) {
            return Err(CampaignAdminError::Reason);
        }
        let mut entry = self.annotator_entry(id, annotator, AdminAction::LeaveAnnotatorOut).await?;
        entry.latter = audit_json(&json!({ "reason": reason }));
        let was_counted = self.store.exclude_annotator((id, annotator), reason, &entry).await?;
        let (campaign, annotator) = (id.to_owned(), annotator.to_owned());
        was_counted.then_some(()).ok_or(CampaignAdminError::NotCounted { campaign, annotator })
    }

    /// Readmits the judgements and votes of an excluded annotator.
    ///
    /// # Errors
    /// [`CampaignAdminError`].
    pub async fn readmit(&self, id: &str, annotator: &str) -> Result<(), CampaignAdminError> {
        let entry = self.annotator_entry(id, annotator, AdminAction::ReadmitAnnotator).await?;
        let was_left_out = self.store.readmit_annotator(id, annotator, &entry).await?;
        let (campaign, annotator) = (id.to_owned(), annotator.to_owned());
        was_left_out.then_some(()).ok_or(CampaignAdminError::NotLeftOut { campaign, annotator })
    }

    /// Creates an audit log entry about an annotator of an existing campaign.
    async fn annotator_entry(
        &self,
        id: &str,
        annotator: &str,
        action: AdminAction,
    ) -> Result<NewAuditEntry, CampaignAdminError> {
        if self.store.campaign(id).await?.is_none() {
            return Err(CampaignAdminError::UnknownCampaign(id.to_owned()));
        }
        Ok(self.actor.entry(self.rng, self.clock, action, &format!("{}, annotator {annotator}", subject(id))))
    }
}

fn subject(id: &str) -> String {
    format!("campaign {id}")
}
