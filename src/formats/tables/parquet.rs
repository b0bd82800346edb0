//! Writer of Parquet files, row group by row group.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use super::column::{Column, ValueKind};

/// Maximum rows and text bytes of a row group, which an export holds in memory.
const GROUP_ROWS: usize = 20_000;
const GROUP_BYTES: usize = 16 << 20;

/// Parquet file being written.
pub(super) struct ParquetTable<W: Write + Send> {
    columns: Vec<Column>,
    waiting: PendingRows,
    writer: SerializedFileWriter<W>,
}

/// Rows of the next row group, by column.
#[derive(Default)]
struct PendingRows {
    columns: Vec<Cells>,
    rows: usize,
    bytes: usize,
}

/// Values of a column, with the definition level of each row.
#[derive(Default)]
struct Cells {
    texts: Vec<ByteArray>,
    numbers: Vec<i64>,
    reals: Vec<f64>,
    flags: Vec<bool>,
    there: Vec<i16>,
}

impl<W: Write + Send> ParquetTable<W> {
    pub(super) fn begin(columns: Vec<Column>, out: W) -> io::Result<Self> {
        let fields = columns.iter().map(|column| (column.path, column)).collect();
        let schema = group("row", fields).map_err(as_io)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(as_io)?;
        let mut table = Self { columns, waiting: PendingRows::default(), writer };
        table.waiting.columns.resize_with(table.columns.len(), Cells::default);
        Ok(table)
    }

    pub(super) fn write(&mut self, row: Value) -> io::Result<()> {
        for (column, cells) in self.columns.iter().zip(&mut self.waiting.columns) {
            self.waiting.bytes += cells.push(column.kind, column.of(&row));
        }
        self.waiting.rows += 1;
        if self.waiting.rows == GROUP_ROWS || self.waiting.bytes >= GROUP_BYTES {
            self.write_group().map_err(as_io)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.waiting.rows > 0 {
            self.write_group().map_err(as_io)?;
        }
        let mut out = self.writer.into_inner().map_err(as_io)?;
        out.flush()
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (column, cells) in self.columns.iter().zip(&mut self.waiting.columns) {
            let cells = std::mem::take(cells);
            let there = column.optional.then_some(cells.there.as_slice());
            match column.kind {
                ValueKind::Text | ValueKind::Json => write_column::<ByteArrayType, W>(&mut group, &cells.texts, there)?,
                ValueKind::Number => write_column::<Int64Type, W>(&mut group, &cells.numbers, there)?,
                ValueKind::Real => write_column::<DoubleType, W>(&mut group, &cells.reals, there)?,
                ValueKind::Flag => write_column::<BoolType, W>(&mut group, &cells.flags, there)?,
            }
        }
        group.close()?;
        (self.waiting.rows, self.waiting.bytes) = (0, 0);
        Ok(())
    }
}

impl Cells {
    /// Adds the value of a row, and returns its approximate size in bytes.
    fn push(&mut self, kind: ValueKind, value: &Value) -> usize {
        self.there.push(i16::from(!value.is_null()));
        if value.is_null() {
            return 0;
        }
        match kind {
            ValueKind::Text | ValueKind::Json => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let bytes = text.len();
                self.texts.push(text.into_bytes().into());
                return bytes;
            }
            ValueKind::Number => self.numbers.push(value.as_i64().unwrap_or(i64::MAX)),
            ValueKind::Real => self.reals.push(value.as_f64().unwrap_or(f64::NAN)),
            ValueKind::Flag => self.flags.push(value.as_bool().unwrap_or_default()),
        }
        8
    }
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has fewer columns than the rows".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}

/// Builds a group type; fields whose paths share a first name are nested in a group.
fn group(name: &str, fields: Vec<(&str, &Column)>) -> Result<TypePtr, ParquetError> {
    let mut types = Vec::new();
    let mut rest = fields.as_slice();
    while let Some((path, column)) = rest.first() {
        let Some((outer, _)) = path.split_once('.') else {
            types.push(Arc::new(leaf(path, column)?));
            rest = &rest[1..];
            continue;
        };
        let within: Vec<(&str, &Column)> = rest
            .iter()
            .map_while(|(path, column)| Some((path.strip_prefix(outer)?.strip_prefix('.')?, *column)))
            .collect();
        rest = &rest[within.len()..];
        types.push(group(outer, within)?);
    }
    let group = Type::group_type_builder(name).with_fields(types);
    // The outermost group is the schema itself, which has no repetition.
    let group = if name == "row" { group } else { group.with_repetition(Repetition::REQUIRED) };
    group.build().map(Arc::new)
}

fn leaf(name: &str, column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ValueKind::Text | ValueKind::Json => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ValueKind::Number => (Physical::INT64, None),
        ValueKind::Real => (Physical::DOUBLE, None),
        ValueKind::Flag => (Physical::BOOLEAN, None),
    };
    let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition).build()
}

fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}
