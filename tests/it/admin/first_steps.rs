//! What an owner meets on the first day: the list of first steps, and a sign-in name that is refused.

use langya::domain::admin::role::Role;
use langya::services::admin::actor::Actor;
use reqwest::StatusCode;

use super::PASSPHRASE;
use super::browser::{Browser, account, arena, signed_in};

/// The steps on the first page: where each leads, and whether it is done.
async fn steps(browser: &mut Browser) -> Vec<(String, bool)> {
    let page = browser.get("/admin").await.text().await.unwrap();
    let Some((_, rest)) = page.split_once("aria-labelledby=\"first-steps\"") else { return Vec::new() };
    let list = rest.split("</section>").next().unwrap();
    let step = |item: &str| (item.split('"').next().unwrap().to_owned(), item.contains("result-ok"));
    list.split("<li><a href=\"").skip(1).map(step).collect()
}

#[actix_web::test]
async fn the_first_page_lists_what_a_new_arena_lacks_until_it_has_models_and_a_vote() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    let of = |steps: &[(&str, bool)]| -> Vec<(String, bool)> {
        steps.iter().map(|(path, is_done)| ((*path).to_owned(), *is_done)).collect()
    };
    let expected = of(&[("/admin/models/add", true), ("/admin/users", false), ("/", false)]);
    assert_eq!(steps(&mut owner).await, expected);
    let (mut operator, mut viewer) = (signed_in(&arena, Role::Operator).await, signed_in(&arena, Role::Viewer).await);
    let expected = of(&[("/admin/models/add", true), ("/admin/users", true), ("/", false)]);
    assert_eq!(steps(&mut owner).await, expected);
    assert_eq!(steps(&mut operator).await, of(&[("/admin/models/add", true), ("/", false)]), "what an operator may do");
    assert!(steps(&mut viewer).await.is_empty());
    let mut visitor = arena.visitor().await;
    visitor.ask("Why?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    assert!(steps(&mut owner).await.is_empty());
}

#[actix_web::test]
async fn a_sign_in_name_says_which_characters_it_takes_before_and_after_the_form_is_sent() {
    let arena = arena(|_| {}).await;
    account(&arena, "boss", Role::Owner, "").await;
    let actor = Actor::of_command("test".to_owned());
    let link = arena.app.admin_users.invite(Role::Viewer, 1, &actor).await.unwrap();
    let mut browser = Browser::new(&arena);
    let form = browser.get("/admin/welcome").await.text().await.unwrap();
    assert!(form.contains("Letters a to z, digits, “.”, “-” and “_”, without spaces"), "{form}");
    assert!(form.contains("pattern=\"\\s*[A-Za-z0-9._\\-]{1,40}\\s*\""), "{form}");
    let refused = browser.join(&link, "Ada Lovelace", PASSPHRASE).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    let alert = page.split("role=\"alert\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(alert.contains("letters a to z") && alert.contains("without spaces, such as ada.lovelace"), "{alert}");
    assert_eq!(browser.join(&link, "Ada.Lovelace", PASSPHRASE).await.status(), StatusCode::SEE_OTHER);
    assert!(arena.app.store.admin_user("ada.lovelace").await.unwrap().is_some());
}
