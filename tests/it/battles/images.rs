//! Images beside a first question: who sees them, what of them is kept, and when they go.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use langya::domain::battle::BattleId;
use langya::domain::preference_filter::{PreferenceFilter, SkippedVote};
use langya::domain::time::Timestamp;
use langya::infra::config::{Environment, ModelSettings, ProviderKind, Settings, WindowLimits};
use langya::infra::llm::roster::Roster;
use langya::infra::storage::DeletionTarget;
use langya::infra::time::clock::Clock as _;
use langya::services::import_export::export::ExportSelection;
use langya::services::import_export::export::preferences::preferences;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use crate::support::arena::{SEED, TestArena};
use crate::support::program::langya_beside;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, http};

/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MODELS: [&str; 4] = ["crane", "heron", "mole", "bat"];

fn png() -> Vec<u8> {
    BASE64_STANDARD.decode(PNG).unwrap()
}

/// An arena whose first models see images, so many of them.
async fn arena(upstream: &Upstream, seeing: usize, change: impl FnOnce(&mut Settings)) -> TestArena {
    let entry = |(at, id): (usize, &&str)| ModelSettings {
        base_url: format!("{}/v1", upstream.url()),
        images: at < seeing,
        ..ModelSettings::minimal(*id, ProviderKind::Openai)
    };
    for (model, text) in MODELS.into_iter().zip(["A dot.", "One pixel.", "What image?", "Which?"]) {
        upstream.respond(model, move |_| Script::openai([text]));
    }
    let models = MODELS.iter().enumerate().map(entry).collect();
    let roster = Roster::build(&Settings { models, ..Settings::default() }, &Environment::default(), SEED).unwrap();
    TestArena::start_with_roster(roster, change).await
}

fn client() -> reqwest::Client {
    http().clone()
}

async fn send(arena: &TestArena, visitor: &Visitor, file: Vec<u8>) -> Response {
    let request = client().post(format!("{}/images", arena.url)).header("origin", &arena.url);
    request.header("cookie", visitor.cookie()).body(file).send().await.unwrap()
}

async fn sent(arena: &TestArena, visitor: &Visitor) -> String {
    let response = send(arena, visitor, png()).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    let taken: Value = response.json().await.unwrap();
    assert_eq!((&taken["width"], &taken["height"]), (&json!(1), &json!(1)));
    taken["image"].as_str().unwrap().to_owned()
}

async fn get(arena: &TestArena, visitor: Option<&Visitor>, path: &str) -> Response {
    let request = client().get(format!("{}{path}", arena.url));
    let request = visitor.iter().fold(request, |request, visitor| request.header("cookie", visitor.cookie()));
    request.send().await.unwrap()
}

async fn refused(visitor: &mut Visitor, start: Value) -> Value {
    visitor.send(start).await;
    visitor.next_of(&["error"]).await["code"].take()
}

#[actix_web::test]
async fn both_models_see_the_images_in_every_turn_and_nobody_else_does() {
    let upstream = Upstream::start().await;
    let arena = arena(&upstream, 2, |_| {}).await;
    let (mut visitor, stranger) = (arena.visitor().await, arena.visitor().await);
    let image = sent(&arena, &visitor).await;
    for _ in 0..4 {
        visitor.send(json!({"type": "start", "prompt": "What is this?", "images": [image, image]})).await;
        visitor.until_ready().await;
        visitor.send(json!({"type": "message", "prompt": "And its colour?"})).await;
        visitor.until_ready().await;
    }
    let asked = upstream.received();
    assert_eq!(asked.len(), 16);
    let shown = get(&arena, Some(&visitor), &format!("/images/{image}")).await;
    assert_eq!((shown.status(), &shown.headers()["content-type"]), (StatusCode::OK, &"image/png".parse().unwrap()));
    let address = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(shown.bytes().await.unwrap()));
    let picture = json!({"type": "image_url", "image_url": {"url": address}});
    let first = json!([picture, picture, {"type": "text", "text": "What is this?"}]);
    for request in &asked {
        assert!(["crane", "heron"].contains(&request.body["model"].as_str().unwrap()), "mole and bat see no images");
        assert_eq!(request.body["messages"][0], json!({"role": "user", "content": first}));
    }
    for other in [Some(&stranger), None] {
        assert_eq!(get(&arena, other, &format!("/images/{image}")).await.status(), StatusCode::NOT_FOUND);
    }
}

/// A number out of the arena's database.
async fn count(arena: &TestArena, query: &'static str) -> i64 {
    let path = arena.app.settings.now().storage.data_dir.join("langya.db");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path)).await.unwrap();
    sqlx::query_scalar(query).fetch_one(&pool).await.unwrap()
}

#[actix_web::test]
async fn who_comes_back_is_shown_the_images_and_so_is_anyone_with_the_link_until_the_texts_are_deleted() {
    let upstream = Upstream::start().await;
    let arena = arena(&upstream, 2, |_| {}).await;
    let mut visitor = arena.visitor().await;
    let (image, other) = (sent(&arena, &visitor).await, sent(&arena, &visitor).await);
    visitor.send(json!({"type": "start", "prompt": "Which is older?", "images": [image, other]})).await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    let mut again = visitor.reconnect().await;
    again.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
    assert_eq!(again.next_of(&["battle"]).await["images"], json!([image, other]));
    again.until_ready().await;
    again.vote("tie").await;

    let page = get(&arena, Some(&visitor), &format!("/battle/{battle}")).await.text().await.unwrap();
    assert!(page.contains(&format!("src=\"/images/{image}\"")) && page.contains(&format!("src=\"/images/{other}\"")));
    let store = &arena.app.store;
    let owner = store.battle(&battle).await.unwrap().unwrap().visitor;
    store.share_battle(&battle, &owner, "0a1b2c", Timestamp(1)).await.unwrap();
    let page = get(&arena, None, "/shared/0a1b2c").await.text().await.unwrap();
    assert!(page.contains("src=\"/shared/0a1b2c/images/2\"") && !page.contains(&image), "{page}");
    assert_eq!(get(&arena, None, "/shared/0a1b2c/images/2").await.headers()["content-type"], "image/png");
    for path in ["/shared/0a1b2c/images/3", "/shared/0a1b2c/images/0", "/shared/ffff/images/1"] {
        assert_eq!(get(&arena, None, path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }

    store.delete_texts_of(&owner, arena.app.clock.now()).await.unwrap();
    assert_eq!(get(&arena, Some(&visitor), &format!("/images/{image}")).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(store.images_of(&battle).await.unwrap(), []);
}

#[actix_web::test]
async fn an_image_that_another_battle_shows_stays_and_one_that_nobody_asked_about_goes_after_a_day() {
    let upstream = Upstream::start().await;
    let arena = arena(&upstream, 2, |_| {}).await;
    let mut visitor = arena.visitor().await;
    let shared = sent(&arena, &visitor).await;
    let mut battles: Vec<BattleId> = Vec::new();
    for _ in 0..2 {
        visitor.send(json!({"type": "start", "prompt": "What is this?", "images": [shared]})).await;
        visitor.until_ready().await;
        visitor.vote("a").await;
        battles.push(visitor.battle());
    }
    let unused = sent(&arena, &visitor).await;
    let store = &arena.app.store;
    let target = DeletionTarget { battle: battles[0].clone(), visitor: None };
    store.delete_texts_of_target(&target).await.unwrap();
    assert_eq!(store.images_of(&battles[0]).await.unwrap(), []);
    let status = async |image: &str| get(&arena, Some(&visitor), &format!("/images/{image}")).await.status();
    assert_eq!(status(&shared).await, StatusCode::OK, "the second battle shows it");
    assert_eq!(status(&unused).await, StatusCode::OK, "it may be for the next battle");
    assert_eq!(store.delete_unused_images(arena.app.clock.now()).await.unwrap(), 1);
    assert_eq!((status(&shared).await, status(&unused).await), (StatusCode::OK, StatusCode::NOT_FOUND));
}

#[actix_web::test]
async fn judges_and_exported_preferences_leave_out_battles_with_images() {
    let (upstream, folder) = (Upstream::start().await, tempfile::tempdir().unwrap());
    let data = folder.path().join("data");
    let arena = arena(&upstream, 2, |settings| settings.storage.data_dir = data).await;
    let mut visitor = arena.visitor().await;
    let image = sent(&arena, &visitor).await;
    for images in [json!([image]), json!([])] {
        visitor.send(json!({"type": "start", "prompt": "What is this?", "images": images})).await;
        visitor.until_ready().await;
        visitor.vote("a").await;
    }
    let (store, mut file) = (&arena.app.store, Vec::new());
    let report =
        preferences(store, PreferenceFilter::default(), ExportSelection::ALL, &mut file, |_, _| {}).await.unwrap();
    assert_eq!((report.written, report.left_out[&SkippedVote::Images]), (1, 1));

    let judge = format!("[[models]]\nid = \"judge\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    std::fs::write(folder.path().join("langya.toml"), format!("[providers]\ndiscover = false\n\n{judge}")).unwrap();
    let run = "judge run --data-dir data --judge judge --share 1 --dry-run --format json";
    let run = langya_beside(folder.path(), &run.split(' ').collect::<Vec<_>>()).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(plan[0]["calls"], 2, "both orders of the battle without images: {run:?}");
    assert!(run.stderr.contains("not judged: 1 battle asked with images"), "{run:?}");
    arena.end().await;
}

#[actix_web::test]
async fn what_cannot_be_shown_is_refused_with_a_code_and_nothing_is_kept() {
    let upstream = Upstream::start().await;
    let arena = arena(&upstream, 2, |settings| {
        settings.battle.max_images = 2;
        settings.battle.max_image_bytes = 1_000;
        settings.limits.images = WindowLimits::new(0, 0, 5);
    })
    .await;
    let mut visitor = arena.visitor().await;
    let image = sent(&arena, &visitor).await;
    let cases = [
        (b"<svg/>".to_vec(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "image_unusable"),
        (png()[..40].to_vec(), StatusCode::UNPROCESSABLE_ENTITY, "image_unusable"),
        (vec![0; 1_001], StatusCode::PAYLOAD_TOO_LARGE, "image_too_large"),
        (Vec::new(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "image_unusable"),
        (png(), StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
    ];
    for (file, status, code) in cases {
        let response = send(&arena, &visitor, file).await;
        assert_eq!(response.status(), status, "{code}");
        assert_eq!(response.json::<Value>().await.unwrap()["code"], code);
    }
    let foreign =
        client().post(format!("{}/images", arena.url)).header("origin", "https://elsewhere.example").body(png());
    assert_eq!(foreign.send().await.unwrap().status(), StatusCode::FORBIDDEN);

    let start = |images: Value| json!({"type": "start", "prompt": "What is this?", "images": images});
    assert_eq!(refused(&mut visitor, start(json!([image, image, image]))).await, "too_many_images");
    assert_eq!(refused(&mut visitor, start(json!(["nobody"]))).await, "image_unknown");
    assert_eq!(refused(&mut visitor, start(json!(["a/b"]))).await, "image_unknown");
    let mut stranger = arena.visitor().await;
    assert_eq!(refused(&mut stranger, start(json!([image]))).await, "image_unknown");
    let choice = json!({"type": "start", "prompt": "?", "images": [image], "mode": "direct", "model": "mole"});
    assert_eq!(refused(&mut visitor, choice).await, "images_unseen");
    assert_eq!(count(&arena, "SELECT COUNT(*) FROM battles").await, 0);
    assert_eq!(count(&arena, "SELECT COUNT(*) FROM images").await, 1);
}

#[actix_web::test]
async fn without_two_models_that_see_images_none_are_taken() {
    let upstream = Upstream::start().await;
    let arena = arena(&upstream, 1, |_| {}).await;
    let visitor = arena.visitor().await;
    let response = send(&arena, &visitor, png()).await;
    assert_eq!(
        (response.status(), response.json::<Value>().await.unwrap()["code"].take()),
        (StatusCode::CONFLICT, json!("images_off"))
    );
    let page = get(&arena, Some(&visitor), "/").await.text().await.unwrap();
    assert!(!page.contains("images.css"));
}
