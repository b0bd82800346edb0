//! Lenient parsing of optional provider fields beside the reply: unreadable values are dropped, and the reply stays.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Parses a value; `None` if it is unreadable, such as a negative token count or a number that overflows. Not for a field below `untagged`,
/// `flatten` or a tagged enum: there serde parses all values beforehand, and fails at the unreadable one.
///
/// # Errors
/// Text that is not JSON.
pub(in crate::llm) fn lenient<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(text.get()).ok())
}

/// Whether a field has content: some servers send `"error": false` or an empty text without an error.
pub(in crate::llm) fn has_content(field: &Value) -> bool {
    match field {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
