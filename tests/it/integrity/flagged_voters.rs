//! Voters whom the tests flag, and what rigging costs, on the command line.

use std::fmt::Write as _;
use std::path::Path;

use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use serde_json::Value;

use crate::support::program::langya;

/// 60 honest voters on 8 models, and a rigger with 60 votes for one of them.
fn rigged_votes(folder: &Path) -> &'static str {
    let simulated =
        ["simulate", "--models", "8", "--votes", "2400", "--voters", "60", "--seed", "4", "--out", "honest.csv"];
    assert_eq!(langya(folder, simulated).code, Some(0));
    let mut reader = csv::Reader::from_path(folder.join("honest.csv")).unwrap();
    let heads = reader.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let (a, b, winner, voter) = (column("model_a"), column("model_b"), column("winner"), column("judge"));
    let mut votes = "model_a,model_b,winner,judge\n".to_owned();
    for row in reader.records().map(Result::unwrap) {
        writeln!(votes, "{},{},{},honest-{}", &row[a], &row[b], &row[winner], &row[voter]).unwrap();
    }
    for vote in 0..60 {
        let other = ["model-1", "model-2", "model-4", "model-5"][vote % 4];
        let (row, winner) =
            if vote % 2 == 0 { (["model-3", other], "model_a") } else { ([other, "model-3"], "model_b") };
        writeln!(votes, "{},{},{winner},rigger", row[0], row[1]).unwrap();
    }
    std::fs::write(folder.join("votes.csv"), votes).unwrap();
    "votes.csv"
}

#[test]
fn a_rigger_is_listed_from_files_and_from_the_database_under_its_pseudonym_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = rigged_votes(folder.path());
    let listed = |flags: &[&str]| {
        let run = langya(folder.path(), [&["votes", "flagged", "--format", "json"], flags].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        (serde_json::from_str::<Vec<Value>>(&run.stdout).unwrap(), run.stderr)
    };
    let (found, said) = listed(&["--votes", file]);
    // At most one honest voter beside the rigger.
    assert!((1..=2).contains(&found.len()), "{found:?}");
    let rigger = &found[0];
    assert_eq!((&rigger["voter"], &rigger["votes_are"]), (&"rigger".into(), &"for".into()), "{rigger}");
    assert_eq!((&rigger["model"], &rigger["wins"], &rigger["test"]), (&"model-3".into(), &60.into(), &"score".into()));
    assert!(rigger["q"].as_f64().unwrap() < 0.05 && rigger["expected_wins"].as_f64().unwrap() < 59.0, "{rigger}");
    assert!(said.contains("of 61 voters flagged"), "{said}");

    let (all, _) = listed(&["--votes", file, "--test", "all"]);
    assert!(all.len() >= found.len() && all[..found.len()] == found, "the score test comes first: {all:?}");
    assert!(listed(&["--votes", file, "--alpha", "0"]).0.is_empty());

    assert_eq!(langya(folder.path(), ["import", "votes", file, "--data-dir", "data"]).code, Some(0));
    let (stored, _) = listed(&["--data-dir", "data"]);
    assert_eq!(stored.len(), found.len(), "{stored:?}");
    let voter = stored[0]["voter"].as_str().unwrap();
    assert!(voter.len() == 16 && voter.chars().all(|c| c.is_ascii_hexdigit()), "{voter}");
    assert_eq!(
        (&stored[0]["model"], &stored[0]["p"]),
        (&rigger["model"], &rigger["p"]),
        "the same votes, the same result"
    );
}

#[actix_web::test]
async fn an_arena_without_votes_has_no_flagged_voter() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    Store::open(&settings, IfMissing::Create).await.unwrap().close().await;
    let run = langya(folder.path(), ["votes", "flagged", "--test", "all", "--data-dir", "data", "--format", "json"]);
    assert!(run.code == Some(0) && run.stdout.trim() == "[]", "{run:?}");
}

#[test]
fn votes_without_voters_and_levels_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("votes.csv"), "model_a,model_b,winner\nx,y,model_a\ny,x,model_a\n").unwrap();
    for (flags, said) in [(["--alpha", "0.05"], "name no voters"), (["--alpha", "2"], "--alpha is 2: give a share")] {
        let run = langya(folder.path(), [&["votes", "flagged", "--votes", "votes.csv"][..], &flags].concat());
        assert!(run.code == Some(2) && run.stderr.contains(said), "{run:?}");
    }
}

#[test]
fn the_cost_of_rigging_is_printed_for_every_strategy_and_control() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["simulate", "--models", "6", "--votes", "600", "--voters", "30", "--seed", "1"];
    let rig = ["--rig", "--targets", "1", "--most-rigged", "500", "--format", "json"];
    let run = langya(folder.path(), small.iter().chain(&rig));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(lines.len(), 12, "{}", run.stdout);
    let of = |strategy: &str, control: &str| {
        lines.iter().find(|line| line["strategy"] == strategy && line["control"] == control).unwrap()
    };
    assert_eq!(of("target-only", "voter-cap")["rated_500"], 200.0);
    assert_eq!(of("vote-everywhere", "none")["battles_500"], 500.0);
    assert!(of("target-only", "none")["battles_500"].as_f64().unwrap() > 1000.0);
    assert!(run.stderr.contains("seed 1"), "{}", run.stderr);
    let refused = langya(folder.path(), small.iter().chain(&["--rig", "--detector", "2"]));
    assert!(refused.code == Some(2) && refused.stderr.contains("the detector's accuracy is 2"), "{refused:?}");
}
