//! Lag of the log behind the votes, and its append failures, as last observed by this process. No inclusion is promised while there are
//! more unlogged votes than the log appends in time, or while the leading instance cannot append.

use std::time::Duration;

use tokio::time::Instant;

use super::{PublicLog, PublicLogError};
use crate::domain::public_log::promised_vote::{MAX_UNLOGGED, promised_backlog};
use crate::domain::time::Timestamp;
use crate::infra::storage::UnloggedVotes;

/// Age above which an observation is stale. The append job observes the backlog before and after each step, and pauses for at most 40
/// seconds between two steps. After this time its step or its query hangs, and the backlog is unknown.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// Role of an instance for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogRole {
    /// Leading instance, which appends.
    Leads,
    /// Follower, which stores checkpoints of the leading instance.
    Follows,
}

/// Reason why no inclusion is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoPromiseReason {
    /// The last step of this instance failed.
    OwnFailure,
    /// The leading instance cannot append.
    LeaderFailure,
    /// There are more unlogged votes than the log appends in time, or an import is about to add as many.
    Backlog,
    /// A vote has been unlogged for longer than promised.
    LateVote,
    /// The observation is stale.
    Unseen,
}

impl NoPromiseReason {
    /// Returns the reason for the log line; `None` if the failure is logged elsewhere.
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::LeaderFailure => Some("the instance that leads cannot append to it: its log says why"),
            Self::Backlog => Some("too many votes wait for it, as after an import: this ends once they are appended"),
            Self::LateVote => Some("it lacks a vote for longer than was promised: `langya doctor` says what to do"),
            Self::OwnFailure | Self::Unseen => None,
        }
    }
}

/// Latest observations of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastLag {
    /// Role in the last step.
    role: LogRole,
    /// Whether this instance leads now, also while a step hangs that it began as a follower.
    leads: bool,
    unlogged: UnloggedVotes,
    /// Whether an import of many votes is under way.
    is_importing: bool,
    /// Time of the append job's latest observation.
    seen_at: Instant,
    /// Time of the first failed step since the last success.
    failing_since: Option<Instant>,
    /// Whether the database refused the last step for lack of a right.
    lacks_right: bool,
    /// Time since which another instance leads and cannot append.
    leader_failing_since: Option<Instant>,
    /// Obstacle last found and reported.
    reported: Option<NoPromiseReason>,
    is_logged: bool,
}

impl LastLag {
    /// Creates the state before the first observation, without a known backlog.
    pub(super) fn new() -> Self {
        Self {
            role: LogRole::Follows,
            leads: false,
            unlogged: UnloggedVotes::default(),
            is_importing: false,
            seen_at: Instant::now(),
            failing_since: None,
            lacks_right: false,
            leader_failing_since: None,
            reported: None,
            is_logged: false,
        }
    }

    fn record(&mut self, unlogged: UnloggedVotes, is_importing: bool) {
        (self.unlogged, self.is_importing) = (unlogged, is_importing);
    }

    fn note_look(&mut self) {
        self.seen_at = Instant::now();
    }

    fn note_step(&mut self, role: LogRole, failure: Option<&PublicLogError>) {
        self.role = role;
        self.lacks_right = failure.is_some_and(PublicLogError::lacks_right);
        self.failing_since = match failure {
            None => None,
            // The next observation has the backlog.
            Some(error) if error.stops_votes() => self.failing_since,
            Some(_) => self.failing_since.or_else(|| Some(Instant::now())),
        };
    }

    fn note_leader(&mut self, is_failing: bool) {
        self.leader_failing_since = is_failing.then(|| self.leader_failing_since.unwrap_or_else(Instant::now));
    }

    /// Whether this instance leads, and its last step failed or hangs.
    fn cannot_append(self) -> bool {
        (self.leads || self.role == LogRole::Leads) && (self.failing_since.is_some() || self.unseen() > STALE_AFTER)
    }

    /// Returns the time since the latest observation.
    fn unseen(self) -> Duration {
        self.seen_at.elapsed()
    }

    fn waiting_time(self, now: Timestamp) -> Duration {
        let waited = self.unlogged.oldest_cast.and_then(|since| u64::try_from(now.0.saturating_sub(since.0)).ok());
        Duration::from_millis(waited.unwrap_or(0))
    }

    /// Returns the time since which another instance leads and cannot append. The leading instance ignores it, as it concerns an earlier
    /// leader.
    fn failing_elsewhere_since(self) -> Option<Instant> {
        self.leader_failing_since.filter(|_| self.role == LogRole::Follows)
    }

    fn lag(self, now: Timestamp) -> Duration {
        let unseen = Some(self.unseen()).filter(|unseen| *unseen > STALE_AFTER);
        let failing = self.failing_since.or(self.failing_elsewhere_since()).map(|since| since.elapsed());
        self.waiting_time(now).max(unseen.max(failing).unwrap_or_default())
    }

    fn obstacle(self, now: Timestamp, within: Duration) -> Option<NoPromiseReason> {
        let (most, is_late) = (promised_backlog(within), self.waiting_time(now) > within);
        // Hysteresis: a backlog ends late, so that it does not begin again at once, and votes added after it count as part of it.
        let was_backlog = self.reported == Some(NoPromiseReason::Backlog);
        let is_backlog = self.unlogged.count > most || was_backlog && (is_late || self.unlogged.count > most / 4);
        let found = [
            (self.failing_since.is_some(), NoPromiseReason::OwnFailure),
            (self.unseen() > STALE_AFTER.max(within), NoPromiseReason::Unseen),
            (self.failing_elsewhere_since().is_some(), NoPromiseReason::LeaderFailure),
            (self.is_importing || is_backlog, NoPromiseReason::Backlog),
            (is_late, NoPromiseReason::LateVote),
        ];
        found.into_iter().find_map(|(is_found, obstacle)| is_found.then_some(obstacle))
    }

    /// Logs when promises end for a reason not logged elsewhere, and when they resume.
    fn report(&mut self, now: Timestamp, within: Duration) {
        let current = self.obstacle(now, within);
        if current == self.reported {
            return;
        }
        self.reported = current;
        if let Some(reason) = current.and_then(NoPromiseReason::reason) {
            tracing::warn!(reason, "new votes get no promise that they will be in the public log");
            self.is_logged = true;
        } else if current.is_none() && std::mem::take(&mut self.is_logged) {
            tracing::info!("new votes get a promise again that they will be in the public log");
        }
    }
}

impl PublicLog {
    /// Observes the unlogged votes, before and after a step of the log.
    ///
    /// # Errors
    /// [`PublicLogError`]; the previous observation stays.
    pub async fn refresh_lag(&self) -> Result<(), PublicLogError> {
        self.refresh_backlog().await?;
        self.last_lag.lock().note_look();
        Ok(())
    }

    /// Observes the unlogged votes while a step may hang.
    ///
    /// # Errors
    /// [`PublicLogError`]; the previous observation stays.
    pub(super) async fn refresh_backlog(&self) -> Result<(), PublicLogError> {
        // In this order, so that votes of an import that has just ended are counted.
        let is_importing = self.store.is_importing().await?;
        let unlogged = self.store.unlogged_votes(MAX_UNLOGGED + 1).await?;
        self.last_lag.lock().record(unlogged, is_importing);
        Ok(())
    }

    /// Records the result of a step: after a failure the log is behind until a step succeeds.
    pub fn note_step(&self, role: LogRole, failure: Option<&PublicLogError>) {
        self.last_lag.lock().note_step(role, failure);
    }

    /// Records whether this instance leads, independently of its steps.
    pub fn record_leadership(&self, leads: bool) {
        self.last_lag.lock().leads = leads;
    }

    /// Records whether another instance leads and cannot append, by its heartbeat.
    pub fn note_leader(&self, is_failing: bool) {
        self.last_lag.lock().note_leader(is_failing);
    }

    /// Whether this instance leads and cannot append, for its heartbeat.
    #[must_use]
    pub fn cannot_append(&self) -> bool {
        self.last_lag.lock().cannot_append()
    }

    /// Returns the age of the oldest unlogged vote cast here, or the duration of append failures or missing observations, whichever is
    /// longest; zero if all votes are logged.
    #[must_use]
    pub fn lag(&self, now: Timestamp) -> Duration {
        self.last_lag.lock().lag(now)
    }

    /// Whether inclusion of a vote cast now cannot be promised `within` this time.
    #[must_use]
    pub fn is_behind(&self, now: Timestamp, within: Duration) -> bool {
        self.last_lag.lock().obstacle(now, within).is_some()
    }

    /// Whether the database refused the last step for lack of a right, which `Store::check_rights` names.
    #[must_use]
    pub fn lacks_right(&self) -> bool {
        self.last_lag.lock().lacks_right
    }

    /// Logs a change of whether votes are promised.
    pub(super) fn report_promises(&self, now: Timestamp, within: Duration) {
        self.last_lag.lock().report(now, within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::storage::{OutageKind, StoreError};

    const NOW: Timestamp = Timestamp(1_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn is_behind(seen: &LastLag) -> bool {
        seen.obstacle(NOW, MINUTE).is_some()
    }

    fn imported(count: u64) -> UnloggedVotes {
        UnloggedVotes { count, oldest_cast: None }
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_is_behind_by_its_oldest_vote_or_since_nobody_could_look() {
        let (now, seconds) = (NOW, Duration::from_secs);
        let complete = LastLag::new();
        let lacking = |since| LastLag { unlogged: UnloggedVotes { count: 1, oldest_cast: Some(since) }, ..complete };
        let (lacks_one, ahead) = (lacking(Timestamp(910_000)), lacking(Timestamp(1_000_001)));
        tokio::time::advance(seconds(60)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [0, 90, 0].map(seconds));
        assert_eq!([complete, lacks_one, ahead].map(|seen| is_behind(&seen)), [false, true, false]);
        tokio::time::advance(seconds(1)).await;
        assert_eq!([complete, lacks_one, ahead].map(|seen| seen.lag(now)), [61, 90, 61].map(seconds));
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_whose_step_failed_is_behind_at_once_and_until_a_step_succeeds() {
        let mut seen = LastLag::new();
        seen.note_step(LogRole::Leads, Some(&PublicLogError::Rewritten(7)));
        assert!(is_behind(&seen));
        for _ in 0..2 {
            tokio::time::advance(MINUTE).await;
            seen.note_look();
            seen.note_step(LogRole::Leads, Some(&PublicLogError::Rewritten(7)));
        }
        assert_eq!(seen.lag(NOW), 2 * MINUTE, "since the first failure");
        seen.note_step(LogRole::Leads, None);
        assert!(!is_behind(&seen) && seen.lag(NOW).is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_in_which_no_vote_is_stored_neither_begins_nor_ends_a_failure() {
        let mut seen = LastLag::new();
        let outage = PublicLogError::from(StoreError::Outage(OutageKind::Unreachable));
        seen.note_step(LogRole::Leads, Some(&outage));
        assert!(!is_behind(&seen));
        seen.note_step(LogRole::Leads, Some(&StoreError::Outage(OutageKind::TableLocked).into()));
        assert!(is_behind(&seen), "votes are stored where only the log is locked");
        for kind in [OutageKind::NoPrivilege, OutageKind::DiskFull] {
            let mut seen = LastLag::new();
            seen.note_step(LogRole::Leads, Some(&StoreError::Outage(kind).into()));
            assert!(is_behind(&seen), "{kind} may be of the tables of the log alone");
            assert_eq!(seen.lacks_right, kind == OutageKind::NoPrivilege, "{kind}");
            seen.note_step(LogRole::Leads, None);
            assert!(!seen.lacks_right, "{kind}");
        }
        seen.note_step(LogRole::Leads, Some(&outage));
        assert!(is_behind(&seen));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_promised_while_more_votes_wait_than_the_log_takes_in_time_or_many_are_imported() {
        let mut seen = LastLag::new();
        let mut look = |count, is_importing| {
            seen.record(imported(count), is_importing);
            seen.report(NOW, MINUTE);
            is_behind(&seen)
        };
        assert_eq!([look(2_000, false), look(0, true), look(0, false)], [false, true, false]);
        assert_eq!([look(2_001, false), look(501, false), look(500, false)], [true, true, false]);
        assert_eq!([look(2_000, false), look(2_501, false)], [false, true]);
        assert_eq!(seen.obstacle(NOW, 10 * MINUTE), Some(NoPromiseReason::Backlog), "until it has ended");
        let fresh = LastLag { reported: None, ..seen };
        assert_eq!(fresh.obstacle(NOW, 10 * MINUTE), None, "a promise for later leaves time for more votes");
        assert!(seen.lag(NOW).is_zero(), "an import is no lag");
    }

    #[tokio::test(start_paused = true)]
    async fn an_instance_that_follows_promises_nothing_while_the_one_that_leads_cannot_append() {
        let (mut leader, mut follower) = (LastLag::new(), LastLag::new());
        leader.note_step(LogRole::Leads, Some(&PublicLogError::Rewritten(7)));
        follower.note_step(LogRole::Follows, None);
        assert!(leader.cannot_append() && !is_behind(&follower));
        follower.note_leader(leader.cannot_append());
        assert_eq!(follower.obstacle(NOW, MINUTE), Some(NoPromiseReason::LeaderFailure));
        tokio::time::advance(MINUTE).await;
        follower.note_leader(true);
        assert_eq!(follower.lag(NOW), MINUTE);
        follower.note_step(LogRole::Leads, None);
        assert!(!is_behind(&follower), "it leads now, and can append");
        leader.note_step(LogRole::Follows, Some(&PublicLogError::Rewritten(7)));
        assert!(is_behind(&leader) && !leader.cannot_append(), "its failure is its own");
        leader.note_step(LogRole::Leads, None);
        tokio::time::advance(MINUTE).await;
        assert!(leader.cannot_append(), "its step hangs");
    }

    #[tokio::test(start_paused = true)]
    async fn an_instance_that_comes_to_lead_while_its_step_hangs_cannot_append() {
        let mut seen = LastLag::new();
        seen.note_step(LogRole::Follows, None);
        tokio::time::advance(2 * MINUTE).await;
        assert!(!seen.cannot_append());
        seen.leads = true;
        assert!(seen.cannot_append(), "no step of it begins as the leader's");
    }
}
