//! Cluster bootstrap: replicates draw voters, each with all of its votes, because the votes of one person are not independent (Field
//! and Welsh 2007).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::battle::Outcome;
use crate::rating::counts::pair_counts::PairCounts;
use crate::rating::counts::tally::{PairTally, Tally};
use crate::rating::counts::votes_by_voter::{VoterVote, VotesByVoter};
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{VoteLog, VotersKnown};

/// Number of kinds of votes of a pair: for its first model, for its second, ties, "both bad".
const VOTE_KINDS: usize = 4;
const TIE_INDEX: usize = 2;
const BOTH_BAD_INDEX: usize = 3;
/// Number of replicates that are counted in one pass.
pub(in crate::rating) const REPLICATES_PER_PASS: usize = 8;

/// The votes of each voter, by pair and kind.
pub(in crate::rating) struct VoterVotes {
    /// The pair's position in the tally times [`VOTE_KINDS`], plus the kind.
    votes: Vec<u32>,
    /// Start of each voter's votes, and the end of the last.
    starts: Vec<usize>,
    /// Group of each voter in the [`VotesByVoter`].
    groups: Vec<usize>,
}

/// Groups the votes by voter, where several are known; `None` where single votes are to be drawn.
pub(in crate::rating) fn votes_to_resample(log: &VoteLog, scoring: Scoring, tally: &Tally) -> Option<VotesByVoter> {
    let voters = log.voters.as_ref().filter(|_| log.voters_known() == VotersKnown::Several)?;
    Some(VotesByVoter::new(log, voters, scoring, tally))
}

impl VoterVotes {
    /// Collects the votes that `tally` counts. A vote without a voter is its own group. Voters are sorted by their votes, so that the
    /// order of the log does not decide which of them a random number draws.
    pub(in crate::rating) fn new(by_voter: &VotesByVoter, tally: &Tally) -> Self {
        let sorted_votes = |group: usize| {
            let of_voter = by_voter.of(group).iter();
            let mut votes: Vec<u32> = of_voter.filter_map(|vote| kind_of_vote(vote, tally)).collect();
            votes.sort_unstable();
            (votes, group)
        };
        let with_votes = (0..by_voter.len()).filter(|&group| !by_voter.of(group).is_empty());
        let mut voters: Vec<(Vec<u32>, usize)> = with_votes.map(sorted_votes).collect();
        voters.sort_unstable_by(|(x, of_x), (y, of_y)| {
            as_rated(x).cmp(as_rated(y)).then_with(|| x.cmp(y)).then_with(|| of_x.cmp(of_y))
        });
        let (mut votes, mut starts) = (Vec::with_capacity(by_voter.votes()), vec![0]);
        let mut groups = Vec::with_capacity(voters.len());
        for (of_voter, group) in voters {
            votes.extend(of_voter);
            starts.push(votes.len());
            groups.push(group);
        }
        Self { votes, starts, groups }
    }

    /// Returns the number of voters.
    pub(in crate::rating) fn voters(&self) -> usize {
        self.starts.len() - 1
    }

    /// Draws, for each stream, as many voters as there are with replacement and tallies their votes. Each vote has the mean weight of its
    /// pair and outcome. One pass over the votes counts them for [`REPLICATES_PER_PASS`] replicates.
    pub(in crate::rating) fn sample_tallies(&self, tally: &Tally, rngs: &mut [ChaCha8Rng]) -> Vec<Vec<PairTally>> {
        self.sample_counts(tally.pairs.len(), rngs).iter().map(|drawn| tally_of(tally, drawn)).collect()
    }

    /// Counts by outcome, for each of the tally's `pairs` pairs, the votes that [`sample_tallies`](Self::sample_tallies) draws.
    pub(in crate::rating) fn sample_counts(&self, pairs: usize, rngs: &mut [ChaCha8Rng]) -> Vec<Vec<PairCounts>> {
        let drawn = rngs.chunks_mut(REPLICATES_PER_PASS).flat_map(|rngs| {
            let counts = self.counts_of(rngs, VOTE_KINDS * pairs);
            (0..rngs.len()).map(move |replicate| {
                counts
                    .chunks_exact(VOTE_KINDS)
                    .map(|kinds| counts_of_pair(kinds, replicate))
                    .collect::<Vec<PairCounts>>()
            })
        });
        drawn.collect()
    }

    /// Counts how often each of the log's `rows` votes is among those that [`sample_tallies`](Self::sample_tallies) draws for this stream.
    pub(in crate::rating) fn sample_rows(
        &self,
        by_voter: &VotesByVoter,
        rows: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<u32> {
        let mut times = vec![0; rows];
        for (&group, drawn) in self.groups.iter().zip(self.sample_voters(rng)) {
            by_voter.of(group).iter().for_each(|vote| times[vote.row as usize] = drawn);
        }
        times
    }

    /// Draws voters with replacement and returns how often each is drawn.
    fn sample_voters(&self, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let mut times = vec![0; self.voters()];
        (0..self.voters()).for_each(|_| times[rng.random_range(0..self.voters())] += 1);
        times
    }

    /// Counts how often each kind of vote is drawn, in each of up to [`REPLICATES_PER_PASS`] replicates.
    fn counts_of(&self, rngs: &mut [ChaCha8Rng], kinds: usize) -> Vec<[u32; REPLICATES_PER_PASS]> {
        let mut times: [Vec<u32>; REPLICATES_PER_PASS] = std::array::from_fn(|_| vec![0; self.voters()]);
        for (times, rng) in times.iter_mut().zip(rngs) {
            *times = self.sample_voters(rng);
        }
        let mut counts = vec![[0; REPLICATES_PER_PASS]; kinds];
        for (voter, ends) in self.starts.windows(2).enumerate() {
            let times: [u32; REPLICATES_PER_PASS] = std::array::from_fn(|replicate| times[replicate][voter]);
            for &kind in &self.votes[ends[0]..ends[1]] {
                counts[kind as usize].iter_mut().zip(times).for_each(|(count, times)| *count += times);
            }
        }
        counts
    }
}

/// Maps "both bad" votes to ties, since a fit rates the two alike.
fn as_rated(votes: &[u32]) -> impl Iterator<Item = u32> {
    votes.iter().map(|&vote| vote - u32::from(vote as usize % VOTE_KINDS == BOTH_BAD_INDEX))
}

/// Returns the drawn votes of a pair in one replicate.
fn counts_of_pair(kinds: &[[u32; REPLICATES_PER_PASS]], replicate: usize) -> PairCounts {
    let drawn = |kind: usize| u64::from(kinds[kind][replicate]);
    PairCounts { first_wins: drawn(0), second_wins: drawn(1), ties: drawn(TIE_INDEX), both_bad: drawn(BOTH_BAD_INDEX) }
}

/// Builds the pairs of one replicate that have votes.
fn tally_of(tally: &Tally, drawn: &[PairCounts]) -> Vec<PairTally> {
    let drawn = tally.pairs.iter().zip(&tally.counts).zip(drawn).filter(|(_, drawn)| drawn.total() > 0);
    let of_pair = |((pair, known), drawn): ((&PairTally, &PairCounts), &PairCounts)| {
        pair.of_drawn(*known, [drawn.first_wins, drawn.second_wins, drawn.ties + drawn.both_bad])
    };
    drawn.map(of_pair).collect()
}

fn kind_of_vote(vote: &VoterVote, tally: &Tally) -> Option<u32> {
    let (a, b) = (vote.a as usize, vote.b as usize);
    let pair = tally.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |pair| (pair.first, pair.second)).ok()?;
    let kind = match vote.outcome {
        Outcome::AWins => usize::from(a > b),
        Outcome::BWins => usize::from(a < b),
        Outcome::Tie => TIE_INDEX,
        Outcome::BothBad => BOTH_BAD_INDEX,
    };
    u32::try_from(VOTE_KINDS * pair + kind).ok()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::rating::votes::vote_log::Labels;

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
            for pair in votes.sample_tallies(&tally, &mut [ChaCha8Rng::seed_from_u64(seed)]).remove(0) {
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
            VoterVotes::new(&by_voter, &tally).sample_tallies(&tally, &mut rngs)
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
        let rngs = || (0..2 * REPLICATES_PER_PASS as u64 + 3).map(ChaCha8Rng::seed_from_u64);
        let together = votes.sample_tallies(&tally, &mut rngs().collect::<Vec<_>>());
        let apart: Vec<Vec<PairTally>> = rngs().flat_map(|rng| votes.sample_tallies(&tally, &mut [rng])).collect();
        assert_eq!(together, apart);
    }

    #[test]
    fn the_rows_that_are_drawn_are_the_votes_that_are_counted() {
        let log = log();
        let tally = Tally::from_log(&log, Scoring::default());
        let by_voter = votes_to_resample(&log, Scoring::default(), &tally).unwrap();
        let votes = VoterVotes::new(&by_voter, &tally);
        for seed in 0..16 {
            let rng = || ChaCha8Rng::seed_from_u64(seed);
            let rows = votes.sample_rows(&by_voter, log.len(), &mut rng());
            let counts = votes.sample_counts(tally.pairs.len(), &mut [rng()]).remove(0);
            let (ann, ben) = (u64::from(rows[0]), u64::from(rows[3]));
            assert_eq!(rows.iter().map(|&times| u64::from(times)).collect::<Vec<_>>(), [ann, ann, ann, ben, ben]);
            // x and y, x and z, y and z.
            let expected = [
                PairCounts { first_wins: ann, second_wins: ann, ..PairCounts::default() },
                PairCounts { ties: ben, both_bad: ann, ..PairCounts::default() },
                PairCounts { second_wins: ben, ..PairCounts::default() },
            ];
            assert_eq!(counts, expected, "seed {seed}");
        }
    }
}
