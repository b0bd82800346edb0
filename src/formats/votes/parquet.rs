//! Votes from Parquet. Only the wanted columns are read, and texts stay dictionary indices: a name is looked up once for
//! each dictionary, not once a vote.
//!
//! `pages` and `column_reader` read the columns of a row group, `rows` interprets its rows, and `group_batch` converts them to votes.

use std::io;

use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::{ChunkReader, FileReader, RowGroupReader};
use ::parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use rayon::prelude::*;

use super::batch::{TAGS, VoteBatch};
use super::column_names::{Field, Header};
use super::error::{FilePosition, RowError, VoteFileError};
use super::limits::ReadLimits;
use super::{FileVotes, ReadJob};
use crate::domain::rating::votes::vote_log::VoteLog;

mod column_reader;
mod group;
mod group_batch;
mod pages;
mod rows;
mod table;
mod texts;

use column_reader::{ParquetColumn, TimeUnit, ValueRepresentation, read_column};
use group::RowGroup;
use group_batch::GroupVotes;
pub(super) use table::read_table;

/// Concurrent row groups per thread.
const GROUPS_PER_THREAD: usize = 1;

/// Maximum rows of a row group. A run of equal values takes a few bytes regardless of its length, so nothing else bounds the memory for a
/// small file.
const MAX_GROUP_ROWS: usize = 1 << 26;

/// Reads all votes of a file.
pub(super) fn read<R: ChunkReader + 'static>(job: &ReadJob<'_>, input: R) -> Result<FileVotes, VoteFileError> {
    let broken = |source| VoteFileError::Parquet { path: job.path.to_owned(), source };
    let options = ReadOptionsBuilder::new().build();
    let reader = SerializedFileReader::new_with_options(input, options).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    // Repeated values are no column of votes.
    let flat = schema.columns().iter().map(|leaf| match leaf.max_rep_level() {
        0 => leaf.path().string(),
        _ => String::new(),
    });
    let names: Vec<String> = flat.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let header = Header::find(&names, &job.options.columns).map_err(|reason| job.columns(reason))?;
    let plan = ReadPlan::new(job, &header, &names);
    check_size(reader.metadata(), &plan.needed, job.options.limits).map_err(|source| job.unreadable(source))?;
    let mut votes = VoteBatch::new(job.wanted, header.timed);
    header.multiples.iter().for_each(|column| votes.record_unread_column(&column.name));
    reserve(&mut votes.log, reader.metadata().file_metadata().num_rows());
    let groups: Vec<usize> = (0..reader.num_row_groups()).collect();
    let append = |votes: &mut VoteBatch, read: Vec<ReadGroup>| -> Result<(), VoteFileError> {
        for group in read {
            let before = votes.rows;
            let group = group.map_err(broken)?;
            let group = group.map_err(|(row, reason)| job.row(FilePosition::Row(before + row + 1), reason))?;
            group.append_to(votes);
        }
        Ok(())
    };
    // The names of earlier groups are looked up while the next ones are read.
    let mut waiting: Vec<ReadGroup> = Vec::new();
    for wave in groups.chunks(GROUPS_PER_THREAD * rayon::current_num_threads()) {
        let read_group = |&group: &usize| plan.read_group(&*reader.get_row_group(group)?);
        let (appended, read) = rayon::join(
            || append(&mut votes, std::mem::take(&mut waiting)),
            || wave.par_iter().map(read_group).collect(),
        );
        appended?;
        waiting = read;
    }
    append(&mut votes, waiting)?;
    Ok(FileVotes { votes, timed: header.timed })
}

/// The votes of a row group, or its bad row, counted from 0 within it.
type ReadGroup = Result<Result<GroupVotes, (u64, RowError)>, ParquetError>;

fn reserve(log: &mut VoteLog, rows: i64) {
    let rows = usize::try_from(rows).unwrap_or(0).min(MAX_GROUP_ROWS);
    log.a.reserve_exact(rows);
    log.b.reserve_exact(rows);
    log.outcomes.reserve_exact(rows);
    if let Some(seconds) = &mut log.seconds {
        seconds.reserve_exact(rows);
    }
}

/// Fields whose values are names.
const NAME_FIELDS: [Field; 8] = [
    Field::ModelA,
    Field::ModelB,
    Field::Voter,
    Field::Language,
    Field::Category,
    Field::Intent,
    Field::PairingPolicy,
    Field::BattleId,
];

/// Columns to read from a file.
struct ReadPlan<'p> {
    job: &'p ReadJob<'p>,
    header: &'p Header,
    /// Positions of the columns that are needed.
    needed: Vec<usize>,
    /// Tags: the position of their flag, and their name.
    tags: Vec<(usize, &'static str)>,
}

impl<'p> ReadPlan<'p> {
    fn new(job: &'p ReadJob<'p>, header: &'p Header, names: &[&str]) -> Self {
        let wanted = job.wanted;
        let fields = [
            (Field::ModelA, true),
            (Field::ModelB, true),
            (Field::Winner, true),
            (Field::WinnerA, true),
            (Field::WinnerB, true),
            (Field::WinnerTie, true),
            (Field::BothEqual, true),
            (Field::Time, true),
            (Field::Millis, true),
            (Field::Rated, true),
            (Field::Exclusion, true),
            (Field::Anonymous, true),
            (Field::Voter, wanted.voters),
            (Field::Language, wanted.languages),
            (Field::Category, wanted.categories),
            (Field::Intent, wanted.intents),
            (Field::PairingPolicy, wanted.pairing_policies),
            (Field::BattleId, wanted.battle_ids),
            (Field::Turn, wanted.turns),
            (Field::PromptTokens, wanted.prompt_tokens),
            (Field::Satisfaction, wanted.satisfactions),
            (Field::ReasonsA, wanted.reasons),
            (Field::ReasonsB, wanted.reasons),
            (Field::PairProbability, wanted.pair_probabilities),
            (Field::FirstTokenA, wanted.timings),
            (Field::FirstTokenB, wanted.timings),
            (Field::DurationA, wanted.timings),
            (Field::DurationB, wanted.timings),
        ];
        let asked = fields.into_iter().filter(|(_, asked)| *asked);
        let mut needed: Vec<usize> = asked.filter_map(|(field, _)| Some(header.one(field)?.at)).collect();
        if wanted.style {
            needed.extend(header.style.iter().map(|(at, ..)| *at));
        }
        let tags = if wanted.categories { tag_columns(names) } else { Vec::new() };
        needed.extend(tags.iter().map(|(at, _)| *at));
        needed.sort_unstable();
        needed.dedup();
        Self { job, header, needed, tags }
    }

    fn read_group(&self, group: &dyn RowGroupReader) -> ReadGroup {
        let names: Vec<usize> = NAME_FIELDS.iter().filter_map(|&field| Some(self.header.one(field)?.at)).collect();
        let read = |&at: &usize| {
            let read_as = if names.contains(&at) { ValueRepresentation::Texts } else { ValueRepresentation::Stored };
            read_column(group, at, read_as)
        };
        let columns: Vec<ParquetColumn> = self.needed.par_iter().map(read).collect::<Result<_, _>>()?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        if columns.iter().any(|column| column.len() != rows) {
            return Err(ParquetError::General("its columns are not of one length".into()));
        }
        let units = self.needed.iter().map(|&at| TimeUnit::from_column(group, at)).collect();
        Ok(RowGroup { plan: self, columns, units, rows }.into_votes())
    }
}

/// Refuses a file whose metadata gives these columns a decompressed size above the limit, or a row group too many rows.
fn check_size(file: &ParquetMetaData, columns: &[usize], limits: ReadLimits) -> io::Result<()> {
    let size = |group: &RowGroupMetaData| -> u64 {
        let column = |&at: &usize| u64::try_from(group.column(at).uncompressed_size()).unwrap_or(u64::MAX);
        columns.iter().map(column).fold(0, u64::saturating_add)
    };
    if file.row_groups().iter().map(size).fold(0, u64::saturating_add) > limits.decompressed_bytes {
        return Err(limits.too_much());
    }
    let rows = file.row_groups().iter().map(RowGroupMetaData::num_rows).max().unwrap_or(0);
    if usize::try_from(rows).is_ok_and(|rows| rows > MAX_GROUP_ROWS) {
        let reason = format!("a row group has {rows} rows: write it in groups of {MAX_GROUP_ROWS}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(())
}

fn tag_columns(names: &[&str]) -> Vec<(usize, &'static str)> {
    let path = |tag: &super::batch::FileTag| match tag.path {
        Some((outer, inner)) => format!("category_tag.{outer}.{inner}"),
        None => "is_code".to_owned(),
    };
    let place = |tag: &super::batch::FileTag| {
        let path = path(tag);
        Some((names.iter().position(|name| *name == path)?, tag.name))
    };
    TAGS.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests;
