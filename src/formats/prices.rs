//! A table with the price of each model.

use std::path::Path;

use super::votes::{TextTable, read_table};
use crate::domain::judging::budget::Prices;
use crate::domain::rating::value::prices::{Currency, ModelPrice, PriceList};
use crate::table_error::TableFileError;

const MODEL_COLUMN: &str = "model";
const INPUT_PRICE_COLUMN: &str = "input_price";
const OUTPUT_PRICE_COLUMN: &str = "output_price";
/// Optional columns; the settings call the first two `price_date` and `price_source`.
const DATE_COLUMNS: [&str; 2] = ["date", "price_date"];
const SOURCE_COLUMNS: [&str; 2] = ["source", "price_source"];
const CURRENCY_COLUMNS: [&str; 1] = ["currency"];

/// Reads a table with the columns `model`, `input_price`, `output_price` and, where known, `date`, `source` and `currency`, from any
/// format of vote files; `-` is the standard input. Prices are of a million tokens.
///
/// # Errors
/// [`TableFileError`] for a missing column or the first row that cannot be used.
pub fn read_prices(file: &Path) -> Result<PriceList, TableFileError> {
    let names = [
        &[MODEL_COLUMN, INPUT_PRICE_COLUMN, OUTPUT_PRICE_COLUMN],
        &DATE_COLUMNS[..],
        &SOURCE_COLUMNS,
        &CURRENCY_COLUMNS,
    ]
    .concat();
    let table = read_table(file, &names)?;
    let unusable = |reason| TableFileError::unusable(file, reason);
    for needed in [MODEL_COLUMN, INPUT_PRICE_COLUMN, OUTPUT_PRICE_COLUMN] {
        if !table.columns.iter().any(|column| column == needed) {
            return Err(unusable(format!("no column is called {needed}: add it, with the price of a million tokens")));
        }
    }
    let mut list = PriceList::default();
    for (place, cells) in &table.rows {
        add(&mut list, &PriceRow { table: &table, cells }).map_err(|reason| unusable(format!("{place}: {reason}")))?;
    }
    Ok(list)
}

/// A row with the names of its columns.
struct PriceRow<'t> {
    table: &'t TextTable,
    cells: &'t [String],
}

impl PriceRow<'_> {
    /// Text in the first of these columns that the table has; `None` if empty.
    fn cell(&self, names: &[&str]) -> Option<&str> {
        let place = names.iter().find_map(|name| self.table.columns.iter().position(|column| column == name))?;
        Some(self.cells[place].trim()).filter(|cell| !cell.is_empty())
    }

    fn price(&self, column: &str) -> Result<f64, String> {
        let text = self.cell(&[column]).unwrap_or_default();
        let price = text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
        price.ok_or_else(|| format!("{column} is {text:?}: give a number from 0, the price of a million tokens"))
    }
}

fn add(list: &mut PriceList, row: &PriceRow<'_>) -> Result<(), String> {
    let model = row.cell(&[MODEL_COLUMN]).ok_or("the row names no model")?.to_owned();
    let date = row.cell(&DATE_COLUMNS).map(str::parse).transpose().map_err(text)?;
    let source = row.cell(&SOURCE_COLUMNS).map(str::parse).transpose().map_err(text)?;
    let currency: Option<Currency> = row.cell(&CURRENCY_COLUMNS).map(str::parse).transpose().map_err(text)?;
    if !list.models.is_empty() && list.currency != currency {
        let shown = |currency: &Option<Currency>| currency.as_ref().map_or("none".to_owned(), Currency::to_string);
        let currencies = [shown(&list.currency), shown(&currency)].join(" and ");
        return Err(format!("the currencies are {currencies}: convert all prices to one"));
    }
    list.currency = currency;
    let prices = Prices { input: row.price(INPUT_PRICE_COLUMN)?, output: row.price(OUTPUT_PRICE_COLUMN)? };
    let former = list.models.insert(model.clone(), ModelPrice { prices, date, source });
    if former.is_some() { Err(format!("model {model:?} has two rows: keep one of them")) } else { Ok(()) }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PriceList, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prices.csv");
        std::fs::write(&file, text).unwrap();
        read_prices(&file).map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
    }

    #[test]
    fn a_price_may_come_with_date_source_and_currency() {
        let list =
            read("model,input_price,output_price,date,source,currency\na,1.5,6,2026-11-21,list,CNY\nb,0,0,,,CNY\n");
        let list = list.unwrap();
        assert_eq!(list.currency.map(String::from).as_deref(), Some("CNY"));
        let a = &list.models["a"];
        assert_eq!(a.prices, Prices { input: 1.5, output: 6.0 });
        assert_eq!(
            (a.date.unwrap().to_string().as_str(), a.source.as_ref().unwrap().to_string().as_str()),
            ("2026-11-21", "list")
        );
        let b = &list.models["b"];
        assert_eq!((b.prices, b.date, b.source.is_none()), (Prices::default(), None, true));
    }

    #[test]
    fn what_is_no_price_is_refused_with_its_place() {
        let head = "model,input_price,output_price,currency,date\n";
        for (rows, said) in [
            ("a,1,-2,,\n", "prices.csv: line 2: output_price is \"-2\": give a number from 0"),
            ("a,,2,,\n", "line 2: input_price is \"\""),
            ("a,inf,2,,\n", "input_price is \"inf\""),
            (",1,2,,\n", "names no model"),
            ("a,1,2,,\na,1,2,,\n", "line 3: model \"a\" has two rows"),
            ("a,1,2,USD,\nb,1,2,EUR,\n", "line 3: the currencies are USD and EUR: convert"),
            ("a,1,2,,\nb,1,2,EUR,\n", "the currencies are none and EUR"),
            ("a,1,2,dollar,\n", "for example USD"),
            ("a,1,2,,yesterday\n", "for example 2026-11-21"),
        ] {
            let refused = read(&format!("{head}{rows}")).unwrap_err();
            assert!(refused.contains(said), "{refused:?} lacks {said:?}");
        }
        let refused = read("model,output_price\na,1\n").unwrap_err();
        assert!(refused.contains("no column is called input_price"), "{refused}");
    }
}
