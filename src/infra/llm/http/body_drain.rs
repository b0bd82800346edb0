//! Drains the rest of a finished reply's body, so that its connection can be reused: a new one may cost a TLS handshake.
//!
//! Runs in the background, bounded in time, bytes and number, and ends with the HTTP client or the runtime.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use parking_lot::Mutex;
use reqwest::Response;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Maximum duration of draining a body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of bytes drained.
const MAX_DRAINED_BYTES: usize = 64 << 10;
/// Maximum number of bodies drained at the same time.
const MAX_CONCURRENT_DRAINS: usize = 256;

/// Background tasks that drain the bodies of one HTTP client.
#[derive(Debug, Clone, Default)]
pub(super) struct BackgroundDrain(Arc<Mutex<JoinSet<()>>>);

impl BackgroundDrain {
    /// Drains the response in the background. Beyond the limits, and without a runtime, its connection is closed.
    pub(in crate::llm) fn read(&self, response: Response) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut under_way = self.0.lock();
        while under_way.try_join_next().is_some() {}
        if under_way.len() < MAX_CONCURRENT_DRAINS {
            under_way.spawn_on(read_to_end(response.bytes_stream()), &runtime);
        }
    }

    /// Waits until all draining has ended.
    #[cfg(test)]
    pub(in crate::llm) async fn ended(&self) {
        let under_way = std::mem::take(&mut *self.0.lock());
        under_way.join_all().await;
    }
}

async fn read_to_end<B: AsRef<[u8]>, E>(body: impl Stream<Item = Result<B, E>>) {
    let mut body = pin!(body);
    let rest = async {
        let mut left = MAX_DRAINED_BYTES;
        while let Some(Ok(chunk)) = body.next().await {
            match left.checked_sub(chunk.as_ref().len()) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    // On a timeout the connection is closed.
    let _ = timeout(DRAIN_TIMEOUT, rest).await;
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;

    use super::*;
    use crate::config::{ModelSettings, ProviderKind};
    use crate::llm::http_client;
    use crate::llm::providers::openai::OpenAiModel;
    use crate::llm::{ChatError, ChatModel, Message, ReplyPart};

    const FINISHED: &str = r#"data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}"#;

    /// Reads a request up to the end of its head; its body arrives with it or is skipped with the next head.
    async fn read_request(stream: &mut TcpStream) {
        let mut head = Vec::new();
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0, "the connection was closed");
        }
    }

    async fn write_chunk(stream: &mut TcpStream, text: &str) {
        stream.write_all(format!("{:x}\r\n{text}\n\n\r\n", text.len() + 2).as_bytes()).await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_whose_provider_is_late_with_the_end_is_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (reply_has_ended, late) = oneshot::channel();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // If the connection is not reused, the next request is refused.
            drop(listener);
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            read_request(&mut stream).await;
            stream.write_all(head).await.unwrap();
            write_chunk(&mut stream, FINISHED).await;
            late.await.unwrap();
            write_chunk(&mut stream, "data: [DONE]").await;
            stream.write_all(b"0\r\n\r\n").await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(head).await.unwrap();
            write_chunk(&mut stream, FINISHED).await;
            write_chunk(&mut stream, "data: [DONE]").await;
            stream.write_all(b"0\r\n\r\n").await.unwrap();
        });
        let http = http_client(Duration::from_secs(5)).unwrap();
        let settings = ModelSettings { base_url, ..ModelSettings::minimal("m", ProviderKind::Openai) };
        let model = OpenAiModel::new(&settings, None, &http).unwrap();
        let parts: [Option<Result<ReplyPart, ChatError>>; 2] =
            [Some(Ok(ReplyPart::Text("one".into()))), Some(Ok(ReplyPart::TextEnded))];
        let mut reply = model.reply(&[Message::user("Hi")]);
        assert_eq!([reply.next().await, reply.next().await], parts);
        // Like a visitor that does not wait for late data.
        drop(reply);
        reply_has_ended.send(()).unwrap();
        http.background_drain().ended().await;

        let mut reply = model.reply(&[Message::user("Hi again")]);
        assert_eq!([reply.next().await, reply.next().await], parts);
        server.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_without_end_is_read_within_limits_of_time_and_bytes() {
        // A hanging body: without the timeout, this never returns.
        read_to_end(stream::pending::<Result<[u8; 1], ()>>()).await;

        let chunks = Cell::new(0);
        let flood = stream::repeat_with(|| {
            chunks.set(chunks.get() + 1);
            Ok::<_, ()>([0_u8; 1 << 10])
        });
        read_to_end(flood).await;
        assert_eq!(chunks.get(), 65, "64 KiB, and one more that shows that there is more");
    }
}
