//! Public log of votes: [`sequencer`] appends published votes and signs the tree, and [`reader`] reads checkpoint, tiles, entries and
//! receipts. [`PublicLog::is_behind`] returns whether promises are suspended, and [`promise_watch`] logs changes of that. [`continuity`]
//! checks that the stored log continues signed checkpoints, [`verification`] checks a log from outside, [`database_check`] the database
//! against its own log.

pub mod continuity;
pub mod database_check;
mod lag;
pub mod promise_watch;
pub mod reader;
pub mod sequencer;
mod stored_tiles;
pub mod verification;
mod vote_entries;
pub mod witnesses;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};

use crate::domain::plural::counted;
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::domain::public_log::entry_bundle::EntryTooLong;
use crate::domain::public_log::merkle_proof::TreeHead;
use crate::domain::public_log::promised_vote::PromisedVote;
use crate::infra::public_log::signing_key::{PublicLogKey, UnusableKey};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{OutageKind, Store, StoreError};
use crate::infra::time::clock::Clock;
use lag::LastLag;
pub use lag::LogRole;

/// Names of the log's secrets in the database.
const KEY_NAME: &str = "log_key";
const ORIGIN_NAME: &str = "log_origin";

/// Error of reading or appending to the log.
#[derive(thiserror::Error)]
pub enum PublicLogError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The secrets of the log are damaged.
    #[error(transparent)]
    Key(#[from] UnusableKey),
    /// An entry is too long for publication.
    #[error(transparent)]
    TooLong(#[from] EntryTooLong),
    /// The database is older than the signed checkpoint.
    #[error(
        "the public log shrank: the database has {}, but {} before ({path}). Restore a later backup; \
         if there is none, remove that file, and the log continues from here; everyone who verified it before will see that it shrank",
        counted(.found, "entry", "entries"),
        counted(.signed, "was signed", "were signed")
    )]
    Shrank {
        /// Number of entries in the database.
        found: u64,
        /// Number of entries in the largest checkpoint known to this instance.
        signed: u64,
        /// File of that checkpoint.
        path: PathBuf,
    },
    /// Entries differ from the signed ones.
    #[error(
        "the public log was rewritten: the first {0} entries in the database are not those that were signed. Restore the database from \
         a backup; nothing is signed until then"
    )]
    Rewritten(u64),
    /// The secrets do not match the stored log.
    #[error(
        "the key or the name of the public log in the database is not the one that signed its latest checkpoint: restore the table \
         secrets from a backup; nothing is signed until then"
    )]
    OtherKey,
    /// The file has the checkpoint of another log.
    #[error("{0} holds a checkpoint that this database's key did not sign: remove the file if this is a new arena")]
    Foreign(PathBuf),
    /// Rows are missing.
    #[error("the public log in the database is incomplete: {0}. Restore the database from a backup")]
    Incomplete(String),
    /// The checkpoint file cannot be read or written.
    #[error("{path} cannot be used: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl PublicLogError {
    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_outage())
    }

    /// Whether the database refused a statement for lack of a right.
    fn lacks_right(&self) -> bool {
        matches!(self, Self::Store(error) if error.outage_kind() == Some(OutageKind::NoPrivilege))
    }

    /// Whether the failure also prevents storing votes. A lock, a missing privilege and a full disk may affect the log's tables only.
    fn stops_votes(&self) -> bool {
        const TABLE_OUTAGES: [OutageKind; 3] = [OutageKind::TableLocked, OutageKind::NoPrivilege, OutageKind::DiskFull];
        let Self::Store(error) = self else { return false };
        error.is_closed() || error.outage_kind().is_some_and(|kind| !TABLE_OUTAGES.contains(&kind))
    }
}

/// Formats the error and, for a failed statement, its cause, which a [`StoreError`] omits from its message.
impl fmt::Debug for PublicLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => fmt::Debug::fmt(error, f),
            error => fmt::Display::fmt(error, f),
        }
    }
}

/// Public log of an arena: its name, its key and its database.
#[derive(Debug, Clone)]
pub struct PublicLog {
    store: Store,
    key: Arc<PublicLogKey>,
    last_lag: Arc<Mutex<LastLag>>,
}

impl PublicLog {
    /// Reads or creates the log's name and key, which never change for a database. The name is the log's address if the arena's public
    /// address is set, and otherwise random.
    ///
    /// # Errors
    /// [`PublicLogError`].
    pub async fn open(
        store: Store,
        rng: &SharedRng,
        clock: &dyn Clock,
        public_url: &str,
    ) -> Result<Self, PublicLogError> {
        let now = clock.now();
        let seed = store.secret(KEY_NAME, &(rng.token() + &rng.token()), now).await?;
        let origin = store.secret(ORIGIN_NAME, &new_origin(public_url, rng), now).await?;
        let log = Self::with_secrets(store, &origin, &seed)?;
        log.refresh_lag().await?;
        Ok(log)
    }

    /// Reads the log's name and key without writing; `None` if the arena has not created them yet.
    ///
    /// # Errors
    /// [`PublicLogError`].
    pub async fn read(store: Store) -> Result<Option<Self>, PublicLogError> {
        let (seed, origin) = (store.stored_secret(KEY_NAME).await?, store.stored_secret(ORIGIN_NAME).await?);
        seed.zip(origin).map(|(seed, origin)| Self::with_secrets(store, &origin, &seed)).transpose()
    }

    fn with_secrets(store: Store, origin: &SecretString, seed: &SecretString) -> Result<Self, PublicLogError> {
        let key = PublicLogKey::new(origin.expose_secret(), seed.expose_secret())?;
        Ok(Self { store, key: Arc::new(key), last_lag: Arc::new(Mutex::new(LastLag::new())) })
    }

    /// Returns the public key that verifies checkpoints, under the name of the log.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        &self.key
    }

    /// Signs the inclusion promise of a vote. It is signed in memory after the commit, and reproducible for a voter who asks again: all of
    /// its content is in the vote's row.
    #[must_use]
    pub fn promise(&self, vote: &PromisedVote<'_>) -> String {
        self.key.sign_promise(&vote.promise())
    }

    fn checkpoint(&self, head: TreeHead) -> Checkpoint {
        Checkpoint { origin: self.key.verifier().name().to_owned(), head }
    }
}

/// Returns the name of a new log: its address without the scheme, as the format recommends.
fn new_origin(public_url: &str, rng: &SharedRng) -> String {
    let host = public_url.split_once("://").map_or("", |(_, rest)| rest).trim_end_matches('/');
    let usable = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
    if usable { format!("{host}/log") } else { format!("langya-{}/log", &rng.token()[..12]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_after_the_address_of_its_arena() {
        let rng = SharedRng::seeded(1);
        assert_eq!(new_origin("https://arena.example/", &rng), "arena.example/log");
        assert_eq!(new_origin("https://arena.example:8443", &rng), "arena.example:8443/log");
        for unnamed in ["", "nonsense", "https://", "https://a+b"] {
            let name = new_origin(unnamed, &rng);
            assert!(name.starts_with("langya-") && name.ends_with("/log") && name.len() == 23, "{name}");
        }
    }
}
