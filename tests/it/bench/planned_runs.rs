//! `langya bench run all` and plans: several suites as one run.

use serde_json::{Value, json};

use super::mtbench101::{data, dialogues};
use super::{Field, answer, question, reply};

const QUESTIONS: usize = 6;
const ALL: [&str; 7] = ["bench", "run", "all", "--models", "one", "--judge", "judge"];

/// Two suites with data, and a judge who can be read in both.
async fn two_suites() -> Field {
    let judged = "Rating: [[5]] {'事实正确性': 7, '综合得分': 5}";
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, move |request, _| reply(&answer(model, question(request))));
    }
    field.respond("judge", move |_, _| reply(judged));
    let line = |id: usize| json!({"question_id": id, "category": "专业能力", "subcategory": "物理", "question": format!("第{id}题：几？"), "reference": "三"});
    field.write("a.jsonl", (1..=QUESTIONS).map(|id| format!("{}\n", line(id))).collect::<String>());
    field.write("mt.jsonl", data(&dialogues()));
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field
}

fn turns() -> usize {
    dialogues().iter().map(|dialogue| dialogue.judged().len()).sum()
}

async fn rows(field: &Field, arguments: &[&str]) -> Vec<Value> {
    serde_json::from_str(&field.done(&[arguments, &["--format", "json"]].concat()).await).unwrap()
}

#[actix_web::test]
async fn all_suites_are_one_run_which_the_next_one_goes_on_with() {
    let field = two_suites().await;
    let plan = rows(&field, &[&ALL[..], &["--dry-run"]].concat()).await;
    let calls = |row: &Value| (row["suite"].as_str().unwrap().to_owned(), row["calls"].as_u64().unwrap());
    let [align, mt] = [2 * QUESTIONS, 2 * turns()].map(|calls| u64::try_from(calls).unwrap());
    let expected = [("alignbench", align), ("mtbench101", mt), ("all", align + mt)];
    assert_eq!(plan.iter().map(calls).collect::<Vec<_>>(), expected.map(|(suite, calls)| (suite.to_owned(), calls)));
    assert_eq!(field.upstream.received().len(), 0, "a dry run asks nobody");

    // The limit is that of the whole: it is reached within the second suite.
    let limit = (2 * QUESTIONS + 3).to_string();
    let ended = field.run(&[&ALL[..], &["--max-calls", &limit]].concat()).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!((field.requests("one") + field.requests("judge")).to_string(), limit);
    assert!(ended.stderr.contains(&format!("{} results are left", 2 * turns() - 3)), "{}", ended.stderr);
    let first = ended.stderr.lines().find(|line| line.starts_with("1/2 alignbench, round 1: ")).expect("it is said");
    assert!(first.contains(&format!("{align} of {} requests, cost 0.02", align + mt)), "{first}");
    assert!(first.contains(" expected, about "), "{first}");

    let outcome = rows(&field, &ALL).await;
    assert!(outcome.iter().all(|row| row["left"] == 0), "{outcome:?}");
    let suites: Vec<&Value> = outcome.iter().map(|row| &row["suite"]).collect();
    assert_eq!(suites, ["alignbench", "alignbench", "mtbench101", "mtbench101"]);
    assert_eq!((field.repeated("one"), field.requests("judge")), (0, QUESTIONS + turns()), "nothing is paid twice");
    let runs = rows(&field, &["bench", "runs"]).await;
    let calls: u64 = runs.iter().map(|run| run["calls"].as_u64().unwrap()).sum();
    assert_eq!(calls, align + mt, "each run has what it cost itself");
    assert_eq!(rows(&field, &[&ALL[..], &["--dry-run"]].concat()).await[2]["calls"], 0);
}

#[actix_web::test]
async fn a_limit_within_the_first_suite_leaves_the_others_to_the_next_run() {
    let field = two_suites().await;
    let ended = field.run(&[&ALL[..], &["--max-calls", "2"]].concat()).await;
    let left = 2 * QUESTIONS + 2 * turns() - 2;
    assert!(ended.stderr.contains(&format!("{left} results are left")), "{}", ended.stderr);
    assert_eq!(rows(&field, &["bench", "runs"]).await.len(), 1, "the second suite did not begin");
}

#[actix_web::test]
async fn a_plan_says_suites_rounds_models_judges_and_limits() {
    let field = two_suites().await;
    field.write(
        "plan.toml",
        "models = [\"one\", \"two\"]\njudges = [\"judge\"]\n[[suites]]\nsuite = \"alignbench\"\nsamples = [1, 2]\n\
         [[suites]]\nsuite = \"mtbench101\"\nmodels = [\"two\"]\n",
    );
    let outcome = rows(&field, &["bench", "run", "plan.toml"]).await;
    let runs: Vec<(String, u64)> = outcome
        .iter()
        .filter(|row| row["step"] == "judge")
        .map(|row| (row["suite"].as_str().unwrap().to_owned(), row["total"].as_u64().unwrap()))
        .collect();
    let [align, mt] = [2 * QUESTIONS, turns()].map(|total| u64::try_from(total).unwrap());
    let expected = [("alignbench", align), ("alignbench", align), ("mtbench101", mt)];
    assert_eq!(runs, expected.map(|(suite, total)| (suite.to_owned(), total)));
    field.write(
        "limited.toml",
        "max_calls = 0\njudges = [\"judge\"]\n[[suites]]\nsuite = \"alignbench\"\nsamples = [3]\n",
    );
    let ended = field.run(&["bench", "run", "limited.toml"]).await;
    assert!(ended.stderr.contains("the limit --max-calls 0 is reached"), "{}", ended.stderr);
}

#[actix_web::test]
async fn what_a_plan_cannot_do_is_refused_before_anything_is_asked() {
    let field = two_suites().await;
    field.write("typo.toml", "judge = [\"judge\"]\n[[suites]]\nsuite = \"alignbench\"\n");
    field.write("none.toml", "judges = [\"judge\"]\n[[suites]]\nsuite = \"alignbench\"\n[[suites]]\nsuite = \"urs\"\n");
    for (arguments, said) in [
        (
            &["bench", "run", "all", "--judge", "judge", "--compat", "urs.chinese_prompt"][..],
            "--compat is about one suite",
        ),
        (&["bench", "run", "all", "--judge", "judge", "--round", "2"], "--round is about one suite"),
        (&["bench", "run", "all"], "needs a judge"),
        (&["bench", "run", "none.toml"], "suite urs has no data here"),
        (&["bench", "run", "missing.toml"], "cannot read missing.toml"),
    ] {
        let refused = field.refused(arguments).await;
        assert!(refused.contains(said), "{arguments:?}: {refused}");
    }
    let typo = field.run(&["bench", "run", "typo.toml"]).await;
    assert!(typo.code == Some(2) && typo.stderr.contains("unknown field `judge`"), "{}", typo.stderr);
    assert_eq!(field.upstream.received().len(), 0);
}
