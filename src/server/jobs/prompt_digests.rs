//! Recognises repeated questions, on the leader: see [`crate::services::benchmark::prompt_digests`].

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::Store;
use crate::services::benchmark::prompt_digests::{DigestProgress, fill_prompt_digests};

/// Poll interval for new questions.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Pause between two commits while digests of an older arena are backfilled, so that battles can be written in between.
const BACKFILL_PAUSE: Duration = Duration::from_millis(50);

/// Computes the digests of questions until the arena ends.
pub async fn digest_questions(
    store: Store,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut wait = POLL_INTERVAL;
    loop {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.cancelled() => return,
        }
        wait = POLL_INTERVAL;
        if !*lead.borrow() {
            continue;
        }
        match report.run(fill_prompt_digests(&store)).await {
            Ok(DigestProgress::All) => {}
            Ok(DigestProgress::Some) => wait = BACKFILL_PAUSE,
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "questions could not be recognised"),
        }
        report.runs_within(wait);
    }
}
