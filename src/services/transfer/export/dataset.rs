//! The vote log as a data set for others: Parquet in shards, a data card, and the sum of every file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp as Instant;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use super::{ExportError, PAGE, Selection, said_in};
use crate::domain::battle::record::VoteRow;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::time::Timestamp;
use crate::formats::data_card::{DatasetFacts, DatasetStatistics, data_card};
use crate::formats::tables::export_columns::{CONVERSATIONS, EXCLUSION, VOTE_COLUMNS};
use crate::formats::tables::export_rows::LogRow;
use crate::formats::tables::{Format, TableWriter};
use crate::infra::rng::hex;
use crate::infra::storage::{Store, VoteRange};
use crate::services::labeling::final_labels::final_labels_of;

/// The folder of the shards.
const SHARDS: &str = "data";

/// What is written, and what the card says of it.
#[derive(Debug, Clone)]
pub struct DatasetPlan<'p> {
    /// What the card says.
    pub facts: DatasetFacts<'p>,
    /// Votes of a shard at the most.
    pub shard_votes: u64,
}

/// Writes the votes after `plan.facts.after` into an empty folder, with the card and the sums. Returns what it holds.
///
/// # Errors
/// [`ExportError`].
pub async fn dataset(
    store: &Store,
    plan: &DatasetPlan<'_>,
    folder: &Path,
    mut progress: impl FnMut(i64, i64),
) -> Result<DatasetStatistics, ExportError> {
    fs::create_dir_all(folder.join(SHARDS))?;
    let last = store.last_vote_seq().await?;
    let mut writer = ShardWriter::new(folder, plan);
    let mut counted = Counted::default();
    let all = Selection { with_text: plan.facts.with_text, ..Selection::ALL };
    let mut seq = plan.facts.after;
    loop {
        let page = store.votes_after(seq, all.since, all.until, PAGE).await?;
        let range = VoteRange { after: seq, upto: page.last().map_or(seq, |vote| vote.seq), ..VoteRange::ALL };
        let labels = final_labels_of(store, &Scheme::ALL, range).await?;
        for vote in &page {
            let [a, b] = said_in(store, all, &vote.battle).await?;
            writer.write(vote.seq, &LogRow::new(vote, &labels, a, b))?;
            counted.add(vote);
            seq = vote.seq;
        }
        progress(seq, last);
        if page.len() < PAGE as usize {
            break;
        }
    }
    let mut files = writer.finish()?;
    let found = counted.statistics();
    fs::write(folder.join("README.md"), data_card(&plan.facts, &found))?;
    files.push("README.md".into());
    write_sums(folder, &files)?;
    Ok(found)
}

/// Writes rows into one shard after the other, each named by the numbers of its first and its last vote.
struct ShardWriter<'w> {
    folder: &'w Path,
    plan: &'w DatasetPlan<'w>,
    open: Option<Shard>,
    done: Vec<PathBuf>,
}

struct Shard {
    table: TableWriter<File>,
    first: i64,
    last: i64,
    votes: u64,
}

impl<'w> ShardWriter<'w> {
    fn new(folder: &'w Path, plan: &'w DatasetPlan<'w>) -> Self {
        Self { folder, plan, open: None, done: Vec::new() }
    }

    fn write(&mut self, seq: i64, row: &LogRow<'_>) -> io::Result<()> {
        let shard = match &mut self.open {
            Some(shard) => shard,
            None => {
                let said = if self.plan.facts.with_text { &CONVERSATIONS[..] } else { &[] };
                let columns = [&VOTE_COLUMNS[..], &[EXCLUSION], said].concat();
                let table = TableWriter::begin(Format::Parquet, columns, File::create(self.unfinished())?)?;
                self.open.insert(Shard { table, first: seq, last: seq, votes: 0 })
            }
        };
        shard.table.write(row)?;
        (shard.last, shard.votes) = (seq, shard.votes + 1);
        if shard.votes >= self.plan.shard_votes { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(shard) = self.open.take() else { return Ok(()) };
        shard.table.finish()?;
        let name = PathBuf::from(SHARDS).join(format!("votes-{:012}-{:012}.parquet", shard.first, shard.last));
        fs::rename(self.unfinished(), self.folder.join(&name))?;
        self.done.push(name);
        Ok(())
    }

    fn unfinished(&self) -> PathBuf {
        self.folder.join(SHARDS).join("unfinished")
    }

    fn finish(mut self) -> io::Result<Vec<PathBuf>> {
        self.close()?;
        Ok(self.done)
    }
}

/// The statistics under way.
#[derive(Default)]
struct Counted {
    found: DatasetStatistics,
    voters: HashSet<String>,
    times: Option<(Timestamp, Timestamp)>,
}

impl Counted {
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

/// `SHA256SUMS`, as `sha256sum --check` reads it; every file is on the disk then.
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

/// Takes bytes into a digest.
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
