//! The send queue of one client, bounded in frames and bytes.

use std::sync::Arc;
use std::time::Duration;

use actix_ws::{CloseReason, Closed, Session};
use bytes::Bytes;
use bytestring::ByteString;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::infra::time::process_stalls::timeout_unless_stalled;

/// Timeout after which a client that reads nothing is dropped.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size in bytes of queued text frames per socket. A longer frame is queued alone.
const MAX_QUEUED_BYTES: usize = 256 * 1024;

/// Sending half of a websocket. The websocket crate bounds the number of queued frames, and this type their bytes.
pub(super) struct Outbox {
    session: Session,
    /// One permit per byte that may be queued.
    byte_permits: Arc<Semaphore>,
}

/// Queued frame, which holds its permits until the connection has copied it into its write buffer.
struct WaitingFrame {
    text: String,
    _byte_permits: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for WaitingFrame {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Outbox {
    pub(super) fn new(session: Session) -> Self {
        Self { session, byte_permits: Arc::new(Semaphore::new(MAX_QUEUED_BYTES)) }
    }

    /// Queues a text frame as soon as there is room for it.
    pub(super) async fn text(&mut self, text: String) -> Result<(), Closed> {
        let bytes = u32::try_from(text.len().min(MAX_QUEUED_BYTES)).expect("the limit is far below that of the number");
        let byte_permits = Arc::clone(&self.byte_permits);
        let sending = async {
            let byte_permits = byte_permits.acquire_many_owned(bytes).await.map_err(|_| Closed)?;
            let frame = Bytes::from_owner(WaitingFrame { text, _byte_permits: byte_permits });
            self.session.text(ByteString::try_from(frame).expect("it was text before")).await
        };
        within_limit(sending).await
    }

    pub(super) async fn ping(&mut self) -> Result<(), Closed> {
        within_limit(self.session.ping(b"")).await
    }

    pub(super) async fn pong(&mut self, payload: &[u8]) -> Result<(), Closed> {
        within_limit(self.session.pong(payload)).await
    }

    pub(super) async fn close(self, reason: CloseReason) -> Result<(), Closed> {
        within_limit(self.session.close(Some(reason))).await
    }
}

/// Waits for the client to read, up to [`SEND_TIMEOUT`].
pub(super) async fn within_limit(sending: impl Future<Output = Result<(), Closed>>) -> Result<(), Closed> {
    timeout_unless_stalled(SEND_TIMEOUT, sending).await.unwrap_or(Err(Closed))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;

    use actix_web::body::{BoxBody, MessageBody};
    use actix_web::test::TestRequest;
    use actix_web::{FromRequest, web};
    use futures_util::FutureExt;

    use super::*;

    /// Returns the sending half of a new websocket, and the body that its connection reads.
    async fn socket() -> (Outbox, BoxBody) {
        let request = TestRequest::default()
            .insert_header(("connection", "upgrade"))
            .insert_header(("upgrade", "websocket"))
            .insert_header(("sec-websocket-version", "13"))
            .insert_header(("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="));
        let (request, mut payload) = request.to_http_parts();
        let payload = web::Payload::from_request(&request, &mut payload).await.unwrap();
        let (response, session, _inbox) = actix_ws::handle(&request, payload).unwrap();
        (Outbox::new(session), response.into_body())
    }

    /// Whether a frame of this many bytes can be queued at once.
    fn finds_room(outbox: &mut Outbox, bytes: usize) -> bool {
        outbox.text("x".repeat(bytes)).now_or_never().is_some_and(|sent| sent.is_ok())
    }

    /// Returns the number of bytes that the connection takes over for writing.
    async fn taken(body: &mut BoxBody) -> usize {
        poll_fn(|cx| Pin::new(&mut *body).poll_next(cx)).await.unwrap().unwrap().len()
    }

    #[actix_web::test]
    async fn frames_wait_up_to_so_many_bytes_and_a_longer_one_waits_alone() {
        let (mut outbox, mut body) = socket().await;
        assert!(finds_room(&mut outbox, MAX_QUEUED_BYTES / 2) && finds_room(&mut outbox, MAX_QUEUED_BYTES / 2));
        assert!(!finds_room(&mut outbox, 1), "nothing has left");
        assert!(taken(&mut body).await > MAX_QUEUED_BYTES);
        assert!(finds_room(&mut outbox, 10 * MAX_QUEUED_BYTES), "nothing else waits");
        assert!(!finds_room(&mut outbox, 1));
        assert!(taken(&mut body).await > 10 * MAX_QUEUED_BYTES);
        assert!(finds_room(&mut outbox, 1));
        assert!(!finds_room(&mut outbox, MAX_QUEUED_BYTES), "another one waits");
    }

    #[actix_web::test]
    async fn a_frame_that_waits_for_room_is_sent_when_the_one_before_it_has_left() {
        let (mut outbox, mut body) = socket().await;
        assert!(finds_room(&mut outbox, MAX_QUEUED_BYTES));
        let (sent, first) = tokio::join!(outbox.text("last".to_owned()), taken(&mut body));
        assert!(sent.is_ok() && first > MAX_QUEUED_BYTES);
        assert!(taken(&mut body).await > "last".len());
    }
}
