//! The values of a JSON object that stand under known names.

use crate::votes::cell::{Cell, FileRow};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// The values of an object that have a known name.
pub(super) struct JsonFields(pub(super) Vec<Value>);

impl FileRow for JsonFields {
    fn cell(&self, at: usize) -> Cell<'_> {
        match self.0.get(at) {
            None | Some(Value::Null) => Cell::Empty,
            Some(Value::String(text)) => Cell::Text(text),
            Some(value) => Cell::Json(value),
        }
    }
}

/// Reads an object and keeps what has a known name.
pub(super) struct FieldPositions<'p>(pub(super) &'p HashMap<String, usize>);

impl FieldPositions<'_> {
    fn twice(&self, position: usize) -> String {
        let name = self.0.iter().find(|(_, at)| **at == position).map_or("a name", |(name, _)| name.as_str());
        format!("{name} appears twice")
    }
}

impl<'de> DeserializeSeed<'de> for FieldPositions<'_> {
    type Value = JsonFields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonFields, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldPositions<'_> {
    type Value = JsonFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object for each vote")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonFields, A::Error> {
        let mut values = vec![Value::Null; self.0.len()];
        while let Some(position) = map.next_key_seed(Key(self.0))? {
            match position {
                // Of two values nobody knows which is meant.
                Some(at) if !values[at].is_null() => return Err(Error::custom(self.twice(at))),
                Some(at) => values[at] = map.next_value()?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(JsonFields(values))
    }
}

/// The position of a name, where it is known.
struct Key<'p>(&'p HashMap<String, usize>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.get(name).copied())
    }
}
