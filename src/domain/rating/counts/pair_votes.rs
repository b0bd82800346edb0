//! How many votes each pair of models has, whichever of them stood on side A.

use std::collections::HashMap;

use super::pair_counts::PairCounts;

/// What a tally of votes reports of its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyProgress<'a> {
    /// Votes were excluded or rated again, so all counts begin again at zero.
    Reset,
    /// New votes of a pair; the first model of the counts is the first one named.
    Pair([&'a str; 2], PairCounts),
}

/// The votes of each pair by outcome.
#[derive(Debug, Clone, Default)]
pub struct PairVotes(HashMap<(String, String), PairCounts>);

impl PairVotes {
    /// The votes of a pair; the counts have `one` first.
    #[must_use]
    pub fn of(&self, one: &str, other: &str) -> PairCounts {
        in_order(one, other, self.0.get(&pair_key(one, other)).copied().unwrap_or_default())
    }

    /// Takes in what a tally reports.
    pub fn count(&mut self, counted: TallyProgress<'_>) {
        match counted {
            TallyProgress::Reset => self.0.clear(),
            TallyProgress::Pair([one, other], votes) => {
                *self.0.entry(pair_key(one, other)).or_default() += in_order(one, other, votes);
            }
        }
    }
}

/// Counts with `one` first as those of a key of [`pair_key`], and back.
fn in_order(one: &str, other: &str, counts: PairCounts) -> PairCounts {
    if one <= other { counts } else { counts.swapped() }
}

fn pair_key(one: &str, other: &str) -> (String, String) {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    (first.to_owned(), second.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;

    #[test]
    fn a_pair_is_counted_together_from_either_side() {
        let mut wins = PairCounts::default();
        wins.add(Outcome::AWins, true);
        let mut votes = PairVotes::default();
        votes.count(TallyProgress::Pair(["one", "other"], wins));
        votes.count(TallyProgress::Pair(["other", "one"], wins));
        let mut both = wins;
        both += wins.swapped();
        assert_eq!(votes.of("one", "other"), both);
        votes.count(TallyProgress::Pair(["one", "other"], wins));
        assert_eq!(votes.of("other", "one"), votes.of("one", "other").swapped());
        assert_ne!(votes.of("other", "one"), votes.of("one", "other"));
        votes.count(TallyProgress::Reset);
        assert_eq!(votes.of("one", "other"), PairCounts::default());
    }
}
