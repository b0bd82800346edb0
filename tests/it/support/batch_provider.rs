//! Scripted batch APIs of a provider, in the formats of OpenAI and Anthropic.
//!
//! It stores files and batches like a provider. A test sets the outcome of each batch, and counts the requests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::upstream::{ANYTHING_ELSE, Received, Script, Upstream};

/// Outcome of one request of a batch.
#[derive(Debug, Clone)]
pub(crate) enum RequestOutcome {
    /// Successful reply.
    Reply,
    /// HTTP status, as for a single request.
    Status(u16),
    /// No result line.
    Nothing,
    /// Expired before it was processed.
    Expired,
}

/// Scripted outcome of a batch.
#[derive(Clone)]
pub(crate) struct BatchPlan {
    /// Final status: completed, expired, cancelled or failed.
    pub(crate) status: &'static str,
    /// Outcome of each request by its position.
    pub(crate) line: fn(usize) -> RequestOutcome,
    /// Unrequested lines before the others; `KEY` is the key of the first request.
    pub(crate) noise: Vec<String>,
    /// Whether the response to its creation is never sent.
    pub(crate) is_silent: bool,
    /// Reported address of its results, in Anthropic's format.
    pub(crate) results_url: Option<String>,
}

impl Default for BatchPlan {
    fn default() -> Self {
        Self {
            status: "completed",
            line: |_| RequestOutcome::Reply,
            noise: Vec::new(),
            is_silent: false,
            results_url: None,
        }
    }
}

struct Batch {
    /// Key and body of each request.
    requests: Vec<(String, Value)>,
    metadata: Value,
    plan: BatchPlan,
    looks: usize,
}

/// Reply function of model and question.
type Says = Arc<dyn Fn(&str, &str) -> String + Send + Sync>;

#[derive(Default)]
struct Kept {
    files: Vec<String>,
    batches: Vec<Batch>,
    plans: VecDeque<BatchPlan>,
    is_held: bool,
}

/// Scripted provider.
#[derive(Clone)]
pub(crate) struct BatchProvider {
    kept: Arc<Mutex<Kept>>,
    says: Says,
    url: String,
}

impl BatchProvider {
    /// Serves batches at an upstream.
    pub(crate) fn serve(upstream: &Upstream, says: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Self {
        let provider = Self { kept: Arc::default(), says: Arc::new(says), url: upstream.url() };
        let serving = provider.clone();
        upstream.respond(ANYTHING_ELSE, move |request| serving.answer(request));
        provider
    }

    /// Sets the outcome of the next batch.
    pub(crate) fn plan(&self, plan: BatchPlan) {
        self.kept.lock().unwrap().plans.push_back(plan);
    }

    /// Holds all batches, or lets them end.
    pub(crate) fn hold(&self, is_held: bool) {
        self.kept.lock().unwrap().is_held = is_held;
    }

    /// Returns the number of requests in each batch.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.kept.lock().unwrap().batches.iter().map(|batch| batch.requests.len()).collect()
    }

    /// Counts the requests of a model per question, over all batches.
    pub(crate) fn asked(&self, model: &str) -> BTreeMap<String, usize> {
        let kept = self.kept.lock().unwrap();
        let bodies = kept.batches.iter().flat_map(|batch| &batch.requests).map(|(_, body)| body);
        let mut asked = BTreeMap::new();
        for body in bodies.filter(|body| body["model"] == model) {
            *asked.entry(question(body).to_owned()).or_default() += 1;
        }
        asked
    }

    /// Returns the bodies of all requests.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let kept = self.kept.lock().unwrap();
        kept.batches.iter().flat_map(|batch| &batch.requests).map(|(_, body)| body.clone()).collect()
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: &Received) -> Script {
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let parts: Vec<&str> = path.trim_start_matches("/v1/").split('/').collect();
        match (request.method.as_str(), &parts[..]) {
            ("POST", ["chat", "completions"]) => Script::openai([self.reply_text(&request.body).as_str()]),
            ("POST", ["files"]) => self.upload(request),
            ("POST", ["batches"]) => self.create_over_file(request),
            ("GET", ["batches"]) => self.list(|at, batch| batch.as_openai(at)),
            ("GET", ["batches", id]) => self.look(id, |at, batch| batch.as_openai(at)),
            ("GET", ["files", id, "content"]) => self.content(id),
            ("POST", ["messages", "batches"]) => self.create(request),
            ("GET", ["messages", "batches"]) => self.list(|at, batch| batch.as_anthropic(at, &self.url)),
            ("GET", ["messages", "batches", id]) => self.look(id, |at, batch| batch.as_anthropic(at, &self.url)),
            ("GET", ["messages", "batches", id, "results"]) => self.results(id),
            _ => Script::whole("404 Not Found", "content-type: text/plain\r\n", "unknown path"),
        }
    }

    fn upload(&self, request: &Received) -> Script {
        assert!(request.text.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{}", request.text);
        let (_, file) = request.text.split_once("application/jsonl\r\n\r\n").expect("a file");
        let (file, _) = file.rsplit_once("\r\n--langya-").expect("its end");
        let mut kept = self.kept.lock().unwrap();
        kept.files.push(file.to_owned());
        Script::json(&json!({"id": format!("file-{}", kept.files.len() - 1), "object": "file"}))
    }

    fn create_over_file(&self, request: &Received) -> Script {
        let body = &request.body;
        assert_eq!((&body["endpoint"], &body["completion_window"]), (&json!("/v1/chat/completions"), &json!("24h")));
        let at: usize = number_of(body["input_file_id"].as_str().unwrap());
        let file = self.kept.lock().unwrap().files[at].clone();
        let requests = file.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["method"], &line["url"]), (&json!("POST"), &json!("/v1/chat/completions")));
            (line["custom_id"].as_str().unwrap().to_owned(), line["body"].clone())
        });
        self.begin(requests.collect(), body["metadata"].clone(), |at, batch| batch.as_openai(at))
    }

    fn create(&self, request: &Received) -> Script {
        let requests = request.body["requests"].as_array().unwrap().iter();
        let requests = requests.map(|line| (line["custom_id"].as_str().unwrap().to_owned(), line["params"].clone()));
        let url = self.url.clone();
        self.begin(requests.collect(), Value::Null, move |at, batch| batch.as_anthropic(at, &url))
    }

    fn begin(&self, requests: Vec<(String, Value)>, metadata: Value, shown: impl Fn(usize, &Batch) -> Value) -> Script {
        assert!(!requests.is_empty() && requests.iter().all(|(_, body)| body.get("stream").is_none()));
        let mut kept = self.kept.lock().unwrap();
        let plan = kept.plans.pop_front().unwrap_or_default();
        let is_silent = plan.is_silent;
        kept.batches.push(Batch { requests, metadata, plan, looks: 0 });
        let at = kept.batches.len() - 1;
        if is_silent { Script::silence() } else { Script::json(&shown(at, &kept.batches[at])) }
    }

    fn list(&self, shown: impl Fn(usize, &Batch) -> Value) -> Script {
        let kept = self.kept.lock().unwrap();
        let all: Vec<Value> = kept.batches.iter().enumerate().map(|(at, batch)| shown(at, batch)).rev().collect();
        Script::json(&json!({"object": "list", "data": all, "has_more": false}))
    }

    /// Answers a status poll; the first poll of a batch always finds it in progress.
    fn look(&self, id: &str, shown: impl Fn(usize, &Batch) -> Value) -> Script {
        let mut kept = self.kept.lock().unwrap();
        let (at, is_held) = (number_of(id), kept.is_held);
        let Some(batch) = kept.batches.get_mut(at) else {
            return Script::whole("404 Not Found", "", "");
        };
        let answer = shown(at, batch);
        if !is_held {
            batch.looks += 1;
        }
        Script::json(&answer)
    }

    /// Returns results in another order than the requests.
    fn content(&self, id: &str) -> Script {
        let kept = self.kept.lock().unwrap();
        let (at, is_output) = (number_of(id), id.starts_with("out"));
        let batch = &kept.batches[at];
        let lines = batch.requests.iter().enumerate().rev().filter_map(|(at, (key, body))| {
            let (status, answer, error) = match (batch.plan.line)(at) {
                RequestOutcome::Reply => (200, self.completion(body), Value::Null),
                RequestOutcome::Status(status) => (status, json!({"error": {"message": "sk-CANARY"}}), Value::Null),
                RequestOutcome::Expired => (0, Value::Null, json!({"code": "batch_expired", "message": "CANARY"})),
                RequestOutcome::Nothing => return None,
            };
            let response = (status > 0).then(|| json!({"status_code": status, "request_id": "r", "body": answer}));
            let line = json!({"id": "batch_req", "custom_id": key, "response": response, "error": error});
            ((status == 200) == is_output).then(|| format!("{line}\n"))
        });
        let noise = batch.noise().filter(|_| is_output);
        Script::whole("200 OK", "", &noise.chain(lines).collect::<String>())
    }

    fn results(&self, id: &str) -> Script {
        let kept = self.kept.lock().unwrap();
        let batch = &kept.batches[number_of(id)];
        let lines = batch.requests.iter().enumerate().rev().filter_map(|(at, (key, body))| {
            let result = match (batch.plan.line)(at) {
                RequestOutcome::Reply => json!({"type": "succeeded", "message": {"type": "message",
                    "content": [{"type": "text", "text": self.reply_text(body)}],
                    "usage": {"input_tokens": 100, "output_tokens": 10}}}),
                RequestOutcome::Status(status) => {
                    let name = if status == 400 { "invalid_request_error" } else { "api_error" };
                    json!({"type": "errored", "error": {"type": "error", "error": {"type": name, "message": "CANARY"}}})
                }
                RequestOutcome::Expired => json!({"type": "expired"}),
                RequestOutcome::Nothing => return None,
            };
            Some(format!("{}\n", json!({"custom_id": key, "result": result})))
        });
        Script::whole("200 OK", "", &batch.noise().chain(lines).collect::<String>())
    }

    fn reply_text(&self, body: &Value) -> String {
        (self.says)(body["model"].as_str().unwrap(), question(body))
    }

    fn completion(&self, body: &Value) -> Value {
        json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": self.reply_text(body)}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10}})
    }
}

impl Batch {
    fn is_ended(&self) -> bool {
        self.looks > 0
    }

    fn noise(&self) -> impl Iterator<Item = String> {
        self.plan.noise.iter().map(|line| format!("{}\n", line.replace("KEY", &self.requests[0].0)))
    }

    fn as_openai(&self, at: usize) -> Value {
        let (all, is_ended) = (self.requests.len(), self.is_ended());
        let file = |name: &str| is_ended.then(|| format!("{name}-{at}"));
        json!({
            "id": format!("batch_{at}"),
            "object": "batch",
            "status": if is_ended { self.plan.status } else { "in_progress" },
            "created_at": 4_000_000_000_i64,
            "metadata": self.metadata,
            "request_counts": {"total": all, "completed": if is_ended { all } else { 0 }, "failed": 0},
            "output_file_id": file("out"),
            "error_file_id": file("err"),
            "errors": {"data": [{"code": "token_limit_exceeded", "message": "Enqueued by sk-CANARY"}]},
        })
    }

    fn as_anthropic(&self, at: usize, url: &str) -> Value {
        let (all, is_ended) = (self.requests.len(), self.is_ended());
        let own = format!("{url}/v1/messages/batches/msgbatch_{at}/results");
        let (processing, succeeded) = if is_ended { (0, all) } else { (all, 0) };
        json!({
            "id": format!("msgbatch_{at}"),
            "type": "message_batch",
            "processing_status": if is_ended { "ended" } else { "in_progress" },
            "request_counts":
                {"processing": processing, "succeeded": succeeded, "errored": 0, "canceled": 0, "expired": 0},
            "results_url": is_ended.then(|| self.plan.results_url.clone().unwrap_or(own)),
        })
    }
}

fn question(body: &Value) -> &str {
    body["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str()).unwrap_or_default()
}

/// Parses the number at the end of an id.
fn number_of(id: &str) -> usize {
    id.rsplit(['-', '_']).next().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}
