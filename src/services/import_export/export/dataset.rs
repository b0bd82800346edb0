//! Writes the vote log as a data set for publication.

use std::path::Path;

use super::{ExportError, ExportSelection, PAGE_SIZE, exported_conversations};
use crate::domain::labeling::scheme::Scheme;
use crate::formats::data_card::DatasetStatistics;
use crate::formats::dataset::{DatasetPlan, DatasetWriter};
use crate::formats::tables::export_rows::VoteLogRow;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::final_labels::final_labels_of;

/// Writes the votes after `plan.facts.after` into an empty folder, with dataset card and checksums. Returns its statistics.
///
/// # Errors
/// [`ExportError`].
pub async fn dataset(
    store: &Store,
    plan: &DatasetPlan<'_>,
    folder: &Path,
    mut progress: impl FnMut(i64, i64),
) -> Result<DatasetStatistics, ExportError> {
    let mut writer = DatasetWriter::begin(folder, plan)?;
    let last = store.last_vote_seq().await?;
    let all = ExportSelection { with_text: plan.facts.with_text, ..ExportSelection::ALL };
    let mut seq = plan.facts.after;
    loop {
        let page = store.votes_after(seq, all.since, all.until, PAGE_SIZE).await?;
        let range = VoteRange { after: seq, upto: page.last().map_or(seq, |vote| vote.seq), ..VoteRange::ALL };
        let labels = final_labels_of(store, &Scheme::ALL, range).await?;
        for vote in &page {
            let [a, b] = exported_conversations(store, all, &vote.battle).await?;
            writer.write(vote, &VoteLogRow::new(vote, &labels, a, b))?;
            seq = vote.seq;
        }
        progress(seq, last);
        if page.len() < PAGE_SIZE as usize {
            return Ok(writer.finish()?);
        }
    }
}
