//! Merges `oneOf` of constants into one `enum`: client generators read that, and fail over a `oneOf`.

use serde_json::{Map, Value};

/// Merges every choice in a document.
pub(super) fn flatten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some((texts, meanings)) = choice(object) {
                let before = object.get("description").and_then(Value::as_str).map(|text| format!("{text}\n\n"));
                object.insert("description".into(), (before.unwrap_or_default() + &meanings).into());
                object.insert("type".into(), "string".into());
                object.insert("enum".into(), texts.into());
                object.remove("oneOf");
            }
            object.values_mut().for_each(flatten);
        }
        Value::Array(values) => values.iter_mut().for_each(flatten),
        _ => {}
    }
}

/// Returns the allowed texts with their descriptions, one per line; `None` if other values are allowed.
fn choice(object: &Map<String, Value>) -> Option<(Vec<Value>, String)> {
    let (mut texts, mut meanings) = (Vec::new(), Vec::new());
    for form in object.get("oneOf")?.as_array()? {
        let one = form.get("const").filter(|text| text.is_string());
        match (one, form.get("enum").and_then(Value::as_array)) {
            (Some(text), _) => {
                let meaning = form.get("description").and_then(Value::as_str);
                meanings.extend(meaning.map(|meaning| format!("{text}: {meaning}")));
                texts.push(text.clone());
            }
            (None, Some(several)) => texts.extend(several.iter().cloned()),
            (None, None) => return None,
        }
    }
    Some((texts, meanings.join("\n\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_choice_of_texts_becomes_an_enum_and_any_other_stays() {
        let other = json!({"oneOf": [{"type": "object"}, {"type": "string", "const": "x"}]});
        let mut document = json!({
            "a": {"description": "A.", "oneOf": [
                {"type": "string", "const": "x", "description": "X."}, {"type": "string", "enum": ["y", "z"]}]},
            "b": other,
        });
        flatten(&mut document);
        let expected = json!({"description": "A.\n\n\"x\": X.", "type": "string", "enum": ["x", "y", "z"]});
        assert_eq!(document, json!({"a": expected, "b": other}));
    }
}
