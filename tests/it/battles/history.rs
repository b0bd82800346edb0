//! A visitor's own battles: who may open them, what they name, sharing, export, and the deletion of texts.

use std::path::Path;

use langya::domain::battle::BattleId;
use langya::domain::battle::event_log::BattleEvent;
use langya::domain::battle::progress::Stage;
use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::scheme::Scheme;
use langya::domain::time::Timestamp;
use langya::infra::storage::{LabelSource, NewExclusion, NewLabel};
use langya::infra::time::clock::Clock as _;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::{Visitor, http_client};

const MODELS: [&str; 2] = ["one", "two"];

async fn arena(folder: &Path, replies: [&'static str; 2]) -> TestArena {
    let models = replies.map(Scripted::saying);
    let models: Vec<(&str, &Scripted)> = MODELS.into_iter().zip(&models).collect();
    TestArena::start_with(&models, |settings| settings.storage.data_dir = folder.join("data")).await
}

/// A browser with a visitor's cookie, or with none.
struct Browser<'a> {
    arena: &'a TestArena,
    cookie: Option<String>,
}

impl<'a> Browser<'a> {
    fn of(arena: &'a TestArena, visitor: &Visitor) -> Self {
        Self { arena, cookie: Some(visitor.cookie().to_owned()) }
    }

    fn stranger(arena: &'a TestArena) -> Self {
        Self { arena, cookie: None }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Response {
        let with_cookie = match &self.cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        };
        with_cookie.send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        self.send(client().get(format!("{}{path}", self.arena.url)).header("accept-language", "en")).await
    }

    async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(
            (response.status(), &response.headers()["cache-control"]),
            (StatusCode::OK, &"no-store".parse().unwrap())
        );
        response.text().await.unwrap()
    }

    async fn post(&self, path: &str, token: &str, origin: Option<&str>) -> Response {
        let mut request = client().post(format!("{}{path}", self.arena.url)).body(format!("token={token}"));
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.send(request).await
    }

    /// Sends a form of the arena's own page.
    async fn submit(&self, page: &str, path: &str) -> Response {
        let token = token_in(&self.page(page).await);
        self.post(path, &token, Some(&self.arena.url)).await
    }
}

fn client() -> reqwest::Client {
    http_client().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

fn token_in(page: &str) -> String {
    page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// The address of the link on the page of a battle, without the host.
fn link_in(page: &str) -> String {
    let address = page.split("class=\"share-link\"><a href=\"").nth(1).unwrap().split('"').next().unwrap();
    address[address.find("/shared/").unwrap()..].to_owned()
}

/// Has a visitor ask, and vote if asked to.
async fn play(visitor: &mut Visitor, prompt: &str, outcome: Option<&str>) -> BattleId {
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    if let Some(outcome) = outcome {
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    visitor.battle()
}

fn names_a_model(page: &str) -> bool {
    ["Name-of-", "Maker-of-", "License-of-"].iter().any(|name| page.contains(name))
}

#[actix_web::test]
async fn a_voter_reads_what_was_decided_of_the_vote_since() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let mut visitor = arena.visitor().await;
    let browser = Browser::of(&arena, &visitor);
    let battle = play(&mut visitor, "Are you Gemini?", Some("a")).await;
    let path = format!("/battle/{battle}");
    let (later, again) = ("excluded from the ratings after you cast it", "readmitted to the ratings after you cast it");
    let says = async |text: &str| browser.page(&path).await.contains(text);
    assert!(says("does not count in the ratings").await && !says(later).await && !says(again).await);
    let store = &arena.app.store;
    let seq = store.vote_on(&battle).await.unwrap().unwrap().seq;
    assert!(store.withdraw_exclusion(seq, "identity_leak", "ann", Timestamp(1)).await.unwrap());
    assert!(says(again).await && !says(later).await);

    let battle = play(&mut visitor, "What is moss?", Some("b")).await;
    let path = format!("/battle/{battle}");
    let page = async || browser.page(&path).await;
    assert!(!page().await.contains(later) && !page().await.contains(again));
    let vote_seq = store.vote_on(&battle).await.unwrap().unwrap().seq;
    let exclusion = NewExclusion {
        id: "e",
        vote_seq,
        rule: "identity_leak",
        reason: "a test",
        excluded_by: "ann",
        excluded_at: Timestamp(2),
    };
    assert_eq!(store.exclude_votes(&[exclusion]).await.unwrap(), 1);
    let page = page().await;
    assert!(
        page.contains(later) && page.contains("says which model or maker is answering") && !page.contains("ann"),
        "{page}"
    );
}

#[actix_web::test]
async fn a_battle_has_its_page_for_its_visitor_and_names_come_with_the_vote() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["**bold** <script>alert(1)</script>", "Plain."]).await;
    let mut visitor = arena.visitor().await;
    let browser = Browser::of(&arena, &visitor);
    let battle = play(&mut visitor, "Is <b>this</b> safe?", None).await;
    let path = format!("/battle/{battle}");
    for page in [browser.page("/history").await, browser.page(&path).await, browser.page("/history/export").await] {
        assert!(page.contains("safe?") && !names_a_model(&page), "before the vote nothing names a model: {page}");
    }
    let way_back = format!("href=\"/#battle={battle}\"");
    assert!(browser.page(&path).await.contains(&way_back), "a battle without a vote can be gone on with");
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let page = browser.page(&path).await;
    assert!(page.contains("Is &#60;b&#62;this&#60;/b&#62; safe?"), "{page}");
    assert!(page.contains("<strong>bold</strong>") && !page.contains("<script>alert"), "{page}");
    assert!(MODELS.iter().all(|id| page.contains(&format!("Name-of-{id}"))) && page.contains("You found A better."));
    assert!(!page.contains(&way_back), "{page}");
    assert_eq!(browser.page(&path).await, page, "a reload shows the same");
    assert!(names_a_model(&browser.page("/history").await));

    let nowhere = Browser::stranger(&arena).get("/battle/01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7f").await;
    assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
    let nowhere = nowhere.text().await.unwrap();
    let other = arena.visitor().await;
    for stranger in [Browser::stranger(&arena), Browser::of(&arena, &other)] {
        let refused = stranger.get(&path).await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND);
        let same = refused.text().await.unwrap().replace(battle.as_str(), "01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7f");
        assert_eq!(same, nowhere, "as if there were none");
        let list = stranger.get("/history").await;
        assert_eq!(list.headers().get("set-cookie"), None);
        assert!(!list.text().await.unwrap().contains(battle.as_str()));
    }
    arena.end().await;
}

#[actix_web::test]
async fn the_list_is_searched_and_paged() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let mut visitor = arena.visitor().await;
    for number in 1..=22 {
        play(&mut visitor, &format!("Question number {number}."), Some("tie")).await;
    }
    let browser = Browser::of(&arena, &visitor);
    let first = browser.page("/history").await;
    let shown = |page: &str| (1..=22).filter(|n| page.contains(&format!("number {n}."))).collect::<Vec<_>>();
    assert_eq!(shown(&first), (3..=22).collect::<Vec<_>>());
    assert!(first.find("number 22.") < first.find("number 3."), "the latest first");
    let older = first.split("href=\"/history?q=&#38;before=").nth(1).unwrap().split('"').next().unwrap();
    let second = browser.page(&format!("/history?q=&before={older}")).await;
    assert_eq!(shown(&second), [1, 2]);
    assert!(!second.contains("rel=\"next\""));
    assert_eq!(shown(&browser.page("/history?q=NUMBER+1.").await), [1]);
    assert_eq!(shown(&browser.page("/history?q=%25").await), Vec::<i32>::new(), "a sign is itself");
    assert_eq!(browser.get("/history?before=%00&q=%00").await.status(), StatusCode::OK);
    arena.end().await;
}

#[actix_web::test]
async fn a_link_is_made_and_withdrawn_by_its_visitor_from_the_arenas_own_page() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let mut visitor = arena.visitor().await;
    let battle = play(&mut visitor, "Which \"one\"?", Some("b")).await;
    let (path, share) = (format!("/battle/{battle}"), format!("/battle/{battle}/share"));
    let (browser, other) = (Browser::of(&arena, &visitor), arena.visitor().await);
    let other = Browser::of(&arena, &other);
    let (own, foreign) = (token_in(&browser.page(&path).await), token_in(&other.page("/history").await));
    let url = arena.url.as_str();
    for (who, token, origin) in [
        (&browser, own.as_str(), None),
        (&browser, &own, Some("http://evil.example")),
        (&browser, &own, Some("null")),
        (&browser, &foreign, Some(url)),
        (&browser, "", Some(url)),
        (&other, &own, Some(url)),
    ] {
        assert_eq!(who.post(&share, token, origin).await.status(), StatusCode::FORBIDDEN, "{token} {origin:?}");
    }
    assert_eq!(other.post(&share, &foreign, Some(url)).await.status(), StatusCode::SEE_OTHER, "and nothing happens");
    assert!(!browser.page(&path).await.contains("share-link"));

    assert_eq!(browser.submit(&path, &share).await.status(), StatusCode::SEE_OTHER);
    let link = link_in(&browser.page(&path).await);
    assert_eq!(link.len(), "/shared/".len() + 32, "128 bits: {link}");
    let stranger = Browser::stranger(&arena);
    let shown = stranger.get(&link).await;
    assert_eq!(shown.headers()["x-robots-tag"], "noindex, nofollow");
    assert_eq!(shown.headers().get("set-cookie"), None);
    let page = shown.text().await.unwrap();
    assert!(page.contains("name=\"robots\" content=\"noindex, nofollow\""));
    assert!(
        page.contains("og:description\" content=\"Which &#34;one&#34;?\"") && page.contains("og:title\""),
        "{page}"
    );
    assert!(names_a_model(&page) && page.contains("The visitor found B better"), "{page}");
    let picture = format!("{url}/site/preview/b.png");
    assert!(page.contains(&format!("og:image\" content=\"{picture}\"")), "{page}");
    assert!(page.contains("og:image:alt\" content=\"The visitor found B better"), "{page}");
    let loaded = client().get(&picture).send().await.unwrap();
    assert_eq!((loaded.status(), &loaded.headers()["content-type"]), (StatusCode::OK, &"image/png".parse().unwrap()));
    let missing = client().get(format!("{url}/site/preview/nobody.png")).send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert!(
        !page.contains("name=\"token\"") && !page.contains(battle.as_str()),
        "nothing to change, and no id: {page}"
    );

    let withdrawn = browser.submit(&path, &format!("/battle/{battle}/unshare")).await;
    assert_eq!(withdrawn.status(), StatusCode::SEE_OTHER);
    assert_eq!(stranger.get(&link).await.status(), StatusCode::NOT_FOUND);
    arena.end().await;
}

#[actix_web::test]
async fn a_visitor_corrects_what_a_question_is_about_after_the_vote() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let (mut visitor, mut other) = (arena.visitor().await, arena.visitor().await);
    play(&mut visitor, "How much is 3 + 4?", None).await;
    let battle = visitor.battle();
    let (path, label) = (format!("/battle/{battle}"), format!("/battle/{battle}/label"));
    let browser = Browser::of(&arena, &visitor);
    let token = token_in(&browser.page("/history").await);
    let say = async |who: &Browser<'_>, token: &str, label_of: &str| {
        who.post(&label, &format!("{token}&{label_of}"), Some(&arena.url)).await.status()
    };
    assert!(!browser.page(&path).await.contains("id=\"label\""), "nothing to say before the vote");
    assert_eq!(say(&browser, &token, "scheme=superclue&label=safety").await, StatusCode::NOT_FOUND);
    visitor.vote("a").await;
    let proposed = NewLabel { query_id: battle.as_str(), label: "safety", confidence: Some(0.4) };
    let by = |source, name| LabelSource { scheme: Scheme::Superclue, source, name };
    arena.app.store.put_labels(by(LabelOrigin::Model, ""), &[proposed], Timestamp(1)).await.unwrap();
    let pressed = |page: &str, key: &str| page.contains(&format!("value=\"{key}\" aria-pressed=\"true\""));
    let page = browser.page(&path).await;
    assert!(pressed(&page, "safety") && page.contains("proposed by the classifier"), "{page}");
    assert!(page.contains("not sorted yet"), "no intent yet: {page}");

    play(&mut other, "Mine?", Some("b")).await;
    let others = Browser::of(&arena, &other);
    let foreign = token_in(&others.page("/history").await);
    assert_eq!(say(&others, &foreign, "scheme=superclue&label=calculation").await, StatusCode::NOT_FOUND);
    assert_eq!(say(&browser, &foreign, "scheme=superclue&label=calculation").await, StatusCode::FORBIDDEN);
    for wrong in ["scheme=superclue&label=sums", "scheme=abc&label=safety"] {
        assert_eq!(say(&browser, &token, wrong).await, StatusCode::BAD_REQUEST, "{wrong}");
    }
    for right in
        ["scheme=superclue&label=small_talk", "scheme=superclue&label=calculation", "scheme=urs&label=factual_qa"]
    {
        assert_eq!(say(&browser, &token, right).await, StatusCode::SEE_OTHER, "{right}");
    }
    let page = browser.page(&path).await;
    assert!(pressed(&page, "calculation") && pressed(&page, "factual_qa") && !pressed(&page, "small_talk"), "{page}");
    assert_eq!(page.matches("as you said").count(), 2);
    let kept = arena.app.store.labels_of_prompt(Scheme::Superclue, battle.as_str()).await.unwrap();
    assert_eq!(kept.len(), 2, "the classifier's stays beside it: {kept:?}");

    let decided = NewLabel { query_id: battle.as_str(), label: "role_playing", confidence: None };
    arena.app.store.put_labels(by(LabelOrigin::Review, "ann"), &[decided], Timestamp(2)).await.unwrap();
    let page = browser.page(&path).await;
    assert!(pressed(&page, "role_playing") && page.contains("decided by a reviewer"), "{page}");
    let shared = browser.submit(&path, &format!("{path}/share")).await;
    assert_eq!(shared.status(), StatusCode::SEE_OTHER);
    let link = link_in(&browser.page(&path).await);
    assert!(!Browser::stranger(&arena).page(&link).await.contains("id=\"label\""), "only the visitor may say");
    arena.end().await;
}

#[actix_web::test]
async fn an_export_has_what_the_visitor_said_beside_the_question_and_the_vote() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let mut visitor = arena.visitor().await;
    visitor.send(json!({"type": "start", "prompt": "Which?", "category": "maths", "intent": "factual_qa"})).await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "vote", "outcome": "a", "reasons": {"a": ["useful", "clear"]}})).await;
    assert_eq!(visitor.next().await["type"], "revealed");
    let text = Browser::of(&arena, &visitor).page("/history/export").await;
    let exported: Value = serde_json::from_str(&text).unwrap();
    let battle = &exported["battles"][0];
    assert_eq!((&battle["category"], &battle["intent"]), (&"maths".into(), &"factual_qa".into()));
    assert_eq!((&battle["vote"]["reasons_a"], &battle["vote"]["reasons_b"]), (&"useful,clear".into(), &Value::Null));
    arena.end().await;
}

#[actix_web::test]
async fn deleting_texts_leaves_votes_and_ratings_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One secret.", "Two secret."]).await;
    let (mut visitor, mut neighbour) = (arena.visitor().await, arena.visitor().await);
    for outcome in ["a", "b", "tie", "both_bad", "a"] {
        play(&mut visitor, "A secret question", Some(outcome)).await;
        play(&mut neighbour, "A neighbour's question", Some(outcome)).await;
    }
    let shared = visitor.battle();
    let browser = Browser::of(&arena, &visitor);
    let path = format!("/battle/{shared}");
    browser.submit(&path, &format!("{path}/share")).await;
    let link = link_in(&browser.page(&path).await);
    play(&mut visitor, "A secret question without a vote", None).await;
    let exported: Value = serde_json::from_str(&browser.page("/history/export").await).unwrap();
    assert_eq!(exported["battles"].as_array().unwrap().len(), 6);
    assert_eq!(exported["battles"][0]["vote"], Value::Null);
    assert_eq!(
        (&exported["battles"][1]["vote"]["outcome"], &exported["battles"][1]["shared"]),
        (&"a".into(), &true.into())
    );
    assert!(exported["battles"][1]["turns"][0]["replies"][0].as_str().unwrap().contains("secret"));

    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 10).await.unwrap();
    let slices = ["", "?language=unknown", "?turns=first", "?ties=drop"];
    let boards = async || {
        let mut boards = Vec::new();
        for slice in slices {
            boards.push(browser.get(&format!("/api/v1/leaderboard{slice}")).await.text().await.unwrap());
        }
        boards
    };
    let logged = async || (arena.app.store.logged_vote_count().await.unwrap() == 10).then_some(());
    until(logged).await;
    let (before, votes) = (boards().await, exported_votes(folder.path(), &[]).await);
    assert_eq!(browser.post("/history/delete", "", Some(&arena.url)).await.status(), StatusCode::FORBIDDEN);
    let done = browser.submit("/history", "/history/delete").await;
    assert_eq!(
        (done.status(), &done.headers()["location"]),
        (StatusCode::SEE_OTHER, &"/history?deleted=6".parse().unwrap())
    );
    let forgotten = done.headers()["set-cookie"].to_str().unwrap();
    assert!(forgotten.starts_with("langya_session=;") && forgotten.contains("Max-Age=0"), "{forgotten}");

    assert_eq!(boards().await, before);
    assert_eq!(exported_votes(folder.path(), &[]).await, votes, "not a byte of the log changes");
    let with_text = exported_votes(folder.path(), &["--text"]).await;
    assert!(
        !with_text.contains("A secret question") && with_text.matches("\"conversation_a\":[]").count() == 5,
        "{with_text}"
    );
    assert_eq!(with_text.matches("neighbour's question").count(), 10);
    assert_eq!(Browser::stranger(&arena).get(&link).await.status(), StatusCode::NOT_FOUND);
    let refused = browser.get(&path).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN, "the session has ended, too");
    assert!(!refused.text().await.unwrap().contains("secret"));
    assert_eq!(visitor.try_next().await, Err(Some(CloseCode::Restart)));
    let open = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
    assert_eq!(open.progress.stage, Stage::Abandoned, "the open battle has ended");

    let data = folder.path().join("data");
    arena.end().await;
    let verified = langya_beside(folder.path(), &["verify", "data/langya.db"]).await;
    assert!(verified.code == Some(0) && verified.stdout.contains("5 of them without texts"), "{verified:?}");
    let models = [Scripted::saying("One."), Scripted::saying("Two.")];
    let models: Vec<(&str, &Scripted)> = MODELS.into_iter().zip(&models).collect();
    let again = TestArena::start_with(&models, |settings| settings.storage.data_dir = data).await;
    let mut changes = again.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 10).await.unwrap();
    let browser = Browser::stranger(&again);
    for (slice, before) in slices.iter().zip(before) {
        let after = browser.get(&format!("/api/v1/leaderboard{slice}")).await.text().await.unwrap();
        assert_eq!(without_time(&after), without_time(&before), "{slice}");
    }
    again.end().await;
}

fn without_time(leaderboard: &str) -> Value {
    let mut leaderboard: Value = serde_json::from_str(leaderboard).unwrap();
    leaderboard.as_object_mut().unwrap().remove("as_of");
    leaderboard
}

async fn exported_votes(folder: &Path, more: &[&str]) -> String {
    let run = langya_beside(folder, &[&["export", "votes", "--data-dir", "data", "--out", "-"], more].concat()).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    run.stdout
}

#[actix_web::test]
async fn a_tab_that_is_open_while_the_texts_are_deleted_goes_on_as_another_visitor_who_finds_its_battles() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One.", "Two."]).await;
    let mut visitor = arena.visitor().await;
    play(&mut visitor, "An earlier question", Some("a")).await;
    let mut tab = visitor.reconnect().await;
    let done = Browser::of(&arena, &visitor).submit("/history", "/history/delete").await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    for socket in [&mut visitor, &mut tab] {
        assert_eq!(socket.try_next().await, Err(Some(CloseCode::Restart)));
    }
    // Also where it is quicker than the browser, which still has to forget the cookie.
    let mut again = tab.reconnect().await;
    assert_ne!(again.cookie(), visitor.cookie());
    play(&mut again, "A later question", Some("a")).await;
    let list = Browser::of(&arena, &again).page("/history").await;
    assert!(list.contains("A later question") && !list.contains("An earlier question"), "{list}");
    arena.end().await;
}

#[actix_web::test]
async fn a_tab_that_comes_back_is_not_sent_texts_that_were_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["A secret one.", "A secret two."]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("A secret question").await;
    visitor.until_ready().await;
    let row = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
    // As the arena does where people sign in, and for a request: the session goes on.
    arena.app.store.delete_texts_of(&row.visitor, arena.app.clock.now()).await.unwrap();
    let page = Browser::of(&arena, &visitor).page(&format!("/battle/{}", row.id)).await;
    assert!(page.contains("The texts of this battle are deleted") && !page.contains("secret"), "{page}");
    // The first connection still watches, so the battle is in memory.
    let mut again = visitor.reconnect().await;
    again.send(json!({"type": "resume", "battle": visitor.battle(), "after": 0})).await;
    let told = again.next_of(&["error", "ready"]).await;
    assert_eq!((&told["code"], &told["reason"]), (&json!("battle_over"), &json!("texts_deleted")), "{told}");
    assert!(!again.frames.concat().contains("secret"), "{:?}", again.frames);
    assert_eq!(visitor.try_next().await, Err(Some(CloseCode::Restart)), "it comes back, too");
}

#[actix_web::test]
async fn a_tab_that_comes_back_while_the_database_is_out_of_reach_gets_its_battle_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    let arena = arena(folder.path(), ["One answer.", "Another answer."]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("A question").await;
    visitor.until_ready().await;
    let row = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
    arena.app.store.close().await;
    let mut watcher = arena.app.battles.resume(&row.visitor, &row.id, 0).await.unwrap();
    let last = watcher.missed().pop().unwrap().event;
    assert_eq!(last, BattleEvent::Ready);
}
