//! Imports suites, answers, verdicts and published scores from files: each file completely, in one transaction.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::RunContext;
use super::error::BenchError;
use crate::domain::benchmark::item::{Item, ItemSampling};
use crate::domain::benchmark::scores::judgement::{Judgement, Status};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{Suite, SuiteData};
use crate::domain::judging::reasoning::SplitReply;
use crate::domain::judging::verdict::Verdict;
use crate::domain::sha256::sha256;
use crate::domain::time::Timestamp;
use crate::formats::benchmark_records::{self, GivenAnswer, GivenScore, GivenScores, GivenVerdict, name_of};
use crate::formats::records::BenchFileError;
use crate::infra::storage::{
    BenchAnswerRow, BenchFilter, BenchItemRow, BenchJudgementRow, BenchSuiteRow, Imported, IncludeText,
    PublishedScoreRow, Store, StoreError,
};

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportCounts {
    /// Number of records in the file.
    pub read: u64,
    /// Number of new records.
    pub new: u64,
    /// Number of records that differ from the stored ones, which stay.
    pub differing: u64,
    /// Number of invalid verdicts, by status.
    pub failed: BTreeMap<Status, u64>,
}

/// Result of an import of published scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoreImport {
    /// Number of scores in the file.
    pub imported: u64,
    /// Number of records without a score, which are left out.
    pub without_score: u64,
}

/// Parsed data file of a suite.
pub struct ReadSuite {
    /// Database row of the file.
    pub row: BenchSuiteRow,
    /// Its items.
    pub data: SuiteData,
}

/// Reads a suite's data file. A custom suite has a declaration; another declaration makes another version.
///
/// # Errors
/// [`BenchFileError`] with the line and the field that is wrong.
pub fn read_suite(
    suite: &dyn Suite,
    declaration: Option<&str>,
    path: &Path,
    now: Timestamp,
) -> Result<ReadSuite, BenchFileError> {
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
    Ok(ReadSuite { row, data })
}

/// Imports a suite's data.
///
/// # Errors
/// [`StoreError`].
pub async fn suite(store: &Store, read: &ReadSuite) -> Result<Imported, StoreError> {
    let body = |item: &Item| serde_json::to_string(item).expect("an item is plain text and numbers");
    let items = read.data.items.iter().map(|item| BenchItemRow { item: item.id.clone(), body: body(item) });
    store.import_suite(&read.row, &items.collect::<Vec<_>>()).await
}

/// Imports answers generated elsewhere to the items of a suite: see [`benchmark_records::answers`]. An existing answer stays.
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn answers(bench: RunContext<'_>, path: &Path) -> Result<ImportCounts, BenchError> {
    let given = benchmark_records::answers(bench.suite, &bench.data.items, path)?;
    let row = |given: GivenAnswer| BenchAnswerRow {
        id: bench.rng.id(bench.clock),
        item: given.item,
        turn: given.turn,
        model: given.model,
        ask_sha256: given.ask_sha256,
        source: name_of(path),
        params: "{}".to_owned(),
        text: SplitReply::split_answer(&given.text).reply.to_owned(),
        attempts: 0,
        latency_ms: 0,
        input_tokens: None,
        output_tokens: None,
        created_at: bench.clock.now(),
    };
    let rows: Vec<BenchAnswerRow> = given.into_iter().map(row).collect();
    let stored = bench.store.bench_answers(&bench.set(), BenchFilter::ALL).await?;
    let texts: HashMap<_, &str> = stored.iter().map(|row| (answer_key(row), row.text.as_str())).collect();
    let differs = |row: &&BenchAnswerRow| texts.get(&answer_key(row)).is_some_and(|text| *text != row.text);
    let differing = rows.iter().filter(differs).count() as u64;
    let new = bench.store.import_answers(&bench.set(), &rows).await?;
    Ok(ImportCounts { read: rows.len() as u64, new, differing, failed: BTreeMap::new() })
}

/// Imports verdicts of judges made elsewhere: see [`benchmark_records::verdicts`].
///
/// # Errors
/// [`BenchError`] with the line and the field that is wrong.
pub async fn verdicts(bench: RunContext<'_>, path: &Path) -> Result<ImportCounts, BenchError> {
    let given = benchmark_records::verdicts(bench.suite, &bench.data.items, path)?;
    let row = |given: GivenVerdict| BenchJudgementRow {
        id: bench.rng.id(bench.clock),
        sample: bench.sample,
        variant: bench.suite.variant().to_owned(),
        baseline: given.baseline,
        source: name_of(path),
        earlier: Vec::new(),
        reasoning: String::new(),
        number_tokens: Vec::new(),
        judgement: Judgement {
            suite: bench.suite.name().to_owned(),
            suite_version: bench.data.sha256.clone(),
            item_id: given.item,
            turn: given.turn,
            model: given.model,
            judge_model: given.judge,
            judge_prompt_sha256: given.judge_prompt_sha256,
            params: ItemSampling::default(),
            game: given.game,
            raw_text: given.raw_text,
            status: given.parsed.as_ref().err().copied().unwrap_or(Status::Ok),
            parsed: given.parsed.ok(),
            attempts: 0,
            latency_ms: None,
            tokens: None,
            ts: bench.clock.now().0,
        },
    };
    let rows: Vec<BenchJudgementRow> = given.into_iter().map(row).collect();
    let stored = bench.store.bench_judgements(&bench.set(), BenchFilter::ALL, IncludeText::No).await?;
    let stored = stored.iter().filter_map(|row| Some((verdict_key(row), row.judgement.parsed.as_ref()?)));
    let verdicts: HashMap<_, &Verdict> = stored.collect();
    let differs = |row: &&BenchJudgementRow| {
        let given = row.judgement.parsed.as_ref();
        given.is_some_and(|given| verdicts.get(&verdict_key(row)).is_some_and(|stored| *stored != given))
    };
    let differing = rows.iter().filter(differs).count() as u64;
    let mut failed = BTreeMap::new();
    for status in rows.iter().map(|row| row.judgement.status).filter(|status| *status != Status::Ok) {
        *failed.entry(status).or_default() += 1;
    }
    let new = bench.store.import_judgements(&rows).await?;
    Ok(ImportCounts { read: rows.len() as u64, new, differing, failed })
}

/// Returns the unique key of an answer in a round.
fn answer_key(row: &BenchAnswerRow) -> (&str, &str, u32, &str) {
    (&row.model, &row.item, row.turn, &row.ask_sha256)
}

/// Returns the unique key of a verdict in a round.
fn verdict_key(row: &BenchJudgementRow) -> ([&str; 6], u32, u8) {
    let Judgement { item_id, model, judge_model, judge_prompt_sha256, turn, game, .. } = &row.judgement;
    let names = [&row.variant, item_id, model, judge_model, &row.baseline, judge_prompt_sha256].map(String::as_str);
    (names, *turn, u8::from(*game))
}

/// Imports published scores parsed by [`benchmark_records::scores`].
///
/// # Errors
/// [`StoreError`].
pub async fn scores(store: &Store, given: GivenScores, now: Timestamp) -> Result<ScoreImport, StoreError> {
    let row = |GivenScore { series, suite, part, model, score, source }| PublishedScoreRow {
        series,
        suite,
        part,
        model,
        score,
        source,
    };
    let GivenScores { scores, blank } = given;
    let rows: Vec<PublishedScoreRow> = scores.into_iter().map(row).collect();
    store.import_scores(&rows, now).await?;
    Ok(ScoreImport { imported: rows.len() as u64, without_score: blank })
}
