//! Metrics for operators: counters, gauges and histograms, served at `/metrics`.
//!
//! One table ([`ALL`]) lists them; the functions here are the only writers, each called where the event happens. Labels are the operator's
//! own terms (models, routes, operations), never a visitor's text, id or address. Nothing is counted per token. Values that can be looked
//! up are set on each scrape, see `http/metrics.rs`.

mod names;
mod waiting_observations;

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ::metrics::{
    Counter, Gauge, Histogram, KeyName, Recorder, SharedString, counter, gauge, histogram, with_local_recorder,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusRecorder};
use metrics_process::Collector;
use parking_lot::{Mutex, RwLock};

use crate::domain::battle::{ModelId, Outcome};
use crate::domain::moderation::ModeratedPart;

pub use names::{ALL, MetricKind, MetricName};
use waiting_observations::WaitingObservations;

/// States of a circuit breaker.
const BREAKER_PHASES: [&str; 3] = ["closed", "open", "half_open"];

/// Metrics of this process, of which there is one.
static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics::new().expect("every histogram of the table has buckets"));

struct Metrics {
    recorder: PrometheusRecorder,
    preregistered: PreregisteredMetrics,
    /// Histograms by operation, created on first use.
    store: RwLock<HashMap<&'static str, Histogram>>,
    /// Models whose breaker has been exported.
    shown: Mutex<BTreeSet<ModelId>>,
    /// Delayed observations of single models.
    waiting: WaitingObservations,
}

impl Metrics {
    fn new() -> Result<Self, BuildError> {
        let mut builder = PrometheusBuilder::new();
        for metric in ALL {
            if let MetricKind::Histogram(buckets) = metric.kind {
                builder = builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)?;
            }
        }
        let recorder = builder.build_recorder();
        for metric in ALL {
            describe(&recorder, metric);
        }
        let preregistered = with_local_recorder(&recorder, PreregisteredMetrics::register);
        Ok(Self {
            recorder,
            preregistered,
            store: RwLock::default(),
            shown: Mutex::default(),
            waiting: WaitingObservations::default(),
        })
    }

    /// Writes with the metrics crate's macros to this recorder and to no global one.
    fn here<T>(&self, write: impl FnOnce() -> T) -> T {
        with_local_recorder(&self.recorder, write)
    }
}

/// Preregistered metrics: counters that must read 0 before anything happens, and those in frequent use.
struct PreregisteredMetrics {
    process: Collector,
    battles_started: Counter,
    turns_ready: Counter,
    battles_voided: Counter,
    battles_abandoned: Counter,
    /// Counters by outcome, in the order of [`Outcome::ALL`], and by whether the vote is rated.
    votes: [[Counter; 2]; 4],
    refits_failed: Counter,
    voter_checks_failed: Counter,
    webhooks_abandoned: Counter,
}

impl PreregisteredMetrics {
    fn register() -> Self {
        let process = Collector::default();
        process.describe();
        gauge!("langya_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        // Series used by alerts must exist before the first failure: a series that begins at 1 has no increase.
        for task in ["turn", "socket"] {
            counter!("langya_job_panics_total", "task" => task).increment(0);
        }
        for by in ["arena", "network"] {
            counter!("langya_sockets_refused_total", "by" => by).increment(0);
        }
        counter!("langya_leak_checks_total", "result" => "failed").increment(0);
        for part in ModeratedPart::ALL {
            counter!("langya_moderated_total", "part" => part.as_str(), "result" => "failed").increment(0);
        }
        let vote = |outcome: Outcome, rated: &'static str| counter!("langya_votes_total", "outcome" => outcome.as_str(), "rated" => rated);
        Self {
            process,
            battles_started: counter!("langya_battles_started_total"),
            turns_ready: counter!("langya_turns_ready_total"),
            battles_voided: counter!("langya_battles_voided_total"),
            battles_abandoned: counter!("langya_battles_abandoned_total"),
            votes: Outcome::ALL.map(|outcome| [vote(outcome, "false"), vote(outcome, "true")]),
            refits_failed: counter!("langya_refits_failed_total"),
            voter_checks_failed: counter!("langya_voter_checks_failed_total"),
            webhooks_abandoned: counter!("langya_webhooks_abandoned_total"),
        }
    }
}

fn describe(recorder: &PrometheusRecorder, metric: MetricName) {
    let (name, unit, help) = (KeyName::from(metric.name), Some(metric.unit), SharedString::from(metric.help));
    match metric.kind {
        MetricKind::Counter => recorder.describe_counter(name, unit, help),
        MetricKind::Gauge => recorder.describe_gauge(name, unit, help),
        MetricKind::Histogram(_) => recorder.describe_histogram(name, unit, help),
    }
}

/// Renders all metrics in Prometheus's text format.
#[must_use]
pub fn render() -> String {
    METRICS.here(|| METRICS.preregistered.process.collect());
    METRICS.recorder.handle().render()
}

/// Sorts observations into their buckets. Without it they would pile up if the metrics are never scraped.
pub fn run_upkeep() {
    METRICS.recorder.handle().run_upkeep();
}

/// Counts a started battle.
pub fn battle_started() {
    METRICS.preregistered.battles_started.increment(1);
}

/// Counts a turn with both replies stored, so that a vote may be cast.
pub fn turn_ready() {
    METRICS.preregistered.turns_ready.increment(1);
}

/// Counts a battle voided because a reply broke off.
pub fn battle_voided() {
    METRICS.preregistered.battles_voided.increment(1);
}

/// Counts abandoned battles.
pub fn battles_abandoned(count: u64) {
    METRICS.preregistered.battles_abandoned.increment(count);
}

/// Counts a refused turn, vote or similar, by action and by the scope or rule that refused it.
pub fn refused(what: &'static str, by: &'static str) {
    METRICS.here(|| counter!("langya_refusals_total", "what" => what, "by" => by).increment(1));
}

/// Counts a use counted by this instance alone, because neither Redis nor the database was available.
pub fn count_local_fallback() {
    METRICS.here(|| counter!("langya_limits_counted_alone_total").increment(1));
}

/// Sets the number of battles in memory.
pub fn battles_live(count: usize) {
    METRICS.here(|| gauge!("langya_battles_live").set(float(count)));
}

/// Counts a committed vote.
pub fn vote_committed(outcome: Outcome, rated: bool) {
    let at = Outcome::ALL.iter().position(|known| *known == outcome).expect("the four outcomes are all there are");
    METRICS.preregistered.votes[at][usize::from(rated)].increment(1);
}

/// Returns the histogram of the time to a model's first text; kept by the caller of the model.
pub fn first_token_histogram(model: &ModelId) -> Histogram {
    METRICS.here(|| histogram!("langya_model_first_token_seconds", "model" => model.to_string()))
}

/// Records the time to a model's first text; exported together with that of other battles.
pub fn first_token(histogram: &Histogram, after: Duration) {
    METRICS.waiting.record(histogram, after.as_secs_f64());
}

/// Records the speed of a model's complete reply; exported together with those of other battles.
pub fn reply_speed(model: &ModelId, chars_per_second: f64) {
    let histogram = METRICS.here(|| histogram!("langya_model_reply_chars_per_second", "model" => model.to_string()));
    METRICS.waiting.record(&histogram, chars_per_second);
}

/// Counts a failed request to a model by one of a few fixed kinds.
pub fn model_error(model: &ModelId, kind: &'static str) {
    let labels = [("model", model.to_string()), ("kind", kind.to_owned())];
    METRICS.here(|| counter!("langya_model_errors_total", &labels).increment(1));
}

/// Sets the breaker states of all current models; removed models are in no state.
pub fn breakers<'a>(models: impl Iterator<Item = (&'a ModelId, &'static str)>) {
    let phases: HashMap<ModelId, &str> = models.map(|(id, phase)| (id.clone(), phase)).collect();
    let mut shown = METRICS.shown.lock();
    shown.extend(phases.keys().cloned());
    METRICS.here(|| {
        for model in shown.iter() {
            for phase in BREAKER_PHASES {
                let is = phases.get(model) == Some(&phase);
                let labels = [("model", model.to_string()), ("state", phase.to_owned())];
                gauge!("langya_model_breaker_state", &labels).set(f64::from(u8::from(is)));
            }
        }
    });
}

/// Sets the number of models that can be drawn for a battle now.
pub fn models_drawable(count: usize) {
    METRICS.here(|| gauge!("langya_models_drawable").set(float(count)));
}

/// Returns the gauge of an internal queue; its owner sets it.
pub fn queue_depth(queue: &'static str) -> Gauge {
    METRICS.here(|| gauge!("langya_queue_depth", "queue" => queue))
}

/// An open websocket, counted until it is dropped.
#[derive(Debug)]
pub struct OpenSocket(Gauge);

impl OpenSocket {
    /// Counts a socket of this kind.
    #[must_use]
    pub fn count(kind: &'static str) -> Self {
        let gauge = METRICS.here(|| gauge!("langya_sockets_open", "kind" => kind));
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// Counts a refused websocket, because the `arena` or the visitor's `network` has reached its limit.
pub fn socket_refused(by: &'static str) {
    METRICS.here(|| counter!("langya_sockets_refused_total", "by" => by).increment(1));
}

/// Records a fitted and stored leaderboard; `lag` is the age of the oldest vote that is new in it.
pub fn refitted(took: Duration, lag: Option<Duration>) {
    METRICS.here(|| {
        histogram!("langya_refit_seconds").record(took);
        if let Some(lag) = lag {
            histogram!("langya_refit_lag_seconds").record(lag);
        }
    });
}

/// Counts a failed refit.
pub fn refit_failed() {
    METRICS.preregistered.refits_failed.increment(1);
}

/// Records the time of a check of voters, after which flagged ones are excluded.
pub fn voters_checked(at_ms: i64) {
    let at = Duration::from_millis(at_ms.unsigned_abs()).as_secs_f64();
    METRICS.here(|| gauge!("langya_voter_check_timestamp_seconds").set(at));
}

/// Counts a failed check of voters.
pub fn voter_check_failed() {
    METRICS.preregistered.voter_checks_failed.increment(1);
}

/// Counts an abandoned webhook message.
pub fn webhook_abandoned() {
    METRICS.preregistered.webhooks_abandoned.increment(1);
}

/// Sets the time of the latest backup recorded in the data folder.
pub fn last_backup(at_ms: i64) {
    let at = Duration::from_millis(at_ms.unsigned_abs()).as_secs_f64();
    METRICS.here(|| gauge!("langya_backup_timestamp_seconds").set(at));
}

/// Counts a moderation request about a text of this part.
pub fn moderated(part: &'static str, result: &'static str) {
    METRICS.here(|| counter!("langya_moderated_total", "part" => part, "result" => result).increment(1));
}

/// Counts a vote checked for leaks by a language model.
pub fn leak_checked(result: &'static str) {
    METRICS.here(|| counter!("langya_leak_checks_total", "result" => result).increment(1));
}

/// Counts flagged texts that could not be stored for review.
pub fn flags_lost(count: u64) {
    METRICS.here(|| counter!("langya_moderation_flags_lost_total").increment(count));
}

/// Sets the vote count and time of the latest leaderboard.
pub fn leaderboard(votes: u64, fitted_at_ms: i64) {
    METRICS.here(|| {
        gauge!("langya_leaderboard_votes").set(float(usize::try_from(votes).unwrap_or(usize::MAX)));
        gauge!("langya_leaderboard_timestamp_seconds")
            .set(Duration::from_millis(fitted_at_ms.unsigned_abs()).as_secs_f64());
    });
}

/// Sets the age of the oldest vote that is not in the public log, or the time since the log could last be extended.
pub fn public_log_lag(lag: Duration) {
    METRICS.here(|| gauge!("langya_public_log_lag_seconds").set(lag.as_secs_f64()));
}

/// Timer of a database operation; records its duration when dropped.
#[derive(Debug)]
#[must_use = "the time is taken when this is dropped"]
pub struct StoreTimer {
    histogram: Histogram,
    started: Instant,
}

/// Starts the timer of a database operation.
pub fn store_time(operation: &'static str) -> StoreTimer {
    let known = METRICS.store.read().get(operation).cloned();
    let histogram = known.unwrap_or_else(|| {
        let new = METRICS.here(|| histogram!("langya_store_seconds", "operation" => operation));
        METRICS.store.write().entry(operation).or_insert(new).clone()
    });
    StoreTimer { histogram, started: Instant::now() }
}

impl Drop for StoreTimer {
    fn drop(&mut self) {
        self.histogram.record(self.started.elapsed());
    }
}

/// Counts an answered request; `route` is the pattern, not the address.
pub fn http_answered(route: String, status: u16) {
    let labels = [("route", route), ("status", status.to_string())];
    METRICS.here(|| counter!("langya_http_requests_total", &labels).increment(1));
}

/// Registers a background task: its panics read 0 until it has one, so that the first one shows as an increase.
pub fn job_known(task: &'static str) {
    METRICS.here(|| counter!("langya_job_panics_total", "task" => task).increment(0));
}

/// Counts a panic of a background task.
pub fn job_panicked(task: &'static str) {
    METRICS.here(|| counter!("langya_job_panics_total", "task" => task).increment(1));
}

/// Sets whether Redis is connected and accepts writes.
pub fn redis(connected: bool, writable: bool) {
    METRICS.here(|| {
        gauge!("langya_redis_connected").set(f64::from(u8::from(connected)));
        gauge!("langya_redis_writable").set(f64::from(u8::from(writable)));
    });
}

/// Sets the result of `/readyz`, and whether the process is shutting down.
pub fn readiness(ready: bool, draining: bool) {
    METRICS.here(|| {
        gauge!("langya_ready").set(f64::from(u8::from(ready)));
        gauge!("langya_draining").set(f64::from(u8::from(draining)));
    });
}

/// Converts a count to a gauge value.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and no count here comes near 2^53")]
pub fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value of the sample that begins with `sample`.
    fn value(text: &str, sample: &str) -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(sample)?.trim().parse().ok())
    }

    #[test]
    fn a_timer_counts_once_when_it_ends() {
        drop(store_time("test_of_timers"));
        let running = store_time("test_of_timers");
        assert_eq!(value(&render(), "langya_store_seconds_count{operation=\"test_of_timers\"}"), Some(1.0));
        drop(running);
        assert_eq!(value(&render(), "langya_store_seconds_count{operation=\"test_of_timers\"}"), Some(2.0));
    }

    #[test]
    fn a_socket_is_counted_while_it_is_open() {
        let socket = OpenSocket::count("test");
        assert_eq!(value(&render(), "langya_sockets_open{kind=\"test\"}"), Some(1.0));
        drop(socket);
        assert_eq!(value(&render(), "langya_sockets_open{kind=\"test\"}"), Some(0.0));
    }

    #[test]
    fn a_model_that_left_is_in_no_state() {
        let model = ModelId::new("test-of-breakers");
        let open = "langya_model_breaker_state{model=\"test-of-breakers\",state=\"open\"}";
        breakers([(&model, "open")].into_iter());
        assert_eq!(value(&render(), open), Some(1.0));
        breakers(std::iter::empty());
        assert_eq!(value(&render(), open), Some(0.0));
    }

    #[test]
    fn every_name_is_described_once() {
        let names: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|metric| (metric.kind == MetricKind::Counter) == metric.name.ends_with("_total")));
    }
}
