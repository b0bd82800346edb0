//! HTTP requests to providers: client, one exchange, its errors and its end.

pub(super) mod body_drain;
pub mod connection_error_texts;
pub(super) mod http_client;
pub(super) mod key_redaction;
pub(super) mod retry_after;
pub(super) mod transport;
