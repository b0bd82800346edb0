//! A conversation as models are given it.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::visible_text::has_visible_text;

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The operator's instruction.
    System,
    /// The visitor.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author.
    pub role: MessageRole,
    /// Its text.
    pub content: String,
    /// The images beside it, which providers take in forms of their own.
    #[serde(skip)]
    pub images: Vec<PromptImage>,
}

/// How the bytes of an image are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageType {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
}

impl ImageType {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Png, Self::Jpeg];

    /// The media type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Reads a media type.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An image as models are given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptImage {
    /// How it is to be read.
    pub media_type: ImageType,
    /// The file.
    pub bytes: Arc<[u8]>,
}

impl PromptImage {
    /// The file as text.
    #[must_use]
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.bytes)
    }
}

impl Message {
    /// A message of this author.
    #[must_use]
    pub fn of(role: MessageRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), images: Vec::new() }
    }

    /// An instruction.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::of(MessageRole::System, content)
    }

    /// What a person says.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(MessageRole::User, content)
    }

    /// What a model says.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(MessageRole::Assistant, content)
    }

    /// The messages of questions with their replies. A question without a reply that can be seen is joined to the next one: some
    /// providers take no empty message, and others no two messages of one author in a row.
    #[must_use]
    pub fn of_exchanges<'t>(exchanges: impl IntoIterator<Item = (&'t str, &'t str)>) -> Vec<Self> {
        let mut messages: Vec<Self> = Vec::new();
        for (prompt, reply) in exchanges {
            match messages.last_mut() {
                Some(open) if open.role == MessageRole::User => open.content.extend(["\n\n", prompt]),
                _ => messages.push(Self::user(prompt)),
            }
            if has_visible_text(reply) {
                messages.push(Self::assistant(reply));
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_a_reply_is_joined_to_the_next_one() {
        let exchanges = [("one", ""), ("two", " \n"), ("three", "Three."), ("four", "")];
        let messages = [Message::user("one\n\ntwo\n\nthree"), Message::assistant("Three."), Message::user("four")];
        assert_eq!(Message::of_exchanges(exchanges), messages);
    }
}
