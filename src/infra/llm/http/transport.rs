//! Sends requests to providers and reads their streams. Errors contain no secrets.
//!
//! Two rules: anything that a provider sends beside the reply (headers, bodies of error responses) is dropped unread, and no error text is
//! derived from it.

use std::collections::VecDeque;
use std::error::Error;
use std::io;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{RequestBuilder, Response, Url, Version};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout, timeout_at};

use super::super::{ChatError, ReplyPart, ReplyStream};
use super::body_drain::BackgroundDrain;
use super::http_client::HttpClient;
use super::key_redaction::KeyRedaction;
use super::{connection_error_texts, retry_after};
use crate::config::{ConfigError, ModelSettings};
use crate::domain::settings_rule::{AddressRule, RefusedValue, VariableRule};

/// Maximum wait for the end of a finished reply's body, so that the next request finds the connection free.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);
/// Maximum wait after the end of the text for token counts or the end marker.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of a body before the next text, in bytes with [`READ_COST`] for each read: enough for the longest reasoning, while endless
/// comments or empty events cost a few seconds of a core at most.
const MAX_BYTES_WITHOUT_TEXT: usize = 256 << 20;
/// Cost of one read, in equivalent bytes.
const READ_COST: usize = 256;

/// HTTP endpoint of one model.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    http: HttpClient,
    url: Url,
    headers: HeaderMap,
}

impl Endpoint {
    /// Creates the endpoint at `base_url` of the settings (or `default_base`) followed by `path`.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an address that is invalid or not allowed.
    pub(crate) fn new(
        settings: &ModelSettings,
        default_base: &str,
        path: &str,
        http: &HttpClient,
    ) -> Result<Self, ConfigError> {
        let base = if settings.base_url.is_empty() { default_base } else { &settings.base_url };
        let invalid = |rule: AddressRule| {
            ConfigError::out_of_range("models.base_url", RefusedValue::UnusableForModel(settings.id.clone()), rule)
        };
        let url =
            Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).map_err(|_| invalid(AddressRule::Models))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(invalid(AddressRule::HttpScheme));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid(AddressRule::WithoutQuery));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(AddressRule::WithoutKey));
        }
        if !http.reaches(&url) {
            return Err(invalid(AddressRule::ReachableForModels));
        }
        Ok(Self { http: http.clone(), url, headers: HeaderMap::new() })
    }

    /// Adds the header that carries the key; it is marked as sensitive and never printed, and redacted in every model's reply.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] names the variable if its value is not a valid header.
    pub(crate) fn with_key(
        mut self,
        settings: &ModelSettings,
        header: HeaderName,
        prefix: &str,
        key: Option<&SecretString>,
    ) -> Result<Self, ConfigError> {
        if let Some(key) = key {
            let key = key.expose_secret().trim();
            let text = SecretString::from(format!("{prefix}{key}"));
            let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| {
                let variable = RefusedValue::Shown(settings.api_key_env.clone());
                ConfigError::out_of_range("models.api_key_env", variable, VariableRule::SendableKey)
            })?;
            value.set_sensitive(true);
            self.headers.insert(header, value);
            self.http.known_keys().add(&SecretString::from(key));
        }
        Ok(self)
    }

    /// Adds a fixed header.
    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Returns the endpoint with its path suffix `own` replaced by `path`.
    pub(crate) fn with_path_suffix(&self, own: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.url.clone();
        let base = self.url.path();
        url.set_path(&format!("{}{path}", base.strip_suffix(own).unwrap_or(base)));
        url.set_query(query);
        Self { url, ..self.clone() }
    }

    /// Returns the endpoint at another address; `None` if that has another scheme, host or port, which must not see the key.
    pub(crate) fn at_same_origin(&self, url: Url) -> Option<Self> {
        let is_own = url.origin() == self.url.origin() && url.username().is_empty() && url.password().is_none();
        is_own.then(|| Self { url, ..self.clone() })
    }

    /// Returns the host.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Builds a POST request with this JSON body.
    pub(crate) fn post(&self, body: &Map<String, Value>) -> RequestBuilder {
        self.post_empty().json(body)
    }

    /// Builds a POST request without body and content type.
    pub(crate) fn post_empty(&self) -> RequestBuilder {
        self.http.for_url(&self.url).post(self.url.clone()).headers(self.headers.clone())
    }

    /// Redacts keys in the parts of a whole reply.
    pub(crate) fn without_keys(&self, parts: Vec<ReplyPart>) -> Vec<ReplyPart> {
        let mut parts = VecDeque::from(parts);
        KeyRedaction::new(self.http.known_keys()).redact(&mut parts, true);
        parts.into()
    }

    /// Builds a GET request.
    pub(crate) fn get(&self) -> RequestBuilder {
        self.http.for_url(&self.url).get(self.url.clone()).headers(self.headers.clone())
    }
}

/// Progress of a reader towards the end of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamProgress {
    /// More data may come.
    More,
    /// The provider marked the end of the text; more may come, such as token counts.
    Closing,
    /// The provider marked the end of the reply.
    Ended,
}

/// Parses the bytes of one reply into parts. Pure: one implementation for event streams, one for JSON lines.
pub(crate) trait ReplyReader: Send + 'static {
    /// Parses the next chunk and appends its parts. Parts before an error are valid.
    fn read(&mut self, chunk: &[u8], parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

    /// Parses the end of the body.
    fn finish(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

    /// Whether the body contained anything of the protocol.
    fn has_begun(&self) -> bool;

    /// Whether every complete reply of the protocol has an end marker.
    fn has_end_marker(&self) -> bool;
}

/// Sends a request with this body when first polled and parses the response as it arrives.
pub(crate) fn stream_reply(endpoint: &Endpoint, body: &Map<String, Value>, reader: impl ReplyReader) -> ReplyStream {
    let exchange = HttpExchange {
        request: Some(endpoint.post(body)),
        response: None,
        reader,
        parts: VecDeque::new(),
        redaction: KeyRedaction::new(endpoint.http.known_keys()),
        without_text: 0,
        closing_by: None,
        ending: None,
        background_drain: endpoint.http.background_drain().clone(),
    };
    stream::unfold(exchange, |mut exchange| async move { exchange.next().await.map(|item| (item, exchange)) })
        .fuse()
        .boxed()
}

struct HttpExchange<R> {
    request: Option<RequestBuilder>,
    response: Option<Response>,
    reader: R,
    parts: VecDeque<ReplyPart>,
    redaction: KeyRedaction,
    /// Bytes since the last text: see [`MAX_BYTES_WITHOUT_TEXT`].
    without_text: usize,
    /// Deadline for further data; set once the provider has marked the end of the text.
    closing_by: Option<Instant>,
    /// Set once nothing more is read; remaining `parts` are returned first.
    ending: Option<Result<(), ChatError>>,
    background_drain: BackgroundDrain,
}

impl<R: ReplyReader> HttpExchange<R> {
    async fn next(&mut self) -> Option<Result<ReplyPart, ChatError>> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Some(Ok(part));
            }
            match self.ending.take() {
                Some(Ok(())) => {
                    self.ending = Some(Ok(()));
                    return None;
                }
                Some(Err(error)) => {
                    self.ending = Some(Ok(()));
                    return Some(Err(error));
                }
                None => {
                    self.ending = self.advance().await.transpose();
                    self.redaction.redact(&mut self.parts, self.ending.is_some());
                }
            }
        }
    }

    /// Executes one step of the exchange: `Some` if nothing more is to be read.
    async fn advance(&mut self) -> Result<Option<()>, ChatError> {
        if let Some(request) = self.request.take() {
            self.response = Some(accept(request.send().await.map_err(|error| connection_error(&error))?)?);
        }
        let Some(response) = &mut self.response else { return Ok(Some(())) };
        let is_closing = self.closing_by.is_some();
        let chunk = match self.closing_by {
            Some(by) => timeout_at(by, response.chunk()).await.ok(),
            None => Some(response.chunk().await),
        };
        let progress = match chunk {
            Some(Ok(Some(chunk))) => self.read(&chunk),
            Some(Ok(None)) => finish(&mut self.reader, &mut self.parts, response, is_closing),
            // The text had ended: late or broken data would have come after it.
            None => Ok(StreamProgress::Ended),
            Some(Err(_)) if is_closing => Ok(StreamProgress::Ended),
            Some(Err(error)) => Err(connection_error(&error)),
        };
        if matches!(progress, Ok(StreamProgress::Closing)) && !is_closing {
            self.closing_by = Some(Instant::now() + CLOSING_TIMEOUT);
            self.parts.push_back(ReplyPart::TextEnded);
        }
        match progress {
            Ok(StreamProgress::More | StreamProgress::Closing) => {}
            Ok(StreamProgress::Ended) => self.drain().await,
            Err(_) => self.response = None,
        }
        Ok((progress? == StreamProgress::Ended).then_some(()))
    }

    /// Parses a chunk of the body, unless too much has come without text.
    fn read(&mut self, chunk: &[u8]) -> Result<StreamProgress, ChatError> {
        let progress = self.reader.read(chunk, &mut self.parts)?;
        let has_text = self.parts.iter().any(|part| matches!(part, ReplyPart::Text(_)));
        self.without_text = if has_text { 0 } else { self.without_text + READ_COST + chunk.len() };
        if self.without_text > MAX_BYTES_WITHOUT_TEXT {
            return Err(ChatError::Malformed(format!("more than {} MiB without text", MAX_BYTES_WITHOUT_TEXT >> 20)));
        }
        Ok(progress)
    }

    /// Reads the body to its end if that is near, so that the connection returns to the pool, and otherwise drains it in the background.
    async fn drain(&mut self) {
        // If the reply is dropped here, the background task drains the rest too.
        self.closing_by.get_or_insert_with(Instant::now);
        let Some(response) = &mut self.response else { return };
        let to_the_end = async { while let Ok(Some(_)) = response.chunk().await {} };
        let is_free = timeout(DRAIN_TIMEOUT, to_the_end).await.is_ok();
        if is_free {
            self.response = None;
        } else {
            self.read_rest();
        }
    }
}

impl<R> HttpExchange<R> {
    /// Drains the rest of the body in the background.
    fn read_rest(&mut self) {
        if let Some(response) = self.response.take() {
            self.background_drain.read(response);
        }
    }
}

impl<R> Drop for HttpExchange<R> {
    /// After the end of the text the rest is short and drained; before it, the connection is closed.
    fn drop(&mut self) {
        if self.closing_by.is_some() {
            self.read_rest();
        }
    }
}

/// Interprets the end of the body: the reply is complete, truncated, or missing.
fn finish(
    reader: &mut impl ReplyReader,
    parts: &mut VecDeque<ReplyPart>,
    response: &Response,
    is_closing: bool,
) -> Result<StreamProgress, ChatError> {
    let last = reader.finish(parts)?;
    if !reader.has_begun() {
        return Err(ChatError::Malformed(classify_empty_body(response.headers()).to_owned()));
    }
    let is_whole = is_closing || last != StreamProgress::More;
    if !is_whole && (reader.has_end_marker() || may_hide_truncation(response)) {
        return Err(ChatError::Connection(connection_error_texts::BROKE_OFF.to_owned()));
    }
    Ok(StreamProgress::Ended)
}

/// Classifies a body without any event by its headers.
fn classify_empty_body(headers: &HeaderMap) -> &'static str {
    let value = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    let is_type = |kind: &str| value(CONTENT_TYPE).get(..kind.len()).is_some_and(|own| own.eq_ignore_ascii_case(kind));
    match () {
        () if !matches!(value(CONTENT_ENCODING), "" | "identity") => connection_error_texts::COMPRESSED,
        () if is_type("text/html") => connection_error_texts::WEB_PAGE,
        () if is_type("application/json") => connection_error_texts::ONE_DOCUMENT,
        () => connection_error_texts::NO_EVENT,
    }
}

/// Whether a truncated body can look complete: its connection marks its end, or an intermediary has buffered it and set its length.
fn may_hide_truncation(response: &Response) -> bool {
    let headers = response.headers();
    let is_framed = response.version() >= Version::HTTP_2 || headers.contains_key(TRANSFER_ENCODING);
    !is_framed || headers.contains_key(CONTENT_LENGTH)
}

/// Accepts a response with a whole body; one without a body, or with a part of it, is a failure like any other status.
pub(crate) fn accept(response: Response) -> Result<Response, ChatError> {
    if matches!(response.status().as_u16(), 200..=203) {
        return Ok(response);
    }
    Err(ChatError::Status {
        status: response.status().as_u16(),
        retry_after: retry_after::from_headers(response.headers()),
    })
}

/// Describes a connection error in a fixed wording: no address, no header, no text of a provider.
pub(crate) fn connection_error(error: &reqwest::Error) -> ChatError {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    let mut is_http = true;
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<io::Error>() {
            return broken(error, describe_io(innermost(io), error.is_connect()));
        }
        is_http &= !is_http_parse_error(&current.to_string());
        cause = current.source();
    }
    let words = match () {
        () if !is_http => connection_error_texts::NO_HTTP,
        () if error.is_connect() => connection_error_texts::NO_CONNECTION,
        () if error.is_timeout() => connection_error_texts::TIMED_OUT,
        () if error.is_builder() => connection_error_texts::UNBUILDABLE,
        () => connection_error_texts::BROKE_OFF,
    };
    broken(error, words)
}

/// Whether the HTTP library could not parse a response head: its errors have no kinds, only texts.
fn is_http_parse_error(words: &str) -> bool {
    words.starts_with("invalid HTTP")
}

/// Describes a connection error as text, for peers that are not providers.
pub(crate) fn connection_problem(error: &reqwest::Error) -> String {
    match connection_error(error) {
        ChatError::Unreached(words) | ChatError::Connection(words) => words,
        other => other.to_string(),
    }
}

fn broken(error: &reqwest::Error, words: &str) -> ChatError {
    match error.is_connect() || error.is_builder() {
        true => ChatError::Unreached(words.to_owned()),
        false => ChatError::Connection(words.to_owned()),
    }
}

/// Returns the innermost error, such as that inside a TLS error: only its kind states the cause.
fn innermost(error: &io::Error) -> &io::Error {
    match error.get_ref().and_then(|wrapped| wrapped.downcast_ref::<io::Error>()) {
        Some(wrapped) => innermost(wrapped),
        None => error,
    }
}

fn describe_io(error: &io::Error, connecting: bool) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => connection_error_texts::REFUSED,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            connection_error_texts::RESET
        }
        io::ErrorKind::UnexpectedEof => connection_error_texts::BROKE_OFF,
        io::ErrorKind::TimedOut => connection_error_texts::NOT_IN_TIME,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => connection_error_texts::UNREACHABLE,
        io::ErrorKind::InvalidData if connecting => connection_error_texts::NO_TLS,
        io::ErrorKind::InvalidData => connection_error_texts::NO_HTTP,
        io::ErrorKind::PermissionDenied => connection_error_texts::FORBIDDEN,
        _ if connecting => connection_error_texts::UNKNOWN_HOST,
        _ => connection_error_texts::BROKE_OFF,
    }
}

#[cfg(test)]
mod tests;
