//! `langya export dataset` and `preferences`: what others train on, and that an arena made of it has the same ratings.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Run, Server, langya, langya_beside};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

#[track_caller]
fn done(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

/// The fitted models as they are printed, byte for byte.
fn ratings(folder: &Path, data: &str) -> String {
    let run = done(langya(folder, ["fit", "--data-dir", data, "--format", "json"]));
    let leaderboard: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(leaderboard["models"].as_array().unwrap().len() > 5);
    leaderboard["models"].to_string()
}

fn shards(set: &Path) -> Vec<PathBuf> {
    let mut shards: Vec<_> = std::fs::read_dir(set.join("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    shards.sort();
    shards
}

fn import(folder: &Path, data: &str, files: &[PathBuf]) {
    let files = files.iter().map(|file| file.to_str().unwrap());
    done(langya(folder, ["import", "votes", "--data-dir", data].into_iter().chain(files)));
}

/// An arena of simulated votes, some of them excluded.
fn simulated() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let simulate = [
        "simulate",
        "--models",
        "8",
        "--votes",
        "3000",
        "--seed",
        "3",
        "--ties",
        "0.1",
        "--both-bad",
        "0.05",
        "--out",
        "s.jsonl",
    ];
    done(langya(here, simulate));
    import(here, "data", &[here.join("s.jsonl")]);
    let exclude = ["votes", "exclude", "--data-dir", "data", "--seq", "17..340", "--reason", "a test", "--by", "test"];
    done(langya(here, exclude));
    folder
}

#[test]
fn an_arena_imported_from_a_data_set_has_the_same_ratings_to_the_byte() {
    let folder = simulated();
    let here = folder.path();
    let export = |rest: &[&str]| langya(here, [&["export", "dataset", "--data-dir", "data"], rest].concat());
    // What exports that were killed left: one long ago, one that may still be running.
    let left = [".langya-dataset-Ab1xYz", ".langya-dataset-Ab1xY2"].map(|name| here.join(name));
    left.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    std::fs::File::open(&left[0]).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let run = done(export(&["set", "--license", "cc-by-4.0", "--shard-votes", "1300"]));
    assert_eq!(left.each_ref().map(|folder| folder.exists()), [false, true]);
    std::fs::remove_dir(&left[1]).unwrap();
    assert!(run.stderr.contains("3000 votes written") && run.stderr.contains("--since-seq 3000"), "{run:?}");
    let set = here.join("set");
    let names: Vec<String> =
        shards(&set).iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let expected =
        [(1, 1300), (1301, 2600), (2601, 3000)].map(|(first, last)| format!("votes-{first:012}-{last:012}.parquet"));
    assert_eq!(names, expected);
    let sums =
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&set).output().unwrap();
    assert!(sums.status.success() && String::from_utf8_lossy(&sums.stdout).lines().count() == 4, "{sums:?}");
    let card = std::fs::read_to_string(set.join("README.md")).unwrap();
    assert!(
        card.starts_with("---\nlicense: cc-by-4.0\n")
            && card.contains("| votes | 3000 |\n| rated votes | 2676 |")
            && card.contains("| admin | 324 |"),
        "{card}"
    );
    for (data, files) in [("again", shards(&set)), ("by-folder", vec![set.clone()])] {
        import(here, data, &files);
        assert_eq!(ratings(here, data), ratings(here, "data"), "{data}");
    }
    let refused = langya(here, ["import", "votes", "--data-dir", "none", "again"]);
    let reason = "again is a folder without data/*.parquet, so it is not a data set";
    assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{refused:?}");
    // A second export of the same database has the same bytes.
    done(export(&["twin", "--license", "cc-by-4.0", "--shard-votes", "1300"]));
    for file in ["README.md", "SHA256SUMS"] {
        assert_eq!(
            std::fs::read(set.join(file)).unwrap(),
            std::fs::read(here.join("twin").join(file)).unwrap(),
            "{file}"
        );
    }
    let refused = export(&["set"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("is not empty"), "{refused:?}");
    let left: Vec<_> = std::fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".langya")), "{left:?}");
}

#[test]
fn parts_of_a_data_set_come_to_the_whole() {
    let folder = simulated();
    let here = folder.path();
    done(langya(here, ["export", "dataset", "whole", "--data-dir", "data", "--shard-votes", "1000"]));
    let rest = done(langya(here, ["export", "dataset", "rest", "--data-dir", "data", "--since-seq", "2000"]));
    assert!(rest.stderr.contains("1000 votes written"), "{rest:?}");
    assert!(std::fs::read_to_string(here.join("rest/README.md")).unwrap().contains("after vote 2000"));
    let mut parts = shards(&here.join("whole"))[..2].to_vec();
    parts.extend(shards(&here.join("rest")));
    import(here, "parts", &parts);
    assert_eq!(ratings(here, "parts"), ratings(here, "data"));
    let nothing = done(langya(here, ["export", "dataset", "none", "--data-dir", "data", "--since-seq", "3000"]));
    assert!(nothing.stderr.contains("0 votes written") && shards(&here.join("none")).is_empty(), "{nothing:?}");
}

#[actix_web::test]
async fn preferences_have_the_chosen_and_the_rejected_conversation() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let here = folder.path();
    let entries = ["one", "two"].map(|id| {
        upstream.script(id, Script::openai(["Reply of ", id, "."]));
        format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url())
    });
    // Names of the models in the replies would exclude the votes.
    let settings = format!("[battle]\npacing = \"raw\"\n[integrity]\nleaks = \"off\"\n{}", entries.concat());
    std::fs::write(here.join("langya.toml"), settings).unwrap();
    let server = Server::start(here, &[]);
    let mut visitor = Visitor::connect(&server.url).await;
    let mut winners = Vec::new();
    for (outcome, turns) in [("a", 1), ("b", 2), ("tie", 1), ("both_bad", 1)] {
        visitor.ask("First?").await;
        visitor.until_ready().await;
        if turns == 2 {
            visitor.send(json!({"type": "message", "prompt": "Second?"})).await;
            visitor.until_ready().await;
        }
        let receipt = visitor.vote(outcome).await;
        if receipt[outcome].is_object() {
            winners.push(receipt[outcome]["id"].as_str().unwrap().to_owned());
        }
    }
    let export = async |rest: &[&str]| {
        let run =
            langya_beside(here, &[&["export", "preferences", "--data-dir", "data", "--out", "-"], rest].concat()).await;
        let rows: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (rows, run)
    };
    let (rows, run) = export(&["--text"]).await;
    assert!(
        run.stderr.contains("2 preferences written, with their texts") && run.stderr.contains("2 votes left out: ties"),
        "{run:?}"
    );
    assert!(run.stderr.contains("--since-seq 4"), "{run:?}");
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    for ((row, winner), turns) in rows.iter().zip(&winners).zip([1, 2]) {
        let loser = if winner == "one" { "two" } else { "one" };
        let said = |model: &str| {
            let reply = message("assistant", &format!("Reply of {model}."));
            if turns == 1 { json!([reply]) } else { json!([reply, message("user", "Second?"), reply]) }
        };
        assert_eq!(row["prompt"], json!([message("user", "First?")]));
        assert_eq!((&row["chosen"], &row["rejected"]), (&said(winner), &said(loser)));
        assert_eq!((&row["chosen_model"], &row["rejected_model"]), (&json!(winner), &json!(loser)));
        let agree = if winners[0] == winners[1] { 1.0 } else { 0.0 };
        assert_eq!(row["agreement"], json!(agree), "{row}");
    }
    assert_eq!(export(&["--since-seq", "1"]).await.0.len(), 1);
    let kept = if winners[0] == winners[1] { 2 } else { 0 };
    assert_eq!(export(&["--min-agreement", "0.5"]).await.0.len(), kept);
    let (_, refused) = export(&["--format", "parquet"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("--format jsonl"), "{refused:?}");
    let (_, refused) = export(&["--min-agreement", "60"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("0 to 1"), "{refused:?}");
    // With the conversations, a data set has them as the vote log has.
    done(langya_beside(here, &["export", "dataset", "set", "--data-dir", "data", "--text"]).await);
    let card = std::fs::read_to_string(here.join("set/README.md")).unwrap();
    assert!(card.contains("license: unknown\n") && card.contains("`conversation_a`"), "{card}");
}
