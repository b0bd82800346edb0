//! `/ws/leaderboard`: the leaderboard now, and again after every change.

use std::sync::Arc;
use std::time::Duration;

use actix_ws::{Message, MessageStream, Session};
use futures_util::StreamExt;

use super::driver::SEND_LIMIT;
use super::protocol::Closing;
use crate::app::AppState;

/// How often a quiet client is asked whether it is there.
const PING_EVERY: Duration = Duration::from_secs(20);

/// Sends `frame` of the arena at once and after every new leaderboard, until the client is gone.
pub async fn follow(
    app: Arc<AppState>,
    frame: impl Fn(&AppState) -> String,
    mut session: Session,
    mut inbox: MessageStream,
) {
    let mut standings = app.standings.changes();
    let draining = app.tasks.draining();
    let mut heartbeat = tokio::time::interval(PING_EVERY);
    let mut changed = true;
    loop {
        if std::mem::take(&mut changed) {
            let sent = tokio::time::timeout(SEND_LIMIT, session.text(frame(&app))).await;
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        tokio::select! {
            // The sender lives in `app`, so waiting cannot fail.
            news = standings.changed() => changed = news.is_ok(),
            message = inbox.next() => match message {
                Some(Ok(Message::Ping(payload))) => if session.pong(&payload).await.is_err() { return },
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
            _ = heartbeat.tick() => if session.ping(b"").await.is_err() { return },
            () = draining.cancelled() => {
                // The client may be gone already, which is what closing asks for.
                let _ = session.close(Some(Closing::Restart.into())).await;
                return;
            }
        }
    }
    // As above: a client that is gone needs no goodbye.
    let _ = session.close(None).await;
}
