//! What the operator makes of the arena: its name, logo, colour and links, and the rules as the settings make them.

use langya::infra::config::{PairingPolicySetting, Settings};
use reqwest::StatusCode;

use crate::support::arena::TestArena;
use crate::support::program::Server;
use crate::support::scripted::Scripted;
use crate::support::visitor::{get, get_as};

async fn arena(change: impl FnOnce(&mut Settings)) -> TestArena {
    let scripted = ["one", "two", "three"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = scripted.iter().map(|(name, model)| (*name, model)).collect();
    TestArena::start_with(&models, change).await
}

async fn page(arena: &TestArena, path: &str) -> String {
    let response = get(&format!("{}{path}", arena.url)).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    response.text().await.unwrap()
}

#[actix_web::test]
async fn the_rules_are_those_of_the_running_settings() {
    let arena = arena(|settings| {
        settings.pairing.policy = PairingPolicySetting::Elo;
        settings.pairing.elo_width = 123.0;
        settings.battle.abandon_after_minutes = 77;
        settings.rating.min_votes = 41;
        settings.rating.confidence = 0.9;
    })
    .await;
    let rules = page(&arena, "/about?lang=en").await;
    for said in [
        "differ by 123 points",
        "For 20 % of battles, every pair is equally likely",
        "Every pair, while every model answers.",
        "<td class=\"number\">33.33 %</td>",
        "Name-of-three",
        "90 % intervals",
        "fewer than 41 rated votes",
        "abandoned after 77 minutes",
        "<code>identity_leak</code>",
    ] {
        assert!(rules.contains(said), "no {said}: {rules}");
    }
    assert!(page(&arena, "/about?lang=zh").await.contains("评分相差 123 分"));
    let mut edited = (*arena.app.settings.now()).clone();
    edited.pairing.policy = PairingPolicySetting::Uniform;
    arena.app.settings.replace(edited);
    assert!(page(&arena, "/about?lang=en").await.contains("All pairs of models are equally likely."));
    arena.end().await;
}

#[actix_web::test]
async fn the_operators_name_logo_colour_and_links_are_on_every_page() {
    let folder = tempfile::tempdir().unwrap();
    let logo = folder.path().join("logo.svg");
    std::fs::write(&logo, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>").unwrap();
    let arena = arena(|settings| {
        settings.site.name = "Lab <Arena>".into();
        settings.site.logo.clone_from(&logo);
        settings.site.accent = "#28548f".into();
        settings.site.contact = "mailto:arena@example.org".into();
        settings.site.privacy = "https://example.org/privacy".into();
    })
    .await;
    for path in ["/about", "/leaderboard", "/history", "/models", "/nothing"] {
        let shown = get(&format!("{}{path}", arena.url)).await.text().await.unwrap();
        for part in [
            "· Lab &#60;Arena&#62;</title>",
            "<img class=\"seal\" src=\"/site/logo\"",
            "href=\"/site/accent.css?v=28548f\"",
            "href=\"mailto:arena@example.org\"",
            "href=\"https://example.org/privacy\"",
        ] {
            assert!(shown.contains(part), "no {part} on {path}: {shown}");
        }
        assert!(!shown.contains("Imprint") && !shown.contains("brand-en"), "{path}: {shown}");
    }
    let picture = get(&format!("{}/site/logo", arena.url)).await;
    assert_eq!(picture.headers()["content-type"], "image/svg+xml");
    assert!(picture.headers()["content-security-policy"].to_str().unwrap().contains("script-src 'self'"));
    let sheet = page(&arena, "/site/accent.css").await;
    assert!(sheet.contains("--jade: light-dark(#28548f, #"), "{sheet}");
    std::fs::remove_file(&logo).unwrap();
    assert_eq!(get(&format!("{}/site/logo", arena.url)).await.status(), StatusCode::NOT_FOUND);
    arena.end().await;
}

#[actix_web::test]
async fn an_arena_without_such_settings_has_its_own_name_and_no_links() {
    let arena = arena(|_| {}).await;
    let rules = page(&arena, "/about").await;
    assert!(rules.contains("· 琅琊 Langya</title>") && rules.contains("class=\"brand-en\""), "{rules}");
    assert!(!rules.contains("/site/") && !rules.contains("Who runs this arena"), "{rules}");
    assert_eq!(page(&arena, "/site/accent.css").await, "");
    assert_eq!(get(&format!("{}/site/logo", arena.url)).await.status(), StatusCode::NOT_FOUND);
    arena.end().await;
}

#[actix_web::test]
async fn a_logo_that_is_not_there_is_reported_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langya.toml"), "[site]\nlogo = \"missing.svg\"\n").unwrap();
    let server = Server::start(folder.path(), &[]);
    let log = server.logged("site.logo cannot be read").await;
    assert!(log.contains("missing.svg"), "{log}");
}

#[actix_web::test]
async fn a_link_that_leads_nowhere_says_what_is_missing_in_the_readers_language() {
    let arena = arena(|_| {}).await;
    for (path, english, chinese) in [
        ("/campaign/nothing", "there is no such campaign", "没有这个标注活动。"),
        ("/campaign/nothing/report", "this campaign has no public report", "没有对所有人公开的这份标注报告。"),
    ] {
        for (language, said, other) in [("en", english, chinese), ("zh", chinese, english)] {
            let response = get_as(&format!("{}{path}?lang={language}", arena.url), "text/html").await;
            assert_eq!(response.status(), StatusCode::NOT_FOUND);
            let page = response.text().await.unwrap();
            assert!(page.contains(&format!("<p class=\"missing-reason\">{said}</p>")), "{path}: {page}");
            assert!(!page.contains(other), "{path}: {page}");
        }
        let text = get(&format!("{}{path}?lang=zh", arena.url)).await.text().await.unwrap();
        assert_eq!(text, format!("{english}\n"), "programs read English");
    }
    arena.end().await;
}
