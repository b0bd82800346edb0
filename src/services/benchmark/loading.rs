//! Loads a suite and its items from the database.

use std::collections::HashMap;

use super::RunContext;
use super::error::BenchError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::answer_index::AnswerIndex;
use crate::domain::benchmark::cross_validation::ReferenceSuite;
use crate::domain::benchmark::item::{Answer, Item};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{Suite, SuiteData, SuiteOptions, suite, suite_of};
use crate::domain::judging::reasoning::Thought;
use crate::infra::clock::SystemClock;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{BenchAnswerRow, BenchFilter, BenchSet, BenchSuiteRow, Store, StoreError};

/// A suite and its items.
pub struct Loaded {
    /// The data file.
    pub row: BenchSuiteRow,
    /// The suite with its options.
    pub suite: Box<dyn Suite>,
    /// Its items.
    pub data: SuiteData,
}

impl Loaded {
    /// What a run over it is made of.
    #[must_use]
    pub fn bench<'b>(&'b self, store: &'b Store, rng: &'b SharedRng, sample: u32) -> RunContext<'b> {
        RunContext { store, clock: &SystemClock, rng, suite: self.suite.as_ref(), data: &self.data, sample }
    }
}

/// The latest data file of a suite, or the one whose SHA-256 begins like this.
///
/// # Errors
/// [`BenchError`] where there is no such suite, no such file, the options do not fit, or who should give the references has
/// no answers.
pub async fn load(
    store: &Store,
    name: &str,
    version: Option<&str>,
    options: &SuiteOptions,
) -> Result<Loaded, BenchError> {
    let mut files = store.bench_suites().await?;
    files.retain(|row| row.suite.as_str() == name);
    let wanted = version.unwrap_or_default();
    let row = match files.iter().position(|row| row.version.starts_with(wanted)) {
        Some(at) => files.swap_remove(at),
        // A name that is no suite's says so first.
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
        Some(model) => beside(store, suite, &data, model).await?,
        None => suite,
    };
    Ok(Loaded { suite, data, row })
}

/// Characters of a data file's SHA-256 that distinguish it from others.
const SHORT_SHA256: usize = 12;

fn no_such_data(suite: &str, wanted: &str, files: &[BenchSuiteRow]) -> BenchError {
    let known: Vec<String> = files.iter().map(|row| row.version.chars().take(SHORT_SHA256).collect()).collect();
    BenchError::NoSuchData { suite: suite.to_owned(), wanted: wanted.to_owned(), known: known.join(", ") }
}

/// The suite beside the first answers of a model as its references.
async fn beside(
    store: &Store,
    suite: Box<dyn Suite>,
    data: &SuiteData,
    model: &str,
) -> Result<Box<dyn Suite>, BenchError> {
    let name = suite.name().to_owned();
    if !suite.mode().has_references() {
        return Err(BenchError::NoReferences { suite: name });
    }
    let set = BenchSet { suite: SuiteId::new(&name), version: data.sha256.clone(), sample: 1 };
    let given = answers_of(store, &set, &ModelId::new(model)).await?;
    let of = |item: &Item| (item.id.clone(), given.to(suite.as_ref(), item));
    let answers: HashMap<String, Vec<Answer>> =
        data.items.iter().map(of).filter(|(_, answers)| !answers.is_empty()).collect();
    if answers.is_empty() {
        return Err(BenchError::NoAnswers { suite: name, model: model.to_owned() });
    }
    Ok(Box::new(ReferenceSuite::new(suite, answers)))
}

/// An item as it is kept.
pub(super) fn item_of(id: &str, body: &str) -> Result<Item, StoreError> {
    serde_json::from_str(body).map_err(|_| StoreError::Inconsistent {
        table: "bench_items",
        column: "body",
        row: id.to_owned(),
        value: body.chars().take(80).collect(),
    })
}

/// A model's answers to the items of one data file.
///
/// # Errors
/// [`StoreError`].
pub async fn answers_of(store: &Store, set: &BenchSet, model: &ModelId) -> Result<AnswerIndex, StoreError> {
    let rows = store.bench_answers(set, BenchFilter::of_model(model)).await?;
    let answer = |row: BenchAnswerRow| {
        let text = Thought::before_answer(&row.text).reply.to_owned();
        (row.item, row.ask_sha256, Answer { turn: row.turn, text })
    };
    let refused = store.refused_requests(model).await?;
    Ok(AnswerIndex::new(rows.into_iter().map(answer)).with_refused(set.round(), refused))
}
