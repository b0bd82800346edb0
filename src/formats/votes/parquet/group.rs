//! Columns of one row group by field.

use std::borrow::Cow;

use super::super::column_names::Field;
use super::ReadPlan;
use super::column_reader::{ParquetColumn, TimeUnit};
use crate::votes::parquet::texts::Texts;

/// The columns of one row group.
pub(super) struct RowGroup<'g> {
    pub(super) plan: &'g ReadPlan<'g>,
    pub(super) columns: Vec<ParquetColumn>,
    /// Time unit of each column.
    pub(super) units: Vec<Option<TimeUnit>>,
    pub(super) rows: usize,
}

impl RowGroup<'_> {
    pub(super) fn column(&self, at: usize) -> Option<&ParquetColumn> {
        self.plan.needed.binary_search(&at).ok().map(|place| &self.columns[place])
    }

    pub(super) fn of(&self, field: Field) -> Option<&ParquetColumn> {
        self.column(self.plan.header.one(field)?.at)
    }

    pub(super) fn texts(&self, field: Field) -> Option<Cow<'_, Texts>> {
        self.of(field).map(ParquetColumn::texts)
    }

    pub(super) fn numbers(&self, field: Field) -> Option<Cow<'_, [f64]>> {
        self.of(field).map(ParquetColumn::numbers)
    }

    pub(super) fn flags(&self, field: Field) -> Option<Cow<'_, [f64]>> {
        self.of(field).map(ParquetColumn::flags)
    }

    /// Time unit of a field's column; `None` if it is not a column of whole numbers.
    pub(super) fn unit(&self, field: Field) -> Option<TimeUnit> {
        let place = self.plan.needed.binary_search(&self.plan.header.one(field)?.at).ok()?;
        self.units[place]
    }
}
