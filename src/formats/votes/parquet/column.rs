//! A column of one row group in memory: texts by number, or numbers.

use super::texts::Texts;
use std::borrow::Cow;

use ::parquet::basic::{LogicalType, TimeUnit, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;

use super::pages::read_texts;
use crate::domain::rating::vote_log::Names;

/// Values read at a time.
const STEP: usize = 64 * 1024;

/// A column of one row group.
pub(super) enum ParquetColumn {
    Texts(Texts),
    /// Numbers and flags, NaN where a row has none.
    Numbers(Vec<f64>),
}

impl ParquetColumn {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.rows.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// As texts: numbers as they are written.
    pub(super) fn texts(&self) -> Cow<'_, Texts> {
        match self {
            Self::Texts(texts) => Cow::Borrowed(texts),
            Self::Numbers(numbers) => {
                let mut names = Names::default();
                let rows = numbers.iter().map(|number| match number.is_nan() {
                    true => Texts::NONE,
                    false => names.position(&number.to_string()),
                });
                let rows = rows.collect();
                Cow::Owned(Texts { names: names.as_slice().to_vec(), rows })
            }
        }
    }

    /// As numbers: texts as they read.
    pub(super) fn numbers(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Numbers(numbers) => Cow::Borrowed(numbers),
            Self::Texts(texts) => {
                let read: Vec<f64> = texts.names.iter().map(|text| number_of(text)).collect();
                texts.rows.iter().map(|&row| read.get(row as usize).copied().unwrap_or(f64::NAN)).collect()
            }
        }
    }
}

fn number_of(text: &str) -> f64 {
    match text {
        "true" | "True" | "TRUE" => 1.0,
        "false" | "False" | "FALSE" => 0.0,
        _ => text.trim().parse().unwrap_or(f64::NAN),
    }
}

/// Units in one second of a column of timestamps.
pub(super) fn time_unit(group: &dyn RowGroupReader, at: usize) -> Option<f64> {
    match group.metadata().column(at).column_descr().logical_type_ref()? {
        LogicalType::Timestamp(timestamp) => Some(match timestamp.unit {
            TimeUnit::MILLIS => 1e3,
            TimeUnit::MICROS => 1e6,
            TimeUnit::NANOS => 1e9,
        }),
        _ => None,
    }
}

/// Reads a column of a row group.
pub(super) fn read_column(group: &dyn RowGroupReader, at: usize) -> Result<ParquetColumn, ParquetError> {
    let rows = usize::try_from(group.metadata().num_rows())?;
    if group.metadata().column(at).column_type() == Type::BYTE_ARRAY {
        return texts(group, at, rows).map(ParquetColumn::Texts);
    }
    let numbers = match group.get_column_reader(at)? {
        ColumnReader::BoolColumnReader(reader) => {
            read_values::<BoolType>(reader, rows, |&flag| f64::from(u8::from(flag)))
        }
        ColumnReader::Int32ColumnReader(reader) => read_values::<Int32Type>(reader, rows, |&number| f64::from(number)),
        ColumnReader::Int64ColumnReader(reader) => read_values::<Int64Type>(reader, rows, |&number| real(number)),
        ColumnReader::FloatColumnReader(reader) => read_values::<FloatType>(reader, rows, |&number| f64::from(number)),
        ColumnReader::DoubleColumnReader(reader) => read_values::<DoubleType>(reader, rows, |&number| number),
        _ => Err(ParquetError::NYI(format!("column {} is of a kind that no vote file has", at + 1))),
    };
    numbers.map(ParquetColumn::Numbers)
}

#[expect(clippy::cast_precision_loss, reason = "counts and times in microseconds stay below 2^53")]
fn real(number: i64) -> f64 {
    number as f64
}

/// Texts by way of their dictionary, or one by one where they are encoded in a rarer way.
fn texts(group: &dyn RowGroupReader, at: usize, rows: usize) -> Result<Texts, ParquetError> {
    let descriptor = group.metadata().schema_descr().column(at);
    if let Some(texts) = read_texts(group.get_column_page_reader(at)?, descriptor.max_def_level(), rows)? {
        return Ok(texts);
    }
    let mut names = Names::default();
    let mut problem = None;
    let reader = get_typed_column_reader::<ByteArrayType>(group.get_column_reader(at)?);
    let rows = read_nullable(reader, rows, |text| match text.map(|text| text.as_utf8()) {
        None => Texts::NONE,
        Some(Ok(text)) => names.position(text),
        Some(Err(error)) => {
            problem = Some(error);
            Texts::NONE
        }
    })?;
    problem.map_or_else(|| Ok(Texts { names: names.as_slice().to_vec(), rows }), Err)
}

/// All numbers of a column.
fn read_values<T: DataType>(
    reader: ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(&T::T) -> f64,
) -> Result<Vec<f64>, ParquetError> {
    read_nullable(reader, rows, |value| value.map_or(f64::NAN, &number))
}

/// All values of a column, `None` where a row has none, as `take` has them.
fn read_nullable<T: DataType, V>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    mut take: impl FnMut(Option<&T::T>) -> V,
) -> Result<Vec<V>, ParquetError> {
    let mut all = Vec::with_capacity(rows);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while all.len() < rows {
        levels.clear();
        values.clear();
        let (read, ..) = reader.read_records(STEP.min(rows - all.len()), Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF("a column ends too early".into()));
        }
        if values.len() == read {
            all.extend(values.iter().map(|value| take(Some(value))));
        } else {
            // The highest level is that of a value: at least one is there, or none at all.
            let there = levels.iter().copied().max().filter(|_| !values.is_empty());
            let mut values = values.iter();
            all.extend(levels.iter().map(|&level| take(if Some(level) == there { values.next() } else { None })));
        }
    }
    Ok(all)
}
