//! Has a model rewrite open questions as multiple choice and appends each draft to a file.

use std::path::Path;

use futures_util::{StreamExt, stream, try_join};
use parking_lot::Mutex;

use super::error::BenchError;
use super::{OnProgress, RunProgress};
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::benchmark::suites::superclue::construction::DraftPrompt;
use crate::domain::benchmark::suites::superclue::drafts::{DraftLine, OpenItem, open_items};
use crate::domain::benchmark::{SuiteData, SuiteOptions, suite};
use crate::formats::drafts::DraftFile;
use crate::formats::records::{BenchFileError, read};
use crate::infra::batch_writer::{BatchSender, batch_writer};
use crate::infra::llm::Sampling;
use crate::infra::llm::model_client::{AskError, ModelClient, RunLimits};

/// Maximum number of requests per question; the last reply is stored even if it is no draft.
const MAX_ATTEMPTS: u32 = 3;

/// Input of a drafting run.
pub struct DraftRunInput<'c> {
    /// Data file of superclue-open; its first turns are rewritten.
    pub questions: &'c Path,
    /// File of drafts, created if missing.
    pub drafts: &'c Path,
    /// Prompt template.
    pub prompt: &'c DraftPrompt,
    /// Whether to repeat requests whose reply in the file cannot be parsed.
    pub retry_failed: bool,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftRunOutcome {
    /// Outcome of the requests, with drafts and unparsable replies together.
    pub outcome: RunOutcome,
    /// Number of unparsable replies among those stored by this run.
    pub unreadable: u64,
}

/// Queries the model until every question has its line, the budget is used up, or the run is stopped; then waits for requests in flight.
///
/// # Errors
/// [`BenchError`] if a file cannot be read or written.
pub async fn construct(
    work: &DraftRunInput<'_>,
    model: &ModelClient,
    limits: &RunLimits,
    on_progress: OnProgress<'_>,
) -> Result<DraftRunOutcome, BenchError> {
    let items = questions(work.questions)?;
    let (file, lines) = DraftFile::open(work.drafts)?;
    let open = open_items(&items, &lines, model.id.as_str(), work.retry_failed);
    let (total, before) = (items.len() as u64, (items.len() - open.len()) as u64);
    let begun =
        DraftRunOutcome { outcome: RunOutcome { total, before, ..RunOutcome::new(model.id.clone()) }, unreadable: 0 };
    on_progress(RunProgress { done: before, total });
    let run = Run { prompt: work.prompt, model, limits, on_progress, constructed: Mutex::new(begun) };
    let (batch, writer) = batch_writer();
    let (run, open) = (&run, &open);
    let asking = async move {
        let drafts = stream::iter(open).map(|open| run.draft(*open, &batch)).buffer_unordered(model.max_concurrent);
        drafts.for_each(|()| std::future::ready(())).await;
        Ok::<(), BenchFileError>(())
    };
    let writing = writer.run(async |lines: Vec<DraftLine>| file.append(&lines));
    try_join!(asking, writing)?;
    Ok(run.constructed().clone())
}

fn questions(path: &Path) -> Result<Vec<Item>, BenchError> {
    let open = suite("superclue-open", &SuiteOptions::default())?;
    let data = SuiteData::read(open.as_ref(), &read(path)?);
    Ok(data.map_err(|error| BenchFileError::Data { path: path.to_owned(), error })?.items)
}

struct Run<'r> {
    prompt: &'r DraftPrompt,
    model: &'r ModelClient,
    limits: &'r RunLimits,
    on_progress: OnProgress<'r>,
    constructed: Mutex<DraftRunOutcome>,
}

impl Run<'_> {
    async fn draft(&self, open: OpenItem<'_>, batch: &BatchSender<DraftLine>) {
        if self.limits.are_reached() || self.model.is_exhausted() {
            return;
        }
        if let Some(line) = self.ask(open, batch).await {
            let unreadable = u64::from(line.draft.is_err());
            if batch.keep(vec![line]).await {
                self.count(unreadable);
            }
        }
    }

    /// Queries the model until a reply is a draft; otherwise the last reply is used. Earlier replies get lines too, so that they are not
    /// paid for again.
    async fn ask(&self, open: OpenItem<'_>, batch: &BatchSender<DraftLine>) -> Option<DraftLine> {
        let (request, model) = (self.prompt.request(open.item), self.model.id.as_str());
        let mut attempts = open.attempts;
        loop {
            let reply = match self.model.ask(&request, Sampling::default(), self.limits).await {
                Ok(reply) => reply,
                Err(error) => {
                    error.count_in(&mut self.constructed().outcome);
                    let refused = matches!(error, AskError::Refused { .. });
                    return refused.then(|| DraftLine::refused(open.item, model, error.to_string()));
                }
            };
            attempts += 1;
            let mut line = DraftLine::new(open.item, model, &reply.text);
            match &mut line.draft {
                Err(unread) if attempts < MAX_ATTEMPTS => unread.attempt = Some(attempts),
                _ => return Some(line),
            }
            if !batch.keep(vec![line]).await {
                return None;
            }
        }
    }

    fn count(&self, unreadable: u64) {
        let progress = {
            let mut constructed = self.constructed();
            constructed.unreadable += unreadable;
            constructed.outcome.kept += 1;
            let RunOutcome { before, kept, total, .. } = constructed.outcome;
            RunProgress { done: before + kept, total }
        };
        (self.on_progress)(progress);
    }

    fn constructed(&self) -> parking_lot::MutexGuard<'_, DraftRunOutcome> {
        // Plain counters, valid after each statement.
        self.constructed.lock()
    }
}
