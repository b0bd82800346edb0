//! Conversions between column and Rust integers: `BIGINT` is signed, and counts are not.

use super::StoreError;

/// Converts a count or duration from a column that never holds a negative number.
pub(super) fn unsigned(value: i64, table: &'static str, column: &'static str, row: &str) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column,
        row: row.to_owned(),
        value: value.to_string(),
    })
}

/// Converts a number for a `BIGINT` column.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
