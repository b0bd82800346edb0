//! What `langya verify` finds: everything that is changed in a log, its database or its leaderboard, and nothing where nothing is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use langya::domain::public_log::audit::AuditError;
use langya::domain::public_log::bundle::{decode_entries, encode_entries};
use langya::domain::public_log::checkpoint::Checkpoint;
use langya::domain::public_log::frontier::Frontier;
use langya::domain::public_log::hash::TreeHash;
use langya::domain::public_log::merkle_proof::TreeHead;
use langya::domain::public_log::note::VerifierKey;
use langya::domain::public_log::receipt::{KeptReceipt, LogReceipt};
use langya::domain::public_log::recount::RatingRules;
use langya::domain::public_log::tile::{Tile, TileKind, encode_hashes};
use langya::domain::rating::options::IntervalMethod;
use langya::domain::rating::ranking::rank_log;
use langya::domain::rating::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::StorageSettings;
use langya::infra::public_log_key::PublicLogKey;
use langya::infra::public_log_source::PublicLogSource;
use langya::infra::storage::{IfMissing, NewExclusions, Store, StoredLeaderboard, VoteRange};
use langya::infra::stored_votes::vote_log::{LogQuery, read_log};
use langya::services::leaderboard::refit::LeaderboardSnapshot;
use langya::services::public_log::reader::PublicLogLookup;
use langya::services::public_log::verification::{LeaderboardSource, TrustAnchors, VerifyError, verify};
use langya::services::transfer::import;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tempfile::TempDir;

use crate::storage::public_log::{cast, log_of, sequencer};
use crate::support::arena::SEED;
use crate::support::program::langya;
use crate::support::size;

const RULES: RatingRules = RatingRules {
    confidence: 0.95,
    interval: IntervalMethod::Auto,
    min_votes: 30,
    equal_within: 10.0,
    optimal_at_battles: 100,
};
/// Enough for a full tile, a partial one and a level above.
const VOTES: usize = 300;

/// An arena without a server: its database, and the checkpoint that somebody has verified before it grew to its size.
struct Arena {
    folder: TempDir,
    store: Store,
    known: TrustAnchors,
}

fn settings(folder: &Path) -> StorageSettings {
    StorageSettings { data_dir: folder.to_owned(), ..StorageSettings::default() }
}

impl Arena {
    /// Votes of nine voters on four models, with exclusions and a withdrawal.
    async fn new(rng: &mut ChaCha8Rng) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap();
        let mut arena = Self { folder, store, known: TrustAnchors::default() };
        arena.import(rng, VOTES / 2).await;
        arena.exclude("first", &[3, 8, 21]).await;
        arena.append().await;
        let key = log_of(&arena.store).await.key().verifier().clone();
        let checkpoint = Some(arena.store.log_checkpoint().await.unwrap().unwrap().note);
        arena.known = TrustAnchors { key: Some(key), checkpoint, ..TrustAnchors::default() };
        arena.import(rng, VOTES / 2).await;
        cast(&arena.store, &["with texts"]).await;
        arena.exclude("second", &[200, 250]).await;
        assert_eq!(arena.store.withdraw_exclusions(&[8], None, "ann", Timestamp(99), None).await.unwrap(), 1);
        arena.append().await;
        arena
    }

    async fn import(&self, rng: &mut ChaCha8Rng, votes: usize) {
        let mut csv = "model_a,model_b,winner,judge,tstamp\n".to_owned();
        for _ in 0..votes {
            let a = rng.random_range(0..4);
            let b = (a + rng.random_range(1..4)) % 4;
            let winner = ["model_a", "model_b", "tie", "model_a"][rng.random_range(0..4)];
            csv += &format!("m{a},m{b},{winner},voter{},{}\n", rng.random_range(0..9), rng.random_range(1_000..2_000));
        }
        let file = self.folder.path().join("votes.csv");
        fs::write(&file, csv).unwrap();
        let report = import::votes(&self.store, &file, &ReadOptions::default(), Timestamp(5), |_, _| {}).await;
        assert_eq!(report.unwrap().excluded, []);
    }

    async fn exclude(&self, id: &str, votes: &[i64]) {
        let decision = NewExclusions {
            id: id.into(),
            rule: "admin".into(),
            reason: "a test".into(),
            decided_by: "ann".into(),
            decided_at: Timestamp(7),
        };
        assert_eq!(self.store.exclude(&decision, votes, None).await.unwrap(), votes.len() as u64);
    }

    async fn append(&self) {
        let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard).unwrap();
        let last_vote_seq = self.store.last_vote_seq().await.unwrap();
        let leaderboard = StoredLeaderboard { fit: 0, fitted_at: Timestamp(last_vote_seq), last_vote_seq, body };
        self.store.put_leaderboard(&leaderboard).await.unwrap();
        let mut sequencer = sequencer(&self.store, self.folder.path()).await;
        while sequencer.append().await.unwrap() > 0 {}
    }

    /// A copy of the database, changed by these statements behind the back of its triggers.
    async fn tampered(&self, statements: &str) -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let raw = |folder: &Path| SqliteConnectOptions::new().filename(folder.join("langya.db"));
        let here = SqlitePool::connect_with(raw(self.folder.path())).await.unwrap();
        let copy = folder.path().join("langya.db");
        sqlx::query("VACUUM INTO $1").bind(copy.to_str().unwrap()).execute(&here).await.unwrap();
        let there = SqlitePool::connect_with(raw(folder.path())).await.unwrap();
        let triggers: Vec<String> = sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            .fetch_all(&there)
            .await
            .unwrap();
        let drops: String = triggers.iter().map(|name| format!("DROP TRIGGER {name};")).collect();
        let all = format!("PRAGMA foreign_keys = OFF; {drops} {statements}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(all))
            .execute(&there)
            .await
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
        there.close().await;
        let store = Store::open(&settings(folder.path()), IfMissing::Fail).await.unwrap();
        (folder, store)
    }
}

/// Everything that an arena with this database would serve of its log, as files.
async fn publish(store: &Store, to: &Path) {
    let log = log_of(store).await;
    let write = |path: &str, bytes: &[u8]| {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let latest = store.log_checkpoint().await.unwrap().unwrap();
    write("checkpoint", latest.note.as_bytes());
    for tile in Tile::all(latest.head.size) {
        let mut kinds = vec![TileKind::Hashes(tile)];
        kinds.extend((tile.level() == 0).then_some(TileKind::Entries(tile)));
        for kind in kinds {
            // What cannot be read is not served.
            if let Ok(Some(bytes)) = log.tile(kind).await {
                write(&kind.to_string(), &bytes);
            }
        }
    }
    let description = serde_json::json!({"key": log.key().verifier().to_string(), "rating": RULES});
    write("log.json", description.to_string().as_bytes());
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    let reading = LogQuery { columns, range: VoteRange::ALL, concurrency: 1 };
    let votes = read_log(store, reading, |_, _| {}).await.unwrap();
    let leaderboard = rank_log(&votes, &RULES.options().unwrap()).unwrap();
    write("leaderboard.json", serde_json::to_string(&leaderboard).unwrap().as_bytes());
}

async fn check(folder: &Path, known: &TrustAnchors, receipts: &[LogReceipt]) -> Result<u64, VerifyError> {
    let source = PublicLogSource::parse(folder.to_str().unwrap()).unwrap();
    let verified = verify(&source, known, receipts, LeaderboardSource::Published, |_, _| {}).await?;
    Ok(verified.leaderboard_votes.unwrap())
}

/// Paths of the files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

/// Changes what entries a published log has, and everything that follows from them, and signs it with the arena's own key.
fn rewrite(folder: &Path, key: &PublicLogKey, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let note = fs::read_to_string(folder.join("checkpoint")).unwrap();
    let size = Checkpoint::parse(key.verifier().verify(&note).unwrap()).unwrap().head.size;
    let mut entries = Vec::new();
    for tile in Tile::all(size).filter(|tile| tile.level() == 0) {
        let bytes = fs::read(folder.join(TileKind::Entries(tile).to_string())).unwrap();
        entries.extend(decode_entries(&bytes).unwrap().into_iter().map(<[u8]>::to_vec));
    }
    change(&mut entries);
    fs::remove_dir_all(folder.join("tile")).unwrap();
    let (mut frontier, mut levels) = (Frontier::default(), BTreeMap::<u8, Vec<TreeHash>>::new());
    for entry in &entries {
        let leaf = TreeHash::leaf(entry);
        levels.entry(0).or_default().push(leaf);
        frontier.append(leaf, |filled| levels.entry(filled.level).or_default().push(filled.hash));
    }
    let write = |kind: TileKind, bytes: &[u8]| {
        let path = folder.join(kind.to_string());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for tile in Tile::all(frontier.size()) {
        let range = usize::try_from(tile.start()).unwrap()..usize::try_from(tile.end()).unwrap();
        write(TileKind::Hashes(tile), &encode_hashes(&levels[&tile.level()][range.clone()]));
        if tile.level() == 0 {
            write(TileKind::Entries(tile), &encode_entries(entries[range].iter().map(Vec::as_slice)).unwrap());
        }
    }
    let head = TreeHead { size: frontier.size(), root: frontier.root() };
    let checkpoint = Checkpoint { origin: key.verifier().name().to_owned(), head };
    fs::write(folder.join("checkpoint"), key.sign(&checkpoint)).unwrap();
}

/// The arena's own key, which an operator has who rewrites the log.
async fn own_key(arena: &Arena) -> PublicLogKey {
    let seed = arena.store.secret("log_key", "", Timestamp(0)).await.unwrap();
    let name = arena.known.key.as_ref().unwrap().name().to_owned();
    PublicLogKey::new(&name, secrecy::ExposeSecret::expose_secret(&seed)).unwrap()
}

/// Proofs of some votes, as voters keep them.
async fn receipts(arena: &Arena) -> Vec<LogReceipt> {
    let mut receipts = Vec::new();
    for vote in
        arena.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 1_000).await.unwrap().iter().step_by(40)
    {
        let receipt = log_of(&arena.store).await.receipt(&vote.id, Duration::ZERO).await.unwrap().unwrap();
        let PublicLogLookup::Logged(found) = receipt else { panic!("{receipt:?}") };
        receipts.push(LogReceipt::read(&vote.id, &found.logged.to_text()).unwrap());
    }
    receipts
}

#[actix_web::test]
async fn an_untouched_log_is_verified_however_it_grew() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let (folder, mut known) = (tempfile::tempdir().unwrap(), TrustAnchors::default());
    for round in 0..size(8, 40) {
        arena.import(&mut rng, 1 + 7 * round).await;
        if round % 3 == 0 {
            let latest = arena.store.last_vote_seq().await.unwrap();
            arena.exclude(&format!("round {round}"), &[latest]).await;
        }
        arena.append().await;
        publish(&arena.store, folder.path()).await;
        let votes = check(folder.path(), &known, &receipts(&arena).await)
            .await
            .unwrap_or_else(|error| panic!("false alarm: {error}"));
        assert_eq!(votes, u64::try_from(arena.store.last_vote_seq().await.unwrap()).unwrap());
        known = TrustAnchors {
            checkpoint: Some(fs::read_to_string(folder.path().join("checkpoint")).unwrap()),
            ..arena.known.clone()
        };
    }
}

#[actix_web::test]
async fn every_changed_byte_of_a_published_log_is_found() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let folder = tempfile::tempdir().unwrap();
    publish(&arena.store, folder.path()).await;
    check(folder.path(), &arena.known, &[]).await.unwrap();
    let (files, mut found) = (files(folder.path()), 0);
    for _ in 0..size(16, 64) {
        for path in files.iter().filter(|path| !path.ends_with("log.json")) {
            let whole = fs::read(path).unwrap();
            let mut bytes = whole.clone();
            let at = rng.random_range(0..bytes.len());
            // A digit for a digit, so that the leaderboard stays readable where it can.
            bytes[at] ^= if path.ends_with("leaderboard.json") && bytes[at].is_ascii_digit() {
                1
            } else {
                1 << rng.random_range(0..8)
            };
            fs::write(path, &bytes).unwrap();
            let is_same = path.ends_with("leaderboard.json") && says_the_same(&whole, &bytes);
            let result = check(folder.path(), &arena.known, &[]).await;
            assert_eq!(result.is_err(), !is_same, "byte {at} of {} was not found", path.display());
            found += usize::from(!is_same);
            fs::write(path, whole).unwrap();
        }
    }
    check(folder.path(), &arena.known, &[]).await.unwrap();
    println!("{found} changed bytes, all found");
}

/// Whether two texts are one leaderboard all the same: JSON has several spellings of a number, and what a leaderboard has besides is not
/// compared.
fn says_the_same(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    read(one).is_some() && read(one) == read(other)
}

#[actix_web::test]
async fn an_operator_who_signs_another_history_is_found() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let (key, receipts) = (own_key(&arena).await, receipts(&arena).await);
    let known_size = 153;
    let mut found = 0;
    for round in 0..size(6, 20) {
        for way in 0..7 {
            let folder = tempfile::tempdir().unwrap();
            publish(&arena.store, folder.path()).await;
            let early = rng.random_range(0..known_size - 1);
            rewrite(folder.path(), &key, |entries| match way {
                0 => entries.swap(early, early + 1),
                1 => drop(entries.remove(early)),
                2 => entries.truncate(known_size - 1 - round),
                3 => entries[early] = replaced(&entries[early], "\"time\":", "\"time\":1"),
                4 => entries.retain(|entry| !entry.starts_with(b"{\"exclusion\"")),
                5 => entries.insert(early, entries[early].clone()),
                // After what was verified before, so that only the leaderboard tells.
                _ => drop(entries.remove(known_size + rng.random_range(0..100))),
            });
            let error = check(folder.path(), &arena.known, &[]).await.expect_err("another history passed");
            let expected = match way {
                2 => matches!(error, VerifyError::Audit(AuditError::Shrank { known: 153, .. })),
                6 => matches!(
                    error,
                    VerifyError::Audit(AuditError::Entry(_))
                        | VerifyError::Recount(_)
                        | VerifyError::OtherLeaderboard(_)
                ),
                _ => matches!(error, VerifyError::Audit(AuditError::Rewritten(153) | AuditError::Entry(_))),
            };
            assert!(expected, "way {way}: {error}");
            found += 1;
        }
    }
    // Nobody has verified it before, but a voter has a receipt.
    let folder = tempfile::tempdir().unwrap();
    publish(&arena.store, folder.path()).await;
    let KeptReceipt::Proof(logged) = &receipts[2].kept else { panic!("{:?}", receipts[2]) };
    let kept = usize::try_from(logged.index).unwrap();
    rewrite(folder.path(), &key, |entries| {
        entries[kept] = replaced(&entries[kept], "\"language\":\"", "\"language\":\"x")
    });
    let stranger = TrustAnchors { checkpoint: None, ..arena.known.clone() };
    check(folder.path(), &stranger, &[]).await.unwrap();
    let error = check(folder.path(), &stranger, &receipts).await.unwrap_err();
    assert!(matches!(error, VerifyError::Receipt(_)), "{error}");
    // Another key.
    publish(&arena.store, folder.path()).await;
    let other = PublicLogKey::new(key.verifier().name(), &"07".repeat(32)).unwrap();
    fs::write(
        folder.path().join("checkpoint"),
        other.sign(&Checkpoint {
            origin: key.verifier().name().into(),
            head: arena.store.log_checkpoint().await.unwrap().unwrap().head,
        }),
    )
    .unwrap();
    assert!(matches!(check(folder.path(), &arena.known, &[]).await.unwrap_err(), VerifyError::Note(_)));
    let renamed = TrustAnchors { key: Some(VerifierKey::new("other/log", [3; 32]).unwrap()), ..arena.known.clone() };
    assert!(matches!(check(folder.path(), &renamed, &[]).await.unwrap_err(), VerifyError::OtherKey { .. }));
    println!("{} other histories, all found", found + 3);
}

fn replaced(entry: &[u8], from: &str, to: &str) -> Vec<u8> {
    std::str::from_utf8(entry).unwrap().replacen(from, to, 1).into_bytes()
}

#[actix_web::test]
async fn changed_rows_of_the_database_are_found() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let mut found = 0;
    for _ in 0..size(2, 6) {
        let position = rng.random_range(0..VOTES);
        let vote = rng.random_range(30..190);
        let place = rng.random_range(1..60);
        for statement in [
            format!(
                "UPDATE log_entries SET body = SUBSTR(body, 1, {place}) || '~' || SUBSTR(body, {place} + 2) WHERE position = {position}"
            ),
            format!("UPDATE log_entries SET body = body || ' ' WHERE position = {position}"),
            format!("DELETE FROM log_entries WHERE position = {position}"),
            format!(
                "UPDATE log_entries SET position = 1000 + position WHERE position IN ({position}, {position} + 1); \
                 UPDATE log_entries SET position = CASE position WHEN 1000 + {position} THEN {position} + 1 ELSE {position} END \
                 WHERE position >= 1000"
            ),
            "UPDATE log_nodes SET hash = (SELECT root FROM log_checkpoint)".to_owned(),
            "DELETE FROM log_nodes".to_owned(),
            "UPDATE log_checkpoint SET size = size - 1".to_owned(),
            "UPDATE log_checkpoint SET size = size + 1".to_owned(),
            "UPDATE log_checkpoint SET note = REPLACE(note, CHAR(10) || '30', CHAR(10) || '31')".to_owned(),
            "DELETE FROM log_entries WHERE kind = 'exclusion'".to_owned(),
            "DELETE FROM log_entries WHERE kind = 'withdrawal'".to_owned(),
            // Here the log is untouched, and the leaderboard follows from other votes.
            format!("UPDATE votes SET outcome = CASE outcome WHEN 'a' THEN 'b' ELSE 'a' END WHERE seq = {vote}"),
            format!("UPDATE votes SET outcome = 'both_bad' WHERE seq = {vote}"),
            format!(
                "UPDATE votes SET model_a = model_b, model_b = model_a \
                 WHERE seq = (SELECT MIN(seq) FROM votes WHERE seq >= {vote} AND outcome <> 'tie')"
            ),
            format!("UPDATE votes SET visitor = 'somebody else' WHERE seq = {vote}"),
            format!("DELETE FROM votes WHERE seq = {vote}"),
            format!("UPDATE votes SET seq = 100000 WHERE seq = {vote}"),
            "DELETE FROM vote_exclusions WHERE vote_seq = 3".to_owned(),
            "UPDATE vote_exclusions SET withdrawn_by = 'x', withdrawn_at = 1 WHERE vote_seq = 3".to_owned(),
            "UPDATE vote_exclusions SET withdrawn_by = NULL, withdrawn_at = NULL WHERE vote_seq = 8".to_owned(),
            "UPDATE vote_exclusions SET rule = 'rate_limited' WHERE vote_seq = 3".to_owned(),
            format!(
                "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
                 VALUES ('unlogged', {vote}, 'admin', 'r', 'b', 1) ON CONFLICT DO NOTHING"
            ),
        ] {
            let (_folder, store) = arena.tampered(&statement).await;
            let published = tempfile::tempdir().unwrap();
            publish(&store, published.path()).await;
            store.close().await;
            let result = check(published.path(), &arena.known, &[]).await;
            assert!(result.is_err(), "not found: {statement}");
            found += 1;
        }
    }
    let (_folder, store) = arena.tampered("SELECT 1").await;
    let published = tempfile::tempdir().unwrap();
    publish(&store, published.path()).await;
    check(published.path(), &arena.known, &receipts(&arena).await).await.unwrap();
    println!("{found} changed rows, all found");
}

#[actix_web::test]
async fn what_the_database_says_otherwise_than_its_log_is_found() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let whole = log_of(&arena.store).await.check_database(|_| {}).await.unwrap();
    assert_eq!((whole.votes, whole.without_salt), (VOTES as u64 + 1, 0));
    let mut found = 0;
    for _ in 0..size(1, 4) {
        let vote = rng.random_range(30..190);
        let position = rng.random_range(0..VOTES);
        let of_vote = [
            "created_at = created_at + 1",
            "language = 'xx'",
            "category = 'maths'",
            "intent = 'advice'",
            "satisfaction = 1",
            "turn = turn + 1",
            "pairing_policy = 'elo'",
            "pair_probability = 0.5",
            "visitor = 'somebody else'",
            "visitor = ''",
            "id = 'another'",
            "model_a = model_b",
            "model_b = 'm9'",
            "outcome = 'both_bad'",
        ];
        let of_votes = of_vote.iter().map(|change| format!("UPDATE votes SET {change} WHERE seq = {vote}"));
        let others = [
            format!("DELETE FROM votes WHERE seq = {vote}"),
            format!(
                "UPDATE votes SET seq = -1 - seq WHERE seq IN ({vote}, {vote} + 1); \
                     UPDATE votes SET seq = CASE seq WHEN -1 - {vote} THEN {vote} + 1 ELSE {vote} END WHERE seq < 0"
            ),
            "UPDATE replies SET text = text || '.' WHERE battle_id = 'with texts' AND side = 'b'".to_owned(),
            "UPDATE turns SET prompt = 'Another?' WHERE battle_id = 'with texts'".to_owned(),
            "DELETE FROM replies WHERE battle_id = 'with texts' AND side = 'a'".to_owned(),
            "DELETE FROM vote_exclusions WHERE vote_seq = 21".to_owned(),
            "UPDATE vote_exclusions SET reason = 'another' WHERE vote_seq = 21".to_owned(),
            "UPDATE vote_exclusions SET excluded_at = 8 WHERE vote_seq = 21".to_owned(),
            "UPDATE vote_exclusions SET withdrawn_at = 100 WHERE vote_seq = 8".to_owned(),
            "UPDATE vote_exclusions SET vote_seq = 22 WHERE vote_seq = 21".to_owned(),
            format!(
                "UPDATE log_entries SET body = REPLACE(body, '\"turn\":1', '\"turn\":2') WHERE position = {position} AND kind = 'vote'; \
                     UPDATE log_entries SET body = body || ' ' WHERE position = {position} AND kind <> 'vote'"
            ),
            format!("DELETE FROM log_entries WHERE position = {position}"),
            "UPDATE log_salts SET salt = '00'".to_owned(),
            "UPDATE log_voters SET tag = '00' || SUBSTR(tag, 3)".to_owned(),
            "UPDATE log_checkpoint SET root = ''".to_owned(),
        ];
        for statement in of_votes.chain(others) {
            let (_folder, store) = arena.tampered(&statement).await;
            assert!(log_of(&store).await.check_database(|_| {}).await.is_err(), "not found: {statement}");
            store.close().await;
            found += 1;
        }
    }
    let (folder, store) = arena.tampered("DELETE FROM log_salts WHERE position < 5; DELETE FROM log_voters").await;
    let forgotten = log_of(&store).await.check_database(|_| {}).await.unwrap();
    assert_eq!(
        (forgotten.votes, forgotten.without_salt),
        (VOTES as u64 + 1, 5),
        "what was deleted on request is no tampering"
    );
    store.close().await;
    let run = langya(folder.path(), ["verify", "langya.db"]);
    assert!(run.code == Some(0) && run.stdout.contains("5 of them without texts"), "{run:?}");
    let (folder, store) = arena.tampered("UPDATE votes SET language = 'xx' WHERE seq = 40").await;
    store.close().await;
    let run = langya(folder.path(), ["verify", "langya.db", "--format", "json"]);
    assert!(run.code == Some(1) && run.stderr.contains("vote 40: the rows"), "{run:?}");
    println!("{found} changed rows, all found");
}
