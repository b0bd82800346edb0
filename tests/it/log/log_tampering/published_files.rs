//! Changes of a published log: single bytes, and another history that its operator signs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use langya::domain::public_log::audit::AuditError;
use langya::domain::public_log::checkpoint::Checkpoint;
use langya::domain::public_log::entry_bundle::{decode_entries, encode_entries};
use langya::domain::public_log::frontier::Frontier;
use langya::domain::public_log::hash::TreeHash;
use langya::domain::public_log::leaderboard_check::LeaderboardCheckError;
use langya::domain::public_log::log_receipt::ReceiptContent;
use langya::domain::public_log::merkle_proof::TreeHead;
use langya::domain::public_log::signed_note::VerifierKey;
use langya::domain::public_log::tile::{Tile, TileKind, encode_hashes};
use langya::domain::public_log::trust_anchors::{TrustAnchors, TrustError};
use langya::domain::time::Timestamp;
use langya::infra::public_log::signing_key::PublicLogKey;
use langya::services::public_log::verification::VerifyError;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arena, check, files, publish, receipts};
use crate::support::arena::SEED;
use crate::support::size;

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
                // After what was verified before, so that only the leaderboard shows it.
                _ => drop(entries.remove(known_size + rng.random_range(0..100))),
            });
            let error = check(folder.path(), &arena.known, &[]).await.expect_err("another history passed");
            let expected = match way {
                2 => matches!(error, VerifyError::Audit(AuditError::Shrank { known: 153, .. })),
                6 => matches!(
                    error,
                    VerifyError::Audit(AuditError::Entry(_))
                        | VerifyError::Leaderboard(
                            LeaderboardCheckError::Recount(_) | LeaderboardCheckError::Differs(_)
                        )
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
    let ReceiptContent::Proof(logged) = &receipts[2].kept else { panic!("{:?}", receipts[2]) };
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
    let error = check(folder.path(), &arena.known, &[]).await.unwrap_err();
    assert!(matches!(error, VerifyError::Trust(TrustError::Note(_))), "{error}");
    let renamed = TrustAnchors { key: Some(VerifierKey::new("other/log", [3; 32]).unwrap()), ..arena.known.clone() };
    let error = check(folder.path(), &renamed, &[]).await.unwrap_err();
    assert!(matches!(error, VerifyError::Trust(TrustError::OtherKey { .. })), "{error}");
    println!("{} other histories, all found", found + 3);
}

fn replaced(entry: &[u8], from: &str, to: &str) -> Vec<u8> {
    std::str::from_utf8(entry).unwrap().replacen(from, to, 1).into_bytes()
}
