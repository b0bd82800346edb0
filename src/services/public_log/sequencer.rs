//! Appends to the log and signs it. Only the leading instance does, and if two consider themselves leading, the database lets one succeed:
//! the checkpoint is replaced only if it is still the one that was continued.
//!
//! A vote is appended once the published leaderboard includes it, so the log reveals votes no earlier and in no smaller groups than the
//! leaderboard. Casting a vote writes nothing to the log.

use std::sync::Arc;

use super::continuity::LogContinuity;
use super::promise_watch::PromiseWatch;
use super::vote_entries::{VoteEntries, entries_of_votes};
use super::{PublicLog, PublicLogError};
use crate::domain::battle::VisitorId;
use crate::domain::public_log::entry::{ExclusionEntry, LogEntry, WithdrawalEntry, short_reason};
use crate::domain::public_log::frontier::Frontier;
use crate::domain::public_log::hash::TreeHash;
use crate::domain::public_log::merkle_proof::TreeHead;
use crate::domain::public_log::promised_vote::VOTES_PER_STEP;
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::public_log::signed_checkpoint_file::CheckpointFile;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{LogAppend, LogCheckpoint, LogSubject, NewLogEntry, UnloggedChange};
use crate::infra::time::clock::Clock;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Maximum number of votes, or changes of exclusions, per step.
pub const PAGE_SIZE: u32 = VOTES_PER_STEP;

/// Appends to the log; one per process.
pub struct Sequencer {
    continuity: LogContinuity,
    leaderboard: Arc<LatestLeaderboard>,
    clock: Arc<dyn Clock>,
    rng: Arc<SharedRng>,
    settings: CurrentSettings,
    /// Frontier (right edge) of the tree at the last step of this process.
    frontier: Option<Frontier>,
}

/// Dependencies of a sequencer.
pub struct SequencerDependencies {
    /// The log.
    pub log: PublicLog,
    /// Published leaderboard; votes up to its last one are appended.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// Clock of the checkpoints.
    pub clock: Arc<dyn Clock>,
    /// Source of salts and voter pseudonyms.
    pub rng: Arc<SharedRng>,
    /// Checkpoint file outside of the database.
    pub file: CheckpointFile,
    /// Current settings, for the promised time.
    pub settings: CurrentSettings,
}

/// Entries of one step.
#[derive(Default)]
struct SequencedStep {
    entries: Vec<NewLogEntry>,
    voters: Vec<(VisitorId, String)>,
    last_vote_seq: i64,
    exclusion_changes: i64,
}

impl Sequencer {
    /// Creates the sequencer without reading the log.
    #[must_use]
    pub fn new(dependencies: SequencerDependencies) -> Self {
        let SequencerDependencies { log, leaderboard, clock, rng, file, settings } = dependencies;
        Self { continuity: LogContinuity { log, file }, leaderboard, clock, rng, settings, frontier: None }
    }

    /// Returns the leaderboard that the log follows.
    #[must_use]
    pub fn leaderboard(&self) -> &Arc<LatestLeaderboard> {
        &self.leaderboard
    }

    /// Returns the log.
    #[must_use]
    pub fn log(&self) -> &PublicLog {
        &self.continuity.log
    }

    /// Returns a watch of whether votes can be promised.
    #[must_use]
    pub fn promises(&self) -> PromiseWatch {
        let (log, clock, settings) = (self.log().clone(), Arc::clone(&self.clock), self.settings.clone());
        PromiseWatch { log, clock, settings }
    }

    /// Appends the next votes of the leaderboard or, where there are none, changes of exclusions, and signs the tree. Returns the number
    /// of entries; 0 where there was nothing to append, or another instance appended first.
    ///
    /// # Errors
    /// [`PublicLogError`]; nothing is signed then.
    pub async fn append(&mut self) -> Result<usize, PublicLogError> {
        let kept = self.continuity.read_checkpoint_file().await?;
        let stored = self.log().store.log_checkpoint().await?;
        let frontier = self.continued(stored.as_ref(), kept).await?;
        let step = self.next_step(stored.as_ref()).await?;
        if step.entries.is_empty()
            && let Some(stored) = &stored
        {
            // The file lacks a checkpoint that could not be written when it was signed.
            if kept != Some(stored.head) {
                self.continuity.write_checkpoint_file(stored.note.clone()).await?;
            }
            return Ok(0);
        }
        let appended = step.entries.len();
        let (append, frontier) = self.signed(stored.map(|stored| stored.head), frontier, step);
        if !self.log().store.append_to_log(&append).await? {
            self.frontier = None;
            return Ok(0);
        }
        self.frontier = Some(frontier);
        // Written after the commit: a crash in between leaves an earlier checkpoint in the file, which the log continues.
        self.continuity.write_checkpoint_file(append.after.note).await?;
        Ok(appended)
    }

    /// Writes the latest checkpoint to the file when another instance signs.
    ///
    /// # Errors
    /// [`PublicLogError`], also if that checkpoint is inconsistent with the one in the file.
    pub async fn follow(&mut self) -> Result<(), PublicLogError> {
        self.frontier = None;
        let kept = self.continuity.read_checkpoint_file().await?;
        let Some(stored) = self.log().store.log_checkpoint().await? else { return Ok(()) };
        self.continuity.check_signature(&stored)?;
        self.continuity.check_continues(stored.head, kept).await?;
        if kept != Some(stored.head) {
            self.continuity.write_checkpoint_file(stored.note).await?;
        }
        Ok(())
    }

    /// Returns the frontier of the stored tree, verified against the signed checkpoint and every earlier one.
    async fn continued(
        &mut self,
        stored: Option<&LogCheckpoint>,
        kept: Option<TreeHead>,
    ) -> Result<Frontier, PublicLogError> {
        let Some(stored) = stored else {
            self.continuity.check_begins(kept).await?;
            return Ok(Frontier::default());
        };
        let size = stored.head.size;
        let frontier = match self.frontier.take().filter(|held| held.size() == size) {
            Some(held) => held,
            None => {
                self.continuity.check_signature(stored)?;
                self.continuity.frontier_at(size).await?
            }
        };
        if frontier.root() != stored.head.root {
            return Err(PublicLogError::Rewritten(size));
        }
        self.continuity.check_continues(stored.head, kept).await?;
        Ok(frontier)
    }

    async fn next_step(&self, stored: Option<&LogCheckpoint>) -> Result<SequencedStep, PublicLogError> {
        let (after, changes) = stored.map_or((0, 0), |stored| (stored.last_vote_seq, stored.exclusion_changes));
        let step = SequencedStep { last_vote_seq: after, exclusion_changes: changes, ..SequencedStep::default() };
        let upto = self.leaderboard.latest().last_vote_seq;
        let store = &self.log().store;
        let mut votes = if after < upto {
            store.votes_after(after, Timestamp(i64::MIN), Timestamp(i64::MAX), PAGE_SIZE).await?
        } else {
            Vec::new()
        };
        votes.retain(|vote| vote.seq <= upto);
        if let Some(last) = votes.last() {
            let log = self.log().key.verifier().name();
            let VoteEntries { entries, voters } = entries_of_votes(log, store, &self.rng, after, &votes).await?;
            return Ok(SequencedStep { entries, voters, last_vote_seq: last.seq, ..step });
        }
        if store.exclusion_changes().await? == changes {
            return Ok(step);
        }
        let changed = store.unlogged_changes(after, PAGE_SIZE).await?;
        let entries = changed.iter().map(entries_of_change).collect::<Result<Vec<_>, _>>()?.concat();
        let logged = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        Ok(SequencedStep { entries, exclusion_changes: changes.saturating_add(logged), ..step })
    }

    fn signed(&self, before: Option<TreeHead>, mut frontier: Frontier, step: SequencedStep) -> (LogAppend, Frontier) {
        let mut filled = Vec::new();
        for entry in &step.entries {
            frontier.append(TreeHash::leaf(entry.body.as_bytes()), |tile_hash| filled.push(tile_hash));
        }
        let head = TreeHead { size: frontier.size(), root: frontier.root() };
        let after = LogCheckpoint {
            head,
            note: self.log().key.sign(&self.log().checkpoint(head)),
            signed_at: self.clock.now(),
            last_vote_seq: step.last_vote_seq,
            exclusion_changes: step.exclusion_changes,
        };
        (LogAppend { before, entries: step.entries, filled, voters: step.voters, after }, frontier)
    }
}

/// Creates the entries of a change: the exclusion, unless the log has it, and then its withdrawal.
pub(super) fn entries_of_change(change: &UnloggedChange) -> Result<Vec<NewLogEntry>, PublicLogError> {
    let entry = |kind, entry: LogEntry<'_>| {
        Ok::<_, PublicLogError>(NewLogEntry { kind, subject: change.id.clone(), body: entry.to_json()?, salt: None })
    };
    let mut entries = Vec::new();
    if !change.is_logged {
        let exclusion = ExclusionEntry {
            seq: change.vote_seq,
            time: change.excluded_at,
            rule: change.rule.as_str().into(),
            reason: short_reason(&change.reason),
        };
        entries.push(entry(LogSubject::Exclusion, LogEntry::Exclusion(exclusion))?);
    }
    if let Some(time) = change.withdrawn_at {
        let withdrawal = WithdrawalEntry { seq: change.vote_seq, time, rule: change.rule.as_str().into() };
        entries.push(entry(LogSubject::Withdrawal, LogEntry::Withdrawal(withdrawal))?);
    }
    Ok(entries)
}
