//! `langya votes` beside an arena that serves: a script's votes are found, taken out and put back, and everybody can read that.

use std::path::Path;
use std::time::Duration;

use langya::domain::integrity::pseudonym::voter_pseudonym;
use langya::domain::time::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::arena::TestArena;
use crate::support::program::{Run, langya, langya_beside};
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get};

/// Longest wait for a leaderboard; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(30);
/// What the script always asks.
const SCRIPTED: &str = "Say something about rivers, please.";

/// An arena of three models in a folder in which commands run beside it.
struct ExclusionFixture {
    folder: TempDir,
    arena: TestArena,
}

impl ExclusionFixture {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = ["one", "two", "three"].map(|name| (name, Scripted::saying(name)));
        let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
        let data = folder.path().join("data");
        let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir = data).await;
        Self { folder, arena }
    }

    async fn votes(&self, arguments: &[&str]) -> Run {
        langya_beside(self.folder.path(), &[&["votes"], arguments, &["--data-dir", "data"]].concat()).await
    }

    /// The result of a command as JSON.
    async fn json(&self, arguments: &[&str]) -> Value {
        let run = self.votes(&[arguments, &["--format", "json"]].concat()).await;
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Waits until the arena's leaderboard has so many rated votes, and returns it without its date.
    async fn leaderboard(&self, rated: u64) -> Value {
        let mut changes = self.arena.app.leaderboard.changes();
        let rates = changes.wait_for(|snapshot| snapshot.leaderboard.votes.rated == rated);
        assert!(tokio::time::timeout(TIMEOUT, rates).await.is_ok_and(|found| found.is_ok()), "never {rated} votes");
        let mut leaderboard = self.get("/api/v1/leaderboard").await;
        leaderboard.as_object_mut().unwrap().remove("as_of");
        leaderboard
    }

    async fn get(&self, path: &str) -> Value {
        get(&format!("{}{path}", self.arena.url)).await.json().await.unwrap()
    }

    async fn page(&self, path: &str) -> String {
        get(&format!("{}{path}", self.arena.url)).await.text().await.unwrap()
    }

    /// `langya fit` of the database.
    async fn fit(&self, flags: &[&str]) -> Value {
        let arguments = [&["fit", "--data-dir", "data", "--format", "json"], flags].concat();
        let run = langya_beside(self.folder.path(), &arguments).await;
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    async fn visitor_of_latest_vote(&self) -> String {
        let all = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        let votes = self.arena.app.store.votes_after(0, all.0, all.1, 10_000).await.unwrap();
        votes.last().unwrap().visitor.clone().unwrap().to_string()
    }
}

async fn cast(visitor: &mut Visitor, prompt: &str, outcome: &str) {
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote(outcome).await["type"], "revealed");
}

/// Three people vote on questions of their own.
async fn people(fixture: &ExclusionFixture) {
    for person in 0..3 {
        let mut visitor = fixture.arena.visitor().await;
        for (at, outcome) in ["a", "b", "tie", "b", "a", "both_bad"].into_iter().enumerate() {
            cast(&mut visitor, &format!("Question {person} of {at}: what is {}?", at * 17 + person), outcome).await;
        }
    }
}

/// One cookie asks the same over and over, and always votes for the first side. Returns the cookie.
async fn script(fixture: &ExclusionFixture, votes: usize) -> String {
    let mut visitor = fixture.arena.visitor().await;
    for _ in 0..votes {
        cast(&mut visitor, SCRIPTED, "a").await;
    }
    visitor.cookie().to_owned()
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn what_one_cookie_cast_is_taken_out_and_put_back_while_the_arena_serves() {
    let fixture = ExclusionFixture::start().await;
    people(&fixture).await;
    let honest = fixture.leaderboard(18).await;
    let cookie = script(&fixture, 200).await;
    let rigged = fixture.leaderboard(218).await;
    assert_ne!(rigged["models"], honest["models"]);
    let voter = voter_pseudonym(&fixture.visitor_of_latest_vote().await);

    let listed = fixture.json(&["list", "--voter", &voter, "--limit", "0"]).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(200), "the voter's name is the one of exports and lists");
    let prompts = fixture.json(&["prompts", "--limit", "1"]).await;
    assert_eq!((&prompts[0]["votes"], &prompts[0]["voters"]), (&200.into(), &1.into()), "{prompts}");
    assert_eq!(prompts[0]["prompt"], SCRIPTED);

    let exclude = ["exclude", "--voter", &voter, "--reason", "a <script> & one prompt", "--by", "Operator Olga"];
    let dry = fixture.json(&[&exclude[..], &["--dry-run"]].concat()).await;
    assert_eq!((&dry["votes"], &dry["voters"][0]["voter"]), (&200.into(), &voter.as_str().into()));
    assert_eq!((&dry["board"]["votes_before"], &dry["board"]["votes_after"]), (&218.into(), &18.into()));
    assert_eq!(fixture.leaderboard(218).await, rigged, "a dry run changes nothing");

    let done = fixture.json(&exclude).await;
    assert_eq!((&done["dry_run"], &done["votes"], &done["board"]), (&false.into(), &200.into(), &Value::Null));
    let without = fixture.leaderboard(18).await;
    assert_eq!(without["models"], honest["models"], "as if the script had never voted, to the last bit");
    assert_eq!((&without["votes"]["read"], &without["votes"]["excluded"]["admin"]), (&218.into(), &200.into()));
    assert_eq!(fixture.fit(&[]).await, without, "the command agrees");
    assert_eq!(fixture.fit(&["--include-excluded"]).await["models"], rigged["models"]);
    let export = ["export", "votes", "--data-dir", "data", "--out", "-"];
    let exported = langya_beside(fixture.folder.path(), &export).await.stdout;
    assert_eq!(exported.matches("\"rated\":false,\"exclusion\":\"admin\"").count(), 200, "the export follows");

    let both = fixture.get("/api/v1/leaderboard?votes=with_excluded").await;
    assert_eq!(both["models"], rigged["models"], "the leaderboard with them is one click away");
    assert_eq!((&both["change"]["votes_before"], &both["change"]["votes_after"]), (&18.into(), &218.into()));
    everybody_reads_it(&fixture, &cookie).await;

    let back = fixture.json(&["include", "--voter", &voter, "--by", "Olga"]).await;
    assert_eq!((&back["action"], &back["votes"]), (&"include".into(), &200.into()));
    assert_eq!(fixture.leaderboard(218).await, rigged, "to the last bit as before");
    let history = fixture.get("/api/v1/exclusions?limit=1").await;
    assert!(history["exclusions"][0]["withdrawn_at"].is_i64(), "the history is kept: {history}");
    fixture.arena.end().await;
}

/// The page and the JSON say which votes are out and why, and nothing about people.
async fn everybody_reads_it(fixture: &ExclusionFixture, cookie: &str) {
    let first = fixture.get("/api/v1/exclusions?limit=150").await;
    let rest = fixture.get(&format!("/api/v1/exclusions?before={}", first["next"].as_str().unwrap())).await;
    let seqs: Vec<i64> = [&first, &rest]
        .into_iter()
        .flat_map(|page| page["exclusions"].as_array().unwrap())
        .map(|row| row["seq"].as_i64().unwrap())
        .collect();
    let mut sorted = seqs.clone();
    sorted.sort_unstable();
    assert_eq!((sorted, &rest["next"]), ((19..=218).collect::<Vec<i64>>(), &Value::Null), "each once");
    let mut keys: Vec<&String> = first["exclusions"][0].as_object().unwrap().keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["excluded_at", "reason", "rule", "seq", "withdrawn_at"]);
    let page = fixture.page("/exclusions").await;
    assert!(page.contains("a &#60;script&#62; &#38; one prompt") && page.contains("before="), "{page}");
    let mut reports = fixture.arena.app.exclusion_reports.changes();
    let known = reports.wait_for(|latest| latest.report.effect_of("admin").is_some_and(|effect| effect.votes == 200));
    assert!(tokio::time::timeout(TIMEOUT, known).await.is_ok_and(|found| found.is_ok()), "no report");
    let leaderboard = fixture.page("/leaderboard?lang=zh").await;
    assert!(leaderboard.contains("218 张选票中有 200 张没有计入"), "{leaderboard}");
    assert!(
        leaderboard.contains("由运营者决定，原因见理由。") && leaderboard.contains("若计分：名次不同的模型"),
        "{leaderboard}"
    );
    assert!(leaderboard.contains("选票：包括被排除的"), "{leaderboard}");
    let visitor = fixture.visitor_of_latest_vote().await;
    let (pseudonym, session) = (voter_pseudonym(&visitor), cookie.split('=').next_back().unwrap());
    for text in [page, first.to_string(), rest.to_string(), fixture.page("/leaderboard?votes=with_excluded").await] {
        for secret in [visitor.as_str(), &pseudonym, session, "Olga", "127.0.0.1"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[actix_web::test]
async fn one_vote_of_each_voter_and_prompt_stands_beside_all_of_them() {
    let fixture = ExclusionFixture::start().await;
    people(&fixture).await;
    script(&fixture, 9).await;
    fixture.leaderboard(27).await;
    let unique = fixture.get("/api/v1/leaderboard?votes=unique_prompts").await;
    assert_eq!(unique["votes"]["excluded"], serde_json::json!({"duplicate_prompt": 8}));
    assert_eq!((&unique["change"]["votes_before"], &unique["change"]["votes_after"]), (&27.into(), &19.into()));
    let fitted = fixture.fit(&["--unique-prompts"]).await;
    assert_eq!((&fitted["models"], &fitted["votes"]), (&unique["models"], &unique["votes"]));
    let page = fixture.page("/leaderboard?votes=unique_prompts&lang=en").await;
    assert!(page.contains("27 votes are rated; with this choice 19 count."), "{page}");

    let cluster = fixture.json(&["prompts"]).await[0]["prompt_cluster"].as_str().unwrap().to_owned();
    let by = ["--rule", "duplicate_prompt", "--reason", "one prompt"];
    let done = fixture.json(&[&["exclude", "--prompt-cluster", &cluster], &by[..]].concat()).await;
    assert_eq!(done["votes"], 9);
    assert_eq!(fixture.leaderboard(18).await["votes"]["excluded"]["duplicate_prompt"], 9);
    assert_eq!(fixture.json(&["include", "--rule", "duplicate_prompt"]).await["votes"], 9);
    fixture.leaderboard(27).await;
    let status = get(&format!("{}/leaderboard?votes=all", fixture.arena.url)).await.status();
    assert_eq!(status.as_u16(), 400);
    fixture.arena.end().await;
}

/// Exit code 2 and a message with these words.
#[track_caller]
fn check_refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let run = langya(folder, [&["votes"], arguments, &["--data-dir", "data"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{arguments:?}: no {word:?} in {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_decided_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let exclude = |flags: &[&'static str]| [&["exclude", "--reason", "spam"], flags].concat();
    check_refused(path, &exclude(&["--seq", "1"]), &["there is no arena", "langya serve"]);
    std::fs::write(path.join("votes.csv"), "model_a,model_b,winner,judge\nx,y,model_a,ann\nx,y,model_b,bob\n").unwrap();
    let run = langya(path, ["import", "votes", "votes.csv", "--data-dir", "data"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    check_refused(path, &["exclude", "--seq", "1"], &["--reason"]);
    check_refused(path, &["exclude", "--seq", "1", "--reason", " "], &["--reason", "1 to 500 characters"]);
    check_refused(path, &exclude(&[]), &["--voter", "--seq 1.. for all"]);
    check_refused(path, &exclude(&["--seq", "1", "--rule", "surprise"]), &["\"surprise\"", "identity_leak"]);
    check_refused(path, &exclude(&["--seq", "7"]), &["no vote matches", "langya votes list"]);
    check_refused(path, &exclude(&["--seq", "9..7"]), &["17..40"]);
    check_refused(path, &exclude(&["--voter", "nobody"]), &["no vote matches"]);
    check_refused(path, &exclude(&["--battle", "nowhere"]), &["no vote matches"]);
    check_refused(path, &exclude(&["--prompt-cluster", "zz"]), &["16 hexadecimal digits"]);
    check_refused(path, &exclude(&["--prompt-cluster", "0123456789abcdef"]), &["0123456789abcdef", "votes prompts"]);
    check_refused(path, &exclude(&["--since", "soon"]), &["2026-11-21"]);
    check_refused(path, &["include"], &["--voter"]);
    check_refused(path, &["include", "--seq", "1"], &["no exclusion in force", "langya votes list"]);
    check_refused(path, &["include", "--rule", "of_old"], &["no exclusion in force"]);

    let votes = |arguments: &[&str]| langya(path, [&["votes"], arguments, &["--data-dir", "data"]].concat());
    let done = votes(&exclude(&["--seq", "1"]));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.starts_with("1 vote of 1 voter excluded, by the rule admin\n"), "{}", done.stdout);
    let again = votes(&exclude(&["--seq", "1.."]));
    assert!(again.stdout.starts_with("1 vote of 1 voter excluded, by the rule admin; nothing changes for 1 more"));
    let listed = votes(&["list", "--rule", "admin", "--format", "csv"]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!((lines[0], lines.len()), ("seq,cast_at,battle,voter,model_a,model_b,winner,excluded_by", 3));
    assert!(lines[1].starts_with("1,") && lines[1].ends_with(",x,y,model_a,admin"), "{}", lines[1]);
    for (filter, notes) in [(["--model", "X"], 1), (["--rule", "admins"], 1), (["--model", "x"], 0)] {
        let listed = votes(&[&["list"], &filter[..]].concat());
        assert_eq!((listed.code, listed.stderr.matches("no vote matches").count()), (Some(0), notes), "{filter:?}");
    }
}
