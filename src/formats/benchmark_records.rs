//! Records of externally produced benchmark answers, verdicts and scores.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::records::{BenchFileError, Record, records};
use crate::domain::benchmark::item::{Answer, Item, answer_of};
use crate::domain::benchmark::scores::answer_index::ask_sha256;
use crate::domain::benchmark::scores::judgement::{Game, Status};
use crate::domain::benchmark::{JudgeMode, Suite};
use crate::domain::judging::reasoning::SplitReply;
use crate::domain::judging::verdict::{Rating, SCORE_RANGE, Verdict};

const ITEM_COLUMNS: [&str; 4] = ["item_id", "item", "question_id", "id"];
const MODEL_COLUMNS: [&str; 2] = ["model", "model_id"];
const ANSWER_COLUMNS: [&str; 2] = ["answer", "text"];
const JUDGE_COLUMNS: [&str; 2] = ["judge_model", "judge"];
const JUDGEMENT_COLUMNS: [&str; 3] = ["raw_text", "judgment", "judgement"];

/// Imported answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The item.
    pub item: String,
    /// The turn, from 1.
    pub turn: u32,
    /// Model that gave the answer.
    pub model: String,
    /// Hash of the prompt that it answers: see [`ask_sha256`].
    pub ask_sha256: String,
    /// The answer.
    pub text: String,
}

/// Imported verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenVerdict {
    /// The item.
    pub item: String,
    /// The turn, from 1.
    pub turn: u32,
    /// The judged model.
    pub model: String,
    /// The judge.
    pub judge: String,
    /// SHA-256 of the judge's prompt; empty where it is not known.
    pub judge_prompt_sha256: String,
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// Game of the pair (order of the two answers).
    pub game: Game,
    /// The judge's reply; empty where only the score is known.
    pub raw_text: String,
    /// Verdict parsed from the reply.
    pub parsed: Result<Verdict, Status>,
}

/// Imported scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GivenScores {
    /// The scores.
    pub scores: Vec<GivenScore>,
    /// Number of records with a blank score, for which nothing could be judged.
    pub blank: u64,
}

/// Imported score.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenScore {
    /// Name of the series, or of the file.
    pub series: String,
    /// The suite.
    pub suite: String,
    /// The part of the suite.
    pub part: String,
    /// The model.
    pub model: String,
    /// The score.
    pub score: f64,
    /// Source of the score.
    pub source: String,
}

/// Reads answers to the items of a suite: records of `item`, `model` and `answer`, with a `turn` unless it is the suite's first.
///
/// # Errors
/// [`BenchFileError`] with the line and the field that is wrong.
pub fn answers(suite: &dyn Suite, items: &[Item], path: &Path) -> Result<Vec<GivenAnswer>, BenchFileError> {
    let records = records(path)?;
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut given: BTreeMap<(String, &str), Vec<(&Record, Answer)>> = BTreeMap::new();
    for record in &records {
        let item = item_of(record, path, &items)?;
        let first = suite.asks(item, &[]).first().map_or(1, |ask| ask.turn);
        let turn = record.number(path, "turn")?.unwrap_or(first);
        let text = record.text_or_blank(&ANSWER_COLUMNS);
        let text = text.ok_or_else(|| record.refuse(path, "it has no answer: give its text, or an empty one"))?;
        let answers = given.entry((record.needed(path, &MODEL_COLUMNS)?, item.id.as_str())).or_default();
        if let Some((first, _)) = answers.iter().find(|(_, answer)| answer.turn == turn) {
            let reason = format!("turn {turn} of item {:?} is answered on line {} already", item.id, first.line);
            return Err(record.refuse(path, reason));
        }
        answers.push((record, Answer { turn, text }));
    }
    let mut all = Vec::with_capacity(records.len());
    for ((model, item), answers) in given {
        all.extend(placed(suite, path, items[item], &model, &answers)?);
    }
    Ok(all)
}

/// Assigns the answers of one model to one item to the suite's prompts, turn by turn.
fn placed(
    suite: &dyn Suite,
    path: &Path,
    item: &Item,
    model: &str,
    given: &[(&Record, Answer)],
) -> Result<Vec<GivenAnswer>, BenchFileError> {
    let (mut placed, mut answers): (Vec<Answer>, Vec<GivenAnswer>) = (Vec::new(), Vec::new());
    let all: Vec<Answer> = given.iter().map(|(_, answer)| answer.clone()).collect();
    loop {
        let asks = suite.asks(item, &placed);
        let mut now = asks.iter().filter_map(|ask| Some((ask, answer_of(&all, ask.turn)?))).peekable();
        if now.peek().is_none() {
            break;
        }
        let found: Vec<GivenAnswer> = now
            .map(|(ask, text)| GivenAnswer {
                item: item.id.clone(),
                turn: ask.turn,
                model: model.to_owned(),
                ask_sha256: ask_sha256(ask),
                text: text.to_owned(),
            })
            .collect();
        placed.extend(found.iter().map(|answer| Answer { turn: answer.turn, text: answer.text.clone() }));
        answers.extend(found);
    }
    match given.iter().find(|(_, answer)| answer_of(&placed, answer.turn).is_none()) {
        None => Ok(answers),
        Some((record, answer)) => Err(record.refuse(
            path,
            format!(
                "turn {} of item {:?} is not asked, or not before earlier turns are answered",
                answer.turn, item.id
            ),
        )),
    }
}

/// Reads externally produced verdicts: records of `item`, `model`, `judge` and the judge's reply under `raw_text` or `judgment`, or
/// only a `score` with a `rating` by dimension; with `turn`, `game` and `baseline` where the suite has them.
///
/// # Errors
/// [`BenchFileError`] with the line and the field that is wrong.
pub fn verdicts(suite: &dyn Suite, items: &[Item], path: &Path) -> Result<Vec<GivenVerdict>, BenchFileError> {
    let records = records(path)?;
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let (mut verdicts, mut seen) = (Vec::with_capacity(records.len()), HashSet::new());
    for record in &records {
        let given = verdict(suite, path, record, item_of(record, path, &items)?)?;
        let key = (given.item.clone(), given.turn, given.game, given.model.clone(), given.judge.clone());
        if !seen.insert((key, given.baseline.clone())) {
            let reason = "this judge's verdict on this turn stands in the file already: each may stand once";
            return Err(record.refuse(path, reason));
        }
        verdicts.push(given);
    }
    Ok(verdicts)
}

fn verdict(suite: &dyn Suite, path: &Path, record: &Record, item: &Item) -> Result<GivenVerdict, BenchFileError> {
    let raw_text = record.text(&JUDGEMENT_COLUMNS);
    let parsed = match &raw_text {
        Some(text) => suite.parse(item, SplitReply::split(text).reply).map_err(Status::from),
        None => read_score_verdict(suite, path, record)?,
    };
    if let (Some(_), Ok(Verdict::Rating(rating))) = (&raw_text, &parsed) {
        check_same_score(path, record, rating.score)?;
    }
    let game = record.number(path, "game")?.unwrap_or(1);
    let game = u8::try_from(game).ok().and_then(|game| Game::try_from(game).ok());
    let first = suite.asks(item, &[]).first().map_or(1, |ask| ask.turn);
    let turn = record.number(path, "turn")?.unwrap_or(first);
    if item.turn(turn).is_none() {
        return Err(record.refuse(path, format!("item {:?} has no turn {turn}", item.id)));
    }
    Ok(GivenVerdict {
        item: item.id.clone(),
        turn,
        baseline: record.text(&["baseline"]).unwrap_or_default(),
        model: record.needed(path, &MODEL_COLUMNS)?,
        judge: record.needed(path, &JUDGE_COLUMNS)?,
        judge_prompt_sha256: record.text(&["judge_prompt_sha256"]).unwrap_or_default(),
        game: game.ok_or_else(|| record.refuse(path, "game is neither 1 nor 2"))?,
        raw_text: raw_text.unwrap_or_default(),
        parsed,
    })
}

/// Refuses a record whose score is not the one in the judge's reply.
fn check_same_score(path: &Path, record: &Record, said: f64) -> Result<(), BenchFileError> {
    match record.text(&["score"]).and_then(|text| text.trim().parse::<f64>().ok()) {
        Some(score) if (score - said).abs() > 1e-9 => {
            let reason = format!("the judge's reply says {said} and the score is {score}: leave one of them out");
            Err(record.refuse(path, reason))
        }
        _ => Ok(()),
    }
}

/// Reads a verdict of which only the score is known; a score out of range has that status. Dimensions out of range are absent.
fn read_score_verdict(
    suite: &dyn Suite,
    path: &Path,
    record: &Record,
) -> Result<Result<Verdict, Status>, BenchFileError> {
    let score = record.real(path, "score")?;
    let score = score.ok_or_else(|| record.refuse(path, "it has neither raw_text nor judgment nor score: give one"))?;
    if matches!(suite.mode(), JudgeMode::PairwiseBaseline | JudgeMode::MultipleChoice) {
        let reason = format!("suite {} counts no scores: give the judge's own words as raw_text", suite.name());
        return Err(record.refuse(path, reason));
    }
    let mut dimensions = record.numbers(path, &["rating", "dimensions"])?;
    dimensions.retain(|_, score| SCORE_RANGE.contains(score));
    match SCORE_RANGE.contains(&score) {
        true => Ok(Ok(Verdict::Rating(Rating::new(score, dimensions)))),
        false => Ok(Err(Status::OutOfRange)),
    }
}

/// Reads published scores: records of `suite`, `model` and `score`, with `part`, `series` and `source`. Without a series, the scores of
/// each judge and baseline form one, as in an export of scores.
///
/// # Errors
/// [`BenchFileError`] with the line and the field that is wrong.
pub fn scores(path: &Path) -> Result<GivenScores, BenchFileError> {
    let (mut found, mut seen) = (GivenScores::default(), HashMap::new());
    for record in records(path)? {
        if record.is_blank("score") {
            found.blank += 1;
            continue;
        }
        let score = record.real(path, "score")?;
        let given = GivenScore {
            series: record.text(&["series"]).unwrap_or_else(|| series_of(&record, path)),
            suite: record.needed(path, &["suite"])?,
            part: record.text(&["part"]).unwrap_or_else(|| "overall".to_owned()),
            model: record.needed(path, &MODEL_COLUMNS)?,
            score: score.ok_or_else(|| record.refuse(path, "it has no score: leave the record out instead"))?,
            source: record.text(&["source"]).unwrap_or_default(),
        };
        let key = (given.series.clone(), given.suite.clone(), given.part.clone(), given.model.clone());
        if let Some(first) = seen.insert(key, record.line) {
            let reason = format!("the same score of {:?} is already on line {first}", given.model);
            return Err(record.refuse(path, reason));
        }
        found.scores.push(given);
    }
    Ok(found)
}

/// Builds a series name from the file name, with the judge and the baseline where the record names them.
fn series_of(record: &Record, path: &Path) -> String {
    let told = [&JUDGE_COLUMNS[..], &["baseline"]].into_iter().filter_map(|names| record.text(names));
    std::iter::once(name_of(path)).chain(told.filter(|name| !name.is_empty())).collect::<Vec<_>>().join("@")
}

fn item_of<'i>(record: &Record, path: &Path, items: &HashMap<&str, &'i Item>) -> Result<&'i Item, BenchFileError> {
    let id = record.needed(path, &ITEM_COLUMNS)?;
    items.get(id.as_str()).copied().ok_or_else(|| {
        record.refuse(
            path,
            format!("the suite has no item {id:?}: use the ids of its data file, or name that with --data"),
        )
    })
}

/// The name of a file.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
