//! Numbers between columns and types: `BIGINT` has a sign, and counts have none.

use super::StoreError;

/// A count or duration out of a column that never holds a negative number.
pub(super) fn unsigned(value: i64, table: &'static str, column: &'static str, row: &str) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column,
        row: row.to_owned(),
        value: value.to_string(),
    })
}

/// A number on its way into a `BIGINT` column.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
