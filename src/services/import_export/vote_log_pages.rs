//! Pages of the vote log as lines, for HTTP: the rows of `export votes`, without conversations.

use std::io;

use super::export::ExportError;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::time::Timestamp;
use crate::formats::tables::export_columns::{EXCLUSION, VOTE_COLUMNS};
use crate::formats::tables::export_rows::VoteLogRow;
use crate::formats::tables::{Format, TableWriter};
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::final_labels::final_labels_of;

/// Maximum number of votes per page, which a stream holds in memory.
pub const PAGE_SIZE: u32 = 1_000;

/// Format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFormat {
    /// A JSON object.
    Json,
    /// A CSV row, below a header.
    Csv,
}

impl LineFormat {
    /// Returns the header before the first vote; `None` if the format has none.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn header(self) -> Result<Option<Vec<u8>>, ExportError> {
        let mut text = Vec::new();
        self.table(&mut text)?.finish()?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn table(self, text: &mut Vec<u8>) -> io::Result<TableWriter<&mut Vec<u8>>> {
        let format = match self {
            Self::Json => Format::Jsonl,
            Self::Csv => Format::Csv,
        };
        TableWriter::begin(format, [&VOTE_COLUMNS[..], &[EXCLUSION]].concat(), text)
    }
}

/// Page of consecutive votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteLines {
    /// One line per vote.
    pub text: Vec<u8>,
    /// Sequence number of the last vote.
    pub last_seq: i64,
    /// Number of votes.
    pub votes: u32,
}

/// Returns the votes after sequence number `after` up to `upto`, at most `limit` and never more than [`PAGE_SIZE`], without a header;
/// `None` if there are none.
///
/// # Errors
/// [`ExportError`].
pub async fn vote_lines(
    store: &Store,
    after: i64,
    upto: i64,
    limit: u32,
    format: LineFormat,
) -> Result<Option<VoteLines>, ExportError> {
    let mut votes = store.votes_after(after, Timestamp(i64::MIN), Timestamp(i64::MAX), limit.min(PAGE_SIZE)).await?;
    votes.retain(|vote| vote.seq <= upto);
    let Some(last_seq) = votes.last().map(|vote| vote.seq) else { return Ok(None) };
    let range = VoteRange { after, upto: last_seq, ..VoteRange::ALL };
    let labels = final_labels_of(store, &Scheme::ALL, range).await?;
    let mut text = Vec::new();
    let mut table = format.table(&mut text)?;
    votes.iter().try_for_each(|vote| table.write(&VoteLogRow::new(vote, &labels, None, None)))?;
    table.finish()?;
    text.drain(..format.header()?.map_or(0, |header| header.len()));
    Ok(Some(VoteLines { text, last_seq, votes: u32::try_from(votes.len()).unwrap_or(PAGE_SIZE) }))
}
