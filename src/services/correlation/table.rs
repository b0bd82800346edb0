//! A table with one row for each model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::ReadSeriesError;

/// A CSV file with one row a model.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Table {
    /// Reads a table whose column `key` has the models; what is no number is missing, as is an empty cell.
    ///
    /// # Errors
    /// [`ReadSeriesError::Table`], [`ReadSeriesError::Column`].
    pub fn read(file: &Path, key: &str) -> Result<Self, ReadSeriesError> {
        let bad = |reason: String| ReadSeriesError::Table { file: file.to_owned(), reason };
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

    /// The columns that have a number in some row.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let has_number = |at: usize| self.rows.iter().any(|(_, cells)| cells[at].is_some());
        let columns = self.columns.iter().enumerate();
        columns.filter(|(at, _)| has_number(*at)).map(|(_, name)| name.as_str()).collect()
    }

    /// A column, without the models that have no number in it.
    ///
    /// # Errors
    /// [`ReadSeriesError::Column`].
    pub fn column(&self, name: &str) -> Result<BTreeMap<String, f64>, ReadSeriesError> {
        let place = place(&self.columns, name)?;
        Ok(self.rows.iter().filter_map(|(model, cells)| Some((model.clone(), cells[place]?))).collect())
    }
}

fn place(columns: &[String], name: &str) -> Result<usize, ReadSeriesError> {
    columns
        .iter()
        .position(|column| column == name)
        .ok_or_else(|| ReadSeriesError::Column { name: name.to_owned(), known: columns.join(", ") })
}
