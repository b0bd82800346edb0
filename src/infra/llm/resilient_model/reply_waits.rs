//! Waits for the parts of a reply, each within its timeouts.
//!
//! A timeout that expired while this process stalled says nothing about the provider: data that arrived in the meantime is not read yet.
//! All deadlines are extended by the duration of such a wait, and if nothing had arrived the wait is repeated once.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::Instant;

use super::super::{ChatError, ReplyPart};
use super::{GuardedReply, VISITOR_CLOSING_TIMEOUT};
use crate::backoff::later;
use crate::time::process_stalls::has_stalled_past;

impl GuardedReply {
    /// Waits for the next part to return; `awaited` names the missing step in a timeout error.
    pub(super) async fn next_part_before(
        &mut self,
        mut by: Instant,
        awaited: &'static str,
    ) -> Result<Option<ReplyPart>, ChatError> {
        let mut is_repeated = false;
        loop {
            let (began, limit) = (Instant::now(), self.earliest_limit(by));
            let part = self.read_by(limit).await;
            let stalled = self.extend_deadlines_by_stall(began, limit);
            by = later(by, stalled.unwrap_or_default());
            match part {
                Some(Some(Ok(ReplyPart::Usage(counted)))) => {
                    self.usage = Some(self.usage.unwrap_or_default().updated(counted));
                }
                Some(Some(Ok(ReplyPart::TextEnded))) => {
                    self.text_ended_at.get_or_insert_with(Instant::now);
                }
                Some(part) => return part.transpose(),
                None if stalled.is_some() && !is_repeated => is_repeated = true,
                None => return self.timeout_result(by, awaited),
            }
        }
    }

    /// Extends all deadlines by the time since `began` if this process has stalled past `limit`; returns that time.
    pub(super) fn extend_deadlines_by_stall(&mut self, began: Instant, limit: Instant) -> Option<Duration> {
        let stalled = has_stalled_past(limit).then(|| began.elapsed())?;
        self.first_token_by = later(self.first_token_by, stalled);
        self.end_by = later(self.end_by, stalled);
        self.text_ended_at = self.text_ended_at.map(|at| later(at, stalled));
        Some(stalled)
    }

    fn earliest_limit(&self, by: Instant) -> Instant {
        let closed_by = self.text_ended_at.filter(|_| self.question.is_some()).map(|at| at + VISITOR_CLOSING_TIMEOUT);
        by.min(self.end_by).min(closed_by.unwrap_or(by))
    }

    /// Reads the next item of the reply; `None` if the deadline passes first.
    async fn read_by(&mut self, limit: Instant) -> Option<Option<Result<ReplyPart, ChatError>>> {
        let reply = self.reply.get_or_insert_with(|| self.shared.model.ask(&self.messages, &self.sampling));
        self.timer.until(limit, reply.next()).await
    }

    /// Returns the result of a wait that timed out.
    fn timeout_result(&self, by: Instant, awaited: &'static str) -> Result<Option<ReplyPart>, ChatError> {
        let timeouts = self.shared.limits.timeouts;
        match () {
            () if self.text_ended_at.is_some() => Ok(None),
            () if self.end_by <= by => Err(ChatError::Timeout { awaited: "end of the reply", after: timeouts.total }),
            () if self.flowing.is_some() => Err(ChatError::Timeout { awaited, after: timeouts.idle }),
            () => Err(ChatError::Timeout { awaited, after: timeouts.first_token }),
        }
    }
}
