//! Every address of the route table by every method: what each answer carries, and what no address takes.

use std::collections::BTreeSet;

use langya::infra::config::{AccessMode, VoteAccess};
use langya::infra::passphrase_hash::passphrase_hash;
use langya::server::http::admin::{ADMIN_ROUTES, AdminMethod};
use langya::server::http::request::headers::CONTENT_SECURITY_POLICY;
use reqwest::{Client, Method, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::arena::TestArena;
use crate::support::program::{Server, langya, langya_in};
use crate::support::routes::all_addresses;
use crate::support::scripted::Scripted;
use crate::support::visitor::Visitor;

const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"];
/// What every answer says.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()"),
];
/// What no answer says: what the server is made of, and that other sites may read it.
const NEVER: [&str; 4] = ["server", "x-powered-by", "access-control-allow-origin", "access-control-allow-credentials"];
/// The addresses that change something, a new one is added here, after a look at this file.
const CHANGING: [&str; 12] = [
    "/images",
    "/sign-in",
    "/sign-out",
    "/history/delete",
    "/battle/1/share",
    "/battle/1/unshare",
    "/battle/1/label",
    "/shared/1/removal",
    "/api/v1/campaigns/1/join",
    "/api/v1/campaigns/1/next",
    "/api/v1/campaigns/1/judgements",
    "/api/v1/campaigns/1/undo",
];
const PUBLIC: &str = "https://arena.example.org";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// An arena, and who asks it: a client is dear to make.
struct Asked {
    arena: TestArena,
    client: Client,
}

/// An arena of the kind that has every address: people sign in to it.
async fn arena(public_url: &str) -> Asked {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        public_url.clone_into(&mut settings.server.public_url);
        settings.access.mode = AccessMode::Passphrase;
        settings.access.passphrase_hash = passphrase_hash("seven herons over a quiet lake").unwrap().into();
    })
    .await;
    Asked { arena, client: client() }
}

fn client() -> Client {
    // An error says that another test of this process has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A connection for each request: between two of them a busy machine may take as long as the arena keeps an idle connection.
    Client::builder().redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0).build().unwrap()
}

async fn ask(arena: &Asked, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let request =
        arena.client.request(Method::from_bytes(method.as_bytes()).unwrap(), format!("{}{path}", arena.arena.url));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let request = if body.is_empty() { request } else { request.body(body.to_owned()) };
    request.send().await.unwrap_or_else(|error| panic!("{method} {path}: {error:?}"))
}

/// Holds what an answer says against the rules, and returns its status.
async fn check(name: &str, method: &str, answer: Response, is_secure: bool) -> u16 {
    let (status, headers) = (answer.status(), answer.headers().clone());
    for (header, expected) in HEADERS {
        let found: Vec<_> = headers.get_all(header).iter().map(|value| value.to_str().unwrap()).collect();
        assert_eq!(found, [expected], "{name}: {header}");
    }
    let transport = headers.get("strict-transport-security").map(|value| value.to_str().unwrap());
    assert_eq!(transport, is_secure.then_some("max-age=31536000"), "{name}");
    assert!(headers.contains_key("x-request-id"), "{name}");
    for header in NEVER {
        assert!(!headers.contains_key(header), "{name}: {header}");
    }
    for cookie in headers.get_all("set-cookie") {
        let cookie = cookie.to_str().unwrap();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"),
            "{cookie}"
        );
        let is_bound = cookie.starts_with("__Host-") && cookie.contains("Secure") && !cookie.contains("Domain");
        assert_eq!(is_bound, is_secure, "{name}: {cookie}");
    }
    assert!(!status.is_server_error() || status.as_u16() == 503, "{name}: {status}");
    let kind = headers.get("content-type").map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
    let body = answer.bytes().await.unwrap();
    if !body.is_empty() {
        assert!(!kind.is_empty() && (!kind.starts_with("text/") || kind.contains("charset=utf-8")), "{name}: {kind:?}");
    }
    let says_why = !body.is_empty() || method == "HEAD";
    assert!(says_why || !(status.is_client_error() || status.is_server_error()), "{name}: {status} without a text");
    status.as_u16()
}

#[actix_web::test]
async fn every_answer_of_every_address_carries_every_header() {
    for (public_url, is_secure) in [("", false), (PUBLIC, true)] {
        let arena = arena(public_url).await;
        let mut addresses = all_addresses();
        addresses.extend(
            ["/nothing", "/?lang=zh", "/leaderboard?lang=en", "/log/tile/9/9/9", "/static/none"].map(str::to_owned),
        );
        let mut found = BTreeSet::new();
        for path in &addresses {
            for method in METHODS {
                let answer = ask(&arena, method, path, &[], "").await;
                found.insert(check(&format!("{method} {path}"), method, answer, is_secure).await);
            }
            let foreign = [("host", "evil.example:8717")];
            let answer = ask(&arena, "GET", path, &foreign, "").await;
            assert_eq!(check(&format!("a foreign host, {path}"), "GET", answer, is_secure).await, 421, "{path}");
        }
        for status in [200, 303, 400, 401, 404, 405] {
            assert!(found.contains(&status), "no answer with {status}: {found:?}");
        }
        let opened = Visitor::connect_with(&arena.arena.url, Some(("origin", "https://evil.example".into()))).await;
        let Err(tokio_tungstenite::tungstenite::Error::Http(refused)) = opened else { panic!("a foreign page got in") };
        assert!(HEADERS.iter().all(|(name, value)| refused.headers()[*name] == *value));
    }
}

#[actix_web::test]
async fn nothing_is_changed_for_a_foreign_page_a_foreign_name_plain_text_or_a_body_without_end() {
    let arena = arena("").await;
    let addresses = all_addresses();
    let mut changing = Vec::new();
    for path in &addresses {
        let status = ask(&arena, "POST", path, &[FORM], "").await.status().as_u16();
        if ![404, 405].contains(&status) || path.starts_with("/api/v1/campaigns/") {
            changing.push(path.as_str());
            assert!((400..500).contains(&status), "{path} without anything: {status}");
        }
    }
    changing.sort_unstable();
    let of_admin = || ADMIN_ROUTES.iter().filter(|route| route.method == AdminMethod::Post).map(|route| route.path);
    let mut expected: Vec<&str> = CHANGING.into_iter().chain(of_admin()).collect();
    expected.sort_unstable();
    assert_eq!(changing, expected, "the addresses that change something");
    let own = arena.arena.url.clone();
    let long = format!("token={}", "x".repeat(200_000));
    for path in &addresses {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            for (headers, body, expected) in [
                (vec![("origin", "https://evil.example")], "", 403),
                (vec![("origin", "null")], "", 403),
                (vec![("origin", "http://127.0.0.1:1")], "", 403),
                (vec![("sec-fetch-site", "cross-site")], "", 403),
                (vec![("sec-fetch-site", "same-site"), ("origin", own.as_str())], "", 403),
                (vec![("content-type", "text/plain")], "{\"token\":\"x\"}", 415),
                (vec![("content-encoding", "gzip")], "x", 415),
                (vec![("host", "evil.example")], "", 421),
                (vec![("host", "evil.example"), ("origin", "http://evil.example")], "", 421),
            ] {
                let answer = ask(&arena, method, path, &headers, body).await;
                let name = format!("{method} {path} {headers:?}");
                assert_eq!(check(&name, method, answer, false).await, expected, "{name}");
            }
        }
    }
    // An arena without models that see images looks at no body of them; `images.rs` has their limit.
    let with_body = |path: &&str| *path != "/images";
    for path in CHANGING.into_iter().filter(with_body).chain(of_admin()) {
        for kind in [FORM, ("content-type", "application/json")] {
            let answer = ask(&arena, "POST", path, &[kind], &long).await;
            let status = check(&format!("a long body, {path} {kind:?}"), "POST", answer, false).await;
            // A form's type is looked at before its length.
            let expected =
                if kind == FORM || path.starts_with("/api/") || path.starts_with("/admin") { 413 } else { 415 };
            assert_eq!(status, expected, "{path} {kind:?}");
        }
    }
}

/// What pages of named sites may read: what everybody may.
const PUBLIC_READING: [&str; 20] = [
    "/api/v1/leaderboard",
    "/api/v1/leaderboard.csv",
    "/api/v1/leaderboard/robustness",
    "/api/v1/leaderboard/rigging",
    "/api/v1/leaderboard/value",
    "/api/v1/models",
    "/api/v1/pairing",
    "/api/v1/log",
    "/api/v1/log/votes/1",
    "/api/v1/votes",
    "/api/v1/exclusions",
    "/api/v1/consent",
    "/api/v1/benchmarks",
    "/api/v1/benchmarks.csv",
    "/api/v1/benchmarks/urs",
    "/api/v1/benchmarks/urs/compare",
    "/api/v1/correlation",
    "/api/v1/judges",
    "/api/v1/openapi.json",
    "/api/v1/votes?after=x",
];

#[actix_web::test]
async fn pages_of_the_named_sites_read_what_everybody_may_and_nothing_else() {
    const NAMED: &str = "https://dashboard.example.org";
    for (origins, votes) in [(NAMED, VoteAccess::Public), ("*", VoteAccess::Public), (NAMED, VoteAccess::Key)] {
        let arena = TestArena::start_with(&[], |settings| {
            settings.api.cors_origins = vec![origins.to_owned()];
            settings.api.votes = votes;
        })
        .await;
        let asked = Asked { arena, client: client() };
        let addresses = all_addresses().into_iter().chain(["/api/v1/votes?after=x", "/nothing"].map(str::to_owned));
        for path in addresses {
            let may_be_read = PUBLIC_READING.contains(&path.as_str())
                && (votes == VoteAccess::Public || !path.starts_with("/api/v1/votes"));
            for method in METHODS {
                for origin in [NAMED, "https://evil.example", "https://dashboard.example.org.evil.example", "null"] {
                    let preflight = ("access-control-request-method", "POST");
                    let answer = ask(&asked, method, &path, &[("origin", origin), preflight], "").await;
                    let said = answer.headers().get("access-control-allow-origin").map(|said| said.to_str().unwrap());
                    let is_named = origin == NAMED || origins == "*";
                    let reads = ["GET", "HEAD"].contains(&method);
                    let expected =
                        (reads && may_be_read && is_named).then_some(if origins == "*" { "*" } else { NAMED });
                    assert_eq!(said, expected, "{method} {path} from {origin}, {origins} may");
                    let more = ["credentials", "headers", "methods"].map(|more| format!("access-control-allow-{more}"));
                    assert!(more.iter().all(|name| !answer.headers().contains_key(name)), "{method} {path}");
                }
            }
            if may_be_read {
                let varies = ask(&asked, "GET", &path, &[], "").await;
                let varies: Vec<_> =
                    varies.headers().get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
                assert!(varies.iter().any(|value| value.contains("origin")), "{path}: {varies:?}");
            }
        }
    }
}

/// Sends bytes and returns what comes until the server closes.
async fn raw(Asked { arena, .. }: &Asked, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(arena.url.strip_prefix("http://").unwrap()).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(std::time::Duration::from_secs(40), socket.read_to_end(&mut answer)).await;
    ended.expect("the server closes").unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[actix_web::test]
async fn the_body_of_a_request_that_only_reads_is_not_waited_for() {
    let arena = arena("").await;
    for path in ["/admin", "/admin/sign-in"] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\nx");
        let answer = raw(&arena, request.as_bytes()).await;
        assert!(["HTTP/1.1 200 ", "HTTP/1.1 401 "].iter().any(|status| answer.starts_with(status)), "{path}: {answer}");
    }
}

#[actix_web::test]
async fn no_address_is_answered_without_a_host() {
    let arena = arena("").await;
    for path in all_addresses() {
        for method in ["GET", "POST"] {
            let request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n\r\n");
            let answer = raw(&arena, request.as_bytes()).await;
            // The parser refuses the newer versions by itself, without a word.
            let refused = ["HTTP/1.1 400 ", "HTTP/1.1 421 "].iter().any(|status| answer.starts_with(status));
            assert!(refused && !answer.contains("<html"), "{method} {path}: {answer}");
        }
    }
}

/// Parts of addresses that nobody means: leaving a folder, numbers without end, bytes that are no text, encoded twice.
const STRANGE: [&str; 24] = [
    "..",
    "%2e%2e%2f%2e%2e",
    "..%5c",
    "%252e%252e%252f",
    "a%2fb",
    "//",
    "%00",
    "%0d%0ax-evil:%201",
    "%ff%fe",
    "%c0%ae",
    "%ed%a0%80",
    "%",
    "%zz",
    "-1",
    "1e309",
    "NaN",
    "18446744073709551616",
    "9223372036854775808",
    "000.p/0",
    "x999/x999/x999/x999/x999/x999/x999/x999/999",
    "%3Cscript%3E",
    "'%20OR%201=1--",
    "%E2%80%AE",
    "[]",
];
/// Where they stand.
const PLACES: [&str; 19] = [
    "/log/tile/{}",
    "/log/tile/0/{}",
    "/log/tile/entries/{}",
    "/log?vote={}",
    "/api/v1/log/votes/{}",
    "/api/v1/log/votes/{}.tlog-proof",
    "/shared/{}",
    "/battle/{}",
    "/history?before={}",
    "/history?q={}&deleted={}",
    "/models/{}",
    "/campaign/{}",
    "/campaign/{}/report",
    "/leaderboard?until={}",
    "/leaderboard?turns={}&turns={}",
    "/leaderboard/charts?models={}&model={}",
    "/correlation?x={}&y={}",
    "/benchmarks/{}/items/{}",
    "/static/{}",
];

#[actix_web::test]
async fn what_nobody_means_gets_one_clear_answer() {
    let arena = arena("").await;
    let (many, long) = ("&a=1".repeat(10_000), "9".repeat(20_000));
    let strange = STRANGE.into_iter().chain([long.as_str()]);
    let mut paths: Vec<String> = strange.flat_map(|part| PLACES.map(|place| place.replace("{}", part))).collect();
    paths.extend(PLACES.iter().map(|place| format!("{}?x{many}", place.split('?').next().unwrap().replace("{}", "1"))));
    for path in &paths {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let answer = raw(&arena, request.as_bytes()).await;
        let name = path.chars().take(100).collect::<String>();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{name}: {answer}"));
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert!([200, 303, 400, 404].contains(&status), "{name}: {head}");
        let runs = head.contains("text/html") && body.contains("<script>");
        assert!(!head.contains("x-evil") && !runs, "{name}: {head}");
        let is_parsed = head.contains("x-request-id");
        assert!(
            !is_parsed || HEADERS.iter().all(|(name, value)| head.contains(&format!("{name}: {value}"))),
            "{name}: {head}"
        );
        assert!(!is_parsed || !body.is_empty() || status == 303, "{name}: {status} without a text");
    }
    let deep = "[".repeat(5_000);
    for body in [
        deep.as_str(),
        "{\"assignment\":\"x\",\"assignment\":\"y\"}",
        "{\"assignment\":\"\\ud800\"}",
        "{\"score\":1e999}",
        "\"",
        "",
    ] {
        for (route, expected) in [("next", [400, 401]), ("judgements", [400, 401]), ("undo", [400, 401])] {
            let path = format!("/api/v1/campaigns/1/{route}");
            let answer = ask(&arena, "POST", &path, &[("content-type", "application/json")], body).await;
            let status = check(&path, "POST", answer, false).await;
            assert!(expected.contains(&status), "{path}: {status}");
        }
    }
    assert!(arena.arena.app.tasks.end(std::time::Duration::from_secs(10)).await, "a background task did not end");
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn heads_and_bodies_that_do_not_come_to_their_end_are_answered_and_closed() {
    let arena = arena("").await;
    let head = raw(&arena, b"GET / HTTP/1.1\r\nhost: localhost\r\n");
    let body = |path: &str, kind: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: 50\r\n\r\ntoken=")
    };
    let (form, json) = (body("/sign-in", FORM.1), body("/api/v1/campaigns/1/judgements", "application/json"));
    let (head, form, json) = tokio::join!(head, raw(&arena, form.as_bytes()), raw(&arena, json.as_bytes()));
    assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
    for answer in [form, json] {
        assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("did not arrive in time"), "{answer}");
        assert!(HEADERS.iter().all(|(name, value)| answer.contains(&format!("{name}: {value}\r\n"))), "{answer}");
    }
}

/// What no answer, no log line and no message may hold.
const SECRETS: [&str; 5] = ["sk-canary-1", "canary-redis", "canary-database", "canary-hash", "canary-salt"];

#[track_caller]
fn check_keeps(name: &str, text: &str) {
    let found = SECRETS.iter().find(|secret| text.contains(*secret));
    assert_eq!(found, None, "{name}: {text}");
}

#[actix_web::test]
async fn no_secret_of_the_settings_is_in_an_answer_in_the_log_or_in_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[server]\nmetrics_allow = [\"127.0.0.0/8\"]\n[redis]\nurl = \"redis://me:canary-redis@127.0.0.1:9/0\"\n\
        [access]\npassphrase_hash = \"$argon2id$v=19$m=19456,t=2,p=1$canary-salt$canary-hash\"\n\
        [[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"MODEL_KEY\"\n\
        [[models]]\nid = \"n\"\nprovider = \"anthropic\"\nbase_url = \"http://127.0.0.1:9\"\napi_key_env = \"MODEL_KEY\"\n";
    std::fs::write(folder.path().join("langya.toml"), settings).unwrap();
    let environment = [("MODEL_KEY", "sk-canary-1"), ("RUST_LOG", "trace,sqlx=info"), ("RUST_BACKTRACE", "1")];
    let server = Server::start_in(folder.path(), &["--config", "langya.toml"], &environment);
    let (client, mut visitor) = (client(), Visitor::connect(&server.url).await);
    visitor.ask("Which?").await;
    visitor.next_of(&["error"]).await;
    visitor.frames.iter().for_each(|frame| check_keeps("the wire", frame));
    for path in all_addresses() {
        let answer = client.get(format!("{}{path}", server.url)).send().await.unwrap();
        let headers = format!("{:?}", answer.headers());
        check_keeps(&path, &(headers + &String::from_utf8_lossy(&answer.bytes().await.unwrap())));
    }
    check_keeps("the log", &server.log_at_end().await);
    for (arguments, settings) in [
        (vec!["serve", "--database", "postgres://me:canary-database@127.0.0.1:9/arena"], ""),
        (vec!["serve", "--database", "postgres://me:canary-database@127.0.0.1:port/arena"], ""),
        (vec!["serve", "--redis", "redis://me:canary-redis@127.0.0.1:port/0"], ""),
        (vec!["models", "check", "--config", "langya.toml"], settings),
        (vec!["models", "list", "--config", "langya.toml"], settings),
        (vec!["doctor", "--config", "langya.toml"], settings),
        (
            vec!["models", "list", "--config", "langya.toml"],
            "[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://me:sk-canary-1@127.0.0.1/v1\"\n",
        ),
        (
            vec!["serve", "--config", "langya.toml"],
            "[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"sk-canary-1\"\n",
        ),
    ] {
        std::fs::write(folder.path().join("langya.toml"), settings).unwrap();
        let run = langya_in(folder.path(), &arguments, &environment);
        check_keeps(&format!("{arguments:?}"), &format!("{run:?}"));
        assert!(!run.stdout.is_empty() || !run.stderr.is_empty(), "{arguments:?} says something");
    }
    let help = langya(folder.path(), ["serve", "--help"]);
    assert_eq!(help.code, Some(0));
}
