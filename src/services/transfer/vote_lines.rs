//! The vote log in lines of JSON, page by page, as programs read it over HTTP: the rows of `export votes`, without conversations.

use super::export::ExportError;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::time::Timestamp;
use crate::formats::tables::export_rows::VoteLogRow;
use crate::formats::tables::{Format, TableWriter};
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::final_labels::final_labels_of;

/// Votes of a page at most: what a stream holds in memory.
pub const PAGE: u32 = 1_000;

/// Some votes in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteLines {
    /// A line for each.
    pub text: Vec<u8>,
    /// Number of the last one in the log.
    pub last_seq: i64,
    /// How many there are.
    pub votes: u32,
}

/// The votes after the one with the number `after` up to `upto`, `limit` at most and never more than [`PAGE`]; `None` where there
/// are none.
///
/// # Errors
/// [`ExportError`].
pub async fn vote_lines(store: &Store, after: i64, upto: i64, limit: u32) -> Result<Option<VoteLines>, ExportError> {
    let mut votes = store.votes_after(after, Timestamp(i64::MIN), Timestamp(i64::MAX), limit.min(PAGE)).await?;
    votes.retain(|vote| vote.seq <= upto);
    let Some(last_seq) = votes.last().map(|vote| vote.seq) else { return Ok(None) };
    let range = VoteRange { after, upto: last_seq, ..VoteRange::ALL };
    let labels = final_labels_of(store, &Scheme::ALL, range).await?;
    let mut text = Vec::new();
    let mut table = TableWriter::begin(Format::Jsonl, Vec::new(), &mut text)?;
    votes.iter().try_for_each(|vote| table.write(&VoteLogRow::new(vote, &labels, None, None)))?;
    table.finish()?;
    Ok(Some(VoteLines { text, last_seq, votes: u32::try_from(votes.len()).unwrap_or(PAGE) }))
}
