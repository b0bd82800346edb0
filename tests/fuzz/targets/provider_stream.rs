//! Whatever bytes a provider sends, and however they are cut into packets: the reply is the same, no part of it is empty,
//! and an error quotes nothing.

#![no_main]

use langya::infra::config::ProviderKind;
use langya::infra::llm::{ChatError, ReplyPart, read_recorded};
use libfuzzer_sys::fuzz_target;

/// Chosen by the first byte: `o`, `a` and `n` in the seeds.
const PROVIDERS: [ProviderKind; 3] = [ProviderKind::Openai, ProviderKind::Anthropic, ProviderKind::Ollama];

fuzz_target!(|input: &[u8]| {
    let Some((first, bytes)) = input.split_first() else { return };
    let provider = PROVIDERS[usize::from(*first) % PROVIDERS.len()];
    let packet = 1 + bytes.len() % 13;
    let whole = read_recorded(provider, [bytes]);
    assert_eq!(whole, read_recorded(provider, bytes.chunks(packet)), "{provider:?}, packets of {packet} bytes");
    let (parts, ended) = whole;
    for part in parts {
        assert!(!matches!(part, ReplyPart::Text(text) | ReplyPart::Reasoning(text) if text.is_empty()));
    }
    if let Err(error) = ended {
        assert!(matches!(error, ChatError::Malformed(_) | ChatError::Reported), "{error:?}");
        assert!(error.to_string().len() < 120, "{error}");
    }
});
