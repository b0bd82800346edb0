//! Imports votes from files as battles and votes.
//!
//! A file is read to its end before anything is written, and all of its votes are kept in one transaction. Its id is made
//! of its bytes, so the same file a second time changes nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::battle::BattleId;
use crate::domain::battle::reasons::{Reason, ReasonSet};
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::rating::vote_log::{ColumnSet, Labels, VoteLog};
use crate::domain::time::Timestamp;
use crate::formats::votes::{ReadOptions, VoteFileError, read_log};
use crate::infra::rng::hex;
use crate::infra::storage::{Import, Imported, ImportedVote, Store, StoreError, is_storable};

/// What an import keeps of a vote.
const KEPT: ColumnSet = ColumnSet {
    voters: true,
    languages: true,
    categories: true,
    intents: true,
    turns: true,
    prompt_tokens: false,
    satisfactions: true,
    reasons: true,
    seconds: true,
    style: true,
    pair_probabilities: true,
    timings: true,
};

/// Why a file was not imported; nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] VoteFileError),
    /// It says something that the database cannot hold.
    #[error("{} names the {what} {text:?}: take the control character out of it", .path.display())]
    Unstorable {
        /// The file.
        path: PathBuf,
        /// What is named.
        what: &'static str,
        /// How.
        text: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Whether its votes were new.
    pub imported: Imported,
    /// Votes and rows that were left out, by reason.
    pub excluded: Vec<(String, u64)>,
}

/// Imports one file. `progress` gets the number of votes so far and in total.
///
/// # Errors
/// [`ImportError`].
pub async fn votes(
    store: &Store,
    path: &Path,
    options: &ReadOptions,
    now: Timestamp,
    mut progress: impl FnMut(u64, u64),
) -> Result<ImportReport, ImportError> {
    let log = read_log(&[path], KEPT, options)?;
    if let Some((what, text)) = unstorable(&log) {
        return Err(ImportError::Unstorable { path: path.to_owned(), what, text: text.to_owned() });
    }
    let id = id_of(path).map_err(|source| VoteFileError::Unreadable { path: path.to_owned(), source })?;
    let source = path.file_name().unwrap_or_default().to_string_lossy();
    let import = Import { id: &id, source: &source, models: log.models.as_slice(), at: now };
    let rows = (0..log.len()).map(|row| vote(&log, row, &id, now));
    let all = log.len() as u64;
    let imported = store.import_votes(import, rows, |done| progress(done, all)).await?;
    Ok(ImportReport { imported, excluded: log.excluded.into_iter().collect() })
}

/// The first text that the database cannot hold, and what it names.
fn unstorable(log: &VoteLog) -> Option<(&'static str, &str)> {
    let beside =
        [("voter", &log.voters), ("language", &log.languages), ("category", &log.categories), ("intent", &log.intents)];
    let beside = beside.into_iter().filter_map(|(what, labels)| Some((what, &labels.as_ref()?.names)));
    let mut named = [("model", &log.models)].into_iter().chain(beside);
    named.find_map(|(what, names)| Some((what, names.as_slice().iter().find(|text| !is_storable(text))?.as_str())))
}

/// A name for what a file holds.
fn id_of(path: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut block) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => digest.update(&block[..read]),
        }
    }
    Ok(format!("import-{}", hex(&digest.finalize()[..16])))
}

fn vote<'v>(log: &'v VoteLog, row: usize, id: &str, now: Timestamp) -> ImportedVote<'v> {
    let name = |model: u32| log.models.as_slice()[model as usize].as_str();
    let label = |labels: &'v Option<Labels>| {
        let labels = labels.as_ref()?;
        labels.names.as_slice().get(labels.rows[row] as usize).map(String::as_str)
    };
    let number =
        |column: &Option<Vec<f64>>| column.as_ref().map(|column| column[row]).filter(|value| value.is_finite());
    ImportedVote {
        battle: BattleId::new(format!("{id}-{:09}", row + 1)),
        voter: label(&log.voters).unwrap_or_default(),
        a: name(log.a[row]),
        b: name(log.b[row]),
        outcome: log.outcomes[row].as_str(),
        turn: log.turns.as_ref().map_or(1, |turns| turns[row]),
        language: label(&log.languages).unwrap_or_default(),
        category: label(&log.categories),
        intent: label(&log.intents),
        satisfaction: log.satisfactions.as_ref().map(|said| said[row]).filter(|said| (1..=5).contains(said)),
        reasons: log
            .reasons
            .as_ref()
            .map_or_else(Default::default, |sides| sides.each_ref().map(|side| reasons(side, row))),
        probability: number(&log.pair_probabilities).unwrap_or(0.0),
        text_counts: text_counts(log, row),
        timings: log.timings.as_ref().map_or_else(Default::default, |timings| timings[row]),
        cast_at: number(&log.seconds).map_or(now.0, millis),
    }
}

/// The reasons of a row; words that are none of this arena's are left out.
fn reasons(labels: &Labels, row: usize) -> ReasonSet {
    let text = labels.names.as_slice().get(labels.rows[row] as usize).map_or("", String::as_str);
    text.split(',').filter_map(|word| Reason::parse(word.trim()).ok()).collect()
}

/// Only the sums are known: they stand where a count of one kind would.
fn text_counts(log: &VoteLog, row: usize) -> String {
    let sides = [0, 1].map(|side| {
        log.style.as_ref().map_or_else(TextCounts::default, |style| TextCounts {
            tokens: style.tokens[row][side].into(),
            headings: [style.headings[row][side].into(), 0, 0, 0, 0, 0],
            ordered: 0,
            unordered: style.lists[row][side].into(),
            bold_stars: style.bold[row][side].into(),
            bold_underscores: 0,
        })
    });
    serde_json::to_string(&sides).expect("counts are plain numbers")
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of f64 stays within the bounds of i64")]
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
