//! Labels prompts: a classifier or a language model labels all of them, visitors correct the labels of theirs, and reviewers label a queue.

pub mod model_labeler;
pub mod visitor_labels;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::model_labeler::ModelLabeler;
use crate::domain::battle::ModelId;
use crate::domain::csv_injection::escape_formula;
use crate::domain::labeling::LabelOrigin;
use crate::domain::labeling::classifier::Classifier;
use crate::domain::labeling::few_shot::FewShotPrompt;
use crate::domain::labeling::queue::{self, LabelDecision, QueueError, QueueProblem};
use crate::domain::labeling::report::{LabelReport, LabelReportBuilder};
use crate::domain::labeling::scheme::Scheme;
use crate::domain::labeling::seed_labels::{self, RowProblem, Seed, SeedError};
use crate::domain::labeling::softmax::FitFailed;
use crate::domain::labeling::validation::{ValidatedClassifier, ValidationOptions};
use crate::domain::time::Timestamp;
use crate::formats::read_file_or_pipe;
use crate::infra::disk::is_full;
use crate::infra::llm::model_client::AskError;
use crate::infra::storage::{LabelSource, NewLabel, PromptRow, Store, StoreError};

/// Page size of prompt reads.
const PAGE_SIZE: u32 = 1_000;
/// Page size with a language model, which bounds the labels not yet stored.
const MODEL_PAGE_SIZE: u32 = 50;

/// Error of labelling.
#[derive(Debug, thiserror::Error)]
pub enum LabelingError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Invalid seeds.
    #[error("{}: {problem}", file.display())]
    Seeds {
        /// Path of the file.
        file: PathBuf,
        /// Problem of the file.
        problem: SeedError,
    },
    /// Invalid reviewed queue.
    #[error("{}: {problem}", file.display())]
    Review {
        /// Path of the file.
        file: PathBuf,
        /// Problem of the file.
        problem: QueueError,
    },
    /// A file cannot be read or written.
    #[error("{}: {reason}", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        reason: std::io::Error,
    },
    /// The output file exists.
    #[error("{} exists already and may hold a reviewer's work: choose another file with --out", .0.display())]
    Exists(PathBuf),
    /// The reviewer has no name.
    #[error("the reviewer has no name: give one with --reviewer")]
    NoName,
    /// The labelling model gave no reply, or the limits were reached.
    #[error(
        "model {model} did not label every text: {error}. Its labels are kept: run the same command again to continue"
    )]
    Unanswered {
        /// Id of the model.
        model: ModelId,
        /// Error of the request.
        error: AskError,
    },
    /// The classifier cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitFailed),
    /// The classifier's thread panicked.
    #[error("the thread of the classifier ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl LabelingError {
    /// Whether the user's input is invalid.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Seeds { .. } | Self::Review { .. } | Self::Exists(_) | Self::NoName => true,
            Self::File { reason, .. } => !is_full(reason),
            Self::Store(_) | Self::Unanswered { .. } | Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// Reads seeds and checks that there are enough of each label for the scheme.
///
/// # Errors
/// [`LabelingError::File`], [`LabelingError::Seeds`].
pub fn read_seeds(file: &Path, scheme: Scheme, folds: usize) -> Result<Vec<Seed>, LabelingError> {
    let of_file = |problem| LabelingError::Seeds { file: file.to_owned(), problem };
    let text = read_file_or_pipe(file).map_err(|reason| LabelingError::File { file: file.to_owned(), reason })?;
    let seeds = seed_labels::read(text.as_slice(), scheme).map_err(of_file)?;
    seed_labels::check_balance(&seeds, scheme, folds).map_err(of_file)?;
    Ok(seeds)
}

/// Validates and trains the classifier on a blocking thread.
///
/// # Errors
/// [`LabelingError::Fit`], [`LabelingError::Thread`].
pub async fn train(
    seeds: Vec<Seed>,
    scheme: Scheme,
    options: ValidationOptions,
) -> Result<ValidatedClassifier, LabelingError> {
    Ok(tokio::task::spawn_blocking(move || ValidatedClassifier::new(&seeds, scheme, options)).await??)
}

/// Stores the labels of seeds that are prompts of this arena, and returns the number of changed labels.
///
/// # Errors
/// [`LabelingError::Seeds`] for an unknown id; nothing is stored then.
pub async fn store_seed_labels(
    store: &Store,
    file: &Path,
    scheme: Scheme,
    seeds: &[Seed],
    now: Timestamp,
) -> Result<u64, LabelingError> {
    let mut labels = Vec::new();
    for seed in seeds {
        let (Some(query_id), Some(label)) = (&seed.query, scheme.label(seed.label)) else { continue };
        if !store.has_query(query_id).await? {
            let problem = RowProblem::UnknownQuery(query_id.clone());
            return Err(LabelingError::Seeds {
                file: file.to_owned(),
                problem: SeedError::Row { line: seed.line, problem },
            });
        }
        labels.push(NewLabel { query_id, label, confidence: None });
    }
    let by = LabelSource { scheme, source: LabelOrigin::Seed, name: "" };
    Ok(store.put_labels(by, &labels, now).await?)
}

/// Result of labelling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LabelingOutcome {
    /// Number of labelled prompts.
    pub queries: u64,
    /// Number of new or changed labels.
    pub changed: u64,
}

/// Language model that labels the arena's prompts, except those of battles that it took part in.
pub struct ArenaPromptLabeler<'l> {
    /// Client for labelling requests.
    pub labeler: ModelLabeler<'l>,
    /// Instructions.
    pub prompt: FewShotPrompt,
    /// Ids of the arena's models that are this model of the same provider.
    pub itself: BTreeSet<String>,
}

impl ArenaPromptLabeler<'_> {
    /// Requests a label for each prompt; `None` if the prompt is skipped or the reply names no label.
    async fn labels(&self, page: &[PromptRow]) -> Result<Vec<Option<usize>>, LabelingError> {
        let may_label = |row: &PromptRow| !row.models().iter().any(|model| self.itself.contains(*model));
        let asked: Vec<_> =
            page.iter().filter(|row| may_label(row)).map(|row| (&self.prompt, row.prompt.as_str())).collect();
        let mut found = self.labeler.labels(&asked, |_| {}).await?.into_iter();
        Ok(page.iter().map(|row| if may_label(row) { found.next().flatten() } else { None }).collect())
    }
}

/// Labels every prompt of the arena: with the proposer's label if there is one, else with the classifier's. The confidence is always the
/// classifier's, so that reviewers see disagreements first. `progress` gets the number of labelled prompts.
///
/// # Errors
/// [`LabelingError::Store`], [`LabelingError::Unanswered`]; what was labelled before stays labelled.
pub async fn label_all(
    store: &Store,
    scheme: Scheme,
    classifier: &Classifier,
    proposer: Option<&ArenaPromptLabeler<'_>>,
    now: Timestamp,
    progress: impl Fn(u64),
) -> Result<LabelingOutcome, LabelingError> {
    let mut done = LabelingOutcome::default();
    let mut last = String::new();
    loop {
        let page = store.queries_after(&last, if proposer.is_some() { MODEL_PAGE_SIZE } else { PAGE_SIZE }).await?;
        let Some(PromptRow { id, .. }) = page.last() else { return Ok(done) };
        last.clone_from(id);
        let proposed = match proposer {
            Some(proposer) => proposer.labels(&page).await?,
            None => vec![None; page.len()],
        };
        for (name, labels) in by_labeler(classifier, scheme, proposer, &page, &proposed) {
            let by = LabelSource { scheme, source: LabelOrigin::Model, name };
            done.changed += store.put_labels(by, &labels, now).await?;
        }
        done.queries += page.len() as u64;
        progress(done.queries);
    }
}

/// Reads the texts of all prompts of the arena.
///
/// # Errors
/// [`LabelingError::Store`].
pub async fn all_prompts(store: &Store) -> Result<Vec<String>, LabelingError> {
    let (mut texts, mut last) = (Vec::new(), String::new());
    loop {
        let page = store.queries_after(&last, PAGE_SIZE).await?;
        let Some(PromptRow { id, .. }) = page.last() else { return Ok(texts) };
        last.clone_from(id);
        texts.extend(page.into_iter().map(|row| row.prompt));
    }
}

/// Groups the labels of prompts by labeller; the classifier has an empty name.
fn by_labeler<'q>(
    classifier: &Classifier,
    scheme: Scheme,
    proposer: Option<&'q ArenaPromptLabeler<'_>>,
    page: &'q [PromptRow],
    proposed: &[Option<usize>],
) -> [(&'q str, Vec<NewLabel<'q>>); 2] {
    let (mut classified, mut said) = (Vec::new(), Vec::new());
    for (row, proposed) in page.iter().zip(proposed) {
        let position = proposed.unwrap_or_else(|| classifier.predict(&row.prompt).label);
        let confidence = classifier.probabilities(&row.prompt).get(position).copied();
        let Some(label) = scheme.label(position) else { continue };
        let labels = if proposed.is_some() { &mut said } else { &mut classified };
        labels.push(NewLabel { query_id: &row.id, label, confidence });
    }
    let name = proposer.map_or("", |proposer| proposer.labeler.client.id.as_str());
    [("", classified), (name, said)]
}

/// Writes a review queue to a new file, and returns its number of prompts. An existing file is not overwritten, since it may hold a
/// reviewer's work.
///
/// # Errors
/// [`LabelingError`].
pub async fn write_queue(
    store: &Store,
    scheme: Scheme,
    reviewer: &str,
    limit: u32,
    file: &Path,
) -> Result<usize, LabelingError> {
    let queue = store.review_queue(scheme, check_reviewer(reviewer)?, limit).await?;
    let cannot = |reason| LabelingError::File { file: file.to_owned(), reason };
    let mut bytes = Vec::new();
    queue::write(&mut bytes, scheme, &queue, escape_formula).map_err(|error| cannot(error.into()))?;
    write_new(file, &bytes).map_err(|reason| match reason.kind() {
        ErrorKind::AlreadyExists => LabelingError::Exists(file.to_owned()),
        _ => cannot(reason),
    })?;
    Ok(queue.len())
}

/// Writes a new file; a partly written one is removed.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes).inspect_err(|_| {
        // Only the first failure is reported.
        let _ = std::fs::remove_file(path);
    })
}

/// Result of importing a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewImport {
    /// Number of decisions in the file.
    pub decisions: usize,
    /// Number of new or changed decisions.
    pub changed: u64,
}

/// Imports a reviewer's decisions: the whole file, or nothing if a row is invalid.
///
/// # Errors
/// [`LabelingError::Review`] with the line.
pub async fn import_review(
    store: &Store,
    scheme: Scheme,
    reviewer: &str,
    file: &Path,
    now: Timestamp,
) -> Result<ReviewImport, LabelingError> {
    let of_file = |problem| LabelingError::Review { file: file.to_owned(), problem };
    let name = check_reviewer(reviewer)?;
    let text = read_file_or_pipe(file).map_err(|reason| LabelingError::File { file: file.to_owned(), reason })?;
    let decisions = queue::read(text.as_slice(), scheme).map_err(of_file)?;
    for LabelDecision { line, query_id, .. } in &decisions {
        if !store.has_query(query_id).await? {
            return Err(of_file(QueueProblem::UnknownQuery(query_id.chars().take(60).collect()).on(*line)));
        }
    }
    let label = |decision: &'_ LabelDecision| (decision.query_id.clone(), decision.label);
    let said: Vec<(String, &str)> = decisions.iter().map(label).collect();
    let labels: Vec<NewLabel> =
        said.iter().map(|(query_id, label)| NewLabel { query_id, label, confidence: None }).collect();
    let changed = store.put_labels(LabelSource { scheme, source: LabelOrigin::Review, name }, &labels, now).await?;
    Ok(ReviewImport { decisions: decisions.len(), changed })
}

fn check_reviewer(reviewer: &str) -> Result<&str, LabelingError> {
    Some(reviewer.trim()).filter(|name| !name.is_empty()).ok_or(LabelingError::NoName)
}

/// Creates a report on all labels of a scheme.
///
/// # Errors
/// [`LabelingError::Store`].
pub async fn report(store: &Store, scheme: Scheme) -> Result<LabelReport, LabelingError> {
    let mut report = LabelReportBuilder::new(scheme);
    let mut last = String::new();
    loop {
        let page = store.queries_after(&last, PAGE_SIZE).await?;
        let Some(PromptRow { id, .. }) = page.last() else { return Ok(report.finish()) };
        let labels = store.labels_between(scheme, &last, id).await?;
        report.add_prompts(page.len() as u64);
        labels.chunk_by(|one, other| one.query_id == other.query_id).for_each(|labels| report.add_labels(labels));
        last.clone_from(id);
    }
}
