//! Reads a provider's responses about batches, bounded in time and size.

use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};

use crate::llm::ChatError;
use crate::llm::http::transport::{accept, connection_error};
use crate::llm::stream::line_buffer::LineBuffer;
use crate::llm::stream::lone_surrogates::without_half_characters;
use crate::llm::stream::stream_readers::parse_json;

/// Maximum wait for the next bytes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum wait for the first bytes of a response, including the upload of the request; files are large.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum duration of a response body: one byte a minute would never end either.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(600);
const FILE_TIMEOUT: Duration = Duration::from_secs(2 * 60 * 60);
/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Maximum size of a result file in bytes.
const MAX_FILE_BYTES: usize = 2 << 30;

/// Sends a request and parses its response, a JSON document.
pub(super) async fn read_body<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ChatError> {
    let mut body = Vec::new();
    let (mut response, began) = (send_request(request).await?, Instant::now());
    while let Some(chunk) = next(&mut response, began, DOCUMENT_TIMEOUT).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(ChatError::Malformed(format!("more than {MAX_RESPONSE_BYTES} bytes about a batch")));
        }
    }
    let text = str::from_utf8(&body).map_err(|_| ChatError::Malformed("an answer that is not UTF-8".into()))?;
    parse_json(text)
}

/// Sends a request and parses its response, a file of at most `most` JSON lines.
pub(super) async fn read_lines<T: DeserializeOwned>(
    request: RequestBuilder,
    most: usize,
    take: &mut (dyn FnMut(T) + Send),
) -> Result<(), ChatError> {
    let (mut response, began) = (send_request(request).await?, Instant::now());
    let (mut lines, mut bytes, mut count) = (LineBuffer::default(), 0, 0);
    let too_much = || ChatError::Malformed(format!("more than {most} results of a batch, or too long ones"));
    let mut ended = false;
    while !ended {
        match next(&mut response, began, FILE_TIMEOUT).await? {
            Some(chunk) => {
                bytes += chunk.len();
                // Empty lines count too: a file of only those never ends either.
                if bytes > MAX_FILE_BYTES {
                    return Err(too_much());
                }
                lines.push(&chunk);
            }
            None => {
                lines.push(b"\n");
                ended = true;
            }
        }
        while let Some(line) = lines.next_line().map_err(|error| ChatError::Malformed(error.to_string()))? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            count += 1;
            if count > most {
                return Err(too_much());
            }
            let line = str::from_utf8(line).map_err(|_| ChatError::Malformed("a line that is not UTF-8".into()))?;
            // An unreadable line is a request without a result; the others count.
            if let Ok(line) = parse_json(&without_half_characters(line)) {
                take(line);
            }
        }
    }
    Ok(())
}

async fn send_request(request: RequestBuilder) -> Result<Response, ChatError> {
    let sent = timeout(FIRST_BYTE_TIMEOUT, request.send()).await.map_err(|_| timeout_error(FIRST_BYTE_TIMEOUT))?;
    accept(sent.map_err(|error| connection_error(&error))?)
}

/// Reads the next bytes of a body that must be complete within `whole` after `began`.
async fn next(response: &mut Response, began: Instant, whole: Duration) -> Result<Option<Vec<u8>>, ChatError> {
    let wait = wait_for_next(began.elapsed(), whole);
    let after = if wait < IDLE_TIMEOUT { whole } else { IDLE_TIMEOUT };
    let chunk = timeout(wait, response.chunk()).await.map_err(|_| timeout_error(after))?;
    Ok(chunk.map_err(|error| connection_error(&error))?.map(|chunk| chunk.to_vec()))
}

fn wait_for_next(elapsed: Duration, whole: Duration) -> Duration {
    whole.saturating_sub(elapsed).min(IDLE_TIMEOUT)
}

fn timeout_error(after: Duration) -> ChatError {
    ChatError::Timeout { awaited: "answer about a batch", after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_goes_beyond_the_time_for_the_whole() {
        let seconds = Duration::from_secs;
        for (elapsed, wait) in [(0, 60), (540, 60), (541, 59), (600, 0), (9_999, 0)] {
            assert_eq!(wait_for_next(seconds(elapsed), DOCUMENT_TIMEOUT), seconds(wait), "{elapsed}");
        }
    }
}
