//! Published data set of the vote log: Parquet shards, a data card, and a checksum of every file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp as Instant;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use crate::data_card::{DatasetFacts, DatasetStatistics, data_card};
use crate::domain::battle::record::VoteRow;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::tables::export_columns::{CONVERSATIONS, EXCLUSION, VOTE_COLUMNS};
use crate::tables::export_rows::VoteLogRow;
use crate::tables::{Format, TableWriter};

/// Folder of the shards.
const SHARD_FOLDER: &str = "data";

/// Options of a data set.
#[derive(Debug, Clone)]
pub struct DatasetPlan<'p> {
    /// Facts for the data card.
    pub facts: DatasetFacts<'p>,
    /// Maximum number of votes of a shard.
    pub shard_votes: u64,
}

/// Writer of a data set, shard by shard; a shard is named by the numbers of its first and its last vote.
pub struct DatasetWriter<'w> {
    folder: &'w Path,
    plan: &'w DatasetPlan<'w>,
    open: Option<Shard>,
    done: Vec<PathBuf>,
    counted: DatasetCounts,
}

struct Shard {
    table: TableWriter<File>,
    first: i64,
    last: i64,
    votes: u64,
}

impl<'w> DatasetWriter<'w> {
    /// Begins a data set in a folder, which is created if missing.
    ///
    /// # Errors
    /// I/O errors.
    pub fn begin(folder: &'w Path, plan: &'w DatasetPlan<'w>) -> io::Result<Self> {
        fs::create_dir_all(folder.join(SHARD_FOLDER))?;
        Ok(Self { folder, plan, open: None, done: Vec::new(), counted: DatasetCounts::default() })
    }

    /// Adds a vote; votes come in log order.
    ///
    /// # Errors
    /// I/O errors.
    pub fn write(&mut self, vote: &VoteRow, row: &VoteLogRow<'_>) -> io::Result<()> {
        self.counted.add(vote);
        let shard = match &mut self.open {
            Some(shard) => shard,
            None => {
                let said = if self.plan.facts.with_text { &CONVERSATIONS[..] } else { &[] };
                let columns = [&VOTE_COLUMNS[..], &[EXCLUSION], said].concat();
                let table = TableWriter::begin(Format::Parquet, columns, File::create(self.unfinished())?)?;
                self.open.insert(Shard { table, first: vote.seq, last: vote.seq, votes: 0 })
            }
        };
        shard.table.write(row)?;
        (shard.last, shard.votes) = (vote.seq, shard.votes + 1);
        if shard.votes >= self.plan.shard_votes { self.close() } else { Ok(()) }
    }

    /// Ends the last shard and writes the card and the checksums. Returns the statistics of the data set.
    ///
    /// # Errors
    /// I/O errors.
    pub fn finish(mut self) -> io::Result<DatasetStatistics> {
        self.close()?;
        let found = self.counted.statistics();
        fs::write(self.folder.join("README.md"), data_card(&self.plan.facts, &found))?;
        self.done.push("README.md".into());
        write_sums(self.folder, &self.done)?;
        Ok(found)
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(shard) = self.open.take() else { return Ok(()) };
        shard.table.finish()?;
        let name = PathBuf::from(SHARD_FOLDER).join(format!("votes-{:012}-{:012}.parquet", shard.first, shard.last));
        fs::rename(self.unfinished(), self.folder.join(&name))?;
        self.done.push(name);
        Ok(())
    }

    fn unfinished(&self) -> PathBuf {
        self.folder.join(SHARD_FOLDER).join("unfinished")
    }
}

/// Running statistics.
#[derive(Default)]
struct DatasetCounts {
    found: DatasetStatistics,
    voters: HashSet<String>,
    times: Option<(Timestamp, Timestamp)>,
}

impl DatasetCounts {
    fn add(&mut self, vote: &VoteRow) {
        let found = &mut self.found;
        found.votes += 1;
        match &vote.exclusion {
            None => found.rated += 1,
            Some(rule) => *found.excluded.entry(rule.clone()).or_default() += 1,
        }
        *found.outcomes.entry(vote.outcome.winner().to_owned()).or_default() += 1;
        *found.languages.entry(vote.language.clone()).or_default() += 1;
        for model in &vote.models {
            *found.models.entry(model.to_string()).or_default() += 1;
        }
        found.sequence = Some((found.sequence.map_or(vote.seq, |(first, _)| first), vote.seq));
        self.voters.extend(vote.visitor.as_ref().map(ToString::to_string));
        let at = vote.created_at;
        self.times = Some(self.times.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    }

    fn statistics(self) -> DatasetStatistics {
        let days = self.times.and_then(|(first, last)| Some((day(first)?, day(last)?)));
        DatasetStatistics { voters: self.voters.len() as u64, days, ..self.found }
    }
}

fn day(at: Timestamp) -> Option<String> {
    Some(Instant::from_millisecond(at.0).ok()?.to_zoned(TimeZone::UTC).date().to_string())
}

/// Writes `SHA256SUMS` for `sha256sum --check`, after syncing every file to the disk.
fn write_sums(folder: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut sums = String::new();
    for name in files {
        let mut file = File::open(folder.join(name))?;
        let mut digest = Sha256::new();
        io::copy(&mut file, &mut HashWriter(&mut digest))?;
        file.sync_all()?;
        sums.push_str(&format!("{}  {}\n", hex(&digest.finalize()), name.display()));
    }
    let mut file = File::create(folder.join("SHA256SUMS"))?;
    file.write_all(sums.as_bytes())?;
    file.sync_all()
}

/// Writer that updates a digest.
struct HashWriter<'d>(&'d mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
