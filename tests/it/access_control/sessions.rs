//! Sessions are the arena's to give: nobody can choose one, and they outlive a restart.

use std::sync::Arc;

use langya::infra::events::{InstanceId, LocalBus};
use serde_json::json;
use tempfile::TempDir;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::Visitor;

async fn arena_in(folder: &TempDir, public_url: &str) -> TestArena {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.data_dir = folder.path().join("data");
        public_url.clone_into(&mut settings.server.public_url);
    })
    .await
}

fn set_cookie(visitor: &Visitor) -> Option<&str> {
    visitor.headers.iter().find_map(|header| header.strip_prefix("set-cookie: "))
}

async fn with_cookie(arena: &TestArena, cookie: &str) -> Visitor {
    Visitor::connect_with(&arena.url, Some(("cookie", cookie.to_owned()))).await.unwrap()
}

#[actix_web::test]
async fn a_token_that_the_arena_did_not_issue_gets_a_new_session() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena_in(&folder, "").await;
    let victim = arena.visitor().await;
    let (number, signature) = victim.cookie().split_once('.').unwrap();
    let unsigned = number.to_owned();
    let chosen = format!("langya_session={}", "0".repeat(32));
    let other_name = victim.cookie().replace("langya_session", "session");
    for forged in [chosen.clone(), format!("{chosen}.{signature}"), unsigned, other_name, "langya_session=".to_owned()]
    {
        let visitor = with_cookie(&arena, &forged).await;
        let issued = set_cookie(&visitor).unwrap_or_else(|| panic!("{forged} was taken"));
        assert_ne!(issued.split(';').next(), Some(forged.as_str()));
    }
    assert_eq!(set_cookie(&victim.reconnect().await), None, "what the arena issued is taken");
    // A foreign cookie of the same name, set for a parent domain, does not hide ours.
    let both = with_cookie(&arena, &format!("{chosen}; {}", victim.cookie())).await;
    assert_eq!(set_cookie(&both), None);
}

#[actix_web::test]
async fn a_session_outlives_a_restart_and_is_known_to_every_instance() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena_in(&folder, "").await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let (cookie, battle) = (visitor.cookie().to_owned(), visitor.battle());
    let beside = {
        let models = [("one", Scripted::saying("One.")), ("two", Scripted::saying("Two."))];
        let models: Vec<(&str, &Scripted)> = models.iter().map(|(id, model)| (*id, model)).collect();
        let bus = Arc::new(LocalBus::new(InstanceId("beside".into())));
        TestArena::start_on(&models, bus, Some(&arena), |_| {}).await
    };
    assert_eq!(set_cookie(&with_cookie(&beside, &cookie).await), None, "another instance");
    beside.end().await;
    arena.app.store.close().await;
    arena.end().await;

    let again = arena_in(&folder, "").await;
    let mut back = with_cookie(&again, &cookie).await;
    assert_eq!(set_cookie(&back), None, "a restart");
    back.send(json!({"type": "vote", "battle": battle, "outcome": "a"})).await;
    assert_eq!(back.next().await["type"], "revealed");
}

#[actix_web::test]
async fn the_cookie_is_bound_to_its_host_where_the_arena_is_public_by_tls() {
    let folder = tempfile::tempdir().unwrap();
    let plain = arena_in(&folder, "").await.visitor().await;
    let plain = set_cookie(&plain).unwrap();
    assert!(plain.starts_with("langya_session=") && !plain.contains("Secure"), "{plain}");

    let folder = tempfile::tempdir().unwrap();
    let arena = arena_in(&folder, "https://arena.example.org").await;
    let visitor = arena.visitor().await;
    let set = set_cookie(&visitor).unwrap();
    assert!(set.starts_with("__Host-langya_session="), "{set}");
    for part in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(set.contains(part), "{set} lacks {part}");
    }
    assert!(!set.contains("Domain"), "{set}");
    assert_eq!(set_cookie(&visitor.reconnect().await), None);
    let renamed = visitor.cookie().replace("__Host-", "");
    assert!(set_cookie(&with_cookie(&arena, &renamed).await).is_some(), "a subdomain could have set this one");
}
