//! API keys: made by a command or on the page, shown once, kept as hashes, and good for what their scopes say until they are revoked.

use std::path::Path;

use langya::domain::admin::key_scope::KeyScope;
use langya::infra::config::WindowLimits;
use langya::infra::storage::AuditFilter;
use langya::services::admin::actor::Actor;
use langya::services::admin::api_keys::{CreatedKey, KeyRequest};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::campaign::{CampaignFixture, SHORT, pairwise};
use crate::support::api_document::check_answer;
use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::visitor::http;

/// A key with these scopes.
pub(crate) async fn key(arena: &TestArena, scopes: &[KeyScope], days: u32) -> CreatedKey {
    let request = KeyRequest { name: "nightly", scopes, days };
    arena.app.api_keys.create(request, &Actor::of_command("test".to_owned())).await.unwrap()
}

pub(crate) async fn get_with(arena: &TestArena, path: &str, key: &str) -> Response {
    http().get(format!("{}{path}", arena.url)).bearer_auth(key).send().await.unwrap()
}

/// The status of an answer that is as the document says.
async fn check(template: &str, answer: Response) -> (u16, String) {
    let (status, kind) = (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap().to_owned());
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let body = answer.text().await.unwrap();
    check_answer("get", template, status, &kind, &body);
    (status, body)
}

async fn keys(folder: &Path, arguments: &[&str]) -> Value {
    let run =
        langya_beside(folder, &[&["keys"], arguments, &["--data-dir", "data", "--format", "json"]].concat()).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[actix_web::test]
async fn a_key_is_made_by_a_command_shown_once_and_good_for_its_scopes_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = TestArena::start_with(&[], |settings| settings.storage.data_dir = data).await;
    let made = keys(folder.path(), &["create", "nightly 分析", "--scope", "admin,read", "--days", "7"]).await;
    let (id, key) = (made[0]["id"].as_str().unwrap(), made[0]["key"].as_str().unwrap());
    let random = key.strip_prefix("langya_").unwrap();
    assert!(random.len() == 32 && random.chars().all(|c| c.is_ascii_hexdigit()), "128 bits: {key}");

    let (status, body) = check("/api/v1/key", get_with(&arena, "/api/v1/key", key).await).await;
    assert_eq!(status, 200, "{body}");
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&said["name"], &said["scopes"]), (&json!("nightly 分析"), &json!(["read", "admin"])));
    let (status, log) = check("/api/v1/audit", get_with(&arena, "/api/v1/audit?action=create_key", key).await).await;
    assert!(status == 200 && log.contains("create_key") && log.contains(id) && !log.contains(random), "{log}");

    let lower = http().get(format!("{}/api/v1/key", arena.url)).header("authorization", format!("bearer {key}"));
    assert_eq!(lower.send().await.unwrap().status(), 200, "the name of a scheme is written in any case");

    let listed = keys(folder.path(), &["list"]).await;
    assert_eq!(listed[0]["scopes"], json!(["read", "admin"]));
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&json!(id), &json!("in force")));
    let today = arena_day(&arena);
    assert_eq!(listed[0]["last_used"], json!(today), "the day alone");
    assert!(!listed.to_string().contains(random));
    let revoked = langya_beside(folder.path(), &["keys", "revoke", id, "--data-dir", "data"]).await;
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    let refused = get_with(&arena, "/api/v1/key", key).await;
    assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    assert_eq!(check("/api/v1/key", refused).await.0, 401);
    let again = langya_beside(folder.path(), &["keys", "revoke", id, "--data-dir", "data"]).await;
    assert!(again.code == Some(2) && again.stderr.contains("langya keys list"), "{again:?}");
    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let actions: Vec<&str> = audit.iter().map(|row| row.action.as_str()).collect();
    assert_eq!(actions, ["revoke_key", "create_key"]);
    assert!(!format!("{audit:?}").contains(random), "the audit log has no key");
}

fn arena_day(arena: &TestArena) -> String {
    use langya::infra::time::clock::Clock as _;
    let now = jiff::Timestamp::from_millisecond(arena.app.clock.now().0).unwrap();
    now.to_string().chars().take(10).collect()
}

#[actix_web::test]
async fn a_key_does_what_its_scopes_say_and_no_more() {
    let arena = TestArena::start(&[]).await;
    let url = format!("{}/api/v1/audit", arena.url);
    let missing = crate::support::visitor::get(&url).await;
    let (status, said) = check("/api/v1/audit", missing).await;
    assert!(status == 401 && said.contains("admin"), "{said}");
    for scope in KeyScope::ALL {
        let key = key(&arena, &[scope], 1).await.key;
        let expected = if scope == KeyScope::Admin { 200 } else { 403 };
        let (status, said) = check("/api/v1/audit", get_with(&arena, "/api/v1/audit", &key).await).await;
        assert_eq!(status, expected, "{scope:?}: {said}");
        assert_eq!(check("/api/v1/key", get_with(&arena, "/api/v1/key", &key).await).await.0, 200);
        for wrong in [key.replace("langya_", ""), key.to_uppercase(), format!("{key}0"), format!("{key} x")] {
            assert_eq!(check("/api/v1/key", get_with(&arena, "/api/v1/key", &wrong).await).await.0, 401, "{wrong}");
        }
    }
    for limit in ["1", "2"] {
        let key = key(&arena, &[KeyScope::Admin], 0).await.key;
        let page = get_with(&arena, &format!("/api/v1/audit?limit={limit}"), &key).await;
        let page: Value = serde_json::from_str(&check("/api/v1/audit", page).await.1).unwrap();
        assert_eq!(page["entries"].as_array().unwrap().len().to_string(), limit);
        let older = format!("/api/v1/audit?before={}", page["next"].as_str().unwrap());
        let older: Value = get_with(&arena, &older, &key).await.json().await.unwrap();
        let all = arena.app.store.audit_entries(&AuditFilter::default(), 99).await.unwrap();
        let rest: Vec<&str> =
            older["entries"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        let expected: Vec<&str> = all[limit.parse().unwrap()..].iter().map(|row| row.id.as_str()).collect();
        assert_eq!(rest, expected, "pages follow each other without a gap");
    }
}

#[actix_web::test]
async fn guessing_at_keys_is_bounded_by_network_and_costs_no_lookup_then() {
    let arena = TestArena::start_with(&[], |settings| {
        settings.limits.sign_ins_per_address = WindowLimits::new(0, 3, 0);
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let good = key(&arena, &[KeyScope::Read], 1).await.key;
    let ask = async |key: &str, from: &str| {
        let request = http().get(format!("{}/api/v1/key", arena.url)).bearer_auth(key);
        request.header("x-forwarded-for", from).send().await.unwrap()
    };
    for guess in 0..3 {
        let answer = ask(&format!("langya_{guess:032}"), "203.0.113.7").await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{guess}");
    }
    for key in ["langya_00000000000000000000000000000009", &good] {
        let answer = ask(key, "203.0.113.9").await;
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS, "even a right one tells nothing");
        let seconds: u32 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=1_200).contains(&seconds), "{seconds}");
        assert_eq!(check("/api/v1/key", answer).await.0, 429);
    }
    for _ in 0..9 {
        assert_eq!(ask(&good, "198.51.100.1").await.status(), StatusCode::OK, "right keys are not counted");
    }
}

#[actix_web::test]
async fn a_key_that_may_annotate_is_one_annotator_of_each_campaign() {
    let fixture = CampaignFixture::start().await;
    fixture.open(&pairwise(SHORT, 2, &["bad", "good"]), 1).await;
    let [may, reads] = [[KeyScope::Annotate], [KeyScope::Read]];
    let (may, reads) = (key(&fixture.arena, &may, 1).await, key(&fixture.arena, &reads, 1).await);
    let post = async |campaign: &str, call: &str, key: &str, body: Value| {
        let url = format!("{}/api/v1/campaigns/{campaign}/{call}", fixture.arena.url);
        let answer = http().post(url).bearer_auth(key).json(&body).send().await.unwrap();
        let (status, kind) = (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap().to_owned());
        let body = answer.text().await.unwrap();
        check_answer("post", &format!("/api/v1/campaigns/{{id}}/{call}"), status, &kind, &body);
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    for (campaign, key, status, code) in [
        ("pilot", reads.key.as_str(), 403, "key_scope"),
        ("pilot", "langya_00000000000000000000000000000000", 401, "unknown_key"),
        ("other", may.key.as_str(), 404, "unknown_campaign"),
    ] {
        let (found, said) = post(campaign, "next", key, json!({})).await;
        assert_eq!((found, &said["code"]), (status, &json!(code)), "{said}");
    }
    // Two programs begin with the same key at the same moment.
    let both = tokio::join!(post("pilot", "next", &may.key, json!({})), post("pilot", "next", &may.key, json!({})));
    assert_eq!((both.0.0, &both.0.1["assignment"]), (200, &both.1.1["assignment"]), "{both:?}");
    for done in 1..=2 {
        let (_, shown) = post("pilot", "next", &may.key, json!({})).await;
        let said = json!({"assignment": shown["assignment"], "outcome": "a"});
        assert_eq!(post("pilot", "judgements", &may.key, said).await.0, 200, "{done}");
    }
    let (_, left) = post("pilot", "next", &may.key, json!({})).await;
    assert_eq!(left, json!({"finished": true, "because": "nothing_left", "progress": {"done": 2, "of": 2}}));
    let annotators = fixture.arena.app.store.annotators("pilot").await.unwrap();
    let judged: Vec<u64> = annotators.iter().map(|annotator| annotator.judged).collect();
    assert_eq!(judged, [0, 2], "the key is one annotator beside the link");
    // Its place in the campaign is found by no token.
    let as_token = format!("of key {}", may.id);
    assert_eq!(post("pilot", "next", &as_token, json!({})).await.0, 401);
}
