//! Collects the parts of a reply within size limits.

use futures_util::StreamExt;

use crate::domain::judging::budget::estimate;
use crate::domain::judging::token_probabilities::{MAX_KEPT_TOKENS, NumberToken};
use crate::llm::{ChatError, ReplyPart, ReplyStream, Usage};

/// Maximum size of a reply's text in bytes: several times the longest reply of any model. The rest is dropped.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum size of a reply's stored reasoning in bytes.
const MAX_REASONING_BYTES: usize = 64 << 10;

/// The part of a reply that has arrived.
#[derive(Default)]
pub(super) struct PartialReply {
    pub(super) text: String,
    /// First [`MAX_REASONING_BYTES`] bytes of the reasoning.
    pub(super) reasoning: String,
    /// Estimated tokens of the whole reasoning.
    reasoning_tokens: u64,
    pub(super) usage: Usage,
    /// Last [`MAX_KEPT_TOKENS`] numbers of the text.
    pub(super) numbers: Vec<NumberToken>,
    /// Whether the provider has begun to answer.
    pub(super) begun: bool,
}

impl PartialReply {
    /// Reads a reply to its end and removes NUL characters, which PostgreSQL cannot store.
    pub(super) async fn listen(&mut self, mut reply: ReplyStream) -> Result<(), ChatError> {
        while let Some(part) = reply.next().await {
            self.begun |= part.is_ok();
            match part {
                Ok(ReplyPart::Text(part)) => self.write(&part)?,
                Ok(ReplyPart::Reasoning(part)) => self.add_reasoning(&part),
                Ok(ReplyPart::Numbers(numbers)) => self.count_numbers(numbers),
                Ok(ReplyPart::Usage(counted)) => self.usage = self.usage.updated(counted),
                Ok(ReplyPart::TextEnded) => {}
                Err(ChatError::Empty) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the output tokens as counted by the provider, or else estimated. For a broken reply the larger of both: the provider's count
    /// may cover only its beginning.
    pub(super) fn output_tokens(&self, is_whole: bool) -> u64 {
        let heard = estimate(&self.text) + self.reasoning_tokens;
        match self.usage.output {
            Some(counted) if is_whole => counted,
            counted => counted.unwrap_or_default().max(heard),
        }
    }

    fn write(&mut self, part: &str) -> Result<(), ChatError> {
        if self.text.len() + part.len() > MAX_TEXT_BYTES {
            return Err(ChatError::Malformed(format!("a reply of more than {MAX_TEXT_BYTES} bytes")));
        }
        self.text.extend(part.chars().filter(|c| *c != '\0'));
        Ok(())
    }

    /// Adds numbers, which arrive before the text that contains them.
    fn count_numbers(&mut self, numbers: Vec<NumberToken>) {
        let begin = self.text.len();
        self.numbers.extend(numbers.into_iter().map(|number| NumberToken { at: begin + number.at, ..number }));
        let surplus = self.numbers.len().saturating_sub(MAX_KEPT_TOKENS);
        self.numbers.drain(..surplus);
    }

    /// Stores the beginning of the reasoning, and counts all of it: it is billed as part of the reply.
    fn add_reasoning(&mut self, part: &str) {
        self.reasoning_tokens += estimate(part);
        let left = MAX_REASONING_BYTES.saturating_sub(self.reasoning.len());
        let end = part.floor_char_boundary(left);
        self.reasoning.extend(part[..end].chars().filter(|c| *c != '\0'));
    }
}
