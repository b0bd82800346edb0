//! A table with the maker of each model.

use std::collections::BTreeMap;
use std::path::Path;

use super::votes::read_table;
use crate::domain::rating::votes::makers::Makers;
use crate::table_error::TableFileError;

const MODEL_COLUMN: &str = "model";
/// Names of the maker column; the settings call it `organization`.
const MAKER_COLUMNS: [&str; 2] = ["maker", "organization"];

/// Reads a table with the columns `model` and `maker` from any format of vote files; `-` is the standard input. A model without a maker
/// is treated as absent.
///
/// # Errors
/// [`TableFileError`] for a missing column or the first row that cannot be used.
pub fn read_makers(file: &Path) -> Result<Makers, TableFileError> {
    let table = read_table(file, &[MODEL_COLUMN, MAKER_COLUMNS[0], MAKER_COLUMNS[1]])?;
    let unusable = |reason: String| TableFileError::unusable(file, reason);
    let column = |names: &[&str]| names.iter().find_map(|name| table.columns.iter().position(|column| column == name));
    let missing = || unusable("a column model and a column maker are needed: name them so".to_owned());
    let (model, maker) = column(&[MODEL_COLUMN]).zip(column(&MAKER_COLUMNS)).ok_or_else(missing)?;
    let mut by_model: BTreeMap<String, String> = BTreeMap::new();
    for (place, cells) in &table.rows {
        let [model, maker] = [model, maker].map(|column| cells[column].trim().to_owned());
        if maker.is_empty() {
            continue;
        }
        let former = by_model.insert(model.clone(), maker.clone());
        if former.is_some_and(|former| former != maker) {
            return Err(unusable(format!("{place}: model {model:?} has two makers: keep one of them")));
        }
    }
    Ok(by_model.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Makers, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("makers.csv");
        std::fs::write(&file, text).unwrap();
        read_makers(&file).map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
    }

    #[test]
    fn makers_are_read_by_model_and_may_be_unknown() {
        let expected: Makers =
            [("a".to_owned(), "X".to_owned()), ("b".to_owned(), "Y".to_owned())].into_iter().collect();
        assert_eq!(read("model,maker\na,X\nb, Y\nc,\na,X\n").unwrap(), expected);
        assert_eq!(read("organization,model\nX,a\nY,b\n").unwrap(), expected);
    }

    #[test]
    fn a_table_without_the_columns_or_with_two_makers_is_refused() {
        assert_eq!(
            read("model,price\na,1\n").unwrap_err(),
            "makers.csv: a column model and a column maker are needed: name them so"
        );
        assert_eq!(
            read("model,maker\na,X\na,Y\n").unwrap_err(),
            "makers.csv: line 3: model \"a\" has two makers: keep one of them"
        );
    }
}
