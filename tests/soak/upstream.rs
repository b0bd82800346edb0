//! Model server: every request gets different words, and all of them are recorded, so that any text can be traced to its request.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::checker::evidence::Written;

/// Length and speed of the models' replies.
#[derive(Debug, Clone)]
pub(crate) struct Tempo {
    /// Number of words of one reply.
    words: Range<usize>,
    /// Pause before each word, in milliseconds.
    pause_ms: Range<u64>,
}

impl Tempo {
    /// Like real models: a reply takes about two seconds.
    pub(crate) const REAL: Self = Self { words: 20..50, pause_ms: 30..70 };
    /// Short replies, so that the load is mostly votes.
    pub(crate) const QUICK: Self = Self { words: 2..6, pause_ms: 1..10 };
    /// Slow replies, so that events can occur during them.
    pub(crate) const SLOW: Self = Self { words: 20..21, pause_ms: 100..150 };
}

/// Model server that runs until it is dropped.
pub(crate) struct Upstream {
    port: u16,
    written: Arc<Mutex<Vec<Written>>>,
    acceptor: JoinHandle<()>,
}

impl Upstream {
    pub(crate) async fn start(seed: u64, tempo: Tempo) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let written = Arc::default();
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&written), seed, tempo));
        Self { port, written, acceptor }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns every request so far with its reply.
    pub(crate) fn written(&self) -> Vec<Written> {
        self.written.lock().unwrap().clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, written: Arc<Mutex<Vec<Written>>>, seed: u64, tempo: Tempo) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&written), seed, tempo.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers one request after the other until the client disconnects.
async fn serve(
    mut stream: TcpStream,
    written: Arc<Mutex<Vec<Written>>>,
    seed: u64,
    tempo: Tempo,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some(body) = read_body(&mut stream, &mut buffer).await? {
        let (words, pauses) = take_down(&body, &written, seed, &tempo);
        stream.write_all(HEAD.as_bytes()).await?;
        for (word, pause) in words.iter().zip(pauses) {
            tokio::time::sleep(pause).await;
            let delta = json!({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]});
            stream.write_all(&chunk(&delta.to_string())).await?;
        }
        let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        stream.write_all(&[chunk(&finish.to_string()), chunk("[DONE]"), b"0\r\n\r\n".to_vec()].concat()).await?;
    }
    Ok(())
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(data: &str) -> Vec<u8> {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()
}

/// Records the request and its reply, before any of it is sent.
fn take_down(body: &Value, written: &Mutex<Vec<Written>>, seed: u64, tempo: &Tempo) -> (Vec<String>, Vec<Duration>) {
    let mut written = written.lock().unwrap();
    let number = written.len();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::try_from(number).unwrap() + 1_000_000);
    let words: Vec<String> = (0..rng.random_range(tempo.words.clone())).map(|at| format!("词{number}.{at} ")).collect();
    let pauses = words.iter().map(|_| Duration::from_millis(rng.random_range(tempo.pause_ms.clone()))).collect();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    written.push(Written {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        conversation: messages.iter().filter_map(|said| said["content"].as_str().map(str::to_owned)).collect(),
        text: words.concat(),
    });
    (words, pauses)
}

async fn read_body(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Value>> {
    let head_end = loop {
        if let Some(position) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break position + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let end = head_end + length.unwrap_or(0_usize);
    while buffer.len() < end {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&buffer[head_end..end]).unwrap_or_default();
    buffer.drain(..end);
    Ok(Some(body))
}
