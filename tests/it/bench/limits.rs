//! What a run may spend, who may take part, and who runs beside it.

use std::time::Duration;

use serde_json::{Value, json};

use super::mtbench101::{compare, data, dialogues, expected};
use super::{AT_ONCE, Field, reply, score};
use crate::support::postgres::TestDatabase;
use crate::support::program::{Server, UnderWay};
use crate::support::until;
use crate::support::upstream::Script;
use crate::support::visitor::Visitor;

async fn field() -> (Field, usize) {
    let field = Field::new(&["one", "two"]).await;
    let dialogues = dialogues();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    (field, dialogues.iter().map(|dialogue| dialogue.judged().len()).sum())
}

#[actix_web::test]
async fn a_budget_of_requests_is_kept_and_the_rest_is_had_later() {
    let (field, turns) = field().await;
    let run = field.run(&["bench", "answer", "mtbench101", "--models", "one", "--max-calls", "7"]).await;
    assert_eq!((run.code, field.requests("one")), (Some(0), 7), "{}", run.stderr);
    assert!(
        run.stderr.contains(&format!("the limit --max-calls 7 is reached; {} results are left", turns - 7)),
        "{}",
        run.stderr
    );
    field.done(&["bench", "answer", "mtbench101", "--models", "one"]).await;
    assert_eq!((field.requests("one"), field.repeated("one")), (turns, 0));
}

/// 100 tokens at 10 and 10 tokens at 100 for a million make 0.002 a request.
#[actix_web::test]
async fn a_budget_of_money_is_not_passed() {
    let (field, _) = field().await;
    let run = field.run(&["bench", "answer", "mtbench101", "--models", "one", "--budget", "0.06"]).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let asked = field.requests("one");
    assert!((1..=30).contains(&asked), "{asked} requests of 0.002 each");
    assert!(run.stderr.contains(&format!("cost 0.{:04}", asked * 20)), "{}", run.stderr);
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    field.write("langya.toml", settings.replace("input_price", "# input_price"));
    let refused = field.refused(&["bench", "answer", "mtbench101", "--models", "one", "--budget", "1"]).await;
    assert!(refused.contains("\"one\" has no prices") && refused.contains("--max-calls"), "{refused}");
    // A dry run spends nothing: it says that the cost is unknown.
    let dry = ["bench", "answer", "mtbench101", "--models", "one", "--budget", "1", "--dry-run"];
    let planned = field.run(&dry).await;
    assert!(planned.code == Some(0) && planned.stderr.contains("no prices for one"), "{}", planned.stderr);
}

#[actix_web::test]
async fn a_run_whose_judge_never_gives_a_verdict_has_failed() {
    let field = Field::with_judge(&["one"], |_, _| reply("Fine.")).await;
    field.write("mt.jsonl", data(&dialogues()));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let run = field.run(&["bench", "run", "mtbench101", "--models", "one", "--judge", "judge", "--canaries"]).await;
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("no reply of judge contains a verdict"), "{}", run.stderr);
}

#[actix_web::test]
async fn no_model_has_more_requests_under_way_than_its_limit() {
    let (field, turns) = field().await;
    // Every reply takes its time, so that as many are under way as may be.
    let slow = || Script::stream().pause(Duration::from_millis(20)).text("x").event("[DONE]").end();
    field.respond("one", move |_, _| slow());
    field.done(&["bench", "answer", "mtbench101", "--models", "one"]).await;
    assert_eq!((field.requests("one"), field.upstream.most_active()), (turns, AT_ONCE));
}

#[actix_web::test]
async fn what_cannot_be_run_is_refused_in_one_line_with_the_way_out() {
    let (field, _) = field().await;
    for (arguments, said) in [
        (&["bench", "answer", "nosuch"][..], "suite \"nosuch\" is unknown"),
        (
            &["bench", "answer", "mtbench101", "--models", "three"],
            "there is no model \"three\": the settings have one, two",
        ),
        (&["bench", "answer", "mtbench101", "--models", "one,one"], "model one is named twice"),
        (&["bench", "run", "mtbench101", "--judge", "judge", "--models", "one,two,one"], "model one is named twice"),
        (&["bench", "judge", "mtbench101"], "needs a judge: name one or more with --judge"),
        (&["bench", "judge", "mtbench101", "--judge", "judge,judge"], "judge judge is named twice"),
        (&["bench", "judge", "mtbench101", "--judge", "judge"], "has no answers to judge: run `langya bench answer"),
        (
            &["bench", "run", "mtbench101", "--judge", "one,two,judge"],
            "name a model that is neither judge nor baseline",
        ),
        (&["bench", "judge", "mtbench101", "--judge", "judge", "--models", "two"], "model two has no answers to suite"),
        (&["bench", "judge", "mtbench101", "--judge", "judge", "--baseline", "two"], "leave --baseline out"),
        (
            &["bench", "run", "mtbench101", "--judge", "judge", "--ablation", "x"],
            "has no ablation \"x\": it has self_context",
        ),
        (&["bench", "run", "mtbench101", "--judge", "judge", "--compat", "x"], "has no compat switch \"x\""),
        (&["bench", "run", "mtbench101", "--judge", "judge", "--prompt", "none"], "cannot read none"),
        (&["bench", "report", "mtbench101", "--data", "ffff"], "no data whose SHA-256 begins with \"ffff\": it has "),
    ] {
        let refused = field.refused(arguments).await;
        assert!(refused.contains(said), "{arguments:?}: {refused}");
    }
    for budget in ["--budget=nan", "--budget=inf", "--budget=-1", "--budget=much"] {
        for command in [&["bench", "answer", "mtbench101", budget][..], &["judge", "run", "--judge", "judge", budget]] {
            let run = field.run(command).await;
            assert_eq!(run.code, Some(2), "{budget}: {}", run.stderr);
            assert!(run.stderr.contains("give an amount from 0"), "{}", run.stderr);
        }
    }
    field.write("prompt.txt", "Rate this: {history}");
    let refused = field.refused(&["bench", "run", "mtbench101", "--judge", "judge", "--prompt", "prompt.txt"]).await;
    assert!(refused.contains("has no {answer}"), "{refused}");
    assert_eq!(field.upstream.received().len(), 0);
}

/// The lock is the database's there, and the killed process's session takes it along.
#[actix_web::test]
async fn a_run_on_postgresql_has_its_suite_for_itself_until_it_is_killed() {
    let Some(database) = TestDatabase::create().await else { return };
    let gate = crate::support::upstream::Gate::new();
    let closed = gate.clone();
    let field = Field::with_judge(&["one"], move |request, _| {
        super::reply_behind(&closed, &format!("Rating: [[{}]]", score(super::question(request))))
    });
    let field = field.await;
    let (dialogues, url) = (dialogues(), database.url.as_str());
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl", "--database", url]).await;
    let run = ["bench", "run", "mtbench101", "--judge", "judge", "--database", url];
    let under_way = UnderWay::start(field.path(), &run);
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.judged().len()).sum();
    field.upstream.until_received(turns + AT_ONCE).await;
    assert!(field.refused(&run).await.contains("another langya runs suite mtbench101"));
    under_way.kill();
    gate.open();
    // The server notices the lost session a moment later.
    let done = until(async || {
        let run = field.run(&run).await;
        (run.code == Some(0)).then_some(run)
    });
    done.await;
    assert_eq!((field.requests("one"), field.repeated("judge")), (turns, AT_ONCE), "what was under way is asked again");
    let report = field.done(&["bench", "report", "mtbench101", "--format", "json", "--database", url]).await;
    let rows: Value = serde_json::from_str(&report).unwrap();
    let overall = expected(&dialogues, "one", |answer| Some(score(answer)))["overall"].unwrap();
    assert!((rows[0]["score"].as_f64().unwrap() - overall).abs() < 1e-9, "{}", rows[0]);
    database.drop().await;
}

/// The arena answers and takes votes on the same database while a suite runs over it.
#[actix_web::test]
async fn a_suite_runs_beside_an_arena_that_serves_from_the_same_folder() {
    let (field, _) = field().await;
    let server = Server::start(field.path(), &["--config", "langya.toml"]);
    let mut visitor = Visitor::connect(&server.url).await;
    let voting = async {
        for _ in 0..5 {
            visitor.ask("Still here?").await;
            visitor.until_ready().await;
            assert_eq!(visitor.vote("a").await["type"], "revealed");
        }
    };
    let run = ["bench", "run", "mtbench101", "--models", "one", "--judge", "judge"];
    let (done, ()) = futures_util::join!(field.done(&run), voting);
    assert!(done.contains("judge"), "{done}");
    assert!(server.terminate().success());
    let scores = field.scores("mtbench101").await;
    compare(&scores, "one", &expected(&dialogues(), "one", |answer| Some(score(answer))));
    let fitted: Value =
        serde_json::from_str(&field.done(&["fit", "--data-dir", "data", "--format", "json"]).await).unwrap();
    assert_eq!(fitted["votes"]["read"], json!(5));
}
