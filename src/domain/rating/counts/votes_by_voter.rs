//! Rated votes of a log, grouped by voter.

use super::tally::Tally;
use crate::battle::Outcome;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{Labels, VoteLog};

/// One rated vote.
#[derive(Debug, Clone, Copy)]
pub(in crate::rating) struct VoterVote {
    /// The model on side A, by position in [`Tally::models`].
    pub(in crate::rating) a: u32,
    /// The model on side B.
    pub(in crate::rating) b: u32,
    /// Row in the log.
    pub(in crate::rating) row: u32,
    pub(in crate::rating) outcome: Outcome,
}

/// Rated votes by voter, in log order; each vote without a voter is its own group.
///
/// Votes are copied, since reading the rows of a voter from the log would miss the cache at every vote.
pub(in crate::rating) struct VotesByVoter {
    votes: Vec<VoterVote>,
    /// Start of each voter's votes, and the end of the last.
    starts: Vec<usize>,
}

/// Marks a model without a rated vote.
const UNRATED: u32 = u32::MAX;

impl VotesByVoter {
    /// Groups the votes that `tally` counts.
    pub(in crate::rating) fn new(log: &VoteLog, voters: &Labels, scoring: Scoring, tally: &Tally) -> Self {
        let mut places = vec![UNRATED; log.models.as_slice().len()];
        for (place, model) in (0_u32..).zip(&tally.models) {
            places[model.index] = place;
        }
        let counted = Outcome::ALL.map(|outcome| scoring.counts(outcome));
        let vote_in = |row: u32| {
            let outcome = log.outcomes[row as usize];
            let (a, b) = (places[log.a[row as usize] as usize], places[log.b[row as usize] as usize]);
            (counted[outcome as usize] && a != UNRATED && b != UNRATED).then_some(VoterVote { a, b, row, outcome })
        };
        let known = voters.names.as_slice().len();
        let mut starts = vec![0; known + 1];
        let mut unnamed = Vec::new();
        for (row, &voter) in (0_u32..).zip(&voters.rows) {
            match vote_in(row) {
                Some(vote) if voter == Labels::NONE => unnamed.push(vote),
                Some(_) => starts[voter as usize + 1] += 1,
                None => {}
            }
        }
        (0..known).for_each(|voter| starts[voter + 1] += starts[voter]);
        let mut next = starts.clone();
        let mut votes = vec![VoterVote { a: 0, b: 0, row: 0, outcome: Outcome::Tie }; starts[known]];
        for (row, &voter) in (0_u32..).zip(&voters.rows).filter(|(_, voter)| **voter != Labels::NONE) {
            if let Some(vote) = vote_in(row) {
                let at = &mut next[voter as usize];
                votes[*at] = vote;
                *at += 1;
            }
        }
        for vote in unnamed {
            votes.push(vote);
            starts.push(votes.len());
        }
        Self { votes, starts }
    }

    /// Returns the number of groups, including voters without a rated vote.
    pub(in crate::rating) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of votes.
    pub(in crate::rating) fn votes(&self) -> usize {
        self.votes.len()
    }

    /// Returns the votes of a group.
    pub(in crate::rating) fn of(&self, voter: usize) -> &[VoterVote] {
        &self.votes[self.starts[voter]..self.starts[voter + 1]]
    }

    /// Iterates over the votes of each voter with any.
    pub(in crate::rating) fn iter(&self) -> impl Iterator<Item = &[VoterVote]> {
        (0..self.len()).map(|voter| self.of(voter)).filter(|votes| !votes.is_empty())
    }
}
