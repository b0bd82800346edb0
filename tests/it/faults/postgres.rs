//! PostgreSQL fails while the arena serves.

use langya::domain::time::Timestamp;
use serde_json::json;
use sqlx::Connection;
use sqlx::postgres::PgConnection;

use super::{Place, begun, check, check_reported_once, leaderboard_of, lines, ready, readyz};
use crate::support::postgres::{OwnServer, TestDatabase};
use crate::support::until;
use crate::support::visitor::Visitor;

/// Breaks the database under a battle that waits for its vote and one that is being answered, and mends it.
async fn ride_out(
    database: &OwnServer,
    breaks: impl AsyncFnOnce(&OwnServer),
    words: &str,
    mends: impl AsyncFnOnce(&OwnServer),
) {
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url("postgres")]);
    let mut voter = ready(&server).await;
    check(&voter.vote("b").await, "revealed");
    let (mut voter, mut reader) = (ready(&server).await, begun(&server).await);

    breaks(database).await;
    server.logged(words).await;
    place.gate.open();
    check(&voter.vote("a").await, "storage");
    let mut newcomer = Visitor::connect(&server.url).await;
    newcomer.ask("Anybody?").await;
    check(&newcomer.next().await, "storage");
    let (status, said) = readyz(&server).await;
    assert!(status == 503 && said.contains("database: "), "{status} {said}");
    reader.next_of(&["done"]).await;

    mends(database).await;
    server.logged("answers again").await;
    reader.next_of(&["ready"]).await;
    assert_eq!(readyz(&server).await, (200, "ready\n".into()));
    for visitor in [&mut voter, &mut reader] {
        check(&visitor.vote("a").await, "revealed");
    }
    leaderboard_of(&server, 3).await;
    reader.send(json!({"type": "resume", "battle": reader.battle(), "after": 0})).await;
    check(&reader.next_of(&["revealed", "error"]).await, "revealed");
    check_reported_once(&server.log_at_end().await, words);
}

#[actix_web::test]
async fn a_postgresql_that_turns_read_only_stops_votes_and_nothing_else() {
    let Some(database) = OwnServer::start() else { return };
    let read_only = async |database: &OwnServer| {
        database.as_admin("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
        database.as_admin("SELECT pg_reload_conf()").await.unwrap();
    };
    let writable = async |database: &OwnServer| {
        database.as_admin("ALTER SYSTEM RESET default_transaction_read_only").await.unwrap();
        database.as_admin("SELECT pg_reload_conf()").await.unwrap();
    };
    ride_out(&database, read_only, "it is read-only: use the address of the primary server", writable).await;
}

#[actix_web::test]
async fn a_reload_that_turns_synchronous_commit_off_loses_no_acknowledged_vote() {
    let Some(database) = OwnServer::start() else { return };
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url("postgres")]);
    let mut voters = [ready(&server).await, ready(&server).await];
    // Without a flush at each commit, the writer of the log would flush every ten seconds.
    for statement in [
        "ALTER SYSTEM SET synchronous_commit = off",
        "ALTER SYSTEM SET wal_writer_delay = '10s'",
        "ALTER SYSTEM SET wal_writer_flush_after = 0",
        "SELECT pg_reload_conf()",
    ] {
        database.as_admin(statement).await.unwrap();
    }
    let mut receipts = Vec::new();
    for voter in &mut voters {
        let receipt = voter.vote("a").await;
        check(&receipt, "revealed");
        receipts.push(receipt["vote"].as_str().unwrap().to_owned());
    }
    database.crash().await;
    // An arena does not start on a server with the setting off.
    database.restart_with("fast", "-c synchronous_commit=on").await;
    let rows = database.open().await.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 10).await.unwrap();
    let mut kept: Vec<String> = rows.into_iter().map(|row| row.id).collect();
    kept.sort_unstable();
    receipts.sort_unstable();
    assert_eq!(kept, receipts);
}

#[actix_web::test]
async fn a_postgresql_that_would_lose_commits_gets_no_more_votes_until_it_is_mended() {
    let Some(database) = OwnServer::start() else { return };
    for (setting, [off, on]) in [
        ("fsync", ["ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET fsync = on"]),
        ("full_page_writes", ["ALTER SYSTEM SET full_page_writes = off", "ALTER SYSTEM SET full_page_writes = on"]),
    ] {
        let place = Place::with_replies(2).await;
        let server = place.serve(&["--database", &database.url("postgres")]);
        let mut voter = ready(&server).await;
        database.as_admin(off).await.unwrap();
        database.as_admin("SELECT pg_reload_conf()").await.unwrap();
        server.logged(&format!("its server runs with {setting} = off")).await;
        check(&voter.vote("a").await, "storage");
        let unready = "not ready\ndatabase: it would lose votes in a crash, see the log\n";
        assert_eq!(readyz(&server).await, (503, unready.into()));
        database.as_admin(on).await.unwrap();
        database.as_admin("SELECT pg_reload_conf()").await.unwrap();
        server.logged("answers again").await;
        // A connection that has not read the setting yet has the visitor send the vote again.
        let told = until(async || Some(voter.vote("a").await).filter(|told| told["code"] != "storage")).await;
        check(&told, "revealed");
        assert_eq!(readyz(&server).await, (200, "ready\n".into()));
    }
}

#[actix_web::test]
async fn a_postgresql_without_a_connection_left_is_reported_as_that() {
    let Some(database) = OwnServer::start() else { return };
    database.restart_with("fast", "-c max_connections=6 -c superuser_reserved_connections=0").await;
    // One is taken before the arena can take them all.
    let mut taken = vec![PgConnection::connect(&database.url("postgres")).await.unwrap()];
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url("postgres")]);
    // The arena's own connections are ended too, so that others can take their places.
    until(async || {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'langya'";
        sqlx::raw_sql(end).execute(&mut taken[0]).await.unwrap();
        if let Ok(connection) = PgConnection::connect(&database.url("postgres")).await {
            taken.push(connection);
        }
        (taken.len() == 6).then_some(())
    })
    .await;
    let said = readyz(&server).await;
    let words = "not ready\ndatabase: its server has no connection left, raise its max_connections\n";
    assert_eq!(said, (503, words.into()));
    server.logged("its server has no connection left").await;
    drop(taken);
    server.logged("answers again").await;
    until(async || (readyz(&server).await.0 == 200).then_some(())).await;
}

#[actix_web::test]
async fn a_postgresql_that_is_gone_for_longer_than_the_retries_is_waited_for() {
    let Some(database) = OwnServer::start() else { return };
    let crash = async |database: &OwnServer| database.crash().await;
    // Two answers of a visitor have taken longer than all tries of a statement by now.
    let restart = async |database: &OwnServer| database.restart("fast").await;
    ride_out(&database, crash, "start its server", restart).await;
}

#[actix_web::test]
async fn a_right_on_votes_that_is_taken_away_makes_the_arena_unready_until_it_is_given_back() {
    let Some(database) = OwnServer::start() else { return };
    database.as_admin("CREATE ROLE keeper LOGIN").await.unwrap();
    database.as_admin("CREATE DATABASE kept OWNER keeper").await.unwrap();
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url("kept").replace("arena@", "keeper@")]);
    let mut voter = ready(&server).await;
    let mut admin = PgConnection::connect(&database.url("kept")).await.unwrap();
    sqlx::raw_sql("REVOKE INSERT ON votes FROM keeper").execute(&mut admin).await.unwrap();
    check(&voter.vote("a").await, "storage");
    server.logged("permission denied for table votes").await;
    let unready = "not ready\ndatabase: its user lacks a right that the arena needs, see `langya doctor`\n";
    assert_eq!(readyz(&server).await, (503, unready.into()));
    sqlx::raw_sql("GRANT INSERT ON votes TO keeper").execute(&mut admin).await.unwrap();
    check(&voter.vote("a").await, "revealed");
    assert_eq!(readyz(&server).await, (200, "ready\n".into()));
    let log = server.log_at_end().await;
    let said = ["lacks a right", "votes are stored again"].map(|words| lines(&log, words));
    assert_eq!(said, [1, 1], "{log}");
}

#[actix_web::test]
async fn a_right_on_the_public_log_that_is_taken_away_is_named_by_readyz() {
    let Some(database) = OwnServer::start() else { return };
    database.as_admin("CREATE ROLE keeper LOGIN").await.unwrap();
    database.as_admin("CREATE DATABASE kept OWNER keeper").await.unwrap();
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url("kept").replace("arena@", "keeper@")]);
    let mut voter = ready(&server).await;
    let mut admin = PgConnection::connect(&database.url("kept")).await.unwrap();
    sqlx::raw_sql("REVOKE INSERT ON log_entries FROM keeper").execute(&mut admin).await.unwrap();
    check(&voter.vote("a").await, "revealed");
    server.logged("permission denied for table log_entries").await;
    let behind = "ready\npublic log: behind, new votes are counted without a promise: \
                  the database's user lacks INSERT on log_entries, see `langya doctor`\n";
    until(async || (readyz(&server).await == (200, behind.into())).then_some(())).await;
    sqlx::raw_sql("GRANT INSERT ON log_entries TO keeper").execute(&mut admin).await.unwrap();
    until(async || (readyz(&server).await == (200, "ready\n".into())).then_some(())).await;
}

#[actix_web::test]
async fn a_lock_that_keeps_votes_out_is_named_by_readyz_until_a_vote_is_stored() {
    let Some(database) = TestDatabase::create().await else { return };
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url]);
    let (mut voter, raw) = (ready(&server).await, database.raw().await);
    let mut held = raw.begin().await.unwrap();
    sqlx::query("LOCK TABLE votes IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    check(&voter.vote("a").await, "storage");
    let named = "database: votes are refused while another session holds a lock, see the log\n";
    let (status, said) = readyz(&server).await;
    assert!(status == 200 && said.contains(named), "{status} {said}");
    held.rollback().await.unwrap();
    check(&voter.vote("a").await, "revealed");
    assert!(!readyz(&server).await.1.contains("votes are refused"));
    let log = server.log_at_end().await;
    let said = ["refused while another session holds a lock", "votes are stored again"].map(|words| lines(&log, words));
    assert_eq!(said, [1, 1], "{log}");
    raw.close().await;
    database.drop().await;
}

/// Keeps replies out twice, as a lock that somebody holds for too long does; a sequence is not rolled back.
const KEEP_OUT: &str = "
    CREATE SEQUENCE tries;
    CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('tries') <= 2 THEN RAISE EXCEPTION 'made up' USING ERRCODE = '55P03'; END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER keep_out BEFORE INSERT ON replies FOR EACH ROW EXECUTE FUNCTION keep_out()";

#[actix_web::test]
async fn replies_that_a_lock_keeps_out_are_offered_again() {
    let Some(database) = TestDatabase::create().await else { return };
    let place = Place::with_replies(2).await;
    let server = place.serve(&["--database", &database.url]);
    sqlx::raw_sql(KEEP_OUT).execute(&database.raw().await).await.unwrap();
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    check(&visitor.next_of(&["ready", "error"]).await, "replies_unsaved");
    visitor.until_ready().await;
    check(&visitor.vote("a").await, "revealed");
    drop(server);
    database.drop().await;
}
