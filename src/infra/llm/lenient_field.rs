//! What a provider sends beside the reply, and may send in any form: what cannot be read is dropped, and the reply stays.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value that can be read; `None` for any other, such as a negative count of tokens, or a number that nothing holds. Not for a field below
/// `untagged`, `flatten` or a tagged enum: there serde parses all values beforehand, and fails at the one that cannot be read.
///
/// # Errors
/// Text that is not JSON.
pub(super) fn lenient<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(text.get()).ok())
}

/// Whether a field says anything: some servers send `"error": false` or an empty text where nothing is wrong.
pub(super) fn is_something(field: &Value) -> bool {
    match field {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
