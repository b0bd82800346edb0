//! The moderation service: asked before a battle begins about the prompt and nothing else; what it flags is reviewed, and an outage is reported.

use std::path::Path;

use langya::domain::admin::role::Role;
use langya::domain::moderation::ModerationFlagState;
use langya::infra::config::{ModerationSettings, OnFailure};
use langya::infra::storage::AuditFilter;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::browser::{Browser, signed_in};
use crate::support::arena::TestArena;
use crate::support::program::{Run, langya_beside, langya_in};
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::upstream::{Received, Script, Upstream};
use crate::support::visitor::{Visitor, get};

const MODEL: &str = "omni-moderation-latest";

/// An arena beside a moderation service.
struct Stage {
    arena: TestArena,
    models: [Scripted; 2],
    service: Upstream,
    folder: tempfile::TempDir,
}

/// Finds the categories that stand in a text, as words; a text that says so breaks it, or makes it hang.
fn verdict(request: &Received) -> Script {
    let text = request.body["input"].as_str().unwrap();
    if text.contains("hang") {
        return Script::silence();
    }
    if text.contains("break") {
        return Script::mode("err500");
    }
    let categories = json!({ "hate": text.contains("hate"), "sexual/minors": text.contains("minors") });
    let flagged = text.contains("hate") || text.contains("minors");
    Script::json(&json!({ "results": [{ "flagged": flagged, "categories": categories }] }))
}

async fn stage(change: impl FnOnce(&mut ModerationSettings)) -> Stage {
    let (service, folder) = (Upstream::start().await, tempfile::tempdir().unwrap());
    service.respond(MODEL, verdict);
    let models = [Scripted::saying("One says hate."), Scripted::saying("Two.")];
    let arena = TestArena::start_with(&[("one", &models[0]), ("two", &models[1])], |settings| {
        settings.storage.data_dir = folder.path().join("data");
        settings.moderation.base_url = service.url();
        settings.moderation.refuse_categories = vec!["sexual/minors".to_owned()];
        change(&mut settings.moderation);
    })
    .await;
    Stage { arena, models, service, folder }
}

impl Stage {
    fn asked(&self) -> [usize; 2] {
        self.models.each_ref().map(Scripted::asked)
    }

    /// What waits for a reviewer.
    async fn open(&self) -> Vec<(String, u32, &'static str)> {
        let rows = self.arena.app.store.flags(Some(ModerationFlagState::Open), 9).await.unwrap();
        rows.into_iter().map(|row| (row.flag.categories.join(","), row.flag.turn, row.flag.part.as_str())).collect()
    }

    async fn flag_id(&self) -> String {
        self.arena.app.store.flags(None, 1).await.unwrap()[0].flag.id.clone()
    }
}

async fn code(visitor: &mut Visitor) -> String {
    visitor.next_of(&["error", "ready"]).await["code"].as_str().unwrap_or("ready").to_owned()
}

async fn text(browser: &mut Browser, path: &str) -> String {
    browser.get(path).await.text().await.unwrap()
}

#[actix_web::test]
async fn each_prompt_is_asked_about_alone_and_what_it_refuses_reaches_no_model() {
    let stage = stage(|_| {}).await;
    let mut visitor = stage.arena.visitor().await;
    visitor.ask("About minors, please.").await;
    let refused = visitor.next().await;
    assert_eq!(refused["code"], "prompt_refused");
    assert!(!refused.to_string().contains("sexual"), "{refused}");
    assert_eq!(stage.asked(), [0, 0]);

    visitor.ask("A plain question?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "And minors?"})).await;
    assert_eq!(code(&mut visitor).await, "prompt_refused");
    visitor.send(json!({"type": "regenerate", "prompt": "So, minors?"})).await;
    assert_eq!(code(&mut visitor).await, "prompt_refused");
    assert_eq!(stage.asked(), [1, 1]);
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    visitor.send(json!({"type": "message", "prompt": "minors now?", "unrated": true})).await;
    assert_eq!(code(&mut visitor).await, "prompt_refused");
    assert_eq!(stage.asked(), [1, 1]);
    let mut stranger = stage.arena.visitor().await;
    let other = json!({"type": "message", "battle": visitor.battle(), "prompt": "minors now?", "unrated": true});
    stranger.send(other).await;
    assert_eq!(code(&mut stranger).await, "unknown_battle");

    let received = stage.service.received();
    assert_eq!(received.len(), 5, "the stranger's was not asked about");
    for request in &received {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/moderations"));
        let keys: Vec<&String> = request.body.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["input", "model"], "the text and nothing else");
        assert!(!request.head.contains("cookie") && !request.head.contains("forwarded"), "{}", request.head);
    }
    assert_eq!(received[1].body["input"], "A plain question?");
    assert!(stage.open().await.is_empty());
}

#[actix_web::test]
async fn a_flagged_prompt_is_answered_and_reviewed_and_its_texts_go_while_its_vote_stays() {
    let stage = stage(|_| {}).await;
    let mut visitor = stage.arena.visitor().await;
    visitor.ask("Why <hate>?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "More hate?"})).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let flag = |turn| ("hate".to_owned(), turn, "prompt");
    assert_eq!(stage.open().await, [flag(2), flag(1)]);

    let mut reviewer = signed_in(&stage.arena, Role::Reviewer).await;
    assert!(text(&mut reviewer, "/admin").await.contains("Flagged texts to look at</dt><dd>2"));
    let id = stage.flag_id().await;
    let one = format!("/admin/moderation/one?id={id}");
    assert!(text(&mut reviewer, "/admin/moderation").await.contains(&one));
    let page = text(&mut reviewer, &one).await;
    assert!(
        page.contains("Why &#60;hate&#62;?") && page.contains("More hate?") && !page.contains("Name-of-"),
        "{page}"
    );
    assert!(!page.contains("/admin/moderation/remove"), "a reviewer deletes nothing");
    let kept = reviewer.post_form("/admin/moderation/keep", &[("id", &id)]).await;
    assert_eq!(kept.status(), StatusCode::SEE_OTHER);
    let again = reviewer.post_form("/admin/moderation/keep", &[("id", &id)]).await;
    assert_eq!(again.status(), StatusCode::CONFLICT);
    assert_eq!(stage.open().await, [flag(1)]);

    let mut operator = signed_in(&stage.arena, Role::Operator).await;
    let first = stage.arena.app.store.flags(Some(ModerationFlagState::Open), 1).await.unwrap().remove(0).flag;
    let page = text(&mut operator, &format!("/admin/moderation/one?id={}", first.id)).await;
    let its_vote = format!("/admin/votes?battle={}", first.battle);
    assert!(page.contains(&its_vote));
    let votes = text(&mut operator, &its_vote).await;
    assert!(votes.contains(&format!("name=\"battle\" value=\"{}\"", first.battle)), "{votes}");
    let removed = operator.post_form("/admin/moderation/remove", &[("id", &first.id)]).await;
    assert_eq!(removed.status(), StatusCode::SEE_OTHER);
    let store = &stage.arena.app.store;
    let record = store.battle_record(&first.battle).await.unwrap().unwrap();
    assert!(record.turns.is_empty() && record.replies.is_empty());
    assert_eq!(store.last_vote_seq().await.unwrap(), 1, "the vote stays");
    assert!(stage.open().await.is_empty());
    let audit = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let decided =
        audit.iter().map(|entry| entry.action.as_str()).filter(|action| *action != "sign_in" && *action != "join");
    assert_eq!(decided.collect::<Vec<_>>(), ["delete_texts", "keep_flagged"]);
    assert!(!format!("{audit:?}").contains("hate>"), "the log quotes no text");
}

#[actix_web::test]
async fn the_command_lists_shows_keeps_and_deletes_what_was_flagged_and_asks_the_service() {
    let stage = stage(|_| {}).await;
    let mut visitor = stage.arena.visitor().await;
    for prompt in ["First hate?", "Second hate?"] {
        visitor.ask(prompt).await;
        visitor.until_ready().await;
    }
    let beside = async |arguments: &[&str]| {
        langya_beside(stage.folder.path(), &[&["moderation"], arguments, &["--data-dir", "data"]].concat()).await
    };
    let list =
        async || -> Vec<Value> { serde_json::from_str(&beside(&["list", "--format", "json"]).await.stdout).unwrap() };
    let ids: Vec<String> = list().await.iter().map(|line| line["flag"].as_str().unwrap().to_owned()).collect();
    let shown: Value = serde_json::from_str(&beside(&["show", &ids[0]]).await.stdout).unwrap();
    assert_eq!((&shown["texts"]["prompts"][0], &shown["state"]), (&"Second hate?".into(), &"open".into()));
    assert_eq!(beside(&["keep", &ids[0]]).await.code, Some(0));
    assert_eq!(beside(&["delete-texts", &ids[1]]).await.code, Some(0));
    let states: Vec<Value> = list().await.iter().map(|line| line["state"].clone()).collect();
    assert_eq!(states, ["kept", "removed"]);
    let csv = beside(&["list", "--format", "csv"]).await;
    assert!(csv.code == Some(0) && csv.stdout.lines().nth(1).unwrap().contains(",hate,"), "{csv:?}");
    let again = beside(&["delete-texts", &ids[1]]).await;
    assert!(again.code == Some(2) && again.stderr.contains("already been decided"), "{again:?}");
    let unknown = beside(&["keep", "nowhere"]).await;
    assert!(unknown.code == Some(2) && unknown.stderr.contains("there is no flag"), "{unknown:?}");
    let none = beside(&["check"]).await;
    assert!(none.code == Some(2) && none.stderr.contains("set moderation.base_url"), "{none:?}");
}

#[actix_web::test]
async fn an_outage_allows_or_refuses_as_the_settings_say_and_is_reported_everywhere() {
    for (on_failure, expected, says) in [
        (OnFailure::Allow, "ready", "Prompts are accepted unchecked."),
        (OnFailure::Refuse, "moderation_unavailable", "Prompts are refused."),
    ] {
        let stage = stage(|moderation| {
            moderation.on_failure = on_failure;
            moderation.timeout_ms = 1_000;
        })
        .await;
        let mut visitor = stage.arena.visitor().await;
        for prompt in ["Please break.", "Please hang."] {
            visitor.ask(prompt).await;
            assert_eq!(code(&mut visitor).await, expected, "{prompt}");
        }
        let mut operator = signed_in(&stage.arena, Role::Operator).await;
        let page = text(&mut operator, "/admin/moderation").await;
        assert!(page.contains("has not answered since") && page.contains(says), "{page}");
        assert!(page.contains("<dd>all</dd>") && !page.contains("<dd>*</dd>"), "every category flags: {page}");
        assert!(text(&mut operator, "/admin").await.contains("has not answered since"));
        assert!(text(&mut operator, "/admin/operations").await.contains("does not answer"));
        let metrics = get(&format!("{}/metrics", stage.arena.url)).await.text().await.unwrap();
        let failed = "langya_moderated_total{part=\"prompt\",result=\"failed\"} ";
        assert!(metrics.contains(failed) && !metrics.contains(&format!("{failed}0\n")), "{metrics}");
        visitor.ask("A plain question?").await;
        visitor.until_ready().await;
        assert!(!text(&mut operator, "/admin").await.contains("has not answered since"), "it answers again");
    }
}

#[actix_web::test]
async fn replies_are_asked_about_after_the_vote_where_the_settings_say_so() {
    let stage = stage(|moderation| moderation.replies = true).await;
    let mut visitor = stage.arena.visitor().await;
    visitor.ask("A plain question?").await;
    visitor.until_ready().await;
    assert_eq!(stage.service.received().len(), 1, "nothing about replies before the vote");
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    stage.service.until_received(3).await;
    until(async || (!stage.open().await.is_empty()).then_some(())).await;
    let [(categories, turn, part)] = &stage.open().await[..] else { panic!("one reply is flagged") };
    assert_eq!((categories.as_str(), *turn), ("hate", 1));
    assert!(part.starts_with("reply_"));
    let texts: Vec<Value> = stage.service.received()[1..].iter().map(|request| request.body["input"].clone()).collect();
    assert!(texts.contains(&"One says hate.".into()) && texts.contains(&"Two.".into()), "{texts:?}");
    let about = get(&format!("{}/about", stage.arena.url)).await.text().await.unwrap();
    assert!(
        about.contains("moderation service at 127.0.0.1 before any model gets it, and so are the replies"),
        "{about}"
    );
}

async fn ask_doctor(folder: &Path) -> Run {
    let folder = folder.to_owned();
    let arguments = ["doctor", "--config", "langya.toml", "--format", "json"];
    let asked = move || langya_in(&folder, arguments, &[("MODERATION_KEY", "key-of-a-test")]);
    tokio::task::spawn_blocking(asked).await.unwrap()
}

#[actix_web::test]
async fn the_key_reaches_the_service_alone_and_the_doctor_asks_it() {
    let service = Upstream::start().await;
    service.respond(MODEL, verdict);
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[moderation]\nbase_url = \"{}\"\napi_key_env = \"MODERATION_KEY\"\n", service.url());
    std::fs::write(folder.path().join("langya.toml"), text).unwrap();
    let doctor = ask_doctor(folder.path()).await;
    let findings: Vec<Value> = serde_json::from_str(&doctor.stdout).unwrap();
    let found = findings.iter().find(|finding| finding["check"] == "moderation").unwrap();
    assert_eq!((&found["severity"], &found["found"]), (&"ok".into(), &"127.0.0.1 answers".into()), "{findings:?}");
    assert!(service.received()[0].head.contains("authorization: bearer key-of-a-test"));
    service.respond(MODEL, |_| Script::mode("err401"));
    let doctor = ask_doctor(folder.path()).await;
    let findings: Vec<Value> = serde_json::from_str(&doctor.stdout).unwrap();
    let found = findings.iter().find(|finding| finding["check"] == "moderation").unwrap();
    assert_eq!(found["severity"], "wrong");
    assert!(!doctor.stdout.contains("CANARY") && !doctor.stdout.contains("key-of-a-test"), "{}", doctor.stdout);
    assert!(found["found"].as_str().unwrap().contains("401"), "{found}");
}

#[test]
fn the_doctor_never_calls_settings_fine_and_wrong_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[moderation]\nbase_url = \"http://127.0.0.1:9\"\napi_key_env = \"MODERATION_KEY\"\n";
    std::fs::write(folder.path().join("langya.toml"), text).unwrap();
    // The variable of the key is not set.
    let doctor = langya_in(folder.path(), ["doctor", "--config", "langya.toml", "--format", "json"], &[]);
    let findings: Vec<Value> = serde_json::from_str(&doctor.stdout).unwrap();
    let settings: Vec<&Value> = findings.iter().filter(|finding| finding["check"] == "settings").collect();
    assert!(!settings.is_empty(), "{findings:?}");
    assert!(settings.iter().all(|finding| finding["severity"] == "wrong"), "{settings:?}");
    assert!(settings[0]["found"].as_str().unwrap().contains("moderation.api_key_env"), "{settings:?}");
}
