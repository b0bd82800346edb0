//! Reads chosen columns of a Parquet file as texts.

use std::path::Path;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader};
use ::parquet::file::serialized_reader::SerializedFileReader;

use super::super::error::{FilePosition, VoteFileError};
use super::super::limits::ReadLimits;
use super::super::text_table::{TextTable, chosen};
use super::check_size;
use super::column_reader::{ValueRepresentation, read_column};

/// Reads the columns that have one of these names.
pub(in super::super) fn read_table<R: ChunkReader + 'static>(
    input: R,
    path: &Path,
    names: &[&str],
    limits: ReadLimits,
) -> Result<TextTable, VoteFileError> {
    let broken = |source| VoteFileError::Parquet { path: path.to_owned(), source };
    let reader = SerializedFileReader::new(input).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    // Repeated values are skipped.
    let leaves = schema.columns().iter().map(|leaf| if leaf.max_rep_level() == 0 { leaf.name() } else { "" });
    let (places, columns): (Vec<usize>, Vec<String>) = chosen(leaves, names).into_iter().unzip();
    check_size(reader.metadata(), &places, limits)
        .map_err(|source| VoteFileError::Unreadable { path: path.to_owned(), source })?;
    let mut table = TextTable { columns, rows: Vec::new() };
    for group in 0..reader.num_row_groups() {
        add_group(&reader, group, &places, &mut table).map_err(broken)?;
    }
    Ok(table)
}

fn add_group(
    reader: &dyn FileReader,
    group: usize,
    places: &[usize],
    table: &mut TextTable,
) -> Result<(), ParquetError> {
    let group = reader.get_row_group(group)?;
    let columns =
        places.iter().map(|&at| read_column(&*group, at, ValueRepresentation::Texts)).collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<_> = columns.iter().map(|column| column.texts()).collect();
    let count = columns.first().map_or(0, |column| column.rows.len());
    if columns.iter().any(|column| column.rows.len() != count) {
        return Err(ParquetError::General("its columns are not of one length".into()));
    }
    for row in 0..count {
        let cells = columns.iter().map(|column| column.text(row).unwrap_or_default().to_owned()).collect();
        table.rows.push((FilePosition::Row(table.rows.len() as u64 + 1), cells));
    }
    Ok(())
}
