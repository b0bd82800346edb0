//! Scripted provider on a free port: it sends exact bytes per model name and detects when a client disconnects.
//!
//! Real TCP and hand-written HTTP, because the relevant faults are below the level of a server library: a reset in mid-stream, a character
//! split over two packets, a body that is not an event stream. Scripts wait on [`Gate`]s, so a test decides when the next bytes are sent
//! and never sleeps.

mod script;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use script::Step;
pub(crate) use script::{Gate, MODES, Script, clock, delta};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::TIMEOUT;

/// Maximum wait for the end of answers. Shorter than the program's limits for silent models, which also end them.
const UNTIL_ENDED: Duration = Duration::from_secs(15);

/// Key of every model and path without a script.
pub(crate) const ANYTHING_ELSE: &str = "*";

/// Received request.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// All header lines in lower case.
    pub(crate) head: String,
    /// JSON body; `Null` without a body or with another type.
    pub(crate) body: Value,
    /// Raw body.
    pub(crate) text: String,
}

impl Received {
    /// Returns the last message of the conversation.
    pub(crate) fn prompt(&self) -> &str {
        self.body["messages"].as_array().and_then(|said| said.last()?["content"].as_str()).unwrap_or_default()
    }
}

/// Builds an answer from a request.
pub(crate) type Responder = Arc<dyn Fn(&Received) -> Script + Send + Sync>;

/// Running server; dropping it closes every connection.
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

    /// Returns `http://127.0.0.1:PORT`, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answer to requests for this model, or to GET requests for this path.
    pub(crate) fn script(&self, model_or_path: &str, script: Script) {
        self.scripts(model_or_path, [script]);
    }

    /// Sets the answers to the next requests; the last script is repeated.
    pub(crate) fn scripts(&self, model_or_path: &str, scripts: impl IntoIterator<Item = Script>) {
        self.shared.scripts.lock().unwrap().insert(model_or_path.to_owned(), scripts.into_iter().collect());
    }

    /// Computes the answer to each request for this model.
    pub(crate) fn respond(&self, model: &str, responder: impl Fn(&Received) -> Script + Send + Sync + 'static) {
        self.shared.responders.lock().unwrap().insert(model.to_owned(), Arc::new(responder));
    }

    /// Waits until this number of requests are received.
    pub(crate) async fn until_received(&self, count: usize) {
        let mut arrived = self.shared.arrived.subscribe();
        let reached = tokio::time::timeout(TIMEOUT, arrived.wait_for(|arrived| *arrived >= count)).await;
        assert!(reached.is_ok(), "{} requests came, not {count}", *self.shared.arrived.borrow());
    }

    /// Returns all requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Returns the number of active answers.
    pub(crate) fn active(&self) -> usize {
        *self.shared.active.borrow()
    }

    /// Returns the maximum number of concurrently active answers.
    pub(crate) fn most_active(&self) -> usize {
        self.shared.most_active.load(Ordering::SeqCst)
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until this many answers are active; 0 after a cancelled reply shows that the connection was closed.
    pub(crate) async fn until_active(&self, count: usize) {
        self.until_active_for(count, UNTIL_ENDED).await;
    }

    /// Like [`Upstream::until_active`], with another timeout.
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

/// Plays a script; returns false if the connection is to be closed.
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
    // Lets the next chunk be a separate packet where possible.
    tokio::task::yield_now().await;
    Ok(())
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
