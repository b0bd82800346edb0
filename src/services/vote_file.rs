//! Votes from CSV files: two model columns and a winner column, as LMArena, FastChat and others write them.
//!
//! The models stand in `model_a`, `model_b` or in `left`, `right`; `winner` says `model_a`, `model_b`, `tie`,
//! `both_bad` or one of the field's other spellings. Votes come in the order of the time column where the file has one,
//! else as they stand. A row that cannot be read ends the whole reading with its file, line and reason.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use csv::StringRecord;

use crate::battle::Outcome;
use crate::rating::comparison::SelfPlay;
use crate::rating::vote_log::VoteLog;

/// Pairs of columns that name the two models, best known first.
const MODEL_COLUMNS: [(&str, &str); 2] = [("model_a", "model_b"), ("left", "right")];
/// Columns that say when a vote was cast, and their unit in seconds.
const TIME_COLUMNS: [(&str, f64); 2] = [("tstamp", 1.0), ("ts_ms", 0.001)];

/// Why a file of votes cannot be used. Nothing of it is, then.
#[derive(Debug, thiserror::Error)]
pub enum VoteFileError {
    /// The file cannot be opened.
    #[error("cannot read the votes file {}: {source}", .path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The header lacks a column.
    #[error("{} has no column {missing}: its first line must name model_a, model_b and winner (or left, right and winner)", .path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is missing.
        missing: &'static str,
    },
    /// A row is not a vote.
    #[error("{} line {line}: {reason}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line on which the row begins, from 1.
        line: u64,
        /// What is wrong with it.
        reason: RowError,
    },
}

/// What is wrong with one row.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// It is not CSV, is not UTF-8 or has another number of fields than the header.
    #[error("{0}")]
    Malformed(String),
    /// A model has no name.
    #[error("column {0} is empty: name the model")]
    NoModel(&'static str),
    /// Both sides are the same model.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The winner column says something unknown.
    #[error("unknown winner {0:?}: write model_a, model_b, tie or both_bad")]
    Winner(String),
    /// The time is not a number.
    #[error("{column} is {text:?}: give a number")]
    Time {
        /// The time column.
        column: &'static str,
        /// What stands there.
        text: String,
    },
}

/// Reads the votes of one or more files. Where every file has a time column, the votes of all are put in one order;
/// otherwise each file is put in its own order and they follow one another.
///
/// # Errors
/// [`VoteFileError`] for the first thing that is wrong.
pub fn read_votes<P: AsRef<Path>>(paths: &[P]) -> Result<VoteLog, VoteFileError> {
    let mut reading = Reading::default();
    let mut all_timed = true;
    for path in paths {
        all_timed &= reading.read(path.as_ref())?;
    }
    if all_timed {
        reading.votes.sort_by(|x, y| x.seconds.total_cmp(&y.seconds));
    }
    Ok(reading.into_log())
}

/// What has been read so far; names are kept once.
#[derive(Default)]
struct Reading {
    names: Vec<String>,
    index: HashMap<String, usize>,
    votes: Vec<FileVote>,
}

struct FileVote {
    /// 0 in a file without a time column.
    seconds: f64,
    a: usize,
    b: usize,
    outcome: Outcome,
}

impl Reading {
    /// Reads one file and says whether it has a time column.
    fn read(&mut self, path: &Path) -> Result<bool, VoteFileError> {
        let file = File::open(path).map_err(|source| VoteFileError::Unreadable { path: path.to_owned(), source })?;
        let mut reader = csv::Reader::from_reader(file);
        let row_error = |line, reason| VoteFileError::Row { path: path.to_owned(), line, reason };
        let header = reader.headers().map_err(|error| row_error(1, RowError::from(error)))?;
        let columns =
            Columns::find(header).map_err(|missing| VoteFileError::Columns { path: path.to_owned(), missing })?;
        let first = self.votes.len();
        let mut row = StringRecord::new();
        loop {
            let next_line = reader.position().line();
            let more = reader.read_record(&mut row).map_err(|error| {
                row_error(error.position().map_or(next_line, csv::Position::line), RowError::from(error))
            })?;
            if !more {
                break;
            }
            let line = row.position().map_or(next_line, csv::Position::line);
            self.add(&row, &columns).map_err(|reason| row_error(line, reason))?;
        }
        if columns.time.is_some() {
            self.votes[first..].sort_by(|x, y| x.seconds.total_cmp(&y.seconds));
        }
        Ok(columns.time.is_some())
    }

    fn add(&mut self, row: &StringRecord, columns: &Columns) -> Result<(), RowError> {
        let (a, b) = (columns.a.model(row)?, columns.b.model(row)?);
        if a == b {
            return Err(SelfPlay(a.to_owned()).into());
        }
        let outcome = parse_winner(&row[columns.winner])?;
        let seconds = columns.time.as_ref().map_or(Ok(0.0), |time| time.seconds(row))?;
        let (a, b) = (self.position(a), self.position(b));
        self.votes.push(FileVote { seconds, a, b, outcome });
        Ok(())
    }

    fn position(&mut self, name: &str) -> usize {
        if let Some(&known) = self.index.get(name) {
            return known;
        }
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    fn into_log(self) -> VoteLog {
        let mut log = VoteLog::default();
        for vote in self.votes {
            log.push(&self.names[vote.a], &self.names[vote.b], vote.outcome)
                .expect("a row of one model against itself is refused as it is read");
        }
        log
    }
}

/// Where the columns of one file stand.
struct Columns {
    a: Column,
    b: Column,
    winner: usize,
    time: Option<TimeColumn>,
}

struct Column {
    name: &'static str,
    index: usize,
}

struct TimeColumn {
    column: Column,
    unit: f64,
}

impl Columns {
    /// Finds the columns, or names one that is missing.
    fn find(header: &StringRecord) -> Result<Self, &'static str> {
        let find = |name: &'static str| {
            let index = header.iter().position(|column| column.trim() == name)?;
            Some(Column { name, index })
        };
        let models = MODEL_COLUMNS.iter().find_map(|&(a, b)| find(a).zip(find(b)));
        let (a, b) = models.ok_or_else(|| if find("model_a").is_some() { "model_b" } else { "model_a" })?;
        let winner = find("winner").ok_or("winner")?.index;
        let time = TIME_COLUMNS.iter().find_map(|&(name, unit)| Some(TimeColumn { column: find(name)?, unit }));
        Ok(Self { a, b, winner, time })
    }
}

impl Column {
    fn model<'row>(&self, row: &'row StringRecord) -> Result<&'row str, RowError> {
        Some(&row[self.index]).filter(|name| !name.is_empty()).ok_or(RowError::NoModel(self.name))
    }
}

impl TimeColumn {
    fn seconds(&self, row: &StringRecord) -> Result<f64, RowError> {
        let text = &row[self.column.index];
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let unreadable = || RowError::Time { column: self.column.name, text: shortened(text) };
        Ok(number.ok_or_else(unreadable)? * self.unit)
    }
}

/// Every spelling that the field's files use. Anything else is refused: counted as a tie or as a win for B, as other
/// tools do, it would bend the ratings unseen.
fn parse_winner(text: &str) -> Result<Outcome, RowError> {
    match text {
        "model_a" | "A" | "a" | "left" => Ok(Outcome::AWins),
        "model_b" | "B" | "b" | "right" => Ok(Outcome::BWins),
        "tie" => Ok(Outcome::Tie),
        "both_bad" | "tie (bothbad)" => Ok(Outcome::BothBad),
        _ => Err(RowError::Winner(shortened(text))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

impl From<csv::Error> for RowError {
    fn from(error: csv::Error) -> Self {
        Self::Malformed(match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} fields where the header has {expected_len}: quote fields that hold a comma")
            }
            csv::ErrorKind::Utf8 { .. } => "not UTF-8: save the file as UTF-8".into(),
            csv::ErrorKind::Io(source) => source.to_string(),
            _ => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{AWins, BWins, BothBad, Tie};

    /// The votes of files with these contents, as `a outcome b`.
    fn read(files: &[&[u8]]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..files.len()).map(|n| folder.path().join(format!("votes{n}.csv"))).collect();
        for (path, text) in paths.iter().zip(files) {
            std::fs::write(path, text).unwrap();
        }
        let shown = |error: VoteFileError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
        let log = read_votes(&paths).map_err(shown)?;
        let name = |index: u32| log.models.as_slice()[index as usize].clone();
        let line = |row: usize| format!("{} {:?} {}", name(log.a[row]), log.outcomes[row], name(log.b[row]));
        Ok((0..log.len()).map(line).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(read(&[text.as_bytes()]).unwrap(), expected);
    }

    #[track_caller]
    fn refuse(text: &[u8], message: &str) {
        assert_eq!(read(&[text]).unwrap_err(), message);
    }

    #[test]
    fn every_spelling_of_a_winner_is_known() {
        for (spellings, outcome) in [
            (&["model_a", "A", "a", "left"][..], AWins),
            (&["model_b", "B", "b", "right"], BWins),
            (&["tie"], Tie),
            (&["both_bad", "tie (bothbad)"], BothBad),
        ] {
            for spelling in spellings {
                check(&format!("model_a,model_b,winner\nx,y,{spelling}\n"), &[&format!("x {outcome:?} y")]);
            }
        }
    }

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        check("id,winner,model_x,left,right\n0,right,97,Falcon,\"Weaver, 12k\"\n", &["Falcon BWins Weaver, 12k"]);
    }

    #[test]
    fn a_byte_order_mark_and_carriage_returns_do_no_harm() {
        let text = "\u{feff}model_a,model_b,winner\r\nx,y,model_b\r\n通义,y,tie\r\n";
        check(text, &["x BWins y", "通义 Tie y"]);
    }

    #[test]
    fn votes_come_in_the_order_of_their_times() {
        let text = "tstamp,model_a,model_b,winner\n3,x,y,A\n1.5,x,y,B\n3,x,y,tie\n-2,x,y,both_bad\n";
        check(text, &["x BothBad y", "x BWins y", "x AWins y", "x Tie y"]);
    }

    #[test]
    fn several_files_are_put_in_one_order_where_all_have_times() {
        let one = b"model_a,model_b,winner,tstamp\nx,y,B,30\nx,y,A,10\n";
        let other = b"model_a,model_b,winner,ts_ms\nx,y,tie,20000\n";
        let untimed = b"model_a,model_b,winner\nx,z,A\n";
        assert_eq!(read(&[one, other]).unwrap(), ["x AWins y", "x Tie y", "x BWins y"]);
        assert_eq!(read(&[one, untimed, other]).unwrap(), ["x AWins y", "x BWins y", "x AWins z", "x Tie y"]);
    }

    #[test]
    fn a_header_without_rows_is_no_votes() {
        check("model_a,model_b,winner\n", &[]);
    }

    #[test]
    fn bad_rows_are_refused_with_their_line_and_reason() {
        let header = "model_a,model_b,winner,tstamp\n";
        for (row, reason) in [
            ("x,y,nobody,1", "unknown winner \"nobody\": write model_a, model_b, tie or both_bad"),
            ("x,y,,1", "unknown winner \"\": write model_a, model_b, tie or both_bad"),
            ("x,x,A,1", "model \"x\" is compared with itself: a vote needs two different models"),
            ("x,,A,1", "column model_b is empty: name the model"),
            ("x,y,A,soon", "tstamp is \"soon\": give a number"),
            ("x,y,A,NaN", "tstamp is \"NaN\": give a number"),
            ("x,y,A", "3 fields where the header has 4: quote fields that hold a comma"),
        ] {
            let text = format!("{header}x,y,A,0\n\"x\n2\",y,A,0\n{row}\nx,y,B,2\n");
            refuse(text.as_bytes(), &format!("votes0.csv line 5: {reason}"));
        }
        refuse(b"model_a,model_b,winner\nx,\xff,A\n", "votes0.csv line 2: not UTF-8: save the file as UTF-8");
    }

    #[test]
    fn files_without_the_columns_are_refused_by_name() {
        let rest = "its first line must name model_a, model_b and winner (or left, right and winner)";
        refuse(b"", &format!("votes0.csv has no column model_a: {rest}"));
        refuse(b"model_a,winner\nx,A\n", &format!("votes0.csv has no column model_b: {rest}"));
        refuse(b"left,right\nx,y\n", &format!("votes0.csv has no column winner: {rest}"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_votes(&["no/such/votes.csv"]).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the votes file no/such/votes.csv: "), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _: Result<_, _> = read(&[&[b"model_a,model_b,winner\n", bytes.as_slice()].concat()]);
        }
    }
}
