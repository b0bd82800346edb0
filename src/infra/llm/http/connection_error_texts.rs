//! Own wording of connection failures. The texts are stored, and pages translate each to Chinese (`render::i18n`).

/// Nothing listens at the address.
pub(super) const REFUSED: &str = "refused: nothing listens there";
pub(super) const RESET: &str = "reset";
pub(super) const BROKE_OFF: &str = "it broke off";
pub(super) const NOT_IN_TIME: &str = "not in time";
pub(super) const TIMED_OUT: &str = "timed out";
pub(super) const NO_CONNECTION: &str = "no connection, or not in time";
pub(super) const UNREACHABLE: &str = "the host is unreachable";
pub(super) const UNKNOWN_HOST: &str = "the host's name is unknown";
/// The name resolves to an address that the settings do not allow.
pub(super) const FORBIDDEN: &str = "the name leads to a forbidden address";
pub(super) const UNBUILDABLE: &str = "the request cannot be built";
pub(super) const NO_TLS: &str = "the TLS handshake failed: the certificate is not trusted, or no TLS is spoken there";
pub(super) const NO_HTTP: &str = "the answer is not HTTP: another port, or https:// in place of http://, may be needed";

pub(super) const COMPRESSED: &str = "its body is compressed, which was not asked for";
pub(super) const WEB_PAGE: &str = "its body is a web page";
pub(super) const ONE_DOCUMENT: &str = "its body is one JSON document, not a stream";
pub(super) const NO_EVENT: &str = "its body holds no event";

/// All texts of [`ChatError::Unreached`](super::super::ChatError::Unreached) and [`ChatError::Connection`](super::super::ChatError::Connection).
pub const CONNECTION_FAILURES: [&str; 12] = [
    REFUSED,
    RESET,
    BROKE_OFF,
    NOT_IN_TIME,
    TIMED_OUT,
    NO_CONNECTION,
    UNREACHABLE,
    UNKNOWN_HOST,
    FORBIDDEN,
    UNBUILDABLE,
    NO_TLS,
    NO_HTTP,
];

/// All texts of [`ChatError::Malformed`](super::super::ChatError::Malformed) for a body without an event.
pub const BODY_FAILURES: [&str; 4] = [COMPRESSED, WEB_PAGE, ONE_DOCUMENT, NO_EVENT];
