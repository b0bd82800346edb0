//! Writes votes as preference pairs with their texts, as JSON lines.

use std::collections::HashMap;
use std::io::Write;

use super::{ExportError, ExportSelection, PAGE_SIZE, conversations};
use crate::domain::battle::ModelId;
use crate::domain::battle::record::VoteRow;
use crate::domain::preference_filter::{PreferenceFilter, PreferenceReport, PreferenceSupport, SkippedVote};
use crate::domain::preference_pairs::{PreferenceCounts, PreferencePair};
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::formats::tables::export_rows::PreferenceRow;
use crate::formats::tables::{Format, TableWriter};
use crate::infra::storage::Store;

/// Writes the preferences of the selected votes.
///
/// # Errors
/// [`ExportError`].
pub async fn preferences(
    store: &Store,
    filter: PreferenceFilter,
    selection: ExportSelection,
    out: impl Write + Send,
    mut progress: impl FnMut(i64, i64),
) -> Result<PreferenceReport, ExportError> {
    let wins = pair_wins(store, filter).await?;
    let ratings = ratings(store).await?;
    let last = store.last_vote_seq().await?;
    let mut table = TableWriter::begin(Format::Jsonl, Vec::new(), out)?;
    let mut report = PreferenceReport { last_seq: filter.after, ..PreferenceReport::default() };
    loop {
        let page = store.votes_after(report.last_seq, selection.since, selection.until, PAGE_SIZE).await?;
        for vote in &page {
            report.last_seq = vote.seq;
            match preference(store, vote, filter, &wins, &ratings).await? {
                Ok((pair, support)) => table.write(&PreferenceRow::new(vote, &pair, support))?,
                Err(reason) => *report.left_out.entry(reason).or_default() += 1,
            }
        }
        progress(report.last_seq, last);
        if page.len() < PAGE_SIZE as usize {
            report.written = table.finish()?;
            return Ok(report);
        }
    }
}

/// Converts a vote to a preference pair, or the reason to skip it. Texts are read last, as the slowest step.
async fn preference(
    store: &Store,
    vote: &VoteRow,
    filter: PreferenceFilter,
    wins: &PreferenceCounts,
    ratings: &HashMap<ModelId, f64>,
) -> Result<Result<(PreferencePair, PreferenceSupport), SkippedVote>, ExportError> {
    let support = match filter.support(vote, wins, ratings) {
        Ok(support) => support,
        Err(reason) => return Ok(Err(reason)),
    };
    if !store.images_of(&vote.battle).await?.is_empty() {
        return Ok(Err(SkippedVote::Images));
    }
    let pair = PreferencePair::of_battle(&conversations(store, &vote.battle).await?, vote.outcome);
    Ok(pair.map(|pair| (pair, support)).ok_or(SkippedVote::NoText))
}

/// Counts all eligible votes, also those before the selected ones.
async fn pair_wins(store: &Store, filter: PreferenceFilter) -> Result<PreferenceCounts, ExportError> {
    let (mut wins, mut seq, all) = (PreferenceCounts::default(), 0, ExportSelection::ALL);
    loop {
        let page = store.votes_after(seq, all.since, all.until, PAGE_SIZE).await?;
        for vote in &page {
            seq = vote.seq;
            if filter.counts(vote) {
                wins.add(&vote.models, vote.outcome);
            }
        }
        if page.len() < PAGE_SIZE as usize {
            return Ok(wins);
        }
    }
}

/// Reads the ratings of the latest leaderboard.
async fn ratings(store: &Store) -> Result<HashMap<ModelId, f64>, ExportError> {
    let stored = store.latest_leaderboard().await?;
    let leaderboard: Option<Leaderboard> = stored.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
    let models = leaderboard.map(|leaderboard| leaderboard.models).unwrap_or_default();
    Ok(models.into_iter().filter_map(|model| Some((ModelId::new(&model.model), model.rating?))).collect())
}
