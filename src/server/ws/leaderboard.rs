//! `/ws/leaderboard`: the current leaderboard, and each new one.

use std::sync::Arc;

use actix_ws::{Message, MessageStream, Session};
use bytestring::ByteString;
use futures_util::StreamExt;
use tokio::time::Instant;

use super::message_rate_limit::{FloodVerdict, MessageCounter};
use super::outbox::within_limit;
use super::ping_timeout::PING_INTERVAL;
use super::protocol::Closing;
use crate::state::AppState;

/// Sends `frame` of the arena at once and after every new leaderboard, until the client is gone.
pub async fn follow(
    app: Arc<AppState>,
    frame: impl Fn(&AppState) -> ByteString,
    mut session: Session,
    mut inbox: MessageStream,
) {
    let mut leaderboard = app.leaderboard.changes();
    let draining = app.tasks.draining();
    let mut heartbeat = tokio::time::interval(PING_INTERVAL);
    let mut flood = MessageCounter::new(Instant::now());
    let mut changed = true;
    let goodbye = loop {
        if std::mem::take(&mut changed) && within_limit(session.text(frame(&app))).await.is_err() {
            return;
        }
        let said = tokio::select! {
            // The sender is owned by `app`, so waiting cannot fail.
            news = leaderboard.changed() => {
                changed = news.is_ok();
                Ok(())
            }
            message = inbox.next() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => break None,
                Some(Ok(_)) if flood.judge(Instant::now()) != FloodVerdict::Accept => break Some(Closing::Flooding),
                Some(Ok(Message::Ping(payload))) => within_limit(session.pong(&payload)).await,
                Some(Ok(_)) => Ok(()),
            },
            _ = heartbeat.tick() => within_limit(session.ping(b"")).await,
            () = draining.cancelled() => break Some(Closing::Restart),
        };
        if said.is_err() {
            return;
        }
    };
    // The client may be gone already, which has the same result.
    let _ = within_limit(session.close(goodbye.map(Into::into))).await;
}
