//! Metrics for operators: counters, gauges and histograms, served at `/metrics`.
//!
//! One table ([`ALL`]) says what there is; the functions here are the only writers, each called where the thing
//! happens. Labels are the operator's own words (models, routes, operations), never a visitor's text, id or address.
//! Nothing is counted per token. What can be looked up is set when it is read, see `http/metrics.rs`.

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

/// The states of a circuit breaker.
const BREAKER_PHASES: [&str; 3] = ["closed", "open", "half_open"];

/// This process's metrics: like the process itself, there is one.
static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics::new().expect("every histogram of the table has buckets"));

struct Metrics {
    recorder: PrometheusRecorder,
    preregistered: PreregisteredMetrics,
    /// By operation, as they come up.
    store: RwLock<HashMap<&'static str, Histogram>>,
    /// Models whose breaker was shown.
    shown: Mutex<BTreeSet<ModelId>>,
    /// Observations of single models.
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

    /// The macros of the metrics crate write to this recorder and to no global one.
    fn here<T>(&self, write: impl FnOnce() -> T) -> T {
        with_local_recorder(&self.recorder, write)
    }
}

/// What is there from the start: counters that have to read 0 before anything happens, and those in frequent use.
struct PreregisteredMetrics {
    process: Collector,
    battles_started: Counter,
    turns_ready: Counter,
    battles_voided: Counter,
    battles_abandoned: Counter,
    /// By outcome, in the order of [`Outcome::ALL`], and by whether the vote is rated.
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
        // What an alert looks at has to be there before its first failure: a series that begins at 1 has no increase.
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

/// Everything as text, in the format that Prometheus reads.
#[must_use]
pub fn render() -> String {
    METRICS.here(|| METRICS.preregistered.process.collect());
    METRICS.recorder.handle().render()
}

/// Sorts observations into their buckets. Without it they would pile up where nobody reads the metrics.
pub fn run_upkeep() {
    METRICS.recorder.handle().run_upkeep();
}

/// A battle began.
pub fn battle_started() {
    METRICS.preregistered.battles_started.increment(1);
}

/// Both replies of a turn are kept, and a vote may be cast.
pub fn turn_ready() {
    METRICS.preregistered.turns_ready.increment(1);
}

/// A battle will take no vote, because a reply broke off.
pub fn battle_voided() {
    METRICS.preregistered.battles_voided.increment(1);
}

/// Battles were marked as left without a vote.
pub fn battles_abandoned(count: u64) {
    METRICS.preregistered.battles_abandoned.increment(count);
}

/// A turn, a vote or the like was refused: what was asked, and whose limit or which rule said no.
pub fn refused(what: &'static str, by: &'static str) {
    METRICS.here(|| counter!("langya_refusals_total", "what" => what, "by" => by).increment(1));
}

/// A use was counted by this instance alone, because neither Redis nor the database could be asked.
pub fn counted_alone() {
    METRICS.here(|| counter!("langya_limits_counted_alone_total").increment(1));
}

/// Battles in memory.
pub fn battles_live(count: usize) {
    METRICS.here(|| gauge!("langya_battles_live").set(float(count)));
}

/// A vote was committed.
pub fn vote_committed(outcome: Outcome, rated: bool) {
    let at = Outcome::ALL.iter().position(|known| *known == outcome).expect("the four outcomes are all there are");
    METRICS.preregistered.votes[at][usize::from(rated)].increment(1);
}

/// The histogram of the time to a model's first text; kept by the caller of the model.
pub fn first_token_histogram(model: &ModelId) -> Histogram {
    METRICS.here(|| histogram!("langya_model_first_token_seconds", "model" => model.to_string()))
}

/// A model's first text came so long after it was asked; shown together with that of other battles.
pub fn first_token(histogram: &Histogram, after: Duration) {
    METRICS.waiting.record(histogram, after.as_secs_f64());
}

/// A model wrote a whole reply at this speed; shown together with those of other battles.
pub fn reply_speed(model: &ModelId, chars_per_second: f64) {
    let histogram = METRICS.here(|| histogram!("langya_model_reply_chars_per_second", "model" => model.to_string()));
    METRICS.waiting.record(&histogram, chars_per_second);
}

/// A request to a model failed, in one of a few fixed ways.
pub fn model_error(model: &ModelId, kind: &'static str) {
    let labels = [("model", model.to_string()), ("kind", kind.to_owned())];
    METRICS.here(|| counter!("langya_model_errors_total", &labels).increment(1));
}

/// The breakers of all models that the arena has now; one that has left is in no state.
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

/// Models that can be drawn for a battle now.
pub fn models_drawable(count: usize) {
    METRICS.here(|| gauge!("langya_models_drawable").set(float(count)));
}

/// The gauge of a queue inside the program; its owner sets it.
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

/// A websocket was refused, because the `arena` or the visitor's `network` has as many as it may.
pub fn socket_refused(by: &'static str) {
    METRICS.here(|| counter!("langya_sockets_refused_total", "by" => by).increment(1));
}

/// A leaderboard was fitted and stored; `lag` is the age of the oldest vote that is new in it.
pub fn refitted(took: Duration, lag: Option<Duration>) {
    METRICS.here(|| {
        histogram!("langya_refit_seconds").record(took);
        if let Some(lag) = lag {
            histogram!("langya_refit_lag_seconds").record(lag);
        }
    });
}

/// A refit failed.
pub fn refit_failed() {
    METRICS.preregistered.refits_failed.increment(1);
}

/// Voters were checked, and those whom the tests flag are excluded.
pub fn voters_checked(at_ms: i64) {
    let at = Duration::from_millis(at_ms.unsigned_abs()).as_secs_f64();
    METRICS.here(|| gauge!("langya_voter_check_timestamp_seconds").set(at));
}

/// A check of voters failed.
pub fn voter_check_failed() {
    METRICS.preregistered.voter_checks_failed.increment(1);
}

/// A webhook message was given up.
pub fn webhook_abandoned() {
    METRICS.preregistered.webhooks_abandoned.increment(1);
}

/// The newest backup that the data folder knows of.
pub fn last_backup(at_ms: i64) {
    let at = Duration::from_millis(at_ms.unsigned_abs()).as_secs_f64();
    METRICS.here(|| gauge!("langya_backup_timestamp_seconds").set(at));
}

/// The moderation service was asked about a text of this part.
pub fn moderated(part: &'static str, result: &'static str) {
    METRICS.here(|| counter!("langya_moderated_total", "part" => part, "result" => result).increment(1));
}

/// A vote was checked for leaks by a language model.
pub fn leak_checked(result: &'static str) {
    METRICS.here(|| counter!("langya_leak_checks_total", "result" => result).increment(1));
}

/// Flagged texts could not be kept for review.
pub fn flags_lost(count: u64) {
    METRICS.here(|| counter!("langya_moderation_flags_lost_total").increment(count));
}

/// The latest leaderboard.
pub fn leaderboard(votes: u64, fitted_at_ms: i64) {
    METRICS.here(|| {
        gauge!("langya_leaderboard_votes").set(float(usize::try_from(votes).unwrap_or(usize::MAX)));
        gauge!("langya_leaderboard_timestamp_seconds")
            .set(Duration::from_millis(fitted_at_ms.unsigned_abs()).as_secs_f64());
    });
}

/// How long the oldest vote waits that is not in the public log, or for how long the log cannot be continued.
pub fn public_log_lag(lag: Duration) {
    METRICS.here(|| gauge!("langya_public_log_lag_seconds").set(lag.as_secs_f64()));
}

/// An operation of the database under way; its time is recorded when this is dropped.
#[derive(Debug)]
#[must_use = "the time is taken when this is dropped"]
pub struct StoreTimer {
    histogram: Histogram,
    started: Instant,
}

/// Takes the time of an operation of the database, from now until the timer is dropped.
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

/// A request was answered; `route` is the pattern, not the address.
pub fn http_answered(route: String, status: u16) {
    let labels = [("route", route), ("status", status.to_string())];
    METRICS.here(|| counter!("langya_http_requests_total", &labels).increment(1));
}

/// A background task is known: its panics read 0 until it has one, so that the first one shows as an increase.
pub fn job_known(task: &'static str) {
    METRICS.here(|| counter!("langya_job_panics_total", "task" => task).increment(0));
}

/// A background task panicked.
pub fn job_panicked(task: &'static str) {
    METRICS.here(|| counter!("langya_job_panics_total", "task" => task).increment(1));
}

/// Whether other instances can be reached through Redis, and whether it takes writes.
pub fn redis(connected: bool, writable: bool) {
    METRICS.here(|| {
        gauge!("langya_redis_connected").set(f64::from(u8::from(connected)));
        gauge!("langya_redis_writable").set(f64::from(u8::from(writable)));
    });
}

/// What `/readyz` says, and whether the process is about to end.
pub fn readiness(ready: bool, draining: bool) {
    METRICS.here(|| {
        gauge!("langya_ready").set(f64::from(u8::from(ready)));
        gauge!("langya_draining").set(f64::from(u8::from(draining)));
    });
}

/// A count as gauges take it.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and no count here comes near 2^53")]
pub fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a sample that begins with `sample`.
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
