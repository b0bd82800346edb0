//! Table of chosen columns as texts.

use super::error::FilePosition;

/// A table in memory.
#[derive(Debug)]
pub(crate) struct TextTable {
    /// The chosen columns that it has.
    pub(crate) columns: Vec<String>,
    /// Its rows, with the position of each.
    pub(crate) rows: Vec<(FilePosition, Vec<String>)>,
}

/// The positions and names of the columns that are wanted.
pub(super) fn chosen<'h>(header: impl Iterator<Item = &'h str>, names: &[&str]) -> Vec<(usize, String)> {
    let wanted = header.enumerate().filter(|(_, name)| names.contains(name));
    wanted.map(|(at, name)| (at, name.to_owned())).collect()
}
