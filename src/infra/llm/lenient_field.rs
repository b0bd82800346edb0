//! What a provider sends beside the reply, and may send in any form: what cannot be read is dropped, and the reply stays.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A value that can be read; `None` for any other, such as a negative count of tokens.
///
/// # Errors
/// Text that is not JSON.
pub(super) fn lenient<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}
