//! A decision of the operator: exclude votes by a rule, or withdraw exclusions.

use std::sync::Arc;

use serde_json::json;

use super::selection::SelectedVote;
use crate::domain::admin::action::AdminAction;
use crate::domain::integrity::exclusion_rule::ExclusionRule;
use crate::domain::integrity::exclusions_in_force::ExclusionsInForce;
use crate::domain::time::Timestamp;
use crate::infra::storage::{ExclusionDecision, NewAuditEntry, Store, StoreError};
use crate::services::admin::actor::{Actor, audit_json};

/// What is decided of the selected votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Exclude them.
    Exclude {
        /// By this rule.
        rule: ExclusionRule,
        /// Why; published.
        reason: String,
    },
    /// Withdraw what excludes them.
    Include {
        /// Only exclusions by the rule of this name.
        rule: Option<String>,
    },
}

/// Who decides, when, under which id, and about which votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Id of the decision.
    pub id: String,
    /// The person or program.
    pub actor: Actor,
    /// Time of the decision.
    pub decided_at: Timestamp,
    /// Which votes, for the audit log: see [`VoteFilter::summary`](super::selection::VoteFilter::summary).
    pub subject: String,
}

impl Decision {
    /// Whether it changes something about a vote.
    #[must_use]
    pub fn concerns(&self, vote: &SelectedVote) -> bool {
        match self {
            Self::Exclude { rule, .. } => !vote.rules.iter().any(|other| **other == *rule.name()),
            Self::Include { rule: Some(rule) } => vote.rules.iter().any(|other| **other == **rule),
            Self::Include { rule: None } => !vote.rules.is_empty(),
        }
    }

    /// The exclusions in force after it.
    #[must_use]
    pub fn apply(&self, votes: &[SelectedVote], mut in_force: ExclusionsInForce) -> ExclusionsInForce {
        for vote in votes.iter().filter(|vote| self.concerns(vote)) {
            match self {
                Self::Exclude { rule, .. } => in_force.exclude(vote.seq, &Arc::from(rule.name())),
                Self::Include { rule } => {
                    let withdrawn =
                        vote.rules.iter().filter(|other| rule.as_ref().is_none_or(|rule| ***other == **rule));
                    withdrawn.for_each(|rule| in_force.withdraw(vote.seq, rule));
                }
            }
        }
        in_force
    }

    /// Writes it for these votes, all or none, and returns how many exclusions were made or withdrawn. What changed since the
    /// votes were selected is no error: nothing is excluded or withdrawn twice.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn write(&self, store: &Store, votes: &[SelectedVote], author: Author) -> Result<u64, StoreError> {
        let numbers: Vec<i64> = votes.iter().filter(|vote| self.concerns(vote)).map(|vote| vote.seq).collect();
        let audit = self.audit(&author, numbers.len());
        let Author { id, actor, decided_at, .. } = author;
        match self {
            Self::Exclude { rule, reason } => {
                let (rule, reason) = (rule.to_string(), reason.clone());
                let decision = ExclusionDecision { id, rule, reason, decided_by: actor.name, decided_at };
                store.exclude(&decision, &numbers, Some(&audit)).await
            }
            Self::Include { rule } => {
                store.withdraw_exclusions(&numbers, rule.as_deref(), &actor.name, decided_at, Some(&audit)).await
            }
        }
    }

    /// The entry of the audit log, under the id of the decision: so its exclusions can be found, whose ids begin with it.
    fn audit(&self, author: &Author, votes: usize) -> NewAuditEntry {
        let (action, former, latter) = match self {
            Self::Exclude { rule, reason } => {
                let after = json!({ "votes": votes, "rule": rule.name(), "reason": reason });
                (AdminAction::ExcludeVotes, None, audit_json(&after))
            }
            Self::Include { rule } => {
                let before = json!({ "votes": votes, "rule": rule });
                (AdminAction::IncludeVotes, audit_json(&before), None)
            }
        };
        let (id, acted_at, subject) = (author.id.clone(), author.decided_at, author.subject.clone());
        let Actor { name: actor, via, address } = author.actor.clone();
        NewAuditEntry { id, acted_at, actor, action, subject, former, latter, via, address }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Outcome;

    fn vote(seq: i64, rules: &[&str]) -> SelectedVote {
        SelectedVote {
            seq,
            voter: "ann".into(),
            models: ["x".into(), "y".into()],
            outcome: Outcome::Tie,
            cast_at: Timestamp(0),
            rules: rules.iter().map(|&rule| rule.into()).collect(),
        }
    }

    #[test]
    fn a_decision_concerns_what_it_changes_and_nothing_else() {
        let votes = [vote(1, &[]), vote(2, &["admin"]), vote(3, &["admin", "old_rule"])];
        let in_force: ExclusionsInForce =
            votes.iter().flat_map(|vote| vote.rules.iter().map(|rule| (vote.seq, Arc::clone(rule)))).collect();
        let check = |decision: Decision, concerned: &[i64], after: &[(i64, &str)]| {
            let found: Vec<i64> = votes.iter().filter(|vote| decision.concerns(vote)).map(|vote| vote.seq).collect();
            assert_eq!(found, concerned, "{decision:?}");
            let after: ExclusionsInForce = after.iter().map(|&(vote, rule)| (vote, Arc::from(rule))).collect();
            assert_eq!(decision.apply(&votes, in_force.clone()), after, "{decision:?}");
        };
        let exclude = Decision::Exclude { rule: ExclusionRule::Admin, reason: "spam".into() };
        check(exclude, &[1], &[(1, "admin"), (2, "admin"), (3, "admin"), (3, "old_rule")]);
        check(Decision::Include { rule: Some("admin".into()) }, &[2, 3], &[(3, "old_rule")]);
        check(Decision::Include { rule: Some("old_rule".into()) }, &[3], &[(2, "admin"), (3, "admin")]);
        check(Decision::Include { rule: None }, &[2, 3], &[]);
    }
}
