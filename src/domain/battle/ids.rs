//! Typed keys of models, battles, visitors, images and runs.
//!
//! `new` takes a key that the arena made, stored or was configured with. Client input goes through `parse`.

use crate::sha256::sha256;

/// Defines a key that is a text.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text unchanged.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The key as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use text_id;

text_id! {
    /// The key of a model in settings, logs and exports.
    ModelId
}

text_id! {
    /// The key of a battle: a UUIDv7, or in an imported battle `import-` with the UUID that it had elsewhere, or with its file's digest
    /// and the vote's number.
    BattleId
}

text_id! {
    /// The pseudonym of a visitor, under which battles and votes are stored.
    VisitorId
}

text_id! {
    /// The key of an image that a visitor added to a question.
    ImageId
}

text_id! {
    /// Key of one run, in which an instance answers a turn: `INSTANCE.NUMBER`. Stored in the battle's row and never reused.
    RunId
}

impl RunId {
    /// Public id of the run: a hash that reveals neither the instance nor its number of turns.
    #[must_use]
    pub fn public(&self) -> String {
        let mut digest = sha256(self.0.as_bytes());
        digest.truncate(16);
        digest
    }
}

impl ImageId {
    /// Parses an image id from a client; `None` if invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (is_id && !text.is_empty()).then(|| Self::new(text))
    }
}

impl BattleId {
    /// Parses a battle id from a client; `None` if invalid, as for texts that PostgreSQL cannot store.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() <= 64 && !text.contains(char::is_control)).then(|| Self::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_id_is_what_an_address_can_hold() {
        assert_eq!(ImageId::parse("01985e5f-0c3b"), Some(ImageId::new("01985e5f-0c3b")));
        for text in ["", "a/b", "a%2f", "图", "a\0", &"x".repeat(65)] {
            assert_eq!(ImageId::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn clients_learn_of_an_answering_no_more_than_which_one_it_is() {
        let names = ["here.0", "here.1", "there.0"].map(|run| RunId::new(run).public());
        assert!(
            names.iter().all(|name| name.len() == 16 && !name.contains("here") && !name.contains('.')),
            "{names:?}"
        );
        assert!(names[0] != names[1] && names[0] != names[2] && names[1] != names[2], "{names:?}");
    }

    #[test]
    fn a_battle_id_is_short_and_without_control_characters() {
        for id in ["01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7f", "no-such", "", "编号"] {
            assert_eq!(BattleId::parse(id), Some(BattleId::new(id)));
        }
        for text in ["a\0b", "a\nb", "\u{9f}", &"x".repeat(65)] {
            assert_eq!(BattleId::parse(text), None, "{text:?}");
        }
    }
}
