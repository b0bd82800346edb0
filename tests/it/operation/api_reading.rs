//! What programs read of the vote log, and how they are spared what they have already.

use std::path::Path;

use langya::domain::admin::key_scope::KeyScope;
use langya::infra::config::VoteAccess;
use reqwest::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

use crate::access_control::api_keys::{get_with, key};
use crate::battles::queue_bounds::has_started;
use crate::support::api_document::{check_answer, operation};
use crate::support::arena::TestArena;
use crate::support::program::{Server, langya};
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::{get, http};

/// More than two pages.
const VOTES: usize = 2_345;

/// A folder with an arena of simulated votes.
fn simulated() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let votes = VOTES.to_string();
    for arguments in [
        &["simulate", "--models", "4", "--votes", votes.as_str(), "--seed", "1", "--out", "votes.csv"][..],
        &["import", "votes", "votes.csv", "--data-dir", "data"],
    ] {
        let run = langya(folder.path(), arguments);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    folder
}

fn exported(folder: &Path) -> String {
    let run = langya(folder, ["export", "votes", "--data-dir", "data", "--format", "jsonl", "--out", "out.jsonl"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    std::fs::read_to_string(folder.join("out.jsonl")).unwrap()
}

#[actix_web::test]
async fn the_votes_that_are_read_are_those_that_are_exported_and_a_cursor_leaves_none_out() {
    let folder = simulated();
    let expected = exported(folder.path());
    let server = Server::start_in(folder.path(), &[], &[("LANGYA__API__VOTES", "public")]);
    let read = async |query: &str| {
        let answer = get(&format!("{}/api/v1/votes{query}", server.url)).await;
        assert_eq!(
            (answer.status(), &answer.headers()["content-type"]),
            (StatusCode::OK, &"application/x-ndjson".parse().unwrap())
        );
        answer.text().await.unwrap()
    };
    assert_eq!(expected.lines().count(), VOTES);
    assert!(read("").await == expected, "the whole log");
    let (mut all, mut after) = (String::new(), 0);
    for limit in [1, 999, 1_000, 5_000] {
        let part = read(&format!("?after={after}&limit={limit}")).await;
        assert_eq!(part.lines().count(), limit.min(VOTES - all.lines().count()), "{limit}");
        let last: Value = serde_json::from_str(part.lines().last().unwrap()).unwrap();
        after = last["seq"].as_i64().unwrap();
        all += &part;
    }
    assert!(all == expected, "its parts");
    for query in [format!("?after={after}"), "?limit=0".to_owned()] {
        assert_eq!(read(&query).await, "", "{query}");
    }
    for wrong in ["?after=x", "?limit=-1", "?since=3"] {
        assert_eq!(
            get(&format!("{}/api/v1/votes{wrong}", server.url)).await.status(),
            StatusCode::BAD_REQUEST,
            "{wrong}"
        );
    }
    server.terminate();
}

#[actix_web::test]
async fn votes_are_read_by_whom_the_operator_lets_in_and_only_after_they_are_cast() {
    for access in [VoteAccess::Public, VoteAccess::Key, VoteAccess::Off] {
        let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
        let models = [("one", &one), ("two", &two)];
        let arena = TestArena::start_with(&models, |settings| settings.api.votes = access).await;
        let mut visitor = arena.visitor().await;
        visitor.ask("Which one?").await;
        visitor.until_ready().await;
        let keys = [key(&arena, &[KeyScope::Read], 1).await.key, key(&arena, &[KeyScope::Annotate], 1).await.key];
        let statuses = match access {
            VoteAccess::Public => [200; 3],
            VoteAccess::Key => [401, 200, 403],
            VoteAccess::Off => [404; 3],
        };
        let mut changes = arena.app.leaderboard.changes();
        for votes in 0..2 {
            changes.wait_for(|shown| shown.fitted_at.is_some() && shown.last_vote_seq == votes as i64).await.unwrap();
            let asked = [
                get(&format!("{}/api/v1/votes", arena.url)).await,
                get_with(&arena, "/api/v1/votes", &keys[0]).await,
                get_with(&arena, "/api/v1/votes", &keys[1]).await,
            ];
            for (answer, expected) in asked.into_iter().zip(statuses) {
                let (status, kind) =
                    (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap().to_owned());
                let body = answer.text().await.unwrap();
                assert_eq!(status, expected, "{access:?}: {body}");
                check_answer("get", "/api/v1/votes", status, &kind, &body);
                if status == 200 {
                    assert_eq!(body.lines().count(), votes, "{access:?}: {body}");
                    assert!(!body.contains("Which one?") && !body.contains("conversation"), "no text: {body}");
                }
            }
            visitor.vote("a").await;
        }
    }
}

#[actix_web::test]
async fn slices_and_the_public_feed_show_no_vote_before_the_leaderboard_does() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.api.votes = VoteAccess::Public;
        // The vote waits for others until the hour is full.
        settings.rating.group_votes = 1_000;
        settings.rating.group_seconds = 3_600;
    })
    .await;
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|shown| shown.fitted_at.is_some()).await.unwrap();
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");

    let read = async |path: &str| get(&format!("{}{path}", arena.url)).await.text().await.unwrap();
    let counted = async |path: &str| {
        let leaderboard: Value = serde_json::from_str(&read(path).await).unwrap();
        leaderboard["votes"]["read"].as_u64().unwrap()
    };
    let slices = [counted("/api/v1/leaderboard?turns=first").await, counted("/api/v1/leaderboard?style=control").await];
    let public = read("/api/v1/votes").await.lines().count() as u64;
    // Read last, in case the hour has just become full.
    let shown = counted("/api/v1/leaderboard").await;
    assert!(slices.iter().all(|read| *read <= shown) && public <= shown, "{slices:?}, {public}, {shown}");

    let reader = key(&arena, &[KeyScope::Read], 1).await.key;
    let trusted = get_with(&arena, "/api/v1/votes", &reader).await.text().await.unwrap();
    assert_eq!(trusted.lines().count(), 1, "a program that the operator gave a key has each vote at once");
    let other = get_with(&arena, "/api/v1/votes", "langya_unknown").await;
    assert_eq!(other.status(), StatusCode::UNAUTHORIZED, "a program is told that its key is unknown or revoked");
    arena.end().await;
}

#[actix_web::test]
async fn correlations_and_reports_on_the_leaderboard_have_no_vote_that_it_lacks() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        // The vote waits for others until the hour is full.
        settings.rating.group_votes = 1_000;
        settings.rating.group_seconds = 3_600;
    })
    .await;
    let app = &arena.app;
    app.leaderboard.changes().wait_for(|shown| shown.fitted_at.is_some()).await.unwrap();
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");

    app.robustness.refresh(app.clock.as_ref()).await.unwrap();
    app.exclusion_reports.refresh().await.unwrap();
    app.correlation.refresh().await.unwrap();
    let reports = [app.robustness.latest().last_vote_seq(), app.exclusion_reports.latest().last_vote_seq()];
    let correlated = app.correlation.latest().input_version.as_ref().unwrap().votes;
    // Read last, in case the hour has just become full.
    let shown = app.leaderboard.latest().last_vote_seq;
    assert!(reports.iter().all(|last| *last <= shown) && correlated <= shown, "{reports:?}, {correlated}, {shown}");
    arena.end().await;
}

#[actix_web::test]
async fn what_a_reader_has_already_is_not_sent_again() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    has_started(&arena.url).await;
    until(async || get(&format!("{}/log/checkpoint", arena.url)).await.status().is_success().then_some(())).await;
    let ask = async |path: &str, tag: &str| {
        let request = http().get(format!("{}{path}", arena.url)).header("if-none-match", tag);
        request.send().await.unwrap()
    };
    for path in
        ["/api/v1/leaderboard", "/api/v1/leaderboard.csv", "/api/v1/pairing", "/api/v1/exclusions", "/api/v1/log"]
    {
        let first = get(&format!("{}{path}", arena.url)).await;
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(first.headers()["cache-control"], "no-cache", "{path}");
        let again = ask(path, &tag).await;
        assert_eq!(
            (again.status(), &again.headers()["etag"]),
            (StatusCode::NOT_MODIFIED, &tag.parse().unwrap()),
            "{path}"
        );
        assert_eq!(again.headers()["vary"], "accept-encoding", "{path}: as the whole answer says it");
        assert_eq!(again.text().await.unwrap(), "");
        assert!(operation("get", path)["responses"]["304"].is_object(), "{path}: the document has this status");
        let other = ask(path, "W/\"0123456789abcdef0123456789abcdef\"").await;
        assert_eq!(other.status(), StatusCode::OK, "{path}");
        assert_eq!(other.bytes().await.unwrap(), first.bytes().await.unwrap(), "{path}");
    }
    let path = "/api/v1/leaderboard";
    let before = get(&format!("{}{path}", arena.url)).await.headers()["etag"].to_str().unwrap().to_owned();
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    arena.app.leaderboard.changes().wait_for(|latest| latest.leaderboard.votes.rated == 1).await.unwrap();
    assert_eq!(ask(path, &before).await.status(), StatusCode::OK, "another leaderboard has another tag");
    for path in ["/api/v1/leaderboard?turns=7", "/leaderboard.svg", "/healthz"] {
        let answer = get(&format!("{}{path}", arena.url)).await;
        assert!(!answer.headers().contains_key("etag"), "{path}");
    }
}
