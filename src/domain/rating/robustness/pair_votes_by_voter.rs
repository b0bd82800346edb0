//! Rated votes of each voter, by pair.

use super::super::counts::tally::Tally;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::{Labels, VoteLog};
use super::pair_winner::PairWinner;

/// A vote of one voter.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedVote {
    /// Position in [`Tally::pairs`].
    pub(super) pair: usize,
    pub(super) kind: PairWinner,
}

/// Groups the rated votes by voter, the most active first; `None` if the log has no voters. Votes without a voter are left out.
pub(super) fn pair_votes_by_voter(log: &VoteLog, scoring: Scoring, tally: &Tally) -> Option<Vec<Vec<CountedVote>>> {
    let labels = log.voters.as_ref()?;
    let mut places = vec![0; log.models.as_slice().len()];
    tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = place);
    let mut pair_votes_by_voter: Vec<Vec<CountedVote>> = vec![Vec::new(); labels.names.as_slice().len()];
    for row in 0..log.len() {
        let (voter, outcome) = (labels.rows[row], log.outcomes[row]);
        if voter == Labels::NONE || !scoring.counts(outcome) {
            continue;
        }
        let (a, b) = (places[log.a[row] as usize], places[log.b[row] as usize]);
        let pair = tally.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |pair| (pair.first, pair.second));
        let vote = pair.map(|pair| CountedVote { pair, kind: PairWinner::new(outcome, a < b) });
        pair_votes_by_voter[voter as usize].extend(vote);
    }
    pair_votes_by_voter.retain(|votes| !votes.is_empty());
    pair_votes_by_voter.sort_by_key(|votes| std::cmp::Reverse(votes.len()));
    Some(pair_votes_by_voter)
}
