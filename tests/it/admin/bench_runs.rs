//! The page of benchmark runs: what each costs, and how far it is.

use langya::domain::admin::role::Role;
use langya::domain::benchmark::runs::run_manifest::RunManifest;
use langya::domain::benchmark::runs::run_state::{DueCount, RunSnapshot, RunState};
use langya::domain::judging::budget::{Spent, Tokens};
use langya::domain::time::Timestamp;
use langya::infra::storage::NewBenchRun;
use langya::infra::time::clock::Clock as _;
use reqwest::StatusCode;

use super::browser::{arena, signed_in};

fn run(id: &str, started_at: Timestamp) -> NewBenchRun {
    NewBenchRun {
        id: id.to_owned(),
        suite: "mtbench101".to_owned(),
        version: "v".to_owned(),
        sample: 1,
        models: vec!["one".to_owned(), "two".to_owned()],
        judges: vec!["judge".to_owned()],
        baseline: String::new(),
        answers: DueCount { done: 0, due: 40 },
        judgements: DueCount { done: 0, due: 40 },
        expected_cost: Some(1.25),
        manifest: RunManifest::default(),
        plan: None,
        started_at,
    }
}

#[actix_web::test]
async fn a_viewer_sees_what_runs_cost_and_which_was_interrupted() {
    let arena = arena(|_| {}).await;
    let (store, now) = (&arena.app.store, arena.app.clock.now());
    store.insert_bench_run(&run("1", Timestamp(now.0 - 3_600_000))).await.unwrap();
    store.insert_bench_run(&run("2", now)).await.unwrap();
    let snapshot = RunSnapshot {
        state: RunState::Running,
        answers: DueCount { done: 40, due: 40 },
        judgements: DueCount { done: 3, due: 40 },
        spent: Spent { calls: 43, tokens: Tokens { input: 1, output: 2 }, cost: 0.5 },
        error: "two: <timed out>".to_owned(),
    };
    store.update_bench_run("2", &snapshot, now).await.unwrap();
    let mut viewer = signed_in(&arena, Role::Viewer).await;
    let page = viewer.get("/admin/benchmarks").await.text().await.unwrap();
    let rows: Vec<&str> = page.split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), 2, "{page}");
    for said in [">running<", "40 / 40", "3 / 40", "0.5000", "1.2500", "two: &#60;timed out&#62;", "one, two"] {
        assert!(rows[0].contains(said), "{said}: {}", rows[0]);
    }
    assert!(rows[1].contains(">interrupted<"), "{}", rows[1]);
    let chinese = viewer.get("/admin/benchmarks?lang=zh").await.text().await.unwrap();
    assert!(chinese.contains("已花费") && chinese.contains("已中断"), "{chinese}");
    assert!(chinese.contains("英文原文如下： <span lang=\"en\">two: &#60;timed out&#62;</span>"), "{chinese}");
}

#[actix_web::test]
async fn a_plan_that_cannot_be_run_is_refused_with_the_reason_and_starts_nothing() {
    let arena = arena(|_| {}).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let plan = [("suite", "urs"), ("model", "one"), ("judge", "two"), ("rounds", "1")];
    let but = |name: &'static str, value: &'static str| {
        plan.iter().copied().filter(|(field, _)| *field != name).chain([(name, value)]).collect::<Vec<_>>()
    };
    for (fields, status, said) in [
        (but("rounds", "0"), StatusCode::BAD_REQUEST, "Rounds must be a number from 1 to 20"),
        (but("rounds", "21"), StatusCode::BAD_REQUEST, "Rounds must be a number from 1 to 20"),
        (but("budget", "-1"), StatusCode::BAD_REQUEST, "the budget an amount such as 2.5"),
        (but("budget", "nan"), StatusCode::BAD_REQUEST, "the budget an amount such as 2.5"),
        (but("max_calls", "many"), StatusCode::BAD_REQUEST, "seed and maximum requests whole numbers"),
        (but("seed", "-1"), StatusCode::BAD_REQUEST, "seed and maximum requests whole numbers"),
        (but("seed", "9223372036854775808"), StatusCode::BAD_REQUEST, "seed and maximum requests whole numbers"),
        (but("model", "a%00"), StatusCode::BAD_REQUEST, "models: &#34;a\\0&#34; has a control character"),
        (but("baseline", "%07"), StatusCode::BAD_REQUEST, "baseline: &#34;\\u{7}&#34; has a control character"),
        (plan[..1].to_vec(), StatusCode::BAD_REQUEST, "Choose at least one suite and one model"),
        (plan[1..].to_vec(), StatusCode::BAD_REQUEST, "Choose at least one suite and one model"),
        (plan.to_vec(), StatusCode::CONFLICT, "suite urs has no data here"),
        (but("suite", "<b>"), StatusCode::CONFLICT, "suite &#34;&#60;b&#62;&#34; is unknown"),
    ] {
        let typed: Vec<(&str, String)> =
            fields.iter().map(|(name, value)| (*name, value.replace("%00", "\0").replace("%07", "\u{7}"))).collect();
        let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let started = operator.post_form("/admin/benchmarks/start", &typed).await;
        assert_eq!(started.status(), status, "{fields:?}");
        let query: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let planned = operator.get(&format!("/admin/benchmarks/plan?{}", query.join("&"))).await;
        for answer in [started, planned] {
            let page = answer.text().await.unwrap();
            assert!(page.contains(said), "{fields:?}: {page}");
        }
    }
    assert_eq!(arena.app.store.bench_plans(1).await.unwrap(), []);
    for text in texts() {
        let (text, status, said) = text;
        for path in ["/admin/benchmarks/plan", "/admin/benchmarks/start"] {
            let answer = operator.post_form(path, &[("plan", text.as_str())]).await;
            assert_eq!(answer.status(), status, "{path}: {text}");
            let page = answer.text().await.unwrap();
            let refusal = page.split("<span class=\"refusal").nth(1).expect("it is said").split("</span>").next();
            assert!(refusal.unwrap().contains(said), "{text}: {page}");
            let kept = page.split("</textarea>").next().unwrap();
            let first = text.split(['\n', '"']).next().unwrap();
            assert!(kept.contains(&format!("aria-describedby=\"text-hint\">{first}")), "what was typed stays: {page}");
        }
    }
    assert_eq!(arena.app.store.bench_plans(1).await.unwrap(), []);
    let stopped = operator.post_form("/admin/benchmarks/stop", &[]).await;
    assert_eq!(stopped.status(), StatusCode::CONFLICT);
    assert!(stopped.text().await.unwrap().contains("No plan is running any more"));
    for (query, said) in [
        ("suite=urs&model=one&judge=two&rounds=1", "此处没有评测集 urs 的数据"),
        ("suite=urs&model=one&rounds=1&baseline=%07", "baseline："),
    ] {
        let chinese = operator.get(&format!("/admin/benchmarks/plan?{query}&lang=zh")).await.text().await.unwrap();
        assert!(chinese.contains(&format!("<span class=\"refusal\">{said}")), "{query}: {chinese}");
    }
}

/// Texts that are no plan, or one that cannot be run here.
fn texts() -> Vec<(String, StatusCode, &'static str)> {
    let bad = StatusCode::BAD_REQUEST;
    let suite = "[[suites]]\nsuite = \"urs\"\n";
    let rounds: Vec<u32> = (1..=1_001).collect();
    vec![
        ("models = [".to_owned(), bad, "TOML parse error at line 1"),
        ("x".to_owned(), bad, "TOML parse error at line 1"),
        (format!("modles = []\n{suite}"), bad, "unknown field `modles`"),
        ("models = []\n".to_owned(), bad, "the plan has no suite"),
        (format!("samples = [0]\n{suite}"), bad, "samples: write rounds from 1"),
        (format!("samples = {rounds:?}\n{suite}"), bad, "the plan has 1001 runs, more than the 1000 allowed"),
        (format!("{suite}data = \"\\u0000\"\n"), bad, "data: &#34;\\0&#34; has a control character"),
        (format!("seed = -1\n{suite}"), bad, "seed"),
        (suite.to_owned(), StatusCode::CONFLICT, "suite urs has no data here"),
        (suite.replace("urs", "<b>"), StatusCode::CONFLICT, "suite &#34;&#60;b&#62;&#34; is unknown"),
    ]
}
