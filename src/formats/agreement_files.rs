//! Files of votes, verdicts and scores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::domain::agreement::{
    AgreementOptions, AgreementReport, BiasReport, PlannedTooFew, ScoreData, Scored, Vote, Votes, bias, compare,
    question_key, scores,
};
use crate::domain::battle::Outcome;
use crate::standard_input::input_name;
use crate::table_error::TableFileError;
use crate::votes::{RowError, TextTable, is_short_word, read_table};

/// Names of the columns, including those of LMArena, FastChat and llmfao.
const QUESTION_COLUMNS: [&str; 5] = ["question", "question_id", "prompt", "item", "item_id"];
/// The battle is the question in exports of an arena's votes.
const BATTLE_COLUMNS: [&str; 1] = ["battle_id"];
const TURN_COLUMNS: [&str; 1] = ["turn"];
const VOTER_COLUMNS: [&str; 15] = [
    "voter",
    "voter_id",
    "rater",
    "rater_id",
    "annotator",
    "annotator_id",
    "evaluator",
    "worker",
    "worker_id",
    "judge",
    "judge_hash",
    "judge_model",
    "visitor_id",
    "user",
    "user_id",
];
const FIRST_MODEL_COLUMNS: [&str; 3] = ["model_a", "left", "model_1"];
const SECOND_MODEL_COLUMNS: [&str; 3] = ["model_b", "right", "model_2"];
const WINNER_COLUMNS: [&str; 3] = ["winner", "outcome", "verdict"];
/// The second name is that of campaign exports.
const MODEL_COLUMNS: [&str; 2] = ["model", "model_a"];
const SCORE_COLUMNS: [&str; 1] = ["score"];

/// Contents of a file: votes or scores.
#[derive(Debug, Clone, PartialEq)]
pub enum RatingData {
    /// Preferences between two models.
    Votes(Votes),
    /// Scores of single answers.
    Scores(ScoreData),
}

/// File of votes or scores with its path.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingFile {
    /// Path of the file, for errors.
    pub path: PathBuf,
    /// Contents of the file.
    pub sheet: RatingData,
}

impl RatingFile {
    /// Reads a file like `langya fit`: as votes if it has a column of winners, otherwise as scores.
    ///
    /// # Errors
    /// [`AgreementError::File`] for a missing column or the first row that cannot be used.
    pub fn read(path: &Path) -> Result<Self, AgreementError> {
        Ok(Self { path: path.to_owned(), sheet: RatingData::read(path)? })
    }
}

impl RatingData {
    fn read(file: &Path) -> Result<Self, TableFileError> {
        let table = SheetReader::open(file)?;
        match (table.place(&WINNER_COLUMNS), table.place(&SCORE_COLUMNS)) {
            (Some(_), _) => votes_of(table).map(Self::Votes),
            (None, Some(_)) => scores_of(table).map(Self::Scores),
            (None, None) => Err(table
                .bad(format!("no column is called {} (for votes) or score (for scores)", WINNER_COLUMNS.join(" or ")))),
        }
    }

    /// Names of the voters or judges.
    fn raters(&self) -> Vec<String> {
        let raters: BTreeSet<&String> = match self {
            Self::Votes(votes) => votes.0.iter().map(|vote| &vote.voter).collect(),
            Self::Scores(scores) => scores.0.iter().map(|scored| &scored.rater).collect(),
        };
        raters.into_iter().cloned().collect()
    }

    fn retain_rater(&mut self, rater: &str) {
        match self {
            Self::Votes(votes) => votes.0.retain(|vote| vote.voter == rater),
            Self::Scores(scores) => scores.0.retain(|scored| scored.rater == rater),
        }
    }
}

/// Reads a file of votes: question, two models, winner and, where there are several, voter.
///
/// # Errors
/// [`TableFileError`] for a missing column or the first row that is no vote.
pub fn read_votes(file: &Path) -> Result<Votes, TableFileError> {
    votes_of(SheetReader::open(file)?)
}

fn votes_of(table: SheetReader) -> Result<Votes, TableFileError> {
    let asked = JudgedColumns::new(&table)?;
    let (winner, models) =
        (table.needed(&WINNER_COLUMNS)?, [table.needed(&FIRST_MODEL_COLUMNS)?, table.needed(&SECOND_MODEL_COLUMNS)?]);
    let votes = table.rows(|row| {
        let names = models.map(|place| row[place].as_str());
        let outcome = outcome(&row[winner], names)?;
        if names[0] == names[1] {
            return Err(format!("both sides are the model {:?}", names[0]));
        }
        let [question, voter] = asked.read(row);
        Ok(Some(Vote { question, voter, models: names.map(str::to_owned), outcome }))
    })?;
    Ok(Votes(votes))
}

fn outcome(winner: &str, [first, second]: [&str; 2]) -> Result<Outcome, String> {
    let winner = winner.trim();
    let side = match winner {
        "left" | "a" | "A" | "model_a" | "model_1" => Some(Outcome::AWins),
        "right" | "b" | "B" | "model_b" | "model_2" => Some(Outcome::BWins),
        "tie" | "inconsistent" => Some(Outcome::Tie),
        "both_bad" | "bothbad" | "tie (bothbad)" => Some(Outcome::BothBad),
        _ => None,
    };
    let model = match winner {
        name if name == first => Some(Outcome::AWins),
        name if name == second => Some(Outcome::BWins),
        _ => None,
    };
    match (side, model) {
        (Some(side), Some(model)) if side != model && is_short_word(winner) => {
            Err(RowError::SideOrModel(winner.to_owned()).to_string())
        }
        (side, model) => side.or(model).ok_or_else(|| format!("the winner {winner:?} is neither side nor a tie")),
    }
}

/// Reads scores; a row without a score is left out.
fn scores_of(table: SheetReader) -> Result<ScoreData, TableFileError> {
    let asked = JudgedColumns::new(&table)?;
    let (model, score) = (table.needed(&MODEL_COLUMNS)?, table.needed(&SCORE_COLUMNS)?);
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
    Ok(ScoreData(scores))
}

/// Positions of the columns of question, turn and voter.
struct JudgedColumns {
    question: usize,
    turn: Option<usize>,
    voter: Option<usize>,
}

impl JudgedColumns {
    fn new(table: &SheetReader) -> Result<Self, TableFileError> {
        let question = match table.place(&QUESTION_COLUMNS).or_else(|| table.place(&BATTLE_COLUMNS)) {
            Some(question) => question,
            None => table.needed(&QUESTION_COLUMNS)?,
        };
        Ok(Self { question, turn: table.place(&TURN_COLUMNS), voter: table.place(&VOTER_COLUMNS) })
    }

    /// The question with its turn, and the voter.
    fn read(&self, row: &[String]) -> [String; 2] {
        let turn = self.turn.map_or("", |turn| row[turn].as_str());
        let question = question_key(&row[self.question], turn);
        [question, self.voter.map_or_else(String::new, |voter| row[voter].clone())]
    }
}

/// A file whose columns of interest are in memory.
struct SheetReader {
    file: PathBuf,
    table: TextTable,
}

impl SheetReader {
    fn open(file: &Path) -> Result<Self, TableFileError> {
        let names = [
            &QUESTION_COLUMNS[..],
            &BATTLE_COLUMNS,
            &TURN_COLUMNS,
            &VOTER_COLUMNS,
            &FIRST_MODEL_COLUMNS,
            &SECOND_MODEL_COLUMNS,
            &WINNER_COLUMNS,
            &MODEL_COLUMNS,
            &SCORE_COLUMNS,
        ]
        .concat();
        Ok(Self { file: file.to_owned(), table: read_table(file, &names)? })
    }

    fn place(&self, names: &[&str]) -> Option<usize> {
        self.table.columns.iter().position(|column| names.contains(&column.as_str()))
    }

    fn needed(&self, names: &[&str]) -> Result<usize, TableFileError> {
        self.place(names).ok_or_else(|| self.bad(format!("no column is called {}", names.join(" or "))))
    }

    /// Maps rows by `read`; rows mapped to `None` are left out.
    fn rows<T>(&self, read: impl Fn(&[String]) -> Result<Option<T>, String>) -> Result<Vec<T>, TableFileError> {
        let mut rows = Vec::new();
        for (place, row) in &self.table.rows {
            rows.extend(read(row).map_err(|reason| self.bad(format!("{place}: {reason}")))?);
        }
        Ok(rows)
    }

    fn bad(&self, reason: String) -> TableFileError {
        TableFileError::unusable(&self.file, reason)
    }
}

/// Error of an agreement report.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] TableFileError),
    /// One file holds votes, the other scores.
    #[error(
        "{} holds votes and {} scores: give two files with a column of winners, or two with a column of scores",
        input_name(votes),
        input_name(scores)
    )]
    Mixed {
        /// The file of votes.
        votes: PathBuf,
        /// The file of scores.
        scores: PathBuf,
    },
    /// More comparisons than were planned.
    #[error(transparent)]
    Planned(#[from] PlannedTooFew),
    /// The file has verdicts of several judges.
    #[error(
        "{} has verdicts of {} judges ({}): compare one with --judge NAME, or treat them as one group with --pool-judges",
        input_name(file),
        judges.len(),
        judges.join(", ")
    )]
    SeveralJudges {
        /// The file of verdicts.
        file: PathBuf,
        /// The judges.
        judges: Vec<String>,
    },
    /// The file has no verdicts of the requested judge.
    #[error("{} has no verdicts of the judge {wanted:?}: its judges are {}", input_name(file), judges.join(", "))]
    NoSuchJudge {
        /// The file of verdicts.
        file: PathBuf,
        /// The judge.
        wanted: String,
        /// The judges of the file.
        judges: Vec<String>,
    },
    /// A rating bias was requested for a file of votes.
    #[error("{} holds votes: the bias of a judge is that of its scores", input_name(.0))]
    BiasOfVotes(PathBuf),
}

/// Selection of the judges whose verdicts are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum JudgeChoice {
    /// The only judge of the file.
    #[default]
    Only,
    /// One judge by name.
    Named(String),
    /// All judges, as one group.
    Pooled,
}

impl JudgeChoice {
    /// Keeps the verdicts of the chosen judges.
    fn apply(&self, mut verdicts: RatingFile) -> Result<RatingFile, AgreementError> {
        let judges = verdicts.sheet.raters();
        match self {
            Self::Only if judges.len() > 1 => Err(AgreementError::SeveralJudges { file: verdicts.path, judges }),
            Self::Named(wanted) if !judges.contains(wanted) => {
                Err(AgreementError::NoSuchJudge { file: verdicts.path, wanted: wanted.clone(), judges })
            }
            Self::Named(wanted) => {
                verdicts.sheet.retain_rater(wanted);
                Ok(verdicts)
            }
            Self::Only | Self::Pooled => Ok(verdicts),
        }
    }
}

/// Computes the agreement of people's ratings in one file with a judge's in another, and of people with each other. Without a
/// judge's file, the results about the judge are undefined.
///
/// # Errors
/// [`AgreementError`].
pub fn compare_files(
    people: RatingFile,
    judge: Option<(RatingFile, &JudgeChoice)>,
    options: AgreementOptions,
) -> Result<AgreementReport, AgreementError> {
    let judged = match (judge, &people.sheet) {
        (Some((verdicts, choice)), _) => choice.apply(verdicts)?,
        (None, RatingData::Votes(_)) => RatingFile { path: PathBuf::new(), sheet: RatingData::Votes(Votes::default()) },
        (None, RatingData::Scores(_)) => {
            RatingFile { path: PathBuf::new(), sheet: RatingData::Scores(ScoreData::default()) }
        }
    };
    match (people.sheet, judged.sheet) {
        (RatingData::Votes(votes), RatingData::Votes(verdicts)) => {
            Ok(AgreementReport::Votes(Box::new(compare(&votes, &verdicts, options.planned, options.bootstrap)?)))
        }
        (RatingData::Scores(people), RatingData::Scores(judge)) => {
            let AgreementOptions { bins, calibration, bootstrap, .. } = options;
            Ok(AgreementReport::Scores(Box::new(scores::compare(&people, &judge, bins, calibration, bootstrap))))
        }
        (RatingData::Votes(_), RatingData::Scores(_)) => {
            Err(AgreementError::Mixed { votes: people.path, scores: judged.path })
        }
        (RatingData::Scores(_), RatingData::Votes(_)) => {
            Err(AgreementError::Mixed { votes: judged.path, scores: people.path })
        }
    }
}

/// The rating bias of the judges of a file of scores, whose references are worth `anchor` points.
///
/// # Errors
/// [`AgreementError`].
pub fn bias_of_file(judge: &RatingFile, anchor: f64) -> Result<BiasReport, AgreementError> {
    match &judge.sheet {
        RatingData::Scores(scores) => Ok(bias(scores, anchor)),
        RatingData::Votes(_) => Err(AgreementError::BiasOfVotes(judge.path.clone())),
    }
}
