//! What every database promises of plans of benchmarks.

use langya::domain::admin::action::AdminAction;
use langya::domain::benchmark::runs::run_plan::{PlannedSuite, RunPlan};
use langya::domain::benchmark::runs::run_report::{PlannedStep, RequestTotal};
use langya::domain::benchmark::runs::run_state::RunState;
use langya::domain::time::Timestamp;
use langya::infra::storage::{AuditFilter, NewBenchPlan, PlanHeartbeat, PlanStep, Store};

use super::admin::entry;
use super::bench::run_of_plan;

fn plan() -> RunPlan {
    let suite = PlannedSuite::named("urs");
    RunPlan { models: vec!["琅".to_owned()], budget: Some(0.1), suites: vec![suite], ..RunPlan::default() }
}

fn steps() -> Vec<PlannedStep> {
    let total = RequestTotal { calls: 7, cost: Some(0.1), ..RequestTotal::default() };
    vec![PlannedStep { suite: "urs".to_owned(), sample: 1, total }]
}

async fn start(store: &Store, id: &str) -> bool {
    let (plan, steps) = (plan(), steps());
    let new = NewBenchPlan { id, plan: &plan, steps: &steps, started_by: "ada", started_at: Timestamp(10) };
    store.insert_bench_plan(new, &entry(&format!("a-{id}"), AdminAction::StartBenchmarks)).await.unwrap()
}

pub(super) async fn one_plan_runs_at_a_time_and_is_stopped_and_ended_once(store: &Store) {
    assert_eq!(store.running_bench_plan().await.unwrap(), None);
    let (one, two) = futures_util::join!(start(store, "p1"), start(store, "p2"));
    assert!(one != two, "one of two");
    let running = store.running_bench_plan().await.unwrap().unwrap();
    let id = running.id.as_str();
    assert_eq!((running.plan, running.steps), (plan(), steps()), "to the last bit");
    let beat = async |now| store.heartbeat_bench_plan(id, "waits", Timestamp(now)).await.unwrap();
    assert_eq!(beat(20).await, PlanHeartbeat::GoesOn);
    let stop =
        async |audit: &str| store.ask_bench_plan_to_stop(id, &entry(audit, AdminAction::StopBenchmarks)).await.unwrap();
    assert!(stop("5-1").await && !stop("5-2").await, "it was asked already");
    assert_eq!(beat(21).await, PlanHeartbeat::StopAsked);
    store.end_bench_plan(id, RunState::Stopped, "left", Timestamp(30)).await.unwrap();
    store.end_bench_plan(id, RunState::Done, "", Timestamp(40)).await.unwrap();
    assert_eq!(beat(50).await, PlanHeartbeat::Ended);
    assert!(!stop("5-3").await, "it has ended");
    let [ended] = &store.bench_plans(9).await.unwrap()[..] else { panic!("one") };
    assert_eq!((ended.state, ended.note.as_str(), ended.changed_at), (RunState::Stopped, "left", Timestamp(30)));
    assert_eq!(store.bench_plan(id).await.unwrap().as_ref(), Some(ended));
    assert_eq!(store.bench_plan("nobody").await.unwrap(), None);
    assert!(start(store, "p3").await, "the next may run");
    let audit = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let ids: Vec<&str> = audit.iter().map(|row| row.id.as_str()).filter(|kept| kept.starts_with('5')).collect();
    assert_eq!(ids, ["5-1"], "what changed nothing has no entry");
    assert_eq!(audit.iter().filter(|row| row.action == AdminAction::StartBenchmarks.as_str()).count(), 2);
}

pub(super) async fn runs_are_found_by_their_plan(store: &Store) {
    for (id, plan) in [("r3", Some(("p1", 0))), ("r1", Some(("p1", 1))), ("r2", Some(("p2", 0))), ("r4", None)] {
        let plan = plan.map(|(plan, step)| PlanStep { plan: plan.to_owned(), step });
        store.insert_bench_run(&run_of_plan(id, plan)).await.unwrap();
    }
    let found = store.bench_runs_of_plan("p1").await.unwrap();
    let found: Vec<(&str, u32)> =
        found.iter().map(|row| (row.run.id.as_str(), row.run.plan.as_ref().unwrap().step)).collect();
    assert_eq!(found, [("r1", 1), ("r3", 0)]);
}
