//! A scripted provider on a free port: it plays exact bytes per model name and sees when a client goes away.
//!
//! Real TCP and hand-written HTTP, because the faults that matter lie below what a server library lets one do: a reset
//! in mid-stream, a character split over two packets, a body that is no event stream. Scripts wait on [`Gate`]s, so a
//! test decides when the next bytes come and never sleeps.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// The longest that a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stands for every model and path that has no answer of its own.
pub(crate) const ANYTHING_ELSE: &str = "*";

/// Every fault and difference that [`Script::mode`] knows.
pub(crate) const MODES: [&str; 19] = [
    "ok", "hang", "hangmid", "slow", "err500", "err429", "err401", "reset", "garbage", "badjson", "nodone", "split",
    "crlf", "empty", "huge", "errmid", "long", "leak", "plain500",
];

/// A door that a test opens; every script that waits at it goes on.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// These bytes as they stand.
    Raw(Vec<u8>),
    /// These bytes as one chunk of a chunked body, flushed.
    Chunk(Vec<u8>),
    Wait(Gate),
    Pause(Duration),
    /// A chat completions event whose text is when it was sent, in microseconds by [`clock`].
    InputVersion,
    Hang,
    /// Ends the connection with a TCP reset.
    Reset,
    /// Closes the connection in an orderly way, without the end of the body.
    Close,
}

/// What the server answers to one request.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    steps: Vec<Step>,
}

impl Script {
    /// Status 200 and the head of a chunked event stream.
    pub(crate) fn stream() -> Self {
        Self::stream_of("text/event-stream; charset=utf-8")
    }

    /// Status 200 and the head of a chunked body of this type, with headers that tell who the model is.
    pub(crate) fn stream_of(content_type: &str) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nx-model: canary-header\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        Self { steps: vec![Step::Raw(head.into_bytes())] }
    }

    /// A whole answer; `headers` are lines that end in `\r\n`.
    pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Self {
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
        Self { steps: vec![Step::Raw(text.into_bytes())] }
    }

    /// Exactly these bytes.
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { steps: vec![Step::Raw(bytes.into())] }
    }

    /// Status 200 with a JSON body.
    pub(crate) fn json(body: &Value) -> Self {
        Self::whole("200 OK", "content-type: application/json\r\n", &body.to_string())
    }

    /// No byte; what follows is up to the next steps.
    pub(crate) fn nothing() -> Self {
        Self { steps: Vec::new() }
    }

    /// Nothing at all, forever.
    pub(crate) fn silence() -> Self {
        Self::nothing().hang()
    }

    /// A chat completions stream of these pieces, with every ending that is usual.
    pub(crate) fn openai<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let opened = Self::stream().event(&delta(&json!({"role": "assistant", "content": ""})));
        let told = pieces.into_iter().fold(opened, |script, piece| script.text(piece));
        told.event(&finish()).event("[DONE]").end()
    }

    /// An Ollama stream of these pieces.
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

    /// A Messages API stream of these pieces.
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

    /// A fault or a difference by its name, one of [`MODES`]. Faults come after the two pieces `"one "` and `"two "`,
    /// where they come in mid-stream.
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

    /// One event with this data.
    pub(crate) fn event(self, data: &str) -> Self {
        self.chunk(format!("data: {data}\n\n"))
    }

    /// One chat completions event with this text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.event(&delta(&json!({"content": text})))
    }

    fn named_event(self, data: &Value) -> Self {
        self.chunk(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
    }

    /// One chunk of the body.
    pub(crate) fn chunk(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::Chunk(bytes.as_ref().to_vec()));
        self
    }

    /// Waits until the test opens the gate.
    pub(crate) fn wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Has the last step wait until the test opens the gate.
    pub(crate) fn last_step_behind(mut self, gate: &Gate) -> Self {
        let last = self.steps.len() - 1;
        self.steps.insert(last, Step::Wait(gate.clone()));
        self
    }

    /// Waits for a while: only where the slowness itself is the point.
    pub(crate) fn pause(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Pause(pause));
        self
    }

    /// A chat completions stream of so many words, one each `gap`: each says when it was sent, by [`clock`].
    pub(crate) fn stamped(words: usize, gap: Duration) -> Self {
        let mut script = (0..words).fold(Self::stream(), |mut script, _| {
            script.steps.extend([Step::Pause(gap), Step::InputVersion]);
            script
        });
        script.steps.push(Step::Pause(gap));
        script.event(&finish()).event("[DONE]").end()
    }

    /// Sends nothing more and keeps the connection.
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

    /// The end of the chunked body.
    pub(crate) fn end(mut self) -> Self {
        self.steps.push(Step::Raw(b"0\r\n\r\n".to_vec()));
        self
    }
}

/// A chat completions chunk, full of things that tell who the model is.
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

/// The emoji of every event is cut in two.
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

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// All header lines in lower case.
    pub(crate) head: String,
    /// `Null` where there was none, or none of JSON.
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
}

impl Received {
    /// The last message of the conversation.
    pub(crate) fn prompt(&self) -> &str {
        self.body["messages"].as_array().and_then(|said| said.last()?["content"].as_str()).unwrap_or_default()
    }
}

/// Makes an answer out of a request.
pub(crate) type Responder = Arc<dyn Fn(&Received) -> Script + Send + Sync>;

/// The running server; dropping it closes every connection.
pub(crate) struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    responders: Mutex<HashMap<String, Responder>>,
    scripts: Mutex<HashMap<String, VecDeque<Script>>>,
    received: Mutex<Vec<Received>>,
    active: watch::Sender<usize>,
    most_active: AtomicUsize,
    arrived: watch::Sender<usize>,
    connections: AtomicUsize,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, acceptor }
    }

    /// `http://127.0.0.1:PORT`, without a slash at its end.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets what is answered from now on to requests for this model, or to GET requests for this path.
    pub(crate) fn script(&self, model_or_path: &str, script: Script) {
        self.scripts(model_or_path, [script]);
    }

    /// Sets what is answered to each next request; the last script stays.
    pub(crate) fn scripts(&self, model_or_path: &str, scripts: impl IntoIterator<Item = Script>) {
        self.shared.scripts.lock().unwrap().insert(model_or_path.to_owned(), scripts.into_iter().collect());
    }

    /// Has each request for this model answered by what it holds.
    pub(crate) fn respond(&self, model: &str, responder: impl Fn(&Received) -> Script + Send + Sync + 'static) {
        self.shared.responders.lock().unwrap().insert(model.to_owned(), Arc::new(responder));
    }

    /// Waits until so many requests have come.
    pub(crate) async fn until_received(&self, count: usize) {
        let mut arrived = self.shared.arrived.subscribe();
        let reached = tokio::time::timeout(PATIENCE, arrived.wait_for(|arrived| *arrived >= count)).await;
        assert!(reached.is_ok(), "{} requests came, not {count}", *self.shared.arrived.borrow());
    }

    /// All requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Answers under way.
    pub(crate) fn active(&self) -> usize {
        *self.shared.active.borrow()
    }

    /// The most answers that were ever under way together.
    pub(crate) fn most_active(&self) -> usize {
        self.shared.most_active.load(Ordering::SeqCst)
    }

    /// Connections accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until this many answers are under way; 0 after a cancelled reply shows that the connection was closed.
    pub(crate) async fn until_active(&self, count: usize) {
        self.until_active_for(count, PATIENCE).await;
    }

    /// As [`Upstream::until_active`], for what takes longer.
    pub(crate) async fn until_active_for(&self, count: usize, patience: Duration) {
        let mut active = self.shared.active.subscribe();
        let reached = tokio::time::timeout(patience, active.wait_for(|active| *active == count)).await;
        assert!(reached.is_ok(), "{} answers under way, not {count}", self.active());
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        connections.spawn(serve(stream, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one connection until either end closes it.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let script = shared.script_for(&request);
        shared.received.lock().unwrap().push(request);
        shared.arrived.send_modify(|arrived| *arrived += 1);
        shared.active.send_modify(|active| *active += 1);
        shared.most_active.fetch_max(*shared.active.borrow(), Ordering::SeqCst);
        let played = play(&mut stream, script).await;
        shared.active.send_modify(|active| *active -= 1);
        if !played? {
            break;
        }
    }
    Ok(())
}

impl Shared {
    fn script_for(&self, request: &Received) -> Script {
        let key = request.body["model"].as_str().unwrap_or(&request.path);
        if let Some(responder) = self.responders.lock().unwrap().get(key).cloned() {
            return responder(request);
        }
        let mut scripts = self.scripts.lock().unwrap();
        let Some(queue) = scripts.get_mut(key) else {
            if let Some(responder) = self.responders.lock().unwrap().get(ANYTHING_ELSE).cloned() {
                return responder(request);
            }
            return Script::whole("404 Not Found", "content-type: text/plain\r\n", "unknown model CANARY");
        };
        if queue.len() > 1 { queue.pop_front().unwrap() } else { queue.front().cloned().unwrap() }
    }
}

/// False where the connection is to be closed.
async fn play(stream: &mut TcpStream, script: Script) -> std::io::Result<bool> {
    for step in script.steps {
        let (mut reader, mut writer) = stream.split();
        match step {
            Step::Raw(bytes) => writer.write_all(&bytes).await?,
            Step::Chunk(bytes) => write_chunk(&mut writer, &bytes).await?,
            Step::InputVersion => {
                let event = format!("data: {}\n\n", delta(&json!({"content": format!("{} ", clock())})));
                write_chunk(&mut writer, event.as_bytes()).await?;
            }
            Step::Wait(gate) => {
                tokio::select! {
                    () = gate.opened() => {}
                    () = closed(&mut reader) => return Ok(false),
                }
            }
            Step::Pause(pause) => {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = closed(&mut reader) => return Ok(false),
                }
            }
            Step::Hang => {
                closed(&mut reader).await;
                return Ok(false);
            }
            Step::Reset => {
                stream.set_zero_linger()?;
                return Ok(false);
            }
            Step::Close => return Ok(false),
        }
    }
    Ok(true)
}

async fn write_chunk(writer: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    writer.write_all(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()).await?;
    // The next chunk shall be a packet of its own where that can be had.
    tokio::task::yield_now().await;
    Ok(())
}

/// Microseconds since this process asked for the first time.
pub(crate) fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_micros()).unwrap()
}

/// Returns once the client has closed the connection.
async fn closed(reader: &mut (impl AsyncReadExt + Unpin)) {
    let mut byte = [0];
    while matches!(reader.read(&mut byte).await, Ok(1)) {}
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Received>> {
    let head_end = loop {
        if let Some(position) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break position + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let lower = head.to_lowercase();
    let length: usize =
        lower.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    while buffer.len() < head_end + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&buffer[head_end..head_end + length]).unwrap_or_default();
    let text = String::from_utf8_lossy(&buffer[head_end..head_end + length]).into_owned();
    buffer.drain(..head_end + length);
    let mut first_line = head.lines().next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (first_line.next().unwrap_or_default(), first_line.next().unwrap_or_default());
    Ok(Some(Received { method, path, head: lower, body, text }))
}
