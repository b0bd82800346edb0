//! Counts the votes of the database incrementally.
//!
//! The counts are stored every few thousand votes, so that a new process reads only the votes after them.

use std::collections::BTreeMap;

use super::vote_log::ReadLogError;
use crate::domain::rating::counts::pair_counts::PairCounts;
use crate::domain::rating::counts::pair_votes::TallyProgress;
use crate::domain::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::domain::rating::vote_counts::VoteCounts;
use crate::storage::{PackedOutcome, PackedVote, Store, StoreError, StoredCounts, VoteColumn, VotePage, VoteRange};

/// Sequence numbers in one page.
const PAGE_SIZE: i64 = 10_000;
/// Number of new votes after which the counts are stored: reading this many takes a few hundredths of a second.
const MIN_VOTES_TO_STORE: u64 = 5_000;

/// Counts of the votes, and the position in the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteTally {
    /// The counts.
    pub counts: VoteCounts,
    last_seq: i64,
    /// Whether stored counts were looked up.
    restored: bool,
    /// Number of votes read when the counts were last stored.
    stored_read: u64,
}

/// Condition for storing the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreWhen {
    /// Many votes are new.
    ManyNew,
    /// Any vote is new, as at shutdown.
    AnyNew,
}

/// Columns whose values are counted, in the order of [`counts_by_column`].
const SLICE_COLUMNS: [VoteColumn; 3] = [VoteColumn::Language, VoteColumn::Category, VoteColumn::Intent];

fn counts_by_column(slices: &mut SliceVoteCounts) -> [&mut BTreeMap<String, u64>; 3] {
    [&mut slices.languages, &mut slices.categories, &mut slices.intents]
}

fn count<'a>(field: &mut BTreeMap<String, u64>, values: impl Iterator<Item = &'a str>) {
    for value in values.filter(|value| !value.is_empty()) {
        match field.get_mut(value) {
            Some(count) => *count += 1,
            None => drop(field.insert(value.to_owned(), 1)),
        }
    }
}

impl VoteTally {
    /// Returns the sequence number of the latest vote read.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.last_seq
    }

    /// Whether exclusions of earlier votes have changed since the last count.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_outdated(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(store.exclusion_changes().await? != self.counts.exclusion_changes)
    }

    /// Restores stored counts on the first call, then counts the new votes of the log; all of them again if votes were excluded or an
    /// exclusion was withdrawn since. Returns the number of votes read and reports the counts to `counted`.
    ///
    /// # Errors
    /// [`ReadLogError`]; votes read before the error stay counted.
    pub async fn catch_up(
        &mut self,
        store: &Store,
        counted: impl FnMut(TallyProgress<'_>),
    ) -> Result<u64, ReadLogError> {
        self.catch_up_to(store, i64::MAX, counted).await
    }

    /// Counts like [`Self::catch_up`], but no vote with a higher sequence number than `upto`.
    ///
    /// # Errors
    /// [`ReadLogError`]; votes read before the error stay counted.
    pub async fn catch_up_to(
        &mut self,
        store: &Store,
        upto: i64,
        mut counted: impl FnMut(TallyProgress<'_>),
    ) -> Result<u64, ReadLogError> {
        let exclusion_changes = store.exclusion_changes().await?;
        if !self.restored {
            self.restore(store, upto, exclusion_changes, &mut counted).await?;
        }
        if self.counts.exclusion_changes != exclusion_changes || self.last_seq > upto {
            *self = Self { counts: VoteCounts { exclusion_changes, ..VoteCounts::default() }, ..Self::default() };
            self.restored = true;
            counted(TallyProgress::Reset);
        }
        let before = self.counts.read;
        let last = store.last_vote_seq().await?.min(upto);
        while self.last_seq < last {
            let upto = self.last_seq.saturating_add(PAGE_SIZE).min(last);
            let range = VoteRange { after: self.last_seq, upto, ..VoteRange::ALL };
            self.add_page(&store.vote_page(range, &SLICE_COLUMNS).await?, &mut counted)?;
        }
        Ok(self.counts.read - before)
    }

    async fn restore(
        &mut self,
        store: &Store,
        upto: i64,
        exclusion_changes: i64,
        counted: &mut impl FnMut(TallyProgress<'_>),
    ) -> Result<(), ReadLogError> {
        let stored = store.vote_counts().await?;
        self.restored = true;
        self.counts.exclusion_changes = exclusion_changes;
        let Some(stored) = stored.filter(|stored| stored.last_vote_seq <= upto) else { return Ok(()) };
        let counts = VoteCounts::from_json(&stored.body).filter(|found| found.exclusion_changes == exclusion_changes);
        if let Some(counts) = counts {
            let names = counts.comparisons.models();
            counts.comparisons.pairs().for_each(|(one, other, votes)| {
                counted(TallyProgress::Pair([&names[one as usize], &names[other as usize]], votes))
            });
            self.stored_read = counts.read;
            self.last_seq = stored.last_vote_seq;
            self.counts = counts;
        }
        Ok(())
    }

    fn add_page(&mut self, page: &VotePage, mut counted: impl FnMut(TallyProgress<'_>)) -> Result<(), ReadLogError> {
        let mut new: BTreeMap<(u32, u32), PairCounts> = BTreeMap::new();
        let mut rated = Vec::with_capacity(page.votes);
        for row in page.rows() {
            let PackedVote { models, outcome } = row?;
            rated.push(outcome.is_rated());
            match outcome {
                PackedOutcome::Rated(outcome) => {
                    let vote = self.counts.record(models[0], models[1], outcome)?;
                    new.entry((vote.a, vote.b)).or_default().add(outcome, true);
                }
                PackedOutcome::Excluded(rule) => self.counts.exclude(rule),
            }
        }
        for (field, (_, values)) in counts_by_column(&mut self.counts.slices).into_iter().zip(page.columns()) {
            count(field, values.zip(&rated).filter(|(_, rated)| **rated).map(|(value, _)| value));
        }
        let names = self.counts.comparisons.models();
        for (&(a, b), &votes) in &new {
            counted(TallyProgress::Pair([&names[a as usize], &names[b as usize]], votes));
        }
        self.counts.read += page.votes as u64;
        self.last_seq = page.range.upto;
        Ok(())
    }

    /// Stores the counts if enough votes are new.
    ///
    /// # Errors
    /// [`ReadLogError`].
    pub async fn store(&mut self, store: &Store, when: StoreWhen) -> Result<(), ReadLogError> {
        let new = self.counts.read - self.stored_read;
        let least = match when {
            StoreWhen::ManyNew => MIN_VOTES_TO_STORE,
            StoreWhen::AnyNew => 1,
        };
        if new >= least {
            let stored = StoredCounts { last_vote_seq: self.last_seq, body: self.counts.to_json() };
            store.put_vote_counts(&stored).await?;
            self.stored_read = self.counts.read;
        }
        Ok(())
    }
}
