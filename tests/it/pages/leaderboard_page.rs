//! The leaderboard as a page that is cached, searched, sorted and downloaded, and the page of each model.

use std::io::Read as _;
use std::sync::Arc;

use langya::infra::llm::resilient_model::ResilientModel;
use langya::infra::llm::roster::Roster;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use reqwest::{Response, StatusCode};

use crate::support::arena::{TestArena, card, quick_limits};
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get, http};

const MODELS: [&str; 3] = ["alpha", "lab/beta", "gamma"];

async fn arena() -> TestArena {
    let scripted = MODELS.map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = scripted.iter().map(|(name, model)| (*name, model)).collect();
    TestArena::start(&models).await
}

/// Votes on a battle for the model that comes first by name, and waits until the leaderboard has the vote.
async fn vote(arena: &TestArena, visitor: &mut Visitor, number: i64) {
    visitor.ask("Which one?").await;
    let [a, b] = visitor.until_ready().await;
    assert_eq!(visitor.vote(if a < b { "a" } else { "b" }).await["type"], "revealed");
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == number).await.unwrap();
}

async fn page(arena: &TestArena, path: &str) -> String {
    let response = get(&format!("{}{path}", arena.url)).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    response.text().await.unwrap()
}

/// The page as a browser asks for it that has one with this tag already.
async fn page_unless(arena: &TestArena, tag: &str, language: &str) -> Response {
    let request = http().get(format!("{}/leaderboard", arena.url));
    request.header("if-none-match", tag).header("accept-language", language).send().await.unwrap()
}

fn tag(response: &Response) -> String {
    response.headers()["etag"].to_str().unwrap().to_owned()
}

/// The models of the rows in their order.
fn rows(page: &str) -> Vec<&str> {
    page.split("data-model=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[actix_web::test]
async fn a_browser_that_has_the_page_gets_not_modified_until_the_leaderboard_changes() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    vote(&arena, &mut visitor, 1).await;
    let first = get(&format!("{}/leaderboard", arena.url)).await;
    let english = tag(&first);
    assert!(first.text().await.unwrap().contains("<html lang=\"en\">"));
    let again = page_unless(&arena, &english, "en").await;
    assert_eq!((again.status(), tag(&again)), (StatusCode::NOT_MODIFIED, english.clone()));
    assert_eq!(again.text().await.unwrap(), "");
    let chinese = page_unless(&arena, &english, "zh").await;
    assert_eq!(chinese.status(), StatusCode::OK, "another language is another page");
    assert!(chinese.text().await.unwrap().contains("<html lang=\"zh\">"));
    vote(&arena, &mut visitor, 2).await;
    let moved = page_unless(&arena, &english, "en").await;
    assert_eq!(moved.status(), StatusCode::OK);
    assert!(moved.text().await.unwrap().contains("<b data-part=\"votes\">2</b>"));
    arena.end().await;
}

#[actix_web::test]
async fn paused_models_that_never_met_anybody_delay_no_ranking() {
    let guarded = |(id, weight): (&str, f64)| {
        let (model, rng) = (Arc::new(Scripted::saying("Here.")), ChaCha8Rng::seed_from_u64(1));
        Arc::new(ResilientModel::new(card(id), weight, model, quick_limits(), rng))
    };
    let roster = Roster::new([("one", 1.0), ("two", 1.0), ("paused", 0.0), ("judge", 0.0)].map(guarded).into());
    let arena = TestArena::start_with_roster(roster, |settings| settings.rating.min_votes = 4).await;
    vote(&arena, &mut arena.visitor().await, 1).await;
    let page = page(&arena, "/leaderboard?lang=en").await;
    assert!(page.contains("With 4 votes, each model has taken part in 4 battles on average."), "{page}");
    arena.end().await;
}

/// The page as a browser asks for it that takes compressed ones.
async fn page_compressed(arena: &TestArena) -> Response {
    let request = http().get(format!("{}/leaderboard", arena.url));
    request.header("accept-encoding", "gzip").send().await.unwrap()
}

#[actix_web::test]
async fn the_compressed_page_is_the_plain_one_and_follows_the_leaderboard() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    for votes in 1..=2 {
        vote(&arena, &mut visitor, votes).await;
        let plain = get(&format!("{}/leaderboard", arena.url)).await;
        let compressed = page_compressed(&arena).await;
        assert_eq!(
            (&compressed.headers()["content-encoding"], tag(&compressed)),
            (&"gzip".parse().unwrap(), tag(&plain))
        );
        assert!(
            compressed.headers().get_all("vary").iter().any(|vary| vary.to_str().unwrap().contains("accept-encoding"))
        );
        let mut text = String::new();
        let bytes = compressed.bytes().await.unwrap();
        flate2::read::GzDecoder::new(bytes.as_ref()).read_to_string(&mut text).unwrap();
        assert!(text.contains(&format!("<b data-part=\"votes\">{votes}</b>")), "{text}");
        assert_eq!(text, plain.text().await.unwrap());
    }
    arena.end().await;
}

#[actix_web::test]
async fn models_are_searched_sorted_and_downloaded_without_a_change_of_their_figures() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    for number in 1..=9 {
        vote(&arena, &mut visitor, number).await;
    }
    let whole = page(&arena, "/leaderboard").await;
    assert!(rows(&whole).len() >= 2 && whole.contains("js/leaderboard.js"), "{whole}");
    let one = page(&arena, "/leaderboard?q=LAB%2F").await;
    assert_eq!(rows(&one), ["lab/beta"]);
    assert!(!one.contains("js/leaderboard.js"), "live rows would undo the choice");
    let row = |page: &str| {
        page.split("data-model=\"lab/beta\"").nth(1).unwrap().split("class=\"interval\"").next().unwrap().to_owned()
    };
    assert_eq!(row(&one), row(&whole), "rank and rating are those among all");
    let by_name = page(&arena, "/leaderboard?sort=name").await;
    let mut names = rows(&by_name);
    names.sort_by_key(|id| format!("Name-of-{id}"));
    assert_eq!(rows(&by_name), names);
    let mut reversed =
        rows(&page(&arena, "/leaderboard?sort=-name").await).iter().map(ToString::to_string).collect::<Vec<_>>();
    reversed.reverse();
    assert_eq!(reversed, names);
    let nobody = page(&arena, "/leaderboard?q=nobody").await;
    assert!(nobody.contains("<p class=\"note\" id=\"board\">No model matches this choice."), "{nobody}");
    assert_eq!(nobody.matches("id=\"board\"").count(), 1, "{nobody}");
    assert!(nobody.contains("action=\"/leaderboard#search\" id=\"search\""), "{nobody}");
    let to_come = page(&arena, "/leaderboard?until=2999-01-01").await;
    assert!(to_come.contains("data-part=\"time\" datetime=") && !to_come.contains("datetime=\"2999-"), "{to_come}");
    for (path, said) in [("sort=price", "sort is"), ("open=x", "open is")] {
        let refused = get(&format!("{}/leaderboard?{path}", arena.url)).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
        assert!(refused.text().await.unwrap().contains(said));
    }
    let csv = page(&arena, "/api/v1/leaderboard.csv?turns=first").await;
    assert!(csv.starts_with("model,") && csv.contains("lab/beta"), "{csv}");
    let drawing = get(&format!("{}/leaderboard.svg", arena.url)).await;
    assert_eq!(drawing.headers()["content-type"], "image/svg+xml; charset=utf-8");
    assert!(drawing.text().await.unwrap().contains("Name-of-alpha"));
    arena.end().await;
}

#[actix_web::test]
async fn every_model_that_took_part_has_a_page_and_nobody_else() {
    let arena = arena().await;
    let unrated = page(&arena, "/models/alpha").await;
    assert!(unrated.contains("Name-of-alpha") && unrated.contains("No rated vote"), "{unrated}");
    let mut visitor = arena.visitor().await;
    for number in 1..=12 {
        vote(&arena, &mut visitor, number).await;
    }
    let rated = page(&arena, "/models/lab%2Fbeta").await;
    for said in ["Name-of-lab/beta", "Maker-of-lab/beta", "License-of-lab/beta", "Opponents", "href=\"/models/alpha\""]
    {
        assert!(rated.contains(said), "no {said}: {rated}");
    }
    assert!(!rated.contains("NaN"), "{rated}");
    for nobody in ["/models/nobody", "/models/lab", "/models/%00"] {
        assert_eq!(get(&format!("{}{nobody}", arena.url)).await.status(), StatusCode::NOT_FOUND, "{nobody}");
    }
    arena.end().await;
}
