//! Columns of a table.

use serde_json::Value;

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// A floating-point number.
    Real,
    /// True or false.
    Flag,
    /// A list of objects, as JSON text.
    Json,
}

/// Column of a table: the path of a value in the row's object, its kind, and whether a row may lack it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Names from the row's object to the value, joined by dots.
    pub path: &'static str,
    /// Type of its values.
    pub kind: ValueKind,
    /// Whether a row may lack it.
    pub optional: bool,
}

impl Column {
    /// A column that every row has.
    #[must_use]
    pub const fn needed(path: &'static str, kind: ValueKind) -> Self {
        Self { path, kind, optional: false }
    }

    /// A column that a row may lack.
    #[must_use]
    pub const fn optional(path: &'static str, kind: ValueKind) -> Self {
        Self { path, kind, optional: true }
    }

    /// The first name of the path.
    #[must_use]
    pub fn root(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(root, _)| root)
    }

    /// Returns its value in a row.
    #[must_use]
    pub fn of<'r>(&self, row: &'r Value) -> &'r Value {
        self.path.split('.').try_fold(row, |value, name| value.get(name)).unwrap_or(&Value::Null)
    }
}
