//! Review queues of leaks, which a reviewer confirms or withdraws, and of prompt labels. Each decision has its own audit log entry.

use serde_json::json;

use super::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::labeling::LabelOrigin;
use crate::domain::labeling::queue::QueuedQuery;
use crate::domain::labeling::scheme::Scheme;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{LabelSource, LeakDecision, LeakReview, NewLabel, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Review queues of leaks and labels.
pub struct Reviews<'r> {
    /// The database.
    pub store: &'r Store,
    /// Source of audit entry ids.
    pub rng: &'r SharedRng,
    /// Clock of the decisions.
    pub clock: &'r dyn Clock,
    /// Actor that decides, for the audit log.
    pub actor: Actor,
}

impl Reviews<'_> {
    /// Returns the first undecided leak after the vote with this number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn next_leak(&self, after: i64) -> Result<Option<LeakReview>, StoreError> {
        let Some(vote) = self.store.next_leak(after).await? else { return Ok(None) };
        let record = self.store.battle_record(&vote.battle).await?;
        Ok(Some(LeakReview { vote, record, open: self.store.open_leaks().await? }))
    }

    /// Decides a leak. Returns whether it was pending; if not, nothing is written, because an audit entry about a vote that is not cast yet
    /// would keep its leak out of the queue.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decide_leak(&self, vote: i64, decision: LeakDecision) -> Result<bool, StoreError> {
        let action = match decision {
            LeakDecision::Confirm => AdminAction::ConfirmLeak,
            LeakDecision::Withdraw => AdminAction::IncludeVotes,
        };
        let mut entry = self.actor.entry(self.rng, self.clock, action, &format!("vote {vote}"));
        if decision == LeakDecision::Withdraw {
            entry.former = audit_json(&json!({ "rule": ExclusionRule::IdentityLeak.name(), "votes": 1 }));
        }
        self.store.decide_leak(vote, decision, &entry).await
    }

    /// Returns the prompt with the lowest classifier confidence that this reviewer has not labelled.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn next_label(&self, scheme: Scheme) -> Result<Option<QueuedQuery>, StoreError> {
        Ok(self.store.review_queue(scheme, &self.actor.name, 1).await?.pop())
    }

    /// Labels a prompt, as `langya label review` does. The entry of the audit log follows the label.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn decide_label(&self, scheme: Scheme, query_id: &str, label: &'static str) -> Result<(), StoreError> {
        let by = LabelSource { scheme, source: LabelOrigin::Review, name: &self.actor.name };
        self.store.put_labels(by, &[NewLabel { query_id, label, confidence: None }], self.clock.now()).await?;
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::ReviewLabel, &format!("prompt {query_id}"));
        entry.latter = audit_json(&json!({ "scheme": scheme.as_str(), "label": label }));
        self.store.add_audit_entry(&entry).await
    }
}
