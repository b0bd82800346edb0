//! Two instances that exchange events and messages through a real Redis, and what each does during an outage of Redis.

use langya::infra::config::RedisSettings;
use langya::infra::events::{BusState, Event, EventBus, InstanceId, InstanceMessage};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::time::timeout;

use crate::support::TIMEOUT;
use crate::support::instance::Instance;
use crate::support::log::Log;
use crate::support::program;
use crate::support::redis::TestRedis;
use crate::support::visitor::get;

async fn next<T: Clone>(receiver: &mut Receiver<T>) -> T {
    timeout(TIMEOUT, receiver.recv()).await.unwrap().unwrap()
}

/// A letter that comes after everything sent before it on the same way.
async fn mark(from: &Instance, to: &Instance) {
    let mut messages = to.bus.messages();
    from.bus.send(to.bus.instance(), "mark".into());
    assert_eq!(next(&mut messages).await.body, "mark");
}

#[actix_web::test]
async fn events_and_letters_reach_other_instances_and_ones_own_events_come_once() {
    let Some(redis) = TestRedis::start() else { return };
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    let (mut heard_by_one, mut heard_by_two) = (one.bus.subscribe(), two.bus.subscribe());
    let (mut messages_to_one, mut messages_to_two) = (one.bus.messages(), two.bus.messages());

    one.bus.publish(Event::LeaderboardPublished);
    assert_eq!(heard_by_one.try_recv(), Ok(Event::LeaderboardPublished), "at once on the same instance");
    assert_eq!(next(&mut heard_by_two).await, Event::LeaderboardPublished);
    mark(&one, &two).await;
    mark(&two, &one).await;
    assert_eq!(heard_by_one.try_recv(), Err(TryRecvError::Empty), "one's own event came twice");
    assert_eq!(heard_by_two.try_recv(), Err(TryRecvError::Empty));

    let long = "长".repeat(100_000);
    one.bus.send(two.bus.instance(), long.clone());
    let _mark = next(&mut messages_to_two).await;
    assert_eq!(next(&mut messages_to_two).await, InstanceMessage { from: InstanceId("one".into()), body: long });
    one.bus.send(one.bus.instance(), "to myself".into());
    let _mark = next(&mut messages_to_one).await;
    assert_eq!(
        next(&mut messages_to_one).await,
        InstanceMessage { from: InstanceId("one".into()), body: "to myself".into() }
    );
    assert_eq!(messages_to_two.try_recv(), Err(TryRecvError::Empty), "a letter is for one instance");
    one.end().await;
    two.end().await;
}

#[actix_web::test]
async fn arenas_with_different_prefixes_share_nothing() {
    let Some(redis) = TestRedis::start() else { return };
    let other_arena = RedisSettings { prefix: "other".into(), ..redis.settings() };
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    let stranger = Instance::connected("two", &other_arena).await;
    let (mut heard, mut messages) = (stranger.bus.subscribe(), stranger.bus.messages());
    one.bus.publish(Event::VoteRecorded);
    mark(&one, &two).await;
    stranger.bus.publish(Event::LeaderboardPublished);
    assert_eq!(heard.try_recv(), Ok(Event::LeaderboardPublished));
    assert_eq!((heard.try_recv(), messages.try_recv()), (Err(TryRecvError::Empty), Err(TryRecvError::Empty)));
}

#[actix_web::test]
async fn a_restart_of_redis_is_noticed_and_everything_counts_as_changed_after_it() {
    let Some(mut redis) = TestRedis::start() else { return };
    let log = Log::keep();
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    let mut heard = two.bus.subscribe();
    redis.kill();
    one.until(BusState::Lost).await;
    two.until(BusState::Lost).await;
    one.bus.publish(Event::VoteRecorded);
    two.bus.publish(Event::LeaderboardPublished);
    assert_eq!(heard.try_recv(), Ok(Event::LeaderboardPublished), "listeners of the same instance need no Redis");

    redis.run();
    one.until(BusState::Connected).await;
    two.until(BusState::Connected).await;
    for expected in Event::ALL {
        assert_eq!(next(&mut heard).await, expected, "what was missed is looked for");
    }
    mark(&one, &two).await;
    assert_eq!(heard.try_recv(), Err(TryRecvError::Empty), "what was published meanwhile is not sent late");
    one.bus.publish(Event::VoteRecorded);
    assert_eq!(next(&mut heard).await, Event::VoteRecorded);
    assert_eq!(log.lines("redis is lost").len(), 2, "one line for each instance: {}", log.text());
    assert_eq!(log.lines("redis is connected").len(), 4, "one at the start and one after: {}", log.text());
}

#[actix_web::test]
async fn a_redis_that_hangs_is_given_up_and_found_again() {
    let Some(redis) = TestRedis::start() else { return };
    let log = Log::keep();
    let settings = RedisSettings { timeout_ms: 500, ..redis.settings() };
    let one = Instance::connected("one", &settings).await;
    redis.freeze();
    one.until(BusState::Lost).await;
    assert!(log.until("redis is lost").await.contains("no answer in time"), "{}", log.text());
    redis.thaw();
    one.until(BusState::Connected).await;
    assert_eq!(log.lines("redis is lost").len(), 1, "{}", log.text());
}

#[actix_web::test]
async fn an_emptied_redis_is_filled_again_and_every_key_expires() {
    let Some(redis) = TestRedis::start() else { return };
    let one = Instance::connected("one", &redis.settings()).await;
    let two = Instance::connected("two", &redis.settings()).await;
    let () = redis.command(&["FLUSHALL"]);
    mark(&one, &two).await;
    // An instance writes its key twice a second: once it is lost and back, the key is there.
    let () = redis.command(&["CLIENT", "KILL", "TYPE", "PUBSUB"]);
    one.until(BusState::Lost).await;
    one.wait_until_writable(true).await;
    let keys = redis.keys();
    assert!(keys.iter().any(|(key, _)| key == "test:instance:one"), "{keys:?}");
    assert!(keys.iter().all(|(_, expires_in)| (1..=3_000).contains(expires_in)), "{keys:?}");
    one.end().await;
    assert!(redis.keys().iter().all(|(key, _)| key != "test:instance:one"), "an instance that ends says so");
}

#[actix_web::test]
async fn a_wrong_or_missing_password_is_said_once_without_it_and_mended_without_a_restart() {
    let Some(redis) = TestRedis::start_with_password("correct-horse") else { return };
    for (password, words) in [("battery-staple", "does not accept the password"), ("", "asks for a password")] {
        let log = Log::keep();
        let one = Instance::start("one", &redis.settings_with_password(password));
        let line = log.until(words).await;
        assert!(line.contains("redis is lost") && line.contains("redis://127.0.0.1:"), "{line}");
        // The operator mends it at the other end.
        let () = redis.command(&["CONFIG", "SET", "requirepass", password]);
        one.until(BusState::Connected).await;
        assert_eq!(log.lines(words).len(), 1, "{}", log.text());
        assert!(password.is_empty() || !log.text().contains(password), "{}", log.text());
        one.end().await;
        let mut connection = redis::Client::open(redis.settings_with_password(password).url.expose()).unwrap();
        let () =
            redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("correct-horse").query(&mut connection).unwrap();
    }
}

#[actix_web::test]
async fn a_full_or_read_only_redis_still_carries_messages_and_is_used_again_when_mended() {
    let Some(redis) = TestRedis::start() else { return };
    let log = Log::keep();
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    let broken: [(&[&str], &[&str], &str); 2] = [
        (&["CONFIG", "SET", "maxmemory", "1"], &["CONFIG", "SET", "maxmemory", "0"], "its memory is full"),
        (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"], "read-only replica"),
    ];
    for (broken_by, mended_by, words) in broken {
        let () = redis.command(broken_by);
        one.wait_until_writable(false).await;
        two.wait_until_writable(false).await;
        assert!(log.until(words).await.contains("redis refuses writes"), "{}", log.text());
        assert_eq!(*one.bus.state().borrow(), BusState::Connected, "{words}");
        mark(&one, &two).await;
        let () = redis.command(mended_by);
        one.wait_until_writable(true).await;
        two.wait_until_writable(true).await;
        assert_eq!(log.lines(words).len(), 2, "one line for each instance: {}", log.text());
    }
}

#[actix_web::test]
async fn messages_that_find_the_queue_full_are_dropped_and_the_log_says_how_many() {
    let Some(redis) = TestRedis::start() else { return };
    let log = Log::keep();
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    // Nothing is sent while this thread does not wait.
    (0..5_000).for_each(|_| one.bus.send(two.bus.instance(), "short".into()));
    log.until("messages to other instances were dropped: their queue was full messages=904").await;
    (0..20).for_each(|_| one.bus.send(two.bus.instance(), "x".repeat(1 << 20)));
    log.until("messages to other instances were dropped: their queue was full messages=5").await;
    let mut messages = two.bus.messages();
    one.bus.send(two.bus.instance(), "mark".into());
    while next(&mut messages).await.body != "mark" {}
}

#[actix_web::test]
async fn a_redis_that_is_not_there_does_not_keep_the_arena_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let server = program::Server::start(folder.path(), &["--redis", "redis://:hunter2@127.0.0.1:1"]);
    assert_eq!(get(&format!("{}/", server.url)).await.status(), 200);
    assert!(server.terminate().success());
}

#[test]
fn an_address_that_cannot_be_used_ends_the_start_and_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["mysql://:hunter2@127.0.0.1", "hunter2@127.0.0.1", "redis://:hunter2@", "redis://:hunter2@h/x"] {
        let run = program::langya(folder.path(), ["serve", "--listen", "127.0.0.1:0", "--redis", address]);
        assert_eq!(run.code, Some(2), "{address}: {}", run.stderr);
        assert!(run.stderr.contains("redis.url") && run.stderr.contains("redis://"), "{}", run.stderr);
        assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    }
}
