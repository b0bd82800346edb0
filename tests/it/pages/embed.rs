//! The leaderboard in a frame on another site: only this page, and only where the operator allows it.

use reqwest::{Response, StatusCode};

use crate::support::arena::TestArena;
use crate::support::routes::addresses;
use crate::support::scripted::Scripted;
use crate::support::visitor::{get, http};

async fn arena(embed_on: &[&str]) -> TestArena {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let sites = embed_on.iter().map(|site| (*site).to_owned()).collect();
    TestArena::start_with(&[("one", &one), ("two", &two)], |settings| settings.site.embed_on = sites).await
}

fn policy(response: &Response) -> &str {
    response.headers()["content-security-policy"].to_str().unwrap()
}

#[actix_web::test]
async fn only_this_page_can_be_framed_and_only_by_the_named_sites() {
    let arena = arena(&["https://lab.example.org", "https://example.com:8443"]).await;
    let framed = get(&format!("{}/embed/leaderboard?lang=zh", arena.url)).await;
    assert_eq!(framed.status(), StatusCode::OK);
    let policy_of_frame = policy(&framed).to_owned();
    assert!(policy_of_frame.ends_with("; frame-ancestors https://lab.example.org https://example.com:8443"));
    assert!(policy_of_frame.contains("script-src 'self'"), "{policy_of_frame}");
    for absent in ["x-frame-options", "set-cookie"] {
        assert!(!framed.headers().contains_key(absent), "{absent}");
    }
    assert_eq!(framed.headers()["cross-origin-resource-policy"], "cross-origin");
    assert_eq!(framed.headers()["x-content-type-options"], "nosniff");
    for path in addresses().iter().filter(|path| *path != "/embed/leaderboard") {
        let other = get(&format!("{}{path}", arena.url)).await;
        assert!(policy(&other).ends_with("frame-ancestors 'none'"), "{path}");
        assert_eq!(other.headers()["x-frame-options"], "DENY", "{path}");
    }
    arena.end().await;
}

#[actix_web::test]
async fn an_arena_that_allows_no_frames_has_no_such_page() {
    let arena = arena(&[]).await;
    let missing = get(&format!("{}/embed/leaderboard", arena.url)).await;
    assert_eq!(
        (missing.status(), missing.headers()["x-frame-options"].to_str().unwrap()),
        (StatusCode::NOT_FOUND, "DENY")
    );
    arena.end().await;
}

#[actix_web::test]
async fn the_frame_shows_as_many_models_as_are_asked_for_and_its_links_open_outside() {
    let arena = arena(&["*"]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    visitor.vote("tie").await;
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 1).await.unwrap();
    let read = async |query: &str| {
        let response = get(&format!("{}/embed/leaderboard{query}", arena.url)).await;
        (response.headers()["etag"].to_str().unwrap().to_owned(), response.text().await.unwrap())
    };
    let (tag, page) = read("?lang=zh&theme=dark&top=1").await;
    assert!(
        page.contains("<html lang=\"zh\" data-theme=\"dark\">") && page.contains("完整排行榜（2 个模型）"),
        "{page}"
    );
    assert_eq!(page.matches("<tr><td").count(), 1, "{page}");
    let links = page.matches("<a ").count();
    assert!(links >= 3 && links == page.matches("target=\"_blank\" rel=\"noopener\"").count(), "{page}");
    assert!(!page.contains("<script") && !page.contains("style="), "{page}");
    assert_eq!(read("").await.1.matches("<tr><td").count(), 2);
    let again = http().get(format!("{}/embed/leaderboard?lang=zh&theme=dark&top=1", arena.url));
    let again = again.header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert!(policy(&again).ends_with("frame-ancestors *"), "{}", policy(&again));
    let refused = get(&format!("{}/embed/leaderboard?theme=pink", arena.url)).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    arena.end().await;
}
