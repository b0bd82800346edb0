//! Replicates of a bootstrap that draw voters, each with all of its votes, because the votes of one person are not
//! independent (the cluster bootstrap: Field and Welsh 2007).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::tally::{PairTally, Tally};
use super::votes_by_voter::{VoterVote, VotesByVoter};
use crate::battle::Outcome;

/// Kinds of votes of a pair: for its first model, for its second, for neither.
const KINDS: usize = 3;

/// The votes of each voter, by pair and kind.
pub(super) struct VoterVotes {
    /// The pair's position in the tally times [`KINDS`], plus the kind.
    votes: Vec<u32>,
    /// Start of each voter's votes, and the end of the last.
    starts: Vec<usize>,
}

impl VoterVotes {
    /// The votes that `tally` counts. A vote without a voter is drawn by itself.
    pub(super) fn new(by_voter: &VotesByVoter, tally: &Tally) -> Self {
        let (mut votes, mut starts) = (Vec::with_capacity(by_voter.votes()), vec![0]);
        for of_voter in by_voter.iter() {
            votes.extend(of_voter.iter().filter_map(|vote| kind_of_vote(vote, tally)));
            starts.push(votes.len());
        }
        Self { votes, starts }
    }

    /// Number of voters.
    pub(super) fn voters(&self) -> usize {
        self.starts.len() - 1
    }

    /// The votes of as many voters as there are, drawn with replacement. Each vote has the mean weight of its pair and
    /// outcome.
    pub(super) fn draw(&self, tally: &Tally, rng: &mut ChaCha8Rng) -> Vec<PairTally> {
        let mut times = vec![0_u32; self.voters()];
        (0..self.voters()).for_each(|_| times[rng.random_range(0..self.voters())] += 1);
        let mut counts = vec![0_u32; KINDS * tally.pairs.len()];
        for (ends, times) in self.starts.windows(2).zip(times).filter(|(_, times)| *times > 0) {
            self.votes[ends[0]..ends[1]].iter().for_each(|&kind| counts[kind as usize] += times);
        }
        let drawn = tally.pairs.iter().zip(&tally.counts).zip(counts.chunks_exact(KINDS));
        let drawn = drawn.filter(|(_, drawn)| drawn.iter().any(|count| *count > 0));
        drawn
            .map(|((pair, known), drawn)| pair.of_drawn(*known, std::array::from_fn(|kind| drawn[kind].into())))
            .collect()
    }
}

fn kind_of_vote(vote: &VoterVote, tally: &Tally) -> Option<u32> {
    let (a, b) = (vote.a as usize, vote.b as usize);
    let pair = tally.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |pair| (pair.first, pair.second)).ok()?;
    let kind = match vote.outcome {
        Outcome::AWins => usize::from(a > b),
        Outcome::BWins => usize::from(a < b),
        Outcome::Tie | Outcome::BothBad => 2,
    };
    u32::try_from(KINDS * pair + kind).ok()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::rating::scoring::Scoring;
    use crate::rating::vote_log::{Labels, VoteLog};

    fn log() -> VoteLog {
        let (mut log, mut voters) = (VoteLog::default(), Labels::default());
        for (a, b, outcome, voter) in [
            ("x", "y", Outcome::AWins, "ann"),
            ("y", "x", Outcome::AWins, "ann"),
            ("z", "x", Outcome::BothBad, "ann"),
            ("y", "z", Outcome::BWins, "ben"),
            ("x", "z", Outcome::Tie, "ben"),
        ] {
            log.push(a, b, outcome).unwrap();
            voters.rows.push(voters.names.position(voter));
        }
        log.voters = Some(voters);
        log
    }

    #[test]
    fn a_drawn_voter_brings_all_of_its_votes() {
        let log = log();
        let tally = Tally::from_log(&log, Scoring::default());
        let by_voter = VotesByVoter::new(&log, log.voters.as_ref().unwrap(), Scoring::default(), &tally);
        let votes = VoterVotes::new(&by_voter, &tally);
        assert_eq!(votes.voters(), 2);
        // x and y, x and z, y and z: for the first, for the second, for neither.
        let ann = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];
        let ben = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
        let mut seen = [false; 3];
        for seed in 0..64 {
            let mut drawn = [[0.0; 3]; 3];
            for pair in votes.draw(&tally, &mut ChaCha8Rng::seed_from_u64(seed)) {
                drawn[pair.first + pair.second - 1] = [pair.first_wins, pair.second_wins, pair.halves];
            }
            let expected = |of_ann: f64| -> [[f64; 3]; 3] {
                std::array::from_fn(|pair| {
                    std::array::from_fn(|kind| of_ann * ann[pair][kind] + (2.0 - of_ann) * ben[pair][kind])
                })
            };
            let of_ann = (0..3_u8).find(|&times| drawn == expected(f64::from(times)));
            seen[usize::from(of_ann.unwrap_or_else(|| panic!("seed {seed}: {drawn:?}")))] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
