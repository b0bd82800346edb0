//! Client of a moderation endpoint: `POST {base_url}/moderations`, as served by OpenAI. It sends only the text, and only to addresses
//! allowed for models.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use crate::allowed_addresses::AllowedAddresses;
use crate::config::{ConfigError, Environment, Settings};
use crate::domain::moderation::plain_categories;
use crate::domain::settings_rule::{AddressRule, RefusedValue, VariableRule};
use crate::domain::time::Timestamp;
use crate::llm::{HttpClient, connection_problem, http_client_within};

/// Connection timeout; the settings limit the whole request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Error of a moderation request. No variant contains the text, the key or the endpoint's response.
#[derive(Debug, thiserror::Error)]
pub enum ModerationError {
    /// The endpoint is unreachable.
    #[error("it cannot be asked: {0}: check moderation.base_url, and that the service runs")]
    Http(String),
    /// The endpoint refuses with this status.
    #[error("it answers with status {0}: check moderation.base_url and moderation.api_key_env")]
    Status(StatusCode),
    /// The timeout of the settings expired.
    #[error("it did not answer within moderation.timeout_ms")]
    TimedOut,
    /// The response is too long, or has no result.
    #[error("its answer is not that of a moderation endpoint: check moderation.base_url")]
    Unreadable,
}

/// Health of the endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndpointState {
    /// Time of its last response.
    pub answered_at: Option<Timestamp>,
    /// Start of the current failure.
    pub failing_since: Option<Timestamp>,
}

/// A moderation endpoint.
#[derive(Debug)]
pub struct ModerationEndpoint {
    http: HttpClient,
    url: Url,
    headers: HeaderMap,
    model: String,
    state: Mutex<EndpointState>,
}

impl ModerationEndpoint {
    /// Opens the endpoint of the settings; `None` if there is none.
    ///
    /// # Errors
    /// [`ConfigError`] for an address that is not allowed, and a key that is unset or invalid.
    pub fn open(settings: &Settings, env: &Environment) -> Result<Option<Self>, ConfigError> {
        let moderation = &settings.moderation;
        if moderation.base_url.is_empty() {
            return Ok(None);
        }
        let http = http_client_within(CONNECT_TIMEOUT, &AllowedAddresses::new(&settings.providers.private_networks))?;
        let invalid =
            |rule: AddressRule| ConfigError::out_of_range("moderation.base_url", RefusedValue::Unusable, rule);
        let url = Url::parse(&format!("{}/moderations", moderation.base_url.trim_end_matches('/')))
            .map_err(|_| invalid(AddressRule::Moderation))?;
        if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(AddressRule::ModerationWithoutCredentials));
        }
        if !http.reaches(&url) {
            return Err(invalid(AddressRule::ReachableForModels));
        }
        let headers = match moderation.api_key_env.as_str() {
            "" => HeaderMap::new(),
            name => key_header(env.secret(name))?,
        };
        Ok(Some(Self { http, url, headers, model: moderation.model.clone(), state: Mutex::default() }))
    }

    /// Returns the host of the endpoint.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the health of the endpoint.
    #[must_use]
    pub fn state(&self) -> EndpointState {
        *self.state.lock()
    }

    /// Requests the categories of a text with this timeout. `now` is the time of the request.
    ///
    /// # Errors
    /// [`ModerationError`]; also reflected in the state.
    pub async fn ask(&self, text: &str, within: Duration, now: Timestamp) -> Result<Vec<String>, ModerationError> {
        let found = tokio::time::timeout(within, self.send(text)).await;
        let found = found.unwrap_or(Err(ModerationError::TimedOut));
        let mut state = self.state.lock();
        if found.is_ok() {
            *state = EndpointState { answered_at: Some(now), failing_since: None };
        } else {
            state.failing_since.get_or_insert(now);
        }
        found
    }

    async fn send(&self, text: &str) -> Result<Vec<String>, ModerationError> {
        let body = if self.model.is_empty() {
            json!({ "input": text })
        } else {
            json!({ "input": text, "model": self.model })
        };
        let failed = |error: reqwest::Error| ModerationError::Http(connection_problem(&error));
        let client = self.http.for_url(&self.url);
        let sent = client.post(self.url.clone()).headers(self.headers.clone()).json(&body).send();
        let mut response = sent.await.map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(ModerationError::Status(response.status()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(ModerationError::Unreadable);
            }
            bytes.extend(chunk);
        }
        read(&bytes).ok_or(ModerationError::Unreadable)
    }
}

/// Builds the authorization header; it is marked as sensitive and never printed.
fn key_header(key: Option<SecretString>) -> Result<HeaderMap, ConfigError> {
    let unusable =
        || ConfigError::out_of_range("moderation.api_key_env", RefusedValue::Unusable, VariableRule::ModerationKey);
    let key = key.ok_or_else(unusable)?;
    let text = SecretString::from(format!("Bearer {}", key.expose_secret().trim()));
    let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| unusable())?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

#[derive(Deserialize)]
struct ModerationAnswer {
    results: Vec<ModerationResultRow>,
}

#[derive(Deserialize)]
struct ModerationResultRow {
    flagged: bool,
    #[serde(default)]
    categories: BTreeMap<String, Option<bool>>,
}

/// Parses the categories of a response; `None` if it has no result.
fn read(bytes: &[u8]) -> Option<Vec<String>> {
    let answer: ModerationAnswer = serde_json::from_slice(bytes).ok()?;
    if answer.results.is_empty() {
        return None;
    }
    let is_flagged = answer.results.iter().any(|result| result.flagged);
    let all = answer.results.iter().flat_map(|result| &result.categories);
    let found = all.filter(|(_, is_found)| **is_found == Some(true)).map(|(name, _)| name.as_str());
    Some(plain_categories(found, is_flagged))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::parse(&format!("[moderation]\n{text}"), "test", &Environment::default()).unwrap()
    }

    #[test]
    fn an_answer_is_read_and_one_without_a_result_is_none() {
        let of = |text: &str| read(text.as_bytes());
        let answer = r#"{"id":"x","results":[{"flagged":true,"categories":{"hate":true,"violence":false,"illicit":null},
            "category_scores":{"hate":0.9}}]}"#;
        assert_eq!(of(answer).unwrap(), ["hate"]);
        assert_eq!(of(r#"{"results":[{"flagged":true}]}"#).unwrap(), ["other"]);
        assert!(of(r#"{"results":[{"flagged":false,"categories":{"hate":false}}]}"#).unwrap().is_empty());
        for text in
            ["", "null", "[]", "{}", r#"{"results":[]}"#, r#"{"results":[{}]}"#, r#"{"results":[{"flagged":"no"}]}"#]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn an_endpoint_that_is_not_there_is_reported_with_the_key_to_look_at() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("base_url = \"http://{}/v1\"", listener.local_addr().unwrap());
        drop(listener);
        let endpoint = ModerationEndpoint::open(&settings(&base_url), &Environment::default()).unwrap().unwrap();
        let error = endpoint.ask("?", Duration::from_secs(20), Timestamp(1)).await.unwrap_err().to_string();
        assert!(error.contains("nothing listens there") && error.contains("moderation.base_url"), "{error}");
    }

    #[test]
    fn an_endpoint_out_of_reach_and_a_key_that_is_not_set_are_refused() {
        let open = |text: &str, env: &Environment| ModerationEndpoint::open(&settings(text), env);
        let none = Environment::default();
        assert!(open("", &none).unwrap().is_none());
        for address in [
            "http://169.254.169.254/v1",
            "http://[fe80::1]/v1",
            "https://a:b@example.org/v1",
            "https://example.org/v1?x=1",
        ] {
            let error = open(&format!("base_url = \"{address}\""), &none).unwrap_err().to_string();
            assert!(error.starts_with("moderation.base_url") && !error.contains("a:b"), "{error}");
        }
        let with_key = "base_url = \"https://example.org/v1\"\napi_key_env = \"MODERATION_KEY\"";
        let error = open(with_key, &none).unwrap_err().to_string();
        assert!(error.contains("moderation.api_key_env"), "{error}");
        let error = open(with_key, &Environment::of([("MODERATION_KEY", "secret\nsecond")])).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        let endpoint = open(with_key, &Environment::of([("MODERATION_KEY", "secret")])).unwrap().unwrap();
        assert_eq!(endpoint.host(), "example.org");
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}
