//! Counts of the rated votes of a growing log: all that the published leaderboard needs.
//!
//! Counts are integers and Elo ratings are written exactly, so counts read from JSON equal a fresh count of the whole log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counts::comparison::{Comparison, ComparisonSet};
use super::counts::pair_counts::PairCounts;
use super::counts::slice_vote_counts::SliceVoteCounts;
use super::strengths::elo::EloTable;
use super::votes::scoring::Scoring;
use super::votes::vote_log::{InternedTexts, SelfPlay, exclusion_rule};
use crate::battle::Outcome;

/// Version of the JSON form; counts in another version are not read.
const FORMAT_VERSION: u32 = 2;

/// Counts of votes, rated and excluded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteCounts {
    /// Counts by pair.
    pub comparisons: ComparisonSet,
    /// Elo ratings after these votes.
    pub elo: EloTable,
    /// Votes read, including excluded ones.
    pub read: u64,
    /// Excluded votes by rule.
    pub excluded: BTreeMap<String, u64>,
    /// Rated votes by language, category and intent.
    pub slices: SliceVoteCounts,
    /// Number of exclusions and withdrawals before these counts; any later one invalidates them.
    pub exclusion_changes: i64,
}

/// JSON form of [`VoteCounts`].
#[derive(Serialize, Deserialize)]
struct EncodedCounts {
    format: u32,
    read: u64,
    excluded: BTreeMap<String, u64>,
    models: Vec<String>,
    /// Two positions in `models`, wins of the first, wins of the second, ties, both bad.
    pairs: Vec<(u32, u32, u64, u64, u64, u64)>,
    elo: EloTable,
    #[serde(rename = "facets")]
    slices: SliceVoteCounts,
    exclusion_changes: i64,
}

impl VoteCounts {
    /// Counts a rated vote and returns it as positions. The caller increments [`VoteCounts::read`].
    ///
    /// # Errors
    /// [`SelfPlay`] if `a` equals `b`; nothing is counted then.
    pub fn record(&mut self, a: &str, b: &str, outcome: Outcome) -> Result<Comparison, SelfPlay> {
        let vote = self.comparisons.record(a, b, outcome)?;
        self.elo.record(vote, Scoring::default());
        Ok(vote)
    }

    /// Counts a vote that a rule excludes.
    pub fn exclude(&mut self, rule: &str) {
        *self.excluded.entry(exclusion_rule(rule)).or_default() += 1;
    }

    /// Serialises the counts as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut pairs: Vec<_> = self
            .comparisons
            .pairs()
            .map(|(one, other, c)| (one, other, c.first_wins, c.second_wins, c.ties, c.both_bad))
            .collect();
        pairs.sort_unstable();
        let counts = EncodedCounts {
            format: FORMAT_VERSION,
            read: self.read,
            excluded: self.excluded.clone(),
            models: self.comparisons.models().to_vec(),
            pairs,
            elo: self.elo.clone(),
            slices: self.slices.clone(),
            exclusion_changes: self.exclusion_changes,
        };
        serde_json::to_string(&counts).expect("counts are text and finite numbers")
    }

    /// Reads [`VoteCounts::to_json`]; `None` for another format version or invalid model positions.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        let counts: EncodedCounts = serde_json::from_str(json).ok()?;
        let known = |position: u32| (position as usize) < counts.models.len();
        if counts.format != FORMAT_VERSION
            || !counts.pairs.iter().all(|pair| known(pair.0) && known(pair.1) && pair.0 != pair.1)
        {
            return None;
        }
        let mut names = InternedTexts::default();
        for model in &counts.models {
            names.position(model);
        }
        let pairs = counts.pairs.into_iter().map(|(one, other, first_wins, second_wins, ties, both_bad)| {
            (one, other, PairCounts { first_wins, second_wins, ties, both_bad })
        });
        Some(Self {
            comparisons: ComparisonSet::restore(names, pairs),
            elo: counts.elo,
            read: counts.read,
            excluded: counts.excluded,
            slices: counts.slices,
            exclusion_changes: counts.exclusion_changes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(votes: u32) -> VoteCounts {
        let mut counts = VoteCounts::default();
        for number in 0..votes {
            let (a, b) = (number % 7, (number % 7 + 1 + number % 5) % 7);
            if a != b {
                let outcome = Outcome::ALL[(number as usize * 31) % 4];
                counts.record(&format!("模型 {a}"), &format!("模型 {b}"), outcome).unwrap();
                counts.read += 1;
            }
        }
        counts.exclude("admin");
        counts
    }

    #[test]
    fn written_counts_are_read_exactly() {
        let whole = counts(1_000);
        assert_eq!(VoteCounts::from_json(&whole.to_json()), Some(whole));
    }

    #[test]
    fn counts_in_another_format_are_not_read() {
        let json = counts(10).to_json();
        assert!(VoteCounts::from_json(&json).is_some());
        for (from, to) in [("\"format\":2", "\"format\":1"), ("[0,", "[9,"), ("{", ""), ("[0,1,", "[1,1,")] {
            assert!(json.contains(from), "{json}");
            let changed = json.replacen(from, to, 1);
            assert_eq!(VoteCounts::from_json(&changed), None, "{changed}");
        }
    }
}
