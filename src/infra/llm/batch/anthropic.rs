//! Anthropic's batch API: the requests in one body, and the results at an address that it returns.

use std::collections::HashMap;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::wire::read_lines;
use super::{
    BatchApi, BatchEnd, BatchProgress, BatchResult, BatchSearch, BatchState, ReadEvent, checked_id, read_body,
    whole_reply,
};
use crate::llm::ChatError;
use crate::llm::http::transport::Endpoint;

/// Path behind a model's address.
const REQUEST_PATH: &str = "/messages";
const BATCHES_PATH: &str = "/messages/batches";
/// Maximum number of listed batches that a search reads.
const MAX_SEARCHED_BATCHES: usize = 100;
/// HTTP statuses of the error types.
const STATUS_BY_ERROR_TYPE: [(&str, u16); 8] = [
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("api_error", 500),
    ("overloaded_error", 529),
];

/// Batch client of a Messages API.
pub(in crate::llm) struct AnthropicBatches {
    endpoint: Endpoint,
    read: ReadEvent,
}

#[derive(Deserialize)]
struct AnthropicBatch {
    id: String,
    processing_status: String,
    #[serde(default)]
    request_counts: HashMap<String, u64>,
    results_url: Option<String>,
}

#[derive(Deserialize)]
struct AnthropicPage {
    data: Vec<AnthropicBatch>,
}

#[derive(Deserialize)]
struct AnthropicLine {
    custom_id: String,
    result: LineResult,
}

#[derive(Deserialize)]
struct LineResult {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    error: Value,
}

impl AnthropicBatches {
    /// Creates the batch client for a model's endpoint.
    pub(in crate::llm) fn new(endpoint: &Endpoint, read: ReadEvent) -> Self {
        Self { endpoint: endpoint.clone(), read }
    }

    async fn sent(&self, requests: &[String]) -> Result<String, ChatError> {
        let body = format!("{{\"requests\":[{}]}}", requests.join(","));
        let request = self.endpoint.with_path_suffix(REQUEST_PATH, BATCHES_PATH).post_empty();
        let batch: AnthropicBatch = read_body(request.header(CONTENT_TYPE, "application/json").body(body)).await?;
        checked_id(&batch.id)
    }

    /// Returns the latest batches with the same number of requests: the provider stores no metadata, so only the results identify the
    /// batch.
    async fn found(&self, search: BatchSearch<'_>) -> Result<Vec<String>, ChatError> {
        let request =
            self.endpoint.with_path_suffix(REQUEST_PATH, &format!("{BATCHES_PATH}?limit={MAX_SEARCHED_BATCHES}")).get();
        let page: AnthropicPage = read_body(request).await?;
        let alike = page.data.iter().filter(|batch| batch.all() == search.requests as u64);
        alike.map(|batch| checked_id(&batch.id)).collect()
    }

    fn result(&self, line: AnthropicLine) -> BatchResult {
        let reply = match line.result.kind.as_str() {
            "succeeded" => {
                whole_reply(&line.result.message.to_string(), self.read).map(|parts| self.endpoint.without_keys(parts))
            }
            "canceled" => Err(ChatError::Unanswered(BatchEnd::Cancelled)),
            "expired" => Err(ChatError::Unanswered(BatchEnd::Expired)),
            "errored" => Err(failure(&line.result.error)),
            _ => Err(ChatError::Reported),
        };
        BatchResult { key: line.custom_id, reply }
    }
}

/// Converts the error of one request to that of its HTTP status.
fn failure(error: &Value) -> ChatError {
    let name = error["error"]["type"].as_str().or(error["type"].as_str()).unwrap_or_default();
    match STATUS_BY_ERROR_TYPE.iter().find(|(known, _)| *known == name) {
        Some((_, status)) => ChatError::Status { status: *status, retry_after: None },
        None => ChatError::Reported,
    }
}

impl AnthropicBatch {
    fn count(&self, name: &str) -> u64 {
        self.request_counts.get(name).copied().unwrap_or_default()
    }

    fn all(&self) -> u64 {
        self.request_counts.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    fn progress(self) -> Result<BatchProgress, ChatError> {
        let (all, open) = (self.all(), self.count("processing"));
        let state = match self.processing_status.as_str() {
            "in_progress" | "canceling" => BatchState::UnderWay,
            "ended" => BatchState::Ended { files: self.results_url.into_iter().collect(), gap: BatchEnd::Missing },
            _ => return Err(ChatError::Malformed("a batch in an unknown state".into())),
        };
        Ok(BatchProgress { state, done: all - open, all })
    }
}

impl BatchApi for AnthropicBatches {
    fn encode(&self, key: &str, body: Map<String, Value>) -> String {
        json!({"custom_id": key, "params": body}).to_string()
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ChatError>> {
        let request = self.endpoint.with_path_suffix(REQUEST_PATH, &format!("{BATCHES_PATH}?limit=1")).get();
        read_body::<AnthropicPage>(request).map(|page| page.map(drop)).boxed()
    }

    fn send<'a>(&'a self, _tag: &'a str, requests: &'a [String]) -> BoxFuture<'a, Result<String, ChatError>> {
        self.sent(requests).boxed()
    }

    fn find<'a>(&'a self, search: BatchSearch<'a>) -> BoxFuture<'a, Result<Vec<String>, ChatError>> {
        self.found(search).boxed()
    }

    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchProgress, ChatError>> {
        let request = self.endpoint.with_path_suffix(REQUEST_PATH, &format!("{BATCHES_PATH}/{id}")).get();
        async move { read_body::<AnthropicBatch>(request).await?.progress() }.boxed()
    }

    /// Reads the results at the provider's address, if that has the provider's own origin: the request carries the key.
    fn results<'a>(
        &'a self,
        files: &'a [String],
        most: usize,
        take: &'a mut (dyn FnMut(BatchResult) + Send),
    ) -> BoxFuture<'a, Result<(), ChatError>> {
        async move {
            for file in files {
                let endpoint = Url::parse(file).ok().and_then(|url| self.endpoint.at_same_origin(url));
                let elsewhere =
                    || ChatError::Malformed("results that lie at another address than the provider's".into());
                read_lines(endpoint.ok_or_else(elsewhere)?.get(), most, &mut |line| take(self.result(line))).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_line_is_the_failure_that_a_single_request_would_have() {
        let named = |name: &str| failure(&json!({"type": "error", "error": {"type": name, "message": "sk-SECRET"}}));
        assert!(named("invalid_request_error").is_request_error() && named("overloaded_error").is_retryable());
        assert!(named("rate_limit_error").is_retryable() && !named("authentication_error").is_retryable());
        assert_eq!((named("?"), failure(&Value::Null)), (ChatError::Reported, ChatError::Reported));
    }
}
