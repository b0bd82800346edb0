//! Reads what a provider says of batches, each of it bounded in time and size.

use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::llm::ChatError;
use crate::llm::lines::LineBuffer;
use crate::llm::reading::parse_json;
use crate::llm::surrogates::without_half_characters;
use crate::llm::transport::{accept, connection_error};

/// Longest wait for the next bytes.
const NEXT_BYTES: Duration = Duration::from_secs(60);
/// Longest wait for the first bytes of an answer, while the request is still sent; files are large.
const FIRST_BYTES: Duration = Duration::from_secs(600);
/// Bytes of an answer at most.
const LONGEST_ANSWER: usize = 8 << 20;
/// Bytes of a file of results at most.
const LONGEST_FILE: usize = 2 << 30;

/// Sends a request and reads its answer, a JSON document.
pub(super) async fn read_body<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ChatError> {
    let mut response = open(request).await?;
    let mut body = Vec::new();
    while let Some(chunk) = next(&mut response).await? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_ANSWER {
            return Err(ChatError::Malformed(format!("more than {LONGEST_ANSWER} bytes about a batch")));
        }
    }
    let text = str::from_utf8(&body).map_err(|_| ChatError::Malformed("an answer that is not UTF-8".into()))?;
    parse_json(text)
}

/// Sends a request and reads its answer, a file of JSON lines: no more than `most` lines.
pub(super) async fn read_lines<T: DeserializeOwned>(
    request: RequestBuilder,
    most: usize,
    take: &mut (dyn FnMut(T) + Send),
) -> Result<(), ChatError> {
    let mut response = open(request).await?;
    let (mut lines, mut bytes, mut count) = (LineBuffer::default(), 0, 0);
    let too_much = || ChatError::Malformed(format!("more than {most} results of a batch, or too long ones"));
    let mut ended = false;
    while !ended {
        match next(&mut response).await? {
            Some(chunk) => {
                bytes += chunk.len();
                // Empty lines count too: a file of nothing else has no end either.
                if bytes > LONGEST_FILE {
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
            // One line that nobody understands is a request without a result; the others count.
            if let Ok(line) = parse_json(&without_half_characters(line)) {
                take(line);
            }
        }
    }
    Ok(())
}

async fn open(request: RequestBuilder) -> Result<Response, ChatError> {
    let sent = timeout(FIRST_BYTES, request.send()).await.map_err(|_| late(FIRST_BYTES))?;
    accept(sent.map_err(|error| connection_error(&error))?)
}

async fn next(response: &mut Response) -> Result<Option<Vec<u8>>, ChatError> {
    let chunk = timeout(NEXT_BYTES, response.chunk()).await.map_err(|_| late(NEXT_BYTES))?;
    Ok(chunk.map_err(|error| connection_error(&error))?.map(|chunk| chunk.to_vec()))
}

fn late(after: Duration) -> ChatError {
    ChatError::Timeout { awaited: "answer about a batch", after }
}
