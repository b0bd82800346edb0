//! Validates responses of the API against its OpenAPI document, field by field.

use langya::server::http::openapi::document;
use serde_json::Value;

/// Schema keywords that the checker supports; a document with others needs an extended checker.
const KEYWORDS: [&str; 21] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Returns the operation of a path of the document, such as `/api/v1/benchmarks/{suite}`.
pub(crate) fn operation(method: &str, template: &str) -> &'static Value {
    let operation = &document()["paths"][template][method];
    assert!(operation.is_object(), "{method} {template} is not in the document");
    operation
}

/// Asserts that a response conforms to the document.
#[track_caller]
pub(crate) fn check_answer(method: &str, template: &str, status: u16, kind: &str, body: &str) {
    let name = format!("{method} {template} with {status}");
    let answer = &operation(method, template)["responses"][status.to_string()];
    let kind = kind.split(';').next().unwrap();
    let schema = &answer["content"][kind]["schema"];
    assert!(schema.is_object() || schema.is_boolean(), "{name}: {kind} is not in the document: {answer}");
    let value = if kind == "application/json" { serde_json::from_str(body).unwrap() } else { Value::from(body) };
    let misfits = misfits(schema, &value, "", true);
    assert!(misfits.is_empty(), "{name}: {misfits:#?}");
}

/// Lists the parts of a value that the schema does not allow. Where several schemas share a value (`allOf`), no single one defines all
/// fields.
fn misfits(schema: &Value, value: &Value, at: &str, is_whole: bool) -> Vec<String> {
    let Some(rules) = schema.as_object() else { return Vec::new() };
    for keyword in rules.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{at}: the checker does not know {keyword}");
    }
    let mut found = Vec::new();
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/")) {
        found.extend(misfits(&document()["components"]["schemas"][name], value, at, is_whole));
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(choices) = rules.get(keyword).and_then(Value::as_array) else { continue };
        let tried: Vec<Vec<String>> = choices.iter().map(|choice| misfits(choice, value, at, is_whole)).collect();
        if !tried.iter().any(Vec::is_empty) {
            found.push(format!("{at}: none of {} choices: {tried:?}", tried.len()));
        }
    }
    for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        found.extend(misfits(part, value, at, false));
    }
    if rules.get("enum").and_then(Value::as_array).is_some_and(|allowed| !allowed.contains(value)) {
        found.push(format!("{at}: {value} is not in {}", schema["enum"]));
    }
    if rules.get("const").is_some_and(|only| only != value) {
        found.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    if !types(schema).is_empty() && !types(schema).iter().any(|kind| is_of(value, kind)) {
        found.push(format!("{at}: {value} is not of type {}", schema["type"]));
    }
    if schema["minimum"].as_f64().zip(value.as_f64()).is_some_and(|(least, number)| number < least) {
        found.push(format!("{at}: {value} is less than {}", schema["minimum"]));
    }
    found.extend(in_object(schema, value, at, is_whole));
    found.extend(in_array(schema, value, at));
    found
}

fn in_object(schema: &Value, value: &Value, at: &str, is_whole: bool) -> Vec<String> {
    let (Some(fields), Some(rules)) = (value.as_object(), schema.as_object()) else { return Vec::new() };
    let required = rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !fields.contains_key(*name)).map(|name| format!("{at}: {name} is missing"));
    let mut found: Vec<String> = missing.collect();
    let is_object = rules.contains_key("properties") || rules.contains_key("additionalProperties");
    for (name, field) in fields {
        let at = format!("{at}/{name}");
        match (schema["properties"].get(name), rules.get("additionalProperties")) {
            (Some(property), _) => found.extend(misfits(property, field, &at, true)),
            (None, Some(Value::Bool(true))) => {}
            (None, Some(other)) if other.is_object() => found.extend(misfits(other, field, &at, true)),
            (None, _) if is_whole && is_object => found.push(format!("{at} is not in the document")),
            (None, _) => {}
        }
    }
    found
}

fn in_array(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(values) = value.as_array() else { return Vec::new() };
    let first = schema["prefixItems"].as_array().cloned().unwrap_or_default();
    let each = values.iter().enumerate().flat_map(|(place, item)| {
        let rule = first.get(place).unwrap_or(&schema["items"]);
        misfits(rule, item, &format!("{at}/{place}"), true)
    });
    let length = values.len() as u64;
    let is_short = schema["minItems"].as_u64().is_some_and(|least| length < least);
    let is_long = schema["maxItems"].as_u64().is_some_and(|most| length > most);
    let counted = (is_short || is_long).then(|| format!("{at}: {length} items"));
    each.chain(counted).collect()
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the checker does not know the type {other}"),
    }
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    let schema = serde_json::json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": ["number", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}, "minItems": 1}}});
    for (value, count) in [
        (r#"{"a":1,"b":["x"]}"#, 0),
        (r#"{"a":null}"#, 0),
        (r#"{}"#, 1),
        (r#"{"a":"1"}"#, 1),
        (r#"{"a":1,"c":2}"#, 1),
        (r#"{"a":1,"b":[]}"#, 1),
        (r#"{"a":1,"b":["y","x"]}"#, 1),
        ("[]", 1),
    ] {
        let found = misfits(&schema, &serde_json::from_str(value).unwrap(), "", true);
        assert_eq!(found.len(), count, "{value}: {found:?}");
    }
}
