//! Whom the arena answers, and whose pages may open its sockets: DNS rebinding and foreign pages get nothing.

use reqwest::Client;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get};

const ROUTES: [&str; 11] = [
    "/",
    "/leaderboard",
    "/benchmarks",
    "/static/style.css",
    "/api/v1/leaderboard",
    "/healthz",
    "/readyz",
    "/metrics",
    "/ws/battle",
    "/ws/leaderboard",
    "/nothing",
];
const PUBLIC: &str = "https://arena.example.org";

async fn arena(public_url: &str) -> TestArena {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        public_url.clone_into(&mut settings.server.public_url)
    })
    .await
}

/// The answer to a request with these headers; every address is asked for as a websocket.
async fn ask(arena: &TestArena, path: &str, headers: &[(&str, &str)]) -> reqwest::Response {
    // Makes sure that this process can make clients.
    get(&format!("{}/healthz", arena.url)).await;
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let request = Client::new().get(format!("{}{path}", arena.url));
    let all = upgrade.iter().chain(headers);
    all.fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
}

#[actix_web::test]
async fn no_route_is_answered_under_a_foreign_name() {
    let arena = arena(PUBLIC).await;
    for path in ROUTES {
        // What a page of this name could send after its name was pointed here.
        let rebound = [("host", "evil.example:8717"), ("origin", "http://evil.example:8717")];
        let answer = ask(&arena, path, &rebound).await;
        assert_eq!(answer.status(), 421, "{path}");
        for header in ["content-security-policy", "x-content-type-options", "x-request-id"] {
            assert!(answer.headers().contains_key(header), "{path} lacks {header}");
        }
        assert!(!answer.headers().contains_key("set-cookie"), "{path}");
        let text = answer.text().await.unwrap();
        assert!(text.contains("server.public_url"), "{path}: {text}");
    }
}

#[actix_web::test]
async fn a_browser_under_a_foreign_name_reads_in_its_language_how_to_reach_the_arena() {
    let arena = arena("").await;
    for (language, title) in [("zh-CN,zh;q=0.9", "竞技场不能通过这个名称访问"), ("en", "The arena does not answer")]
    {
        let headers = [("host", "computer.local:8717"), ("accept", "text/html"), ("accept-language", language)];
        let answer = ask(&arena, "/", &headers).await;
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (421, &"text/html; charset=utf-8".parse().unwrap())
        );
        let page = answer.text().await.unwrap();
        assert!(page.contains(title) && page.contains("server.public_url"), "{page}");
        assert!(!page.contains("href=") && !page.contains("src="), "no address under this name works: {page}");
        let answer = ask(&arena, "/api/v1/leaderboard", &headers).await;
        assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
    }
}

#[actix_web::test]
async fn every_route_is_answered_under_the_names_that_are_ours() {
    let arena = arena(PUBLIC).await;
    let own = arena.url.strip_prefix("http://").unwrap();
    for host in [own, "localhost:8717", "arena.localhost", "[::1]:8717", "192.0.2.7", "arena.example.org"] {
        for path in ROUTES {
            let status = ask(&arena, path, &[("host", host)]).await.status().as_u16();
            let expected = match path {
                "/nothing" => 404,
                // Who comes by the public name comes through the proxy that speaks TLS there.
                "/metrics" if host == "arena.example.org" => 404,
                "/ws/battle" | "/ws/leaderboard" => 101,
                _ => 200,
            };
            assert_eq!(status, expected, "{path} under {host}");
        }
    }
}

#[actix_web::test]
async fn an_arena_without_a_public_address_has_no_name_but_loopback() {
    let arena = arena("").await;
    for (host, expected) in [("localhost", 200), ("arena.example.org", 421)] {
        assert_eq!(ask(&arena, "/healthz", &[("host", host)]).await.status(), expected, "{host}");
    }
}

#[actix_web::test]
async fn a_socket_is_opened_by_our_own_pages_and_by_programs_without_a_cookie() {
    let arena = arena(PUBLIC).await;
    let cookie = Visitor::connect(&arena.url).await.cookie().to_owned();
    let tls = arena.url.replace("http://", "https://");
    for (headers, expected) in [
        (vec![], 101),
        (vec![("cookie", cookie.as_str())], 403),
        (vec![("cookie", "anything=else")], 403),
        (vec![("cookie", cookie.as_str()), ("origin", arena.url.as_str())], 101),
        (vec![("cookie", cookie.as_str()), ("origin", PUBLIC)], 101),
        (vec![("origin", tls.as_str())], 403),
        (vec![("origin", "http://arena.example.org")], 403),
        (vec![("host", "arena.example.org"), ("origin", PUBLIC)], 101),
        (vec![("host", "arena.example.org"), ("origin", "http://arena.example.org")], 403),
        (vec![("host", "localhost:1"), ("origin", "http://localhost:1")], 101),
        (vec![("host", "localhost:1"), ("origin", "http://localhost:2")], 403),
    ] {
        for path in ["/ws/battle", "/ws/leaderboard"] {
            assert_eq!(ask(&arena, path, &headers).await.status(), expected, "{path} {headers:?}");
        }
    }
}

#[actix_web::test]
async fn links_have_the_name_that_was_asked_for_and_none_of_a_forwarding_header() {
    let arena = arena("").await;
    for header in [("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example;proto=https")] {
        let feed = ask(&arena, "/leaderboard.atom", &[header]).await.text().await.unwrap();
        assert!(feed.contains(&format!("{}/leaderboard", arena.url)) && !feed.contains("evil.example"), "{feed}");
    }
}
