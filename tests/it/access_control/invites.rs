//! Invites: their codes let in as many people as they are for.

use langya::domain::access::invite_code;
use langya::domain::time::Timestamp;
use langya::infra::config::AccessMode;
use langya::infra::passphrase_hash::code_hash;
use langya::infra::time::clock::Clock as _;
use reqwest::StatusCode;

use super::access::{Browser, PASSPHRASE, SIGNED_OUT, TIMEOUT, arena, check_status, invite};
use crate::support::program::{Server, langya_beside};

/// The commands of an operator beside a running arena: a code lets two people in, and revoking it signs them out.
#[actix_web::test]
async fn an_operator_makes_lists_and_revokes_codes_beside_the_running_arena() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = folder.path().to_owned();
    std::fs::write(in_folder.join("langya.toml"), "[access]\nmode = \"invite\"\n").unwrap();
    let server = Server::start_in(&in_folder, &["--config", "langya.toml"], &[]);
    let run = async |arguments: &[&str]| langya_beside(&in_folder, arguments).await;
    let list = async || -> serde_json::Value {
        serde_json::from_str(&run(&["invites", "list", "--format", "json"]).await.stdout).unwrap()
    };
    let made = run(&["invites", "create", "--quota", "2", "--note", "course 7"]).await;
    let (code, id) = made.stdout.trim().split_once("  ").unwrap_or_else(|| panic!("{made:?}"));
    for uses in 1..=2 {
        let mut browser = Browser::at(&server.url);
        check_status(&browser.sign_in(code).await, StatusCode::SEE_OTHER);
        assert_eq!(list().await[0]["uses"], uses);
    }
    let listed = &list().await[0];
    assert_eq!((&listed["state"], &listed["note"], &listed["id"]), (&"used up".into(), &"course 7".into(), &id.into()));
    assert!(!listed.to_string().contains(code) && !listed.to_string().contains(&code_hash(&code.replace('-', ""))));

    let mut browser = Browser::at(&server.url);
    let other = run(&["invites", "create"]).await.stdout;
    let (code, id) = other.trim().split_once("  ").unwrap();
    check_status(&browser.sign_in(code).await, StatusCode::SEE_OTHER);
    let mut socket = browser.socket().await.unwrap();
    assert_eq!(run(&["invites", "revoke", id]).await.code, Some(0));
    let closed = tokio::time::timeout(TIMEOUT, socket.try_next()).await.unwrap();
    assert_eq!(closed.unwrap_err().map(u16::from), Some(SIGNED_OUT));
    assert_eq!(run(&["invites", "revoke", id]).await.code, Some(2), "it is revoked already");
    let audit = run(&["admin", "audit"]).await.stdout;
    let entries = ["create_invites", "revoke_invite"].map(|action| audit.matches(action).count());
    assert_eq!(entries, [2, 1], "what is refused has none: {audit}");
}

#[actix_web::test]
async fn an_invite_lets_in_as_many_as_it_is_for_and_says_why_it_lets_in_nobody_else() {
    let arena = arena(AccessMode::Invite).await;
    let code = invite(&arena, 1, 2, None).await;
    for typed in [code.clone(), code.to_lowercase().replace('-', " ")] {
        let mut browser = Browser::new(&arena);
        check_status(&browser.sign_in(&typed).await, StatusCode::SEE_OTHER);
        assert!(browser.is_admitted().await);
    }
    let expired = invite(&arena, 2, 1, Some(5)).await;
    let revoked = invite(&arena, 3, 1, None).await;
    assert!(arena.app.store.revoke_invite("invite 3", Timestamp(9)).await.unwrap());
    assert!(!arena.app.store.revoke_invite("invite 3", Timestamp(9)).await.unwrap(), "it was revoked already");
    let unknown = invite_code::encode(4);
    for (code, words) in [
        (code.as_str(), "has been used already"),
        (&expired, "has expired"),
        (&revoked, "is not valid any more"),
        (&unknown, "Check for typing errors"),
        ("", "Check for typing errors"),
        ("' OR 1=1 --", "Check for typing errors"),
        (PASSPHRASE, "Check for typing errors"),
    ] {
        let mut browser = Browser::new(&arena);
        let refused = browser.sign_in(code).await;
        check_status(&refused, StatusCode::FORBIDDEN);
        let page = refused.text().await.unwrap();
        assert!(page.contains(words), "{code}: {page}");
        assert!(page.contains(&format!("value=\"{}\"", code.replace('\'', "&#39;"))), "{code} can be mended: {page}");
        assert!(!browser.is_admitted().await, "{code}");
    }
}

#[actix_web::test]
async fn who_signs_out_is_told_that_an_invite_for_one_person_works_once_and_what_to_do_when_it_is_typed_again() {
    let arena = arena(AccessMode::Invite).await;
    let code = invite(&arena, 1, 1, None).await;
    let mut browser = Browser::new(&arena);
    check_status(&browser.sign_in(&code).await, StatusCode::SEE_OTHER);
    let battle_page = browser.get("/").await;
    assert_eq!(battle_page.headers()["cache-control"], "no-store", "Back after signing out asks the arena");
    let out = browser.sign_out().await;
    let page = browser.get(out.headers()["location"].to_str().unwrap()).await.text().await.unwrap();
    assert!(page.contains("You are signed out.") && page.contains("to sign in again you need another one"), "{page}");
    assert_eq!(browser.get("/").await.headers()["location"], "/sign-in");
    let again = browser.sign_in(&code).await.text().await.unwrap();
    assert!(again.contains("perhaps by you before you signed out. Ask the operator for another one."), "{again}");
    assert!(!again.contains("You are signed out."), "{again}");
}

#[actix_web::test]
async fn of_many_who_use_the_last_place_of_an_invite_at_once_one_gets_in() {
    let arena = arena(AccessMode::Invite).await;
    let code = invite(&arena, 1, 3, None).await;
    let tries = (0..10).map(|_| async {
        let mut browser = Browser::new(&arena);
        browser.sign_in(&code).await.status() == StatusCode::SEE_OTHER
    });
    let signed_in = futures_util::future::join_all(tries).await;
    assert_eq!(signed_in.into_iter().filter(|in_| *in_).count(), 3);
}

#[actix_web::test]
async fn revoking_an_invite_signs_out_everybody_who_came_in_by_it() {
    let arena = arena(AccessMode::Invite).await;
    let code = invite(&arena, 1, 1, None).await;
    let mut browser = Browser::new(&arena);
    check_status(&browser.sign_in(&code).await, StatusCode::SEE_OTHER);
    let mut socket = browser.socket().await.unwrap();
    // As the command does: in another process, which this one hears nothing of.
    let now = arena.app.clock.now();
    assert!(arena.app.store.revoke_invite("invite 1", now).await.unwrap());
    let closed = tokio::time::timeout(TIMEOUT, socket.try_next()).await.unwrap();
    assert_eq!(closed.unwrap_err().map(u16::from), Some(SIGNED_OUT));
    assert!(!browser.is_admitted().await);
    check_status(&browser.get("/history").await, StatusCode::OK);
}
