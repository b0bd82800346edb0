//! How firm the leaderboard is: on its page, as JSON and on the command line.

use serde_json::Value;

use crate::support::arena::TestArena;
use crate::support::program::langya;
use crate::support::scripted::Scripted;
use crate::support::visitor::get;

#[actix_web::test]
async fn the_page_and_the_json_follow_the_votes_and_agree_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let scripted = ["one", "two", "三"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = scripted.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data)).await;
    let page = async |path: &str| get(&format!("{}{path}", arena.url)).await.text().await.unwrap();
    let json =
        async || -> Value { get(&format!("{}/api/v1/leaderboard/robustness", arena.url)).await.json().await.unwrap() };
    arena.app.robustness.changes().wait_for(|latest| latest.report.computed_at.is_some()).await.unwrap();
    assert!(!page("/leaderboard?lang=en").await.contains("How robust"), "no votes, no fold");
    assert_eq!(json().await["overall"]["first_place"], Value::Null);

    let mut visitor = arena.visitor().await;
    let outcomes = ["a", "b", "tie", "both_bad", "a", "a", "b", "tie", "b", "a", "tie", "tie"];
    for outcome in outcomes {
        visitor.ask("Which one?").await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let mut changes = arena.app.robustness.changes();
    changes.wait_for(|report| report.last_vote_seq() == outcomes.len() as i64).await.unwrap();
    let whole = page("/leaderboard?lang=en").await;
    for said in ["<summary>How robust is this", "Who is first?", "12 votes between rated models"] {
        assert!(whole.contains(said), "no {said}: {whole}");
    }
    for said in ["How much does one voter change?", "Of 1 voter, "] {
        assert!(whole.contains(said), "no {said}: {whole}");
    }
    let rigging = get(&format!("{}/api/v1/leaderboard/rigging", arena.url)).await;
    let rigging: Value = rigging.json().await.unwrap();
    assert_eq!((&rigging["last_vote_seq"], &rigging["flagged"]["flagged"]), (&outcomes.len().into(), &0.into()));
    let neighbours = rigging["neighbours"].as_array().unwrap();
    assert!(!neighbours.is_empty(), "{rigging}");
    // Who meets whom is drawn, so the neighbours may stand level, and then no votes swap them.
    let can_swap = neighbours.iter().any(|two| !two["votes"].is_null());
    assert_eq!(whole.contains("How few votes would swap two neighbours?"), can_swap, "{rigging} {whole}");
    assert!(page("/leaderboard?lang=zh").await.contains("这份榜单有多可靠？"));
    assert!(page("/leaderboard?lang=zh").await.contains("有没有人投得与众不同？"));
    assert!(!page("/leaderboard?lang=en&ties=drop").await.contains("How robust"), "a part has no report");
    let report = json().await;
    assert_eq!(report["last_vote_seq"], outcomes.len());
    assert!(report["as_of"].is_i64(), "{report}");
    arena.end().await;

    let fitted = langya(folder.path(), ["fit", "--data-dir", "data", "--robustness", "--format", "json"]).stdout;
    let fitted: Value = serde_json::from_str(&fitted).unwrap();
    assert_eq!(fitted["robustness"]["overall"], report["overall"]);
}
