//! Changes of the database behind a log.

use langya::services::public_log::PublicLogError;
use langya::services::public_log::continuity::check_stored_log;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arena, VOTES, check, publish, receipts};
use crate::storage::public_log::log_of;
use crate::support::arena::SEED;
use crate::support::program::langya;
use crate::support::size;

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

#[actix_web::test]
async fn what_keeps_a_stored_log_from_being_continued_is_named_before_it_is_signed() {
    println!("seed {SEED}");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let arena = Arena::new(&mut rng).await;
    let fault = async |statement: &str| {
        let (folder, store) = arena.tampered(statement).await;
        std::fs::copy(arena.folder.path().join("log-checkpoint"), folder.path().join("log-checkpoint")).unwrap();
        let checked = check_stored_log(&store, folder.path()).await;
        store.close().await;
        checked
    };
    fault("SELECT 1").await.unwrap();
    for statement in
        ["UPDATE secrets SET value = 'no key' WHERE name = 'log_key'", "DELETE FROM secrets WHERE name = 'log_key'"]
    {
        let found = fault(statement).await.unwrap_err();
        assert!(matches!(found, PublicLogError::Key(_)), "{statement}: {found}");
    }
    let other_key = format!("UPDATE secrets SET value = '{}' WHERE name = 'log_key'", "07".repeat(32));
    for statement in [other_key.as_str(), "UPDATE secrets SET value = 'other/log' WHERE name = 'log_origin'"] {
        let found = fault(statement).await.unwrap_err();
        assert!(matches!(found, PublicLogError::OtherKey), "{statement}: {found}");
    }
    for statement in [
        "UPDATE log_checkpoint SET size = size - 1",
        "UPDATE log_entries SET body = body || ' ' WHERE position = (SELECT MAX(position) FROM log_entries)",
    ] {
        let found = fault(statement).await.unwrap_err();
        assert!(matches!(found, PublicLogError::Rewritten(_)), "{statement}: {found}");
    }
    let found = fault("DELETE FROM log_nodes").await.unwrap_err();
    assert!(matches!(found, PublicLogError::Incomplete(_)), "{found}");
    let found = fault("DELETE FROM log_checkpoint").await.unwrap_err();
    assert!(matches!(found, PublicLogError::Shrank { found: 0, .. }), "{found}");
    let found = fault("DELETE FROM log_checkpoint; DELETE FROM secrets").await.unwrap_err();
    assert!(matches!(found, PublicLogError::Foreign(_)), "{found}");
}
