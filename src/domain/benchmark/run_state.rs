//! How a run of a benchmark goes, for those who look at it from outside.

use std::str::FromStr;

use crate::judging::budget::Spent;
use crate::time::Timestamp;

/// A run that has not written for so long has ended without saying so.
const SILENT_MS: i64 = 60_000;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It asks.
    Running,
    /// Everything is there.
    Done,
    /// Its budget is used up.
    OverBudget,
    /// Somebody stopped it.
    Stopped,
    /// Not everything could be had.
    Failed,
    /// It was running and is silent now: it was killed, or its machine is gone. Nobody stores this.
    Interrupted,
}

impl RunState {
    /// The states that are stored.
    pub const STORED: [Self; 5] = [Self::Running, Self::Done, Self::OverBudget, Self::Stopped, Self::Failed];

    /// Name in the database and of lists.
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

    /// The state at the end of a run that leaves so many results open.
    #[must_use]
    pub fn at_end(left: u64, stop: RunStop) -> Self {
        match stop {
            _ if left == 0 => Self::Done,
            RunStop::Signal => Self::Stopped,
            RunStop::Budget => Self::OverBudget,
            RunStop::Nothing => Self::Failed,
        }
    }

    /// The same as it looks from outside, after this last sign of life.
    #[must_use]
    pub fn seen(self, changed_at: Timestamp, now: Timestamp) -> Self {
        let is_silent = now.0 - changed_at.0 > SILENT_MS;
        if self == Self::Running && is_silent { Self::Interrupted } else { self }
    }
}

/// No stored state has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown state of a run")]
pub struct UnknownRunState;

impl FromStr for RunState {
    type Err = UnknownRunState;

    fn from_str(text: &str) -> Result<Self, UnknownRunState> {
        Self::STORED.into_iter().find(|state| state.as_str() == text).ok_or(UnknownRunState)
    }
}

/// What stopped a run before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStop {
    /// Nothing.
    Nothing,
    /// A signal, or the loss of its lock.
    Signal,
    /// Its budget.
    Budget,
}

/// How long the rest of the requests takes at the speed so far, in the unit of `elapsed`; none before the first, and where
/// none is left.
#[must_use]
pub fn time_left(elapsed: u64, sent: u64, expected: u64) -> Option<u64> {
    let left = expected.checked_sub(sent).filter(|left| *left > 0)?;
    elapsed.saturating_mul(left).checked_div(sent)
}

/// Results that are there, of those that are due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DueCount {
    /// There, those of earlier runs included.
    pub done: u64,
    /// Due, those included.
    pub due: u64,
}

/// The state of a run, its progress and what it has spent.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSnapshot {
    /// Where it stands.
    pub state: RunState,
    /// Answers of models.
    pub answers: DueCount,
    /// Judgements.
    pub judgements: DueCount,
    /// What this run has spent.
    pub spent: Spent,
    /// What failed last; empty where nothing did.
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
        assert_eq!(seen(RunState::Running, SILENT_MS), RunState::Running);
        assert_eq!(seen(RunState::Running, SILENT_MS + 1), RunState::Interrupted);
        assert_eq!(seen(RunState::Done, SILENT_MS + 1), RunState::Done);
        for state in RunState::STORED {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert_eq!("interrupted".parse::<RunState>(), Err(UnknownRunState));
    }
}
