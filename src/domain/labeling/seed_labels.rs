//! Seeds: labelled examples in a CSV file with a text and a label in each row.

use std::collections::HashMap;
use std::io::Read;

use super::scheme::{Scheme, UnknownLabel};
use super::table::{LabelTable, Syntax};

/// Accepted names of the text column, including URS's.
const TEXT_COLUMNS: [&str; 4] = ["text", "question", "query", "prompt"];
/// Accepted names of the label column.
const LABEL_COLUMNS: [&str; 4] = ["label", "category", "user_intent", "intent"];
/// Accepted names of the column with the id of the arena's prompt.
const QUERY_ID_COLUMNS: [&str; 2] = ["query_id", "battle_id"];

/// Labelled text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// The text.
    pub text: String,
    /// Position of the label in [`Scheme::labels`].
    pub label: usize,
    /// Id of the arena's prompt, if the seed is one.
    pub query: Option<String>,
    /// Line in the file.
    pub line: u64,
}

/// Error of a file of seeds.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// A column is missing.
    #[error("the seed file has no column of {what}: name one {names}")]
    Column {
        /// Content of the column.
        what: &'static str,
        /// Accepted names of the column.
        names: String,
    },
    /// A row is invalid.
    #[error("line {line}: {problem}")]
    Row {
        /// Line where the row begins.
        line: u64,
        /// Problem of the row.
        problem: RowProblem,
    },
    /// The number of seeds per label differs from the scheme's requirement.
    #[error("{scheme} needs {wanted} seeds of each label, and the file has {counts}")]
    Unbalanced {
        /// Name of the scheme.
        scheme: &'static str,
        /// Required number per label.
        wanted: usize,
        /// Number of seeds by label.
        counts: String,
    },
    /// A label has too few seeds for cross-validation.
    #[error("{folds}-fold validation needs {folds} seeds of each label, and the file has {counts}")]
    TooFew {
        /// Number of folds.
        folds: usize,
        /// Number of seeds by label.
        counts: String,
    },
}

/// Problem of a row.
#[derive(Debug, thiserror::Error)]
pub enum RowProblem {
    /// The row is not valid CSV.
    #[error(transparent)]
    Syntax(#[from] Syntax),
    /// The text is empty.
    #[error("the text is empty: give the query or remove the row")]
    NoText,
    /// The label is unknown.
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// The prompt's id is unknown.
    #[error("no prompt of this arena has the id {0:?}: leave the field empty for a text from elsewhere")]
    UnknownQuery(String),
    /// The prompt occurs in another row as well.
    #[error("the query {id:?} is already on line {first}: keep one of them")]
    Again {
        /// Id of the prompt.
        id: String,
        /// Line of the first occurrence.
        first: u64,
    },
}

/// Reads a file of seeds: CSV with a header, UTF-8 with or without a byte-order mark.
///
/// # Errors
/// [`SeedError`] for a missing column or the first invalid row.
pub fn read(file: impl Read, scheme: Scheme) -> Result<Vec<Seed>, SeedError> {
    let table = LabelTable::read(file).map_err(|(line, problem)| SeedError::Row { line, problem: problem.into() })?;
    let place = |names: &[&str]| table.header.iter().position(|column| names.contains(&column.as_str()));
    let needed =
        |names: &[&str], what| place(names).ok_or_else(|| SeedError::Column { what, names: names.join(" or ") });
    let (text, label, query) =
        (needed(&TEXT_COLUMNS, "texts")?, needed(&LABEL_COLUMNS, "labels")?, place(&QUERY_ID_COLUMNS));
    let mut seeds = Vec::new();
    let mut lines = HashMap::new();
    for (line, row) in table.rows {
        let seed = seed(scheme, [&row[text], &row[label], query.map_or("", |place| &row[place])], line)
            .map_err(|problem| SeedError::Row { line, problem })?;
        if let Some(id) = &seed.query
            && let Some(first) = lines.insert(id.clone(), line)
        {
            return Err(SeedError::Row { line, problem: RowProblem::Again { id: id.clone(), first } });
        }
        seeds.push(seed);
    }
    Ok(seeds)
}

fn seed(scheme: Scheme, [text, label, query]: [&str; 3], line: u64) -> Result<Seed, RowProblem> {
    if text.trim().is_empty() {
        return Err(RowProblem::NoText);
    }
    let query = Some(query.trim()).filter(|id| !id.is_empty()).map(str::to_owned);
    Ok(Seed { text: text.to_owned(), label: scheme.position(label)?, query, line })
}

/// Checks that seeds meet the scheme's requirement, with at least `folds` of each label.
///
/// # Errors
/// [`SeedError::Unbalanced`] or [`SeedError::TooFew`] with the counts of all labels.
pub fn check_balance(seeds: &[Seed], scheme: Scheme, folds: usize) -> Result<(), SeedError> {
    let counts: Vec<usize> =
        scheme.labels().enumerate().map(|(label, _)| seeds.iter().filter(|seed| seed.label == label).count()).collect();
    let list = || {
        let each: Vec<String> = scheme.labels().zip(&counts).map(|(label, count)| format!("{count} {label}")).collect();
        each.join(", ")
    };
    if let Some(wanted) = scheme.seeds_per_label().filter(|wanted| counts.iter().any(|count| count != wanted)) {
        return Err(SeedError::Unbalanced { scheme: scheme.as_str(), wanted, counts: list() });
    }
    if counts.iter().any(|&count| count < folds) {
        return Err(SeedError::TooFew { folds, counts: list() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(file: &[u8], said: &str) {
        let error = read(file, Scheme::Urs).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }

    #[test]
    fn urs_own_file_reads_as_it_is_with_its_mark_quotes_and_line_ends() {
        let file = "\u{feff}question,reference_ans,user_intent,language\r\n\"Two\r\nlines, and \"\"more\"\"\",x,API,EN\r\n\
                    晚饭吃什么,y,Ask_for_Advice,CN\r\n";
        let seeds = read(file.as_bytes(), Scheme::Urs).unwrap();
        assert_eq!(seeds[0], Seed { text: "Two\r\nlines, and \"more\"".into(), label: 1, query: None, line: 2 });
        assert_eq!((seeds[1].text.as_str(), seeds[1].label, seeds.len()), ("晚饭吃什么", 3, 2));
        let own = read("query_id,text,label\nq1,a,leisure\n,b,leisure\n".as_bytes(), Scheme::Urs).unwrap();
        assert_eq!(own.iter().map(|seed| seed.query.as_deref()).collect::<Vec<_>>(), [Some("q1"), None]);
    }

    #[test]
    fn a_bad_row_is_named_by_its_line() {
        refused(b"text,label\na,leisure\n\"b\nb\",fun\n", "line 3: the label \"fun\" is unknown");
        refused(b"text,label\na,leisure\n ,leisure\n", "line 3: the text is empty");
        refused(b"text,label\na,b,leisure\n", "line 2: the row has 3 fields instead of 2");
        refused(b"text,label\n\xff,leisure\n", "line 2: the text is not UTF-8");
        refused(b"text,kind\na,leisure\n", "no column of labels");
        refused(b"text,label,query_id\na,leisure,q\nb,leisure,q\n", "line 3: the query \"q\" is already on line 2");
    }

    #[test]
    fn superclue_wants_thirty_of_each_and_says_what_there_is() {
        let of = |counts: [usize; 10]| -> Vec<Seed> {
            let some =
                |(label, &count): (usize, &usize)| vec![Seed { text: "t".into(), label, query: None, line: 0 }; count];
            counts.iter().enumerate().flat_map(some).collect()
        };
        assert!(check_balance(&of([30; 10]), Scheme::Superclue, 5).is_ok());
        for wrong in [29, 31] {
            let seeds = of([30, 30, 30, 30, 30, wrong, 30, 30, 30, 30]);
            let error = check_balance(&seeds, Scheme::Superclue, 5).unwrap_err().to_string();
            let expected = "30 seeds of each label, and the file has 30 semantic_understanding";
            assert!(error.contains(expected) && error.contains(&format!("{wrong} code_generation")), "{error}");
        }
        let few: Vec<Seed> = of([9, 9, 9, 9, 9, 4, 0, 0, 0, 0]);
        let error = check_balance(&few, Scheme::Urs, 5).unwrap_err().to_string();
        assert!(error.contains("4 leisure"), "{error}");
    }
}
