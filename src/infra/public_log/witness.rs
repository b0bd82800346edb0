//! Client of a witness that cosigns checkpoints (C2SP tlog-witness, `add-checkpoint`).

use std::time::Duration;

use reqwest::{StatusCode, Url, header};

use crate::llm::{HttpClient, connection_problem};

/// Response timeout.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response in bytes: a few signatures.
const MAX_RESPONSE_BYTES: usize = 16 << 10;
/// Content type of a response with the size of the tree that the witness knows.
const SIZE_TYPE: &str = "text/x.tlog.size";

/// Response of a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessAnswer {
    /// Signature lines.
    Signed(String),
    /// Size of the tree that it signed last, from which it needs a consistency proof.
    Knows(u64),
}

/// Error of a cosignature request. No variant contains text of the witness.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// The address is invalid or not allowed.
    #[error("its address cannot be used")]
    Address,
    /// The witness is unreachable.
    #[error("it cannot be asked: {0}")]
    Http(String),
    /// The witness refuses the request.
    #[error("it answers with status {status}{advice}", status = .0, advice = meaning(.0))]
    Status(StatusCode),
    /// The response is too long, or not text.
    #[error("its answer cannot be read")]
    Unreadable,
}

/// Explains a status of C2SP tlog-witness, with a remedy.
fn meaning(status: &StatusCode) -> &'static str {
    match status.as_u16() {
        300..=399 | 404 | 405 => ": check its url under public_log.witnesses",
        403 => ": it does not know this log, so give its operator the public key of the log",
        422 => ": it knows another history of this log",
        _ => "",
    }
}

/// Sends a request of [`add_checkpoint_request`](crate::domain::public_log::cosignature::add_checkpoint_request).
///
/// # Errors
/// [`WitnessError`].
pub async fn add_checkpoint(
    client: &HttpClient,
    address: &str,
    request: String,
) -> Result<WitnessAnswer, WitnessError> {
    let url = Url::parse(&format!("{}/add-checkpoint", address.trim_end_matches('/')));
    let url = url.ok().filter(|url| client.reaches(url)).ok_or(WitnessError::Address)?;
    let failed = |error: reqwest::Error| WitnessError::Http(connection_problem(&error));
    let sent = client.for_url(&url).post(url.clone()).timeout(RESPONSE_TIMEOUT).body(request).send();
    let mut response = sent.await.map_err(failed)?;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_size = kind.is_some_and(|kind| kind.split(';').next().map(str::trim) == Some(SIZE_TYPE));
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if bytes.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(WitnessError::Unreadable);
        }
        bytes.extend(chunk);
    }
    let text = String::from_utf8(bytes).map_err(|_| WitnessError::Unreadable)?;
    match status {
        StatusCode::OK => Ok(WitnessAnswer::Signed(text)),
        StatusCode::CONFLICT if is_size => {
            text.trim_end().parse().map(WitnessAnswer::Knows).map_err(|_| WitnessError::Unreadable)
        }
        status => Err(WitnessError::Status(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        for (status, words) in [(403, "public key"), (404, "its url"), (302, "its url"), (422, "another history")] {
            let error = WitnessError::Status(StatusCode::from_u16(status).unwrap()).to_string();
            assert!(error.contains(&status.to_string()) && error.contains(words), "{error}");
        }
        assert_eq!(WitnessError::Status(StatusCode::BAD_GATEWAY).to_string(), "it answers with status 502 Bad Gateway");
    }
}
