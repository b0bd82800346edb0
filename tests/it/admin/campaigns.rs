//! Campaigns on the page: opened, paused and closed, annotators invited and their links revoked, as the commands do it.

use langya::domain::admin::role::Role;
use langya::domain::campaign::ending::EndReason;
use langya::domain::campaign::items::CampaignItem;
use langya::domain::campaign::plan::CampaignPlan;
use langya::domain::time::Timestamp;
use langya::infra::storage::{AuditFilter, NewCampaign, NewUnit};
use reqwest::StatusCode;
use serde_json::Value;

use super::browser::{Browser, arena, entry, signed_in};
use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::visitor::http;

const PLAN: &str = "[campaign]\nid = \"pilot\"\ntitle = \"Which <b>one</b>?\"\ntask = \"pairwise\"\nanswers = \"x\"\n";

async fn make(arena: &TestArena) {
    let plan = serde_json::to_string(&CampaignPlan::parse(PLAN).unwrap()).unwrap();
    let new = NewCampaign { id: "pilot", plan: &plan, items: &[], units: &[], created_at: Timestamp(1) };
    assert!(arena.app.store.insert_campaign(new, &entry("0 pilot"), |_| {}).await.unwrap());
}

/// What an annotator's link answers.
async fn next(arena: &TestArena, token: &str) -> StatusCode {
    next_of(arena, "pilot", token).await
}

async fn next_of(arena: &TestArena, id: &str, token: &str) -> StatusCode {
    let url = format!("{}/api/v1/campaigns/{id}/next", arena.url);
    http().post(url).bearer_auth(token).body("{}").send().await.unwrap().status()
}

#[actix_web::test]
async fn an_operator_runs_a_campaign_and_a_viewer_only_looks() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = arena(|settings| settings.storage.data_dir = data).await;
    make(&arena).await;
    let (mut viewer, mut operator) = (signed_in(&arena, Role::Viewer).await, signed_in(&arena, Role::Operator).await);
    let list = viewer.get("/admin/campaigns").await.text().await.unwrap();
    assert!(list.contains("Which &#60;b&#62;one&#60;/b&#62;?") && list.contains(">draft<"), "{list}");
    let one = "/admin/campaigns/one?id=pilot";
    let seen = viewer.get(one).await.text().await.unwrap();
    assert!(seen.contains("Nobody is invited yet.") && !seen.contains("/admin/campaigns/invite"), "{seen}");

    let invited = operator
        .post_form("/admin/campaigns/invite", &[("id", "pilot"), ("count", "2"), ("quota", "7"), ("days", "3")]);
    let invited = invited.await.text().await.unwrap();
    let link = format!("{}/campaign/pilot#invite=", arena.url);
    let tokens: Vec<&str> = invited.split(&link).skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(tokens.len(), 2, "{invited}");
    let again = operator.get(one).await.text().await.unwrap();
    assert!(!again.contains(tokens[0]) && again.contains("pilot-2"), "a link is shown once: {again}");
    for wrong in [("0", "", "1"), ("101", "", "1"), ("1", "x", "1"), ("1", "0", "1"), ("1", "", "-1")] {
        let (count, quota, days) = wrong;
        let fields = [("id", "pilot"), ("count", count), ("quota", quota), ("days", days)];
        let refused = operator.post_form("/admin/campaigns/invite", &fields).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong:?}");
        let refused = operator.post_form("/admin/campaigns/invite?lang=zh", &fields).await.text().await.unwrap();
        assert!(
            refused.contains("人数应为 1 到 100，评判数上限不小于 1 或留空，链接有效天数应为 0 到 3650。"),
            "{refused}"
        );
    }

    let report = viewer.get("/admin/campaigns/report?id=pilot").await.text().await.unwrap();
    assert!(report.contains("No judgements yet.") && report.contains("Which &#60;b&#62;one"), "{report}");
    let missing = viewer.get("/admin/campaigns/report?id=nowhere").await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);

    let change = async |operator: &mut Browser, to: &str| {
        let done = operator.post_form("/admin/campaigns/state", &[("id", "pilot"), ("change", to)]).await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER, "{to}");
        operator.get(one).await.text().await.unwrap()
    };
    assert_eq!(next(&arena, tokens[0]).await, StatusCode::CONFLICT, "a draft");
    assert!(change(&mut operator, "open").await.contains(">open<"));
    assert_eq!(next(&arena, tokens[0]).await, StatusCode::OK);
    let revoke = [("id", "pilot"), ("annotator", "pilot-1")];
    assert_eq!(operator.post_form("/admin/campaigns/revoke", &revoke).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(next(&arena, tokens[0]).await, StatusCode::FORBIDDEN);
    assert_eq!(operator.post_form("/admin/campaigns/revoke", &revoke).await.status(), StatusCode::CONFLICT);
    assert!(change(&mut operator, "pause").await.contains(">paused<"));
    let beside = async |arguments: &[&str]| {
        let run = langya_beside(folder.path(), &[arguments, &["--data-dir", "data"]].concat()).await;
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
    };
    beside(&["campaign", "close", "pilot"]).await;
    arena.app.store.end_campaign("pilot", EndReason::Separated, Timestamp(86_400_000)).await.unwrap();
    assert!(beside(&["campaign", "list"]).await.contains("closed"));
    let listed: Value = serde_json::from_str(&beside(&["campaign", "list", "--format", "json"]).await).unwrap();
    assert_eq!(
        (&listed[0]["ended_because"], &listed[0]["ended_at"]),
        (&"separated".into(), &"1970-01-02T00:00:00Z".into())
    );
    for (path, field) in
        [("/admin/campaigns/state", ("change", "open")), ("/admin/campaigns/revoke", ("annotator", "x"))]
    {
        let unknown = operator.post_form(path, &[("id", "nowhere"), field]).await;
        assert_eq!(unknown.status(), StatusCode::NOT_FOUND, "{path}");
    }

    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let told: Vec<_> = audit.iter().map(|entry| (entry.action.as_str(), entry.via.as_str())).collect();
    assert_eq!(
        told[..5],
        [
            ("close_campaign", "command"),
            ("pause_campaign", "page"),
            ("revoke_annotator", "page"),
            ("open_campaign", "page"),
            ("invite_annotators", "page"),
        ]
    );
    assert_eq!(audit[0].former.as_deref(), Some("{\"state\":\"paused\"}"));
    assert_eq!(audit[2].subject, "campaign pilot, annotator pilot-1");
    assert_eq!(audit[4].latter.as_deref(), Some("{\"annotators\":2,\"days\":3,\"quota\":7}"));
    assert!(!format!("{audit:?}").contains(tokens[0]), "the log holds no token");
}

#[actix_web::test]
async fn a_form_that_was_shown_before_a_campaign_was_closed_does_not_pause_it() {
    let arena = arena(|_| {}).await;
    make(&arena).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let change = async |operator: &mut Browser, from: &str, to: &str| {
        let fields = [("id", "pilot"), ("from", from), ("change", to)];
        operator.post_form("/admin/campaigns/state", &fields).await
    };
    let state = async || arena.app.store.campaign("pilot").await.unwrap().unwrap().state.as_str();
    let page = operator.get("/admin/campaigns/one?id=pilot").await.text().await.unwrap();
    assert!(page.contains("name=\"from\" value=\"draft\""), "{page}");
    assert_eq!(change(&mut operator, "draft", "open").await.status(), StatusCode::SEE_OTHER);
    // One tab closes it, another one that shows it open would pause it.
    assert_eq!(change(&mut operator, "open", "close").await.status(), StatusCode::SEE_OTHER);
    let stale = change(&mut operator, "open", "pause").await;
    assert_eq!((stale.status(), state().await), (StatusCode::CONFLICT, "closed"));
    let page = stale.text().await.unwrap();
    assert!(page.contains("has changed since the page was shown") && page.contains("value=\"closed\""), "{page}");
    // A form that is sent twice finds what it asks for, and keeps no second entry.
    assert_eq!(change(&mut operator, "open", "close").await.status(), StatusCode::SEE_OTHER);
    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 2).await.unwrap();
    let entries: Vec<_> = audit.iter().map(|entry| (entry.action.as_str(), entry.former.as_deref())).collect();
    let (closed, opened) = ("{\"state\":\"open\"}", "{\"state\":\"draft\"}");
    assert_eq!(entries, [("close_campaign", Some(closed)), ("open_campaign", Some(opened))]);
}

/// An open campaign of one pair that one annotator judges, and the annotator's token.
async fn make_open(arena: &TestArena, operator: &mut Browser, id: &str) -> String {
    let plan = PLAN.replace("pilot", id) + "judgements_per_item = 1\n";
    let plan = serde_json::to_string(&CampaignPlan::parse(&plan).unwrap()).unwrap();
    let answers = ["m", "n"].map(|model| (model.to_owned(), "x".to_owned())).into();
    let item = CampaignItem {
        id: "q".into(),
        prompt: "Why?".into(),
        reference: String::new(),
        category: String::new(),
        language: String::new(),
        answers,
    };
    let unit = NewUnit { item: 0, models: "[\"m\",\"n\"]".into(), shared: false, gold: None };
    let new = NewCampaign { id, plan: &plan, items: &[item], units: &[unit], created_at: Timestamp(1) };
    assert!(arena.app.store.insert_campaign(new, &entry(&format!("0 {id}")), |_| {}).await.unwrap());
    let fields = [("id", id), ("count", "1"), ("quota", ""), ("days", "3")];
    let invited = operator.post_form("/admin/campaigns/invite", &fields).await.text().await.unwrap();
    let open = operator.post_form("/admin/campaigns/state", &[("id", id), ("change", "open")]).await;
    assert_eq!(open.status(), StatusCode::SEE_OTHER);
    invited.split("#invite=").nth(1).unwrap().split('<').next().unwrap().to_owned()
}

/// Judges the one pair of a campaign.
async fn judge(arena: &TestArena, id: &str, token: &str) {
    let post = async |path: &str, body: Value| {
        let url = format!("{}/api/v1/campaigns/{id}/{path}", arena.url);
        let answer = http().post(url).bearer_auth(token).json(&body).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    let shown = post("next", serde_json::json!({})).await;
    let judged = post("judgements", serde_json::json!({"assignment": shown["assignment"], "outcome": "a"})).await;
    assert!(judged["judgement"].is_string(), "{judged}");
}

#[actix_web::test]
async fn the_pages_say_why_nobody_is_asked_any_more() {
    let arena = arena(|_| {}).await;
    let (mut viewer, mut operator) = (signed_in(&arena, Role::Viewer).await, signed_in(&arena, Role::Operator).await);
    let mut tokens = std::collections::BTreeMap::new();
    for id in ["judged", "by-hand", "apart", "limited", "going-on"] {
        tokens.insert(id, make_open(&arena, &mut operator, id).await);
    }
    judge(&arena, "judged", &tokens["judged"]).await;
    assert_eq!(next_of(&arena, "going-on", &tokens["going-on"]).await, StatusCode::OK, "somebody is at it");
    let store = &arena.app.store;
    store.end_campaign("apart", EndReason::Separated, Timestamp(86_400_000)).await.unwrap();
    store.end_campaign("limited", EndReason::MaxJudgements, Timestamp(86_400_000)).await.unwrap();
    for id in ["by-hand", "judged"] {
        operator.post_form("/admin/campaigns/state", &[("id", id), ("change", "close")]).await;
    }
    let reasons = [
        ("judged", "each unit has all its judgements"),
        ("by-hand", "closed by hand before all was judged"),
        ("apart", "the models are told apart (1970-01-02"),
        ("limited", "the maximum number of judgements is reached (1970-01-02"),
        ("going-on", ""),
    ];
    let list = viewer.get("/admin/campaigns").await.text().await.unwrap();
    for (id, reason) in reasons {
        let row = list.split("<tr>").find(|row| row.contains(&format!("id={id}\""))).unwrap();
        let page = viewer.get(&format!("/admin/campaigns/one?id={id}")).await.text().await.unwrap();
        assert!(row.contains(reason) && page.contains(reason), "{id}: {row}");
        let others = reasons.iter().filter(|(other, said)| *other != id && !said.is_empty());
        for (_, other) in others {
            assert!(!row.contains(other) && !page.contains(other), "{id} says {other}: {row}");
        }
        assert_eq!(page.contains("<dt>Ended</dt>"), !reason.is_empty(), "{id}");
    }
}

#[actix_web::test]
async fn the_link_of_an_annotator_who_is_left_out_is_shown_as_invalid() {
    let arena = arena(|_| {}).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let token = make_open(&arena, &mut operator, "early").await;
    let page = operator.get("/admin/campaigns/one?id=early").await.text().await.unwrap();
    assert!(page.contains("<td>in force</td>"), "{page}");
    let audit = entry("1 early");
    assert!(arena.app.store.exclude_annotator(("early", "early-1"), "asleep", &audit).await.unwrap());
    assert_eq!(next_of(&arena, "early", &token).await, StatusCode::FORBIDDEN);
    let page = operator.get("/admin/campaigns/one?id=early").await.text().await.unwrap();
    assert!(page.contains("invalid: the annotator is excluded") && !page.contains("<td>in force</td>"), "{page}");
}

#[actix_web::test]
async fn an_operator_leaves_an_annotator_out_for_a_reason_and_counts_them_again() {
    let arena = arena(|_| {}).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let token = make_open(&arena, &mut operator, "pilot").await;
    let one = "/admin/campaigns/one?id=pilot";
    let leave_out = async |operator: &mut Browser, annotator: &str, reason: &str| {
        let fields = [("id", "pilot"), ("annotator", annotator), ("reason", reason)];
        operator.post_form("/admin/campaigns/leave-out", &fields).await.status()
    };
    for reason in ["", " "] {
        assert_eq!(leave_out(&mut operator, "pilot-1", reason).await, StatusCode::BAD_REQUEST, "{reason:?}");
    }
    assert_eq!(leave_out(&mut operator, "pilot-9", "asleep").await, StatusCode::CONFLICT, "nobody's name");
    let fields = [("id", "pilot"), ("annotator", "pilot-1"), ("reason", "")];
    let refused = operator.post_form("/admin/campaigns/leave-out", &fields).await.text().await.unwrap();
    assert!(refused.contains("Write why the judgements do not count, in 1 to 500 characters."), "{refused}");
    assert_eq!(next(&arena, &token).await, StatusCode::OK);
    let page = operator.get(one).await.text().await.unwrap();
    assert!(page.contains("/admin/campaigns/leave-out") && !page.contains("/admin/campaigns/readmit"), "{page}");
    assert_eq!(leave_out(&mut operator, "pilot-1", "asleep").await, StatusCode::SEE_OTHER);
    assert_eq!(next(&arena, &token).await, StatusCode::FORBIDDEN);
    assert_eq!(leave_out(&mut operator, "pilot-1", "asleep").await, StatusCode::CONFLICT, "left out already");
    let page = operator.get(one).await.text().await.unwrap();
    assert!(page.contains("/admin/campaigns/readmit") && !page.contains("/admin/campaigns/leave-out"), "{page}");
    let back = [("id", "pilot"), ("annotator", "pilot-1")];
    assert_eq!(operator.post_form("/admin/campaigns/readmit", &back).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(next(&arena, &token).await, StatusCode::OK);
    assert_eq!(operator.post_form("/admin/campaigns/readmit", &back).await.status(), StatusCode::CONFLICT);
    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 2).await.unwrap();
    let entries: Vec<_> = audit.iter().map(|entry| (entry.action.as_str(), entry.latter.as_deref())).collect();
    assert_eq!(entries, [("readmit_annotator", None), ("leave_annotator_out", Some("{\"reason\":\"asleep\"}"))]);
}
