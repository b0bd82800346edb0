//! Redis fails under two real instances: battles and votes go on.

use super::{Place, check, leaderboard_of, lines, ready, readyz};
use crate::support::postgres::TestDatabase;
use crate::support::program::Server;
use crate::support::redis::TestRedis;

/// One vote at each instance; the leaderboards of both show all of them.
async fn vote_everywhere(servers: &[Server; 2], votes_before: u64) {
    for server in servers {
        check(&ready(server).await.vote("tie").await, "revealed");
    }
    for server in servers {
        leaderboard_of(server, votes_before + 2).await;
    }
}

/// Breaks Redis, votes, mends it, votes: one line in each log for the outage, and one for its end.
async fn ride_out(
    servers: &[Server; 2],
    round: u64,
    (words, remark): (&str, &str),
    breaks: impl AsyncFnOnce(),
    mends: impl AsyncFnOnce(),
) {
    let connected = "redis is connected";
    let before = servers.each_ref().map(|server| lines(&server.log(), connected));
    breaks().await;
    for server in servers {
        server.logged(words).await;
        let (code, text) = readyz(server).await;
        assert!(code == 200 && text.contains(remark), "{text}");
    }
    vote_everywhere(servers, 4 * round).await;
    mends().await;
    for (server, before) in servers.iter().zip(before) {
        server.logged_times(connected, before + 1).await;
        assert_eq!(readyz(server).await, (200, "ready\n".into()));
    }
    vote_everywhere(servers, 4 * round + 2).await;
    for (server, before) in servers.iter().zip(before) {
        let log = server.log();
        assert_eq!((lines(&log, words), lines(&log, connected)), (1, before + 1), "{words}: {log}");
    }
}

#[actix_web::test]
async fn whatever_is_wrong_with_redis_battles_and_votes_go_on_at_both_instances() {
    let Some(database) = TestDatabase::create().await else { return };
    let Some(redis) = TestRedis::start_with_password("correct-horse") else { return };
    let place = Place::with_replies(100).await;
    let address = redis.settings().url.expose().to_owned();
    let serve = || place.serve(&["--database", &database.url, "--redis", &address]);
    let servers = [serve(), serve()];
    for server in &servers {
        server.logged("redis is connected").await;
    }
    let run = |words: &[&str]| redis.command::<()>(words);
    let no_writes = "redis: it refuses writes";
    let full = async || run(&["CONFIG", "SET", "maxmemory", "1"]);
    ride_out(&servers, 0, ("its memory is full", no_writes), full, async || run(&["CONFIG", "SET", "maxmemory", "0"]))
        .await;
    let replica = async || run(&["REPLICAOF", "127.0.0.1", "1"]);
    ride_out(&servers, 1, ("read-only replica", no_writes), replica, async || run(&["REPLICAOF", "NO", "ONE"])).await;
    let another_password = async || {
        run(&["CONFIG", "SET", "requirepass", "another-horse"]);
        redis.command_with::<i64>("another-horse", &["CLIENT", "KILL", "TYPE", "pubsub"]);
    };
    let the_former =
        async || redis.command_with::<()>("another-horse", &["CONFIG", "SET", "requirepass", "correct-horse"]);
    ride_out(&servers, 2, ("does not accept the password", "redis: lost"), another_password, the_former).await;
    for server in servers {
        let log = server.log_at_end().await;
        assert!(!log.contains("horse") && lines(&log, "ERROR") == 0, "{log}");
    }
    database.drop().await;
}
