//! Exports the vote log, battles, replies, leaderboard and scores as JSON lines, CSV or Parquet.
//!
//! `formats::tables` converts stored rows to records and writes them. Memory use is constant: rows are read page by page, and Parquet is
//! written in row groups of a bounded size.

pub mod dataset;
pub mod preferences;

use std::io::{self, Write};

use crate::benchmark::RunContext;
use crate::benchmark::scores;
use crate::domain::battle::message::Message;
use crate::domain::battle::{BattleId, Side};
use crate::domain::benchmark::scores::panel_scores::JudgementFilter;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::domain::time::Timestamp;
use crate::formats::scores::ScoreRow;
use crate::formats::tables::export_columns::{
    BATTLE_COLUMNS, CONVERSATIONS, EXCLUSION, ITEM_SCORE_COLUMNS, LEADERBOARD_COLUMNS, REPLY_COLUMNS, SCORE_COLUMNS,
    VOTE_COLUMNS,
};
use crate::formats::tables::export_rows::{BattleExportRow, ReplyRecord, VoteLogRow, conversation};
use crate::formats::tables::{Format, TableWriter};
use crate::infra::storage::{ReplyRow, Store, StoreError, TurnRow, VoteRange};
use crate::infra::stored_votes::final_labels::{apply_final_labels, final_labels_of};

/// Page size of row reads, which bounds memory use.
const PAGE_SIZE: u32 = 1_000;

/// Selection of an export.
#[derive(Debug, Clone, Copy)]
pub struct ExportSelection {
    /// Earliest time of votes or battle starts, inclusive.
    pub since: Timestamp,
    /// Latest time of votes or battle starts, exclusive.
    pub until: Timestamp,
    /// Whether to include the conversations.
    pub with_text: bool,
}

impl ExportSelection {
    /// Everything, without conversations.
    pub const ALL: Self = Self { since: Timestamp(i64::MIN), until: Timestamp(i64::MAX), with_text: false };
}

/// Error of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The rows could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written.
    #[error("the export could not be written: {0}; free some space, or choose another file with --out")]
    Write(#[from] io::Error),
    /// The stored leaderboard has another format.
    #[error("the stored leaderboard was written by another version: run `langya serve`, whose next fit replaces it")]
    Leaderboard(#[from] serde_json::Error),
}

/// Writes the selected votes and returns their number. `progress` gets the sequence numbers of the latest vote written and of the log's
/// last vote.
///
/// # Errors
/// [`ExportError`].
pub async fn votes(
    store: &Store,
    selection: ExportSelection,
    format: Format,
    out: impl Write + Send,
    mut progress: impl FnMut(i64, i64),
) -> Result<u64, ExportError> {
    let said = if selection.with_text { &CONVERSATIONS[..] } else { &[] };
    let last = store.last_vote_seq().await?;
    let mut table = TableWriter::begin(format, [&VOTE_COLUMNS[..], &[EXCLUSION], said].concat(), out)?;
    let mut seq = 0;
    loop {
        let page = store.votes_after(seq, selection.since, selection.until, PAGE_SIZE).await?;
        let range = VoteRange { after: seq, upto: page.last().map_or(seq, |vote| vote.seq), ..VoteRange::ALL };
        let labels = final_labels_of(store, &Scheme::ALL, range).await?;
        for vote in &page {
            let [a, b] = exported_conversations(store, selection, &vote.battle).await?;
            table.write(&VoteLogRow::new(vote, &labels, a, b))?;
            seq = vote.seq;
        }
        progress(seq, last);
        if page.len() < PAGE_SIZE as usize {
            return Ok(table.finish()?);
        }
    }
}

/// Writes the selected finished battles, with or without a vote, and returns their number. Battles that await their vote are omitted: the
/// file would reveal their models. `progress` gets the size of every page of battles.
///
/// # Errors
/// [`ExportError`].
pub async fn battles(
    store: &Store,
    selection: ExportSelection,
    format: Format,
    out: impl Write + Send,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let said = if selection.with_text { &CONVERSATIONS[..] } else { &[] };
    let mut table = TableWriter::begin(format, [&BATTLE_COLUMNS[..], said].concat(), out)?;
    let mut last: Option<BattleId> = None;
    loop {
        let mut page = store.battles_after(last.as_ref(), selection.since, selection.until, PAGE_SIZE).await?;
        apply_final_labels(store, last.as_ref(), &mut page).await?;
        for battle in page.iter().filter(|battle| !battle.stage.awaits_vote()) {
            table.write(&BattleExportRow::new(battle, exported_conversations(store, selection, &battle.id).await?))?;
        }
        progress(page.len() as u64);
        let full = page.len() == PAGE_SIZE as usize;
        match page.pop() {
            Some(battle) if full => last = Some(battle.id),
            _ => return Ok(table.finish()?),
        }
    }
}

/// Writes the replies of the selected finished battles, one row for each side of a turn, and returns their number. `progress` gets the size
/// of every page of battles.
///
/// # Errors
/// [`ExportError`].
pub async fn replies(
    store: &Store,
    selection: ExportSelection,
    format: Format,
    out: impl Write + Send,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let mut table = TableWriter::begin(format, REPLY_COLUMNS.to_vec(), out)?;
    let mut last: Option<BattleId> = None;
    loop {
        let mut page = store.battles_after(last.as_ref(), selection.since, selection.until, PAGE_SIZE).await?;
        for battle in page.iter().filter(|battle| !battle.stage.awaits_vote()) {
            let (turns, replies) = texts(store, &battle.id).await?;
            for row in replies {
                let prompt = turns.iter().find(|turn| turn.turn == row.turn).map_or("", |turn| turn.prompt.as_str());
                table.write(&ReplyRecord::new(&battle.id, prompt, &row))?;
            }
        }
        progress(page.len() as u64);
        let full = page.len() == PAGE_SIZE as usize;
        match page.pop() {
            Some(battle) if full => last = Some(battle.id),
            _ => return Ok(table.finish()?),
        }
    }
}

/// Writes the latest leaderboard and returns its number of models.
///
/// # Errors
/// [`ExportError`].
pub async fn leaderboard(store: &Store, format: Format, out: impl Write + Send) -> Result<u64, ExportError> {
    let stored = store.latest_leaderboard().await?;
    let leaderboard: Option<Leaderboard> = stored.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
    let models = leaderboard.map(|leaderboard| leaderboard.models).unwrap_or_default();
    Ok(ranked_models(&models, format, out)?)
}

/// Writes the models of a leaderboard and returns their number.
///
/// # Errors
/// `out` cannot be written.
pub fn ranked_models(models: &[RankedModel], format: Format, out: impl Write + Send) -> io::Result<u64> {
    let mut table = TableWriter::begin(format, LEADERBOARD_COLUMNS.to_vec(), out)?;
    models.iter().try_for_each(|model| table.write(model))?;
    table.finish()
}

/// Writes the scores of a suite, one row per model, judge and part, and returns their number.
///
/// # Errors
/// [`ExportError`].
pub async fn scores(bench: RunContext<'_>, format: Format, out: impl Write + Send) -> Result<u64, ExportError> {
    let mut table = TableWriter::begin(format, SCORE_COLUMNS.to_vec(), out)?;
    for scores in scores::scores(bench, &JudgementFilter::default(), Vec::new()).await? {
        for row in ScoreRow::all(bench.suite, bench.data, bench.sample, &scores) {
            table.write(&row)?;
        }
    }
    Ok(table.finish()?)
}

/// Writes the score of every item by each judge, in the input format of `langya agree`.
///
/// # Errors
/// [`ExportError`].
pub async fn item_scores(bench: RunContext<'_>, format: Format, out: impl Write + Send) -> Result<u64, ExportError> {
    let mut table = TableWriter::begin(format, ITEM_SCORE_COLUMNS.to_vec(), out)?;
    for row in scores::item_scores(bench).await? {
        table.write(&row)?;
    }
    Ok(table.finish()?)
}

async fn exported_conversations(
    store: &Store,
    selection: ExportSelection,
    battle: &BattleId,
) -> Result<[Option<Vec<Message>>; 2], StoreError> {
    let said = if selection.with_text { Some(conversations(store, battle).await?) } else { None };
    Ok(said.map_or([None, None], |said| said.map(Some)))
}

async fn conversations(store: &Store, battle: &BattleId) -> Result<[Vec<Message>; 2], StoreError> {
    let (turns, replies) = texts(store, battle).await?;
    Ok(Side::BOTH.map(|side| conversation(&turns, &replies, side)))
}

/// Reads the prompts and replies of a battle in one snapshot: retention may delete them during an export.
async fn texts(store: &Store, battle: &BattleId) -> Result<(Vec<TurnRow>, Vec<ReplyRow>), StoreError> {
    let record = store.battle_record(battle).await?;
    Ok(record.map_or_else(Default::default, |record| (record.turns, record.replies)))
}
