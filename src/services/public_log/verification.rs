//! Checks a log from outside, as `langya verify` does: with nothing but what everybody can read, and what is known from the last time.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use serde_json::Value;

use crate::domain::public_log::audit::{Audit, AuditError};
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::domain::public_log::cosignature::WitnessKey;
use crate::domain::public_log::merkle_proof::TreeHead;
use crate::domain::public_log::note::{InvalidKey, NoteError, VerifierKey};
use crate::domain::public_log::receipt::{LogReceipt, LogReceiptError, OpenPromises};
use crate::domain::public_log::recount::{RatingRules, Recount, RecountError, differences};
use crate::domain::public_log::tile::{Tile, TileKind};
use crate::domain::rating::FitError;
use crate::infra::public_log_source::{PublicLogSource, SourceError};

/// Tiles fetched at the same time.
const AT_ONCE: usize = 8;
/// How often the log and the leaderboard are read again where votes came in between, and the wait before.
const TRIES: usize = 10;
const WAIT: Duration = Duration::from_secs(2);

/// Why a log is not verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A part of it cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// No key is given or known, and for this reason none is read from the arena.
    #[error("{0}; the key of the log is read there: check the address, or give the key with --key")]
    NoKey(#[source] Box<VerifyError>),
    /// The key is not the one that was trusted the last time.
    #[error(
        "the key of the log has changed: {found} instead of {known}. If the operator announced another key, give it \
         with --key"
    )]
    OtherKey {
        /// The key that the arena names.
        found: String,
        /// The key that was known.
        known: String,
    },
    /// The checkpoint is not signed as it should be.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is no checkpoint of this log.
    #[error("the signed text is not a checkpoint of {0}")]
    NotACheckpoint(String),
    /// Witnesses that were asked for did not sign it.
    #[error("the checkpoint is not signed by {}: ask the operator of the arena or of the witness why", .0.join(", "))]
    Unwitnessed(Vec<String>),
    /// The log is wrong.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A receipt is wrong, or of a tree that the log does not continue.
    #[error(transparent)]
    Receipt(#[from] LogReceiptError),
    /// No leaderboard follows from the entries.
    #[error(transparent)]
    Recount(#[from] RecountError),
    /// The published rules of the fit cannot be used.
    #[error(transparent)]
    Rules(#[from] FitError),
    /// What the arena says of itself cannot be read.
    #[error("{0} cannot be read as JSON: {1}")]
    Json(&'static str, serde_json::Error),
    /// The published leaderboard does not follow from the log.
    #[error("the leaderboard does not follow from the log:\n{}", .0.join("\n"))]
    OtherLeaderboard(Vec<String>),
}

/// What a verifier trusts before it reads a log.
#[derive(Debug, Clone, Default)]
pub struct TrustAnchors {
    /// The key to trust; without one, the key that the arena names is taken.
    pub key: Option<VerifierKey>,
    /// The note that was verified the last time.
    pub checkpoint: Option<String>,
    /// Who has to have signed the checkpoint beside the log.
    pub witnesses: Vec<WitnessKey>,
}

/// What to compare the log with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderboardSource {
    /// The leaderboard that the arena publishes.
    Published,
    /// None: only the log is checked.
    Skipped,
}

/// A log in which everything holds.
#[derive(Debug)]
pub struct Verified {
    /// The key that signed it.
    pub key: VerifierKey,
    /// The signed note.
    pub checkpoint: String,
    /// The tree.
    pub head: TreeHead,
    /// The tree that was known before.
    pub known: Option<TreeHead>,
    /// Votes in the log.
    pub votes: usize,
    /// Votes that are excluded now.
    pub excluded: usize,
    /// Votes of the leaderboard that follows from the log; `None` where it was not compared.
    pub leaderboard_votes: Option<u64>,
    /// Receipts that hold.
    pub receipts: usize,
    /// Names of the witnesses that signed it, with the times in seconds since 1970.
    pub witnesses: Vec<(String, u64)>,
}

/// What an arena says of its log.
#[derive(Debug, Deserialize)]
struct Description {
    key: String,
    rating: RatingRules,
}

/// A log as it was read.
struct ReadLog {
    checkpoint: String,
    witnesses: Vec<(String, u64)>,
    head: TreeHead,
    recount: Recount,
}

/// Verifies a log: signature, tree, entries, receipts, and the leaderboard. `progress` gets the entries read and all.
///
/// # Errors
/// [`VerifyError`] for the first thing that does not hold.
pub async fn verify(
    source: &PublicLogSource,
    known: &TrustAnchors,
    receipts: &[LogReceipt],
    leaderboard: LeaderboardSource,
    progress: impl Fn(u64, u64),
) -> Result<Verified, VerifyError> {
    let description = describe(source).await;
    let Some(key) = trusted_key(known, description.as_ref().ok())? else {
        let reason = description.err().unwrap_or_else(|| InvalidKey.into());
        return Err(VerifyError::NoKey(Box::new(reason)));
    };
    let known_head = known.checkpoint.as_deref().and_then(|note| known_head(note, &key));
    let mut tries = 0;
    let (read, leaderboard_votes) = loop {
        tries += 1;
        // The leaderboard first: the log follows it.
        let published = match leaderboard {
            LeaderboardSource::Published => {
                Some(read_json("the leaderboard", source.beside("api/v1/leaderboard", "leaderboard.json").await?)?)
            }
            LeaderboardSource::Skipped => None,
        };
        let read = match read_log(source, (&key, &known.witnesses), known_head, receipts, &progress).await {
            // They sign a checkpoint a moment after the log does.
            Err(VerifyError::Unwitnessed(_)) if tries < TRIES && is_live(source) => {
                tokio::time::sleep(WAIT).await;
                continue;
            }
            read => read?,
        };
        let Some(published) = published else { break (read, None) };
        let rules = match &description {
            Ok(description) => description.rating,
            Err(_) => describe(source).await?.rating,
        };
        match compare(&read.recount, &published, &rules) {
            Ok(votes) => break (read, Some(votes)),
            // Votes or exclusions came in between the two.
            Err(VerifyError::OtherLeaderboard(_) | VerifyError::Recount(RecountError::TooFew(_)))
                if tries < TRIES && is_live(source) =>
            {
                tokio::time::sleep(WAIT).await;
            }
            Err(error) => return Err(error),
        }
    };
    Ok(Verified {
        key,
        checkpoint: read.checkpoint,
        head: read.head,
        known: known_head,
        votes: read.recount.votes(),
        excluded: read.recount.excluded(),
        leaderboard_votes,
        receipts: receipts.len(),
        witnesses: read.witnesses,
    })
}

/// Whether a second reading can find another state.
fn is_live(source: &PublicLogSource) -> bool {
    matches!(source, PublicLogSource::Http { .. })
}

async fn describe(source: &PublicLogSource) -> Result<Description, VerifyError> {
    let found = source.beside("api/v1/log", "log.json").await?;
    serde_json::from_slice(&found).map_err(|error| VerifyError::Json("what the arena says of its log", error))
}

fn read_json(what: &'static str, bytes: Vec<u8>) -> Result<Value, VerifyError> {
    serde_json::from_slice(&bytes).map_err(|error| VerifyError::Json(what, error))
}

/// The key that is known, or the one that the arena names where none is.
fn trusted_key(known: &TrustAnchors, description: Option<&Description>) -> Result<Option<VerifierKey>, VerifyError> {
    let named = description.map(|description| VerifierKey::parse(&description.key)).transpose()?;
    match (known.key.clone(), named) {
        (Some(known), Some(named)) if known != named => {
            Err(VerifyError::OtherKey { found: named.to_string(), known: known.to_string() })
        }
        (known, named) => Ok(known.or(named)),
    }
}

/// The tree of a note that was verified before; a note that this key did not sign says nothing.
fn known_head(note: &str, key: &VerifierKey) -> Option<TreeHead> {
    Some(Checkpoint::parse(key.verify(note).ok()?)?.head)
}

/// When each of the witnesses signed a note.
fn witnessed(note: &str, witnesses: &[WitnessKey]) -> Result<Vec<(String, u64)>, VerifyError> {
    let (mut signed, mut missing) = (Vec::new(), Vec::new());
    for witness in witnesses {
        match witness.cosigned_at(note)? {
            Some(time) => signed.push((witness.name().to_owned(), time)),
            None => missing.push(witness.name().to_owned()),
        }
    }
    if missing.is_empty() { Ok(signed) } else { Err(VerifyError::Unwitnessed(missing)) }
}

async fn read_log(
    source: &PublicLogSource,
    (key, witnesses): (&VerifierKey, &[WitnessKey]),
    known: Option<TreeHead>,
    receipts: &[LogReceipt],
    progress: &impl Fn(u64, u64),
) -> Result<ReadLog, VerifyError> {
    let note = String::from_utf8(source.part("checkpoint").await?).map_err(|_| NoteError::Malformed)?;
    let checkpoint = Checkpoint::parse(key.verify(&note)?).filter(|checkpoint| checkpoint.origin == key.name());
    let head = checkpoint.ok_or_else(|| VerifyError::NotACheckpoint(key.name().to_owned()))?.head;
    let witnesses = witnessed(&note, witnesses)?;
    let mut audit = Audit::new(head, known)?;
    let mut promises = OpenPromises::new(receipts, key)?;
    let bundles = Tile::all(head.size).take_while(|tile| tile.level() == 0);
    let mut bundles = stream::iter(bundles)
        .map(async |tile| {
            let entries = source.part(&TileKind::Entries(tile).to_string()).await?;
            Ok::<_, SourceError>((tile, entries, source.part(&TileKind::Hashes(tile).to_string()).await?))
        })
        .buffered(AT_ONCE);
    while let Some((tile, entries, hashes)) = bundles.try_next().await? {
        audit.add(tile, &entries, &hashes)?;
        receipts.iter().try_for_each(|receipt| receipt.check_in(tile, &hashes, key))?;
        promises.keep(&entries, key.name())?;
        progress(tile.end(), head.size);
    }
    drop(bundles);
    for tile in Tile::all(head.size).skip_while(|tile| tile.level() == 0) {
        audit.check(tile, &source.part(&TileKind::Hashes(tile).to_string()).await?)?;
    }
    receipts.iter().try_for_each(|receipt| receipt.check_size(head.size))?;
    promises.check_none_left()?;
    Ok(ReadLog { checkpoint: note, witnesses, head, recount: audit.finish()? })
}

/// The votes of a leaderboard that follows from the log.
fn compare(recount: &Recount, leaderboard: &Value, rules: &RatingRules) -> Result<u64, VerifyError> {
    let votes = leaderboard["votes"]["read"].as_u64().unwrap_or(0);
    let recounted = recount.leaderboard(usize::try_from(votes).unwrap_or(usize::MAX), &rules.options()?)?;
    let found = differences(leaderboard, &recounted);
    if found.is_empty() { Ok(votes) } else { Err(VerifyError::OtherLeaderboard(found)) }
}
