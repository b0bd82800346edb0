//! Decision of an operator: exclude votes by a rule, or withdraw exclusions.

use std::sync::Arc;

use super::exclusion_rule::ExclusionRule;
use super::exclusions_in_force::ExclusionsInForce;
use crate::battle::Outcome;
use crate::time::Timestamp;

/// Vote selected by a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedVote {
    /// Sequence number in the log.
    pub seq: i64,
    /// Pseudonym of the voter; empty where unknown.
    pub voter: Arc<str>,
    /// Models on sides A and B.
    pub models: [Arc<str>; 2],
    /// Outcome of the vote.
    pub outcome: Outcome,
    /// Time of the vote.
    pub cast_at: Timestamp,
    /// Names of the rules that exclude the vote, in alphabetical order.
    pub rules: Vec<Arc<str>>,
}

/// Decision about the selected votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExclusionDecision {
    /// Exclude the votes.
    Exclude {
        /// Rule of the exclusion.
        rule: ExclusionRule,
        /// Published reason.
        reason: String,
    },
    /// Withdraw exclusions of the votes.
    Include {
        /// Name of the rule whose exclusions to withdraw; `None` for all rules.
        rule: Option<String>,
    },
}

impl ExclusionDecision {
    /// Returns whether the decision changes the exclusions of a vote.
    #[must_use]
    pub fn concerns(&self, vote: &SelectedVote) -> bool {
        match self {
            Self::Exclude { rule, .. } => !vote.rules.iter().any(|other| **other == *rule.name()),
            Self::Include { rule: Some(rule) } => vote.rules.iter().any(|other| **other == **rule),
            Self::Include { rule: None } => !vote.rules.is_empty(),
        }
    }

    /// Returns the exclusions in force after the decision.
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let check = |decision: ExclusionDecision, concerned: &[i64], after: &[(i64, &str)]| {
            let found: Vec<i64> = votes.iter().filter(|vote| decision.concerns(vote)).map(|vote| vote.seq).collect();
            assert_eq!(found, concerned, "{decision:?}");
            let after: ExclusionsInForce = after.iter().map(|&(vote, rule)| (vote, Arc::from(rule))).collect();
            assert_eq!(decision.apply(&votes, in_force.clone()), after, "{decision:?}");
        };
        let exclude = ExclusionDecision::Exclude { rule: ExclusionRule::Admin, reason: "spam".into() };
        check(exclude, &[1], &[(1, "admin"), (2, "admin"), (3, "admin"), (3, "old_rule")]);
        check(ExclusionDecision::Include { rule: Some("admin".into()) }, &[2, 3], &[(3, "old_rule")]);
        check(ExclusionDecision::Include { rule: Some("old_rule".into()) }, &[3], &[(2, "admin"), (3, "admin")]);
        check(ExclusionDecision::Include { rule: None }, &[2, 3], &[]);
    }
}
