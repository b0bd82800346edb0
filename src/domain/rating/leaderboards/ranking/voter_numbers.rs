//! Number of voters behind the intervals of a leaderboard.

use crate::rating::intervals::bootstrap::{BootstrapReport, ResamplingUnit};
use crate::rating::options::IntervalMethod;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{Labels, VoteLog};
use crate::stats::real;

/// Numbers of voters of the rated votes; a vote without a voter counts as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VoterNumbers {
    /// Number of voters.
    pub(super) voters: u64,
    /// Effective number (Σ n)² / Σ n², with n the rated votes of a voter (Kish 1965): fewer than all if some vote much more than others.
    pub(super) effective: f64,
}

impl VoterNumbers {
    /// Counts the voters, if the intervals come from the variation between voters.
    pub(super) fn behind(
        interval: IntervalMethod,
        bootstrap: Option<BootstrapReport>,
        log: Option<&VoteLog>,
        scoring: Scoring,
    ) -> Option<Self> {
        let by_voter = match interval {
            IntervalMethod::Jackknife | IntervalMethod::Cluster => true,
            IntervalMethod::Bootstrap => bootstrap.is_some_and(|report| report.resampled == ResamplingUnit::Voters),
            IntervalMethod::Auto | IntervalMethod::Sandwich | IntervalMethod::None => false,
        };
        log.filter(|_| by_voter).and_then(|log| Self::count(log, scoring))
    }

    /// Counts the voters; `None` where the voters of the votes were not read, or no vote counts.
    pub(super) fn count(log: &VoteLog, scoring: Scoring) -> Option<Self> {
        let voters = log.voters.as_ref()?;
        let mut votes = vec![0_u64; voters.names.as_slice().len()];
        let mut unnamed = 0_u64;
        for (&outcome, &voter) in log.outcomes.iter().zip(&voters.rows) {
            if !scoring.counts(outcome) {
                continue;
            }
            if voter == Labels::NONE {
                unnamed += 1;
            } else {
                votes[voter as usize] += 1;
            }
        }
        let named = votes.iter().filter(|votes| **votes > 0).count() as u64;
        let all = real(votes.iter().sum::<u64>() + unnamed);
        let squares = votes.iter().map(|&votes| real(votes) * real(votes)).sum::<f64>() + real(unnamed);
        (squares > 0.0).then(|| Self { voters: named + unnamed, effective: all * all / squares })
    }
}
