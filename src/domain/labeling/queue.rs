//! Review queue as a CSV file, written for reviewers and read back.
//!
//! A row has the prompt, the suggested label with its confidence, and an empty field `label` for the decision; rows left empty are ignored.
//! Other reviewers' labels are omitted, so that each decides independently.

use std::collections::HashMap;
use std::io::{Read, Write};

use serde::Serialize;

use super::scheme::{Scheme, UnknownLabel};
use super::table::{LabelTable, Syntax};

/// Prompt in the review queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueuedQuery {
    /// Id of the prompt.
    pub query_id: String,
    /// Text of the prompt.
    pub text: String,
    /// Suggested label: the visitor's, else the classifier's.
    pub suggested: String,
    /// Confidence of the classifier.
    pub confidence: f64,
}

/// Reviewer's label of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelDecision {
    /// Line in the file.
    pub line: u64,
    /// Id of the prompt.
    pub query_id: String,
    /// The label.
    pub label: &'static str,
}

/// Error of a reviewed queue.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The file lacks a column.
    #[error("the file has no column {0:?}: use the file that `langya label queue` wrote")]
    Column(&'static str),
    /// A row is invalid.
    #[error("line {line}: {problem}")]
    Row {
        /// Line where the row begins.
        line: u64,
        /// Problem of the row.
        problem: QueueProblem,
    },
}

/// Problem of a row.
#[derive(Debug, thiserror::Error)]
pub enum QueueProblem {
    /// The row is not valid CSV.
    #[error(transparent)]
    Syntax(#[from] Syntax),
    /// The label is unknown.
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// The prompt occurs twice.
    #[error("the query {id:?} is already on line {first}: keep one of them")]
    Again {
        /// Id of the prompt.
        id: String,
        /// Line of the first occurrence.
        first: u64,
    },
    /// The file belongs to the other scheme.
    #[error("the row is of the scheme {0:?}: name that one with --scheme")]
    Scheme(String),
    /// The prompt is unknown.
    #[error("no prompt of this arena has the id {0:?}: leave the ids as they were written")]
    UnknownQuery(String),
}

impl QueueProblem {
    /// Returns the error of this problem on a line.
    #[must_use]
    pub fn on(self, line: u64) -> QueueError {
        QueueError::Row { line, problem: self }
    }
}

/// Writes a queue; `safe` escapes texts for spreadsheets.
///
/// # Errors
/// Fails as the writer does.
pub fn write<'t>(
    out: impl Write,
    scheme: Scheme,
    queue: &'t [QueuedQuery],
    safe: impl Fn(&'t str) -> std::borrow::Cow<'t, str>,
) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["query_id", "scheme", "text", "suggested", "confidence", "label"])?;
    for query in queue {
        writer.write_record([
            query.query_id.as_str(),
            scheme.as_str(),
            safe(&query.text).as_ref(),
            &query.suggested,
            &format!("{:.4}", query.confidence),
            "",
        ])?;
    }
    Ok(writer.flush()?)
}

/// Reads the decisions of a reviewed queue.
///
/// # Errors
/// [`QueueError`] for the first invalid row.
pub fn read(file: impl Read, scheme: Scheme) -> Result<Vec<LabelDecision>, QueueError> {
    let table = LabelTable::read(file).map_err(|(line, problem)| QueueProblem::from(problem).on(line))?;
    let place =
        |name: &'static str| table.header.iter().position(|column| column == name).ok_or(QueueError::Column(name));
    let (query, of_scheme, label) = (place("query_id")?, place("scheme")?, place("label")?);
    let mut decisions: Vec<LabelDecision> = Vec::new();
    let mut lines: HashMap<String, u64> = HashMap::new();
    for (line, row) in table.rows {
        if row[label].trim().is_empty() {
            continue;
        }
        if row[of_scheme].trim() != scheme.as_str() {
            return Err(QueueProblem::Scheme(row[of_scheme].chars().take(60).collect()).on(line));
        }
        let position = scheme.position(&row[label]).map_err(|error| QueueProblem::from(error).on(line))?;
        let query_id = row[query].trim().to_owned();
        if let Some(first) = lines.insert(query_id.clone(), line) {
            return Err(QueueProblem::Again { id: query_id, first }.on(line));
        }
        decisions.extend(scheme.label(position).map(|label| LabelDecision { line, query_id, label }));
    }
    Ok(decisions)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn queue() -> Vec<QueuedQuery> {
        let query = |id: &str, text: &str, confidence| QueuedQuery {
            query_id: id.into(),
            text: text.into(),
            suggested: "safety".into(),
            confidence,
        };
        vec![query("one", "=1+1", 0.25), query("two", "第一行\n\"第二行\"", 0.5)]
    }

    #[test]
    fn what_is_written_comes_back_with_what_was_filled_in() {
        let mut file = Vec::new();
        let safe = |text: &str| {
            if text.starts_with('=') { Cow::Owned(format!("'{text}")) } else { Cow::Owned(text.to_owned()) }
        };
        let queue = queue();
        write(&mut file, Scheme::Superclue, &queue, safe).unwrap();
        let text = String::from_utf8(file).unwrap();
        assert!(text.contains("one,superclue,'=1+1,safety,0.2500,\n"), "{text}");
        assert_eq!(read(text.as_bytes(), Scheme::Superclue).unwrap(), []);
        let filled = text.replace("0.5000,", "0.5000,Small Talk");
        let decisions = read(filled.as_bytes(), Scheme::Superclue).unwrap();
        assert_eq!(decisions, [LabelDecision { line: 3, query_id: "two".into(), label: "small_talk" }]);
    }

    #[test]
    fn a_bad_row_is_named_by_its_line() {
        for (rows, said) in [
            ("a,superclue,safety\nb,superclue,fun\n", "line 3: the label \"fun\" is unknown"),
            ("a,superclue,safety\na,superclue,safety\n", "line 3: the query \"a\" is already on line 2"),
            ("a,urs,leisure\n", "line 2: the row is of the scheme \"urs\""),
            ("a,superclue\n", "line 2: "),
        ] {
            let file = format!("query_id,scheme,label\n{rows}");
            let error = read(file.as_bytes(), Scheme::Superclue).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let error = read("query_id,label\n".as_bytes(), Scheme::Urs).unwrap_err().to_string();
        assert!(error.contains("\"scheme\""), "{error}");
    }
}
