//! PostgreSQL fails while the arena serves.

use serde_json::json;

use super::{Place, begun, board_of, check, check_told_once, ready, readyz};
use crate::support::postgres::OwnServer;
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
    board_of(&server, 3).await;
    reader.send(json!({"type": "resume", "battle": reader.battle(), "after": 0})).await;
    check(&reader.next_of(&["revealed", "error"]).await, "revealed");
    check_told_once(&server.log_at_end().await, words);
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
    ride_out(&database, read_only, "it is read-only: name the primary", writable).await;
}

#[actix_web::test]
async fn a_postgresql_that_is_gone_for_longer_than_the_retries_is_waited_for() {
    let Some(database) = OwnServer::start() else { return };
    let crash = async |database: &OwnServer| database.crash().await;
    // Two answers of a visitor have taken longer than all tries of a statement by now.
    let restart = async |database: &OwnServer| database.restart("fast").await;
    ride_out(&database, crash, "start its server", restart).await;
}
