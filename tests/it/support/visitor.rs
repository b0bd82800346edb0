//! Visitor of the arena: a websocket with a session cookie, and the received frames.

use std::sync::LazyLock;

use futures_util::{FutureExt, SinkExt, StreamExt};
use langya::domain::battle::BattleId;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::TIMEOUT;

/// HTTP client without connection reuse. All tests share it: its construction takes more processor time than a request, and concurrent
/// constructions delay a started request longer than the arena waits for it.
static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| http_client().pool_max_idle_per_host(0).build().unwrap());

/// Read buffer of a websocket in bytes. It is zeroed before each read, and the default is 128 KiB.
const READ_AT_ONCE: usize = 4 * 1024;

/// Builds an HTTP client without the system's certificates. No test arena uses one, and reading them takes more processor time than most
/// requests.
pub(crate) fn http_client() -> reqwest::ClientBuilder {
    // An error means that another test of this process has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().tls_certs_only([])
}

/// Returns the client of all tests, for requests of any kind.
pub(crate) fn http() -> &'static reqwest::Client {
    &CLIENT
}

/// Requests a page.
pub(crate) async fn get(url: &str) -> reqwest::Response {
    get_as(url, "*/*").await
}

/// Like [`get`], with this `Accept` header.
pub(crate) async fn get_as(url: &str, accept: &str) -> reqwest::Response {
    CLIENT.get(url).header("accept", accept).send().await.unwrap()
}

/// Connected visitor.
pub(crate) struct Visitor {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    cookie: String,
    url: String,
    /// Text frames received.
    pub(crate) frames: Vec<String>,
    /// Header lines of the upgrade response.
    pub(crate) headers: Vec<String>,
}

impl Visitor {
    /// Connects a new visitor; the server creates the session.
    pub(crate) async fn connect(url: &str) -> Self {
        Self::connect_with(url, None).await.expect("the arena takes visitors")
    }

    /// Connects with one more header, such as a session cookie or an Origin.
    pub(crate) async fn connect_with(url: &str, header: Option<(&'static str, String)>) -> Result<Self, Error> {
        let mut request = format!("{}/ws/battle", url.replace("http://", "ws://")).into_client_request()?;
        let mut cookie = String::new();
        // As a page of the arena would; it is required with a cookie.
        request.headers_mut().insert("origin", url.parse().unwrap());
        if let Some((name, value)) = header {
            if name == "cookie" {
                cookie.clone_from(&value);
            }
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let reading = WebSocketConfig::default().read_buffer_size(READ_AT_ONCE);
        let (socket, answer) = tokio_tungstenite::connect_async_with_config(request, Some(reading), true).await?;
        let headers: Vec<String> =
            answer.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        if let Some(set) = answer.headers().get("set-cookie") {
            cookie = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        }
        Ok(Self { socket, cookie, url: url.to_owned(), frames: Vec::new(), headers })
    }

    /// Connects the same visitor a second time.
    pub(crate) async fn reconnect(&self) -> Self {
        Self::connect_with(&self.url, Some(("cookie", self.cookie.clone()))).await.expect("the arena is still there")
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_raw(Message::text(message.to_string())).await;
    }

    /// Sends any frame.
    pub(crate) async fn send_raw(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// Sends a message to a server that may be gone.
    pub(crate) async fn try_send(&mut self, message: Value) -> Result<(), Error> {
        self.socket.send(Message::text(message.to_string())).await
    }

    /// Returns the session cookie.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Starts a battle.
    pub(crate) async fn ask(&mut self, prompt: &str) {
        self.send(json!({"type": "start", "prompt": prompt})).await;
    }

    /// Votes on the latest battle and returns the answer.
    pub(crate) async fn vote(&mut self, outcome: &str) -> Value {
        self.send(json!({"type": "vote", "outcome": outcome})).await;
        self.next_of(&["revealed", "error"]).await
    }

    /// Returns the next text frame.
    pub(crate) async fn next(&mut self) -> Value {
        self.try_next().await.expect("the socket is open")
    }

    /// Returns the next text frame, or the code with which the server closed.
    pub(crate) async fn try_next(&mut self) -> Result<Value, Option<CloseCode>> {
        // One timeout for the whole wait: the server's pings must not extend it.
        let message = tokio::time::timeout(TIMEOUT, self.next_message()).await;
        let message = message.unwrap_or_else(|_| panic!("nothing came after {:?}", self.frames.last()))?;
        let frame = serde_json::from_str(&message).unwrap();
        self.frames.push(message);
        Ok(frame)
    }

    async fn next_message(&mut self) -> Result<String, Option<CloseCode>> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(frame))) => return Err(frame.map(|frame| frame.code)),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(None),
            }
        }
    }

    /// Reads the received frames and answers the pings among them. An unread connection is closed as silent.
    pub(crate) async fn answer_pings(&mut self) {
        while let Some(message) = self.next_message().now_or_never() {
            self.frames.push(message.expect("the socket is open"));
        }
        // Reading queues the answers.
        self.socket.flush().await.unwrap();
    }

    /// Reads until the next frame of one of these types.
    pub(crate) async fn next_of(&mut self, kinds: &[&str]) -> Value {
        loop {
            let frame = self.next().await;
            if kinds.iter().any(|kind| frame["type"] == *kind) {
                return frame;
            }
        }
    }

    /// Reads until both sides of the latest turn have some text.
    pub(crate) async fn until_both_begin(&mut self) {
        while self.texts().iter().any(String::is_empty) {
            self.next_of(&["delta"]).await;
        }
    }

    /// Reads until a vote may be cast, and returns the texts of sides A and B in the latest turn.
    pub(crate) async fn until_ready(&mut self) -> [String; 2] {
        let end = self.next_of(&["ready", "error"]).await;
        assert_eq!(end["type"], "ready", "no vote may be cast: {end}");
        self.texts()
    }

    /// Returns the texts of sides A and B in the latest turn, from all frames so far.
    pub(crate) fn texts(&self) -> [String; 2] {
        let mut texts: [String; 2] = Default::default();
        for frame in &self.frames {
            let frame: Value = serde_json::from_str(frame).unwrap();
            match frame["type"].as_str() {
                Some("battle") => texts = Default::default(),
                Some("delta") => {
                    texts[usize::from(frame["side"] == "b")].push_str(frame["text"].as_str().unwrap());
                }
                _ => {}
            }
        }
        texts
    }

    /// Returns the number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        let seqs = self.frames.iter().filter_map(|frame| serde_json::from_str::<Value>(frame).unwrap()["seq"].as_u64());
        seqs.max().unwrap_or(0)
    }

    /// Returns the id of the latest battle.
    pub(crate) fn battle(&self) -> BattleId {
        let ids =
            self.frames.iter().rev().filter_map(|frame| {
                serde_json::from_str::<Value>(frame).unwrap()["battle"].as_str().map(BattleId::new)
            });
        ids.into_iter().next().expect("a battle was seen")
    }

    /// Drops the connection without a close frame.
    pub(crate) fn drop_connection(self) {}
}
