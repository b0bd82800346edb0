//! The document of the API: it has every address, and what an arena answers is as it says.

use std::collections::BTreeSet;

use langya::server::http::openapi::{OPERATIONS, document};
use reqwest::Method;
use serde_json::{Value, json};

use crate::campaign::{CampaignFixture, SHORT, pairwise};
use crate::pages::correlation_page::{filled, serve};
use crate::support::api_document::{check_answer, operation};
use crate::support::arena::TestArena;
use crate::support::routes::templates;
use crate::support::visitor::{get, http};

#[test]
fn every_address_of_the_api_is_in_the_document_and_no_other() {
    let routes: BTreeSet<String> = templates().into_iter().filter(|path| path.starts_with("/api/v1/")).collect();
    let documented: BTreeSet<String> = OPERATIONS.iter().map(|operation| operation.path.to_owned()).collect();
    assert_eq!(routes, documented, "src/server/http/openapi/operations.rs follows the route table");
}

#[test]
fn every_parameter_and_field_is_described() {
    for operation in &OPERATIONS {
        let parameters =
            crate::operation::openapi::operation(operation.method.as_str(), operation.path)["parameters"].as_array();
        for parameter in parameters.unwrap().iter().filter(|parameter| parameter["in"] == "query") {
            assert!(parameter["description"].is_string(), "{}: {}", operation.path, parameter["name"]);
        }
    }
    let mut bare = Vec::new();
    for (name, schema) in document()["components"]["schemas"].as_object().unwrap() {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            if property["description"].is_null() && property["$ref"].is_null() {
                bare.push(format!("{name}.{field}"));
            }
        }
    }
    assert!(bare.is_empty(), "no description: {bare:?}");
}

async fn check(arena: &TestArena, template: &str, path: &str, status: u16) -> String {
    let response = get(&format!("{}{path}", arena.url)).await;
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let (found, body) = (response.status().as_u16(), response.text().await.unwrap());
    assert_eq!(found, status, "{path}: {body}");
    check_answer("get", template, status, &kind, &body);
    body
}

#[actix_web::test]
async fn what_an_arena_with_votes_and_a_benchmark_answers_is_as_the_document_says() {
    let folder = filled().await;
    let arena = serve(folder.path(), |leaderboard| {
        leaderboard.catalog.group_len(langya::domain::correlation::catalog::SeriesGroup::Own) > 1
    })
    .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    let vote = visitor.vote("a").await["vote"].as_str().unwrap().to_owned();
    arena.app.robustness.changes().wait_for(|latest| latest.report.computed_at.is_some()).await.unwrap();
    let plain = [
        ("/api/v1/leaderboard.csv", ""),
        ("/api/v1/leaderboard", ""),
        ("/api/v1/leaderboard", "?style=control&side=control&level=show&ties=drop"),
        ("/api/v1/leaderboard", "?pool_by=intent"),
        ("/api/v1/leaderboard", "?votes=with_excluded&until=2999-01-01"),
        ("/api/v1/leaderboard/robustness", ""),
        ("/api/v1/leaderboard/rigging", ""),
        ("/api/v1/leaderboard/value", ""),
        ("/api/v1/models", "?period=day"),
        ("/api/v1/log", ""),
        ("/api/v1/exclusions", ""),
        ("/api/v1/pairing", ""),
        ("/api/v1/benchmarks", ""),
        ("/api/v1/benchmarks", "?compare_with=crane"),
        ("/api/v1/benchmarks.csv", ""),
        ("/api/v1/correlation", "?group=own"),
        ("/api/v1/correlation", "?x=bench:mtbench101&y=arena:rating"),
        ("/api/v1/correlation", "?a=arena:rating&b=bench:mtbench101&target=published:Elsewhere:overall&step=0.01"),
        ("/api/v1/judges", ""),
        ("/api/v1/openapi.json", ""),
    ];
    for (path, query) in plain {
        check(&arena, path, &format!("{path}{query}"), 200).await;
    }
    check(&arena, "/api/v1/benchmarks/{suite}", "/api/v1/benchmarks/mtbench101", 200).await;
    check(&arena, "/api/v1/log/votes/{vote}", &format!("/api/v1/log/votes/{vote}"), 200).await;
    for (template, path, status) in [
        ("/api/v1/leaderboard", "/api/v1/leaderboard?turns=7", 400),
        ("/api/v1/models", "/api/v1/models?period=year", 400),
        ("/api/v1/exclusions", "/api/v1/exclusions?before=x", 400),
        ("/api/v1/correlation", "/api/v1/correlation?x=a", 400),
        ("/api/v1/benchmarks/{suite}", "/api/v1/benchmarks/none", 404),
        ("/api/v1/log/votes/{vote}", "/api/v1/log/votes/none", 404),
    ] {
        check(&arena, template, path, status).await;
    }
    arena.end().await;
}

#[actix_web::test]
async fn what_annotators_are_answered_is_as_the_document_says() {
    let rig = CampaignFixture::start().await;
    let tokens = rig.open(&pairwise(SHORT, 1, &["bad", "good"]), 1).await;
    let (token, client) = (tokens[0].as_str(), http());
    let post = async |token: &str, call: &str, body: Value| {
        let url = format!("{}/api/v1/campaigns/pilot/{call}", rig.arena.url);
        let response = client.post(url).bearer_auth(token).json(&body).send().await.unwrap();
        let (status, kind) =
            (response.status().as_u16(), response.headers()["content-type"].to_str().unwrap().to_owned());
        let body = response.text().await.unwrap();
        check_answer("post", &format!("/api/v1/campaigns/{{id}}/{call}"), status, &kind, &body);
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    assert_eq!(post("none", "next", json!({})).await.0, 401);
    assert_eq!(post(token, "undo", json!({})).await.0, 409);
    let (_, shown) = post(token, "next", json!({"render": "html"})).await;
    assert!(shown["html"]["a"].is_string(), "{shown}");
    let judgement = |outcome: &str| json!({"assignment": shown["assignment"], "outcome": outcome});
    assert_eq!(post(token, "judgements", judgement("c")).await.0, 400);
    assert_eq!(post(token, "judgements", json!({"assignment": "none", "outcome": "a"})).await.0, 404);
    assert_eq!(post(token, "judgements", judgement("a")).await.0, 200);
    assert_eq!(post(token, "next", json!({})).await.1["finished"], true);
    assert_eq!(post(token, "undo", json!({})).await.0, 200);
    assert_eq!(post(token, "undo", json!({"judgement": 7})).await.0, 400);
    assert_eq!(post(token, "undo", json!({"judgement": "none"})).await.0, 404);
    for call in ["next", "judgements", "undo", "join"] {
        let (status, refused) = post(token, call, json!({"assignment": "x".repeat(70_000), "outcome": "a"})).await;
        assert_eq!((status, &refused["code"]), (413, &json!("too_long")), "{call}: {refused}");
    }
    let packed = client.post(format!("{}/api/v1/campaigns/pilot/next", rig.arena.url)).bearer_auth(token);
    let packed = packed.header("content-encoding", "gzip").body("x").send().await.unwrap();
    let (status, kind) = (packed.status().as_u16(), packed.headers()["content-type"].to_str().unwrap().to_owned());
    assert_eq!(status, 415);
    check_answer("post", "/api/v1/campaigns/{id}/next", status, &kind, &packed.text().await.unwrap());
}

#[actix_web::test]
async fn an_address_or_method_that_the_api_does_not_have_is_refused_in_a_line_of_text() {
    let arena = TestArena::start(&[]).await;
    let client = http();
    let no_address = "/api/v1/openapi.json lists all of them, none with a slash at its end";
    for (method, path, status, reason) in [
        (Method::GET, "/api/v1", 404, no_address),
        (Method::GET, "/api/v1/nothing", 404, no_address),
        (Method::GET, "/api/v1/leaderboard/", 404, no_address),
        (Method::POST, "/api/v1/campaigns/pilot/nothing", 404, no_address),
        (Method::GET, "/api/v1/campaigns/pilot/next", 405, "does not take this method"),
        (Method::PUT, "/api/v1/campaigns/pilot/judgements", 405, "does not take this method"),
        (Method::DELETE, "/api/v1/leaderboard", 405, "does not take this method"),
    ] {
        let name = format!("{method} {path}");
        let request = client.request(method, format!("{}{path}", arena.url)).header("accept", "text/html");
        let response = request.send().await.unwrap();
        let headers = response.headers().clone();
        assert_eq!((response.status().as_u16(), headers.contains_key("allow")), (status, status == 405), "{name}");
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8", "{name}");
        let text = response.text().await.unwrap();
        assert!(text.contains(reason) && text.lines().count() == 1, "{name}: {text}");
    }
    arena.end().await;
}

#[actix_web::test]
async fn a_parameter_that_an_address_does_not_take_is_refused_by_its_name() {
    let arena = TestArena::start(&[]).await;
    let without_names = |path: &&str| !path.contains('{');
    for path in OPERATIONS
        .iter()
        .filter(|operation| operation.method.as_str() == "get")
        .map(|operation| operation.path)
        .filter(without_names)
    {
        let answer = get(&format!("{}{path}?langauge=zh", arena.url)).await;
        let (status, said) = (answer.status(), answer.text().await.unwrap());
        assert!(status == 400 && said.contains(r#""langauge" is not a parameter"#), "{path}: {status} {said}");
    }
    check(&arena, "/api/v1/models", "/api/v1/models?period=day", 200).await;
    assert_eq!(get(&format!("{}/leaderboard?langauge=zh", arena.url)).await.status(), 200, "pages are lenient");
    arena.end().await;
}

#[actix_web::test]
async fn a_document_that_has_not_changed_is_not_sent_again() {
    let arena = TestArena::start(&[]).await;
    let url = format!("{}/api/v1/openapi.json", arena.url);
    let first = get(&url).await;
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    assert!(tag.starts_with("W/"), "the same tag stands on what is compressed and on what is not: {tag}");
    assert_eq!(first.json::<Value>().await.unwrap(), *document());
    let again = http().get(&url).header("if-none-match", tag).send().await.unwrap();
    assert_eq!((again.status().as_u16(), &again.headers()["vary"]), (304, &"accept-encoding".parse().unwrap()));
}
