//! State and progress of a benchmark run, as seen from other processes.

use std::str::FromStr;

use crate::judging::budget::Spent;
use crate::time::Timestamp;

/// Time without a heartbeat after which a run counts as interrupted.
const HEARTBEAT_TIMEOUT_MS: i64 = 60_000;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// The run is active.
    Running,
    /// All results are stored.
    Done,
    /// The budget is exhausted.
    OverBudget,
    /// An operator or a signal stopped the run.
    Stopped,
    /// Some results failed.
    Failed,
    /// The run has no heartbeat any more: it was killed, or its machine is gone. Never stored.
    Interrupted,
}

impl RunState {
    /// States that are stored.
    pub const STORED: [Self; 5] = [Self::Running, Self::Done, Self::OverBudget, Self::Stopped, Self::Failed];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::OverBudget => "over_budget",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the final state of a run that leaves this many results open.
    #[must_use]
    pub fn at_end(left: u64, stop: RunStop) -> Self {
        match stop {
            _ if left == 0 => Self::Done,
            RunStop::Signal => Self::Stopped,
            RunStop::Budget => Self::OverBudget,
            RunStop::Nothing => Self::Failed,
        }
    }

    /// Returns the state given the time of the latest heartbeat.
    #[must_use]
    pub fn seen(self, changed_at: Timestamp, now: Timestamp) -> Self {
        let is_silent = now.0 - changed_at.0 > HEARTBEAT_TIMEOUT_MS;
        if self == Self::Running && is_silent { Self::Interrupted } else { self }
    }
}

/// Error of an unknown state name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown state of a run")]
pub struct UnknownRunState;

impl FromStr for RunState {
    type Err = UnknownRunState;

    fn from_str(text: &str) -> Result<Self, UnknownRunState> {
        Self::STORED.into_iter().find(|state| state.as_str() == text).ok_or(UnknownRunState)
    }
}

/// Reason for stopping a run before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStop {
    /// The run was not stopped.
    Nothing,
    /// A signal, or the loss of the run's lock.
    Signal,
    /// The budget is exhausted.
    Budget,
}

/// Estimates the remaining time of the requests at the speed so far, in the unit of `elapsed`; `None` before the first request, and without
/// any left.
#[must_use]
pub fn time_left(elapsed: u64, sent: u64, expected: u64) -> Option<u64> {
    let left = expected.checked_sub(sent).filter(|left| *left > 0)?;
    elapsed.saturating_mul(left).checked_div(sent)
}

/// Number of existing results and of results due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DueCount {
    /// Existing results, including those of earlier runs.
    pub done: u64,
    /// Results due, including those of earlier runs.
    pub due: u64,
}

/// State, progress and spending of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSnapshot {
    /// State of the run.
    pub state: RunState,
    /// Number of answers.
    pub answers: DueCount,
    /// Number of judgements.
    pub judgements: DueCount,
    /// Requests, tokens and cost of this run.
    pub spent: Spent,
    /// Last error; empty without one.
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_requests_took_so_far() {
        assert_eq!(time_left(60, 20, 80), Some(180));
        assert_eq!((time_left(60, 0, 80), time_left(60, 80, 80), time_left(60, 90, 80)), (None, None, None));
    }

    #[test]
    fn a_run_says_why_it_ended_and_one_that_fell_silent_was_interrupted() {
        assert_eq!(RunState::at_end(0, RunStop::Signal), RunState::Done);
        assert_eq!(RunState::at_end(2, RunStop::Signal), RunState::Stopped);
        assert_eq!(RunState::at_end(2, RunStop::Budget), RunState::OverBudget);
        assert_eq!(RunState::at_end(2, RunStop::Nothing), RunState::Failed);
        let seen = |state: RunState, silent| state.seen(Timestamp(5), Timestamp(5 + silent));
        assert_eq!(seen(RunState::Running, HEARTBEAT_TIMEOUT_MS), RunState::Running);
        assert_eq!(seen(RunState::Running, HEARTBEAT_TIMEOUT_MS + 1), RunState::Interrupted);
        assert_eq!(seen(RunState::Done, HEARTBEAT_TIMEOUT_MS + 1), RunState::Done);
        for state in RunState::STORED {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert_eq!("interrupted".parse::<RunState>(), Err(UnknownRunState));
    }
}
