//! Files of votes, verdicts and scores.

use std::path::{Path, PathBuf};

use csv::StringRecord;

use crate::domain::correlation::agreement::{
    AgreementOptions, AgreementReport, BiasReport, PlannedTooFew, ScoreSheet, Scored, Vote, Votes, bias, compare,
    question_key, scores,
};
use crate::domain::stats::agreement::choices::Choice;

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
    /// Preferences between two models.
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
        let table = SheetReader::open(file)?;
        match (table.place(&WINNER), table.place(&SCORE)) {
            (Some(_), _) => votes_of(table).map(Self::Votes),
            (None, Some(_)) => scores_of(table).map(Self::Scores),
            (None, None) => {
                Err(table.bad(format!("no column is called {}, as for votes, or score", WINNER.join(" or "))))
            }
        }
    }
}

/// Reads a CSV file with a question, two models, a winner and, where there are several, who voted.
///
/// # Errors
/// [`AgreementFileError`] for a missing column or the first row that is no vote.
pub fn read_votes(file: &Path) -> Result<Votes, AgreementFileError> {
    votes_of(SheetReader::open(file)?)
}

fn votes_of(mut table: SheetReader) -> Result<Votes, AgreementFileError> {
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
    Ok(Votes(votes))
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

/// A row without a score is left out.
fn scores_of(mut table: SheetReader) -> Result<ScoreSheet, AgreementFileError> {
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
    Ok(ScoreSheet(scores))
}

/// Where it stands what was judged and by whom.
struct Asked {
    question: usize,
    turn: Option<usize>,
    voter: Option<usize>,
}

impl Asked {
    fn of(table: &SheetReader) -> Result<Self, AgreementFileError> {
        Ok(Self { question: table.needed(&QUESTION)?, turn: table.place(&TURN), voter: table.place(&VOTER) })
    }

    /// The question with its turn, and the voter.
    fn read(&self, row: &StringRecord) -> [String; 2] {
        let turn = self.turn.map_or("", |turn| &row[turn]);
        let question = question_key(&row[self.question], turn);
        [question, self.voter.map_or("", |voter| &row[voter]).to_owned()]
    }
}

/// A CSV file with a header.
struct SheetReader {
    file: PathBuf,
    reader: csv::Reader<std::fs::File>,
    header: Vec<String>,
}

impl SheetReader {
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

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] AgreementFileError),
    /// One file holds votes, the other scores.
    #[error(
        "{} holds votes and {} scores: give two files with a column of winners, or two with a column of scores",
        votes.display(),
        scores.display()
    )]
    Mixed {
        /// The file of votes.
        votes: PathBuf,
        /// That of scores.
        scores: PathBuf,
    },
    /// More comparisons than were planned.
    #[error(transparent)]
    Planned(#[from] PlannedTooFew),
    /// A bias is asked for of votes.
    #[error("{} holds votes: the bias of a judge is that of its scores", .0.display())]
    BiasOfVotes(PathBuf),
}

/// Compares what people and a judge said in two files.
///
/// # Errors
/// [`AgreementError`].
pub fn compare_files(
    people: &Path,
    judge: &Path,
    options: AgreementOptions,
) -> Result<AgreementReport, AgreementError> {
    let mixed =
        |votes: &Path, scores: &Path| AgreementError::Mixed { votes: votes.to_owned(), scores: scores.to_owned() };
    match (Sheet::read(people)?, Sheet::read(judge)?) {
        (Sheet::Votes(votes), Sheet::Votes(verdicts)) => {
            Ok(AgreementReport::Votes(Box::new(compare(&votes, &verdicts, options.planned)?)))
        }
        (Sheet::Scores(people), Sheet::Scores(judge)) => {
            Ok(AgreementReport::Scores(Box::new(scores::compare(&people, &judge, options.bins))))
        }
        (Sheet::Votes(_), Sheet::Scores(_)) => Err(mixed(people, judge)),
        (Sheet::Scores(_), Sheet::Votes(_)) => Err(mixed(judge, people)),
    }
}

/// The rating bias of the judges of a file of scores, whose references are worth `anchor` points.
///
/// # Errors
/// [`AgreementError`].
pub fn bias_of_file(judge: &Path, anchor: f64) -> Result<BiasReport, AgreementError> {
    match Sheet::read(judge)? {
        Sheet::Scores(scores) => Ok(bias(&scores, anchor)),
        Sheet::Votes(_) => Err(AgreementError::BiasOfVotes(judge.to_owned())),
    }
}
