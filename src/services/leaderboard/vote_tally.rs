//! The rated votes, counted as they come: all that the published leaderboard needs of millions of them.
//!
//! The counts are kept in the database every few thousand votes, so that whoever starts reads only what came after.
//! They are whole numbers, and the Elo ratings are kept to the last bit, so what was read back is what a fresh count of
//! the whole log gives.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::vote_log::ReadLogError;
use crate::domain::rating::comparison::{ComparisonSet, PairCounts};
use crate::domain::rating::elo::EloTable;
use crate::domain::rating::scoring::Scoring;
use crate::domain::rating::vote_log::Names;
use crate::infra::storage::{PackedVote, Store, StoredCounts, VoteColumn, VotePage, VoteRange};

/// Numbers of the log that are read at a time.
const PAGE: i64 = 10_000;
/// Votes after which the counts are kept anew: as many are read in a few hundredths of a second.
const KEEP_AFTER: u64 = 5_000;
/// Counts in another shape are counted anew.
const SHAPE: u32 = 1;

/// The rated votes so far, and how far the log was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteTally {
    /// The rated votes, counted.
    pub comparisons: ComparisonSet,
    /// Elo ratings after them.
    pub elo: EloTable,
    /// Votes read, rated or not.
    pub read: u64,
    /// Those that are not rated, by the rule that excludes them.
    pub excluded: BTreeMap<String, u64>,
    /// What rated votes are about.
    pub facets: Facets,
    last_seq: i64,
    /// Whether the kept counts were looked for.
    looked: bool,
    /// `read` as it was when the counts were kept.
    kept: u64,
}

/// Rated votes by what they are about, where it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    /// By language.
    pub languages: BTreeMap<String, u64>,
    /// By category.
    pub categories: BTreeMap<String, u64>,
    /// By intent.
    pub intents: BTreeMap<String, u64>,
}

impl Facets {
    /// What is read of each vote, in the order of the fields.
    const COLUMNS: [VoteColumn; 3] = [VoteColumn::Language, VoteColumn::Category, VoteColumn::Intent];

    fn fields(&mut self) -> [&mut BTreeMap<String, u64>; 3] {
        [&mut self.languages, &mut self.categories, &mut self.intents]
    }
}

fn count<'a>(field: &mut BTreeMap<String, u64>, values: impl Iterator<Item = &'a str>) {
    for value in values.filter(|value| !value.is_empty()) {
        match field.get_mut(value) {
            Some(count) => *count += 1,
            None => drop(field.insert(value.to_owned(), 1)),
        }
    }
}

/// The counts as they are kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    shape: u32,
    read: u64,
    excluded: BTreeMap<String, u64>,
    models: Vec<String>,
    /// Two positions in `models`, wins of the first, wins of the second, ties, both bad.
    pairs: Vec<(u32, u32, u64, u64, u64, u64)>,
    elo: EloTable,
    facets: Facets,
}

impl VoteTally {
    /// The latest vote that was read.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.last_seq
    }

    /// Takes in the kept counts, the first time, and then what is new in the log. Returns how many votes were read.
    /// `counted` hears of every pair with new votes, and of how many.
    ///
    /// # Errors
    /// [`ReadLogError`]; what was read so far stays read.
    pub async fn catch_up(
        &mut self,
        store: &Store,
        mut counted: impl FnMut(&str, &str, u64),
    ) -> Result<u64, ReadLogError> {
        if !self.looked {
            if let Some(found) = store.vote_counts().await?.and_then(|stored| Self::restore(&stored)) {
                *self = found;
                let names = self.comparisons.models();
                self.comparisons.pairs().for_each(|(one, other, counts)| {
                    counted(&names[one as usize], &names[other as usize], counts.total())
                });
            }
            self.looked = true;
        }
        let before = self.read;
        let last = store.last_vote_seq().await?;
        while self.last_seq < last {
            let upto = self.last_seq.saturating_add(PAGE).min(last);
            let range = VoteRange { after: self.last_seq, upto, ..VoteRange::ALL };
            self.take_in(&store.vote_page(range, &Facets::COLUMNS).await?, &mut counted)?;
        }
        Ok(self.read - before)
    }

    fn take_in(&mut self, page: &VotePage, mut counted: impl FnMut(&str, &str, u64)) -> Result<(), ReadLogError> {
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
        for (field, (_, values)) in self.facets.fields().into_iter().zip(page.columns()) {
            count(field, values.zip(&rated).filter(|(_, rated)| **rated).map(|(value, _)| value));
        }
        let names = self.comparisons.models();
        new.iter().for_each(|(&(a, b), &votes)| counted(&names[a as usize], &names[b as usize], votes));
        self.read += page.votes as u64;
        self.last_seq = page.range.upto;
        Ok(())
    }

    /// Keeps the counts in the database if there are many new ones, or any and this is the `last` chance.
    ///
    /// # Errors
    /// [`ReadLogError`].
    pub async fn keep(&mut self, store: &Store, last: bool) -> Result<(), ReadLogError> {
        let new = self.read - self.kept;
        if new >= KEEP_AFTER || last && new > 0 {
            store.put_vote_counts(&self.to_stored()).await?;
            self.kept = self.read;
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
        let kept = Kept {
            shape: SHAPE,
            read: self.read,
            excluded: self.excluded.clone(),
            models: self.comparisons.models().to_vec(),
            pairs,
            elo: self.elo.clone(),
            facets: self.facets.clone(),
        };
        let body = serde_json::to_string(&kept).expect("counts are text and finite numbers");
        StoredCounts { last_vote_seq: self.last_seq, body }
    }

    /// What was kept; `None` where it is in another shape, or refers to models that it does not have.
    fn restore(stored: &StoredCounts) -> Option<Self> {
        let kept: Kept = serde_json::from_str(&stored.body).ok()?;
        let known = |position: u32| (position as usize) < kept.models.len();
        if kept.shape != SHAPE || !kept.pairs.iter().all(|pair| known(pair.0) && known(pair.1) && pair.0 != pair.1) {
            return None;
        }
        let mut names = Names::default();
        for model in &kept.models {
            names.position(model);
        }
        let pairs = kept.pairs.into_iter().map(|(one, other, first_wins, second_wins, ties, both_bad)| {
            (one, other, PairCounts { first_wins, second_wins, ties, both_bad })
        });
        Some(Self {
            comparisons: ComparisonSet::restore(names, pairs),
            elo: kept.elo,
            facets: kept.facets,
            read: kept.read,
            excluded: kept.excluded,
            last_seq: stored.last_vote_seq,
            looked: true,
            kept: kept.read,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Outcome;

    fn tally(votes: u32) -> VoteTally {
        let mut tally = VoteTally { looked: true, ..VoteTally::default() };
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
    fn counts_that_were_kept_come_back_to_the_last_bit() {
        let whole = tally(1_000);
        let restored = VoteTally::restore(&whole.to_stored()).unwrap();
        assert_eq!(restored, VoteTally { kept: whole.read, ..whole });
    }

    #[test]
    fn counts_in_another_shape_are_not_taken() {
        let stored = tally(10).to_stored();
        let other = |from: &str, to: &str| {
            assert!(stored.body.contains(from), "{}", stored.body);
            StoredCounts { body: stored.body.replacen(from, to, 1), ..stored.clone() }
        };
        assert!(VoteTally::restore(&stored).is_some());
        for changed in
            [other("\"shape\":1", "\"shape\":2"), other("[0,", "[9,"), other("{", ""), other("[0,1,", "[1,1,")]
        {
            assert_eq!(VoteTally::restore(&changed), None, "{}", changed.body);
        }
    }
}
