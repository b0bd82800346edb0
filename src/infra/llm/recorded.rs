//! Reads recorded provider streams, for fuzzing.

use crate::llm::lines::LineBuffer;
use crate::llm::sse::{SseDecoder, SseEvent};
use crate::llm::transport::{ReplyReader, StreamProgress};
use crate::llm::{ChatError, ReplyPart};
use serde::Deserialize;
use serde_json::error::Category;
use std::collections::VecDeque;

/// Reads a recorded stream that came in these packets: the parts, and how it ended. What fuzzing calls.
#[cfg(fuzzing)]
pub fn read_recorded<'p>(
    provider: crate::config::ProviderKind,
    packets: impl IntoIterator<Item = &'p [u8]>,
) -> (Vec<ReplyPart>, Result<(), ChatError>) {
    use super::{anthropic, ollama, openai};
    use crate::config::ProviderKind;

    let mut parts = VecDeque::new();
    let ended = match provider {
        ProviderKind::Openai | ProviderKind::Builtin => {
            read_packets(SseReader::new(openai::read_event), packets, &mut parts)
        }
        ProviderKind::Anthropic => read_packets(SseReader::new(anthropic::read_event), packets, &mut parts),
        ProviderKind::Ollama => read_packets(LineReader::new(ollama::read_line), packets, &mut parts),
    };
    (parts.into(), ended)
}
