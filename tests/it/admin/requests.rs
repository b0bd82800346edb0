//! Requests to delete texts: asked on a shared battle, entered by an operator, granted or refused; votes stay.

use langya::domain::admin::role::Role;
use langya::domain::battle::BattleId;
use langya::infra::storage::AuditFilter;
use langya::infra::time::clock::Clock as _;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::browser::{Browser, arena, signed_in};
use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::visitor::Visitor;

async fn play(visitor: &mut Visitor, prompt: &str) -> BattleId {
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    visitor.battle()
}

/// Whether the texts of battles are there.
async fn have_texts(arena: &TestArena, battles: &[&BattleId]) -> Vec<bool> {
    let mut found = Vec::new();
    for battle in battles {
        let record = arena.app.store.battle_record(battle).await.unwrap().unwrap();
        assert_eq!(record.turns.is_empty(), record.replies.is_empty());
        found.push(!record.turns.is_empty());
    }
    found
}

async fn text(browser: &mut Browser, path: &str) -> String {
    browser.get(path).await.text().await.unwrap()
}

#[actix_web::test]
async fn an_operator_grants_and_refuses_requests_and_votes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = arena(|settings| settings.storage.data_dir = data).await;
    let (mut visitor, mut other) = (arena.visitor().await, arena.visitor().await);
    let (first, second) = (play(&mut visitor, "My <address>?").await, play(&mut visitor, "Second?").await);
    let foreign = play(&mut other, "Theirs?").await;
    let all = [&first, &second, &foreign];
    let mut operator = signed_in(&arena, Role::Operator).await;
    let add = [("battle", first.as_str()), ("scope", "battle"), ("reason", "Ada wrote a letter")];
    let entered = operator.post_form("/admin/requests/add", &add).await;
    assert_eq!(entered.status(), StatusCode::SEE_OTHER);
    let one = entered.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(operator.post_form("/admin/requests/add", &add).await.status(), StatusCode::CONFLICT, "once");
    let preview = text(&mut operator, &one).await;
    assert!(preview.contains("would be deleted: 1.") && preview.contains("My &#60;address&#62;?"), "{preview}");
    assert_eq!(have_texts(&arena, &all).await, [true; 3], "a preview changes nothing");
    let id = one.split("id=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let decide = async |operator: &mut Browser, id: &str, decision: &str, answer: &str| {
        let fields = [("id", id), ("decision", decision), ("answer", answer)];
        operator.post_form("/admin/requests/decide", &fields).await.status()
    };
    assert_eq!(decide(&mut operator, &id, "delete", " ").await, StatusCode::CONFLICT, "without a reason");
    assert_eq!(decide(&mut operator, &id, "delete", "a private address").await, StatusCode::SEE_OTHER);
    assert_eq!(have_texts(&arena, &all).await, [false, true, true]);
    assert_eq!(decide(&mut operator, &id, "refuse", "twice").await, StatusCode::CONFLICT);
    let decided = text(&mut operator, &one).await + &text(&mut operator, "/admin/requests").await;
    assert!(decided.contains("a private address") && !decided.contains("Ada wrote"), "{decided}");

    let beside = async |arguments: &[&str]| {
        langya_beside(folder.path(), &[&["requests"], arguments, &["--data-dir", "data"]].concat()).await
    };
    let added = beside(&["add", first.as_str(), "--all-of-visitor", "--reason", "all of it"]).await;
    let id = added.stdout.trim().to_owned();
    let dry = beside(&["delete-texts", &id, "--reason", "theirs", "--dry-run"]).await;
    assert!(dry.stderr.contains("the texts of 1 battle would be deleted"), "{dry:?}");
    assert_eq!(have_texts(&arena, &all).await, [false, true, true]);
    assert_eq!(beside(&["delete-texts", &id, "--reason", "theirs"]).await.code, Some(0));
    assert_eq!(have_texts(&arena, &all).await, [false, false, true], "of this visitor only");
    let refused = beside(&["add", "nowhere", "--reason", "x"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("there is no battle"), "{refused:?}");
    assert_eq!(arena.app.store.last_vote_seq().await.unwrap(), 3, "votes stay");
    let listed: Vec<Value> = serde_json::from_str(&beside(&["list", "--format", "json"]).await.stdout).unwrap();
    assert_eq!(
        (&listed[0]["state"], &listed[0]["scope"], &listed[0]["battles"]),
        (&"done".into(), &"visitor".into(), &1.into())
    );
    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 4).await.unwrap();
    let told: Vec<_> = audit.iter().map(|entry| (entry.action.as_str(), entry.via.as_str())).collect();
    let [by_command, by_page] = ["command", "page"].map(|via| [("delete_texts", via), ("enter_request", via)]);
    assert_eq!(told, [by_command, by_page].concat());
    assert!(audit[2].latter.as_deref().unwrap().contains("a private address"), "{audit:?}");
    assert!(!format!("{audit:?}").contains("My <address>"), "the log quotes no text");
    for reason in ["Ada wrote", "all of it"] {
        assert!(!format!("{audit:?} {listed:?}").contains(reason), "who asked and why is forgotten with the decision");
    }
}

#[actix_web::test]
async fn who_goes_on_with_a_battle_whose_texts_an_operator_deleted_is_told_the_reason() {
    let arena = arena(|_| {}).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("My address?").await;
    visitor.until_ready().await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let battle = visitor.battle();
    let add = [("battle", battle.as_str()), ("scope", "visitor"), ("reason", "a letter")];
    let entered = operator.post_form("/admin/requests/add", &add).await;
    let place = entered.headers()["location"].to_str().unwrap();
    let id = place.split("id=").nth(1).unwrap().split('&').next().unwrap();
    let decision = [("id", id), ("decision", "delete"), ("answer", "a private address")];
    assert_eq!(operator.post_form("/admin/requests/decide", &decision).await.status(), StatusCode::SEE_OTHER);
    let mut told = Vec::new();
    for action in ["message", "regenerate", "message"] {
        visitor.send(json!({"type": action, "prompt": "And now?"})).await;
        told.push(visitor.next_of(&["error", "ready"]).await);
    }
    told.push(visitor.vote("a").await);
    for refused in told {
        assert_eq!(
            (&refused["code"], &refused["reason"]),
            (&"battle_over".into(), &"texts_deleted".into()),
            "{refused}"
        );
        assert!(refused["message"].as_str().unwrap().contains("texts of this battle were deleted"), "{refused}");
    }
}

#[actix_web::test]
async fn anyone_with_the_link_to_a_battle_asks_for_its_removal_and_one_request_waits() {
    let arena = arena(|_| {}).await;
    let mut visitor = arena.visitor().await;
    let battle = play(&mut visitor, "Shared?").await;
    let store = &arena.app.store;
    let owner = store.battle_record(&battle).await.unwrap().unwrap().battle.visitor;
    store.share_battle(&battle, &owner, "token1", arena.app.clock.now()).await.unwrap();
    let mut stranger = Browser::new(&arena);
    assert!(text(&mut stranger, "/shared/token1").await.contains("action=\"/shared/token1/removal\""));
    let url = arena.url.clone();
    let asked = async |stranger: &mut Browser, link: &str, reason: &str, origin: &str| {
        stranger.post(&format!("/shared/{link}/removal"), &[("reason", reason)], Some(origin)).await.status()
    };
    assert_eq!(asked(&mut stranger, "token1", "mine", "https://evil.example").await, StatusCode::FORBIDDEN);
    assert_eq!(asked(&mut stranger, "token2", "mine", &url).await, StatusCode::NOT_FOUND);
    assert_eq!(asked(&mut stranger, "token1", "", &url).await, StatusCode::BAD_REQUEST);
    assert_eq!(store.open_deletion_requests().await.unwrap(), 0);
    for _ in 0..3 {
        assert_eq!(asked(&mut stranger, "token1", "mine", &url).await, StatusCode::SEE_OTHER);
    }
    assert_eq!(store.open_deletion_requests().await.unwrap(), 1);
    assert!(text(&mut stranger, "/shared/token1?asked=1").await.contains("The operator has your request."));
    let mut operator = signed_in(&arena, Role::Operator).await;
    assert!(text(&mut operator, "/admin/requests").await.contains("on the battle&#39;s page"));
    let id = store.deletion_requests(1).await.unwrap()[0].request.id.clone();
    let refuse = [("id", id.as_str()), ("decision", "refuse"), ("answer", "not yours")];
    assert_eq!(operator.post_form("/admin/requests/decide", &refuse).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(have_texts(&arena, &[&battle]).await, [true]);
    assert_eq!(store.open_deletion_requests().await.unwrap(), 0);
    assert_eq!(asked(&mut stranger, "token1", "again", &url).await, StatusCode::SEE_OTHER, "another may follow");
}

#[actix_web::test]
async fn a_request_is_entered_by_either_link_to_a_battle_from_whatever_host() {
    let arena = arena(|_| {}).await;
    let mut visitor = arena.visitor().await;
    let (own, shared) = (play(&mut visitor, "Own?").await, play(&mut visitor, "Shared?").await);
    let store = &arena.app.store;
    let owner = store.battle_record(&shared).await.unwrap().unwrap().battle.visitor;
    store.share_battle(&shared, &owner, "token1", arena.app.clock.now()).await.unwrap();
    let mut operator = signed_in(&arena, Role::Operator).await;
    for (link, battle) in
        [(format!("https://x.example/battle/{own}?lang=zh"), &own), ("https://x.example/shared/token1".into(), &shared)]
    {
        let add = [("battle", link.as_str()), ("scope", "battle"), ("reason", "a letter")];
        assert_eq!(operator.post_form("/admin/requests/add", &add).await.status(), StatusCode::SEE_OTHER, "{link}");
        assert!(store.deletion_requests(9).await.unwrap().iter().any(|row| row.request.battle == *battle), "{link}");
    }
    let withdrawn = [("battle", "https://x.example/shared/token2"), ("scope", "battle"), ("reason", "a letter")];
    let refused = operator.post_form("/admin/requests/add", &withdrawn).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(refused.text().await.unwrap().contains("No battle is shared by this link any more."));
}
