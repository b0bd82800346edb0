//! Reads the [final labels](crate::domain::labeling::final_labels) of prompts.

use std::time::{Duration, Instant};

use crate::domain::battle::BattleId;
use crate::domain::labeling::final_labels::{
    FinalLabels, LabelChanges, LabeledSliceVotes, relabeled, replace_visitor_labels,
};
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::domain::time::Timestamp;
use crate::storage::{BattleLine, Store, StoreError, VoteRange};

/// Log numbers in one page.
const PAGE_SIZE: i64 = 10_000;
/// Duration of a full recount above which it is followed by a cool-down.
const SLOW_RECOUNT: Duration = Duration::from_secs(1);

/// Reads the final labels of the votes of a range. Reads nothing if no prompt has a label.
///
/// # Errors
/// [`StoreError`].
pub async fn final_labels_of(store: &Store, schemes: &[Scheme], range: VoteRange) -> Result<FinalLabels, StoreError> {
    let mut found = FinalLabels::default();
    for &scheme in schemes {
        found.add(scheme, &store.labels_of_votes(scheme, range).await?);
    }
    Ok(found)
}

/// Replaces visitors' labels by final ones in battles ordered by id, all of them after `last`.
///
/// # Errors
/// [`StoreError`].
pub async fn apply_final_labels(
    store: &Store,
    last: Option<&BattleId>,
    battles: &mut [BattleLine],
) -> Result<(), StoreError> {
    let Some(upto) = battles.last().map(|battle| battle.id.clone()) else { return Ok(()) };
    for scheme in Scheme::ALL {
        let labels = store.labels_between(scheme, last.map_or("", BattleId::as_str), upto.as_str()).await?;
        replace_visitor_labels(scheme, &labels, battles);
    }
    Ok(())
}

/// Changes of the slice vote counts by final labels. Recomputed when a label has changed, and extended with new votes, whose prompts may
/// have been labelled before. In a long log, visitors who correct labels one after the other cannot keep it busy: after a slow recount the
/// next one waits nine times as long.
#[derive(Debug, Clone, Default)]
pub struct SliceVoteChanges {
    /// Time of the last label change and number of changes to exclusions; `None` before the first refresh.
    known: Option<(Timestamp, i64)>,
    /// Number of the last included vote.
    last: i64,
    changes: [LabelChanges; 2],
    /// Earliest time of the next full recount.
    rests_until: Option<Instant>,
}

impl SliceVoteChanges {
    /// Includes the votes up to one: all of them if labels have changed, else the new ones. Returns whether anything was read.
    ///
    /// # Errors
    /// [`StoreError`]; the next call retries.
    pub async fn refresh(&mut self, store: &Store, upto: i64) -> Result<bool, StoreError> {
        let changed_at = store.labels_changed_at().await?;
        let mut known = (changed_at, store.exclusion_changes().await?);
        if let Some(before) = self.known.filter(|_| self.rests_until.is_some_and(|end| Instant::now() < end)) {
            known = before;
        }
        let same = Some(known) == self.known;
        if same && upto <= self.last {
            return Ok(false);
        }
        let mut current = if same { self.changes.clone() } else { Default::default() };
        let began = Instant::now();
        // Without any label the log need not be read.
        if changed_at != Timestamp(0) {
            let range = VoteRange { after: if same { self.last } else { 0 }, upto, ..VoteRange::ALL };
            for (changes, scheme) in current.iter_mut().zip([Scheme::Superclue, Scheme::Urs]) {
                add_changes(store, scheme, range, changes).await?;
            }
        }
        let took = began.elapsed();
        let rests_until =
            if same { self.rests_until } else { (took >= SLOW_RECOUNT).then(|| Instant::now() + 9 * took) };
        *self = Self { known: Some(known), last: upto, changes: current, rests_until };
        Ok(true)
    }

    /// Returns the counts by final labels.
    #[must_use]
    pub fn apply(&self, given: &SliceVoteCounts) -> LabeledSliceVotes {
        relabeled(given, &self.changes)
    }
}

/// Adds the changes by the final labels of the votes of a range, page by page.
async fn add_changes(
    store: &Store,
    scheme: Scheme,
    range: VoteRange,
    changes: &mut LabelChanges,
) -> Result<(), StoreError> {
    let mut after = range.after;
    while after < range.upto {
        let upto = after.saturating_add(PAGE_SIZE).min(range.upto);
        let labels = store.labels_of_votes(scheme, VoteRange { after, upto, ..range }).await?;
        changes.add(&labels);
        after = upto;
    }
    Ok(())
}
