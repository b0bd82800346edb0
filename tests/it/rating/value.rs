//! Value for money: ratings joined with prices, tokens and times, from files, from the database and on the arena's page.

use std::path::{Path, PathBuf};

use langya::domain::rating::value::prices::{PriceDate, PriceSource};
use langya::infra::config::{ModelSettings, ProviderKind, Settings};
use serde_json::Value;

use crate::support::arena::TestArena;
use crate::support::program::langya;
use crate::support::scripted::Scripted;
use crate::support::visitor::get;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// What `langya` prints as JSON in a folder.
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let run = langya(folder, arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Both are the same, numbers up to rounding.
#[track_caller]
fn assert_near(name: &str, found: &Value, expected: &Value) {
    match (found.as_f64(), expected.as_f64()) {
        (Some(x), Some(y)) => assert!((x - y).abs() < 1e-6 * y.abs().max(1.0), "{name}: {x} instead of {y}"),
        _ => assert_eq!(found, expected, "{name}"),
    }
}

#[test]
fn a_report_agrees_with_an_independent_program() {
    let folder = tempfile::tempdir().unwrap();
    let (votes, prices) = (data("value_votes.csv"), data("value_prices.csv"));
    let files = ["--votes", votes.to_str().unwrap(), "--prices", prices.to_str().unwrap()];
    let report = &json(folder.path(), &[&["fit", "--format", "json"], &files[..]].concat())["value"];
    let expected: Value = serde_json::from_slice(&std::fs::read(data("value_expected.json")).unwrap()).unwrap();
    assert_near("prompt tokens", &report["prompt_tokens"], &expected["prompt_tokens"]);
    let models = report["models"].as_array().unwrap();
    assert_eq!(models.len(), expected["models"].as_object().unwrap().len());
    for model in models {
        let name = model["model"].as_str().unwrap();
        for (key, value) in expected["models"][name].as_object().unwrap() {
            let (found, name) = (&model[key], format!("{key} of {name}"));
            match value.as_object() {
                Some(parts) => parts.iter().for_each(|(part, value)| assert_near(&name, &found[part], value)),
                None => assert_near(&name, found, value),
            }
        }
    }
    assert_eq!((&report["finding"]["kind"], &report["finding"]["best"]), (&"cheaper_model".into(), &expected["best"]));
    let sentence = report["sentence"].as_str().unwrap();
    let said = "model A and model B cannot be told apart by these votes; model B costs 96 % less. \
                model A is rated 20 points higher, and the votes allow for any difference from −30 to 70 points";
    assert!(sentence.starts_with(said), "{sentence}");

    let table = langya(folder.path(), [&["fit"], &files[..]].concat());
    assert!(table.stdout.contains(sentence) && table.stdout.contains("model G (provisional)"), "{}", table.stdout);
}

#[test]
fn imported_votes_keep_their_tokens_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let (votes, prices) = (data("value_votes.csv"), data("value_prices.csv"));
    let (votes, prices) = (votes.to_str().unwrap(), prices.to_str().unwrap());
    let imported = langya(folder.path(), ["import", "votes", votes, "--data-dir", "data"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let of_file = &json(folder.path(), &["fit", "--format", "json", "--votes", votes, "--prices", prices])["value"];
    let stored = &json(folder.path(), &["fit", "--format", "json", "--data-dir", "data", "--prices", prices])["value"];
    assert_eq!((&stored["cost_basis"], &stored["prompt_tokens"]), (&"replies".into(), &Value::Null), "without prompts");
    assert_eq!(stored["answers"], of_file["answers"]);
    let models = |report: &Value| report["models"].as_array().unwrap().clone();
    for (stored, of_file) in models(stored).iter().zip(models(of_file)) {
        for key in ["model", "rating", "lower", "reply_tokens", "first_token_seconds", "tokens_per_second"] {
            assert_near(key, &stored[key], &of_file[key]);
        }
    }
}

/// Prices of the models `one` and `two`; only that of `one` says where it is from.
fn set_prices(settings: &mut Settings) {
    let priced = |id: &str, output: f64| ModelSettings {
        input_price: Some(0.0),
        output_price: Some(output),
        ..ModelSettings::minimal(id, ProviderKind::Builtin)
    };
    let date: PriceDate = "2026-11-21".parse().unwrap();
    let source: PriceSource = "<b>price list</b>".parse().unwrap();
    let one = ModelSettings { price_date: Some(date), price_source: Some(source), ..priced("one", 10.0) };
    settings.models = vec![one, priced("two", 1.0)];
    settings.prices.currency = "CNY".parse().unwrap();
    settings.rating.min_votes = 1;
}

/// An arena with 12 votes, 7 of them for `one`, which answers twice as long.
async fn arena(change: impl FnOnce(&mut Settings)) -> TestArena {
    let (one, two) = (Scripted::saying("One says more than two."), Scripted::saying("Two says."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], change).await;
    let mut visitor = arena.visitor().await;
    for number in 0..12 {
        visitor.ask("Which river is the longest on earth, and how do we measure it?").await;
        let [a, _] = visitor.until_ready().await;
        let outcome = if a.starts_with("One") == (number < 7) { "a" } else { "b" };
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 12).await.unwrap();
    arena
}

async fn text(arena: &TestArena, path: &str) -> (u16, String) {
    let response = get(&format!("{}{path}", arena.url)).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

#[actix_web::test]
async fn the_arena_says_what_to_use() {
    let arena = arena(|settings| {
        set_prices(settings);
        // One voter gives no intervals between voters.
        settings.rating.interval = "sandwich".parse().unwrap();
    })
    .await;
    let (status, page) = text(&arena, "/leaderboard/value").await;
    assert_eq!(status, 200, "{page}");
    let sentence = "Name-of-one and Name-of-two cannot be told apart by these votes; Name-of-two costs 96 % less.";
    assert!(page.contains(sentence), "{page}");
    assert!(page.contains("Cost of 1,000 answers (CNY)") && page.contains("2026-11-21"), "{page}");
    assert!(page.contains("&#60;b&#62;price list") && page.contains("date not given"), "{page}");
    assert!(page.contains("role=\"img\"") && page.contains("Name-of-one: cost 0.0500, rating"), "{page}");
    let (_, chinese) = text(&arena, "/leaderboard/value?lang=zh").await;
    assert!(chinese.contains("这些选票分不出 Name-of-one 与 Name-of-two 的高下"), "{chinese}");

    let (_, report) = text(&arena, "/api/v1/leaderboard/value").await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["votes"], &report["answers"], &report["currency"]), (&12.into(), &24.into(), &"CNY".into()));
    assert_eq!((&report["finding"]["best"], &report["models"][0]["model"]), (&"one".into(), &"one".into()));
    assert_eq!((&report["cost_basis"], &report["models"][0]["cost"]), (&"prompts_and_replies".into(), &0.05.into()));
    let seconds = report["models"][0]["first_token_seconds"].as_f64().unwrap();
    assert!((10.0 * seconds).fract().abs() < 1e-9, "{seconds} is rounded to a tenth");
    let (_, leaderboard) = text(&arena, "/api/v1/leaderboard").await;
    assert!(!leaderboard.contains("cost_basis") && !leaderboard.contains("finding"), "{leaderboard}");

    let (_, leaderboard) = text(&arena, "/leaderboard").await;
    assert!(leaderboard.contains("href=\"/leaderboard/value\""), "{leaderboard}");
    let (_, past) = text(&arena, "/leaderboard?until=2999-01-01").await;
    assert!(!past.contains("/leaderboard/value"), "{past}");
    for path in ["/leaderboard/value?until=2999-01-01", "/api/v1/leaderboard/value?until=2999-01-01"] {
        let (status, refused) = text(&arena, path).await;
        assert_eq!((status, refused.contains("prices and times are the current ones")), (400, true), "{refused}");
    }
    let (status, part) = text(&arena, "/leaderboard/value?language=English").await;
    assert!(status == 200 && part.contains(sentence), "{part}");
    arena.end().await;
}

#[actix_web::test]
async fn without_prices_the_page_is_not_offered_and_says_what_it_lacks() {
    let arena = arena(|_| {}).await;
    let (_, leaderboard) = text(&arena, "/leaderboard").await;
    assert!(!leaderboard.contains("/leaderboard/value"), "{leaderboard}");
    let (status, page) = text(&arena, "/leaderboard/value").await;
    assert!(status == 200 && page.contains("it takes two models with a price"), "{page}");
    assert!(page.contains("answers behind costs and times"), "{page}");
    let (status, empty) = text(&arena, "/leaderboard/value?turns=multi").await;
    assert!(status == 200 && !empty.contains("behind costs and times"), "no cost and no time is shown: {empty}");
    arena.end().await;
}
