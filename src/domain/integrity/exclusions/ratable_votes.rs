//! All votes of a log that could be rated, including excluded ones, for fits under other exclusions than those in force.

use std::collections::BTreeMap;

use super::exclusions_in_force::ExclusionsInForce;
use crate::rating::votes::vote_log::VoteLog;

/// Votes with their sequence numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RatableVotes {
    /// Votes, whether excluded or not.
    pub log: VoteLog,
    /// Sequence number of each vote in the log.
    pub numbers: Vec<i64>,
}

impl RatableVotes {
    /// Returns the log for a fit: the rated votes, and the excluded ones counted by rule.
    #[must_use]
    pub fn rated(&self, exclusions: &ExclusionsInForce) -> VoteLog {
        let mut log = self.log.clone();
        let mut is_rated = |&number: &i64| match exclusions.rule_of(number) {
            Some(rule) => {
                log.exclude_vote(rule);
                false
            }
            None => true,
        };
        let keep: Vec<bool> = self.numbers.iter().map(&mut is_rated).collect();
        if let Some(excluded) = &mut log.excluded_votes {
            let mut columns = VoteLog { excluded: BTreeMap::new(), excluded_votes: None, ..self.log.clone() };
            columns.retain(&keep.iter().map(|keep| !keep).collect::<Vec<bool>>());
            excluded.columns.append(&columns);
        }
        log.retain(&keep);
        // A fit must not contain models or voters without rated votes.
        log.forget_unused_names();
        log
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::battle::Outcome::{AWins, BWins, Tie};
    use crate::rating::votes::slice::Slice;
    use crate::rating::votes::vote_log::ColumnSet;

    #[test]
    fn excluded_votes_are_counted_and_the_log_is_that_of_the_others() {
        let columns = ColumnSet { voters: true, languages: true, ..ColumnSet::default() };
        let votes = [
            (4, "x", "y", AWins, "ann"),
            (6, "new", "x", BWins, "bob"),
            (7, "y", "x", Tie, ""),
            (8, "z", "y", AWins, "ann"),
        ];
        let log_of = |numbers: &[i64]| {
            let mut cast = RatableVotes { log: VoteLog::with_columns(columns), numbers: Vec::new() };
            for (number, a, b, outcome, voter) in votes.into_iter().filter(|vote| numbers.contains(&vote.0)) {
                cast.log.push(a, b, outcome).unwrap();
                cast.log.voters.as_mut().unwrap().push(Some(voter).filter(|voter| !voter.is_empty()));
                cast.log.languages.as_mut().unwrap().push(Some("en"));
                cast.numbers.push(number);
            }
            cast
        };
        let all = log_of(&[4, 6, 7, 8]);
        let admin = Arc::from("admin");
        let rated = all.rated(&[(4, Arc::clone(&admin)), (6, Arc::clone(&admin)), (99, admin)].into_iter().collect());
        let expected = VoteLog { excluded: [("admin".to_owned(), 2)].into(), ..log_of(&[7, 8]).log };
        assert_eq!(rated, expected, "neither a model nor a voter of the excluded votes is left");
        assert_eq!(all.rated(&ExclusionsInForce::default()), all.log);
    }

    #[test]
    fn a_slice_counts_the_excluded_votes_that_it_selects() {
        let slice = Slice { language: Some("en".into()), ..Slice::default() };
        let mut columns = ColumnSet::default();
        slice.add_columns(&mut columns);
        let mut all = RatableVotes { log: VoteLog::with_columns(columns), numbers: Vec::new() };
        for (number, language) in [(1, "en"), (2, "zh"), (3, "en"), (4, "zh"), (5, "en")] {
            all.log.push("x", "y", AWins).unwrap();
            all.log.languages.as_mut().unwrap().push(Some(language));
            all.numbers.push(number);
        }
        let admin: Arc<str> = Arc::from("admin");
        let exclusions = [1, 2, 4].map(|number| (number, Arc::clone(&admin))).into_iter().collect();
        let log = slice.take(all.rated(&exclusions)).unwrap();
        assert_eq!((log.len(), log.excluded), (2, [("admin".to_owned(), 1)].into()));
    }
}
