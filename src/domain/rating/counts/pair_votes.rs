//! Votes of each pair of models by outcome, regardless of sides.

use std::collections::HashMap;

use super::pair_counts::PairCounts;

/// Update of the counts of a running tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyProgress<'a> {
    /// Votes were excluded or rated again: all counts restart at zero.
    Reset,
    /// New votes of a pair; the counts have the first model named first.
    Pair([&'a str; 2], PairCounts),
}

/// Votes of each pair by outcome.
#[derive(Debug, Clone, Default)]
pub struct PairVotes(HashMap<(String, String), PairCounts>);

impl PairVotes {
    /// Returns the votes of a pair; the counts have `one` first.
    #[must_use]
    pub fn of(&self, one: &str, other: &str) -> PairCounts {
        in_order(one, other, self.0.get(&pair_key(one, other)).copied().unwrap_or_default())
    }

    /// Applies an update of a tally.
    pub fn count(&mut self, counted: TallyProgress<'_>) {
        match counted {
            TallyProgress::Reset => self.0.clear(),
            TallyProgress::Pair([one, other], votes) => {
                *self.0.entry(pair_key(one, other)).or_default() += in_order(one, other, votes);
            }
        }
    }
}

/// Converts counts with `one` first to the order of [`pair_key`], and back.
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
