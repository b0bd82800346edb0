//! References as Markdown: settings from the example file, the API from its OpenAPI document.

use std::fmt::Write;

use serde_json::Value;

/// Renders the settings by section, from the example file that a test compares with the code.
#[must_use]
pub fn settings(example: &str) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for line in example.lines() {
        let name = line.trim_start_matches("# ").trim_start_matches('[').split(']').next().unwrap_or_default();
        let begins = line.starts_with('[') || line.starts_with("# [[") || line.starts_with("#[[");
        if begins {
            if is_open {
                out.push_str("```\n\n");
            }
            let _ = writeln!(out, "### [{name}]\n\n```toml");
            is_open = true;
        }
        // The page covers the text before the first section.
        if is_open {
            out.push_str(line);
            out.push('\n');
        }
    }
    if is_open {
        out.push_str("```\n");
    }
    out
}

/// Labels of the API reference.
#[derive(Debug, Clone, Copy)]
pub struct ApiWords {
    /// Heading of the column of names.
    pub name: &'static str,
    /// Heading of the column of types.
    pub kind: &'static str,
    /// Heading of the column of meanings.
    pub meaning: &'static str,
    /// Label of the parameters.
    pub parameters: &'static str,
    /// Label of the request body.
    pub body: &'static str,
    /// Label of the response's fields.
    pub answer: &'static str,
}

/// Renders every endpoint of an OpenAPI document, with parameters and fields.
#[must_use]
pub fn api(document: &Value, words: ApiWords) -> String {
    let mut out = String::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let _ = writeln!(out, "### {} {path}\n\n{}\n", method.to_uppercase(), text(&operation["summary"]));
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let rows: Vec<[String; 3]> = parameters
                .map(|parameter| {
                    [text(&parameter["name"]), kind(document, &parameter["schema"]), text(&parameter["description"])]
                })
                .collect();
            table(&mut out, words.parameters, &rows, words);
            let sent = &operation["requestBody"]["content"]["application/json"]["schema"];
            table(&mut out, words.body, &fields(document, sent), words);
            let answered = &operation["responses"]["200"]["content"]["application/json"]["schema"];
            table(&mut out, words.answer, &fields(document, answered), words);
        }
    }
    out
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

/// Name, type and meaning of each field; for alternatives, the fields of all.
fn fields(document: &Value, schema: &Value) -> Vec<[String; 3]> {
    let schema = resolved(document, schema);
    let forms = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let mut rows: Vec<[String; 3]> = Vec::new();
    for form in std::iter::once(schema).chain(forms.map(|form| resolved(document, form))) {
        for (name, property) in form["properties"].as_object().into_iter().flatten() {
            let row = [name.clone(), kind(document, property), text(&property["description"])];
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

/// Short name of a type.
fn kind(document: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(forms) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return forms.iter().map(|form| kind(document, form)).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    }
    let name = |kind: &Value| match kind.as_str() {
        Some("array") if schema["items"].is_object() => format!("{}[]", kind_of_item(document, &schema["items"])),
        Some(kind) => kind.to_owned(),
        None => String::new(),
    };
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        kind => name(kind),
    }
}

fn kind_of_item(document: &Value, schema: &Value) -> String {
    let kind = kind(document, schema);
    if kind.contains(' ') { format!("({kind})") } else { kind }
}

fn table(out: &mut String, heading: &str, rows: &[[String; 3]], words: ApiWords) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "{heading}\n\n| {} | {} | {} |\n|---|---|---|", words.name, words.kind, words.meaning);
    for [name, kind, meaning] in rows {
        let [kind, meaning] = [kind, meaning].map(|text| text.replace('|', "\\|").replace('\n', " "));
        let _ = writeln!(out, "| `{name}` | {kind} | {meaning} |");
    }
    out.push('\n');
}
