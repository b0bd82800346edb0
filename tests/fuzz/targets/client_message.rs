//! Any text frame of a client gives a message or an error that is short and has a code of the protocol.

#![no_main]

use langya::server::ws::error_codes::ErrorCode;
use langya::server::ws::protocol::ClientMessage;
use libfuzzer_sys::fuzz_target;

const CODES: [&str; 3] = ["invalid_message", "unknown_outcome", "unsupported_mode"];
/// Characters of an error at most: it may quote what was sent, but not all of it.
const LONGEST_ERROR: usize = 400;

fuzz_target!(|text: &str| {
    if let Err(error) = ClientMessage::parse(text) {
        assert!(CODES.contains(&error.code()), "{error:?}");
        assert!(error.to_string().chars().count() <= LONGEST_ERROR, "{error}");
    }
});
