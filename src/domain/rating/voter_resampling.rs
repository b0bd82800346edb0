//! Replicates of a bootstrap that draw voters, each with all of its votes, because the votes of one person are not
//! independent (the cluster bootstrap: Field and Welsh 2007).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::tally::{PairTally, Tally};
use super::votes_by_voter::{VoterVote, VotesByVoter};
use crate::battle::Outcome;

/// Kinds of votes of a pair: for its first model, for its second, for neither.
const KINDS: usize = 3;
/// Replicates that are counted together.
pub(super) const TOGETHER: usize = 8;

/// The votes of each voter, by pair and kind.
pub(super) struct VoterVotes {
    /// The pair's position in the tally times [`KINDS`], plus the kind.
    votes: Vec<u32>,
    /// Start of each voter's votes, and the end of the last.
    starts: Vec<usize>,
}

impl VoterVotes {
    /// The votes that `tally` counts. A vote without a voter is drawn by itself. Voters are in the order of their votes, so that the
    /// order of the log does not decide which of them a random number draws.
    pub(super) fn new(by_voter: &VotesByVoter, tally: &Tally) -> Self {
        let sorted_votes = |of_voter: &[VoterVote]| {
            let mut votes: Vec<u32> = of_voter.iter().filter_map(|vote| kind_of_vote(vote, tally)).collect();
            votes.sort_unstable();
            votes
        };
        let mut voters: Vec<Vec<u32>> = by_voter.iter().map(sorted_votes).collect();
        voters.sort_unstable();
        let (mut votes, mut starts) = (Vec::with_capacity(by_voter.votes()), vec![0]);
        for of_voter in voters {
            votes.extend(of_voter);
            starts.push(votes.len());
        }
        Self { votes, starts }
    }

    /// Number of voters.
    pub(super) fn voters(&self) -> usize {
        self.starts.len() - 1
    }

    /// For each stream, the votes of as many voters as there are, drawn with replacement. Each vote has the mean weight of its
    /// pair and outcome. One pass over the votes counts them for [`TOGETHER`] replicates.
    pub(super) fn draw(&self, tally: &Tally, rngs: &mut [ChaCha8Rng]) -> Vec<Vec<PairTally>> {
        let drawn = rngs.chunks_mut(TOGETHER).flat_map(|rngs| {
            let counts = self.counts_of(rngs, KINDS * tally.pairs.len());
            (0..rngs.len()).map(move |replicate| of_replicate(tally, &counts, replicate))
        });
        drawn.collect()
    }

    /// How often each kind of vote was drawn, in each of up to [`TOGETHER`] replicates.
    fn counts_of(&self, rngs: &mut [ChaCha8Rng], kinds: usize) -> Vec<[u32; TOGETHER]> {
        let mut times: [Vec<u32>; TOGETHER] = std::array::from_fn(|_| vec![0; self.voters()]);
        for (times, rng) in times.iter_mut().zip(rngs) {
            (0..self.voters()).for_each(|_| times[rng.random_range(0..self.voters())] += 1);
        }
        let mut counts = vec![[0; TOGETHER]; kinds];
        for (voter, ends) in self.starts.windows(2).enumerate() {
            let times: [u32; TOGETHER] = std::array::from_fn(|replicate| times[replicate][voter]);
            for &kind in &self.votes[ends[0]..ends[1]] {
                counts[kind as usize].iter_mut().zip(times).for_each(|(count, times)| *count += times);
            }
        }
        counts
    }
}

/// The pairs of one replicate with any votes.
fn of_replicate(tally: &Tally, counts: &[[u32; TOGETHER]], replicate: usize) -> Vec<PairTally> {
    let drawn = tally.pairs.iter().zip(&tally.counts).zip(counts.chunks_exact(KINDS));
    let drawn = drawn.map(|(known, kinds)| (known, std::array::from_fn(|kind| u64::from(kinds[kind][replicate]))));
    let drawn = drawn.filter(|(_, drawn): &(_, [u64; KINDS])| drawn.iter().any(|count| *count > 0));
    drawn.map(|((pair, known), drawn)| pair.of_drawn(*known, drawn)).collect()
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

    const VOTES: [(&str, &str, Outcome, &str); 5] = [
        ("x", "y", Outcome::AWins, "ann"),
        ("y", "x", Outcome::AWins, "ann"),
        ("z", "x", Outcome::BothBad, "ann"),
        ("y", "z", Outcome::BWins, "ben"),
        ("x", "z", Outcome::Tie, "ben"),
    ];

    fn log() -> VoteLog {
        log_of(&VOTES)
    }

    fn log_of(votes: &[(&str, &str, Outcome, &str)]) -> VoteLog {
        let (mut log, mut voters) = (VoteLog::default(), Labels::default());
        for &(a, b, outcome, voter) in votes {
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
            for pair in votes.draw(&tally, &mut [ChaCha8Rng::seed_from_u64(seed)]).remove(0) {
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

    #[test]
    fn replicates_do_not_depend_on_the_order_of_the_log() {
        let drawn = |votes: &[(&str, &str, Outcome, &str)]| -> Vec<Vec<PairTally>> {
            let log = log_of(votes);
            let tally = Tally::from_log(&log, Scoring::default());
            let by_voter = VotesByVoter::new(&log, log.voters.as_ref().unwrap(), Scoring::default(), &tally);
            let mut rngs: Vec<ChaCha8Rng> = (0..64).map(ChaCha8Rng::seed_from_u64).collect();
            VoterVotes::new(&by_voter, &tally).draw(&tally, &mut rngs)
        };
        let mut reversed = VOTES;
        reversed.reverse();
        assert_eq!(drawn(&VOTES), drawn(&reversed));
    }

    #[test]
    fn replicates_drawn_together_are_those_drawn_one_by_one() {
        let log = log();
        let tally = Tally::from_log(&log, Scoring::default());
        let by_voter = VotesByVoter::new(&log, log.voters.as_ref().unwrap(), Scoring::default(), &tally);
        let votes = VoterVotes::new(&by_voter, &tally);
        let rngs = || (0..2 * TOGETHER as u64 + 3).map(ChaCha8Rng::seed_from_u64);
        let together = votes.draw(&tally, &mut rngs().collect::<Vec<_>>());
        let apart: Vec<Vec<PairTally>> = rngs().flat_map(|rng| votes.draw(&tally, &mut [rng])).collect();
        assert_eq!(together, apart);
    }
}
