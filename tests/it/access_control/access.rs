//! Optional sign-in: who gets in, who does not, and what signing out ends.

use std::sync::Arc;
use std::time::Duration;

use langya::domain::access::invite_code;
use langya::domain::time::Timestamp;
use langya::infra::config::{AccessMode, LimitSettings, Settings, WindowLimits};
use langya::infra::events::{InstanceId, LocalBus};
use langya::infra::passphrase_hash::{code_hash, passphrase_hash};
use langya::infra::storage::{NewInvite, SignInMethod};
use langya::infra::time::clock::Clock as _;
use reqwest::{Response, StatusCode};
use serde_json::json;

use crate::support::arena::{NO_LIMITS, TestArena};
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get, http_client};

pub(super) const PASSPHRASE: &str = "seven herons over a quiet lake";
/// A question from before the arena was closed.
const EARLIER: &str = "Which bridge is the oldest?";
/// Close code of a socket whose visitor has signed out.
pub(super) const SIGNED_OUT: u16 = 4401;
/// Longest wait; reached only by a failing test.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) async fn arena(mode: AccessMode) -> TestArena {
    arena_with(mode, |_| {}).await
}

async fn arena_with(mode: AccessMode, change: impl FnOnce(&mut Settings)) -> TestArena {
    TestArena::start_with(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))], |settings| {
        settings.access.mode = mode;
        settings.access.passphrase_hash = passphrase_hash(PASSPHRASE).unwrap().into();
        change(settings);
    })
    .await
}

/// An invite with a code made of this number.
pub(super) async fn invite(arena: &TestArena, number: u128, quota: u32, expires_at: Option<i64>) -> String {
    let code = invite_code::encode(number);
    let (hash, id) = (code_hash(&code.replace('-', "")), format!("invite {number}"));
    let (created_at, expires_at) = (Timestamp(1), expires_at.map(Timestamp));
    let invite = NewInvite { id: &id, code_hash: &hash, note: "", quota, created_at, expires_at };
    arena.app.store.insert_invite(invite).await.unwrap();
    code
}

#[actix_web::test]
async fn an_arena_with_a_pass_phrase_starts_only_with_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langya.toml"), "[access]\nmode = \"passphrase\"\n").unwrap();
    let refused = langya_beside(folder.path(), &["serve", "--config", "langya.toml", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("`langya passphrase`"), "{refused:?}");
    let short = langya_beside(folder.path(), &["passphrase"]).await;
    assert_eq!(short.code, Some(2), "nothing is no passphrase: {short:?}");
}

/// A browser: it keeps its cookie and follows nothing.
pub(super) struct Browser {
    client: reqwest::Client,
    url: String,
    cookie: Option<String>,
}

impl Browser {
    pub(super) fn new(arena: &TestArena) -> Self {
        Self::at(&arena.url)
    }

    pub(super) fn at(url: &str) -> Self {
        let client = http_client().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { client, url: url.to_owned(), cookie: None }
    }

    pub(super) async fn get(&mut self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.url));
        self.send(request).await
    }

    async fn send(&mut self, mut request: reqwest::RequestBuilder) -> Response {
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let response = request.send().await.unwrap();
        if let Some(set) = response.headers().get("set-cookie") {
            self.cookie = Some(set.to_str().unwrap().split(';').next().unwrap().to_owned());
        }
        response
    }

    /// The token in the form of the page.
    async fn form_token(&mut self) -> String {
        let page = self.get("/sign-in").await.text().await.unwrap();
        page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)], origin: Option<&str>) -> Response {
        let encoded = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+")));
        let body = encoded.collect::<Vec<_>>().join("&");
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body);
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.send(request).await
    }

    /// Opens the page and sends its form.
    pub(super) async fn sign_in(&mut self, secret: &str) -> Response {
        let (token, origin) = (self.form_token().await, self.url.clone());
        self.post("/sign-in", &[("secret", secret), ("token", &token)], Some(&origin)).await
    }

    pub(super) async fn sign_out(&mut self) -> Response {
        let (token, origin) = (self.form_token().await, self.url.clone());
        self.post("/sign-out", &[("token", &token)], Some(&origin)).await
    }

    async fn history(&mut self) -> String {
        self.get("/history").await.text().await.unwrap()
    }

    pub(super) async fn socket(&self) -> Result<Visitor, tokio_tungstenite::tungstenite::Error> {
        let cookie = self.cookie.clone().map(|cookie| ("cookie", cookie));
        Visitor::connect_with(&self.url, cookie).await
    }

    /// Whether the battle page asks for consent first.
    async fn asks_consent(&mut self) -> bool {
        self.get("/").await.text().await.unwrap().contains(" data-asks ")
    }

    pub(super) async fn is_admitted(&self) -> bool {
        self.socket().await.is_ok()
    }
}

#[track_caller]
pub(super) fn check_status(response: &Response, status: StatusCode) {
    assert_eq!(response.status(), status, "{:?}", response.headers());
}

#[actix_web::test]
async fn an_open_arena_knows_no_signing_in() {
    let arena = arena(AccessMode::Open).await;
    let mut browser = Browser::new(&arena);
    check_status(&browser.get("/sign-in").await, StatusCode::NOT_FOUND);
    check_status(&browser.get("/").await, StatusCode::OK);
    assert!(browser.is_admitted().await);
}

#[actix_web::test]
async fn without_signing_in_nobody_battles_and_everybody_reads() {
    for mode in [AccessMode::Invite, AccessMode::Passphrase] {
        let arena = arena(mode).await;
        let mut browser = Browser::new(&arena);
        let home = browser.get("/").await;
        check_status(&home, StatusCode::SEE_OTHER);
        assert_eq!(home.headers()["location"], "/sign-in");
        assert!(!browser.is_admitted().await);
        let _ = browser.form_token().await;
        assert!(browser.cookie.is_some() && !browser.is_admitted().await, "a session is not yet a sign-in");
        for path in ["/leaderboard", "/about", "/api/v1/leaderboard", "/healthz"] {
            check_status(&get(&format!("{}{path}", arena.url)).await, StatusCode::OK);
        }
    }
}

#[actix_web::test]
async fn the_pass_phrase_begins_a_new_session_and_a_wrong_one_none() {
    let arena = arena(AccessMode::Passphrase).await;
    let mut browser = Browser::new(&arena);
    for wrong in ["", "seven herons", "Seven herons over a quiet lake", &"x".repeat(500)] {
        let refused = browser.sign_in(wrong).await;
        check_status(&refused, StatusCode::FORBIDDEN);
        assert!(!browser.is_admitted().await, "{wrong}");
        assert!(refused.text().await.unwrap().contains("role=\"alert\""));
    }
    let before = browser.cookie.clone();
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    assert_ne!(browser.cookie, before, "the former cookie is worth nothing");
    assert!(browser.is_admitted().await);
    check_status(&browser.get("/").await, StatusCode::OK);
    let mut fixed = Browser::new(&arena);
    fixed.cookie = before;
    assert!(!fixed.is_admitted().await);

    let mut settings = (*arena.app.settings.now()).clone();
    for unusable in ["", "no hash", "$argon2id$v=19$m=19456,t=2,p=1$AAAA"] {
        settings.access.passphrase_hash = unusable.into();
        arena.app.settings.replace(settings.clone());
        check_status(&Browser::new(&arena).sign_in("").await, StatusCode::FORBIDDEN);
    }
}

/// An arena that has just closed to those who are not signed in, and the cookie of a browser that asked `EARLIER` before.
async fn closed_after_a_battle(mode: AccessMode) -> (TestArena, String) {
    let arena = arena(AccessMode::Open).await;
    let mut visitor = arena.visitor().await;
    visitor.ask(EARLIER).await;
    visitor.until_ready().await;
    set_mode(&arena, mode);
    (arena, visitor.cookie().to_owned())
}

#[actix_web::test]
async fn signing_in_keeps_the_battles_of_the_browser_and_ends_its_former_session() {
    let (arena, former) = closed_after_a_battle(AccessMode::Passphrase).await;
    let (mut browser, mut stale) = (Browser::new(&arena), Browser::new(&arena));
    for own in [&mut browser, &mut stale] {
        own.cookie = Some(former.clone());
    }
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    assert_ne!(browser.cookie.as_ref(), Some(&former));
    assert!(browser.history().await.contains(EARLIER));
    assert!(!stale.is_admitted().await);
    check_status(&stale.get("/history").await, StatusCode::FORBIDDEN);
    check_status(&stale.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    let history = stale.history().await;
    assert!(history.contains("There are no battles in this session yet."), "the former session is used up: {history}");

    let page = browser.get("/sign-in").await.text().await.unwrap();
    assert!(page.contains("nobody can open your battles") && !page.contains("invite code"), "{page}");
    check_status(&browser.sign_out().await, StatusCode::SEE_OTHER);
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    assert!(!browser.history().await.contains(EARLIER));
}

/// Opens the arena to everybody, or closes it again.
fn set_mode(arena: &TestArena, mode: AccessMode) {
    let mut settings = (*arena.app.settings.now()).clone();
    settings.access.mode = mode;
    arena.app.settings.replace(settings);
}

#[actix_web::test]
async fn a_session_that_another_one_continues_is_nobodys_in_an_open_arena_either() {
    let (arena, planted) = closed_after_a_battle(AccessMode::Passphrase).await;
    let [mut browser, mut planter] = [0, 1].map(|_| Browser { cookie: Some(planted.clone()), ..Browser::new(&arena) });
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    set_mode(&arena, AccessMode::Open);
    let visitor_of = |cookie: &str| arena.app.sessions.visitor(cookie.split_once('=').unwrap().1).unwrap();
    let (socket, own) = (planter.socket().await.unwrap(), browser.socket().await.unwrap());
    assert_ne!(visitor_of(socket.cookie()), visitor_of(planted.as_str()), "a new session of another visitor");
    assert_eq!(Some(own.cookie()), browser.cookie.as_deref(), "the session in force stays");
    check_status(&planter.get("/history").await, StatusCode::FORBIDDEN);
    planter.cookie = Some(socket.cookie().to_owned());
    assert!(!planter.history().await.contains(EARLIER) && browser.history().await.contains(EARLIER));
}

#[actix_web::test]
async fn a_sign_in_ends_the_open_sockets_of_the_session_before_also_those_from_when_the_arena_was_open() {
    let (arena, planted) = closed_after_a_battle(AccessMode::Open).await;
    let mut browser = Browser::new(&arena);
    browser.cookie = Some(planted);
    let mut early = browser.socket().await.unwrap();
    set_mode(&arena, AccessMode::Passphrase);
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    let closed = tokio::time::timeout(TIMEOUT, early.try_next()).await.unwrap();
    assert_eq!(closed.unwrap_err().map(u16::from), Some(SIGNED_OUT));
}

#[actix_web::test]
async fn a_person_who_signs_in_is_asked_for_consent_although_the_session_before_agreed() {
    let arena = arena(AccessMode::Open).await;
    let mut planter = arena.visitor().await;
    let version = arena.app.consents.current().await.unwrap().version;
    planter.send(json!({"type": "start", "prompt": EARLIER, "consent": version})).await;
    planter.until_ready().await;
    let mut browser = Browser::new(&arena);
    browser.cookie = Some(planter.cookie().to_owned());
    assert!(!browser.asks_consent().await, "who agreed is not asked again");
    set_mode(&arena, AccessMode::Passphrase);
    // The text names how long a sign-in is kept, so it is another one now.
    let session = arena.app.sessions.find(planter.cookie().split_once('=').unwrap().1).unwrap();
    let version = arena.app.consents.current().await.unwrap().version;
    arena.app.consents.give(&session, &version).await.unwrap();
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    assert!(browser.asks_consent().await, "somebody else may have agreed before");
    let mut own = browser.socket().await.unwrap();
    own.send(json!({"type": "start", "prompt": "Which?", "consent": version})).await;
    own.until_ready().await;
    assert!(!browser.asks_consent().await);
}

#[actix_web::test]
async fn of_many_sign_ins_from_one_session_one_goes_on_with_its_battles() {
    let (arena, former) = closed_after_a_battle(AccessMode::Invite).await;
    let code = invite(&arena, 1, 5, None).await;
    let tries = (0..4).map(|_| async {
        let mut browser = Browser::new(&arena);
        browser.cookie = Some(former.clone());
        check_status(&browser.sign_in(&code).await, StatusCode::SEE_OTHER);
        browser.history().await.contains(EARLIER)
    });
    let with_battles = futures_util::future::join_all(tries).await;
    assert_eq!(with_battles.into_iter().filter(|own| *own).count(), 1);
    let mut browser = Browser::new(&arena);
    check_status(&browser.sign_in(&code).await, StatusCode::SEE_OTHER);
    let page = browser.get("/sign-in").await.text().await.unwrap();
    assert!(page.contains("invite code for one person works once"), "{page}");
}

#[actix_web::test]
async fn no_other_site_signs_a_visitor_in_or_out() {
    let arena = arena(AccessMode::Passphrase).await;
    let mut browser = Browser::new(&arena);
    let token = browser.form_token().await;
    let mut stranger = Browser::new(&arena);
    let strange_token = stranger.form_token().await;
    let own = browser.url.clone();
    let other_port = "http://127.0.0.1:1";
    for (token, origin) in [
        (token.as_str(), Some("https://evil.example")),
        (&token, Some("null")),
        (&token, Some(other_port)),
        (&token, None),
        (&strange_token, Some(own.as_str())),
        ("", Some(&own)),
    ] {
        let fields = [("secret", PASSPHRASE), ("token", token)];
        check_status(&browser.post("/sign-in", &fields, origin).await, StatusCode::FORBIDDEN);
        assert!(!browser.is_admitted().await);
    }
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    let token = browser.form_token().await;
    check_status(
        &browser.post("/sign-out", &[("token", &token)], Some("https://evil.example")).await,
        StatusCode::FORBIDDEN,
    );
    check_status(&browser.post("/sign-out", &[("token", &strange_token)], Some(&own)).await, StatusCode::FORBIDDEN);
    assert!(browser.is_admitted().await);
}

#[actix_web::test]
async fn signing_out_closes_the_sockets_of_that_session_and_of_no_other_on_every_instance() {
    let arena = arena(AccessMode::Passphrase).await;
    let models = [("one", Scripted::saying("One.")), ("two", Scripted::saying("Two."))];
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(id, model)| (*id, model)).collect();
    let bus = Arc::new(LocalBus::new(InstanceId("beside".into())));
    let settings = (*arena.app.settings.now()).clone();
    let beside = TestArena::start_on(&models, bus, Some(&arena), |own| own.access = settings.access.clone()).await;
    let (mut ann, mut ben) = (Browser::new(&arena), Browser::new(&arena));
    for browser in [&mut ann, &mut ben] {
        check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    }
    let far = Visitor::connect_with(&beside.url, Some(("cookie", ann.cookie.clone().unwrap()))).await.unwrap();
    let (mut sockets, mut other) =
        (vec![ann.socket().await.unwrap(), ann.socket().await.unwrap(), far], ben.socket().await.unwrap());
    check_status(&ann.sign_out().await, StatusCode::SEE_OTHER);
    for socket in &mut sockets {
        let closed = tokio::time::timeout(TIMEOUT, socket.try_next()).await.unwrap();
        assert_eq!(closed.unwrap_err().map(u16::from), Some(SIGNED_OUT));
    }
    let mut stale = Browser::new(&arena);
    stale.cookie = sockets[0].cookie().to_owned().into();
    assert!(!stale.is_admitted().await, "the cookie does not work any more");
    for path in ["/history", "/history/export"] {
        check_status(&stale.get(path).await, StatusCode::FORBIDDEN);
        check_status(&ben.get(path).await, StatusCode::OK);
    }
    let request = stale.client.get(format!("{}/history?lang=zh", stale.url)).header("accept", "text/html");
    let page = stale.send(request).await.text().await.unwrap();
    assert!(page.contains("请登录") && page.contains("href=\"/sign-in\"") && !page.contains("asks people"), "{page}");
    other.ask("Which?").await;
    other.until_ready().await;
    beside.end().await;
}

#[actix_web::test]
async fn guesses_of_one_network_are_throttled_whatever_cookie_they_bring() {
    let arena = arena_with(AccessMode::Passphrase, |settings| {
        settings.limits = LimitSettings { sign_ins_per_address: WindowLimits::new(3, 0, 0), ..NO_LIMITS };
    })
    .await;
    for guess in 0..3 {
        check_status(&Browser::new(&arena).sign_in(&format!("guess {guess}")).await, StatusCode::FORBIDDEN);
    }
    let refused = Browser::new(&arena).sign_in(PASSPHRASE).await;
    check_status(&refused, StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.headers().contains_key("retry-after"));
}

#[actix_web::test]
async fn a_sign_in_ends_by_itself() {
    let arena = arena(AccessMode::Passphrase).await;
    let mut browser = Browser::new(&arena);
    check_status(&browser.sign_in(PASSPHRASE).await, StatusCode::SEE_OTHER);
    let (now, week) = (arena.app.clock.now(), 7 * 24 * 3_600_000);
    let session = arena.app.sessions.find(browser.cookie.as_ref().unwrap().split_once('=').unwrap().1).unwrap().id;
    let store = &arena.app.store;
    let expiry = store.sign_in_expiry(&session, SignInMethod::Passphrase, now).await.unwrap().unwrap();
    assert!(expiry.0 <= now.0 + 4 * week + 3 * week && expiry.0 > now.0 + 4 * week, "{expiry:?}");
    assert_eq!(store.sign_in_expiry(&session, SignInMethod::Passphrase, expiry).await.unwrap(), None);
}
