//! Excludes the votes of flagged voters, if the operator has enabled it, and reports its state.

use std::sync::Arc;

use parking_lot::Mutex;

use super::PROGRAM_NAME;
use crate::domain::integrity::anomalous_voters::voter_check_state::VoterCheckState;
use crate::domain::integrity::exclusions::automatic_exclusion::{AnomalousVoter, VotesToExclude, votes_to_exclude};
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::exclusions::exclusions_in_force::ExclusionsInForce;
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::infra::config::{CurrentSettings, FlaggedVoterPolicy};
use crate::infra::metrics;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewExclusions, Store, StoreError, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, read_cast_votes};
use crate::infra::time::clock::Clock;
use crate::leaderboard::background_report::{ReportError, on_one_thread};

/// Seed of Fisher's random checkpoints: the same votes give the same flags.
const SEED: u64 = 0;

/// Tests all voters; one instance per arena.
pub struct VoterCheck {
    store: Store,
    settings: CurrentSettings,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
    state: Mutex<VoterCheckState>,
    /// Version of the latest check's inputs: the last vote and the changes of exclusions.
    checked: Mutex<Option<(i64, i64)>>,
}

impl VoterCheck {
    /// Creates the service before its first check.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, settings, rng, clock, state: Mutex::default(), checked: Mutex::default() }
    }

    /// Returns the state of the checks.
    #[must_use]
    pub fn state(&self) -> VoterCheckState {
        *self.state.lock()
    }

    /// Whether the operator wants flagged voters excluded.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.settings.now().integrity.flagged_voters == FlaggedVoterPolicy::Exclude
    }

    /// Excludes the votes of flagged voters, if that is enabled and votes or exclusions have changed since the latest check. Returns the
    /// number of excluded votes.
    ///
    /// # Errors
    /// [`ReportError`]; the state and the metrics show it as well.
    pub async fn run(&self) -> Result<u64, ReportError> {
        if !self.is_wanted() {
            *self.state.lock() = VoterCheckState::default();
            *self.checked.lock() = None;
            return Ok(0);
        }
        let done = self.check().await;
        let now = self.clock.now();
        if done.is_ok() {
            metrics::voters_checked(now.0);
            let mut state = self.state.lock();
            (state.checked_at, state.failing_since) = (Some(now), None);
        } else {
            metrics::voter_check_failed();
            self.state.lock().failing_since.get_or_insert(now);
        }
        done
    }

    async fn check(&self) -> Result<u64, ReportError> {
        let version = (self.store.last_vote_seq().await?, self.store.exclusion_changes().await?);
        if *self.checked.lock() == Some(version) {
            return Ok(0);
        }
        let range = VoteRange { upto: version.0, ..VoteRange::ALL };
        let in_force = self.store.exclusions_in_force(range).await?;
        let found = find(&self.store, range, in_force).await?;
        self.note_withheld(found.withheld);
        let mut excluded = 0;
        for flagged in found.voters {
            excluded += self.exclude(flagged).await?;
        }
        *self.checked.lock() = Some(version);
        Ok(excluded)
    }

    /// Logs once when a test begins to flag no voters because it would flag too many.
    fn note_withheld(&self, withheld: Option<u64>) {
        let before = std::mem::replace(&mut self.state.lock().withheld, withheld);
        if let (Some(voters), None) = (withheld, before) {
            tracing::warn!(
                voters,
                "more than a quarter of all voters look suspicious to a test, so it flags nobody and no votes are excluded for it: \
                 look at the voters at /admin/voters"
            );
        }
    }

    async fn exclude(&self, flagged: AnomalousVoter) -> Result<u64, StoreError> {
        let decision = NewExclusions {
            id: self.rng.id(&*self.clock),
            rule: ExclusionRule::AnomalousVoter.to_string(),
            reason: flagged.reason,
            decided_by: PROGRAM_NAME.to_owned(),
            decided_at: self.clock.now(),
        };
        self.store.exclude_unless_reinstated(&decision, &flagged.votes).await
    }
}

async fn find(store: &Store, range: VoteRange, in_force: ExclusionsInForce) -> Result<VotesToExclude, ReportError> {
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    let cast = read_cast_votes(store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
    on_one_thread(move || votes_to_exclude(&cast, &in_force, SEED)).await
}
