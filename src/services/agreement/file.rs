//! Files of votes, verdicts and scores.

use std::path::{Path, PathBuf};

use csv::StringRecord;

use crate::stats::agreement::choices::{Ballot, Choice, PairVote};

/// Names of the columns, those of LMArena, FastChat and llmfao among them.
const QUESTION: [&str; 5] = ["question", "question_id", "prompt", "item", "item_id"];
const TURN: [&str; 1] = ["turn"];
const VOTER: [&str; 5] = ["voter", "worker", "judge", "annotator", "judge_model"];
const FIRST: [&str; 3] = ["model_a", "left", "model_1"];
const SECOND: [&str; 3] = ["model_b", "right", "model_2"];
const WINNER: [&str; 3] = ["winner", "outcome", "verdict"];
const MODEL: [&str; 1] = ["model"];
const SCORE: [&str; 1] = ["score"];

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct AgreementFileError {
    file: PathBuf,
    reason: String,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Sheet {
    /// Who is better of two models.
    Votes(Votes),
    /// How good each answer is.
    Scores(ScoreSheet),
}

impl Sheet {
    /// Reads a CSV file: of votes where it has a column of winners, and otherwise of scores.
    ///
    /// # Errors
    /// [`AgreementFileError`] for a missing column or the first row that cannot be used.
    pub fn read(file: &Path) -> Result<Self, AgreementFileError> {
        let table = Table::open(file)?;
        match (table.place(&WINNER), table.place(&SCORE)) {
            (Some(_), _) => Votes::of(table).map(Self::Votes),
            (None, Some(_)) => ScoreSheet::of(table).map(Self::Scores),
            (None, None) => {
                Err(table.bad(format!("no column is called {}, as for votes, or score", WINNER.join(" or "))))
            }
        }
    }
}

/// A vote or verdict of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Vote {
    question: String,
    voter: String,
    models: [String; 2],
    choice: Choice,
}

/// Votes on pairs of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Votes(Vec<Vote>);

impl Votes {
    /// Reads a CSV file with a question, two models, a winner and, where there are several, who voted.
    ///
    /// # Errors
    /// [`AgreementFileError`] for a missing column or the first row that is no vote.
    pub fn read(file: &Path) -> Result<Self, AgreementFileError> {
        Self::of(Table::open(file)?)
    }

    fn of(mut table: Table) -> Result<Self, AgreementFileError> {
        let asked = Asked::of(&table)?;
        let (winner, models) = (table.needed(&WINNER)?, [table.needed(&FIRST)?, table.needed(&SECOND)?]);
        let votes = table.rows(|row| {
            let names = models.map(|place| &row[place]);
            let choice = choice(&row[winner], names)
                .ok_or_else(|| format!("the winner {:?} is neither side nor a tie", &row[winner]))?;
            if names[0] == names[1] {
                return Err(format!("both sides are the model {:?}", names[0]));
            }
            let [question, voter] = asked.read(row);
            Ok(Some(Vote { question, voter, models: names.map(str::to_owned), choice }))
        })?;
        Ok(Self(votes))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ballot(&self) -> Ballot<'_> {
        Ballot::gather(self.0.iter().map(|vote| PairVote {
            question: &vote.question,
            voter: &vote.voter,
            models: vote.models.each_ref().map(String::as_str),
            choice: vote.choice,
        }))
    }
}

fn choice(winner: &str, [first, second]: [&str; 2]) -> Option<Choice> {
    match winner.trim() {
        "left" | "a" | "A" | "model_a" | "model_1" => Some(Choice::First),
        "right" | "b" | "B" | "model_b" | "model_2" => Some(Choice::Second),
        "tie" | "both_bad" | "bothbad" | "tie (bothbad)" | "inconsistent" => Some(Choice::Tie),
        name if name == first => Some(Choice::First),
        name if name == second => Some(Choice::Second),
        _ => None,
    }
}

/// A score of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scored {
    pub(super) question: String,
    pub(super) model: String,
    pub(super) rater: String,
    pub(super) score: f64,
}

/// Scores of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreSheet(pub(super) Vec<Scored>);

impl ScoreSheet {
    /// A row without a score is left out.
    fn of(mut table: Table) -> Result<Self, AgreementFileError> {
        let asked = Asked::of(&table)?;
        let (model, score) = (table.needed(&MODEL)?, table.needed(&SCORE)?);
        let scores = table.rows(|row| {
            let text = row[score].trim();
            if text.is_empty() {
                return Ok(None);
            }
            let score = text.parse().ok().filter(|score: &f64| score.is_finite());
            let score = score.ok_or_else(|| format!("the score {text:?} is not a finite number"))?;
            let [question, rater] = asked.read(row);
            Ok(Some(Scored { question, model: row[model].to_owned(), rater, score }))
        })?;
        Ok(Self(scores))
    }
}

/// Where it stands what was judged and by whom.
struct Asked {
    question: usize,
    turn: Option<usize>,
    voter: Option<usize>,
}

impl Asked {
    fn of(table: &Table) -> Result<Self, AgreementFileError> {
        Ok(Self { question: table.needed(&QUESTION)?, turn: table.place(&TURN), voter: table.place(&VOTER) })
    }

    /// The question with its turn, and the voter.
    fn read(&self, row: &StringRecord) -> [String; 2] {
        let turn = self.turn.map_or("", |turn| &row[turn]);
        let question = format!("{}{TURN_MARK}{turn}", &row[self.question]);
        [question, self.voter.map_or("", |voter| &row[voter]).to_owned()]
    }
}

/// What stands between a question and its turn: nothing that a question holds.
const TURN_MARK: char = '\u{1f}';

/// A question as people write it, with the turn behind it where there are several.
pub(super) fn shown(question: &str) -> String {
    question.trim_end_matches(TURN_MARK).replace(TURN_MARK, ", turn ")
}

/// A CSV file with a header.
struct Table {
    file: PathBuf,
    reader: csv::Reader<std::fs::File>,
    header: Vec<String>,
}

impl Table {
    fn open(file: &Path) -> Result<Self, AgreementFileError> {
        let bad = |error: csv::Error| AgreementFileError { file: file.to_owned(), reason: error.to_string() };
        let mut reader = csv::Reader::from_path(file).map_err(bad)?;
        let header = reader.headers().map_err(bad)?;
        let header = header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        Ok(Self { file: file.to_owned(), reader, header })
    }

    fn place(&self, names: &[&str]) -> Option<usize> {
        self.header.iter().position(|column| names.contains(&column.as_str()))
    }

    fn needed(&self, names: &[&str]) -> Result<usize, AgreementFileError> {
        self.place(names).ok_or_else(|| self.bad(format!("no column is called {}", names.join(" or "))))
    }

    /// What `read` makes of each row; a row of which it makes nothing is left out.
    fn rows<T>(
        &mut self,
        read: impl Fn(&StringRecord) -> Result<Option<T>, String>,
    ) -> Result<Vec<T>, AgreementFileError> {
        let (mut row, mut rows) = (StringRecord::new(), Vec::new());
        loop {
            match self.reader.read_record(&mut row) {
                Err(error) => return Err(self.bad(error.to_string())),
                Ok(false) => return Ok(rows),
                Ok(true) => {}
            }
            let line = row.position().map_or(0, csv::Position::line);
            rows.extend(read(&row).map_err(|reason| self.bad(format!("line {line}: {reason}")))?);
        }
    }

    fn bad(&self, reason: String) -> AgreementFileError {
        AgreementFileError { file: self.file.clone(), reason }
    }
}
