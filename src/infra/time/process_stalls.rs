//! Detects stalls of this process: stopped by a signal, on a paused virtual machine, or waiting for swapped memory.
//!
//! After a stall a timer may be polled before the sockets are read, and data that has arrived is not known yet. So a timeout that expired
//! during a stall says nothing about the peer, and the wait is repeated once.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use crate::backoff::later;

/// Delay of a timer above which the process has stalled.
const STALL_THRESHOLD: Duration = Duration::from_secs(1);

/// Whether the current time is so far past a timer's deadline that this process has stalled.
#[must_use]
pub fn has_stalled_past(deadline: Instant) -> bool {
    deadline.elapsed() > STALL_THRESHOLD
}

/// Waits like [`tokio::time::timeout`], with `None` on a timeout. A wait that ended in a stall is repeated once.
pub async fn timeout_unless_stalled<T>(limit: Duration, wait: impl Future<Output = T>) -> Option<T> {
    let deadline = later(Instant::now(), limit);
    let mut wait = pin!(wait);
    if let Ok(done) = timeout_at(deadline, wait.as_mut()).await {
        return Some(done);
    }
    if !has_stalled_past(deadline) {
        return None;
    }
    timeout(limit, wait).await.ok()
}

/// Returns the result of a wait with its own timeout. If that expired in a stall, waits for `again`.
///
/// # Errors
/// Errors of the waits.
pub async fn repeated_after_stall<T, E>(
    limit: Duration,
    wait: impl Future<Output = Result<T, E>>,
    is_timeout: impl Fn(&E) -> bool,
    again: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let deadline = later(Instant::now(), limit);
    match wait.await {
        Err(error) if is_timeout(&error) && has_stalled_past(deadline) => again.await,
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn what_comes_right_after_a_stall_is_in_time() {
        let (sender, receiver) = oneshot::channel();
        let waiting = timeout_unless_stalled(10 * SECOND, receiver);
        let stalled = async {
            advance(3_600 * SECOND).await;
            advance(SECOND).await;
            sender.send("here").unwrap();
        };
        let (done, ()) = tokio::join!(waiting, stalled);
        assert_eq!(done, Some(Ok("here")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_whose_own_limit_was_up_in_a_stall_is_repeated() {
        let failing_after = async |time: Duration, error: &'static str| {
            let wait = async {
                advance(time).await;
                Err(error)
            };
            repeated_after_stall(SECOND, wait, |error: &&str| *error == "time is up", async { Ok("here") }).await
        };
        assert_eq!(failing_after(SECOND, "time is up").await, Err("time is up"));
        assert_eq!(failing_after(3_600 * SECOND, "refused").await, Err("refused"));
        assert_eq!(failing_after(3_600 * SECOND, "time is up").await, Ok("here"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_passes_without_a_stall_is_kept_and_after_one_it_passes_once_more() {
        assert_eq!(timeout_unless_stalled(10 * SECOND, std::future::pending::<()>()).await, None);
        let waiting = timeout_unless_stalled(10 * SECOND, std::future::pending::<()>());
        let (done, ()) = tokio::join!(waiting, advance(3_600 * SECOND));
        assert_eq!(done, None);
    }
}
