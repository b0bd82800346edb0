//! Table of all metrics: name, kind, unit and meaning.

use ::metrics::Unit;

/// Kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricKind {
    /// Monotonic counter.
    Counter,
    /// Value that goes up and down.
    Gauge,
    /// Histogram with these buckets.
    Histogram(&'static [f64]),
}

/// Entry of the table.
#[derive(Debug, Clone, Copy)]
pub struct MetricName {
    /// Name at `/metrics`.
    pub name: &'static str,
    /// Kind of the metric.
    pub kind: MetricKind,
    /// Unit of its values.
    pub unit: Unit,
    /// Description for operators.
    pub help: &'static str,
}

const FAST_BUCKETS: &[f64] =
    &[0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
const SLOW_BUCKETS: &[f64] = &[0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0];
const REFIT_BUCKETS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
const SPEED_BUCKETS: &[f64] = &[5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1_280.0, 2_560.0, 5_120.0];

/// All metrics. The meaning of `process_…` is defined by the exporter (`metrics-process`).
pub const ALL: [MetricName; 37] = [
    gauge("langya_build_info", Unit::Count, "Always 1; the label is the version of the program"),
    counter("langya_battles_started_total", "Battles begun"),
    counter("langya_turns_ready_total", "Turns whose two replies were kept, so that a vote could be cast"),
    counter("langya_battles_voided_total", "Battles that take no vote because a reply broke off"),
    counter("langya_battles_abandoned_total", "Battles marked as left without a vote"),
    gauge("langya_battles_live", Unit::Count, "Battles in memory"),
    counter("langya_votes_total", "Votes committed, by outcome and by whether they are rated"),
    histogram(
        "langya_model_first_token_seconds",
        Unit::Seconds,
        SLOW_BUCKETS,
        "From the request to the first text of a reply",
    ),
    histogram(
        "langya_model_reply_chars_per_second",
        Unit::Count,
        SPEED_BUCKETS,
        "Speed of whole replies after their first text",
    ),
    counter("langya_model_errors_total", "Requests to a model that failed, also those that were tried again"),
    gauge("langya_model_breaker_state", Unit::Count, "1 for the state in which a model's circuit breaker is, else 0"),
    gauge("langya_models_drawable", Unit::Count, "Models that can be drawn for a battle now"),
    gauge("langya_queue_depth", Unit::Count, "Entries that wait in a queue inside the program"),
    gauge("langya_sockets_open", Unit::Count, "Open websockets"),
    counter(
        "langya_sockets_refused_total",
        "Websockets refused, by whether the arena or the visitor's network had too many",
    ),
    counter(
        "langya_refusals_total",
        "Turns and votes refused, by what was asked and by whose limit or which rule refused it",
    ),
    counter(
        "langya_limits_counted_alone_total",
        "Turns and votes that this instance counted by itself because neither Redis nor PostgreSQL could be asked",
    ),
    histogram(
        "langya_refit_seconds",
        Unit::Seconds,
        REFIT_BUCKETS,
        "Reading new votes, fitting and storing a leaderboard",
    ),
    histogram(
        "langya_refit_lag_seconds",
        Unit::Seconds,
        REFIT_BUCKETS,
        "From the oldest vote that no leaderboard held to the one that holds it",
    ),
    counter("langya_refits_failed_total", "Refits that failed; the former leaderboard stays"),
    counter(
        "langya_voter_checks_failed_total",
        "Checks of voters that failed where flagged voters are to be excluded; none is excluded meanwhile",
    ),
    gauge(
        "langya_voter_check_timestamp_seconds",
        Unit::Seconds,
        "When this instance last checked the voters, since 1970; missing where flagged voters are only listed",
    ),
    counter(
        "langya_leak_checks_total",
        "Votes whose battles a language model was asked to read for leaks, by result; failed: it did not answer, and the vote stays rated",
    ),
    counter(
        "langya_moderated_total",
        "Texts that the moderation service was asked about, by which text and by result; failed: it did not answer",
    ),
    counter("langya_moderation_flags_lost_total", "Flagged texts that could not be stored for review"),
    gauge("langya_leaderboard_votes", Unit::Count, "Rated votes in the latest leaderboard"),
    gauge("langya_leaderboard_timestamp_seconds", Unit::Seconds, "When the latest leaderboard was fitted, since 1970"),
    gauge(
        "langya_public_log_lag_seconds",
        Unit::Seconds,
        "Age of the oldest vote that was cast here and is not in the public log, or for how long appending has failed; 0 where all are in it; the time since the last look where that is over a minute",
    ),
    histogram(
        "langya_store_seconds",
        Unit::Seconds,
        FAST_BUCKETS,
        "Operations of the database, from the call to the answer",
    ),
    counter("langya_http_requests_total", "Answers by route and status"),
    gauge(
        "langya_redis_connected",
        Unit::Count,
        "1 while other instances can be reached through Redis, else 0; missing without Redis",
    ),
    gauge(
        "langya_redis_writable",
        Unit::Count,
        "1 while Redis takes writes, else 0 and limits are counted in PostgreSQL; missing without Redis",
    ),
    counter(
        "langya_webhooks_abandoned_total",
        "Webhook messages given up after their last try; `langya webhooks retry` sends them again",
    ),
    gauge(
        "langya_backup_timestamp_seconds",
        Unit::Seconds,
        "When `langya backup` last copied the database, since 1970; missing where the data folder knows of no backup",
    ),
    counter("langya_job_panics_total", "Panics of background tasks, by task; a job starts again after one"),
    gauge("langya_ready", Unit::Count, "1 while /readyz says ready, else 0"),
    gauge("langya_draining", Unit::Count, "1 while the process is about to end, else 0"),
];

const fn counter(name: &'static str, help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Counter, unit: Unit::Count, help }
}

const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Gauge, unit, help }
}

const fn histogram(name: &'static str, unit: Unit, buckets: &'static [f64], help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Histogram(buckets), unit, help }
}
