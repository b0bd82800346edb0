//! Writes a [decision](crate::domain::integrity::exclusion_decision) of the operator.

use crate::domain::integrity::exclusion_decision::{Decision, SelectedVote};
use crate::domain::time::Timestamp;
use crate::infra::storage::{ExclusionDecision, Store, StoreError};

/// Who decides, when, and under which id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Id of the decision.
    pub id: String,
    /// The person or program.
    pub name: String,
    /// Time of the decision.
    pub decided_at: Timestamp,
}

/// Writes a decision for these votes, all or none, and returns how many exclusions were made or withdrawn. What changed since the
/// votes were selected is no error: nothing is excluded or withdrawn twice.
///
/// # Errors
/// [`StoreError`].
pub async fn write_decision(
    store: &Store,
    decision: &Decision,
    votes: &[SelectedVote],
    author: Author,
) -> Result<u64, StoreError> {
    let numbers: Vec<i64> = votes.iter().filter(|vote| decision.concerns(vote)).map(|vote| vote.seq).collect();
    let Author { id, name, decided_at } = author;
    match decision {
        Decision::Exclude { rule, reason } => {
            let (rule, reason) = (rule.to_string(), reason.clone());
            store.exclude(&ExclusionDecision { id, rule, reason, decided_by: name, decided_at }, &numbers).await
        }
        Decision::Include { rule } => store.withdraw_exclusions(&numbers, rule.as_deref(), &name, decided_at).await,
    }
}
