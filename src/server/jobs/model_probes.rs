//! Probes models suspected to be down with a prompt of the arena's own: the result opens the circuit breaker, or confirms that the model
//! answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::arena::models::Models;

/// Poll interval for suspected models.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Probes the suspected models of the current roster.
pub async fn probe_models(models: Arc<Models>, report: JobReport, shutdown: CancellationToken) {
    let mut questions: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            Some(()) = questions.next() => continue,
            () = shutdown.cancelled() => return,
        }
        let begin = async {
            questions.extend(models.current().all().iter().filter_map(|model| model.probe_if_suspected()));
            Ok::<(), Infallible>(())
        };
        let Ok(()) = report.run(begin).await;
        report.runs_within(POLL_INTERVAL);
    }
}
