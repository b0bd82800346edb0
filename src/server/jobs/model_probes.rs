//! Asks a question of the arena's own where only visitors' questions say that a model is down: the result opens its circuit breaker,
//! or says that the model answers.

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

/// How often the models are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Asks the suspected models of whatever roster is in place.
pub async fn probe_models(models: Arc<Models>, report: JobReport, shutdown: CancellationToken) {
    let mut questions: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    let mut ticker = tokio::time::interval(LOOK_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            Some(()) = questions.next() => continue,
            () = shutdown.cancelled() => return,
        }
        let begin = async {
            questions.extend(models.current().all().iter().filter_map(|model| model.settle_suspicion()));
            Ok::<(), Infallible>(())
        };
        let Ok(()) = report.run(begin).await;
        report.runs_within(LOOK_EVERY);
    }
}
