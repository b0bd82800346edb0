//! Compares the rows of a database with its own public log. Only an operator can, since the rows are not published.

use std::collections::HashMap;

use super::sequencer::entries_of_change;
use super::vote_entries::texts;
use super::{PublicLog, PublicLogError};
use crate::domain::battle::VisitorId;
use crate::domain::hex::decode_hex;
use crate::domain::plural::counted;
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::domain::public_log::commitment::SALT_BYTES;
use crate::domain::public_log::entry::LogEntry;
use crate::domain::public_log::frontier::Frontier;
use crate::domain::public_log::hash::TreeHash;
use crate::domain::public_log::promised_vote::PromisedVote;
use crate::domain::public_log::vote_entry::{Hashes, commitment_of, vote_entry};
use crate::domain::time::Timestamp;
use crate::infra::storage::{LogCheckpoint, LoggedChange, LoggedVote, StoreError, UnloggedChange, VoteRow};

/// Page size of row reads.
const PAGE_SIZE: u32 = 500;

/// Mismatch between database and log.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseCheckError {
    /// The database cannot be read.
    #[error(transparent)]
    Log(#[from] PublicLogError),
    /// The database has no log yet.
    #[error("this database has no public log yet: an arena makes it when it serves")]
    NoLog,
    /// The entries do not match the signed root.
    #[error("the entries in the database do not lead to the root hash that was signed for {0} entries")]
    WrongRoot(u64),
    /// A vote has no entry, or its rows differ from it.
    #[error("vote {0}: the rows in the database, with texts and exclusions, are not what was logged")]
    ChangedVote(i64),
    /// The numbers of votes in log and database differ.
    #[error("the log has {}, and the database has {found} up to the last of them", counted(.logged, "vote", "votes"))]
    OtherVotes {
        /// Number of votes in the log.
        logged: u64,
        /// Number of votes in the database up to the last logged one.
        found: u64,
    },
    /// The row of an exclusion is missing, or differs from its entry.
    #[error("entry {0}: the exclusion or withdrawal is not in the database as it was logged")]
    ChangedExclusion(u64),
}

impl From<StoreError> for DatabaseCheckError {
    fn from(error: StoreError) -> Self {
        Self::Log(error.into())
    }
}

/// Statistics of a database that matches its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedDatabase {
    /// Number of log entries.
    pub entries: u64,
    /// Number of votes among them.
    pub votes: u64,
    /// Number of votes whose salt was deleted, so that their texts cannot be compared.
    pub without_salt: u64,
}

impl PublicLog {
    /// Compares every vote with its texts, and every exclusion, with the log. `progress` gets the votes compared.
    ///
    /// # Errors
    /// [`DatabaseCheckError`] for the first mismatch.
    pub async fn check_database(&self, progress: impl Fn(u64)) -> Result<CheckedDatabase, DatabaseCheckError> {
        let latest = self.latest().await?.ok_or(DatabaseCheckError::NoLog)?;
        self.check_root(&latest).await?;
        let mut checked = CheckedDatabase { entries: latest.head.size, votes: 0, without_salt: 0 };
        let mut after = 0;
        loop {
            let mut votes = self.store.votes_after(after, Timestamp(i64::MIN), Timestamp(i64::MAX), PAGE_SIZE).await?;
            votes.retain(|vote| vote.seq <= latest.last_vote_seq);
            let Some(last) = votes.last() else { break };
            let upto = last.seq;
            checked.without_salt += self.check_votes(after, &votes).await?;
            checked.votes += votes.len() as u64;
            progress(checked.votes);
            after = upto;
        }
        let logged = self.store.logged_vote_count().await?;
        if logged != checked.votes {
            return Err(DatabaseCheckError::OtherVotes { logged, found: checked.votes });
        }
        self.check_exclusions().await?;
        Ok(checked)
    }

    async fn check_root(&self, latest: &LogCheckpoint) -> Result<(), DatabaseCheckError> {
        let wrong = || DatabaseCheckError::WrongRoot(latest.head.size);
        let signed = self.key.verifier().verify(&latest.note).ok().and_then(Checkpoint::parse);
        let mut frontier = Frontier::default();
        while frontier.size() < latest.head.size {
            let end = (frontier.size() + u64::from(PAGE_SIZE)).min(latest.head.size);
            let bodies = self.store.log_bodies(frontier.size()..end).await?;
            if bodies.len() as u64 != end - frontier.size() {
                return Err(wrong());
            }
            bodies.iter().for_each(|body| frontier.append(TreeHash::leaf(body.as_bytes()), |_| {}));
        }
        let is_signed = signed == Some(self.checkpoint(latest.head)) && frontier.root() == latest.head.root;
        if is_signed { Ok(()) } else { Err(wrong()) }
    }

    /// Checks a page of votes; returns the number of votes whose salt was deleted.
    async fn check_votes(&self, after: i64, votes: &[VoteRow]) -> Result<u64, DatabaseCheckError> {
        let upto = votes.last().map_or(after, |vote| vote.seq);
        let (prompts, replies) =
            (self.store.voted_prompts(after, upto).await?, self.store.voted_replies(after, upto).await?);
        let texts = texts(&prompts, &replies);
        let rules = self.store.exclusions_cast_with(after, upto).await?;
        let ids: Vec<&str> = votes.iter().map(|vote| vote.id.as_str()).collect();
        let logged: HashMap<String, LoggedVote> = self.store.logged_votes(&ids).await?.into_iter().collect();
        let visitors: Vec<&str> =
            votes.iter().filter_map(|vote| vote.visitor.as_ref()).map(VisitorId::as_str).collect();
        let tags: HashMap<String, String> = self.store.log_voters(&visitors).await?.into_iter().collect();
        let mut without_salt = 0;
        for vote in votes {
            let changed = || DatabaseCheckError::ChangedVote(vote.seq);
            let found = logged.get(&vote.id).ok_or_else(changed)?;
            let Ok(LogEntry::Vote(entry)) = serde_json::from_str(&found.body) else { return Err(changed()) };
            let salt = found.salt.as_deref().map(|salt| salt_bytes(salt).ok_or_else(changed)).transpose()?;
            let commitment =
                salt.map_or_else(|| entry.commitment.clone().into_owned(), |salt| commitment_of(vote, &texts, &salt));
            // A deleted voter keeps the pseudonym in the log.
            let known =
                vote.visitor.as_ref().map(|visitor| tags.get(visitor.as_str()).map_or(&*entry.voter, String::as_str));
            // Entries older than inclusion promises have none.
            let promised = PromisedVote::of_row(vote).filter(|_| entry.promise.is_some());
            let promise = promised.map(|promised| promised.promise().hash(self.key.verifier().name()));
            let hashes = Hashes { commitment, promise };
            let body = vote_entry(vote, known.unwrap_or_default(), &rules, &hashes).map_err(PublicLogError::from)?;
            if body != found.body {
                return Err(changed());
            }
            without_salt += u64::from(salt.is_none());
        }
        Ok(without_salt)
    }

    async fn check_exclusions(&self) -> Result<(), DatabaseCheckError> {
        let mut after = None;
        loop {
            let page = self.store.logged_changes(after, PAGE_SIZE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.position);
            for change in &page {
                let changed = || DatabaseCheckError::ChangedExclusion(change.position);
                let bodies = bodies_of(change)?.ok_or_else(changed)?;
                if !bodies.contains(&change.body) {
                    return Err(changed());
                }
            }
        }
    }
}

/// Returns the entry bodies of an exclusion's row; `None` if the row is missing.
fn bodies_of(change: &LoggedChange) -> Result<Option<Vec<String>>, PublicLogError> {
    let Some(vote_seq) = change.vote_seq else { return Ok(None) };
    let row = UnloggedChange {
        id: change.subject.clone(),
        vote_seq,
        rule: change.rule.clone().unwrap_or_default(),
        reason: change.reason.clone().unwrap_or_default(),
        excluded_at: change.excluded_at.unwrap_or_default(),
        withdrawn_at: change.withdrawn_at,
        is_logged: false,
    };
    Ok(Some(entries_of_change(&row)?.into_iter().map(|entry| entry.body).collect()))
}

fn salt_bytes(salt: &str) -> Option<[u8; SALT_BYTES]> {
    decode_hex(salt)?.try_into().ok()
}
