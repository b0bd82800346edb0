//! Values of known fields of a JSON object.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::cell_value::{Cell, FileRow};
use super::column_names::ColumnNames;
use super::error::HeaderError;

/// Values of an object by known position.
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

/// Columns given by flags that no object of a part of the file has.
#[derive(Debug, Default)]
pub(super) struct GivenColumns {
    missing: Vec<String>,
    /// All names of the first object, for the error of a missing column.
    example: Option<Vec<String>>,
}

impl GivenColumns {
    /// Creates the set for a part without objects.
    pub(super) fn new(columns: &ColumnNames) -> Self {
        Self { missing: columns.all_given().map(str::to_owned).collect(), example: None }
    }

    /// Merges the next part of the file.
    pub(super) fn append(&mut self, later: &Self) {
        self.missing.retain(|name| later.missing.contains(name));
        if self.example.is_none() {
            self.example.clone_from(&later.example);
        }
    }

    /// Error of a missing column; `None` also without objects.
    pub(super) fn missing(&self, is_meant: impl Fn(&str) -> bool) -> Option<HeaderError> {
        let example = self.example.as_ref()?;
        let name = self.missing.iter().find(|name| is_meant(name.as_str()))?;
        Some(HeaderError::not_there(name, example.iter().map(String::as_str)))
    }

    fn needs_example(&self) -> bool {
        !self.missing.is_empty() && self.example.is_none()
    }

    fn note(&mut self, name: &str) {
        self.missing.retain(|missing| missing != name);
    }
}

/// Deserializer of an object that keeps the fields with known names.
#[derive(Clone, Copy)]
pub(super) struct FieldPositions<'p> {
    pub(super) positions: &'p HashMap<String, usize>,
    /// Columns given by flags that are still missing.
    pub(super) given: &'p RefCell<GivenColumns>,
}

impl FieldPositions<'_> {
    fn twice(&self, position: usize) -> String {
        let name = self.positions.iter().find(|(_, at)| **at == position).map_or("a name", |(name, _)| name.as_str());
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
        let mut values = vec![Value::Null; self.positions.len()];
        let names = self.given.borrow().needs_example().then(|| RefCell::new(Vec::new()));
        while let Some(position) = map.next_key_seed(Key { fields: self, names: names.as_ref() })? {
            match position {
                // Duplicate values are ambiguous.
                Some(at) if !values[at].is_null() => return Err(Error::custom(self.twice(at))),
                Some(at) => values[at] = map.next_value()?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Some(names) = names {
            self.given.borrow_mut().example = Some(names.into_inner());
        }
        Ok(JsonFields(values))
    }
}

/// Deserializer of a name to its known position.
struct Key<'p> {
    fields: FieldPositions<'p>,
    /// Collects all names of the object, if wanted.
    names: Option<&'p RefCell<Vec<String>>>,
}

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
        self.fields.given.borrow_mut().note(name);
        if let Some(names) = self.names {
            names.borrow_mut().push(name.to_owned());
        }
        Ok(self.fields.positions.get(name).copied())
    }
}
