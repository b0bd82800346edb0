//! HTTP requests to a provider, bounded in time and size, and only to addresses allowed for models: no redirect is followed.

use std::time::Duration;

use ipnet::IpNet;
use reqwest::{Response, Url, header};
use serde::Deserialize;

use crate::allowed_addresses::AllowedAddresses;
use crate::llm::{HttpClient, connection_error, http_client_within};

/// Connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Timeout of a whole response; the user waits meanwhile.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(6);
/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 256 << 10;

/// Error codes that refuse the client rather than the user's code (RFC 6749, 5.2).
const CLIENT_REFUSALS: [&str; 5] =
    ["invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope"];

/// Error of a request. No variant contains text of the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HttpError {
    #[error("no HTTPS client could be made: install the system's certificates (ca-certificates)")]
    NoClient,
    #[error("its address cannot be used, or is out of reach: see providers.private_networks")]
    Address,
    #[error("{0}")]
    Connection(String),
    #[error("it answers with status {0}")]
    Status(u16),
    #[error(
        "it refuses the client of this arena ({0}): check oidc.client_id and oidc.client_secret_env, and the client's registration at the provider"
    )]
    Client(&'static str),
    #[error("its answer is too long")]
    TooLong,
}

/// A form with the client's credentials.
#[derive(Clone, Copy)]
pub(super) struct Form<'f> {
    pub(super) fields: &'f [(&'f str, &'f str)],
    /// Client id and secret for HTTP basic authentication.
    pub(super) basic: Option<(&'f str, &'f str)>,
}

/// Creates a client for the networks of the settings.
pub(super) fn client(private: &[IpNet]) -> Result<HttpClient, HttpError> {
    http_client_within(CONNECT_TIMEOUT, &AllowedAddresses::new(private)).map_err(|_| HttpError::NoClient)
}

/// Fetches a response body.
pub(super) async fn get(client: &HttpClient, address: &str) -> Result<Vec<u8>, HttpError> {
    let url = Url::parse(address).ok().filter(|url| client.reaches(url)).ok_or(HttpError::Address)?;
    let request = client.for_url(&url).get(url.clone()).header(header::ACCEPT, "application/json");
    body(request.timeout(RESPONSE_TIMEOUT).send().await.map_err(|error| failed(&error))?).await
}

/// Posts a form and returns the response body.
pub(super) async fn post(client: &HttpClient, url: &Url, form: Form<'_>) -> Result<Vec<u8>, HttpError> {
    if !client.reaches(url) {
        return Err(HttpError::Address);
    }
    let mut request = client.for_url(url).post(url.clone()).header(header::ACCEPT, "application/json");
    if let Some((name, secret)) = form.basic {
        request = request.basic_auth(encoded(name), Some(encoded(secret)));
    }
    let request =
        request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(form_text(form.fields));
    let response = request.timeout(RESPONSE_TIMEOUT).send().await.map_err(|error| failed(&error))?;
    match response.status().as_u16() {
        status @ (400 | 401) => Err(refusal(status, &bytes(response).await.unwrap_or_default())),
        _ => body(response).await,
    }
}

/// Classifies a refusal: of the client or of the user. Only known error codes are used.
fn refusal(status: u16, body: &[u8]) -> HttpError {
    #[derive(Deserialize)]
    struct TokenRefusal {
        error: String,
    }
    let said = serde_json::from_slice::<TokenRefusal>(body).map(|refusal| refusal.error).unwrap_or_default();
    match CLIENT_REFUSALS.into_iter().find(|word| *word == said) {
        Some(word) => HttpError::Client(word),
        None if status == 401 => HttpError::Client("status 401"),
        None => HttpError::Status(status),
    }
}

async fn body(response: Response) -> Result<Vec<u8>, HttpError> {
    if !response.status().is_success() {
        return Err(HttpError::Status(response.status().as_u16()));
    }
    bytes(response).await
}

async fn bytes(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if bytes.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(HttpError::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn failed(error: &reqwest::Error) -> HttpError {
    HttpError::Connection(connection_error(error).to_string())
}

/// Encodes fields as in forms and queries.
fn form_text(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://form").expect("a fixed address");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// Encodes a client id or secret for the header (RFC 6749, 2.3.1).
fn encoded(text: &str) -> String {
    form_text(&[("", text)])[1..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_secrets_are_encoded_before_they_are_joined() {
        assert_eq!(encoded("a:b c%/ä"), "a%3Ab+c%25%2F%C3%A4");
        assert_eq!(form_text(&[("code", "a&b=c"), ("x", "")]), "code=a%26b%3Dc&x=");
    }

    #[test]
    fn a_refused_client_is_distinguished_from_a_refused_code_and_nothing_else_is_quoted() {
        let refused = |status, body: &str| refusal(status, body.as_bytes());
        assert_eq!(refused(400, r#"{"error":"invalid_client"}"#), HttpError::Client("invalid_client"));
        assert_eq!(refused(401, r#"{"error":"canary"}"#), HttpError::Client("status 401"));
        for body in [r#"{"error":"invalid_grant"}"#, r#"{"error":"canary"}"#, r#"{"error":7}"#, "<html>", ""] {
            assert_eq!(refused(400, body), HttpError::Status(400), "{body}");
        }
        assert!(HttpError::Client("invalid_client").to_string().contains("oidc.client_secret_env"));
    }

    #[tokio::test]
    async fn what_is_out_of_reach_is_not_asked() {
        let client = client(&[]).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}/x", listener.local_addr().unwrap());
        assert_eq!(get(&client, &address).await, Err(HttpError::Address));
        let form = Form { fields: &[], basic: None };
        assert_eq!(post(&client, &address.parse().unwrap(), form).await, Err(HttpError::Address));
        let by_name = get(&client, &address.replace("127.0.0.1", "localhost")).await;
        assert!(matches!(by_name, Err(HttpError::Connection(_))), "{by_name:?}");
        assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody came");
    }
}
