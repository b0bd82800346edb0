//! The background jobs of an arena.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::bench_plans::run_plans;
use super::breakers::store_breakers;
use super::correlations::compute_correlations;
use super::heartbeat::send_heartbeats;
use super::judging_rounds::run_judging_rounds;
use super::model_probes::probe_models;
use super::model_register::record_model_changes;
use super::prompt_digests::digest_questions;
use super::public_log::append_public_log;
use super::retention::delete_expired_texts;
use super::robustness::{Reports, compute_robustness};
use super::voter_check::check_voters;
use super::webhooks::send_webhooks;
use super::witnesses::ask_witnesses;
use crate::infra::job_report::JobReport;
use crate::infra::redis::SharedBreakers;
use crate::infra::tasks::JobNeed;
use crate::services::webhooks::Webhooks;
use crate::state::AppState;

/// Background job of every arena.
pub(crate) struct Job {
    /// Name in logs, metrics and `/readyz`.
    pub(crate) name: &'static str,
    /// Whether battles can continue without the job.
    pub(crate) need: JobNeed,
    /// Starts the job, at first and after a panic. The watch channel says whether this instance is the leader; the report records its runs.
    pub(crate) run: fn(&AppState, &watch::Sender<bool>, JobReport) -> BoxFuture<'static, ()>,
}

/// All background jobs.
pub(crate) const JOBS: [Job; 22] = [
    Job {
        name: "elect_leader",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            super::leader_election::elect_leader(
                app.store.clone(),
                leader_election.clone(),
                report,
                app.tasks.shutdown(),
            )
            .boxed()
        },
    },
    Job {
        name: "fit_leaderboard",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            super::leaderboard::fit_leaderboard(
                app.refitter(),
                leader_election.subscribe(),
                report,
                app.tasks.shutdown(),
            )
            .boxed()
        },
    },
    Job {
        name: "compute_correlations",
        need: JobNeed::Nothing,
        run: |app, _, report| {
            let (correlation, leaderboard) = (Arc::clone(&app.correlation), Arc::clone(&app.leaderboard));
            compute_correlations(correlation, leaderboard, app.settings.clone(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "compute_robustness",
        need: JobNeed::Nothing,
        run: |app, _, report| {
            let reports = Reports {
                robustness: Arc::clone(&app.robustness),
                exclusions: Arc::clone(&app.exclusion_reports),
                clock: app.clock.clone(),
            };
            let (leaderboard, settings) = (Arc::clone(&app.leaderboard), app.settings.clone());
            compute_robustness(reports, leaderboard, settings, report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "check_voters",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (check, leaderboard) = (Arc::clone(&app.voter_check), Arc::clone(&app.leaderboard));
            let (settings, shutdown) = (app.settings.clone(), app.tasks.shutdown());
            check_voters(check, leaderboard, settings, leader_election.subscribe(), report, shutdown).boxed()
        },
    },
    Job {
        // Without it, other instances consider this one dead and take over its battles.
        name: "send_heartbeats",
        need: JobNeed::Battles,
        run: |app, _, report| {
            let (instances, store, clock) = (Arc::clone(&app.instances), app.store.clone(), app.clock.clone());
            let (settings, shutdown) = (app.settings.clone(), app.tasks.shutdown());
            let log = app.public_log.clone();
            send_heartbeats(instances, store, log, settings, clock, report, shutdown).boxed()
        },
    },
    Job {
        name: "follow_sign_outs",
        need: JobNeed::Nothing,
        run: |app, _, report| {
            let (access, instances) = (Arc::clone(&app.access), Arc::clone(&app.instances));
            super::sign_outs::follow_sign_outs(access, instances, report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "handle_messages",
        need: JobNeed::Nothing,
        run: |app, _, _| Arc::clone(&app.battles).handle_messages().boxed(),
    },
    Job {
        name: "run_metrics_upkeep",
        need: JobNeed::Nothing,
        run: |app, _, report| super::metrics_upkeep::run_metrics_upkeep(report, app.tasks.shutdown()).boxed(),
    },
    Job {
        name: "store_breakers",
        need: JobNeed::Nothing,
        run: |app, _, report| {
            let (models, clock) = (Arc::clone(&app.models), app.clock.clone());
            let shared = app.link.clone().map(SharedBreakers::new);
            store_breakers(models, app.store.clone(), shared, clock, report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "probe_models",
        need: JobNeed::Nothing,
        run: |app, _, report| probe_models(Arc::clone(&app.models), report, app.tasks.shutdown()).boxed(),
    },
    Job {
        name: "abandon_battles",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (battles, clock) = (Arc::clone(&app.battles), Arc::clone(&app.clock));
            let (store, settings) = (app.store.clone(), app.settings.clone());
            super::abandoned_battles::abandon_battles(
                battles,
                store,
                clock,
                settings,
                leader_election.subscribe(),
                report,
                app.tasks.shutdown(),
            )
            .boxed()
        },
    },
    Job {
        name: "delete_expired_texts",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (store, settings) = (app.store.clone(), app.settings.clone());
            let (rng, clock) = (Arc::clone(&app.rng), Arc::clone(&app.clock));
            let (lead, shutdown) = (leader_election.subscribe(), app.tasks.shutdown());
            delete_expired_texts(store, rng, clock, settings, lead, report, shutdown).boxed()
        },
    },
    Job {
        name: "create_partitions",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            super::partitions::create_partitions(
                app.store.clone(),
                leader_election.subscribe(),
                report,
                app.tasks.shutdown(),
            )
            .boxed()
        },
    },
    Job {
        name: "record_model_changes",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            record_model_changes(app.recorder(), leader_election.subscribe(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "append_public_log",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            append_public_log(app.sequencer(), leader_election.subscribe(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "ask_witnesses",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (log, settings) = (app.public_log.clone(), app.settings.clone());
            ask_witnesses(log, settings, leader_election.subscribe(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "send_webhooks",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (sender, rng) = (Arc::clone(&app.webhooks), Arc::clone(&app.rng));
            let webhooks = Webhooks::new(app.store.clone(), sender, rng, app.clock.clone());
            let leaderboard = Arc::clone(&app.leaderboard);
            send_webhooks(webhooks, leaderboard, leader_election.subscribe(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "judge_battles",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (settings, events) = (app.settings.clone(), Arc::clone(&app.events));
            let (lead, shutdown) = (leader_election.subscribe(), app.tasks.shutdown());
            run_judging_rounds(app.auto_judge(), settings, events, lead, report, shutdown).boxed()
        },
    },
    Job {
        name: "check_leaks",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let (settings, events) = (app.settings.clone(), Arc::clone(&app.events));
            let (lead, shutdown) = (leader_election.subscribe(), app.tasks.shutdown());
            run_judging_rounds(app.leak_check(), settings, events, lead, report, shutdown).boxed()
        },
    },
    Job {
        name: "digest_questions",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            digest_questions(app.store.clone(), leader_election.subscribe(), report, app.tasks.shutdown()).boxed()
        },
    },
    Job {
        name: "run_plans",
        need: JobNeed::Nothing,
        run: |app, leader_election, report| {
            let plans = Arc::clone(&app.bench_plans);
            run_plans(plans, leader_election.subscribe(), report, app.tasks.clone()).boxed()
        },
    },
];
