//! Reads recorded provider streams, for fuzzing.

use std::collections::VecDeque;

use super::http::transport::{ReplyReader, StreamProgress};
use super::providers::{anthropic, ollama, openai};
use super::stream::stream_readers::{LineReader, SseReader};
use super::{ChatError, ReplyPart};
use crate::config::ProviderKind;

/// Parses a recorded stream split into these packets; returns the parts and the result at its end. Entry point for fuzzing.
pub fn read_recorded<'p>(
    provider: ProviderKind,
    packets: impl IntoIterator<Item = &'p [u8]>,
) -> (Vec<ReplyPart>, Result<(), ChatError>) {
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

fn read_packets<'p>(
    mut reader: impl ReplyReader,
    packets: impl IntoIterator<Item = &'p [u8]>,
    parts: &mut VecDeque<ReplyPart>,
) -> Result<(), ChatError> {
    for packet in packets {
        if reader.read(packet, parts)? == StreamProgress::Ended {
            return Ok(());
        }
    }
    reader.finish(parts).map(drop)
}
