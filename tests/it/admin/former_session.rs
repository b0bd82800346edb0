//! A sign-in at the provider in a browser that has a session already.

use langya::domain::admin::role::Role;
use reqwest::StatusCode;
use serde_json::json;

use super::browser::account;
use super::single_sign_on::{Browser, add, audit, beside};
use crate::support::identity_provider::IdentityProvider;

#[actix_web::test]
async fn signing_in_at_the_provider_ends_the_former_session_of_the_browser() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    add(&arena, "ada", Role::Owner, None, Some("subject of ada")).await;
    account(&arena, "ben", Role::Viewer, "").await;
    let (store, sessions) = (&arena.app.store, &arena.app.admin_sessions);
    let ben = store.admin_user("ben").await.unwrap().unwrap();
    let former = sessions.begin(&ben, "127.0.0.1").await.unwrap();
    let mut browser = Browser::new(&arena);
    for (subject, status, goes_on) in [("eve", StatusCode::FORBIDDEN, true), ("subject of ada", StatusCode::OK, false)]
    {
        provider.says(json!({ "sub": subject }));
        browser.cookies.insert("langya_admin".to_owned(), former.clone());
        let back = browser.go("/admin/sign-in/provider").await;
        // A browser keeps a strict cookie back on the way from another site.
        browser.cookies.remove("langya_admin");
        assert_eq!(browser.open(&back).await.status(), status, "{subject}");
        assert_eq!(sessions.find(&former).await.unwrap().is_some(), goes_on, "{subject}");
    }
    assert!(browser.is_admin(), "the new session");
    let kept = audit(&arena).await;
    assert!(kept.contains("\"sign_out\"") && kept.contains("ben"), "{kept}");
}
