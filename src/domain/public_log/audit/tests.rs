//! Audits of logs with a few hundred entries and, in the long test, a million.

use std::time::Instant;

use super::*;
use crate::public_log::entry_bundle::encode_entries;
use crate::public_log::recount::RatingRules;
use crate::public_log::tile::{TILE_WIDTH, encode_hashes};
use crate::rating::options::IntervalMethod;

/// Entry `n` of a log whose first half is votes.
fn entry(n: u64) -> String {
    let (a, b) = (n % 20, (n + 1 + n / 20 % 19) % 20);
    let winner = ["model_a", "model_b", "tie", "model_a", "both_bad"][usize::try_from(n * 7 % 5).unwrap()];
    let voter = n * 2_654_435_761 % 50_000;
    format!(
        r#"{{"vote":{{"seq":{n},"time":{},"model_a":"model-{a}","model_b":"model-{b}","winner":"{winner}","turn":1,"#,
        1_700_000_000_000 + n
    ) + &format!(
        r#""language":"en","pairing_policy":"weighted","pair_probability":0.00526,"voter":"{voter:016x}","commitment":"{n:064x}"}}}}"#
    )
}

/// Audits a log of this size tile by tile; `change` may tamper with the served bytes.
fn audit(
    size: u64,
    known: Option<TreeHead>,
    change: impl Fn(Tile, &mut Vec<u8>, &mut Vec<u8>),
) -> Result<Recount, AuditError> {
    let (head, levels) = tree(size);
    let mut audit = Audit::new(head, known)?;
    for tile in Tile::all(size) {
        let range = usize::try_from(tile.start()).unwrap()..usize::try_from(tile.end()).unwrap();
        let mut hashes = encode_hashes(&levels[usize::from(tile.level())][range]);
        if tile.level() == 0 {
            let entries: Vec<String> = (tile.start()..tile.end()).map(entry).collect();
            let mut bundle = encode_entries(entries.iter().map(String::as_bytes)).unwrap();
            change(tile, &mut bundle, &mut hashes);
            audit.add(tile, &bundle, &hashes)?;
        } else {
            change(tile, &mut Vec::new(), &mut hashes);
            audit.check(tile, &hashes)?;
        }
    }
    audit.finish()
}

fn tree(size: u64) -> (TreeHead, Vec<Vec<TreeHash>>) {
    let (mut frontier, mut levels) = (Frontier::default(), vec![Vec::new()]);
    for n in 0..size {
        let leaf = TreeHash::leaf(entry(n).as_bytes());
        levels[0].push(leaf);
        frontier.append(leaf, |filled| {
            levels.resize_with(levels.len().max(usize::from(filled.level) + 1), Vec::new);
            levels[usize::from(filled.level)].push(filled.hash);
        });
    }
    (TreeHead { size, root: frontier.root() }, levels)
}

fn untouched(_tile: Tile, _bundle: &mut Vec<u8>, _hashes: &mut Vec<u8>) {}

#[test]
fn a_log_is_accepted_beside_every_earlier_state() {
    for size in [0, 1, 255, 256, 257, 600] {
        for known in [None, Some(0), Some(size / 2), Some(size)] {
            let recount = audit(size, known.map(|known| tree(known).0), untouched).unwrap();
            assert_eq!(recount.votes() as u64, size);
        }
    }
}

#[test]
fn another_history_is_refused() {
    let forked = |size| TreeHead { root: TreeHash::leaf(b"another"), ..tree(size).0 };
    for known in [0, 1, 300, 599, 600] {
        assert_eq!(audit(600, Some(forked(known)), untouched).unwrap_err(), AuditError::Rewritten(known));
    }
    assert_eq!(audit(600, Some(tree(601).0), untouched).unwrap_err(), AuditError::Shrank { found: 600, known: 601 });
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let size = 600;
    let changed = |level: u8, change: fn(&mut Vec<u8>, &mut Vec<u8>)| {
        audit(size, None, |tile, bundle, hashes| {
            if tile.level() == level && tile.number() == 0 {
                change(bundle, hashes);
            }
        })
        .unwrap_err()
    };
    assert_eq!(changed(0, |bundle, _| bundle[20] ^= 1), AuditError::ChangedEntry(0));
    assert_eq!(changed(0, |_, hashes| hashes[40] ^= 1), AuditError::ChangedEntry(1));
    assert!(matches!(changed(0, |bundle, _| bundle.truncate(bundle.len() - 1)), AuditError::Damaged(_)));
    assert!(matches!(changed(0, |_, hashes| hashes.truncate(32)), AuditError::Damaged(_)));
    assert!(matches!(changed(1, |_, hashes| hashes[0] ^= 1), AuditError::ChangedTile(_)));
    let both = changed(0, |bundle, hashes| {
        let last = bundle.len() - 10;
        bundle[last] = b'e';
        let entries = decode_entries(bundle).unwrap();
        *hashes = encode_hashes(&entries.iter().map(|entry| TreeHash::leaf(entry)).collect::<Vec<_>>());
    });
    assert!(matches!(both, AuditError::ChangedTile(_) | AuditError::WrongRoot(600)), "{both}");
}

/// Benchmarks a million entries: `cargo test -p langya-domain a_large_log -- --ignored --nocapture`.
#[test]
#[ignore = "slow: tests/run runs it"]
fn a_large_log_is_verified_and_refitted() {
    let is_long = std::env::var("LANGYA_TEST_SIZE").as_deref() == Ok("long");
    let size: u64 = if is_long { 1_000_000 } else { 100_000 };
    let (head, levels) = tree(size);
    let mut audit = Audit::new(head, None).unwrap();
    let mut took = std::time::Duration::ZERO;
    for tile in Tile::all(size) {
        let range = usize::try_from(tile.start()).unwrap()..usize::try_from(tile.end()).unwrap();
        let hashes = encode_hashes(&levels[usize::from(tile.level())][range]);
        let entries: Vec<String> =
            if tile.level() == 0 { (tile.start()..tile.end()).map(entry).collect() } else { Vec::new() };
        let bundle = encode_entries(entries.iter().map(String::as_bytes)).unwrap();
        let started = Instant::now();
        if tile.level() == 0 {
            audit.add(tile, &bundle, &hashes).unwrap()
        } else {
            audit.check(tile, &hashes).unwrap()
        }
        took += started.elapsed();
    }
    let started = Instant::now();
    let recount = audit.finish().unwrap();
    let rules = RatingRules {
        confidence: 0.95,
        interval: IntervalMethod::Auto,
        min_votes: 30,
        equal_within: 10.0,
        optimal_at_battles: 100,
    };
    let leaderboard = recount.leaderboard(recount.votes(), &rules.options().unwrap()).unwrap();
    assert_eq!((leaderboard.votes.rated, leaderboard.models.len()), (size, 20));
    println!(
        "{size} entries of {} tiles: checked in {took:.1?}, fitted in {:.1?}",
        size.div_ceil(TILE_WIDTH),
        started.elapsed()
    );
}
