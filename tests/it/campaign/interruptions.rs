//! Commands that write files of a campaign, ended by a signal.

use super::*;
use crate::support::postgres::TestDatabase;
use crate::support::program::{UnderWay, langya};
use crate::support::until;

#[actix_web::test]
async fn a_signal_leaves_no_file_of_an_export_or_a_report() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let settings = format!("[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"answers.jsonl\"\n{SHORT}");
    std::fs::write(folder.path().join("pilot.toml"), settings).unwrap();
    std::fs::write(folder.path().join("answers.jsonl"), answers(2, &["m", "n"])).unwrap();
    let created = langya(folder.path(), ["campaign", "create", "pilot.toml", "--database", &database.url]);
    assert_eq!(created.code, Some(0), "{}", created.stderr);
    let pool = database.raw().await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE campaign_judgements IN ACCESS EXCLUSIVE MODE").execute(&mut *holder).await.unwrap();
    let files = || -> BTreeSet<std::ffi::OsString> {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = files();
    for (command, out) in [("export", "out.jsonl"), ("report", "out.md")] {
        let arguments = ["campaign", command, "pilot", "--out", out, "--database", &database.url];
        let running = UnderWay::start(folder.path(), &arguments);
        until(async || (files().len() > before.len()).then_some(())).await;
        running.signal("TERM");
        let run = running.ended().await;
        assert!(run.code == Some(1) && run.stderr.contains("interrupted: no file was written"), "{run:?}");
        assert_eq!(files(), before, "{command}");
    }
    holder.rollback().await.unwrap();
    pool.close().await;
    database.drop().await;
}
