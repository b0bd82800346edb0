//! Recognises questions that were asked before, on the instance that leads: see [`crate::services::benchmark::question_digests`].

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::Store;
use crate::services::benchmark::question_digests::{Filled, fill_question_digests};

/// Time between two looks for new questions.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Time between two commits over an arena that is older than digests, so that battles are written in between.
const REST: Duration = Duration::from_millis(50);

/// Gives questions their digests until the arena ends.
pub async fn digest_questions(
    store: Store,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut wait = LOOK_EVERY;
    loop {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.cancelled() => return,
        }
        wait = LOOK_EVERY;
        if !*lead.borrow() {
            continue;
        }
        match report.run(fill_question_digests(&store)).await {
            Ok(Filled::All) => {}
            Ok(Filled::Some) => wait = REST,
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "questions could not be recognised"),
        }
        report.runs_within(wait);
    }
}
