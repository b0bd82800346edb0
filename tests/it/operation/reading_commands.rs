//! Commands that only read: they take no lock, change no table and make no file.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::Field;
use crate::integrity::labels_by_model::seeds;
use crate::operation::command_line::arena_before_the_last_migration;
use crate::support::program::{langya, program};

#[actix_web::test]
async fn a_dry_run_makes_nothing_beside_the_database() {
    let field = Field::empty(&["one", "two"]).await;
    let item =
        json!({"question_id": 1, "category": "专业能力", "subcategory": "物理", "question": "几？", "reference": "三"});
    field.write("items.jsonl", format!("{item}\n"));
    field.write("seeds.csv", seeds());
    field.done(&["import", "suite", "alignbench", "items.jsonl"]).await;
    let data = field.path().join("data");
    std::fs::remove_file(data.join("langya.lock")).unwrap();
    for command in [
        &["bench", "answer", "alignbench"][..],
        &["bench", "run", "alignbench", "--judge", "judge"][..],
        &["bench", "run", "all", "--judge", "judge"][..],
        &["judge", "run", "--judge", "judge"][..],
        &["label", "train", "--seed-file", "seeds.csv", "--model", "judge"][..],
    ] {
        field.done(&[command, &["--dry-run"]].concat()).await;
        let files = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(files.collect::<Vec<_>>(), ["langya.db"], "{command:?}");
    }
    assert!(field.upstream.received().is_empty(), "a dry run asks nobody");
}

#[actix_web::test]
async fn a_dry_run_leaves_the_tables_of_an_earlier_version_as_they_are() {
    let field = Field::empty(&["one", "two"]).await;
    let last = arena_before_the_last_migration(&field.path().join("data")).await;
    field.write("seeds.csv", seeds());
    for command in [
        &["bench", "answer", "alignbench"][..],
        &["judge", "run", "--judge", "judge"][..],
        &["label", "train", "--seed-file", "seeds.csv", "--model", "judge"][..],
    ] {
        let refused = field.refused(&[command, &["--dry-run"]].concat()).await;
        assert!(refused.contains("older langya"), "{command:?}: {refused}");
    }
    let pending: Value = serde_json::from_str(&field.done(&["upgrade", "--check", "--format", "json"]).await).unwrap();
    assert_eq!(pending[0]["version"], last);
}

#[test]
fn a_report_whose_output_is_full_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("votes.csv"), "model_a,model_b,winner\nx,y,model_a\n").unwrap();
    let imported = langya(folder.path(), ["import", "votes", "votes.csv"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    for report in ["label report", "votes list", "fit"] {
        let script = format!("exec \"$0\" {report} >/dev/full");
        let run = Command::new("sh").args(["-c", &script, &program()]).current_dir(folder.path()).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "101 is a panic: {report}: {run:?}");
    }
}
