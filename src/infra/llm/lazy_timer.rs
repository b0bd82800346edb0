//! One timer for a deadline that is extended with every token.
//!
//! A separate timer for each wait would be inserted into the runtime's timer wheel and removed at every token. This one stays there until
//! it fires, and only then checks whether the deadline has moved.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::time::{Instant, Sleep, sleep_until};

/// Timer for deadlines that mostly get extended; one wait at a time.
#[derive(Debug, Default)]
pub(super) struct LazyTimer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl LazyTimer {
    /// Waits for a future until the deadline; `None` if the deadline passes first.
    pub(super) async fn until<T>(&mut self, deadline: Instant, wait: impl Future<Output = T>) -> Option<T> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if deadline < sleep.deadline() {
            sleep.as_mut().reset(deadline);
        }
        let mut wait = pin!(wait);
        poll_fn(|context| {
            if let Poll::Ready(done) = wait.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            while sleep.as_mut().poll(context).is_ready() {
                if sleep.deadline() >= deadline {
                    return Poll::Ready(None);
                }
                sleep.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_moved_on_or_back_is_kept_to_the_millisecond() {
        let (mut timer, began) = (LazyTimer::default(), Instant::now());
        for (by, spent) in [(10, 1), (30, 2), (31, 3)] {
            let done = timer.until(began + by * SECOND, tokio::time::sleep_until(began + spent * SECOND)).await;
            assert!(done.is_some() && began.elapsed() == spent * SECOND);
        }
        assert!(timer.until(began + 20 * SECOND, std::future::pending::<()>()).await.is_none());
        assert_eq!(began.elapsed(), 20 * SECOND, "beyond the first deadline, at which the timer was set");
        assert!(timer.until(began + 60 * SECOND, tokio::time::sleep_until(began + 59 * SECOND)).await.is_some());
        assert!(timer.until(began + 59 * SECOND, std::future::pending::<()>()).await.is_none());
        assert_eq!(began.elapsed(), 59 * SECOND, "a deadline that has passed ends at once");
    }
}
