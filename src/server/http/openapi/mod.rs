//! The OpenAPI document of `/api/v1`, generated from the types that the handlers serialise and parse.
//!
//! `operations` has one entry per address; schemas, with their descriptions, come from the types and their serde attributes. A test
//! compares the entries with the route table and the schemas with what an arena answers.

pub mod description;
mod enums;
mod operations;

use std::sync::LazyLock;

use actix_web::http::header::{self, EntityTag};
use actix_web::{HttpRequest, HttpResponse};
use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::request::entity_tags::is_known;
use crate::domain::admin::key_scope::KeyScope;
use crate::domain::hex::hex;
use crate::domain::webhook::{ChangedLeaderboard, RecordedVotes, WebhookEvent, WebhookMessage};
use crate::infra::config::VoteAccess;
use description::without_links;
pub use operations::OPERATIONS;
use operations::{AllowedCallers, HttpMethod, Operation, ResponseContent};

/// JSON pointer to the schemas in the document.
const SCHEMAS: &str = "/components/schemas";

static DOCUMENT: LazyLock<Value> = LazyLock::new(build);
static BYTES: LazyLock<(String, EntityTag)> = LazyLock::new(|| {
    let text = DOCUMENT.to_string();
    let hash = hex(&Sha256::digest(&text)[..16]);
    // Weak, because it is sent compressed or uncompressed.
    (text, EntityTag::new_weak(hash))
});

/// Returns the document of this version.
#[must_use]
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// Whether an API address is public.
#[must_use]
pub(super) fn is_public(path: &str, votes: VoteAccess) -> bool {
    let mut reading =
        OPERATIONS.iter().filter(|operation| operation.method == HttpMethod::Get && operation.path == path);
    reading.any(|operation| match operation.access {
        AllowedCallers::Anybody => true,
        AllowedCallers::VoteReaders => votes == VoteAccess::Public,
        AllowedCallers::Annotators | AllowedCallers::AnyKey | AllowedCallers::Key(_) => false,
    })
}

/// Returns the query parameter names of an API address; `None` for other addresses.
pub(super) fn query_parameters(path: &str) -> Option<Vec<&'static str>> {
    let parameters = document()["paths"].get(path)?["get"]["parameters"].as_array()?;
    let in_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
    Some(in_query.filter_map(|parameter| parameter["name"].as_str()).collect())
}

/// `GET /api/v1/openapi.json`
pub(super) async fn json(request: HttpRequest) -> HttpResponse {
    let (text, tag) = &*BYTES;
    let known = is_known(&request, tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header(header::ETag(tag.clone())).insert_header((header::CACHE_CONTROL, "no-cache"));
    if known {
        return response.insert_header((header::VARY, "accept-encoding")).finish();
    }
    response.content_type("application/json").body(text.as_str())
}

/// Schema generators: requests are described as they are deserialised, responses as they are serialised.
struct Generators {
    answers: SchemaGenerator,
    requests: SchemaGenerator,
}

fn build() -> Value {
    let settings = || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = SCHEMAS.into());
    let mut generators = Generators {
        answers: settings().for_serialize().into_generator(),
        requests: settings().for_deserialize().into_generator(),
    };
    let mut paths = Map::new();
    for operation in &OPERATIONS {
        let entry = paths.entry(operation.path).or_insert_with(|| json!({}));
        entry[operation.method.as_str()] = described(operation, &mut generators);
    }
    let webhooks = webhooks(&mut generators.answers);
    let mut schemas = generators.answers.take_definitions(true);
    schemas.extend(generators.requests.take_definitions(true));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "langya",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What programs read of an arena, and what annotators of a campaign send. Times are milliseconds \
                            since 1970, and ratings are on the Elo scale around 1000.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "invite": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of an annotator's link.",
                },
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, which the arena's operator makes with the scopes that stand at an address.",
                },
            },
        },
    });
    enums::flatten(&mut document);
    without_links(&mut document);
    document
}

/// Describes the messages to `[[webhooks]]`.
fn webhooks(generator: &mut SchemaGenerator) -> Value {
    let message = |event: WebhookEvent, summary: &str, schema: Schema| {
        json!({ "post": {
            "operationId": event.as_str(),
            "summary": summary,
            "requestBody": { "required": true, "content": { "application/json": { "schema": schema } } },
            "responses": { "2XX": { "description": "The message was taken; after any other status it is sent again." } },
        } })
    };
    let votes = generator.subschema_for::<WebhookMessage<RecordedVotes>>();
    let leaderboard = generator.subschema_for::<WebhookMessage<ChangedLeaderboard>>();
    json!({
        WebhookEvent::VotesRecorded.as_str(): message(WebhookEvent::VotesRecorded, "Votes were cast.", votes),
        WebhookEvent::LeaderboardChanged.as_str():
            message(WebhookEvent::LeaderboardChanged, "A model has another rank.", leaderboard),
    })
}

fn described(operation: &Operation, generators: &mut Generators) -> Value {
    let mut responses = Map::new();
    responses.insert("200".into(), answer("The answer.", operation.answers, &mut generators.answers));
    if operation.has_tag() {
        responses.insert(
            "304".into(),
            json!({ "description": "The answer is the one whose `ETag` came in `If-None-Match`." }),
        );
    }
    for &(status, description) in operation.refusals() {
        responses.insert(status.into(), answer(description, &[operation.refused_as()], &mut generators.answers));
    }
    for &(status, description) in operation.body_refusals() {
        responses.insert(status.into(), answer(description, &[operations::TEXT], &mut generators.answers));
    }
    let mut entry = json!({
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": parameters(operation, &mut generators.requests),
        "responses": responses,
    });
    if let Some(body) = operation.body {
        let schema = (body.schema)(&mut generators.requests);
        entry["requestBody"] =
            json!({ "required": body.is_required, "content": { "application/json": { "schema": schema } } });
    }
    match operation.access {
        AllowedCallers::Anybody => {}
        AllowedCallers::Annotators => entry["security"] = json!([{ "invite": [] }, { "key": [KeyScope::Annotate] }]),
        AllowedCallers::VoteReaders => entry["security"] = json!([{ "key": [KeyScope::Read] }, {}]),
        AllowedCallers::AnyKey => entry["security"] = json!([{ "key": [] }]),
        AllowedCallers::Key(scope) => entry["security"] = json!([{ "key": [scope] }]),
    }
    entry
}

fn answer(description: &str, contents: &[ResponseContent], generator: &mut SchemaGenerator) -> Value {
    let content: Map<String, Value> = contents
        .iter()
        .map(|content| (content.kind.to_owned(), json!({ "schema": (content.schema)(generator) })))
        .collect();
    json!({ "description": description, "content": content })
}

/// Returns the path parameters, then the query parameters.
fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let Some(query) = operation.query else { return all };
    let schema = query(generator);
    let Some(Value::Object(properties)) = schema.get("properties") else { return all };
    for (name, property) in properties {
        let mut property = property.clone();
        let described = property.as_object_mut().and_then(|object| {
            object.remove("default");
            object.remove("description")
        });
        all.push(json!({ "name": name, "in": "query", "description": described, "schema": property }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_to_a_schema_and_every_schema_has_a_name_of_its_own() {
        let text = document().to_string();
        let schemas = document()["components"]["schemas"].as_object().unwrap();
        for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
        for name in schemas.keys() {
            assert!(!name.ends_with(|c: char| c.is_ascii_digit()), "{name}: two types of one name, rename one");
            assert!(text.contains(&format!("schemas/{name}\"")), "{name} is not used");
        }
    }

    #[test]
    fn every_operation_has_an_id_of_its_own_and_is_described() {
        let ids: std::collections::BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
        assert!(OPERATIONS.iter().all(|operation| operation.summary.ends_with('.')));
    }
}
