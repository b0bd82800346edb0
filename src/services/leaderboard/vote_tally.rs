//! Incremental counts of the rated votes: all that the published leaderboard needs.
//!
//! The counts are stored in the database every few thousand votes, so that a new process reads only the votes after
//! them. Counts are integers and Elo ratings are stored exactly, so restored counts equal a fresh count of the whole
//! log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::vote_log::ReadLogError;
use crate::domain::rating::comparison::ComparisonSet;
use crate::domain::rating::elo::EloTable;
use crate::domain::rating::facets::Facets;
use crate::domain::rating::pair_counts::PairCounts;
use crate::domain::rating::scoring::Scoring;
use crate::domain::rating::vote_log::Names;
use crate::infra::storage::{PackedVote, Store, StoredCounts, VoteColumn, VotePage, VoteRange};

/// Sequence numbers in one page.
const PAGE: i64 = 10_000;
/// New votes after which the counts are stored: reading this many takes a few hundredths of a second.
const STORE_AFTER: u64 = 5_000;
/// Version of the stored format; counts in another version are not restored.
const FORMAT: u32 = 1;

/// Counts of the rated votes, and how far the log was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteTally {
    /// Counts by pair.
    pub comparisons: ComparisonSet,
    /// Elo ratings after them.
    pub elo: EloTable,
    /// Votes read, including excluded ones.
    pub read: u64,
    /// Excluded votes by rule.
    pub excluded: BTreeMap<String, u64>,
    /// Rated votes by language, category and intent.
    pub facets: Facets,
    last_seq: i64,
    /// Whether stored counts were restored up.
    restored: bool,
    /// `read` when the counts were last stored.
    stored_read: u64,
}

/// When to store the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreWhen {
    /// When many votes are new.
    ManyNew,
    /// When any vote is new, as at shutdown.
    AnyNew,
}

/// The columns that facets count, in the order of [`facet_counts`].
const FACET_COLUMNS: [VoteColumn; 3] = [VoteColumn::Language, VoteColumn::Category, VoteColumn::Intent];

fn facet_counts(facets: &mut Facets) -> [&mut BTreeMap<String, u64>; 3] {
    [&mut facets.languages, &mut facets.categories, &mut facets.intents]
}

fn count<'a>(field: &mut BTreeMap<String, u64>, values: impl Iterator<Item = &'a str>) {
    for value in values.filter(|value| !value.is_empty()) {
        match field.get_mut(value) {
            Some(count) => *count += 1,
            None => drop(field.insert(value.to_owned(), 1)),
        }
    }
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct StoredTally {
    format: u32,
    read: u64,
    excluded: BTreeMap<String, u64>,
    models: Vec<String>,
    /// Two positions in `models`, wins of the first, wins of the second, ties, both bad.
    pairs: Vec<(u32, u32, u64, u64, u64, u64)>,
    elo: EloTable,
    facets: Facets,
}

impl VoteTally {
    /// Sequence number of the latest vote read.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.last_seq
    }

    /// Restores stored counts on the first call, then counts the new votes of the log. Returns the number of votes
    /// read. Calls `counted` with each pair that has new votes and their number.
    ///
    /// # Errors
    /// [`ReadLogError`]; votes read before the error stay counted.
    pub async fn catch_up(
        &mut self,
        store: &Store,
        mut counted: impl FnMut(&str, &str, u64),
    ) -> Result<u64, ReadLogError> {
        if !self.restored {
            if let Some(found) = store.vote_counts().await?.and_then(|stored| Self::restore(&stored)) {
                *self = found;
                let names = self.comparisons.models();
                self.comparisons.pairs().for_each(|(one, other, counts)| {
                    counted(&names[one as usize], &names[other as usize], counts.total())
                });
            }
            self.restored = true;
        }
        let before = self.read;
        let last = store.last_vote_seq().await?;
        while self.last_seq < last {
            let upto = self.last_seq.saturating_add(PAGE).min(last);
            let range = VoteRange { after: self.last_seq, upto, ..VoteRange::ALL };
            self.add_page(&store.vote_page(range, &FACET_COLUMNS).await?, &mut counted)?;
        }
        Ok(self.read - before)
    }

    fn add_page(&mut self, page: &VotePage, mut counted: impl FnMut(&str, &str, u64)) -> Result<(), ReadLogError> {
        let mut new: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut rated = Vec::with_capacity(page.votes);
        for row in page.rows() {
            let PackedVote { models, outcome } = row?;
            rated.push(outcome.is_ok());
            match outcome {
                Ok(outcome) => {
                    let vote = self.comparisons.record(models[0], models[1], outcome)?;
                    self.elo.record(vote, Scoring::default());
                    *new.entry((vote.a, vote.b)).or_default() += 1;
                }
                Err(rule) => *self.excluded.entry(super::vote_log::rule_name(rule)).or_default() += 1,
            }
        }
        for (field, (_, values)) in facet_counts(&mut self.facets).into_iter().zip(page.columns()) {
            count(field, values.zip(&rated).filter(|(_, rated)| **rated).map(|(value, _)| value));
        }
        let names = self.comparisons.models();
        new.iter().for_each(|(&(a, b), &votes)| counted(&names[a as usize], &names[b as usize], votes));
        self.read += page.votes as u64;
        self.last_seq = page.range.upto;
        Ok(())
    }

    /// Stores the counts if enough votes are new.
    ///
    /// # Errors
    /// [`ReadLogError`].
    pub async fn store(&mut self, store: &Store, when: StoreWhen) -> Result<(), ReadLogError> {
        let new = self.read - self.stored_read;
        let least = match when {
            StoreWhen::ManyNew => STORE_AFTER,
            StoreWhen::AnyNew => 1,
        };
        if new >= least {
            store.put_vote_counts(&self.to_stored()).await?;
            self.stored_read = self.read;
        }
        Ok(())
    }

    fn to_stored(&self) -> StoredCounts {
        let mut pairs: Vec<_> = self
            .comparisons
            .pairs()
            .map(|(one, other, c)| (one, other, c.first_wins, c.second_wins, c.ties, c.both_bad))
            .collect();
        pairs.sort_unstable();
        let tally = StoredTally {
            format: FORMAT,
            read: self.read,
            excluded: self.excluded.clone(),
            models: self.comparisons.models().to_vec(),
            pairs,
            elo: self.elo.clone(),
            facets: self.facets.clone(),
        };
        let body = serde_json::to_string(&tally).expect("counts are text and finite numbers");
        StoredCounts { last_vote_seq: self.last_seq, body }
    }

    /// Restores stored counts; `None` for another format version or invalid model positions.
    fn restore(stored: &StoredCounts) -> Option<Self> {
        let tally: StoredTally = serde_json::from_str(&stored.body).ok()?;
        let known = |position: u32| (position as usize) < tally.models.len();
        if tally.format != FORMAT || !tally.pairs.iter().all(|pair| known(pair.0) && known(pair.1) && pair.0 != pair.1)
        {
            return None;
        }
        let mut names = Names::default();
        for model in &tally.models {
            names.position(model);
        }
        let pairs = tally.pairs.into_iter().map(|(one, other, first_wins, second_wins, ties, both_bad)| {
            (one, other, PairCounts { first_wins, second_wins, ties, both_bad })
        });
        Some(Self {
            comparisons: ComparisonSet::restore(names, pairs),
            elo: tally.elo,
            facets: tally.facets,
            read: tally.read,
            excluded: tally.excluded,
            last_seq: stored.last_vote_seq,
            restored: true,
            stored_read: tally.read,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Outcome;

    fn tally(votes: u32) -> VoteTally {
        let mut tally = VoteTally { restored: true, ..VoteTally::default() };
        for number in 0..votes {
            let (a, b) = (number % 7, (number % 7 + 1 + number % 5) % 7);
            if a == b {
                continue;
            }
            let outcome = Outcome::ALL[(number as usize * 31) % 4];
            let vote = tally.comparisons.record(&format!("模型 {a}"), &format!("模型 {b}"), outcome).unwrap();
            tally.elo.record(vote, Scoring::default());
            tally.read += 1;
            tally.last_seq = i64::from(number);
        }
        tally.excluded.insert("admin".into(), 3);
        tally
    }

    #[test]
    fn stored_counts_are_restored_exactly() {
        let whole = tally(1_000);
        let restored = VoteTally::restore(&whole.to_stored()).unwrap();
        assert_eq!(restored, VoteTally { stored_read: whole.read, ..whole });
    }

    #[test]
    fn counts_in_another_format_are_not_restored() {
        let stored = tally(10).to_stored();
        let other = |from: &str, to: &str| {
            assert!(stored.body.contains(from), "{}", stored.body);
            StoredCounts { body: stored.body.replacen(from, to, 1), ..stored.clone() }
        };
        assert!(VoteTally::restore(&stored).is_some());
        for changed in
            [other("\"format\":1", "\"format\":2"), other("[0,", "[9,"), other("{", ""), other("[0,1,", "[1,1,")]
        {
            assert_eq!(VoteTally::restore(&changed), None, "{}", changed.body);
        }
    }
}
