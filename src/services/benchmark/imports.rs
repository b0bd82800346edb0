//! Imports suites, answers, verdicts and published scores from files: each file completely, in one transaction.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::RunContext;
use super::error::BenchError;
use crate::domain::benchmark::answer_index::ask_sha256;
use crate::domain::benchmark::item::{Answer, Item, Sampling, answer_of};
use crate::domain::benchmark::judgement::{Game, Judgement, Status};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{JudgeMode, Suite, SuiteData};
use crate::domain::judging::rubric::sha256;
use crate::domain::judging::verdict::{Rating, SCORES, Verdict};
use crate::domain::time::Timestamp;
pub use crate::formats::records::BenchFileError;
use crate::formats::records::{Record, records};
use crate::infra::storage::{
    BenchAnswerRow, BenchItemRow, BenchJudgementRow, BenchSuiteRow, Imported, PublishedScoreRow, Store,
};

const ITEM: [&str; 4] = ["item_id", "item", "question_id", "id"];
const MODEL: [&str; 2] = ["model", "model_id"];
const ANSWER: [&str; 2] = ["answer", "text"];
const JUDGE: [&str; 2] = ["judge_model", "judge"];
const JUDGED: [&str; 3] = ["raw_text", "judgment", "judgement"];

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportCounts {
    /// Number of records in the file.
    pub read: u64,
    /// Number of new records.
    pub new: u64,
}

/// Imports a suite's data file. A custom suite comes with its declaration; another declaration makes another version.
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn suite(
    store: &Store,
    suite: &dyn Suite,
    declaration: Option<&str>,
    path: &Path,
    now: Timestamp,
) -> Result<(Imported, SuiteData), BenchError> {
    let bytes = crate::formats::records::read(path)?;
    let data = SuiteData::read(suite, &bytes).map_err(|error| BenchFileError::Data { path: path.to_owned(), error })?;
    let data = match declaration {
        None => data,
        Some(declaration) => SuiteData { sha256: sha256(format!("{} {declaration}", data.sha256).as_bytes()), ..data },
    };
    let row = BenchSuiteRow {
        suite: SuiteId::new(suite.name()),
        version: data.sha256.clone(),
        source: name_of(path),
        declaration: declaration.map(str::to_owned),
        items: data.items.len() as u64,
        imported_at: now,
    };
    let body = |item: &Item| serde_json::to_string(item).expect("an item is plain text and numbers");
    let items: Vec<BenchItemRow> =
        data.items.iter().map(|item| BenchItemRow { item: item.id.clone(), body: body(item) }).collect();
    Ok((store.import_suite(&row, &items).await?, data))
}

/// Imports answers that were given elsewhere to the items of a suite: records of `item`, `model` and `answer`, with a `turn`
/// where that is not the first that the suite asks. An answer that is there already stays.
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn answers(bench: RunContext<'_>, path: &Path) -> Result<ImportCounts, BenchError> {
    let records = records(path)?;
    let items: HashMap<&str, &Item> = bench.data.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut given: BTreeMap<(String, &str), Vec<(&Record, Answer)>> = BTreeMap::new();
    for record in &records {
        let item = item_of(record, path, &items)?;
        let first = bench.suite.asks(item, &[]).first().map_or(1, |ask| ask.turn);
        let turn = record.number(path, "turn")?.unwrap_or(first);
        let text = record.text_or_blank(&ANSWER);
        let text = text.ok_or_else(|| record.refuse(path, "it has no answer: give its text, or an empty one"))?;
        let answers = given.entry((record.needed(path, &MODEL)?, item.id.as_str())).or_default();
        if let Some((first, _)) = answers.iter().find(|(_, answer)| answer.turn == turn) {
            let reason = format!("turn {turn} of item {:?} is answered on line {} already", item.id, first.line);
            return Err(record.refuse(path, reason).into());
        }
        answers.push((record, Answer { turn, text }));
    }
    let mut rows = Vec::with_capacity(records.len());
    for ((model, item), answers) in given {
        rows.extend(rows_of(bench, path, items[item], &model, &answers)?);
    }
    let new = bench.store.import_answers(&bench.set(), &rows).await?;
    Ok(ImportCounts { read: records.len() as u64, new })
}

/// The answers of one model to one item, each to the question that the suite asks then.
fn rows_of(
    bench: RunContext<'_>,
    path: &Path,
    item: &Item,
    model: &str,
    given: &[(&Record, Answer)],
) -> Result<Vec<BenchAnswerRow>, BenchFileError> {
    let (mut placed, mut rows): (Vec<Answer>, Vec<BenchAnswerRow>) = (Vec::new(), Vec::new());
    let all: Vec<Answer> = given.iter().map(|(_, answer)| answer.clone()).collect();
    loop {
        let asks = bench.suite.asks(item, &placed);
        let mut now = asks.iter().filter_map(|ask| Some((ask, answer_of(&all, ask.turn)?))).peekable();
        if now.peek().is_none() {
            break;
        }
        let found: Vec<BenchAnswerRow> = now
            .map(|(ask, text)| BenchAnswerRow {
                id: bench.rng.id(bench.clock),
                item: item.id.clone(),
                turn: ask.turn,
                model: model.to_owned(),
                ask_sha256: ask_sha256(ask),
                source: name_of(path),
                params: "{}".to_owned(),
                text: text.to_owned(),
                attempts: 0,
                latency_ms: 0,
                input_tokens: None,
                output_tokens: None,
                created_at: bench.clock.now(),
            })
            .collect();
        placed.extend(found.iter().map(|row| Answer { turn: row.turn, text: row.text.clone() }));
        rows.extend(found);
    }
    match given.iter().find(|(_, answer)| answer_of(&placed, answer.turn).is_none()) {
        None => Ok(rows),
        Some((record, answer)) => Err(record.refuse(
            path,
            format!(
                "turn {} of item {:?} is not asked, or not before earlier turns are answered",
                answer.turn, item.id
            ),
        )),
    }
}

/// Imports verdicts that judges gave elsewhere: records of `item`, `model`, `judge` and the judge's own words under
/// `raw_text` or `judgment`, or only a `score` with a `rating` by dimension; with `turn`, `game` and `baseline` where the suite
/// has them.
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn verdicts(bench: RunContext<'_>, path: &Path) -> Result<ImportCounts, BenchError> {
    let records = records(path)?;
    let items: HashMap<&str, &Item> = bench.data.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let (mut rows, mut seen) = (Vec::with_capacity(records.len()), HashSet::new());
    for record in &records {
        let row = verdict(bench, path, record, item_of(record, path, &items)?)?;
        let said = &row.judgement;
        let key = (said.item_id.clone(), said.turn, said.game, said.model.clone(), said.judge_model.clone());
        if !seen.insert((key, row.baseline.clone())) {
            let reason = "this judge's verdict on this turn stands in the file already: each may stand once";
            return Err(record.refuse(path, reason).into());
        }
        rows.push(row);
    }
    let new = bench.store.import_judgements(&rows).await?;
    Ok(ImportCounts { read: records.len() as u64, new })
}

fn verdict(
    bench: RunContext<'_>,
    path: &Path,
    record: &Record,
    item: &Item,
) -> Result<BenchJudgementRow, BenchFileError> {
    let raw_text = record.text(&JUDGED);
    let parsed = match &raw_text {
        Some(text) => bench.suite.parse(item, text).map_err(Status::from),
        None => scored(bench.suite, path, record)?,
    };
    let game = record.number(path, "game")?.unwrap_or(1);
    let game = u8::try_from(game).ok().and_then(|game| Game::try_from(game).ok());
    let first = bench.suite.asks(item, &[]).first().map_or(1, |ask| ask.turn);
    let turn = record.number(path, "turn")?.unwrap_or(first);
    if item.turn(turn).is_none() {
        return Err(record.refuse(path, format!("item {:?} has no turn {turn}", item.id)));
    }
    Ok(BenchJudgementRow {
        id: bench.rng.id(bench.clock),
        sample: bench.sample,
        variant: bench.suite.variant().to_owned(),
        baseline: record.text(&["baseline"]).unwrap_or_default(),
        source: name_of(path),
        earlier: Vec::new(),
        judgement: Judgement {
            suite: bench.suite.name().to_owned(),
            suite_version: bench.data.sha256.clone(),
            item_id: item.id.clone(),
            turn,
            model: record.needed(path, &MODEL)?,
            judge_model: record.needed(path, &JUDGE)?,
            judge_prompt_sha256: record.text(&["judge_prompt_sha256"]).unwrap_or_default(),
            params: Sampling::default(),
            game: game.ok_or_else(|| record.refuse(path, "game is neither 1 nor 2"))?,
            raw_text: raw_text.unwrap_or_default(),
            status: parsed.as_ref().err().copied().unwrap_or(Status::Ok),
            parsed: parsed.ok(),
            attempts: 0,
            latency_ms: None,
            tokens: None,
            ts: bench.clock.now().0,
        },
    })
}

/// A verdict of which only the score is known; one that is out of range is kept as that. Dimensions outside of it are absent.
fn scored(suite: &dyn Suite, path: &Path, record: &Record) -> Result<Result<Verdict, Status>, BenchFileError> {
    let score = record.real(path, "score")?;
    let score = score.ok_or_else(|| record.refuse(path, "it has neither raw_text nor judgment nor score: give one"))?;
    if matches!(suite.mode(), JudgeMode::PairwiseBaseline | JudgeMode::MultipleChoice) {
        let reason = format!("suite {} counts no scores: give the judge's own words as raw_text", suite.name());
        return Err(record.refuse(path, reason));
    }
    let mut dimensions = record.numbers(path, &["rating", "dimensions"])?;
    dimensions.retain(|_, score| SCORES.contains(score));
    match SCORES.contains(&score) {
        true => Ok(Ok(Verdict::Rating(Rating { score, dimensions }))),
        false => Ok(Err(Status::OutOfRange)),
    }
}

/// Imports published scores: records of `suite`, `model` and `score`, with `part`, `series` and `source`.
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn scores(store: &Store, path: &Path, now: Timestamp) -> Result<u64, BenchError> {
    let (mut rows, mut seen) = (Vec::new(), HashMap::new());
    for record in records(path)? {
        let score = record.real(path, "score")?;
        let row = PublishedScoreRow {
            series: record.text(&["series"]).unwrap_or_else(|| name_of(path)),
            suite: record.needed(path, &["suite"])?,
            part: record.text(&["part"]).unwrap_or_else(|| "overall".to_owned()),
            model: record.needed(path, &MODEL)?,
            score: score.ok_or_else(|| record.refuse(path, "it has no score: leave the record out instead"))?,
            source: record.text(&["source"]).unwrap_or_default(),
        };
        let key = (row.series.clone(), row.suite.clone(), row.part.clone(), row.model.clone());
        if let Some(first) = seen.insert(key, record.line) {
            let reason = format!("the same score of {:?} is already on line {first}", row.model);
            return Err(record.refuse(path, reason).into());
        }
        rows.push(row);
    }
    store.import_scores(&rows, now).await?;
    Ok(rows.len() as u64)
}

fn item_of<'i>(record: &Record, path: &Path, items: &HashMap<&str, &'i Item>) -> Result<&'i Item, BenchFileError> {
    let id = record.needed(path, &ITEM)?;
    items.get(id.as_str()).copied().ok_or_else(|| {
        record.refuse(
            path,
            format!("the suite has no item {id:?}: use the ids of its data file, or name that with --data"),
        )
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
