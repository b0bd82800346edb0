//! Column of one row group in memory: texts by dictionary index, or numbers.

use super::texts::Texts;
use std::borrow::Cow;

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetTimeUnit, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96,
    Int96Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;
use ::parquet::schema::types::ColumnDescriptor;

use super::super::cell_value::parse_flag;
use super::pages::read_texts;
use crate::domain::rating::votes::vote_log::InternedTexts;

/// Values read at a time.
const VALUES_PER_READ: usize = 64 * 1024;

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

    /// Converts to texts; numbers in decimal notation.
    pub(super) fn texts(&self) -> Cow<'_, Texts> {
        match self {
            Self::Texts(texts) => Cow::Borrowed(texts),
            Self::Numbers(numbers) => {
                let mut names = InternedTexts::default();
                let rows = numbers.iter().map(|number| match number.is_nan() {
                    true => Texts::NONE,
                    false => names.position(&number.to_string()),
                });
                let rows = rows.collect();
                Cow::Owned(Texts { names: names.as_slice().iter().collect(), rows })
            }
        }
    }

    /// Converts to numbers; texts are parsed.
    pub(super) fn numbers(&self) -> Cow<'_, [f64]> {
        self.read_by(number_of)
    }

    /// Converts to flags: 0 for no, NaN for a text that is neither yes nor no.
    pub(super) fn flags(&self) -> Cow<'_, [f64]> {
        self.read_by(flag_of)
    }

    fn read_by(&self, read: fn(&str) -> f64) -> Cow<'_, [f64]> {
        match self {
            Self::Numbers(numbers) => Cow::Borrowed(numbers),
            Self::Texts(texts) => {
                let read: Vec<f64> = texts.names.iter().map(read).collect();
                texts.rows.iter().map(|&row| read.get(row as usize).copied().unwrap_or(f64::NAN)).collect()
            }
        }
    }
}

fn flag_of(text: &str) -> f64 {
    parse_flag(text).map_or(f64::NAN, |flag| f64::from(u8::from(flag)))
}

fn number_of(text: &str) -> f64 {
    match text {
        "true" | "True" | "TRUE" => 1.0,
        "false" | "False" | "FALSE" => 0.0,
        _ => text.trim().parse().unwrap_or(f64::NAN),
    }
}

/// Unit of a time column's whole numbers since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeUnit {
    /// Fractions of a second, this many in each.
    PartsOfASecond(f64),
    Days,
    /// Whole numbers without a unit.
    Unknown,
}

impl TimeUnit {
    /// Reads the unit of a column; `None` if it is not a column of whole numbers.
    pub(super) fn from_column(group: &dyn RowGroupReader, at: usize) -> Option<Self> {
        let descriptor = group.metadata().column(at).column_descr();
        let logical = descriptor.logical_type_ref();
        match (logical, descriptor.converted_type()) {
            (Some(LogicalType::Timestamp(timestamp)), _) => Some(Self::PartsOfASecond(match timestamp.unit {
                ParquetTimeUnit::MILLIS => 1e3,
                ParquetTimeUnit::MICROS => 1e6,
                ParquetTimeUnit::NANOS => 1e9,
            })),
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Some(Self::Days),
            (_, ConvertedType::TIMESTAMP_MILLIS) => Some(Self::PartsOfASecond(1e3)),
            (_, ConvertedType::TIMESTAMP_MICROS) => Some(Self::PartsOfASecond(1e6)),
            _ => match group.metadata().column(at).column_type() {
                Type::INT96 => Some(Self::PartsOfASecond(1.0)),
                Type::INT32 | Type::INT64 if decimal_scale(descriptor).is_none() => Some(Self::Unknown),
                _ => None,
            },
        }
    }

    /// Converts to seconds since 1970; `None` for an unknown unit.
    pub(super) fn seconds(self, number: f64) -> Option<f64> {
        match self {
            Self::PartsOfASecond(parts) => Some(number / parts),
            Self::Days => Some(number * SECONDS_PER_DAY),
            Self::Unknown => None,
        }
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Julian day number of 1970-01-01.
const JULIAN_DAY_1970: f64 = 2_440_588.0;
/// Bytes of a UUID.
const UUID_BYTES: i32 = 16;

/// Scale of a column of decimals: its digits after the decimal point.
fn decimal_scale(descriptor: &ColumnDescriptor) -> Option<i32> {
    match descriptor.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => Some(decimal.scale),
        _ if descriptor.converted_type() == ConvertedType::DECIMAL => Some(descriptor.type_scale()),
        _ => None,
    }
}

/// Converts a time in Julian days and nanoseconds to seconds since 1970.
fn julian_seconds(time: &Int96) -> f64 {
    let [low, high, day] = [0, 1, 2].map(|word| time.data().get(word).copied().unwrap_or(0));
    let nanoseconds = f64::from(high) * 2_f64.powi(32) + f64::from(low);
    (f64::from(day) - JULIAN_DAY_1970) * SECONDS_PER_DAY + nanoseconds / 1e9
}

/// Converts a big-endian whole number in two's complement; NaN beyond 16 bytes, which no time or count needs.
#[expect(clippy::cast_precision_loss, reason = "what counts of it is in the highest 53 bits")]
fn big_endian(bytes: &[u8]) -> f64 {
    let Some(padding) = 16_usize.checked_sub(bytes.len()) else { return f64::NAN };
    let is_negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let mut whole = if is_negative { [0xFF; 16] } else { [0; 16] };
    whole[padding..].copy_from_slice(bytes);
    i128::from_be_bytes(whole) as f64
}

fn uuid(bytes: &[u8]) -> Option<String> {
    Some(uuid::Uuid::from_slice(bytes).ok()?.to_string())
}

/// Requested representation of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueRepresentation {
    /// Texts, with every digit.
    Texts,
    /// The stored type; whole numbers become floating-point numbers.
    Stored,
}

/// Reads a column of a row group.
pub(super) fn read_column(
    group: &dyn RowGroupReader,
    at: usize,
    read_as: ValueRepresentation,
) -> Result<ParquetColumn, ParquetError> {
    let rows = usize::try_from(group.metadata().num_rows())?;
    let descriptor = group.metadata().column(at).column_descr();
    let scale = decimal_scale(descriptor);
    if group.metadata().column(at).column_type() == Type::BYTE_ARRAY && scale.is_none() {
        return texts(group, at, rows).map(ParquetColumn::Texts);
    }
    let is_uuid = matches!(descriptor.logical_type_ref(), Some(LogicalType::Uuid));
    let numbers = match group.get_column_reader(at)? {
        ColumnReader::FixedLenByteArrayColumnReader(reader) if is_uuid && descriptor.type_length() == UUID_BYTES => {
            return uuids(reader, rows).map(ParquetColumn::Texts);
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) if scale.is_some() => {
            read_values::<FixedLenByteArrayType>(reader, rows, |bytes| big_endian(bytes.data()))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            read_values::<ByteArrayType>(reader, rows, |bytes| big_endian(bytes.data()))
        }
        ColumnReader::Int96ColumnReader(reader) => read_values::<Int96Type>(reader, rows, julian_seconds),
        ColumnReader::BoolColumnReader(reader) => {
            read_values::<BoolType>(reader, rows, |&flag| f64::from(u8::from(flag)))
        }
        ColumnReader::Int32ColumnReader(reader) => read_values::<Int32Type>(reader, rows, |&number| f64::from(number)),
        ColumnReader::Int64ColumnReader(reader) if read_as == ValueRepresentation::Texts && scale.is_none() => {
            return digits(reader, descriptor, rows).map(ParquetColumn::Texts);
        }
        ColumnReader::Int64ColumnReader(reader) => read_values::<Int64Type>(reader, rows, |&number| to_f64(number)),
        ColumnReader::FloatColumnReader(reader) => read_values::<FloatType>(reader, rows, |&number| f64::from(number)),
        ColumnReader::DoubleColumnReader(reader) => read_values::<DoubleType>(reader, rows, |&number| number),
        _ => Err(ParquetError::NYI(format!("column {} is of a kind that no vote file has", at + 1))),
    };
    let mut numbers = numbers?;
    if let Some(scale) = scale {
        let unit = 10_f64.powi(scale);
        numbers.iter_mut().for_each(|number| *number /= unit);
    }
    Ok(ParquetColumn::Numbers(numbers))
}

fn uuids(reader: ColumnReaderImpl<FixedLenByteArrayType>, rows: usize) -> Result<Texts, ParquetError> {
    let mut names = InternedTexts::default();
    let rows = read_nullable(reader, rows, |bytes| {
        bytes.and_then(|bytes| uuid(bytes.data())).map_or(Texts::NONE, |text| names.position(&text))
    })?;
    Ok(Texts { names: names.as_slice().iter().collect(), rows })
}

/// Reads whole numbers with all digits: voters whose numbers differ beyond the 53 bits of a floating-point number are distinct.
fn digits(
    reader: ColumnReaderImpl<Int64Type>,
    descriptor: &ColumnDescriptor,
    rows: usize,
) -> Result<Texts, ParquetError> {
    let is_signed = match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => integer.is_signed,
        _ => descriptor.converted_type() != ConvertedType::UINT_64,
    };
    let mut names = InternedTexts::default();
    let rows = read_nullable(reader, rows, |number| match number {
        None => Texts::NONE,
        Some(number) if is_signed => names.position(&number.to_string()),
        Some(number) => names.position(&number.cast_unsigned().to_string()),
    })?;
    Ok(Texts { names: names.as_slice().iter().collect(), rows })
}

#[expect(clippy::cast_precision_loss, reason = "counts and times in microseconds stay below 2^53")]
fn to_f64(number: i64) -> f64 {
    number as f64
}

/// Reads texts by their dictionary, or one by one in rarer encodings.
fn texts(group: &dyn RowGroupReader, at: usize, rows: usize) -> Result<Texts, ParquetError> {
    let descriptor = group.metadata().schema_descr().column(at);
    if let Some(texts) = read_texts(group.get_column_page_reader(at)?, descriptor.max_def_level(), rows)? {
        return Ok(texts);
    }
    let mut names = InternedTexts::default();
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
    problem.map_or_else(|| Ok(Texts { names: names.as_slice().iter().collect(), rows }), Err)
}

/// Reads all numbers of a column.
fn read_values<T: DataType>(
    reader: ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(&T::T) -> f64,
) -> Result<Vec<f64>, ParquetError> {
    read_nullable(reader, rows, |value| value.map_or(f64::NAN, &number))
}

/// Reads all values of a column, mapped by `take`; a row without a value gives `None`.
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
        let (read, ..) =
            reader.read_records(VALUES_PER_READ.min(rows - all.len()), Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF("a column ends too early".into()));
        }
        if values.len() == read {
            all.extend(values.iter().map(|value| take(Some(value))));
        } else {
            // The highest level marks a value if there are any values.
            let there = levels.iter().copied().max().filter(|_| !values.is_empty());
            let mut values = values.iter();
            all.extend(levels.iter().map(|&level| take(if Some(level) == there { values.next() } else { None })));
        }
    }
    Ok(all)
}
