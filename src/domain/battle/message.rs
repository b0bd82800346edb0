//! Messages of a conversation with a model.

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
    /// Text of the message.
    pub content: String,
    /// Images of the message; their encoding depends on the provider.
    #[serde(skip)]
    pub images: Vec<PromptImage>,
}

/// Media type of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageType {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
}

impl ImageType {
    /// Both media types.
    pub const ALL: [Self; 2] = [Self::Png, Self::Jpeg];

    /// The media type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Parses a media type.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Image of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptImage {
    /// Media type of the bytes.
    pub media_type: ImageType,
    /// Bytes of the image file.
    pub bytes: Arc<[u8]>,
}

impl PromptImage {
    /// Image file in base64.
    #[must_use]
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.bytes)
    }
}

impl Message {
    /// Creates a message of this author.
    #[must_use]
    pub fn of(role: MessageRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), images: Vec::new() }
    }

    /// Creates a system message.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::of(MessageRole::System, content)
    }

    /// Creates a user message.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(MessageRole::User, content)
    }

    /// Creates an assistant message.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(MessageRole::Assistant, content)
    }

    /// Converts prompts and replies to messages. A prompt without a visible reply is joined to the next one: some providers reject empty
    /// messages, and others two messages of one author in a row.
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
