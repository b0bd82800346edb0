//! A CSV file with one row per model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a table or one of its columns cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelTableError {
    /// The file cannot be read.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such column.
    #[error("the table has no column {name:?}: its columns are {known}")]
    Column {
        /// The requested column.
        name: String,
        /// The columns of the table.
        known: String,
    },
}

/// A table of numbers with one row per model.
#[derive(Debug, Clone, Default)]
pub struct ModelTable {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl ModelTable {
    /// Reads a table whose column `key` has the models. Cells that are not finite numbers are missing values.
    ///
    /// # Errors
    /// [`ModelTableError::File`], [`ModelTableError::Column`].
    pub fn read(file: &Path, key: &str) -> Result<Self, ModelTableError> {
        let bad = |reason: String| ModelTableError::File { file: file.to_owned(), reason };
        let mut reader = csv::Reader::from_path(file).map_err(|error| bad(error.to_string()))?;
        let header = reader.headers().map_err(|error| bad(error.to_string()))?;
        let columns: Vec<String> =
            header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        let place = place(&columns, key)?;
        let mut rows: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        let mut known = BTreeSet::new();
        for row in reader.records() {
            let row = row.map_err(|error| bad(error.to_string()))?;
            let model = row[place].trim().to_owned();
            if !known.insert(model.clone()) {
                return Err(bad(format!("model {model:?} has two rows: keep one of them")));
            }
            let number = |cell: &str| cell.trim().parse().ok().filter(|value: &f64| value.is_finite());
            rows.push((model, row.iter().map(number).collect()));
        }
        Ok(Self { columns, rows })
    }

    /// The columns that have a number in at least one row.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let has_number = |at: usize| self.rows.iter().any(|(_, cells)| cells[at].is_some());
        let columns = self.columns.iter().enumerate();
        columns.filter(|(at, _)| has_number(*at)).map(|(_, name)| name.as_str()).collect()
    }

    /// The numbers of a column by model; models without a number are left out.
    ///
    /// # Errors
    /// [`ModelTableError::Column`].
    pub fn column(&self, name: &str) -> Result<BTreeMap<String, f64>, ModelTableError> {
        let place = place(&self.columns, name)?;
        Ok(self.rows.iter().filter_map(|(model, cells)| Some((model.clone(), cells[place]?))).collect())
    }
}

fn place(columns: &[String], name: &str) -> Result<usize, ModelTableError> {
    columns
        .iter()
        .position(|column| column == name)
        .ok_or_else(|| ModelTableError::Column { name: name.to_owned(), known: columns.join(", ") })
}
