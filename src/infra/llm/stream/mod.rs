//! Parsing of streamed replies, tolerant of what servers really send.

pub(super) mod lenient_field;
pub mod line_buffer;
pub(super) mod lone_surrogates;
pub mod sse;
pub(super) mod stream_readers;
