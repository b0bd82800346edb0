//! What visitors agree to before their first battle: the page asks until they have, and again when the text changes.

use langya::domain::battle_judging::subject::JudgedSubject;
use langya::domain::benchmark::item::ItemSampling;
use langya::domain::benchmark::scores::judgement::{Game, JudgeTokens, Status};
use langya::domain::judging::verdict::Preference;
use langya::domain::language::Language;
use langya::domain::time::Timestamp;
use langya::infra::config::Settings;
use langya::infra::storage::VerdictRow;
use langya::render::i18n::pages::ModelVerdicts;
use langya::services::arena::consent_version::Consents;
use serde_json::{Value, json};

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get, http};

async fn arena() -> TestArena {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    TestArena::start(&[("one", &one), ("two", &two)]).await
}

async fn described(arena: &TestArena) -> Value {
    get(&format!("{}/api/v1/consent", arena.url)).await.json().await.unwrap()
}

async fn page(arena: &TestArena, visitor: &Visitor, path: &str) -> String {
    let request = http().get(format!("{}{path}", arena.url)).header("cookie", visitor.cookie());
    request.send().await.unwrap().text().await.unwrap()
}

/// Whether the battle page asks the visitor first.
async fn asks(arena: &TestArena, visitor: &Visitor) -> bool {
    page(arena, visitor, "/").await.contains(" data-asks ")
}

async fn start(visitor: &mut Visitor, consent: Value) {
    visitor.send(json!({"type": "start", "prompt": "Which?", "consent": consent})).await;
    visitor.until_ready().await;
}

fn change(arena: &TestArena, change: impl FnOnce(&mut Settings)) {
    let mut edited = (*arena.app.settings.now()).clone();
    change(&mut edited);
    arena.app.settings.replace(edited);
}

#[actix_web::test]
async fn a_visitor_agrees_once_and_again_to_another_text() {
    let arena = arena().await;
    let [mut visitor, stranger] = [arena.visitor().await, arena.visitor().await];
    assert!(asks(&arena, &visitor).await && asks(&arena, &stranger).await);
    let first = described(&arena).await["version"].clone();
    start(&mut visitor, first.clone()).await;
    start(&mut visitor, first.clone()).await;
    assert!(!asks(&arena, &visitor).await && asks(&arena, &stranger).await);

    change(&arena, |settings| {
        settings.site.consent.insert(Language::English, "A study <of> the lab.".into());
    });
    assert!(asks(&arena, &visitor).await, "the text has changed");
    start(&mut visitor, first.clone()).await;
    assert!(asks(&arena, &visitor).await, "what the page showed before the change is not this text");
    let second = described(&arena).await;
    assert_eq!(second["texts"][0]["paragraphs"][2], "A study <of> the lab.");
    start(&mut visitor, second["version"].clone()).await;
    assert!(!asks(&arena, &visitor).await);

    let exported: Value = serde_json::from_str(&page(&arena, &visitor, "/history/export").await).unwrap();
    let consents = exported["consents"].as_array().unwrap();
    let versions: Vec<&Value> = consents.iter().map(|consent| &consent["version"]).collect();
    assert_eq!(versions, [&first, &second["version"]]);
    assert_eq!(consents[1]["texts"], second["texts"]);
    change(&arena, |settings| settings.site.consent.clear());
    assert!(!asks(&arena, &visitor).await, "the first text is in force again");
    arena.end().await;
}

#[actix_web::test]
async fn a_client_needs_no_consent_and_cannot_give_another_one() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    for consent in [Value::Null, json!("0".repeat(12)), json!("x".repeat(5_000))] {
        start(&mut visitor, consent).await;
    }
    assert!(asks(&arena, &visitor).await);
    visitor.send(json!({"type": "start", "prompt": "Which?", "consent": 1})).await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "invalid_message");
    let exported: Value = serde_json::from_str(&page(&arena, &visitor, "/history/export").await).unwrap();
    assert_eq!(exported["consents"], json!([]));
    arena.end().await;
}

#[actix_web::test]
async fn the_page_shows_what_the_settings_make_of_the_text() {
    let arena = arena().await;
    change(&arena, |settings| {
        settings.retention.text_days = 30;
        settings.site.privacy = "https://example.org/privacy".into();
        settings.site.consent.insert(Language::Chinese, "本研究 <由> 实验室进行。".into());
    });
    let read = async |language| get(&format!("{}/consent?lang={language}", arena.url)).await.text().await.unwrap();
    let (english, chinese) = (read("en").await, read("zh").await);
    for said in
        ["Before your first battle", "30 days, unless you delete", "https://example.org/privacy", "data-version"]
    {
        assert!(english.contains(said), "no {said}: {english}");
    }
    assert!(chinese.contains("本研究 &#60;由&#62; 实验室进行。") && !english.contains("实验室"), "{chinese}");
    arena.end().await;
}

#[actix_web::test]
async fn that_models_judge_is_said_while_the_database_is_out_of_reach_too() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    start(&mut visitor, Value::Null).await;
    let app = &arena.app;
    assert_eq!(app.consents.judging().await.unwrap(), ModelVerdicts::None);
    let verdict = VerdictRow {
        id: "1".into(),
        subject: JudgedSubject::Battle(visitor.battle()),
        judge: "judge".into(),
        game: Game::First,
        prompt_sha256: "0123456789abcdef".into(),
        params: ItemSampling::default(),
        raw_text: String::new(),
        earlier: Vec::new(),
        parsed: Some(Preference::A),
        status: Status::Ok,
        attempts: 1,
        latency_ms: 1,
        tokens: JudgeTokens::default(),
        created_at: Timestamp(1),
    };
    app.store.insert_verdicts(&[verdict]).await.unwrap();
    assert_eq!(app.consents.judging().await.unwrap(), ModelVerdicts::ByModels);
    app.store.close().await;
    assert_eq!(app.consents.judging().await.unwrap(), ModelVerdicts::ByModels);
    let unasked = Consents::new(app.store.clone(), app.settings.clone(), app.clock.clone());
    assert!(unasked.judging().await.is_err(), "nothing is said that nobody knows");
}
