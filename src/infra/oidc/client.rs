//! OpenID Connect client: builds the authorization request, and verifies the identity on the callback.
//!
//! The provider's metadata and keys are cached for an hour. They are fetched by one request at a time; after a failure there is a cool-down
//! of some seconds, so that an unavailable provider costs each sign-in a moment and not a timeout.

use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::http::{self, Form, HttpError};
use super::id_token::{self, Expected, Identity, TokenError};
use super::key_set::KeySet;
use super::metadata::{ClientProof, Metadata};
use super::sign_in_state::{FLOW_MINUTES, Purpose, SignInFlow};
use crate::config::{CurrentSettings, OidcSettings};
use crate::domain::time::Timestamp;
use crate::limits::SingleUse;
use crate::llm::HttpClient;
use crate::sessions::Sessions;
use crate::time::clock::Clock;

/// Cache lifetime of metadata and keys.
const CACHE_LIFETIME_MS: i64 = 3_600_000;
/// Cool-down after a failure.
const COOL_DOWN_MS: i64 = 5_000;
/// Cool-down between two fetches of keys because of an unknown one.
const KEYS_COOL_DOWN_MS: i64 = 60_000;
/// Maximum size of a code in bytes.
const MAX_CODE_BYTES: usize = 4_096;
/// Path of the redirect URI.
pub const CALLBACK_PATH: &str = "/oidc/callback";

/// Error of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OidcError {
    /// No provider is configured.
    #[error("no provider is set")]
    Off,
    /// Not started in this browser, expired, or already used.
    #[error("the sign-in was not begun in this browser, has expired, or was used")]
    Foreign,
    /// The provider denied the sign-in.
    #[error("the provider signed nobody in")]
    Denied,
    /// The provider is down, slow, or not an OpenID provider.
    #[error("the provider cannot be used: {0}")]
    Provider(String),
    /// The ID token is invalid.
    #[error("the provider's answer is refused: {0}")]
    Token(#[from] TokenError),
}

/// Parameters of the provider's callback.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProviderCallback<'a> {
    /// `state` parameter.
    pub state: &'a str,
    /// Authorization code.
    pub code: Option<&'a str>,
    /// `iss` parameter (RFC 9207).
    pub issuer: Option<&'a str>,
}

/// Signs people in at the configured provider.
pub struct OidcClient {
    settings: CurrentSettings,
    sessions: Arc<Sessions>,
    clock: Arc<dyn Clock>,
    /// Returned states, each valid once.
    used: SingleUse,
    known: Mutex<ProviderState>,
}

/// Cached state of the provider.
#[derive(Default)]
struct ProviderState {
    issuer: String,
    private: Vec<IpNet>,
    http: Option<HttpClient>,
    metadata: Option<(Timestamp, Metadata)>,
    keys: Option<(Timestamp, KeySet)>,
    failed: Option<(Timestamp, OidcError)>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
}

impl OidcClient {
    /// Creates the client.
    #[must_use]
    pub fn new(settings: CurrentSettings, sessions: Arc<Sessions>, clock: Arc<dyn Clock>, used: SingleUse) -> Self {
        Self { settings, sessions, clock, used, known: Mutex::default() }
    }

    /// Returns the provider's authorization URL for a sign-in.
    ///
    /// # Errors
    /// [`OidcError`] of a provider that is down or not configured.
    pub async fn authorization(&self, flow: &SignInFlow) -> Result<String, OidcError> {
        let settings = self.settings.now();
        let metadata = self.metadata().await?;
        let scope = match flow.purpose {
            Purpose::Visitor => "openid".to_owned(),
            Purpose::Admin => ["openid"]
                .into_iter()
                .chain(settings.oidc.scopes.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" "),
        };
        let mut url = metadata.authorization;
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &settings.oidc.client_id),
            ("redirect_uri", &callback(&settings.server.public_url)),
            ("scope", &scope),
            ("state", &flow.state(&self.sessions)),
            ("nonce", &flow.nonce(&self.sessions)),
            ("code_challenge", &flow.challenge(&self.sessions)),
            ("code_challenge_method", "S256"),
        ]);
        Ok(url.into())
    }

    /// Verifies the callback in the browser that started `flow`, and returns the identity. Each callback counts once.
    ///
    /// # Errors
    /// [`OidcError`].
    pub async fn identity(&self, flow: &SignInFlow, answer: ProviderCallback<'_>) -> Result<Identity, OidcError> {
        let remembered = Duration::from_secs(60 * FLOW_MINUTES.unsigned_abs());
        if !flow.has_state(&self.sessions, answer.state) || !self.used.claim(answer.state, remembered).await {
            return Err(OidcError::Foreign);
        }
        let (settings, metadata) = (self.settings.now(), self.metadata().await?);
        let named = answer.issuer.is_some() || metadata.answers_name_issuer;
        if named && answer.issuer != Some(settings.oidc.issuer.as_str()) {
            return Err(TokenError::Issuer.into());
        }
        let code = answer.code.filter(|code| !code.is_empty() && code.len() <= MAX_CODE_BYTES);
        let token = self.token(&metadata, flow, code.ok_or(OidcError::Denied)?).await?;
        self.verified(&token, &flow.nonce(&self.sessions), &settings.oidc).await
    }

    /// Exchanges a code for an ID token.
    async fn token(&self, metadata: &Metadata, flow: &SignInFlow, code: &str) -> Result<String, OidcError> {
        let settings = self.settings.now();
        let (redirect, verifier) = (callback(&settings.server.public_url), flow.verifier(&self.sessions));
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect),
            ("client_id", &settings.oidc.client_id),
            ("code_verifier", &verifier),
        ];
        let secret = settings.oidc.client_secret.expose();
        let basic = secret.filter(|_| metadata.proof == ClientProof::Basic);
        if let (Some(secret), None) = (secret, basic) {
            fields.push(("client_secret", secret));
        }
        let client = self.known.lock().await.client(&settings.providers.private_networks)?;
        let basic = basic.map(|secret| (settings.oidc.client_id.as_str(), secret));
        let answered = http::post(&client, &metadata.token, Form { fields: &fields, basic }).await;
        let bytes = answered.map_err(|error| match error {
            // The code was used, has expired, or is unknown.
            HttpError::Status(400) => OidcError::Denied,
            error => unusable(error),
        })?;
        let answer: Result<TokenAnswer, _> = serde_json::from_slice(&bytes);
        answer.map(|answer| answer.id_token).map_err(|_| TokenError::Unreadable.into())
    }

    /// Verifies a token and returns its identity. If its key is unknown, fetches the keys once more.
    async fn verified(&self, token: &str, nonce: &str, oidc: &OidcSettings) -> Result<Identity, OidcError> {
        let expected = Expected { issuer: &oidc.issuer, client_id: &oidc.client_id, nonce, now: self.clock.now() };
        match id_token::verify(token, &self.keys(false).await?, expected) {
            Err(TokenError::UnknownKey) => Ok(id_token::verify(token, &self.keys(true).await?, expected)?),
            verified => Ok(verified?),
        }
    }

    async fn metadata(&self) -> Result<Metadata, OidcError> {
        let settings = self.settings.now();
        if !settings.oidc.is_set() {
            return Err(OidcError::Off);
        }
        let (mut known, now) = (self.known.lock().await, self.clock.now());
        known.begin(&settings.oidc.issuer, now)?;
        if let Some((_, metadata)) = known.metadata.as_ref().filter(|(at, _)| is_within(*at, CACHE_LIFETIME_MS, now)) {
            return Ok(metadata.clone());
        }
        let client = known.client(&settings.providers.private_networks)?;
        let asked = http::get(&client, &Metadata::address(&settings.oidc.issuer)).await.map_err(no_description);
        let read = asked.and_then(|bytes| Metadata::parse(&bytes, &settings.oidc.issuer).map_err(unusable));
        let metadata = known.note(read, self.clock.now())?;
        known.metadata = Some((now, metadata.clone()));
        Ok(metadata)
    }

    /// Returns the provider's keys; with `refetch` fetched again, unless they were fetched a moment ago.
    async fn keys(&self, refetch: bool) -> Result<KeySet, OidcError> {
        let (settings, metadata) = (self.settings.now(), self.metadata().await?);
        let (mut known, now) = (self.known.lock().await, self.clock.now());
        let kept_for = if refetch { KEYS_COOL_DOWN_MS } else { CACHE_LIFETIME_MS };
        if let Some((_, keys)) = known.keys.as_ref().filter(|(at, _)| is_within(*at, kept_for, now)) {
            return Ok(keys.clone());
        }
        known.begin(&settings.oidc.issuer, now)?;
        let client = known.client(&settings.providers.private_networks)?;
        let asked = http::get(&client, metadata.keys.as_str()).await.map_err(no_keys);
        let read = asked.and_then(|bytes| KeySet::parse(&bytes).ok_or_else(unreadable_keys));
        let keys = known.note(read, self.clock.now())?;
        known.keys = Some((now, keys.clone()));
        Ok(keys)
    }
}

impl ProviderState {
    /// Resets the cache for another provider, and refuses to continue right after a failure.
    fn begin(&mut self, issuer: &str, now: Timestamp) -> Result<(), OidcError> {
        if self.issuer != issuer {
            *self = Self { issuer: issuer.to_owned(), ..Self::default() };
        }
        match &self.failed {
            Some((at, error)) if is_within(*at, COOL_DOWN_MS, now) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Returns an HTTP client for these networks.
    fn client(&mut self, private: &[IpNet]) -> Result<HttpClient, OidcError> {
        if let Some(client) = self.http.as_ref().filter(|_| self.private == private) {
            return Ok(client.clone());
        }
        let client = http::client(private).map_err(unusable)?;
        self.private = private.to_vec();
        self.http = Some(client.clone());
        Ok(client)
    }

    fn note<T>(&mut self, read: Result<T, OidcError>, now: Timestamp) -> Result<T, OidcError> {
        self.failed = read.as_ref().err().map(|error| (now, error.clone()));
        read
    }
}

/// Returns the redirect URI: at the public address of the settings, regardless of the request's host.
fn callback(public_url: &str) -> String {
    format!("{}{CALLBACK_PATH}", public_url.trim_end_matches('/'))
}

fn unusable(error: impl std::fmt::Display) -> OidcError {
    OidcError::Provider(error.to_string())
}

fn no_description(error: HttpError) -> OidcError {
    OidcError::Provider(format!("its description is not to be had: {error}; is oidc.issuer its address?"))
}

fn no_keys(error: HttpError) -> OidcError {
    OidcError::Provider(format!("its keys are not to be had: {error}"))
}

fn unreadable_keys() -> OidcError {
    OidcError::Provider("its keys cannot be read".to_owned())
}

fn is_within(at: Timestamp, span_ms: i64, now: Timestamp) -> bool {
    (0..span_ms).contains(&(now.0 - at.0))
}

/// Contacts the provider of these settings once, for `langya doctor`.
///
/// # Errors
/// [`OidcError`].
pub async fn check(settings: &OidcSettings, private: &[IpNet]) -> Result<(), OidcError> {
    let client = http::client(private).map_err(unusable)?;
    let description = http::get(&client, &Metadata::address(&settings.issuer)).await.map_err(no_description)?;
    let metadata = Metadata::parse(&description, &settings.issuer).map_err(unusable)?;
    let keys = http::get(&client, metadata.keys.as_str()).await.map_err(no_keys)?;
    KeySet::parse(&keys).map(drop).ok_or_else(unreadable_keys)
}
