//! Finds votes by voter, model, rule, battle, prompt, number or time.
//!
//! The log is scanned once and filtered here: a voter's pseudonym cannot be reversed to the database's id, and an index for each rare
//! filter of an operator would slow down every vote.

use super::prompt_index::read_prompt_index;
use crate::domain::integrity::exclusions::exclusion_decision::SelectedVote;
use crate::domain::integrity::vote_filter::{OngoingSelection, VoteFilter};
use crate::domain::time::Timestamp;
use crate::storage::{PackedOutcome, PackedVote, Store, StoreError, VoteColumn, VotePage, VoteRange};

/// Sequence numbers in one page.
const PAGE_SIZE: i64 = 10_000;
/// Columns read of each vote.
const COLUMNS: [VoteColumn; 3] = [VoteColumn::Seq, VoteColumn::Voter, VoteColumn::CreatedAt];

/// Finds the votes that match a filter, in log order. Calls `progress` with the last number read and the last of all.
///
/// # Errors
/// [`StoreError`].
pub async fn select(
    store: &Store,
    filter: &VoteFilter,
    progress: impl Fn(i64, i64),
) -> Result<Vec<SelectedVote>, StoreError> {
    let Some(range) = numbers(store, filter).await? else { return Ok(Vec::new()) };
    let of_cluster = match filter.prompt_cluster {
        Some(cluster) => Some(read_prompt_index(store, &progress).await?.votes_of(cluster)),
        None => None,
    };
    let last = store.last_vote_seq().await?.min(range.upto);
    let in_force = store.exclusions_in_force(range).await?;
    let mut selection = OngoingSelection::new(filter, of_cluster, in_force);
    let mut after = range.after;
    while after < last {
        let upto = after.saturating_add(PAGE_SIZE).min(last);
        add_page(&mut selection, &store.cast_vote_page(VoteRange { after, upto, ..range }, &COLUMNS).await?)?;
        after = upto;
        progress(after, last);
    }
    Ok(selection.into_votes())
}

/// Returns the numbers to read: those of the filter, only the vote on its battle if it names one, and `None` for a battle without a vote.
async fn numbers(store: &Store, filter: &VoteFilter) -> Result<Option<VoteRange>, StoreError> {
    let Some(battle) = &filter.battle else { return Ok(Some(filter.range)) };
    let range = filter.range;
    Ok(store.vote_on(battle).await?.map(|vote| VoteRange {
        after: range.after.max(vote.seq - 1),
        upto: range.upto.min(vote.seq),
        ..range
    }))
}

/// Passes the votes of a page to a selection.
fn add_page(selection: &mut OngoingSelection<'_>, page: &VotePage) -> Result<(), StoreError> {
    let mut columns = page.columns().map(|(_, values)| values);
    let [seqs, voters, times] = std::array::from_fn(|_| columns.next().into_iter().flatten());
    for (((row, seq), voter), time) in page.rows().zip(seqs).zip(voters).zip(times) {
        let PackedVote { models, outcome } = row?;
        let number =
            |text: &str, column: &'static str| text.parse::<i64>().map_err(|_| page.inconsistent(column, text));
        let seq = number(seq, "seq")?;
        let outcome = match outcome {
            PackedOutcome::Rated(outcome) => outcome,
            PackedOutcome::Excluded(rule) => return Err(page.inconsistent("outcome", rule)),
        };
        if selection.takes(seq, voter, models) {
            selection.add(seq, voter, models, (outcome, Timestamp(number(time, "created_at")?)));
        }
    }
    Ok(())
}
