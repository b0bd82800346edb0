//! Aliases of models: their names in papers, tables and other leaderboards.
//!
//! The table is TOML, a model id with a list of aliases, in the section `[aliases]` of the settings, in a study, or in a separate file:
//! `"chatglm2-6b" = ["ChatGLM2-6B", "chatglm2"]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::correlation::SeriesError;

/// Error of an alias table.
#[derive(Debug, thiserror::Error)]
pub enum AliasError {
    /// The file cannot be read, or is not a table of names.
    #[error("{}: {reason}; write lines such as \"model-id\" = [\"Another name\"]", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Reason.
        reason: String,
    },
    /// Two models have the same alias.
    #[error("the aliases give the name {name:?} to both {one:?} and {other:?}: give it to only one of them")]
    Twice {
        /// Alias.
        name: String,
        /// First model.
        one: String,
        /// Second model.
        other: String,
    },
}

/// Aliases of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases {
    models: BTreeMap<String, String>,
}

impl Aliases {
    /// Builds the aliases from a table of models with their other names.
    ///
    /// # Errors
    /// [`AliasError::Twice`].
    pub fn new(table: &BTreeMap<String, Vec<String>>) -> Result<Self, AliasError> {
        let mut models: BTreeMap<String, String> = table.keys().map(|model| (model.clone(), model.clone())).collect();
        for (model, names) in table {
            for name in names {
                match models.insert(name.clone(), model.clone()) {
                    Some(other) if other != *model => {
                        return Err(AliasError::Twice { name: name.clone(), one: other, other: model.clone() });
                    }
                    _ => {}
                }
            }
        }
        Ok(Self { models })
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// [`AliasError`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, AliasError> {
        let bad =
            |error: toml::de::Error| AliasError::File { file: file.to_owned(), reason: error.message().to_owned() };
        Self::new(&toml::from_str(text).map_err(bad)?)
    }

    /// Returns the models with their other names, the inverse of [`Self::new`].
    #[must_use]
    pub fn table(&self) -> BTreeMap<String, Vec<String>> {
        let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, model) in &self.models {
            let names = table.entry(model.clone()).or_default();
            names.extend((name != model).then(|| name.clone()));
        }
        table
    }

    /// Merges two alias tables; if they disagree, the other takes precedence.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let onward = |(name, model): (String, String)| (name, other.model(&model).to_owned());
        let mut models: BTreeMap<String, String> = self.models.into_iter().map(onward).collect();
        models.extend(other.models);
        Self { models }
    }

    /// Resolves names to model ids.
    #[must_use]
    pub fn models(&self, names: &[String]) -> Vec<String> {
        names.iter().map(|name| self.model(name).to_owned()).collect()
    }

    /// Resolves a name to a model id; an unknown name is returned unchanged.
    #[must_use]
    pub fn model<'a>(&'a self, name: &'a str) -> &'a str {
        self.models.get(name).map_or(name, String::as_str)
    }

    /// Replaces the names in a series by model ids.
    ///
    /// # Errors
    /// [`SeriesError::SameModel`] where two names are aliases of one model.
    pub fn apply<T>(&self, series: &str, points: BTreeMap<String, T>) -> Result<BTreeMap<String, T>, SeriesError> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut found = BTreeMap::new();
        for (name, point) in points {
            let model = self.model(&name).to_owned();
            if let Some(one) = names.insert(model.clone(), name.clone()) {
                return Err(SeriesError::SameModel { series: series.to_owned(), one, other: name, model });
            }
            found.insert(model, point);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<Aliases, AliasError> {
        Aliases::new(&toml::from_str(text).unwrap())
    }

    #[test]
    fn a_model_is_found_by_any_of_its_names() {
        let aliases = table("glm = [\"ChatGLM\", \"chatglm-6b\"]\nmoss = [\"MOSS\"]").unwrap();
        assert_eq!([aliases.model("ChatGLM"), aliases.model("glm"), aliases.model("other")], ["glm", "glm", "other"]);
        let points = BTreeMap::from([("MOSS".to_owned(), 1), ("chatglm-6b".to_owned(), 2)]);
        let renamed = aliases.apply("close", points).unwrap();
        assert_eq!(renamed, BTreeMap::from([("glm".to_owned(), 2), ("moss".to_owned(), 1)]));
    }

    #[test]
    fn a_name_of_two_models_and_two_names_of_one_are_refused() {
        for text in ["a = [\"x\"]\nb = [\"x\"]", "a = [\"b\"]\nb = []"] {
            assert!(table(text).unwrap_err().to_string().contains("give it to only one of them"), "{text}");
        }
        let both = table("a = [\"x\"]").unwrap().and(table("b = [\"a\"]").unwrap());
        assert_eq!(both.models(&["x".into(), "a".into(), "c".into()]), ["b", "b", "c"]);
        let aliases = table("a = [\"x\", \"y\", \"x\"]").unwrap();
        let points = BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), 2)]);
        let refused = aliases.apply("close", points).unwrap_err().to_string();
        assert!(refused.contains("close has both \"x\" and \"y\"") && refused.contains("\"a\""), "{refused}");
    }
}
