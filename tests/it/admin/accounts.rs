//! Accounts as owners change them: links for a new passphrase, locking out, and giving up the own role.

use langya::domain::admin::role::Role;
use langya::infra::storage::AuditFilter;
use reqwest::StatusCode;

use super::PASSPHRASE;
use super::browser::{Browser, account, arena, signed_in};

async fn change(owner: &mut Browser, name: &str, change: &str, role: &str) -> reqwest::Response {
    owner.post_form("/admin/users/change", &[("name", name), ("change", change), ("role", role)]).await
}

/// Resets an account and returns the link for a new passphrase.
async fn reset(owner: &mut Browser, name: &str) -> String {
    let page = change(owner, name, "reset", "").await.text().await.unwrap();
    page.split("class=\"link\">").nth(1).unwrap().split('<').next().unwrap().to_owned()
}

#[actix_web::test]
async fn a_link_for_a_new_passphrase_says_whose_account_it_is_and_asks_for_no_name() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    account(&arena, "ada", Role::Viewer, "").await;
    let link = reset(&mut owner, "ada").await;
    let (address, code) = link.strip_prefix(&arena.url).unwrap().split_once('#').unwrap();
    assert_eq!(address, "/admin/welcome?account=ada");
    let mut browser = Browser::new(&arena);
    let page = browser.get(address).await.text().await.unwrap();
    assert!(page.contains("Choose a new passphrase for the account ada."), "{page}");
    assert!(!page.contains("name=\"name\""), "{page}");
    let choose = async |browser: &mut Browser, passphrase: &str| {
        let (token, origin) = (browser.form_token("/admin/welcome").await, browser.origin.clone());
        let fields = [("token", token.as_str()), ("link", code), ("account", "ada"), ("passphrase", passphrase)];
        browser.post("/admin/welcome", &fields, Some(&origin)).await
    };
    let short = choose(&mut browser, "too short").await;
    assert_eq!(short.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!short.text().await.unwrap().contains("name=\"name\""), "nor after a mistake");
    assert_eq!(choose(&mut browser, PASSPHRASE).await.headers()["location"], "/admin/account");
    assert_eq!(browser.get("/admin/account").await.status(), StatusCode::OK);
    for address in ["/admin/welcome", "/admin/welcome?account=%3Cb%3E"] {
        let page = Browser::new(&arena).get(address).await.text().await.unwrap();
        assert!(page.contains("name=\"name\""), "a link for a new account asks for a name: {page}");
    }
}

#[actix_web::test]
async fn the_link_of_somebody_who_is_locked_out_works_when_they_are_let_in_again() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    account(&arena, "ada", Role::Viewer, "").await;
    assert_eq!(change(&mut owner, "ada", "disable", "").await.status(), StatusCode::SEE_OTHER);
    let link = reset(&mut owner, "ada").await;
    let code = link.split('#').nth(1).unwrap();
    let mut browser = Browser::new(&arena);
    assert_eq!(browser.join(code, "", PASSPHRASE).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(arena.app.store.admin_user("ada").await.unwrap().unwrap().passphrase_hash, "");
    change(&mut owner, "ada", "enable", "").await;
    assert_eq!(browser.join(code, "", PASSPHRASE).await.headers()["location"], "/admin/account");
    assert_eq!(browser.get("/admin/account").await.status(), StatusCode::OK);
}

#[actix_web::test]
async fn an_owner_who_gives_up_the_role_is_led_to_a_page_of_the_new_role() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    account(&arena, "ada", Role::Owner, "a hash, as of somebody who can sign in").await;
    let done = change(&mut owner, "owner", "role", "viewer").await;
    let location = done.headers()["location"].to_str().unwrap().to_owned();
    let page = owner.get(&location).await;
    assert_eq!(page.status(), StatusCode::OK, "{location}");
    assert!(page.text().await.unwrap().contains("<p class=\"done\" role=\"status\">"), "{location}");
}

#[actix_web::test]
async fn a_change_that_is_made_twice_has_one_entry() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    account(&arena, "ada", Role::Viewer, "").await;
    for (what, role) in [("role", "viewer"), ("enable", ""), ("disable", ""), ("disable", "")] {
        assert_eq!(change(&mut owner, "ada", what, role).await.status(), StatusCode::SEE_OTHER, "{what}");
    }
    let own = AuditFilter { actor: Some("owner".to_owned()), ..AuditFilter::default() };
    let audit = arena.app.store.audit_entries(&own, 9).await.unwrap();
    let actions: Vec<&str> = audit.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["disable_user", "sign_in"]);
}
