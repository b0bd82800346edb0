//! Signing in at a provider of OpenID Connect: who gets in, and everything that a browser, another site or the provider may try.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use langya::domain::admin::role::Role;
use langya::domain::time::Timestamp;
use langya::infra::config::{AccessMode, Settings};
use langya::infra::limits::SingleUse;
use langya::infra::oidc::{OidcClient, OidcError, ProviderCallback, Purpose, SignInFlow, TokenError};
use langya::infra::passphrase_hash::passphrase_hash;
use langya::infra::storage::UserChange;
use langya::infra::time::clock::{Clock, SystemClock};
use langya::services::admin::actor::Actor;
use langya::services::admin::oidc_users::ProviderUser;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use super::browser::{Browser as FormBrowser, account};
use crate::storage::images::keep_for;
use crate::support::arena::TestArena;
use crate::support::identity_provider::{CLIENT, IdentityProvider, SECRET, Signing};
use crate::support::program::{Server, langya_beside};
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, http_client};

const EMAIL: &str = "ada@example.org";

/// An arena beside a provider.
pub(super) async fn beside(provider: &IdentityProvider, change: impl FnOnce(&mut Settings)) -> TestArena {
    let arena = TestArena::start(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))]).await;
    let mut settings = (*arena.app.settings.now()).clone();
    settings.server.public_url.clone_from(&arena.url);
    settings.oidc.issuer.clone_from(&provider.url);
    settings.oidc.client_id = CLIENT.into();
    settings.oidc.client_secret = SECRET.into();
    settings.oidc.name = "Lab ID".into();
    settings.oidc.admins = true;
    change(&mut settings);
    arena.app.settings.replace(settings);
    arena
}

pub(super) async fn add(arena: &TestArena, name: &str, role: Role, email: Option<&str>, subject: Option<&str>) {
    let issuer = arena.app.settings.now().oidc.issuer.clone();
    let user = ProviderUser { name, role, email, subject };
    arena.app.admin_users.add_at_provider(user, &issuer, &Actor::of_command("test".into())).await.unwrap();
}

/// A browser that keeps its cookies and follows nothing.
pub(super) struct Browser {
    client: reqwest::Client,
    url: String,
    pub(super) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(super) fn new(arena: &TestArena) -> Self {
        let client = http_client().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { client, url: arena.url.clone(), cookies: BTreeMap::new() }
    }

    pub(super) async fn open(&mut self, address: &str) -> Response {
        let address = if address.starts_with('/') { format!("{}{address}", self.url) } else { address.to_owned() };
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = self.client.get(address);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        let response = request.send().await.unwrap();
        for set in response.headers().get_all("set-cookie") {
            let (name, value) = set.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        response
    }

    /// Goes to the provider, and returns the address that it sends back to.
    pub(super) async fn go(&mut self, begin: &str) -> String {
        let begun = self.open(begin).await;
        assert_eq!(begun.status(), StatusCode::SEE_OTHER, "{:?}", begun.text().await);
        let there = begun.headers()["location"].to_str().unwrap().to_owned();
        let back = self.client.get(there).send().await.unwrap();
        back.headers()["location"].to_str().unwrap().to_owned()
    }

    /// Signs in to the admin.
    async fn sign_in(&mut self) -> Response {
        let back = self.go("/admin/sign-in/provider").await;
        self.open(&back).await
    }

    pub(super) fn is_admin(&self) -> bool {
        self.cookies.contains_key("langya_admin")
    }

    fn session(&self) -> (&'static str, String) {
        ("cookie", format!("langya_session={}", self.cookies["langya_session"]))
    }

    async fn is_admitted(&self) -> bool {
        Visitor::connect_with(&self.url, Some(self.session())).await.is_ok()
    }
}

/// A try to sign in to the admin by a new browser that has to fail with this status.
#[track_caller]
fn check_refused(browser: &Browser, response: &Response, status: StatusCode, what: &str) {
    assert_eq!(response.status(), status, "{what}");
    assert!(!browser.is_admin(), "{what}");
}

pub(super) async fn audit(arena: &TestArena) -> String {
    format!("{:?}", super::audit(arena).await)
}

#[actix_web::test]
async fn somebody_added_by_address_signs_in_and_is_known_by_subject_from_then_on() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    add(&arena, "ada", Role::Reviewer, Some(" Ada@Example.org"), None).await;
    for unverified in [json!({ "email": EMAIL }), json!({ "email": EMAIL, "email_verified": "true" }), json!({})] {
        provider.says(unverified);
        let mut browser = Browser::new(&arena);
        let refused = browser.sign_in().await;
        check_refused(&browser, &refused, StatusCode::FORBIDDEN, "an address that is not verified");
        assert!(refused.text().await.unwrap().contains("has no permissions here"));
    }
    provider.says(json!({ "email": EMAIL, "email_verified": true }));
    let mut browser = Browser::new(&arena);
    let back = browser.go("/admin/sign-in/provider?next=/admin/votes").await;
    let page = browser.open(&back).await;
    assert_eq!(page.status(), StatusCode::OK);
    assert!(page.text().await.unwrap().contains("content=\"0; url=/admin/votes\""));
    assert_eq!(browser.open("/admin/votes").await.status(), StatusCode::OK);
    assert_eq!(browser.open("/admin/users").await.status(), StatusCode::FORBIDDEN, "a reviewer");

    provider.says(json!({ "email": EMAIL, "email_verified": true, "sub": "eve" }));
    let mut eve = Browser::new(&arena);
    let refused = eve.sign_in().await;
    check_refused(&eve, &refused, StatusCode::FORBIDDEN, "a person who has the address later");
    provider.says(json!({ "email": "other@example.org", "email_verified": true }));
    assert_eq!(Browser::new(&arena).sign_in().await.status(), StatusCode::OK, "the subject counts");
    let kept = audit(&arena).await.to_lowercase();
    assert!(kept.contains("add_user") && kept.contains("sign_in"), "{kept}");
    assert!(!kept.contains("example.org") && !kept.contains("subject of ada"), "{kept}");
}

#[actix_web::test]
async fn having_an_account_gives_nothing_and_a_locked_one_stays_locked() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    let mut browser = Browser::new(&arena);
    let refused = browser.sign_in().await;
    check_refused(&browser, &refused, StatusCode::FORBIDDEN, "nobody was added");
    assert!(arena.app.admin_users.list().await.unwrap().is_empty());
    add(&arena, "ada", Role::Operator, None, Some("subject of ada")).await;
    let actor = Actor::of_command("test".into());
    arena.app.admin_users.change("ada", UserChange::Disable, &actor).await.unwrap();
    let refused = browser.sign_in().await;
    check_refused(&browser, &refused, StatusCode::FORBIDDEN, "locked out");
    let reset = arena.app.admin_users.reset("ada", 1, &actor).await.unwrap_err().to_string();
    assert!(reset.contains("at the provider"), "{reset}");
}

#[actix_web::test]
async fn a_claim_gives_its_role_again_at_each_sign_in() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |settings| {
        settings.oidc.role_claim = "groups".into();
        settings.oidc.roles = BTreeMap::from([("staff".into(), Role::Reviewer), ("boss".into(), Role::Owner)]);
    })
    .await;
    let role = async || arena.app.admin_users.list().await.unwrap().first().map(|user| (user.name.clone(), user.role));
    for (groups, status, expected) in [
        (json!(["guests"]), StatusCode::FORBIDDEN, None),
        (json!(["guests", "staff"]), StatusCode::OK, Some(("ada".to_owned(), Role::Reviewer))),
        (json!("boss"), StatusCode::OK, Some(("ada".to_owned(), Role::Owner))),
        (json!(["staff"]), StatusCode::OK, Some(("ada".to_owned(), Role::Reviewer))),
        (json!([]), StatusCode::FORBIDDEN, Some(("ada".to_owned(), Role::Reviewer))),
    ] {
        provider.says(json!({ "groups": groups, "preferred_username": "Ada" }));
        assert_eq!(Browser::new(&arena).sign_in().await.status(), status, "{groups}");
        assert_eq!(role().await, expected, "{groups}");
    }
    // Somebody else who is called the same is not the same.
    provider.says(json!({ "groups": "staff", "preferred_username": "ada", "sub": "another" }));
    assert_eq!(Browser::new(&arena).sign_in().await.status(), StatusCode::OK);
    let names: Vec<String> = arena.app.admin_users.list().await.unwrap().into_iter().map(|user| user.name).collect();
    assert!(names.len() == 2 && names[1].starts_with("sso-"), "{names:?}");
}

#[actix_web::test]
async fn a_sign_in_ends_in_the_browser_in_which_it_began_and_once() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    add(&arena, "ada", Role::Owner, None, Some("subject of ada")).await;
    provider.behave(|conduct| conduct.forgets_codes = true);
    let (mut ada, mut eve) = (Browser::new(&arena), Browser::new(&arena));
    let (adas, eves) = (ada.go("/admin/sign-in/provider").await, eve.go("/admin/sign-in/provider").await);
    let code_of = |back: &str| back.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let with_code = |back: &str, code: &str| back.replace(&code_of(back), code);
    // What the browser of another one brought back, a state that is nearly right, none, and two.
    let last = if adas.ends_with('0') { '1' } else { '0' };
    let nearly = format!("{}{last}", &adas[..adas.len() - 1]);
    let twice = format!("{adas}&state=x");
    let none = adas.split("&state").next().unwrap().to_owned();
    for foreign in [&eves, &nearly, &twice, &none] {
        let mut browser = Browser { cookies: ada.cookies.clone(), ..Browser::new(&arena) };
        let refused = browser.open(foreign).await;
        check_refused(&browser, &refused, StatusCode::FORBIDDEN, foreign);
    }
    let mut empty = Browser::new(&arena);
    let refused = empty.open(&adas).await;
    check_refused(&empty, &refused, StatusCode::FORBIDDEN, "a browser without the cookie");
    // A code of somebody else's sign-in: the verifier does not fit.
    let injected = with_code(&adas, &code_of(&eves));
    let mut victim = Browser { cookies: ada.cookies.clone(), ..Browser::new(&arena) };
    let refused = victim.open(&injected).await;
    check_refused(&victim, &refused, StatusCode::FORBIDDEN, "a code of another sign-in");
    // That used the state up, whatever the provider forgets.
    let stale = Browser { cookies: ada.cookies.clone(), ..Browser::new(&arena) };
    let mut again = stale;
    let refused = again.open(&adas).await;
    check_refused(&again, &refused, StatusCode::FORBIDDEN, "a state that was used");
    let kept = eve.cookies.clone();
    assert_eq!(eve.open(&eves).await.status(), StatusCode::OK);
    assert!(eve.is_admin() && !eve.cookies.contains_key("langya_oidc"), "the cookie goes with the sign-in");
    let mut replay = Browser { cookies: kept, ..Browser::new(&arena) };
    let refused = replay.open(&eves).await;
    check_refused(&replay, &refused, StatusCode::FORBIDDEN, "a replay");
    let denied = ada.go("/admin/sign-in/provider").await;
    let denied = format!("{}&error=access_denied", denied.replace("code=", "left="));
    let refused = ada.open(&denied).await;
    check_refused(&ada, &refused, StatusCode::FORBIDDEN, "the provider says no");
    let other = ada.go("/admin/sign-in/provider").await + "&iss=https%3A%2F%2Fevil.example";
    let refused = ada.open(&other).await;
    check_refused(&ada, &refused, StatusCode::SERVICE_UNAVAILABLE, "an answer of another provider");
}

#[actix_web::test]
async fn a_token_that_is_not_the_providers_for_this_arena_signs_nobody_in() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    add(&arena, "ada", Role::Owner, None, Some("subject of ada")).await;
    let (none, past) = (json!({}), json!({ "exp": 1_700_000_000, "iat": 1_699_999_000 }));
    for (signing, claims) in [
        (Signing::None, &none),
        (Signing::PublicKeyAsSecret, &none),
        (Signing::Forged, &none),
        (Signing::Key(1), &past),
        (Signing::Key(1), &json!({ "aud": "another" })),
        (Signing::Key(1), &json!({ "iss": "https://evil.example" })),
        (Signing::Key(1), &json!({ "nonce": "another" })),
    ] {
        provider.behave(|conduct| conduct.signing = signing);
        provider.says(claims.clone());
        let mut browser = Browser::new(&arena);
        let refused = browser.sign_in().await;
        check_refused(&browser, &refused, StatusCode::SERVICE_UNAVAILABLE, &format!("{signing:?} {claims}"));
        assert!(refused.text().await.unwrap().contains("Lab ID cannot be reached at the moment"));
    }
    provider.behave(|conduct| conduct.signing = Signing::Key(1));
    provider.says(none.clone());
    let mut browser = Browser::new(&arena);
    assert_eq!(browser.sign_in().await.status(), StatusCode::OK);
    assert!(browser.is_admin());
}

/// The system's clock, and more by as much as a test says.
#[derive(Default)]
struct LaterClock(AtomicI64);

impl Clock for LaterClock {
    fn now(&self) -> Timestamp {
        Timestamp(SystemClock.now().0 + self.0.load(Ordering::Relaxed))
    }
}

#[actix_web::test]
async fn keys_that_are_unknown_are_asked_for_once_more_and_then_rest() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |_| {}).await;
    let (clock, used) = (Arc::new(LaterClock::default()), SingleUse::new("test", None));
    let sessions = Arc::clone(&arena.app.sessions);
    let client = OidcClient::new(arena.app.settings.clone(), Arc::clone(&sessions), clock.clone(), used);
    let signs_in = async || {
        let flow = SignInFlow::begin(Purpose::Visitor, "/", &arena.app.rng, clock.now());
        let there = client.authorization(&flow).await.unwrap();
        let back = Browser::new(&arena).client.get(there).send().await.unwrap();
        let back = reqwest::Url::parse(back.headers()["location"].to_str().unwrap()).unwrap();
        let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        let answer = ProviderCallback { state: &flow.state(&sessions), code: Some(&code), issuer: None };
        client.identity(&flow, answer).await
    };
    for _ in 0..2 {
        assert_eq!(signs_in().await.unwrap().subject, "subject of ada");
    }
    assert_eq!((provider.asked("/keys"), provider.asked("/.well-known/openid-configuration")), (1, 1));
    provider.behave(|conduct| conduct.signing = Signing::Key(2));
    for _ in 0..3 {
        assert_eq!(signs_in().await.unwrap_err(), OidcError::Token(TokenError::UnknownKey));
    }
    assert_eq!(provider.asked("/keys"), 1, "they were asked for a moment ago");
    clock.0.store(61_000, Ordering::Relaxed);
    for _ in 0..2 {
        assert!(signs_in().await.is_ok(), "the new key is published");
    }
    assert_eq!(provider.asked("/keys"), 2);
}

#[actix_web::test]
async fn people_come_back_to_the_public_address_and_go_on_within_the_admin() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |settings| settings.server.public_url = "https://arena.example".into()).await;
    let port = arena.url.rsplit(':').next().unwrap().to_owned();
    let client = Browser::new(&arena).client;
    let begun = client.get(format!("{}/admin/sign-in/provider", arena.url)).header("host", format!("localhost:{port}"));
    let begun = begun.send().await.unwrap();
    let there = begun.headers()["location"].to_str().unwrap();
    assert!(there.contains("redirect_uri=https%3A%2F%2Farena.example%2Foidc%2Fcallback&"), "{there}");
    assert!(there.contains("scope=openid+email&") && !there.contains("code_verifier"), "{there}");
    let cookie = begun.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-langya_oidc=admin."), "{cookie}");
    for word in ["; HttpOnly", "; Secure", "; SameSite=Lax", "; Path=/", "; Max-Age=600"] {
        assert!(cookie.contains(word), "{cookie}");
    }

    let arena = beside(&provider, |_| {}).await;
    add(&arena, "ada", Role::Owner, None, Some("subject of ada")).await;
    for next in ["//evil.example", "https://evil.example", "/sign-out", "/admin/%5C%5Cevil", "/admin\"x", ""] {
        let mut browser = Browser::new(&arena);
        let back = browser.go(&format!("/admin/sign-in/provider?next={next}")).await;
        let page = browser.open(&back).await.text().await.unwrap();
        assert!(page.contains("content=\"0; url=/admin\"") || next.contains('"'), "{next}: {page}");
        assert!(!page.contains("evil") && !page.contains("\"x"), "{next}");
    }
}

#[actix_web::test]
async fn a_provider_that_is_down_slow_or_lies_gets_one_message_and_pass_phrases_still_work() {
    let provider = IdentityProvider::start();
    let word = "seven herons over a quiet lake";
    let discovery = "/.well-known/openid-configuration";
    for what in ["broken", "endless", "silent", "liar", "gone", "keys"] {
        let arena = beside(&provider, |settings| {
            if what == "gone" {
                settings.oidc.issuer = "http://127.0.0.1:9".into();
            }
        })
        .await;
        provider.behave(|conduct| {
            conduct.broken = if what == "broken" { discovery } else { "" };
            conduct.endless = if what == "endless" {
                discovery
            } else if what == "keys" {
                "/keys"
            } else {
                ""
            };
            conduct.silent = if what == "silent" { discovery } else { "" };
            conduct.calls_itself = (what == "liar").then(|| "https://evil.example".to_owned());
        });
        let mut browser = Browser::new(&arena);
        let refused = match what {
            "keys" => browser.sign_in().await,
            _ => browser.open("/admin/sign-in/provider").await,
        };
        check_refused(&browser, &refused, StatusCode::SERVICE_UNAVAILABLE, what);
        let page = refused.text().await.unwrap();
        assert!(page.contains("Lab ID cannot be reached at the moment"), "{what}: {page}");
        assert!(!page.contains("canary") && !page.contains("evil"), "{what}");
        let asked = provider.asked(discovery);
        if what != "keys" {
            let again = browser.open("/admin/sign-in/provider").await;
            check_refused(&browser, &again, StatusCode::SERVICE_UNAVAILABLE, what);
        }
        assert_eq!(provider.asked(discovery), asked, "{what}: it is not asked again at once");
        account(&arena, "ben", Role::Owner, &passphrase_hash(word).unwrap()).await;
        assert_eq!(FormBrowser::new(&arena).sign_in("ben", word, "").await.status(), StatusCode::SEE_OTHER);
    }
}

#[actix_web::test]
async fn an_operator_adds_people_by_command_and_asks_whether_the_provider_answers() {
    let provider = IdentityProvider::start();
    let folder = tempfile::tempdir().unwrap();
    let settings = |issuer: &str| {
        let text = format!(
            "[server]\npublic_url = \"https://arena.example\"\n[oidc]\nissuer = \"{issuer}\"\nclient_id = \"arena\"\nadmins = true\n"
        );
        std::fs::write(folder.path().join("langya.toml"), text).unwrap();
    };
    settings(&provider.url);
    let _server = Server::start_in(folder.path(), &["--config", "langya.toml"], &[]);
    let run = async |arguments: &[&str]| langya_beside(folder.path(), arguments).await;
    let added = run(&["admin", "users", "add", "ada", "--role", "owner", "--email", EMAIL]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    for (arguments, word) in [
        (&["ben", "--role", "viewer"][..], "--email"),
        (&["ben", "--role", "viewer", "--email", EMAIL], "has an account already"),
        (&["ada", "--role", "viewer", "--subject", "x"], "the name ada is taken"),
        (&["ben", "--role", "viewer", "--email", "nobody"], "give one of them"),
    ] {
        let refused = run(&[&["admin", "users", "add"], arguments].concat()).await;
        assert!(refused.code == Some(2) && refused.stderr.contains(word), "{refused:?}");
    }
    let listed = run(&["admin", "users", "list"]).await.stdout;
    assert!(listed.contains("has not signed in at the provider yet") && !listed.contains("example.org"), "{listed}");
    let healthy = run(&["doctor", "--no-models"]).await.stdout;
    assert!(healthy.contains("127.0.0.1 answers, and its keys can be read"), "{healthy}");
    provider.behave(|conduct| conduct.broken = "/.well-known/openid-configuration");
    let broken = run(&["doctor", "--no-models"]).await;
    assert!(broken.code == Some(1) && broken.stdout.contains("it answers with status 500"), "{broken:?}");
}

#[actix_web::test]
async fn without_a_provider_there_is_nothing_to_sign_in_at() {
    let arena = TestArena::start(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))]).await;
    for path in ["/oidc/callback", "/oidc/callback?code=a&state=b", "/admin/sign-in/provider", "/sign-in/provider"] {
        assert_eq!(Browser::new(&arena).open(path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |settings| settings.oidc.admins = false).await;
    assert_eq!(Browser::new(&arena).open("/admin/sign-in/provider").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(Browser::new(&arena).open("/sign-in/provider").await.status(), StatusCode::NOT_FOUND);
}

#[actix_web::test]
async fn an_account_is_one_visitor_in_all_its_browsers_and_signs_out_of_each() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |settings| settings.access.mode = AccessMode::Oidc).await;
    provider.says(json!({ "email": EMAIL, "email_verified": true }));
    let mut closed = Browser::new(&arena);
    assert_eq!(closed.open("/").await.status(), StatusCode::SEE_OTHER);
    let page = closed.open("/sign-in").await.text().await.unwrap();
    assert!(page.contains("Sign in with Lab ID") && !page.contains("name=\"secret\""), "{page}");
    assert!(!closed.is_admitted().await);
    let mut browsers = [Browser::new(&arena), Browser::new(&arena)];
    for browser in &mut browsers {
        let back = browser.go("/sign-in/provider").await;
        assert!(!back.contains("email"), "nothing but who it is is asked for");
        let signed_in = browser.open(&back).await;
        assert_eq!(
            (signed_in.status(), &signed_in.headers()["location"]),
            (StatusCode::SEE_OTHER, &"/".parse().unwrap())
        );
        assert!(browser.is_admitted().await && !browser.is_admin());
        assert_eq!(browser.open("/").await.status(), StatusCode::OK);
    }
    let token = |browser: &Browser| browser.cookies["langya_session"].clone();
    let visitor = |browser: &Browser| arena.app.sessions.visitor(&token(browser)).unwrap();
    assert_eq!(visitor(&browsers[0]), visitor(&browsers[1]));
    assert_ne!(token(&browsers[0]), token(&browsers[1]));
    provider.says(json!({ "sub": "ben" }));
    let mut ben = Browser::new(&arena);
    let back = ben.go("/sign-in/provider").await;
    ben.open(&back).await;
    assert_ne!(visitor(&ben), visitor(&browsers[0]));
    for text in [token(&ben), visitor(&ben).as_str().to_owned()] {
        assert!(!text.contains("ben") && !text.contains("example"), "{text}");
    }
    let image = format!("/images/{}", keep_for(&arena.app.store, visitor(&browsers[0]), "dot", 1).await);
    assert_eq!(browsers[0].open(&image).await.status(), StatusCode::OK);
    assert_eq!(ben.open(&image).await.status(), StatusCode::NOT_FOUND);
    let session = arena.app.sessions.find(&token(&browsers[0])).unwrap();
    arena.app.access.sign_out(&session.id).await.unwrap();
    assert!(!browsers[0].is_admitted().await, "the cookie does not work any more");
    assert_eq!(browsers[0].open("/history").await.status(), StatusCode::FORBIDDEN, "nor does it read what was said");
    assert_eq!(browsers[0].open(&image).await.status(), StatusCode::FORBIDDEN, "nor see what was shown");
    assert!(browsers[1].is_admitted().await && ben.is_admitted().await);
    for path in ["/history", &image] {
        assert_eq!(browsers[1].open(path).await.status(), StatusCode::OK, "{path}");
    }
}

#[actix_web::test]
async fn a_sign_in_by_another_way_does_not_count_as_an_account() {
    let provider = IdentityProvider::start();
    let arena = beside(&provider, |settings| {
        settings.access.mode = AccessMode::Passphrase;
        settings.access.passphrase_hash = passphrase_hash("seven herons").unwrap().into();
    })
    .await;
    let former = arena.app.sessions.issue().session;
    let session = arena.app.access.sign_in("seven herons", "network", &former).await.unwrap();
    let cookie = ("cookie", format!("langya_session={}", session.token));
    assert!(Visitor::connect_with(&arena.url, Some(cookie.clone())).await.is_ok());
    let mut settings = (*arena.app.settings.now()).clone();
    settings.access.mode = AccessMode::Oidc;
    arena.app.settings.replace(settings);
    assert!(Visitor::connect_with(&arena.url, Some(cookie)).await.is_err());
    let refused: Value = json!(arena.app.access.sign_in("seven herons", "network", &former).await.is_err());
    assert_eq!(refused, json!(true), "nor does the passphrase begin a session");
}
