//! Writes a [decision](crate::domain::integrity::exclusions::exclusion_decision) of the operator.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::integrity::exclusions::exclusion_decision::{ExclusionDecision, SelectedVote};
use crate::domain::time::Timestamp;
use crate::infra::storage::{NewAuditEntry, NewExclusions, Store, StoreError};

/// Context of a decision: id, actor, time and subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionContext {
    /// Id of the decision.
    pub id: String,
    /// Person or program that decides.
    pub actor: Actor,
    /// Time of the decision.
    pub decided_at: Timestamp,
    /// Description of the votes, for the audit log: see
    /// [`VoteFilter::summary`](crate::domain::integrity::vote_filter::VoteFilter::summary).
    pub subject: String,
}

/// Writes a decision for these votes in one transaction, and returns the number of exclusions made or withdrawn. Changes since the
/// selection are no error: no vote is excluded or readmitted twice.
///
/// # Errors
/// [`StoreError`].
pub async fn write_decision(
    store: &Store,
    decision: &ExclusionDecision,
    votes: &[SelectedVote],
    author: DecisionContext,
) -> Result<u64, StoreError> {
    let numbers: Vec<i64> = votes.iter().filter(|vote| decision.concerns(vote)).map(|vote| vote.seq).collect();
    let audit = audit_entry(decision, &author, numbers.len());
    let DecisionContext { id, actor, decided_at, .. } = author;
    match decision {
        ExclusionDecision::Exclude { rule, reason } => {
            let (rule, reason) = (rule.to_string(), reason.clone());
            let excluded = NewExclusions { id, rule, reason, decided_by: actor.name, decided_at };
            store.exclude(&excluded, &numbers, Some(&audit)).await
        }
        ExclusionDecision::Include { rule } => {
            store.withdraw_exclusions(&numbers, rule.as_deref(), &actor.name, decided_at, Some(&audit)).await
        }
    }
}

/// Creates the audit log entry under the id of the decision, which is the prefix of its exclusions' ids.
fn audit_entry(decision: &ExclusionDecision, author: &DecisionContext, votes: usize) -> NewAuditEntry {
    let (action, former, latter) = match decision {
        ExclusionDecision::Exclude { rule, reason } => {
            let after = json!({ "votes": votes, "rule": rule.name(), "reason": reason });
            (AdminAction::ExcludeVotes, None, audit_json(&after))
        }
        ExclusionDecision::Include { rule } => {
            let before = json!({ "votes": votes, "rule": rule });
            (AdminAction::IncludeVotes, audit_json(&before), None)
        }
    };
    let (id, acted_at, subject) = (author.id.clone(), author.decided_at, author.subject.clone());
    let Actor { name: actor, via, address } = author.actor.clone();
    NewAuditEntry { id, acted_at, actor, action, subject, former, latter, via, address }
}
