//! Set of the exclusions in force. Changed copies answer how the leaderboard would look with other exclusions.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Pairs of excluded votes and rules. A vote is rated while no rule excludes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExclusionsInForce {
    /// Sequence numbers of votes in the log with the name of a rule.
    pairs: BTreeSet<(i64, Arc<str>)>,
}

impl ExclusionsInForce {
    /// Returns the empty set.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Excludes a vote by a rule.
    pub fn exclude(&mut self, vote: i64, rule: &Arc<str>) {
        self.pairs.insert((vote, Arc::clone(rule)));
    }

    /// Withdraws the exclusion of a vote by a rule.
    pub fn withdraw(&mut self, vote: i64, rule: &Arc<str>) {
        self.pairs.remove(&(vote, Arc::clone(rule)));
    }

    /// Withdraws all exclusions by a rule.
    #[must_use]
    pub fn without_rule(mut self, rule: &str) -> Self {
        self.pairs.retain(|(_, other)| **other != *rule);
        self
    }

    /// Lists the rules that exclude a vote, in alphabetical order.
    pub fn rules_of(&self, vote: i64) -> impl Iterator<Item = &Arc<str>> {
        let first = (vote, Arc::from(""));
        self.pairs.range(first..).take_while(move |(other, _)| *other == vote).map(|(_, rule)| rule)
    }

    /// Returns the rule under which an excluded vote is counted: the first in alphabetical order, as in the vote log. `None` for a rated
    /// vote.
    #[must_use]
    pub fn rule_of(&self, vote: i64) -> Option<&str> {
        self.rules_of(vote).next().map(|rule| &**rule)
    }

    /// Counts the excluded votes.
    #[must_use]
    pub fn excluded_votes(&self) -> usize {
        self.pairs.iter().map(|(vote, _)| vote).collect::<BTreeSet<_>>().len()
    }

    /// Lists the names of the rules in use, in alphabetical order.
    #[must_use]
    pub fn rules(&self) -> BTreeSet<Arc<str>> {
        self.pairs.iter().map(|(_, rule)| Arc::clone(rule)).collect()
    }
}

impl FromIterator<(i64, Arc<str>)> for ExclusionsInForce {
    fn from_iter<I: IntoIterator<Item = (i64, Arc<str>)>>(pairs: I) -> Self {
        Self { pairs: pairs.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_force(pairs: &[(i64, &str)]) -> ExclusionsInForce {
        pairs.iter().map(|&(vote, rule)| (vote, Arc::from(rule))).collect()
    }

    #[test]
    fn a_vote_stays_excluded_until_its_last_rule_is_withdrawn() {
        let (admin, leak) = (Arc::from("admin"), Arc::from("identity_leak"));
        let mut exclusions = in_force(&[(7, "identity_leak"), (7, "admin"), (9, "admin")]);
        assert_eq!(exclusions.rules_of(7).map(|rule| &**rule).collect::<Vec<_>>(), ["admin", "identity_leak"]);
        assert_eq!((exclusions.rule_of(7), exclusions.rule_of(8)), (Some("admin"), None));
        exclusions.withdraw(7, &admin);
        assert_eq!((exclusions.rule_of(7), exclusions.rule_of(9)), (Some("identity_leak"), Some("admin")));
        exclusions.exclude(8, &leak);
        let only_admin = exclusions.clone().without_rule("identity_leak");
        assert_eq!(only_admin, in_force(&[(9, "admin")]));
        assert_eq!(exclusions.rules(), BTreeSet::from([admin, leak]));
    }
}
