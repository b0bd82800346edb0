//! Connection of a visitor: connecting, losing it, and receiving frames.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::Visitor;
use crate::checker::evidence::Event;

/// Silence after which a waiting visitor sends a ping.
const QUIET: Duration = Duration::from_secs(1);
/// Silence after the ping after which the connection is abandoned.
const PONG: Duration = Duration::from_millis(500);
/// Maximum number of consecutive pongs without another frame.
const QUIET_LIMIT: usize = 5;
/// Reasons of a visitor who waited in vain since its last progress: the arena answers pings, or not even these.
const SILENCE: &str = "nothing but pongs";
const NO_PONG: &str = "no answer to a ping";

/// Returns whether the visitor left a connection on which it had waited in vain.
pub(crate) fn waited_in_vain(why: &str) -> bool {
    [SILENCE, NO_PONG].contains(&why)
}

/// Timeout of a connection attempt: the next one may reach the other instance. nginx continues to send visitors to an instance that hangs,
/// since the kernel still accepts its connections.
const CONNECT: Duration = Duration::from_millis(400);
/// Timeout of sending a message, after which the connection counts as lost.
pub(super) const SEND: Duration = Duration::from_secs(1);

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Frame or error received from the socket.
pub(super) enum Heard {
    Frame(Value, String),
    Lost(String),
}

impl Visitor {
    /// Connects again and resumes the battle in progress.
    pub(super) async fn come_back(&mut self) -> Result<(), String> {
        let Connected { socket, cookie, instance } = connect(&self.url, self.cookie.as_deref()).await?;
        self.cookie = self.cookie.take().or(cookie);
        self.socket = Some(socket);
        self.last_progress = Instant::now();
        if let Some(battle) = self.screen.battle.clone() {
            let after = self.screen.seq;
            let note = format!("at {} from {instance}", self.measurements.now());
            self.write_down(&battle, Event::Resumed { after, note });
            self.send(&json!({"type": "resume", "battle": battle, "after": after})).await?;
        }
        Ok(())
    }

    pub(super) async fn send(&mut self, message: &Value) -> Result<(), String> {
        self.last_progress = Instant::now();
        let Some(socket) = &mut self.socket else { return Err("no connection".into()) };
        match timeout(SEND, socket.send(Message::text(message.to_string()))).await {
            Ok(sent) => sent.map_err(|error| format!("sending failed: {error}")),
            Err(_) => Err("sending took too long".into()),
        }
    }

    /// Receives the next frame. A connection without any frame, even the answer to a ping, is lost.
    pub(super) async fn hear(&mut self) -> Heard {
        let Some(socket) = &mut self.socket else { return Heard::Lost("no connection".into()) };
        for _ in 0..QUIET_LIMIT {
            if let Ok(heard) = timeout(QUIET, next_text(socket)).await {
                return heard;
            }
            let pong = async {
                socket.send(Message::Ping(Vec::new().into())).await.ok()?;
                socket.next().await?.ok()
            };
            match timeout(PONG, pong).await {
                Ok(Some(Message::Text(text))) => return Heard::Frame(json_of(&text), text.to_string()),
                Ok(Some(Message::Close(_)) | None) => return Heard::Lost("connection lost".into()),
                Ok(Some(_)) => {}
                Err(_) => return Heard::Lost(NO_PONG.into()),
            }
        }
        Heard::Lost(SILENCE.into())
    }
}

pub(super) async fn next_text(socket: &mut Socket) -> Heard {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Heard::Frame(json_of(&text), text.to_string()),
            Some(Ok(Message::Close(frame))) => {
                let code = frame.map_or(0, |frame| u16::from(frame.code));
                return Heard::Lost(format!("closed with {code}"));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Heard::Lost("connection lost".into()),
        }
    }
}

/// New connection, the cookie that was set with it, and the instance that it reached.
pub(super) struct Connected {
    pub(super) socket: Socket,
    cookie: Option<String>,
    instance: String,
}

pub(super) async fn connect(url: &str, cookie: Option<&str>) -> Result<Connected, String> {
    let mut request = url.into_client_request().map_err(|error| error.to_string())?;
    if let Some(cookie) = cookie {
        request.headers_mut().insert("cookie", cookie.parse().expect("a cookie is plain text"));
        // As a page of the arena would: a cookie without it is refused.
        let origin = format!("http://{}", request.uri().authority().map_or("", |authority| authority.as_str()));
        request.headers_mut().insert("origin", origin.parse().expect("an address is plain text"));
    }
    let connecting = tokio_tungstenite::connect_async_with_config(request, None, true);
    match timeout(CONNECT, connecting).await {
        Ok(Ok((socket, answer))) => {
            let header = |name: &str| answer.headers().get(name)?.to_str().ok();
            let cookie = header("set-cookie").and_then(|set| set.split(';').next()).map(str::to_owned);
            Ok(Connected { socket, cookie, instance: header("x-instance").unwrap_or_default().to_owned() })
        }
        Ok(Err(tokio_tungstenite::tungstenite::Error::Http(answer))) => Err(format!("status {}", answer.status())),
        Ok(Err(_)) => Err("no connection".into()),
        Err(_) => Err("no connection in time".into()),
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
