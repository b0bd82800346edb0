//! Scripted answers of the provider: a sequence of bytes, waits and faults.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

/// Names of all faults and variants that [`Script::mode`] knows.
pub(crate) const MODES: [&str; 19] = [
    "ok", "hang", "hangmid", "slow", "err500", "err429", "err401", "reset", "garbage", "badjson", "nodone", "split",
    "crlf", "empty", "huge", "errmid", "long", "leak", "plain500",
];

/// Gate that a test opens; every script that waits at it continues.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn opened(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Raw bytes.
    Raw(Vec<u8>),
    /// Bytes as one chunk of a chunked body, flushed.
    Chunk(Vec<u8>),
    Wait(Gate),
    Pause(Duration),
    /// Chat completions event whose text is its send time, in microseconds by [`clock`].
    InputVersion,
    Hang,
    /// Ends the connection with a TCP reset.
    Reset,
    /// Closes the connection in an orderly way, without the end of the body.
    Close,
}

/// Answer to one request.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(super) steps: Vec<Step>,
}

impl Script {
    /// Begins with status 200 and the head of a chunked event stream.
    pub(crate) fn stream() -> Self {
        Self::stream_of("text/event-stream; charset=utf-8")
    }

    /// Begins with status 200 and the head of a chunked body of this type, with headers that reveal the model.
    pub(crate) fn stream_of(content_type: &str) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nx-model: canary-header\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        Self { steps: vec![Step::Raw(head.into_bytes())] }
    }

    /// Builds a complete answer; `headers` are lines that end in `\r
    /// `.
    pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Self {
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
        Self { steps: vec![Step::Raw(text.into_bytes())] }
    }

    /// Sends exactly these bytes.
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { steps: vec![Step::Raw(bytes.into())] }
    }

    /// Answers status 200 with a JSON body.
    pub(crate) fn json(body: &Value) -> Self {
        Self::whole("200 OK", "content-type: application/json\r\n", &body.to_string())
    }

    /// Begins without any bytes; the next steps define the answer.
    pub(crate) fn nothing() -> Self {
        Self { steps: Vec::new() }
    }

    /// Sends nothing and keeps the connection open.
    pub(crate) fn silence() -> Self {
        Self::nothing().hang()
    }

    /// Builds a chat completions stream of these pieces, with all usual end markers.
    pub(crate) fn openai<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let opened = Self::stream().event(&delta(&json!({"role": "assistant", "content": ""})));
        let told = pieces.into_iter().fold(opened, |script, piece| script.text(piece));
        told.event(&finish()).event("[DONE]").end()
    }

    /// Builds an Ollama stream of these pieces.
    pub(crate) fn ollama<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let line = |content: &str, done| {
            format!(
                "{}\n",
                json!({"model": "canary", "message": {"role": "assistant", "content": content}, "done": done})
            )
        };
        let told = pieces
            .into_iter()
            .fold(Self::stream_of("application/x-ndjson"), |script, piece| script.chunk(line(piece, false)));
        told.chunk(line("", true)).end()
    }

    /// Builds a Messages API stream of these pieces.
    pub(crate) fn anthropic<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let start = json!({"type": "message_start", "message": {"id": "msg_canary", "model": "canary", "content": []}});
        let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
        let opened = Self::stream().named_event(&start).named_event(&block).named_event(&json!({"type": "ping"}));
        let told = pieces.into_iter().fold(opened, |script, piece| {
            let delta = json!({"type": "text_delta", "text": piece});
            script.named_event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
        });
        told.named_event(&json!({"type": "content_block_stop", "index": 0}))
            .named_event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}))
            .named_event(&json!({"type": "message_stop"}))
            .end()
    }

    /// Builds a fault or variant by its name, one of [`MODES`]. Faults in mid-stream follow the two pieces `"one "` and `"two "`.
    pub(crate) fn mode(mode: &str) -> Self {
        let begun =
            || Self::stream().event(&delta(&json!({"role": "assistant", "content": ""}))).text("one ").text("two ");
        let error = |status: &str, headers: &str| {
            let body = json!({"error": {"message": "Incorrect API key provided: sk-CANARY", "type": "canary"}});
            Self::whole(status, &format!("content-type: application/json\r\n{headers}"), &body.to_string())
        };
        match mode {
            "ok" => Self::openai(["one ", "two ", "three"]),
            "hang" => Self::silence(),
            "hangmid" => begun().hang(),
            "slow" => begun().pause(Duration::from_millis(300)).text("three").event("[DONE]").end(),
            "err500" => error("500 Internal Server Error", ""),
            "err429" => error("429 Too Many Requests", "retry-after: 1\r\n"),
            "err401" => error("401 Unauthorized", ""),
            "plain500" => Self::whole("500 Internal Server Error", "content-type: text/plain\r\n", "Internal CANARY"),
            "reset" => begun().reset(),
            "garbage" => garbage(),
            "badjson" => begun().chunk("data: {\"choices\":[{\"delta\":{\"content\":\n\n").text("three").end(),
            "nodone" => begun().text("three").end(),
            "split" => split(),
            "crlf" => crlf(),
            "empty" => Self::openai([]),
            "huge" => begun().text(&"H".repeat(4 << 20)).end(),
            "errmid" => begun().event(r#"{"error":{"message":"overloaded sk-CANARY","type":"server_error"}}"#).end(),
            "long" => Self::openai(std::iter::repeat_n("word ", 2000)),
            "leak" => Self::openai(["I am ", "canary-model, ", "trained by Canary Corp."]),
            _ => panic!("unknown mode {mode:?}: one of {MODES:?}"),
        }
    }

    /// Adds one event with this data.
    pub(crate) fn event(self, data: &str) -> Self {
        self.chunk(format!("data: {data}\n\n"))
    }

    /// Adds one chat completions event with this text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.event(&delta(&json!({"content": text})))
    }

    fn named_event(self, data: &Value) -> Self {
        self.chunk(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
    }

    /// Adds one chunk of the body.
    pub(crate) fn chunk(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::Chunk(bytes.as_ref().to_vec()));
        self
    }

    /// Waits until the test opens the gate.
    pub(crate) fn wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Delays the last step until the test opens the gate.
    pub(crate) fn last_step_behind(mut self, gate: &Gate) -> Self {
        let last = self.steps.len() - 1;
        self.steps.insert(last, Step::Wait(gate.clone()));
        self
    }

    /// Pauses: only where slowness is under test.
    pub(crate) fn pause(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Pause(pause));
        self
    }

    /// Builds a chat completions stream of `words` words, one every `gap`, each with its send time by [`clock`].
    pub(crate) fn stamped(words: usize, gap: Duration) -> Self {
        let mut script = (0..words).fold(Self::stream(), |mut script, _| {
            script.steps.extend([Step::Pause(gap), Step::InputVersion]);
            script
        });
        script.steps.push(Step::Pause(gap));
        script.event(&finish()).event("[DONE]").end()
    }

    /// Sends nothing more and keeps the connection open.
    pub(crate) fn hang(mut self) -> Self {
        self.steps.push(Step::Hang);
        self
    }

    /// Ends the connection with a TCP reset.
    pub(crate) fn reset(mut self) -> Self {
        self.steps.push(Step::Reset);
        self
    }

    /// Closes the connection before the body's end.
    pub(crate) fn close(mut self) -> Self {
        self.steps.push(Step::Close);
        self
    }

    /// Ends the chunked body.
    pub(crate) fn end(mut self) -> Self {
        self.steps.push(Step::Raw(b"0\r\n\r\n".to_vec()));
        self
    }
}

/// Builds a chat completions chunk with many fields that reveal the model.
pub(crate) fn delta(delta: &Value) -> String {
    json!({"id": "chatcmpl-canary", "object": "chat.completion.chunk", "model": "canary-model",
        "system_fingerprint": "fp_canary", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    .to_string()
}

fn finish() -> String {
    json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        .to_string()
}

fn garbage() -> Script {
    let noise = |seed: u8| (0..97u8).map(move |i| i.wrapping_mul(31).wrapping_add(seed.wrapping_mul(57)) ^ 0xA5);
    (0..20).fold(Script::stream(), |script, seed| script.chunk(noise(seed).collect::<Vec<u8>>())).chunk("\n\n").end()
}

/// Builds a stream in which the emoji of every event is split.
fn split() -> Script {
    ["one 😀 ", "two 😀 ", "three"]
        .iter()
        .fold(Script::stream(), |script, piece| {
            let event = format!("data: {}\n\n", delta(&json!({"content": piece}))).into_bytes();
            let cut = event.iter().position(|&byte| byte == 0xF0).map_or(event.len() / 2, |start| start + 2);
            script.chunk(&event[..cut]).chunk(&event[cut..])
        })
        .event("[DONE]")
        .end()
}

fn crlf() -> Script {
    ["one ", "two ", "three"]
        .iter()
        .fold(Script::stream().chunk(": keep-alive comment\r\n\r\n"), |script, piece| {
            script.chunk(format!("data: {}\r\n\r\n: comment\r\n", delta(&json!({"content": piece}))))
        })
        .chunk("data: [DONE]\r\n\r\n")
        .end()
}

/// Returns the microseconds since the first call in this process.
pub(crate) fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_micros()).unwrap()
}
