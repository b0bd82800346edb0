//! Which battles have waited too long for their vote, although the clock that dated them may have jumped since.
//!
//! Rows carry the time of day. Where it goes a day on, every ballot that waits looks a day older; where it goes a day back,
//! they seem to come from the future and would wait that much longer. So jumps are found by comparison with the monotonic
//! clock, and counted out for as long as a battle may wait.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;

/// Less than this between two looks is drift or a correction, and no jump.
const TOLERANCE_MS: i64 = 5_000;

/// Watches the time of day for jumps.
#[derive(Debug)]
pub struct ClockJumps {
    started: Instant,
    last: (Timestamp, Instant),
    /// When each was found, and by how many milliseconds the time of day went on (or back, below zero).
    jumps: Vec<(Instant, i64)>,
}

/// Battles last touched outside of these are abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimits {
    /// Touched earlier: left for too long.
    pub oldest: Timestamp,
    /// Touched later: dated by a clock that went back meanwhile. `None` while some of them may still wait.
    pub newest: Option<Timestamp>,
}

impl ClockJumps {
    /// No jump was seen yet.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        let started = Instant::now();
        Self { started, last: (now, started), jumps: Vec::new() }
    }

    /// Compares both clocks, and says which battles may wait on when each may wait for `patience`.
    pub fn look(&mut self, now: Timestamp, patience: Duration) -> WaitLimits {
        let at = Instant::now();
        let (former, former_at) = std::mem::replace(&mut self.last, (now, at));
        let jump = now.0.saturating_sub(former.0).saturating_sub(millis(at - former_at));
        if jump.abs() > TOLERANCE_MS {
            tracing::warn!(seconds = jump / 1_000, "the time of day jumped: ballots expire as if it had not");
            self.jumps.push((at, jump));
        }
        self.jumps.retain(|(found, _)| at - *found < patience);
        let went_on: i64 = self.jumps.iter().map(|(_, jump)| *jump).filter(|jump| *jump > 0).sum();
        let went_back = self.jumps.iter().any(|(_, jump)| *jump < 0);
        let all_have_waited = at - self.started >= patience && !went_back;
        let patience = millis(patience);
        WaitLimits {
            oldest: Timestamp(now.0.saturating_sub(patience).saturating_sub(went_on)),
            // Not less: the clocks of other instances may be a little ahead.
            newest: all_have_waited.then_some(Timestamp(now.0.saturating_add(patience))),
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: i64 = 24 * 60 * MINUTE;
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Half a minute goes by, and then the clock shows this.
    async fn half_a_minute_later(jumps: &mut ClockJumps, shown: i64) -> WaitLimits {
        tokio::time::advance(PATIENCE / 2).await;
        jumps.look(Timestamp(shown), PATIENCE)
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_clock_counts_as_it_is() {
        let mut jumps = ClockJumps::new(Timestamp(DAY));
        let limits = half_a_minute_later(&mut jumps, DAY + MINUTE / 2).await;
        assert_eq!(limits, WaitLimits { oldest: Timestamp(DAY - MINUTE / 2), newest: None });
        let limits = half_a_minute_later(&mut jumps, DAY + MINUTE + 3_000).await;
        let newest = Some(Timestamp(DAY + 2 * MINUTE + 3_000));
        assert_eq!(limits, WaitLimits { oldest: Timestamp(DAY + 3_000), newest });
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_on_expires_nothing_early() {
        let mut jumps = ClockJumps::new(Timestamp(DAY));
        let limits = half_a_minute_later(&mut jumps, 2 * DAY).await;
        assert!(limits.oldest < Timestamp(DAY), "what was touched just before the jump waits on");
        half_a_minute_later(&mut jumps, 2 * DAY + MINUTE / 2).await;
        let limits = half_a_minute_later(&mut jumps, 2 * DAY + MINUTE).await;
        assert_eq!(limits.oldest, Timestamp(2 * DAY), "everything from before the jump has waited by now");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_back_lets_nothing_wait_for_ever() {
        let mut jumps = ClockJumps::new(Timestamp(2 * DAY));
        half_a_minute_later(&mut jumps, 2 * DAY + MINUTE / 2).await;
        half_a_minute_later(&mut jumps, 2 * DAY + MINUTE).await;
        let limits = half_a_minute_later(&mut jumps, DAY).await;
        assert_eq!(
            limits,
            WaitLimits { oldest: Timestamp(DAY - MINUTE), newest: None },
            "they may have begun just now"
        );
        half_a_minute_later(&mut jumps, DAY + MINUTE / 2).await;
        let limits = half_a_minute_later(&mut jumps, DAY + MINUTE).await;
        assert_eq!(limits.newest, Some(Timestamp(DAY + 2 * MINUTE)));
    }
}
