//! The admin: who gets in, what each role may do, and what is kept of it.

mod accounts;
mod bench_runs;
pub(crate) mod browser;
mod campaigns;
mod first_steps;
mod former_session;
mod keys;
mod models;
mod moderation;
mod operations;
mod requests;
mod retention;
mod reviews;
mod single_sign_on;
mod voter_check;
mod votes;

use langya::domain::admin::role::Role;
use langya::domain::admin::totp;
use langya::domain::time::Timestamp;
use langya::infra::config::{LimitSettings, WindowLimits};
use langya::infra::storage::{ActedVia, AdminUserRow, AuditFilter, AuditRow, NewAdminSession};
use langya::infra::time::clock::Clock as _;
use langya::server::http::admin::{ADMIN_ROUTES, AdminMethod};
use langya::services::admin::actor::Actor;
use reqwest::StatusCode;
use sha2::{Digest, Sha256};

use crate::support::arena::{NO_LIMITS, TestArena};
use crate::support::program::{Server, langya_beside};
use crate::support::scripted::Scripted;
use browser::{Browser, account, arena, signed_in};

pub(crate) const PASSPHRASE: &str = "seven herons over a quiet lake";

async fn audit(arena: &TestArena) -> Vec<AuditRow> {
    arena.app.store.audit_entries(&AuditFilter::default(), 1_000).await.unwrap()
}

/// What a request of the admin might change.
async fn state(arena: &TestArena) -> (Vec<AdminUserRow>, Vec<AuditRow>, i64) {
    let store = &arena.app.store;
    (store.admin_users().await.unwrap(), audit(arena).await, store.exclusion_changes().await.unwrap())
}

#[actix_web::test]
async fn every_address_refuses_people_without_a_session_or_with_a_lower_role_and_changes_nothing() {
    let arena = arena(|_| {}).await;
    let mut browsers = Vec::new();
    for role in Role::ALL {
        browsers.push((role, signed_in(&arena, role).await));
    }
    let before = state(&arena).await;
    let mut refused = 0;
    for route in &ADMIN_ROUTES {
        let Some(least) = route.least_role() else { continue };
        let ask = async |browser: &mut Browser| match route.method {
            AdminMethod::Get => browser.get(route.path).await,
            AdminMethod::Post => browser.post_form(route.path, &[("name", "owner"), ("change", "disable")]).await,
        };
        let answer = ask(&mut Browser::new(&arena)).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{} without a session", route.path);
        assert_eq!(answer.headers()["cache-control"], "no-store", "{}", route.path);
        let mut forged = Browser::new(&arena);
        forged.admin_cookie = Some("langya_admin=0123456789abcdef0123456789abcdef".to_owned());
        assert_eq!(ask(&mut forged).await.status(), StatusCode::UNAUTHORIZED, "{} with a forged one", route.path);
        for (role, browser) in browsers.iter_mut().filter(|(role, _)| !role.covers(least)) {
            let answer = ask(browser).await;
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{} as {role:?}", route.path);
            assert_eq!(answer.headers()["cache-control"], "no-store", "{}", route.path);
            refused += 1;
        }
        for (role, browser) in browsers.iter_mut().filter(|(role, _)| role.covers(least)) {
            if route.method == AdminMethod::Get {
                // A preview without a decision is a bad request; nothing else about it is refused.
                let status = browser.get(route.path).await.status();
                let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
                assert!(!refused && !status.is_server_error(), "{} as {role:?}: {status}", route.path);
            }
        }
    }
    assert!(refused > 5, "only {refused} refusals of lower roles");
    assert_eq!(state(&arena).await, before, "nothing changed");
}

#[actix_web::test]
async fn a_change_takes_the_token_of_the_session_and_comes_from_a_page_of_the_arena() {
    let arena = arena(|_| {}).await;
    let (mut owner, mut other) = (signed_in(&arena, Role::Owner).await, signed_in(&arena, Role::Operator).await);
    let before = state(&arena).await;
    let (token, others) = (owner.form_token("/admin/account").await, other.form_token("/admin/account").await);
    let own = arena.url.clone();
    for route in ADMIN_ROUTES.iter().filter(|route| route.method == AdminMethod::Post && route.least_role().is_some()) {
        for (token, origin) in [
            (token.as_str(), Some("https://evil.example")),
            (&token, Some("null")),
            (&token, None),
            (&others, Some(own.as_str())),
            ("", Some(&own)),
        ] {
            let answer = owner.post(route.path, &[("token", token), ("name", "operator")], origin).await;
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{} {token:?} {origin:?}", route.path);
        }
    }
    for path in ["/admin/sign-in", "/admin/welcome"] {
        let mut browser = Browser::new(&arena);
        let token = browser.form_token(path).await;
        for (token, origin) in [(token.as_str(), Some("https://evil.example")), ("", Some(own.as_str()))] {
            let answer = browser.post(path, &[("token", token), ("name", "x")], origin).await;
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path} {token:?} {origin:?}");
        }
    }
    assert_eq!(state(&arena).await, before, "nothing changed");
}

#[actix_web::test]
async fn signing_in_begins_a_new_session_and_signing_out_ends_it_on_the_server() {
    let arena = arena(|settings| settings.server.public_url = "https://arena.example.org".to_owned()).await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Owner, &hash).await;
    let mut browser = Browser::new(&arena);
    browser.origin = "https://arena.example.org".to_owned();
    browser.admin_cookie = Some("__Host-langya_admin=planted".to_owned());
    let answer = browser.sign_in("Ada", PASSPHRASE, "").await;
    assert_eq!((answer.status(), &answer.headers()["location"]), (StatusCode::SEE_OTHER, &"/admin".parse().unwrap()));
    let set = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for attribute in ["__Host-langya_admin=", "HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
        assert!(set.contains(attribute), "{set} lacks {attribute}");
    }
    assert!(!set.contains("planted") && !set.contains("Max-Age") && !set.contains("Expires"), "{set}");
    let first = browser.admin_cookie.clone();
    assert_eq!(browser.get("/admin/account").await.status(), StatusCode::OK);
    let mut elsewhere = Browser::new(&arena);
    elsewhere.origin.clone_from(&browser.origin);
    elsewhere.sign_in("ada", PASSPHRASE, "").await;
    assert_ne!(elsewhere.admin_cookie, first);
    // The other session is ended from the list.
    let page = browser.get("/admin/account").await.text().await.unwrap();
    let id = page.split("name=\"session\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(browser.post_form("/admin/account/session", &[("session", &id)]).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(elsewhere.get("/admin/account").await.status(), StatusCode::UNAUTHORIZED);
    // And the own one by signing out: its cookie does not work then, wherever it was copied to.
    assert_eq!(browser.post_form("/admin/sign-out", &[]).await.status(), StatusCode::SEE_OTHER);
    browser.admin_cookie = first;
    assert_eq!(browser.get("/admin/account").await.status(), StatusCode::UNAUTHORIZED);
    let actions: Vec<String> = audit(&arena).await.into_iter().map(|row| row.action).collect();
    assert_eq!(actions[..4], ["sign_out", "end_session", "sign_in", "sign_in"]);
}

#[actix_web::test]
async fn signing_in_again_in_the_same_browser_ends_the_former_session() {
    let arena = arena(|_| {}).await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Owner, &hash).await;
    account(&arena, "ben", Role::Viewer, &hash).await;
    let (mut browser, mut copied) = (Browser::new(&arena), Browser::new(&arena));
    browser.sign_in("ada", PASSPHRASE, "").await;
    copied.admin_cookie.clone_from(&browser.admin_cookie);
    // A try that fails ends nothing.
    assert_eq!(browser.sign_in("ben", "not the passphrase", "").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(copied.get("/admin/account").await.status(), StatusCode::OK);
    assert_eq!(browser.sign_in("ben", PASSPHRASE, "").await.status(), StatusCode::SEE_OTHER);
    assert_eq!(copied.get("/admin/account").await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(browser.get("/admin/account").await.status(), StatusCode::OK);
    // Sorted, because two entries of one millisecond have no order.
    let mut entries: Vec<(String, String)> =
        audit(&arena).await.into_iter().map(|row| (row.action, row.actor)).take(3).collect();
    entries.sort();
    let expected = [("sign_in", "ada"), ("sign_in", "ben"), ("sign_out", "ada")];
    assert_eq!(entries, expected.map(|(action, actor)| (action.to_owned(), actor.to_owned())));
}

#[actix_web::test]
async fn a_session_ends_when_nobody_uses_it_and_at_the_latest_after_its_hours() {
    let arena = arena(|_| {}).await;
    account(&arena, "ada", Role::Viewer, "").await;
    let now = arena.app.clock.now().0;
    let minute = 60_000;
    for (id, created, expires, status) in [
        ("fresh", now, now + 60 * minute, StatusCode::OK),
        ("idle", now - 61 * minute, now + minute, StatusCode::UNAUTHORIZED),
        ("over", now - minute, now, StatusCode::UNAUTHORIZED),
    ] {
        let token_hash = langya::domain::hex::hex(&Sha256::digest(format!("langya admin session {id}")));
        let (created_at, expires_at) = (Timestamp(created), Timestamp(expires));
        let session =
            NewAdminSession { id, token_hash: &token_hash, user_id: "id of ada", address: "", created_at, expires_at };
        arena.app.store.begin_admin_session(session, &browser::entry(&format!("0-{id}"))).await.unwrap();
        let mut browser = Browser::new(&arena);
        browser.admin_cookie = Some(format!("langya_admin={id}"));
        assert_eq!(browser.get("/admin/account").await.status(), status, "{id}");
    }
}

#[actix_web::test]
async fn guessing_is_slowed_down_and_the_owner_still_gets_in_from_elsewhere() {
    let arena = arena(|settings| {
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        settings.limits = LimitSettings {
            admin_sign_ins_per_address: WindowLimits::new(0, 3, 0),
            admin_sign_ins_per_account: WindowLimits::new(0, 4, 0),
            ..NO_LIMITS
        };
    })
    .await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Owner, &hash).await;
    let from = async |address: &str, name: &str, passphrase: &str| {
        let mut browser = Browser::new(&arena);
        browser.forwarded_for = Some(address.to_owned());
        browser.sign_in(name, passphrase, "").await
    };
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(from("198.51.100.7", "ada", "not the passphrase").await.status().as_u16());
    }
    assert_eq!(statuses, [403, 403, 403, 429, 429], "three tries from one network");
    let refused = from("198.51.100.99", "ada", PASSPHRASE).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "the right one neither, from the guesser's network");
    assert!(refused.headers().contains_key("retry-after"));
    // The account's tries are used up from another network; a third one has one left.
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(from("203.0.113.5", "ada", "not the passphrase").await.status().as_u16());
    }
    assert_eq!(statuses, [403, 403, 429], "one of the account's, and the last of this network");
    assert_eq!(from("192.0.2.1", "ada", PASSPHRASE).await.status(), StatusCode::SEE_OTHER, "the owner gets in");
    assert_eq!(from("192.0.2.1", "nobody", "not the passphrase").await.status(), StatusCode::FORBIDDEN);
}

#[actix_web::test]
async fn a_stolen_session_guesses_the_pass_phrase_no_faster_than_a_sign_in() {
    let arena = arena(|settings| {
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        settings.limits = LimitSettings {
            admin_sign_ins_per_address: WindowLimits::new(0, 4, 0),
            admin_sign_ins_per_account: WindowLimits::new(0, 4, 0),
            ..NO_LIMITS
        };
    })
    .await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Viewer, &hash).await;
    let user = arena.app.store.admin_user("ada").await.unwrap().unwrap();
    let token = arena.app.admin_sessions.begin(&user, "127.0.0.1").await.unwrap();
    let mut thief = Browser::new(&arena);
    thief.admin_cookie = Some(format!("langya_admin={token}"));
    thief.forwarded_for = Some("198.51.100.7".to_owned());
    let mut statuses = Vec::new();
    for path in ["passphrase", "factor/begin", "factor/off", "passphrase", "passphrase", "factor/begin", "factor/off"] {
        let guess = [("former", "not the passphrase"), ("latter", "eight herons over a quiet lake")];
        let answer = thief.post_form(&format!("/admin/account/{path}"), &guess).await;
        statuses.push(answer.status().as_u16());
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.headers().contains_key("retry-after"), "{path}");
        }
    }
    assert_eq!(statuses, [403, 403, 403, 403, 429, 429, 429], "four tries, whatever they are for");
    let right = [("former", PASSPHRASE), ("latter", "eight herons over a quiet lake")];
    let refused = thief.post_form("/admin/account/passphrase", &right).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "the right one neither");
    let mut owner = Browser::new(&arena);
    owner.forwarded_for = Some("192.0.2.1".to_owned());
    assert_eq!(owner.sign_in("ada", PASSPHRASE, "").await.status(), StatusCode::SEE_OTHER, "the owner gets in");
}

#[actix_web::test]
async fn a_wrong_name_a_wrong_pass_phrase_and_a_locked_out_account_get_one_answer() {
    let arena = arena(|_| {}).await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Owner, &hash).await;
    account(&arena, "ben", Role::Viewer, &hash).await;
    account(&arena, "reset", Role::Viewer, "").await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    assert_eq!(
        owner.post_form("/admin/users/change", &[("name", "ben"), ("change", "disable")]).await.status(),
        StatusCode::SEE_OTHER
    );
    let mut answers = Vec::new();
    for (name, passphrase) in
        [("ada", "not the passphrase"), ("nobody", PASSPHRASE), ("ben", PASSPHRASE), ("reset", ""), ("a b", PASSPHRASE)]
    {
        let answer = Browser::new(&arena).sign_in(name, passphrase, "").await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}");
        let page = answer.text().await.unwrap();
        let alert = page.split("role=\"alert\"").nth(1).unwrap().split("</p>").next().unwrap().to_owned();
        answers.push(alert);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[actix_web::test]
async fn disabling_demoting_or_resetting_an_owner_voids_the_invite_links_that_they_made() {
    let arena = arena(|_| {}).await;
    let mut owner = signed_in(&arena, Role::Owner).await;
    let users = &arena.app.admin_users;
    let link_of = async |name: &str| {
        let actor = Actor { name: name.to_owned(), via: ActedVia::Page, address: String::new() };
        users.invite(Role::Owner, 24, &actor).await.unwrap()
    };
    let kept = link_of("owner").await;
    // A reset shows the new link to the account; the others lead back to the list.
    for (name, change, role, expected) in [
        ("eve", "disable", "", StatusCode::SEE_OTHER),
        ("mallory", "role", "operator", StatusCode::SEE_OTHER),
        ("trudy", "reset", "", StatusCode::OK),
    ] {
        account(&arena, name, Role::Owner, "").await;
        let link = link_of(name).await;
        assert!(users.find_link(&link).await.unwrap().is_some(), "{name}");
        let fields = [("name", name), ("change", change), ("role", role)];
        let status = owner.post_form("/admin/users/change", &fields).await.status();
        assert_eq!(status, expected, "{name}");
        assert_eq!(users.find_link(&link).await.unwrap(), None, "{name}");
    }
    assert!(users.find_link(&kept).await.unwrap().is_some(), "links of others stay");
}

#[actix_web::test]
async fn a_second_factor_takes_each_code_once_and_a_recovery_code_instead() {
    let arena = arena(|_| {}).await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Viewer, &hash).await;
    let mut browser = Browser::new(&arena);
    browser.sign_in("ada", PASSPHRASE, "").await;
    let without = browser.post_form("/admin/account/factor/begin", &[("former", "not the passphrase")]).await;
    assert_eq!(without.status(), StatusCode::FORBIDDEN);
    assert_eq!(arena.app.store.admin_user("ada").await.unwrap().unwrap().totp_pending, None);
    browser.post_form("/admin/account/factor/begin", &[("former", PASSPHRASE)]).await;
    let pending = arena.app.store.admin_user("ada").await.unwrap().unwrap().totp_pending.unwrap();
    let secret: Vec<u8> =
        (0..pending.len() / 2).map(|at| u8::from_str_radix(&pending[2 * at..2 * at + 2], 16).unwrap()).collect();
    let page = browser.get("/admin/account").await.text().await.unwrap();
    assert!(page.contains(&totp::secret_text(&secret)));
    let address = page.split("href=\"otpauth:").nth(1).unwrap().split('"').next().unwrap();
    let address = format!("otpauth:{address}").replace("&#38;", "&").replace("&amp;", "&");
    assert!(page.contains(&langya::render::qr_code::picture(&address).unwrap().path), "{page}");
    let wrong = browser.post_form("/admin/account/factor/on", &[("code", "000")]).await;
    assert_eq!(wrong.status(), StatusCode::FORBIDDEN);
    let step = totp::step_at(arena.app.clock.now().0);
    let on = browser.post_form("/admin/account/factor/on", &[("code", &totp::code(&secret, step))]).await;
    let page = on.text().await.unwrap();
    let codes: Vec<&str> = page.split("<li><code>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(codes.len(), 8, "{page}");
    assert!(!browser.get("/admin/account").await.text().await.unwrap().contains(codes[0]), "shown once");

    let status = async |code: &str| Browser::new(&arena).sign_in("ada", PASSPHRASE, code).await.status();
    assert_eq!(status("").await, StatusCode::FORBIDDEN);
    assert_eq!(status(&totp::code(&secret, step)).await, StatusCode::FORBIDDEN, "it confirmed the factor");
    let next = totp::code(&secret, step + 1);
    assert_eq!(status(&next).await, StatusCode::SEE_OTHER);
    assert_eq!(status(&next).await, StatusCode::FORBIDDEN, "taken once");
    assert_eq!(status(codes[0]).await, StatusCode::SEE_OTHER);
    assert_eq!(status(codes[0]).await, StatusCode::FORBIDDEN, "taken once");
    let without = browser.post_form("/admin/account/factor/off", &[("former", "not the passphrase")]).await;
    assert_eq!(without.status(), StatusCode::FORBIDDEN);
    browser.post_form("/admin/account/factor/off", &[("former", PASSPHRASE)]).await;
    assert_eq!(status("").await, StatusCode::SEE_OTHER);
    let kept = format!("{:?}", audit(&arena).await);
    for secret in [pending.as_str(), &totp::secret_text(&secret), codes[0], PASSPHRASE, &hash] {
        assert!(!kept.contains(secret), "the audit log holds no secret");
    }
}

#[actix_web::test]
async fn a_second_factor_that_nobody_confirms_expires_and_a_new_one_replaces_it() {
    let arena = arena(|_| {}).await;
    let hash = langya::infra::passphrase_hash::passphrase_hash(PASSPHRASE).unwrap();
    account(&arena, "ada", Role::Viewer, &hash).await;
    let (store, mut browser) = (&arena.app.store, Browser::new(&arena));
    browser.sign_in("ada", PASSPHRASE, "").await;
    let (now, secret) = (arena.app.clock.now(), [7; totp::SECRET_BYTES]);
    let begin = async |minutes: i64| {
        let begun_at = Timestamp(now.0 - minutes * 60_000);
        store.begin_admin_totp("id of ada", &langya::domain::hex::hex(&secret), begun_at).await.unwrap();
    };
    let code = totp::code(&secret, totp::step_at(now.0));
    let secret = totp::secret_text(&secret);

    begin(15).await;
    let page = browser.get("/admin/account").await.text().await.unwrap();
    assert!(page.contains("/admin/account/factor/begin") && !page.contains(&secret), "{page}");
    let late = browser.post_form("/admin/account/factor/on", &[("code", &code)]).await;
    assert_eq!(late.status(), StatusCode::FORBIDDEN);
    assert!(late.text().await.unwrap().contains("This key has expired"));
    assert_eq!(store.admin_user("ada").await.unwrap().unwrap().totp_secret, None);

    begin(10).await;
    let page = browser.get("/admin/account").await.text().await.unwrap();
    assert!(page.contains(&secret) && page.contains("within 15 minutes"), "{page}");
    browser.post_form("/admin/account/factor/begin", &[("former", PASSPHRASE)]).await;
    let replaced = browser.post_form("/admin/account/factor/on", &[("code", &code)]).await;
    assert_eq!(replaced.status(), StatusCode::FORBIDDEN, "a code of the key that was replaced");

    begin(10).await;
    let on = browser.post_form("/admin/account/factor/on", &[("code", &code)]).await;
    assert_eq!(on.status(), StatusCode::OK);
    let user = store.admin_user("ada").await.unwrap().unwrap();
    assert!(user.totp_secret.is_some() && user.totp_pending_at.is_none());
}

#[actix_web::test]
async fn a_first_start_prints_a_link_and_commands_run_the_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let log = server.logged("to become the owner").await;
    let link = log.split("open ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(link.starts_with(&format!("{}/admin/welcome#", server.url)), "{link}");
    let code = link.split('#').nth(1).unwrap().to_owned();
    let mut browser = Browser::at(&server.url);
    let short = browser.join(&code, "Ada", "too short").await;
    assert_eq!(short.status(), StatusCode::UNPROCESSABLE_ENTITY, "the link is still good");
    let joined = browser.join(&code, "Ada", PASSPHRASE).await;
    assert_eq!((joined.status(), &joined.headers()["location"]), (StatusCode::SEE_OTHER, &"/admin".parse().unwrap()));
    let first = browser.get("/admin").await.text().await.unwrap();
    assert!(
        first.contains("Until then, the built-in practice models answer.") && !first.contains("result-ok"),
        "{first}"
    );
    assert_eq!(browser.get("/admin/users").await.status(), StatusCode::OK, "signed in as the owner");
    let again = Browser::at(&server.url).join(&code, "eve", PASSPHRASE).await;
    assert_eq!(again.status(), StatusCode::UNPROCESSABLE_ENTITY, "a link is good once");

    let run =
        async |arguments: &[&str]| langya_beside(folder.path(), &[arguments, &["--data-dir", "data"]].concat()).await;
    let invited = run(&["admin", "invite", "--role", "viewer"]).await;
    assert!(invited.stdout.starts_with("/admin/welcome#"), "only the arena knows where it listens: {invited:?}");
    assert!(invited.stderr.contains("at the address of the arena"), "{invited:?}");
    let code = invited.stdout.trim().split('#').nth(1).unwrap().to_owned();
    let mut viewer = Browser::at(&server.url);
    let joined = viewer.join(&code, "ben", PASSPHRASE).await;
    assert_eq!(joined.headers()["location"], "/admin/account");
    assert_eq!(viewer.get("/admin/audit").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(run(&["admin", "users", "role", "ben", "operator"]).await.code, Some(0));
    assert_eq!(viewer.get("/admin/audit").await.status(), StatusCode::OK, "from the next request on");
    for last in [&["admin", "users", "role", "ada", "viewer"][..], &["admin", "users", "disable", "ada"]] {
        let refused = run(last).await;
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("ada is the last owner"), "{refused:?}");
    }
    let reset = run(&["admin", "users", "reset", "ben"]).await.stdout;
    assert_eq!(viewer.get("/admin/account").await.status(), StatusCode::UNAUTHORIZED, "a reset ends all sessions");
    assert!(reset.contains("/admin/welcome?account=ben#"), "{reset}");
    let code = reset.trim().split('#').nth(1).unwrap().to_owned();
    assert_eq!(viewer.join(&code, "ignored", PASSPHRASE).await.status(), StatusCode::SEE_OTHER);
    let users: serde_json::Value =
        serde_json::from_str(&run(&["admin", "users", "list", "--format", "json"]).await.stdout).unwrap();
    assert_eq!((&users[1]["name"], &users[1]["role"]), (&"ben".into(), &"operator".into()));
    let audit: serde_json::Value =
        serde_json::from_str(&run(&["admin", "audit", "--format", "json"]).await.stdout).unwrap();
    let told: Vec<(&str, &str)> = audit
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["via"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("join", "page"),
            ("sign_in", "page"),
            ("invite", "command"),
            ("join", "page"),
            ("sign_in", "page"),
            ("change_role", "command"),
            ("reset_user", "command"),
            ("join", "page"),
            ("sign_in", "page"),
        ]
    );
    assert_eq!(audit[3]["before"], "{\"role\":\"viewer\"}", "{}", audit[3]);
    std::fs::write(folder.path().join("public.toml"), "[server]\npublic_url = \"https://arena.example.org\"\n")
        .unwrap();
    let whole = run(&["admin", "invite", "--role", "viewer", "--config", "public.toml"]).await;
    assert!(whole.stdout.starts_with("https://arena.example.org/admin/welcome#"), "{whole:?}");
    let everything = format!("{audit}{users}{}", server.log_at_end().await);
    assert!(!everything.contains(&code) && !everything.contains(PASSPHRASE) && !everything.contains("argon2"));
}

#[actix_web::test]
async fn a_start_with_an_owner_prints_no_link() {
    let arena = TestArena::start(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))]).await;
    assert!(arena.app.admin_users.first_link(1).await.unwrap().is_some());
    account(&arena, "ada", Role::Owner, "").await;
    assert!(arena.app.admin_users.first_link(1).await.unwrap().is_none());
}
