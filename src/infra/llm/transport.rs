//! Sends requests to providers and reads their streams. Errors contain no secrets.
//!
//! Two rules: whatever a provider sends beside the reply (headers, bodies of error answers) is dropped unread, and no
//! error text is made from it.

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

use super::body_drain::BackgroundDrain;
use super::http_client::HttpClient;
use super::key_redaction::KeyRedaction;
use super::{ChatError, ReplyPart, ReplyStream, failure_words, retry_after};
use crate::config::{ConfigError, ModelSettings};
use crate::domain::settings_rule::{AddressRule, RefusedValue, VariableRule};

/// How long a finished reply may wait for the end of its body, so that the next request finds the connection free.
const DRAIN_LIMIT: Duration = Duration::from_millis(50);
/// How long a provider that said why the text ended may take to say what it counted, or that this was all.
const CLOSING_LIMIT: Duration = Duration::from_secs(2);

/// What a body may hold before the next text, in bytes with [`READ_COST`] for each read: room for the longest reasoning, while
/// comments or empty events without end cost a few seconds of a core at most.
const MOST_WITHOUT_TEXT: usize = 256 << 20;
/// A read costs about as much as so many bytes.
const READ_COST: usize = 256;

/// Where and how one model is asked.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    http: HttpClient,
    url: Url,
    headers: HeaderMap,
}

impl Endpoint {
    /// `base_url` of the settings (or `default_base`) with `path` after it.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] for an address that is invalid or out of reach.
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

    /// Adds the header that carries the key; it is marked as sensitive and never printed, and no model's reply shows it.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] names the variable where its value cannot be a header.
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

    /// The same with another path in the place of `own`, its end.
    pub(crate) fn beside(&self, own: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.url.clone();
        let base = self.url.path();
        url.set_path(&format!("{}{path}", base.strip_suffix(own).unwrap_or(base)));
        url.set_query(query);
        Self { url, ..self.clone() }
    }

    /// The same at another address; `None` where that is of another scheme, host or port, which must not see the key.
    pub(crate) fn at_own_origin(&self, url: Url) -> Option<Self> {
        let is_own = url.origin() == self.url.origin() && url.username().is_empty() && url.password().is_none();
        is_own.then(|| Self { url, ..self.clone() })
    }

    /// The host that is asked.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// A request with this JSON body.
    pub(crate) fn post(&self, body: &Map<String, Value>) -> RequestBuilder {
        self.post_empty().json(body)
    }

    /// A request that is given its body, of a type that is given too.
    pub(crate) fn post_empty(&self) -> RequestBuilder {
        self.http.for_url(&self.url).post(self.url.clone()).headers(self.headers.clone())
    }

    /// The parts of a whole reply, without a key where one stands in them.
    pub(crate) fn without_keys(&self, parts: Vec<ReplyPart>) -> Vec<ReplyPart> {
        let mut parts = VecDeque::from(parts);
        KeyRedaction::new(self.http.known_keys()).redact(&mut parts, true);
        parts.into()
    }

    /// A request for what is there.
    pub(crate) fn get(&self) -> RequestBuilder {
        self.http.for_url(&self.url).get(self.url.clone()).headers(self.headers.clone())
    }
}

/// Whether a reader has seen the end of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamProgress {
    /// More may come.
    More,
    /// The provider said why the text ended; more may come, such as what it counted.
    Closing,
    /// The provider said that this was all.
    Ended,
}

/// Turns the bytes of one reply into parts. Pure: one for event streams, one for JSON lines.
pub(crate) trait ReplyReader: Send + 'static {
    /// Takes the next chunk and appends what it held. Parts before an error still count.
    fn read(&mut self, chunk: &[u8], parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

    /// Takes the end of the body.
    fn finish(&mut self, parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError>;

    /// Whether the body held anything of the protocol.
    fn has_begun(&self) -> bool;

    /// Whether every whole reply of the protocol says that it ends.
    fn says_its_end(&self) -> bool;
}

/// Sends a request with this body when first polled and reads the answer as it arrives.
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
    /// What came since the last text: see [`MOST_WITHOUT_TEXT`].
    without_text: usize,
    /// Set once the provider has said that the text ended: how long more may come.
    closing_by: Option<Instant>,
    /// Set once nothing more is read; what is left in `parts` goes out first.
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

    /// One step of the exchange: `Some` when nothing more is to be read.
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
            // The text had ended: what is late or broken would have come after it.
            None => Ok(StreamProgress::Ended),
            Some(Err(_)) if is_closing => Ok(StreamProgress::Ended),
            Some(Err(error)) => Err(connection_error(&error)),
        };
        if matches!(progress, Ok(StreamProgress::Closing)) && !is_closing {
            self.closing_by = Some(Instant::now() + CLOSING_LIMIT);
            self.parts.push_back(ReplyPart::TextEnded);
        }
        match progress {
            Ok(StreamProgress::More | StreamProgress::Closing) => {}
            Ok(StreamProgress::Ended) => self.drain().await,
            Err(_) => self.response = None,
        }
        Ok((progress? == StreamProgress::Ended).then_some(()))
    }

    /// Takes a chunk of the body, unless too much has come without text.
    fn read(&mut self, chunk: &[u8]) -> Result<StreamProgress, ChatError> {
        let progress = self.reader.read(chunk, &mut self.parts)?;
        let has_text = self.parts.iter().any(|part| matches!(part, ReplyPart::Text(_)));
        self.without_text = if has_text { 0 } else { self.without_text + READ_COST + chunk.len() };
        if self.without_text > MOST_WITHOUT_TEXT {
            return Err(ChatError::Malformed(format!("more than {} MiB without text", MOST_WITHOUT_TEXT >> 20)));
        }
        Ok(progress)
    }

    /// Reads on to the end of the body where it is near, so that the connection goes back to the pool, and otherwise has it read
    /// in the background.
    async fn drain(&mut self) {
        // If the reply is dropped here, the background has the rest too.
        self.closing_by.get_or_insert_with(Instant::now);
        let Some(response) = &mut self.response else { return };
        let to_the_end = async { while let Ok(Some(_)) = response.chunk().await {} };
        let is_free = timeout(DRAIN_LIMIT, to_the_end).await.is_ok();
        if is_free {
            self.response = None;
        } else {
            self.read_rest();
        }
    }
}

impl<R> HttpExchange<R> {
    /// Has the rest of the body read in the background.
    fn read_rest(&mut self) {
        if let Some(response) = self.response.take() {
            self.background_drain.read(response);
        }
    }
}

impl<R> Drop for HttpExchange<R> {
    /// After the end of the text the rest is short; before it, the connection is closed.
    fn drop(&mut self) {
        if self.closing_by.is_some() {
            self.read_rest();
        }
    }
}

/// What the end of the body means: all of the reply was there, or it broke off, or there was none.
fn finish(
    reader: &mut impl ReplyReader,
    parts: &mut VecDeque<ReplyPart>,
    response: &Response,
    is_closing: bool,
) -> Result<StreamProgress, ChatError> {
    let last = reader.finish(parts)?;
    if !reader.has_begun() {
        return Err(ChatError::Malformed(nothing_of_the_protocol(response.headers()).to_owned()));
    }
    let is_whole = is_closing || last != StreamProgress::More;
    if !is_whole && (reader.says_its_end() || hides_a_break(response)) {
        return Err(ChatError::Connection(failure_words::BROKE_OFF.to_owned()));
    }
    Ok(StreamProgress::Ended)
}

/// What a body is that held no event, as far as its headers say.
fn nothing_of_the_protocol(headers: &HeaderMap) -> &'static str {
    let value = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    let is_type = |kind: &str| value(CONTENT_TYPE).get(..kind.len()).is_some_and(|own| own.eq_ignore_ascii_case(kind));
    match () {
        () if !matches!(value(CONTENT_ENCODING), "" | "identity") => failure_words::COMPRESSED,
        () if is_type("text/html") => failure_words::WEB_PAGE,
        () if is_type("application/json") => failure_words::ONE_DOCUMENT,
        () => failure_words::NO_EVENT,
    }
}

/// Whether a body that broke off looks like a whole one: where its connection ends it, or where somebody on the way has collected
/// what came and counted that.
fn hides_a_break(response: &Response) -> bool {
    let headers = response.headers();
    let is_framed = response.version() >= Version::HTTP_2 || headers.contains_key(TRANSFER_ENCODING);
    !is_framed || headers.contains_key(CONTENT_LENGTH)
}

/// Takes an answer that brings a whole body; one without a body, or with a part of it, is a failure like any other status.
pub(crate) fn accept(response: Response) -> Result<Response, ChatError> {
    if matches!(response.status().as_u16(), 200..=203) {
        return Ok(response);
    }
    Err(ChatError::Status {
        status: response.status().as_u16(),
        retry_after: retry_after::from_headers(response.headers()),
    })
}

/// Says what broke in words of our own: no address, no header, nothing that a provider sent.
pub(crate) fn connection_error(error: &reqwest::Error) -> ChatError {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    let mut is_http = true;
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<io::Error>() {
            return broken(error, describe_io(innermost(io), error.is_connect()));
        }
        is_http &= !says_no_http(&current.to_string());
        cause = current.source();
    }
    let words = match () {
        () if !is_http => failure_words::NO_HTTP,
        () if error.is_connect() => failure_words::NO_CONNECTION,
        () if error.is_timeout() => failure_words::TIMED_OUT,
        () if error.is_builder() => failure_words::UNBUILDABLE,
        () => failure_words::BROKE_OFF,
    };
    broken(error, words)
}

/// Whether the HTTP library says that it could not read the head of an answer: its errors have no kinds, only words of their own.
fn says_no_http(words: &str) -> bool {
    words.starts_with("invalid HTTP")
}

/// The same in words alone, for peers that are no provider.
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

/// The error that others wrap, such as that of TLS: its kind says what broke, and theirs does not.
fn innermost(error: &io::Error) -> &io::Error {
    match error.get_ref().and_then(|wrapped| wrapped.downcast_ref::<io::Error>()) {
        Some(wrapped) => innermost(wrapped),
        None => error,
    }
}

fn describe_io(error: &io::Error, connecting: bool) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => failure_words::REFUSED,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            failure_words::RESET
        }
        io::ErrorKind::UnexpectedEof => failure_words::BROKE_OFF,
        io::ErrorKind::TimedOut => failure_words::NOT_IN_TIME,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => failure_words::UNREACHABLE,
        io::ErrorKind::InvalidData if connecting => failure_words::NO_TLS,
        io::ErrorKind::InvalidData => failure_words::NO_HTTP,
        io::ErrorKind::PermissionDenied => failure_words::FORBIDDEN,
        _ if connecting => failure_words::UNKNOWN_HOST,
        _ => failure_words::BROKE_OFF,
    }
}

#[cfg(test)]
mod tests;
