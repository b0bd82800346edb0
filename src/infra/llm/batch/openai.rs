//! OpenAI's batch API: a file of requests, a batch over it, and files of results.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::wire::read_lines;
use super::{
    BatchApi, BatchEnd, BatchProgress, BatchResult, BatchSearch, BatchState, ReadEvent, checked_id, plain_code,
    read_body, whole_reply,
};
use crate::llm::ChatError;
use crate::llm::http::transport::Endpoint;
use crate::llm::stream::lenient_field::lenient;

/// Path behind a model's address.
const REQUEST_PATH: &str = "/chat/completions";
/// Maximum number of pages of the batch list that a search reads.
const MAX_PAGES: usize = 20;
/// Maximum lag of a provider's clock behind ours, in seconds.
const CLOCK_SKEW: i64 = 3_600;

/// Batch client of a chat completions server.
pub(in crate::llm) struct OpenAiBatches {
    endpoint: Endpoint,
    read: ReadEvent,
}

#[derive(Deserialize)]
struct FileObject {
    id: String,
}

#[derive(Deserialize)]
struct OpenAiBatch {
    id: String,
    status: String,
    #[serde(default)]
    created_at: i64,
    #[serde(default, deserialize_with = "lenient")]
    request_counts: Option<RequestCounts>,
    output_file_id: Option<String>,
    error_file_id: Option<String>,
    errors: Option<Value>,
    metadata: Option<Value>,
}

#[derive(Default, Deserialize)]
struct RequestCounts {
    #[serde(default)]
    total: u64,
    #[serde(default)]
    completed: u64,
    #[serde(default)]
    failed: u64,
}

#[derive(Deserialize)]
struct OpenAiPage {
    data: Vec<OpenAiBatch>,
    #[serde(default)]
    has_more: bool,
}

#[derive(Deserialize)]
struct OpenAiLine {
    custom_id: String,
    response: Option<LineResponse>,
    error: Option<LineError>,
}

#[derive(Deserialize)]
struct LineResponse {
    status_code: u16,
    /// Raw body: its parser drops counts that overflow and keeps the reply.
    body: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct LineError {
    code: Option<Value>,
}

impl OpenAiBatches {
    /// Creates the batch client for a model's endpoint.
    pub(in crate::llm) fn new(endpoint: &Endpoint, read: ReadEvent) -> Self {
        Self { endpoint: endpoint.clone(), read }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.endpoint.with_path_suffix(REQUEST_PATH, path).get()
    }

    async fn upload(&self, tag: &str, requests: &[String]) -> Result<String, ChatError> {
        let boundary = format!("langya-{tag}");
        let request = self.endpoint.with_path_suffix(REQUEST_PATH, "/files").post_empty();
        let request = request.header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"));
        let file: FileObject = read_body(request.body(multipart(&boundary, requests))).await?;
        checked_id(&file.id)
    }

    async fn create(&self, tag: &str, file: &str) -> Result<String, ChatError> {
        let body = json!({
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {"langya": tag},
        });
        let Value::Object(body) = body else { unreachable!("an object was written") };
        let batch: FileObject = read_body(self.endpoint.with_path_suffix(REQUEST_PATH, "/batches").post(&body)).await?;
        checked_id(&batch.id)
    }

    async fn found(&self, search: BatchSearch<'_>) -> Result<Vec<String>, ChatError> {
        let (mut after, earliest) = (String::new(), search.made_at.0 / 1_000 - CLOCK_SKEW);
        for _ in 0..MAX_PAGES {
            let page: OpenAiPage = read_body(self.get(&format!("/batches?limit=100{after}"))).await?;
            let is_ours = |batch: &&OpenAiBatch| {
                batch.metadata.as_ref().and_then(|data| data["langya"].as_str()).is_some_and(|tag| tag == search.tag)
            };
            if let Some(batch) = page.data.iter().find(is_ours) {
                return Ok(vec![checked_id(&batch.id)?]);
            }
            match page.data.last() {
                Some(last) if page.has_more && last.created_at >= earliest => {
                    after = format!("&after={}", checked_id(&last.id)?);
                }
                _ => return Ok(Vec::new()),
            }
        }
        Ok(Vec::new())
    }

    fn result(&self, line: OpenAiLine) -> BatchResult {
        let code = line.error.and_then(|error| error.code);
        let reply = match (line.response, code.as_ref().and_then(Value::as_str)) {
            (_, Some("batch_expired")) => Err(ChatError::Unanswered(BatchEnd::Expired)),
            (_, Some("batch_cancelled")) => Err(ChatError::Unanswered(BatchEnd::Cancelled)),
            (Some(LineResponse { status_code: 200..=299, body }), _) => {
                let body = body.as_deref().map_or("null", RawValue::get);
                whole_reply(&as_event(body), self.read).map(|parts| self.endpoint.without_keys(parts))
            }
            (Some(LineResponse { status_code, .. }), _) => {
                Err(ChatError::Status { status: status_code, retry_after: None })
            }
            (None, _) => Err(ChatError::Reported),
        };
        BatchResult { key: line.custom_id, reply }
    }
}

/// JSON object with unparsed values.
type RawObject = BTreeMap<String, Box<RawValue>>;

/// Converts a whole reply to one stream event: its message becomes the delta. Other text is returned unchanged.
fn as_event(body: &str) -> String {
    with_deltas(body).unwrap_or_else(|_| body.to_owned())
}

fn with_deltas(body: &str) -> serde_json::Result<String> {
    let mut event: RawObject = serde_json::from_str(body)?;
    if let Some(choices) = event.get_mut("choices") {
        let each: Vec<Box<RawValue>> = serde_json::from_str(choices.get())?;
        let each: Vec<Box<RawValue>> = each.into_iter().map(with_delta).collect::<serde_json::Result<_>>()?;
        *choices = to_raw_value(&each)?;
    }
    serde_json::to_string(&event)
}

fn with_delta(choice: Box<RawValue>) -> serde_json::Result<Box<RawValue>> {
    let Ok(mut fields) = serde_json::from_str::<RawObject>(choice.get()) else { return Ok(choice) };
    if let Some(message) = fields.remove("message") {
        fields.insert("delta".to_owned(), message);
    }
    to_raw_value(&fields)
}

/// Builds the form with the file. Its lines are JSON, and no JSON line starts like the boundary.
fn multipart(boundary: &str, requests: &[String]) -> String {
    let head = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"langya.jsonl\"\r\ncontent-type: application/jsonl\r\n\r\n"
    );
    let size = requests.iter().map(|line| line.len() + 1).sum::<usize>();
    let mut form = String::with_capacity(head.len() + size + boundary.len() + 8);
    form.push_str(&head);
    for line in requests {
        form.push_str(line);
        form.push('\n');
    }
    form.push_str("\r\n--");
    form.push_str(boundary);
    form.push_str("--\r\n");
    form
}

impl OpenAiBatch {
    fn progress(self) -> Result<BatchProgress, ChatError> {
        let ended = |gap| -> Result<BatchState, ChatError> {
            let files = self.output_file_id.iter().chain(&self.error_file_id).map(|id| checked_id(id));
            Ok(BatchState::Ended { files: files.collect::<Result<_, _>>()?, gap })
        };
        let state = match self.status.as_str() {
            "validating" | "in_progress" | "finalizing" | "cancelling" => BatchState::UnderWay,
            "completed" => ended(BatchEnd::Missing)?,
            "expired" => ended(BatchEnd::Expired)?,
            "cancelled" => ended(BatchEnd::Cancelled)?,
            "failed" => {
                let first = self.errors.as_ref().and_then(|errors| errors["data"][0]["code"].as_str());
                BatchState::Failed(plain_code(first))
            }
            _ => return Err(ChatError::Malformed("a batch in an unknown state".into())),
        };
        let counts = self.request_counts.unwrap_or_default();
        let done = counts.completed.saturating_add(counts.failed);
        Ok(BatchProgress { state, done, all: counts.total })
    }
}

impl BatchApi for OpenAiBatches {
    fn encode(&self, key: &str, body: Map<String, Value>) -> String {
        json!({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}).to_string()
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ChatError>> {
        read_body::<OpenAiPage>(self.get("/batches?limit=1")).map(|page| page.map(drop)).boxed()
    }

    fn send<'a>(&'a self, tag: &'a str, requests: &'a [String]) -> BoxFuture<'a, Result<String, ChatError>> {
        async move {
            let file = self.upload(tag, requests).await?;
            self.create(tag, &file).await
        }
        .boxed()
    }

    fn find<'a>(&'a self, search: BatchSearch<'a>) -> BoxFuture<'a, Result<Vec<String>, ChatError>> {
        self.found(search).boxed()
    }

    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchProgress, ChatError>> {
        async move { read_body::<OpenAiBatch>(self.get(&format!("/batches/{id}"))).await?.progress() }.boxed()
    }

    fn results<'a>(
        &'a self,
        files: &'a [String],
        most: usize,
        take: &'a mut (dyn FnMut(BatchResult) + Send),
    ) -> BoxFuture<'a, Result<(), ChatError>> {
        async move {
            for file in files {
                let request = self.get(&format!("/files/{file}/content"));
                read_lines(request, most, &mut |line| take(self.result(line))).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::AUTHORIZATION;
    use secrecy::SecretString;

    use super::*;
    use crate::config::{ModelSettings, ProviderKind};
    use crate::llm::http_client;
    use crate::llm::providers::openai::read_event;
    use crate::llm::stream::stream_readers::parse_json;
    use crate::llm::{ReplyPart, Usage};

    #[test]
    fn a_key_that_stands_in_a_reply_is_redacted() {
        let settings = ModelSettings::minimal("m", ProviderKind::Openai);
        let http = http_client(Duration::from_secs(1)).unwrap();
        let key = SecretString::from("sk-canary-0123456789");
        let endpoint = Endpoint::new(&settings, "http://127.0.0.1/v1", REQUEST_PATH, &http)
            .and_then(|endpoint| endpoint.with_key(&settings, AUTHORIZATION, "Bearer ", Some(&key)))
            .unwrap();
        let body = json!({"choices": [{"message": {"content": "Bearer sk-canary-0123456789"}}]});
        let line = json!({"custom_id": "k", "response": {"status_code": 200, "body": body}, "error": null});
        let found = OpenAiBatches::new(&endpoint, read_event).result(serde_json::from_value(line).unwrap());
        assert_eq!(found.reply, Ok(vec![ReplyPart::Text("Bearer [redacted]".into())]));
    }

    #[test]
    fn a_batch_that_is_counted_in_an_odd_way_has_its_results_all_the_same() {
        for counts in [r#"{"total":-1}"#, r#"{"completed":1e400}"#, "[]", "7", "null"] {
            let batch = format!(r#"{{"id":"b","status":"completed","output_file_id":"f","request_counts":{counts}}}"#);
            let progress = parse_json::<OpenAiBatch>(&batch).unwrap().progress().unwrap();
            let state = BatchState::Ended { files: vec!["f".to_owned()], gap: BatchEnd::Missing };
            assert_eq!(progress, BatchProgress { state, done: 0, all: 0 }, "{counts}");
        }
    }

    #[test]
    fn a_count_that_no_number_holds_takes_nothing_from_a_reply() {
        let line = r#"{"custom_id":"k","response":{"status_code":200,"body":{"usage":{"prompt_tokens":1e400},
            "choices":[{"index":0,"message":{"content":"Yes"},"finish_reason":"stop"}]}}}"#;
        let body = parse_json::<OpenAiLine>(line).unwrap().response.unwrap().body.unwrap();
        assert_eq!(whole_reply(&as_event(body.get()), read_event), Ok(vec![ReplyPart::Text("Yes".into())]));
    }

    #[test]
    fn a_whole_reply_is_read_like_an_event() {
        let read = |whole: &Value| whole_reply(&as_event(&whole.to_string()), read_event);
        let whole = json!({"object": "chat.completion", "usage": {"prompt_tokens": 7, "completion_tokens": 2}, "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": "Yes", "reasoning_content": "Hm"},
            "delta": {"role": "assistant", "content": ""},
            "finish_reason": "stop",
        }]});
        let parts = read(&whole).unwrap();
        let usage = ReplyPart::Usage(Usage { input: Some(7), output: Some(2) });
        assert_eq!(parts, [ReplyPart::Reasoning("Hm".into()), ReplyPart::Text("Yes".into()), usage]);
        for other in [json!(null), json!(5), json!({"choices": 1}), json!({"choices": ["?"]})] {
            assert!(!matches!(read(&other), Ok(parts) if !parts.is_empty()), "{other}");
        }
    }
}
