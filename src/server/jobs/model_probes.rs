//! Asks a question of the arena's own where only visitors' questions say that a model is down: the result opens its circuit breaker,
//! or says that the model answers.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::domain::battle::ModelId;
use crate::infra::job_report::JobReport;
use crate::services::arena::models::Models;

/// How often the models are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Questions under way, one for each model at most.
#[derive(Default)]
struct Probes {
    replies: FuturesUnordered<BoxFuture<'static, ModelId>>,
    asked: HashSet<ModelId>,
}

/// Asks the suspected models of whatever roster is in place.
pub async fn probe_models(models: Arc<Models>, report: JobReport, shutdown: CancellationToken) {
    let mut probes = Probes::default();
    let mut ticker = tokio::time::interval(LOOK_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            Some(model) = probes.replies.next() => {
                probes.asked.remove(&model);
                continue;
            }
            () = shutdown.cancelled() => return,
        }
        let begin = async {
            probes.begin(&models);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = report.run(begin).await;
        report.runs_within(LOOK_EVERY);
    }
}

impl Probes {
    fn begin(&mut self, models: &Models) {
        for model in models.current().all() {
            let id = &model.card.id;
            if !self.asked.contains(id)
                && let Some(reply) = model.settle_suspicion()
            {
                let id = id.clone();
                self.asked.insert(id.clone());
                self.replies.push(reply.map(move |()| id).boxed());
            }
        }
    }
}
