//! The public log: appended in order by one of several, signed once, and never against what was signed before.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use langya::domain::battle::{BattleId, VisitorId};
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::domain::integrity::pseudonym::voter_pseudonym;
use langya::domain::public_log::checkpoint::Checkpoint;
use langya::domain::public_log::commitment::{PrivateTurn, PrivateVoteData};
use langya::domain::public_log::entry::LogEntry;
use langya::domain::public_log::hash::TreeHash;
use langya::domain::public_log::merkle_proof::TreeHead;
use langya::domain::public_log::tile::{Tile, TileKind};
use langya::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::{CurrentSettings, Settings};
use langya::infra::public_log::signed_checkpoint_file::CheckpointFile;
use langya::infra::public_log::signing_key::PublicLogKey;
use langya::infra::rng::SharedRng;
use langya::infra::storage::{
    LogAppend, LogCheckpoint, LogSubject, NewLogEntry, NewSalt, Store, StoredLeaderboard, UnloggedVotes, VoteExclusion,
};
use langya::infra::time::clock::SystemClock;
use langya::services::import_export::import::{self, VotesFile};
use langya::services::leaderboard::latest_leaderboard::LatestLeaderboard;
use langya::services::public_log::reader::PublicLogLookup;
use langya::services::public_log::sequencer::{Sequencer, SequencerDependencies};
use langya::services::public_log::{PublicLog, PublicLogError};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{exclude, ready, vote};

pub(super) const FORBIDDEN: [&str; 2] = ["UPDATE log_entries SET body = '{}'", "DELETE FROM log_entries"];

/// An entry, so that there is something to change.
pub(super) async fn fill(store: &Store) {
    let numbers = cast(store, &["logged"]).await;
    show(store, numbers[0]).await;
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(append_all(store, folder.path()).await, 1);
}

/// The log of a database.
pub(crate) async fn log_of(store: &Store) -> PublicLog {
    PublicLog::open(store.clone(), &SharedRng::seeded(7), &SystemClock, "https://arena.example").await.unwrap()
}

/// What appends to the log of a database, with its file in this folder.
pub(crate) async fn sequencer(store: &Store, folder: &Path) -> Sequencer {
    Sequencer::new(SequencerDependencies {
        log: log_of(store).await,
        leaderboard: Arc::new(LatestLeaderboard::open(store).await.unwrap()),
        clock: Arc::new(SystemClock),
        rng: Arc::new(SharedRng::from_system()),
        file: CheckpointFile::in_folder(folder),
        settings: CurrentSettings::new(Settings::default()),
    })
}

/// Stores a leaderboard that shows the votes up to this number.
pub(crate) async fn show(store: &Store, last_vote_seq: i64) {
    let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard).unwrap();
    let fitted_at = Timestamp(last_vote_seq * 60_000);
    store.put_leaderboard(&StoredLeaderboard { fit: 0, fitted_at, last_vote_seq, body }).await.unwrap();
}

/// Votes on new battles of these names, and their numbers.
pub(crate) async fn cast(store: &Store, battles: &[&str]) -> Vec<i64> {
    let mut numbers = Vec::new();
    for battle in battles {
        ready(store, battle).await;
        store.insert_vote(&vote(&format!("vote-{battle}"), battle, 1)).await.unwrap();
        numbers.push(store.vote_on(&BattleId::new(*battle)).await.unwrap().unwrap().seq);
    }
    numbers
}

/// Appends everything that is shown, as an instance that has just started would.
async fn append_all(store: &Store, folder: &Path) -> usize {
    let (mut sequencer, mut appended) = (sequencer(store, folder).await, 0);
    loop {
        match sequencer.append().await.unwrap() {
            0 => return appended,
            entries => appended += entries,
        }
    }
}

/// The bytes of a salt.
fn bytes(salt: &str) -> [u8; 32] {
    std::array::from_fn(|at| u8::from_str_radix(&salt[2 * at..2 * at + 2], 16).unwrap())
}

async fn head(store: &Store) -> TreeHead {
    store.log_checkpoint().await.unwrap().unwrap().head
}

async fn bodies(store: &Store) -> Vec<Value> {
    let bodies = store.log_bodies(0..u64::MAX).await.unwrap();
    bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
}

pub(super) async fn votes_are_in_the_log_once_the_leaderboard_shows_them(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(append_all(store, folder.path()).await, 0);
    assert_eq!(head(store).await, TreeHead { size: 0, root: TreeHash::empty_root() });
    let numbers = cast(store, &["x", "y", "z"]).await;
    assert_eq!(append_all(store, folder.path()).await, 0, "no leaderboard shows a vote yet");
    show(store, numbers[1]).await;
    assert_eq!(append_all(store, folder.path()).await, 2);
    show(store, numbers[2]).await;
    assert_eq!((append_all(store, folder.path()).await, head(store).await.size), (1, 3));
    assert_eq!(append_all(store, folder.path()).await, 0);

    let entries = bodies(store).await;
    let of_votes: Vec<_> = entries.iter().map(|entry| entry["vote"]["seq"].as_i64().unwrap()).collect();
    assert_eq!(of_votes, numbers);
    let one = entries[0]["vote"]["voter"].as_str().unwrap();
    assert!(one.len() == 16 && entries.iter().all(|entry| entry["vote"]["voter"] == one), "one visitor: {entries:?}");
    let published = store.log_bodies(0..3).await.unwrap().concat();
    for private in ["visitor", &voter_pseudonym("visitor"), "vote-x", "琅琊榜", "\"x\"", "Hm."] {
        assert!(!published.contains(private), "{private} in {published}");
    }
}

pub(super) async fn votes_that_the_log_lacks_are_counted_and_wait_since_they_were_cast_unless_they_were_imported(
    store: &Store,
) {
    let folder = tempfile::tempdir().unwrap();
    let unlogged = async || store.unlogged_votes(3).await.unwrap();
    assert_eq!(unlogged().await, UnloggedVotes::default());
    let numbers = cast(store, &["x", "y"]).await;
    let cast_here = |count| UnloggedVotes { count, oldest_cast: Some(Timestamp(2_000)) };
    assert_eq!(unlogged().await, cast_here(2));
    show(store, numbers[0]).await;
    assert_eq!((append_all(store, folder.path()).await, unlogged().await), (1, cast_here(1)), "the second vote");
    show(store, numbers[1]).await;
    assert_eq!((append_all(store, folder.path()).await, unlogged().await), (1, UnloggedVotes::default()));

    let (file, imported_at) = (folder.path().join("votes.csv"), Timestamp(1_800_000_000_000));
    let row = "one,two,model_a,1700000000\n";
    std::fs::write(&file, format!("model_a,model_b,winner,tstamp\n{row}")).unwrap();
    let read = VotesFile::read(&file, &ReadOptions::default(), imported_at).unwrap();
    import::votes(store, read, |_, _| {}).await.unwrap();
    assert_eq!(unlogged().await, UnloggedVotes { count: 1, oldest_cast: None });
    cast(store, &["z"]).await;
    assert_eq!(unlogged().await, cast_here(2), "behind an imported one");
    cast(store, &["v", "w"]).await;
    assert_eq!(unlogged().await, cast_here(3), "no more are counted");
    assert!(!store.is_importing().await.unwrap());
}

/// A folder that is there once its disk is: the entries are in the database meanwhile.
pub(super) async fn a_checkpoint_that_could_not_be_kept_is_kept_once_it_can_be(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let (disk, data) = (folder.path().join("disk"), folder.path().join("data"));
    std::os::unix::fs::symlink(&disk, &data).unwrap();
    let numbers = cast(store, &["x"]).await;
    show(store, numbers[0]).await;
    let mut sequencer = sequencer(store, &data).await;
    let refused = sequencer.append().await.unwrap_err();
    assert!(matches!(refused, PublicLogError::File { .. }), "{refused}");
    let refused = sequencer.append().await.unwrap_err();
    assert!(matches!(refused, PublicLogError::File { .. }), "as long as it is not kept: {refused}");
    assert_eq!(head(store).await.size, 1);
    std::fs::create_dir(&disk).unwrap();
    assert_eq!(sequencer.append().await.unwrap(), 0);
    let signed = store.log_checkpoint().await.unwrap().unwrap().note;
    assert_eq!(CheckpointFile::in_folder(&data).read().unwrap(), Some(signed));
}

pub(super) async fn an_entry_commits_to_what_it_does_not_show(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let numbers = cast(store, &["x", "y"]).await;
    show(store, numbers[1]).await;
    append_all(store, folder.path()).await;
    let logged = store.logged_vote("vote-y").await.unwrap().unwrap();
    let salt = logged.salt.unwrap();
    let bytes = bytes(&salt);
    let turns = vec![PrivateTurn { prompt: "琅琊榜?", a: "A", b: "B" }];
    let voter = voter_pseudonym("visitor");
    let parts = PrivateVoteData { vote: "vote-y", battle: "y", voter: &voter, turns };
    let Ok(LogEntry::Vote(entry)) = serde_json::from_str(&logged.body) else { panic!("{}", logged.body) };
    assert_eq!(entry.commitment, parts.commit(&bytes));

    let log = log_of(store).await;
    let receipt = async || match log.receipt("vote-y", Duration::ZERO).await.unwrap() {
        Some(PublicLogLookup::Logged(found)) => *found,
        other => panic!("{other:?}"),
    };
    let before = receipt().await;
    assert_eq!(store.delete_texts_of(&VisitorId::new("visitor"), Timestamp(50)).await.unwrap(), 2);
    let after = receipt().await;
    assert_eq!((after.salt, &after.logged), (None, &before.logged), "the proof holds without the salt");
    let checkpoint = after.logged.verify(log.key().verifier()).unwrap();
    assert_eq!(checkpoint.head, head(store).await);
}

/// An entry as it is made of texts that were read, or of none.
fn made(subject: &str, texts_of: Option<&str>) -> NewLogEntry {
    let salt = NewSalt { digits: "00".repeat(32), texts_of: texts_of.map(BattleId::new) };
    NewLogEntry { kind: LogSubject::Vote, subject: subject.into(), body: "{}".into(), salt: Some(salt) }
}

pub(super) async fn texts_that_are_deleted_while_their_vote_is_appended_leave_no_salt(store: &Store) {
    let numbers = cast(store, &["x", "y", "z"]).await;
    let append = |before: Option<TreeHead>, entries: Vec<NewLogEntry>| {
        let size = before.map_or(0, |head| head.size) + entries.len() as u64;
        let head = TreeHead { size, root: TreeHash::leaf(&size.to_be_bytes()) };
        let (note, signed_at, last_vote_seq) = (String::new(), Timestamp(1), numbers[2]);
        let after = LogCheckpoint { head, note, signed_at, last_vote_seq, exclusion_changes: 0 };
        LogAppend { before, entries, filled: Vec::new(), voters: Vec::new(), after }
    };
    let salt = async |vote: &str| store.logged_vote(vote).await.unwrap().unwrap().salt;
    // The order of a quick log: the entry, then the deletion. `y` is made meanwhile, and stored after it.
    let (first, second) =
        (append(None, vec![made("vote-x", Some("x"))]), vec![made("vote-y", Some("y")), made("vote-z", None)]);
    assert!(store.append_to_log(&first).await.unwrap());
    assert!(salt("vote-x").await.is_some());
    assert_eq!(store.delete_texts_of(&VisitorId::new("visitor"), Timestamp(50)).await.unwrap(), 3);
    assert!(store.append_to_log(&append(Some(first.after.head), second)).await.unwrap());
    assert_eq!(salt("vote-x").await, None, "deleted with the texts");
    assert_eq!(salt("vote-y").await, None, "not stored, since the texts are gone");
    assert!(salt("vote-z").await.is_some(), "it hides no texts, as an imported vote");
}

/// Both at the same time, in whatever order the database has them.
pub(super) async fn a_deletion_beside_an_append_leaves_no_salt(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let names: Vec<String> = (0..30).map(|n| format!("r{round}-{n}")).collect();
        let numbers = cast(store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        show(store, *numbers.last().unwrap()).await;
        let (mut sequencer, visitor) = (sequencer(store, folder.path()).await, VisitorId::new("visitor"));
        let (appended, deleted) = tokio::join!(sequencer.append(), store.delete_texts_of(&visitor, Timestamp(50)));
        assert_eq!((appended.unwrap(), deleted.unwrap()), (30, 30), "round {round}");
        for name in &names {
            let vote = format!("vote-{name}");
            let logged = store.logged_vote(&vote).await.unwrap().unwrap();
            // Where the deletion came before the texts were read, the salt hides none.
            let hides_no_text = |salt: String| {
                let voter = voter_pseudonym("visitor");
                let parts = PrivateVoteData { vote: &vote, battle: name, voter: &voter, turns: Vec::new() };
                logged.body.contains(&parts.commit(&bytes(&salt)))
            };
            assert!(logged.salt.clone().is_none_or(hides_no_text), "{name}: {logged:?}");
        }
    }
}

pub(super) async fn exclusions_and_withdrawals_follow_their_votes(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let first = cast(store, &["x"]).await[0];
    ready(store, "y").await;
    let leak = VoteExclusion { rule: ExclusionRule::IdentityLeak, reason: "names itself".into() };
    let mut with_leak = vote("vote-y", "y", 1);
    with_leak.exclusions.push(leak);
    store.insert_vote(&with_leak).await.unwrap();
    let second = store.vote_on(&BattleId::new("y")).await.unwrap().unwrap().seq;
    exclude(store, "x", "admin").await;
    exclude(store, "y", "admin").await;
    show(store, first).await;
    assert_eq!(append_all(store, folder.path()).await, 2, "the exclusion of a vote that is not in the log yet waits");
    assert!(store.withdraw_exclusion(first, "admin", "ann", Timestamp(20)).await.unwrap());
    assert!(store.withdraw_exclusion(second, "identity_leak", "ann", Timestamp(21)).await.unwrap());
    exclude(store, "x", "rate_limited").await;
    show(store, second).await;
    append_all(store, folder.path()).await;
    let entries: Vec<String> = bodies(store).await.iter().map(|entry| summary(entry, first)).collect();
    let expected = [
        "vote 1",
        "exclusion 1 admin",
        "vote 2 identity_leak",
        "withdrawal 1 admin",
        "exclusion 1 rate_limited",
        "exclusion 2 admin",
        "withdrawal 2 identity_leak",
    ];
    assert_eq!(entries, expected);
    assert_eq!(append_all(store, folder.path()).await, 0, "each comes once");
    let logged = store.log_checkpoint().await.unwrap().unwrap().exclusion_changes;
    assert_eq!(logged, store.exclusion_changes().await.unwrap());
}

/// Kind, vote and rules of an entry.
fn summary(entry: &Value, first: i64) -> String {
    let (kind, entry) = entry.as_object().unwrap().iter().next().unwrap();
    let vote = entry["seq"].as_i64().unwrap() - first + 1;
    let with: Vec<&str> =
        entry["excluded"].as_array().into_iter().flatten().filter_map(|row| row["rule"].as_str()).collect();
    let rule = entry["rule"].as_str().map_or(with.concat(), str::to_owned);
    format!("{kind} {vote} {rule}").trim_end().to_owned()
}

pub(super) async fn of_two_that_append_one_has_its_way(store: &Store) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut sequencers = [sequencer(store, folders[0].path()).await, sequencer(store, folders[1].path()).await];
    let mut heads = Vec::new();
    for round in 0..6 {
        let names: Vec<String> = (0..50).map(|n| format!("b{round}-{n}")).collect();
        let numbers = cast(store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        show(store, *numbers.last().unwrap()).await;
        for sequencer in &sequencers {
            sequencer.leaderboard().reload(store).await.unwrap();
        }
        let [one, other] = &mut sequencers;
        let (one, other) = tokio::join!(one.append(), other.append());
        assert_eq!(one.unwrap() + other.unwrap(), 50, "round {round}");
        heads.push(head(store).await);
    }
    let log = log_of(store).await;
    for (before, after) in heads.iter().zip(&heads[1..]) {
        assert_eq!(after.size, before.size + 50);
    }
    let leaves: Vec<TreeHash> =
        store.log_bodies(0..300).await.unwrap().iter().map(|body| TreeHash::leaf(body.as_bytes())).collect();
    let tile = |number| TileKind::Hashes(Tile::at(0, number, 300).unwrap());
    let (first, second) = (log.tile(tile(0)).await.unwrap().unwrap(), log.tile(tile(1)).await.unwrap().unwrap());
    let bytes: Vec<u8> = leaves.iter().flat_map(|leaf| leaf.0).collect();
    assert_eq!([first, second].concat(), bytes);

    // One that was made from an older tree changes nothing.
    let stored = store.log_checkpoint().await.unwrap().unwrap();
    let stale = LogAppend {
        before: Some(heads[0]),
        entries: Vec::new(),
        filled: Vec::new(),
        voters: vec![(VisitorId::new("nobody"), "tag".into())],
        after: stored.clone(),
    };
    assert!(!store.append_to_log(&stale).await.unwrap());
    assert!(!store.append_to_log(&LogAppend { before: None, ..stale }).await.unwrap());
    assert_eq!(store.log_checkpoint().await.unwrap(), Some(stored));
    assert_eq!(store.log_voters(&["nobody"]).await.unwrap(), []);
}

pub(super) async fn instances_that_share_a_folder_see_no_log_that_shrank(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut leader = sequencer(store, folder.path()).await;
    leader.append().await.unwrap();
    let (done, mut tasks) = (CancellationToken::new(), JoinSet::new());
    for _ in 0..4 {
        let (mut follower, done) = (sequencer(store, folder.path()).await, done.clone());
        tasks.spawn(async move {
            while !done.is_cancelled() {
                follower.follow().await?;
            }
            Ok::<_, PublicLogError>(())
        });
    }
    for round in 0..100 {
        let numbers = cast(store, &[&format!("shared-{round}")]).await;
        show(store, numbers[0]).await;
        leader.leaderboard().reload(store).await.unwrap();
        assert_eq!(leader.append().await.unwrap(), 1, "round {round}");
    }
    done.cancel();
    while let Some(followed) = tasks.join_next().await {
        followed.unwrap().unwrap();
    }
}

pub(super) async fn nothing_is_signed_against_an_earlier_checkpoint(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let numbers = cast(store, &["x", "y", "z"]).await;
    show(store, numbers[1]).await;
    append_all(store, folder.path()).await;
    let (log, file) = (log_of(store).await, CheckpointFile::in_folder(folder.path()));
    let kept = file.read().unwrap().unwrap();
    assert_eq!(log.key().verifier().verify(&kept).unwrap().lines().nth(1), Some("2"), "the file keeps what was signed");
    show(store, numbers[2]).await;
    let origin = log.key().verifier().name().to_owned();
    let signed = |size, root| log.key().sign(&Checkpoint { origin: origin.clone(), head: TreeHead { size, root } });
    let refused = async |note: &str| {
        file.write(note).unwrap();
        let mut sequencer = sequencer(store, folder.path()).await;
        let followed = sequencer.follow().await.unwrap_err().to_string();
        let refused = sequencer.append().await.unwrap_err();
        assert_eq!((refused.to_string(), file.read().unwrap().as_deref()), (followed, Some(note)));
        assert_eq!(head(store).await.size, 2, "nothing was appended");
        refused
    };
    let other_root = TreeHash::leaf(b"another entry");
    let shrank = refused(&signed(3, other_root)).await;
    assert!(matches!(shrank, PublicLogError::Shrank { found: 2, signed: 3, .. }));
    assert!(shrank.to_string().contains("the public log shrank") && shrank.to_string().contains("backup"), "{shrank}");
    assert!(matches!(refused(&signed(2, other_root)).await, PublicLogError::Rewritten(2)));
    assert!(matches!(refused(&signed(1, other_root)).await, PublicLogError::Rewritten(1)));
    let stranger = PublicLogKey::new(&origin, &"11".repeat(32)).unwrap();
    let foreign = stranger.sign(&Checkpoint { origin: origin.clone(), head: head(store).await });
    assert!(matches!(refused(&foreign).await, PublicLogError::Foreign(_)));
    assert!(matches!(refused("").await, PublicLogError::Foreign(_)));

    // After a crash between commit and file the file is behind, and the log goes on.
    let first = TreeHash::leaf(store.log_bodies(0..1).await.unwrap()[0].as_bytes());
    file.write(&signed(1, first)).unwrap();
    assert_eq!((append_all(store, folder.path()).await, head(store).await.size), (1, 3));
    let mut follower = sequencer(store, &folder.path().join("elsewhere")).await;
    follower.follow().await.unwrap();
    let kept = CheckpointFile::in_folder(&folder.path().join("elsewhere")).read().unwrap();
    assert_eq!(kept, file.read().unwrap(), "an instance that does not sign remembers what was signed");
}
