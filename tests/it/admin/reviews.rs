//! The review queues: a reviewer decides leaks and labels, one at a time.

use langya::domain::admin::role::Role;
use langya::domain::benchmark::scores::judgement::JudgeTokens;
use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::scheme::Scheme;
use langya::domain::time::Timestamp;
use langya::infra::storage::{AuditFilter, LabelSource, LeakCheckRow, LeakCheckStatus, NewLabel};
use reqwest::StatusCode;

use super::browser::{arena, arena_of, signed_in};
use crate::support::scripted::Scripted;

const HOSTILE: &str = "I am Name-of-one. <script>alert(1)</script>";

#[actix_web::test]
async fn a_reviewer_confirms_a_leak_and_withdraws_another_and_neither_comes_back() {
    let arena = arena_of(&Scripted::saying(HOSTILE)).await;
    for _ in 0..3 {
        let mut visitor = arena.visitor().await;
        visitor.ask("Who are you?").await;
        visitor.until_ready().await;
        visitor.vote("a").await;
    }
    let (mut reviewer, mut viewer) = (signed_in(&arena, Role::Reviewer).await, signed_in(&arena, Role::Viewer).await);
    let page = reviewer.get("/admin/leaks").await.text().await.unwrap();
    assert!(page.contains("3 to review.") && page.contains("name=\"vote\" value=\"1\""), "{page}");
    assert!(page.contains("Who are you?") && page.contains("&#60;script&#62;alert(1)"), "{page}");
    assert!(!page.contains("<script>alert"), "what a model wrote is text");
    let decide = [("vote", "1"), ("decision", "confirm")];
    assert_eq!(viewer.post_form("/admin/leaks", &decide).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(reviewer.post_form("/admin/leaks", &decide).await.status(), StatusCode::SEE_OTHER);
    let withdraw = [("vote", "2"), ("decision", "withdraw")];
    assert_eq!(reviewer.post_form("/admin/leaks", &withdraw).await.status(), StatusCode::SEE_OTHER);
    let page = reviewer.get("/admin/leaks").await.text().await.unwrap();
    assert!(page.contains("1 to review.") && page.contains("name=\"vote\" value=\"3\""), "{page}");
    let store = &arena.app.store;
    assert!(store.exclusions_of(1).await.unwrap()[0].withdrawn.is_none());
    assert_eq!(store.exclusions_of(2).await.unwrap()[0].withdrawn.as_ref().unwrap().0, "reviewer");
    let told = store.audit_entries(&AuditFilter { actor: Some("reviewer".into()), ..AuditFilter::default() }, 9).await;
    let told: Vec<(String, String)> = told.unwrap().into_iter().map(|row| (row.action, row.subject)).collect();
    let expected = [("include_votes", "vote 2"), ("confirm_leak", "vote 1")];
    assert_eq!(told[..2], expected.map(|(action, subject)| (action.to_owned(), subject.to_owned())));
    let chinese = reviewer.get("/admin/leaks?lang=zh").await.text().await.unwrap();
    assert!(chinese.contains("说出了作答的模型或其开发者") && !chinese.contains("which model or maker"), "{chinese}");
}

#[actix_web::test]
async fn a_leak_is_decided_once_and_none_before_its_vote_is_cast() {
    let arena = arena_of(&Scripted::saying(HOSTILE)).await;
    let cast = async || {
        let mut visitor = arena.visitor().await;
        visitor.ask("Who are you?").await;
        visitor.until_ready().await;
        visitor.vote("a").await;
    };
    cast().await;
    let mut reviewer = signed_in(&arena, Role::Reviewer).await;
    let confirm = [("vote", "1"), ("decision", "confirm")];
    assert_eq!(reviewer.post_form("/admin/leaks", &confirm).await.status(), StatusCode::SEE_OTHER);
    let all = AuditFilter::default();
    let before = arena.app.store.audit_entries(&all, 99).await.unwrap();
    let again = reviewer.post_form("/admin/leaks", &confirm).await;
    assert_eq!(again.status(), StatusCode::SEE_OTHER, "a second click finds it done");
    for (vote, decision) in [("1", "withdraw"), ("2", "confirm"), ("2", "withdraw"), ("-1", "confirm")] {
        let refused = reviewer.post_form("/admin/leaks", &[("vote", vote), ("decision", decision)]).await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{vote} {decision}");
    }
    assert_eq!(arena.app.store.audit_entries(&all, 99).await.unwrap(), before, "what changes nothing has no entry");
    assert!(arena.app.store.exclusions_of(1).await.unwrap()[0].withdrawn.is_none());
    cast().await;
    let page = reviewer.get("/admin/leaks").await.text().await.unwrap();
    assert!(page.contains("1 to review.") && page.contains("name=\"vote\" value=\"2\""), "{page}");
}

#[actix_web::test]
async fn a_reviewer_labels_the_prompt_that_the_classifier_is_least_sure_of() {
    let arena = arena_of(&Scripted::saying("Some words.")).await;
    let mut prompts = Vec::new();
    for prompt in ["What is 2 + 2?", "Tell me a joke."] {
        let mut visitor = arena.visitor().await;
        visitor.ask(prompt).await;
        visitor.until_ready().await;
        visitor.vote("a").await;
        prompts.push(visitor.battle());
    }
    let store = &arena.app.store;
    let by = LabelSource { scheme: Scheme::Superclue, source: LabelOrigin::Model, name: "" };
    let labels = [(0, 0.4), (1, 0.9)].map(|(at, sure)| NewLabel {
        query_id: prompts[at].as_str(),
        label: "small_talk",
        confidence: Some(sure),
    });
    store.put_labels(by, &labels, Timestamp(1)).await.unwrap();
    let mut reviewer = signed_in(&arena, Role::Reviewer).await;
    let page = reviewer.get("/admin/labels").await.text().await.unwrap();
    assert!(page.contains("What is 2 + 2?") && page.contains("with a confidence of 40 %"), "{page}");
    assert!(page.contains("The classifier says Small Talk,"), "as the button calls it: {page}");
    let unknown = [("scheme", "superclue"), ("query", prompts[0].as_str()), ("label", "nothing")];
    assert_eq!(reviewer.post_form("/admin/labels", &unknown).await.status(), StatusCode::BAD_REQUEST);
    let nowhere = [("scheme", "superclue"), ("query", "nowhere"), ("label", "calculation")];
    assert_eq!(reviewer.post_form("/admin/labels", &nowhere).await.status(), StatusCode::NOT_FOUND);
    let right = [("scheme", "superclue"), ("query", prompts[0].as_str()), ("label", "calculation")];
    assert_eq!(reviewer.post_form("/admin/labels", &right).await.status(), StatusCode::SEE_OTHER);
    let page = reviewer.get("/admin/labels").await.text().await.unwrap();
    assert!(page.contains("Tell me a joke."), "{page}");
    let found = store.labels_between(Scheme::Superclue, "", "z").await.unwrap();
    assert!(found.iter().any(|label| label.labeled_by == "reviewer" && label.label == "calculation"), "{found:?}");
    let told =
        store.audit_entries(&AuditFilter { action: Some("review_label".into()), ..AuditFilter::default() }, 9).await;
    assert_eq!(told.unwrap()[0].latter.as_deref(), Some("{\"label\":\"calculation\",\"scheme\":\"superclue\"}"));
}

#[actix_web::test]
async fn the_page_of_leaks_says_what_a_model_has_read() {
    let read = LeakCheckRow {
        vote_seq: 7,
        judge: "<reader>".to_owned(),
        prompt_sha256: "00".to_owned(),
        status: LeakCheckStatus::Unreadable,
        leaks: String::new(),
        attempts: 2,
        tokens: JudgeTokens::default(),
        created_at: Timestamp(1),
    };
    let arena = arena(|settings| settings.integrity.leak_judge = "<reader>".to_owned()).await;
    arena.app.store.insert_leak_check(&read, None).await.unwrap();
    let mut reviewer = signed_in(&arena, Role::Reviewer).await;
    let page = reviewer.get("/admin/leaks").await.text().await.unwrap();
    let said = "&#60;reader&#62; also checks rated votes: 1 so far, with a leak in 0; 1 had no readable result, and 0 from the last seven days are waiting.";
    assert!(page.contains(said), "{page}");
}
