//! Loads a suite and its items from the database.

use std::collections::HashMap;

use super::RunContext;
use super::error::BenchError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::item::{Answer, Item};
use crate::domain::benchmark::judging_forms::cross_validation::ReferenceSuite;
use crate::domain::benchmark::scores::answer_index::AnswerIndex;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{Suite, SuiteData, SuiteOptions, suite, suite_of};
use crate::domain::judging::reasoning::SplitReply;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{AnswerRound, BenchAnswerRow, BenchFilter, BenchSuiteRow, Store, StoreError};
use crate::infra::time::clock::SystemClock;

/// A suite and its items.
pub struct LoadedSuite {
    /// The data file.
    pub row: BenchSuiteRow,
    /// The suite with its options.
    pub suite: Box<dyn Suite>,
    /// Its items.
    pub data: SuiteData,
}

impl LoadedSuite {
    /// Returns the context of a run over the suite.
    #[must_use]
    pub fn bench<'b>(&'b self, store: &'b Store, rng: &'b SharedRng, sample: u32) -> RunContext<'b> {
        RunContext { store, clock: &SystemClock, rng, suite: self.suite.as_ref(), data: &self.data, sample }
    }
}

/// Loads the latest data file of a suite, or the one whose SHA-256 has this prefix.
///
/// # Errors
/// [`BenchError`] for an unknown suite or file, unsupported options, or a reference model without answers.
pub async fn load(
    store: &Store,
    name: &str,
    version: Option<&str>,
    options: &SuiteOptions,
) -> Result<LoadedSuite, BenchError> {
    let mut files = store.bench_suites().await?;
    files.retain(|row| row.suite.as_str() == name);
    let wanted = version.unwrap_or_default();
    let row = match files.iter().position(|row| row.version.starts_with(wanted)) {
        Some(at) => files.swap_remove(at),
        // An unknown suite is reported first.
        None if files.is_empty() => {
            suite(name, options)?;
            return Err(BenchError::NoData { suite: name.to_owned() });
        }
        None => return Err(no_such_data(name, wanted, &files)),
    };
    let suite = suite_of(&row, options)?;
    let items = store.bench_items(&row.suite, &row.version).await?;
    let items = items.iter().map(|row| item_of(&row.item, &row.body)).collect::<Result<_, _>>()?;
    let data = SuiteData { sha256: row.version.clone(), items };
    let suite = match &options.references {
        Some(model) => load_with_answers_as_references(store, suite, &data, model).await?,
        None => suite,
    };
    Ok(LoadedSuite { suite, data, row })
}

/// Length of a short SHA-256, in hexadecimal digits.
const SHORT_SHA256: usize = 12;

fn no_such_data(suite: &str, wanted: &str, files: &[BenchSuiteRow]) -> BenchError {
    let known: Vec<String> = files.iter().map(|row| row.version.chars().take(SHORT_SHA256).collect()).collect();
    BenchError::NoSuchData { suite: suite.to_owned(), wanted: wanted.to_owned(), known: known.join(", ") }
}

/// Uses a model's first-round answers as the suite's references.
async fn load_with_answers_as_references(
    store: &Store,
    suite: Box<dyn Suite>,
    data: &SuiteData,
    model: &str,
) -> Result<Box<dyn Suite>, BenchError> {
    let name = suite.name().to_owned();
    if !suite.mode().has_references() {
        return Err(BenchError::NoReferences { suite: name });
    }
    let set = AnswerRound { suite: SuiteId::new(&name), version: data.sha256.clone(), sample: 1 };
    let given = answers_of(store, &set, &ModelId::new(model)).await?;
    let of = |item: &Item| (item.id.clone(), given.to(suite.as_ref(), item));
    let answers: HashMap<String, Vec<Answer>> =
        data.items.iter().map(of).filter(|(_, answers)| !answers.is_empty()).collect();
    if answers.is_empty() {
        return Err(BenchError::NoAnswers { suite: name, model: model.to_owned() });
    }
    Ok(Box::new(ReferenceSuite::new(suite, answers)))
}

/// Parses a stored item.
pub(super) fn item_of(id: &str, body: &str) -> Result<Item, StoreError> {
    serde_json::from_str(body).map_err(|_| StoreError::Inconsistent {
        table: "bench_items",
        column: "body",
        row: id.to_owned(),
        value: body.chars().take(80).collect(),
    })
}

/// Reads a model's answers to the items of one data file.
///
/// # Errors
/// [`StoreError`].
pub async fn answers_of(store: &Store, set: &AnswerRound, model: &ModelId) -> Result<AnswerIndex, StoreError> {
    let rows = store.bench_answers(set, BenchFilter::of_model(model)).await?;
    let answer = |row: BenchAnswerRow| {
        let text = SplitReply::split_answer(&row.text).reply.to_owned();
        (row.item, row.ask_sha256, Answer { turn: row.turn, text })
    };
    let refused = store.refused_requests(model).await?;
    Ok(AnswerIndex::new(rows.into_iter().map(answer)).with_refused(set.round(), refused))
}
