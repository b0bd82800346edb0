//! Requests a server's model list at the usual paths. Redirects are not followed, and addresses that are not allowed for models are not
//! requested.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use super::super::http::transport::connection_error;
use super::super::{ChatError, HttpClient};
use super::{ListError, ModelList};
use crate::config::ProviderKind;
use crate::domain::settings_rule::AddressRule;

/// Maximum size of a list in megabytes; the longest known one, OpenRouter's, has about one million bytes.
const MAX_LIST_MB: usize = 16;

/// Protocol and address of a model server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelServer {
    /// Protocol of the server.
    pub provider: ProviderKind,
    /// Base address for the settings.
    pub base_url: String,
}

/// A list with its server.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderList {
    /// Protocol and address of the server.
    pub server: ModelServer,
    /// Parsed list.
    pub list: ModelList,
}

/// Possible paths of a list below an address, the likeliest first: the path after the base, the suffix of the base address in the settings,
/// and the protocol.
const LIST_PATHS: [(&str, &str, ProviderKind); 4] = [
    ("/models", "", ProviderKind::Openai),
    ("/api/tags", "", ProviderKind::Ollama),
    ("/v1/models", "/v1", ProviderKind::Openai),
    ("/api/v1/models", "/api/v1", ProviderKind::Openai),
];

/// Reads the list of the server at `from`: an address such as `http://127.0.0.1:8000`, `https://openrouter.ai/api/v1`, or that of the list
/// itself. `key` is the variable's name with its value, `wait` the timeout of one response.
///
/// # Errors
/// [`ListError`]
pub async fn read_provider_list(
    from: &str,
    key: Option<(&str, &SecretString)>,
    wait: Duration,
    http: &HttpClient,
) -> Result<ProviderList, ListError> {
    let base = base(from)?;
    let headers = headers(key)?;
    let mut first = None;
    for (path, end, provider) in LIST_PATHS {
        let server = ModelServer { provider, base_url: format!("{base}{end}") };
        let body = fetch(&format!("{base}{path}"), headers.clone(), wait, MAX_LIST_MB << 20, http).await;
        match body.and_then(|body| ModelList::parse(&body, provider)) {
            Ok(list) => return Ok(ProviderList { server, list }),
            // There may be a list at another path.
            Err(error @ (ListError::Status(404 | 405) | ListError::NoList)) => first = first.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(first.unwrap_or(ListError::NoList))
}

/// Refuses an address that cannot be a server's, without any request.
///
/// # Errors
/// [`ListError::Address`]
pub fn check_address(from: &str) -> Result<(), ListError> {
    base(from).map(drop)
}

/// Returns the address without the path of a list, and without a trailing slash.
fn base(from: &str) -> Result<&str, ListError> {
    let from = from.trim().trim_end_matches('/');
    let url = Url::parse(from).map_err(|_| ListError::Address(AddressRule::Models))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(ListError::Address(AddressRule::HttpScheme));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ListError::Address(AddressRule::WithoutUser));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ListError::Address(AddressRule::WithoutQuery));
    }
    let stripped = from.strip_suffix("/models").or_else(|| from.strip_suffix("/api/tags")).unwrap_or(from);
    Ok(stripped.trim_end_matches('/'))
}

fn headers(key: Option<(&str, &SecretString)>) -> Result<HeaderMap, ListError> {
    let Some((variable, key)) = key else { return Ok(HeaderMap::new()) };
    let text = SecretString::from(format!("Bearer {}", key.expose_secret().trim()));
    let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| ListError::Key(variable.to_owned()))?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

/// Returns the body of a successful response, within a timeout and a maximum size.
///
/// # Errors
/// [`ListError`]
pub(in crate::llm) async fn fetch(
    address: &str,
    headers: HeaderMap,
    wait: Duration,
    max_bytes: usize,
    http: &HttpClient,
) -> Result<Vec<u8>, ListError> {
    let url = Url::parse(address).map_err(|_| ListError::Address(AddressRule::Models))?;
    if !http.reaches(&url) {
        return Err(ListError::Address(AddressRule::ReachableForModels));
    }
    let request = http.for_url(&url).get(url.clone()).headers(headers);
    let answer = async {
        let mut response = request.send().await.map_err(|error| unreached(&error))?;
        accept(response.status())?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreached(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > max_bytes {
                return Err(ListError::TooLong(max_bytes >> 20));
            }
        }
        Ok(body)
    };
    timeout(wait, answer).await.unwrap_or(Err(ListError::Slow(wait.as_secs())))
}

fn accept(status: StatusCode) -> Result<(), ListError> {
    match status.as_u16() {
        200..=299 => Ok(()),
        status @ 300..=399 => Err(ListError::Moved(status)),
        status @ (401 | 403) => Err(ListError::Refused(status)),
        status => Err(ListError::Status(status)),
    }
}

fn unreached(error: &reqwest::Error) -> ListError {
    match connection_error(error) {
        ChatError::Unreached(words) | ChatError::Connection(words) => ListError::Unreached(words),
        error => ListError::Unreached(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_that_of_the_server_or_of_its_list() {
        for from in ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/models", " http://h:1/v1/models/ "] {
            assert_eq!(base(from), Ok("http://h:1/v1"), "{from}");
        }
        assert_eq!(base("http://h:1/api/tags"), Ok("http://h:1"));
        for from in [
            "h:1",
            "ftp://h",
            "file:///etc/passwd",
            "http://h?k=1",
            "http://h#x",
            "http://u:p@h/v1",
            "https://key@h",
            "",
        ] {
            assert!(matches!(base(from), Err(ListError::Address(_))), "{from}");
        }
    }
}
