//! Limits that two instances count together: in a real Redis, in PostgreSQL while that is away, and alone without both.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langya::domain::battle::VisitorId;
use langya::infra::config::{CurrentSettings, LimitSettings, Settings, WindowLimits};
use langya::infra::events::BusState;
use langya::infra::limits::{Caller, LimitScope, LimitedAction, RateLimits, SharedBackends, SingleUse};
use langya::infra::storage::Store;

use crate::support::instance::Instance;
use crate::support::postgres::TestDatabase;
use crate::support::redis::TestRedis;

/// Votes a minute: one comes back in six seconds, which a test may take.
const CAP: usize = 10;

fn limits(instance: &Instance, store: &Store) -> RateLimits {
    let limits = LimitSettings {
        votes: WindowLimits::new(10, 0, 0),
        votes_per_address: WindowLimits::new(15, 0, 0),
        ..LimitSettings::default()
    };
    let settings = CurrentSettings::new(Settings { limits, ..Settings::default() });
    RateLimits::new(settings, Some(backends(instance, store)))
}

fn backends(instance: &Instance, store: &Store) -> SharedBackends {
    SharedBackends { redis: instance.bus.handle().clone(), store: store.clone() }
}

/// Two instances of one Redis, each with its own connections to the database.
struct TwoInstances {
    redis: TestRedis,
    instances: [Instance; 2],
    stores: [Store; 2],
    database: TestDatabase,
}

impl TwoInstances {
    async fn start() -> Option<Self> {
        let (redis, database) = (TestRedis::start()?, TestDatabase::create().await?);
        let instances =
            [Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await];
        let stores = [database.open().await, database.open().await];
        Some(Self { redis, instances, stores, database })
    }

    fn limits(&self) -> [RateLimits; 2] {
        [limits(&self.instances[0], &self.stores[0]), limits(&self.instances[1], &self.stores[1])]
    }

    fn backends(&self) -> [SharedBackends; 2] {
        [backends(&self.instances[0], &self.stores[0]), backends(&self.instances[1], &self.stores[1])]
    }
}

fn visitor(name: &str) -> Caller {
    Caller { visitor: VisitorId::new(name), network: None }
}

/// How many of so many votes at once are granted.
async fn granted(limits: &RateLimits, caller: &Caller, asked: usize) -> usize {
    let answers = join_all((0..asked).map(|_| limits.take(LimitedAction::Vote, caller))).await;
    answers.into_iter().filter(Result::is_ok).count()
}

#[track_caller]
fn check_cap(granted: usize, cap: usize) {
    assert!((cap..=cap + 1).contains(&granted), "{granted} granted, {cap} allowed");
}

#[actix_web::test]
async fn two_instances_grant_no_more_than_the_limit_together_and_every_key_expires() {
    let Some(place) = TwoInstances::start().await else { return };
    let (redis, [one, two]) = (&place.redis, place.limits());
    let ann = visitor("ann");
    let (by_one, by_two) = futures_util::join!(granted(&one, &ann, 50), granted(&two, &ann, 50));
    check_cap(by_one + by_two, CAP);
    let refused = two.take(LimitedAction::Vote, &ann).await.unwrap_err();
    assert!((1..=6).contains(&refused.wait.as_millis().div_ceil(1_000)), "{refused}");

    let family = |name: &str| Caller { visitor: VisitorId::new(name), network: Some("home".into()) };
    let (ben, carl) = (granted(&one, &family("ben"), 50).await, granted(&two, &family("carl"), 50).await);
    check_cap(ben, CAP);
    check_cap(ben + carl, 15);

    let keys = redis.keys();
    for name in ["votes:ann", "votes:ben", "votes_per_address:home"] {
        assert!(keys.iter().any(|(key, _)| *key == format!("test:limit:{name}")), "{name} in {keys:?}");
    }
    assert!(keys.iter().all(|(_, expires_in)| (1..=60_000).contains(expires_in)), "{keys:?}");
    let ann = keys.iter().find(|(key, _)| key == "test:limit:votes:ann").unwrap().1;
    assert!(ann > 50_000, "a limit that is used up is remembered until it has come back: {ann} ms");
    place.database.drop().await;
}

#[actix_web::test]
async fn with_redis_gone_instances_count_together_in_the_database_and_in_redis_when_it_is_back() {
    let Some(mut place) = TwoInstances::start().await else { return };
    let [one, two] = place.limits();
    let (ann, ben) = (visitor("ann"), visitor("ben"));
    check_cap(granted(&one, &ann, 6).await, 6);
    place.redis.kill();
    check_cap(6 + granted(&one, &ann, 50).await, CAP);
    let (by_one, by_two) = futures_util::join!(granted(&one, &ben, 50), granted(&two, &ben, 50));
    check_cap(by_one + by_two, CAP);
    assert!(
        granted(&two, &ann, 50).await <= 1,
        "what Redis had counted is known where this instance was the first to ask"
    );
    let refused = two.take(LimitedAction::Vote, &ben).await.unwrap_err();
    assert!((1..=6).contains(&refused.wait.as_millis().div_ceil(1_000)), "{refused}");
    let family = |name: &str| Caller { visitor: VisitorId::new(name), network: Some("home".into()) };
    let (dan, eve) = (family("dan"), family("eve"));
    let (dan, eve) = futures_util::join!(granted(&one, &dan, 50), granted(&two, &eve, 50));
    check_cap(dan + eve, 15);

    for instance in &place.instances {
        instance.until(BusState::Lost).await;
    }
    place.redis.run();
    for instance in &place.instances {
        instance.wait_until_writable(true).await;
    }
    assert!(granted(&one, &ann, 5).await <= 1, "an empty Redis does not forgive what an instance remembers");
    let carl = visitor("carl");
    check_cap(granted(&one, &carl, 50).await + granted(&two, &carl, 50).await, CAP);
    place.database.drop().await;
}

#[actix_web::test]
async fn an_emptied_redis_learns_from_each_instance_what_it_knows() {
    let Some(place) = TwoInstances::start().await else { return };
    let ([one, two], ann) = (place.limits(), visitor("ann"));
    check_cap(granted(&one, &ann, 4).await, 4);
    check_cap(granted(&two, &ann, 4).await, 4);
    let () = place.redis.command(&["FLUSHALL"]);
    assert_eq!(granted(&two, &ann, 1).await, 1, "nine of ten, as it knows");
    assert!(granted(&one, &ann, 50).await <= 2, "what the second instance knows is counted");
    place.database.drop().await;
}

#[actix_web::test]
async fn with_redis_full_or_read_only_instances_count_in_the_database_until_it_is_mended() {
    let Some(place) = TwoInstances::start().await else { return };
    let [one, two] = place.limits();
    let broken: [(&[&str], &[&str], &str); 2] = [
        (&["CONFIG", "SET", "maxmemory", "1"], &["CONFIG", "SET", "maxmemory", "0"], "full"),
        (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"], "read-only"),
    ];
    for (broken_by, mended_by, name) in broken {
        let () = place.redis.command(broken_by);
        let (ann, ben) = (visitor(&format!("{name} ann")), visitor(&format!("{name} ben")));
        check_cap(granted(&one, &ann, 50).await + granted(&two, &ann, 50).await, CAP);
        for instance in &place.instances {
            instance.wait_until_writable(false).await;
        }
        let () = place.redis.command(mended_by);
        for instance in &place.instances {
            instance.wait_until_writable(true).await;
        }
        check_cap(granted(&one, &ben, 50).await + granted(&two, &ben, 50).await, CAP);
    }
    place.database.drop().await;
}

#[actix_web::test]
async fn with_redis_and_the_database_gone_each_instance_counts_by_itself() {
    let Some(mut place) = TwoInstances::start().await else { return };
    let ([one, two], ann) = (place.limits(), visitor("ann"));
    place.redis.kill();
    place.database.drop().await;
    check_cap(granted(&one, &ann, 50).await, CAP);
    check_cap(granted(&two, &ann, 50).await, CAP);
}

#[actix_web::test]
async fn counts_in_the_database_are_deleted_once_they_limit_nothing() {
    let Some(mut place) = TwoInstances::start().await else { return };
    let [one, _] = place.limits();
    let [store, _] = &place.stores;
    place.redis.kill();
    check_cap(granted(&one, &visitor("ann"), 5).await, 5);
    let database = place.database.raw().await;
    let names = "SELECT COALESCE(string_agg(name, ', ' ORDER BY name), '') FROM limit_counts";
    sqlx::query("INSERT INTO limit_counts VALUES ('votes:ben', 0, 0, 1)").execute(&database).await.unwrap();
    store.delete_returned_limits().await.unwrap();
    let left: String = sqlx::query_scalar(names).fetch_one(&database).await.unwrap();
    assert!(left.contains("votes:ann") && !left.contains("ben"), "ben's has come back: {left}");
    database.close().await;
    place.database.drop().await;
}

#[actix_web::test]
async fn an_outage_of_redis_gives_no_limit_again_where_another_instance_asks_first() {
    let Some(mut place) = TwoInstances::start().await else { return };
    let ([one, two], ann) = (place.limits(), visitor("ann"));
    check_cap(granted(&one, &ann, 8).await, 8);
    place.redis.kill();
    assert_eq!(granted(&two, &ann, 1).await, 1, "it never heard of her");
    assert_eq!(granted(&one, &ann, 1).await, 1, "nine of ten, as it knows");
    assert!(granted(&two, &ann, 50).await <= 2, "what the first instance knows is counted");
    place.database.drop().await;
}

#[actix_web::test]
async fn counts_that_somebody_holds_are_deleted_another_time() {
    let Some(place) = TwoInstances::start().await else { return };
    let database = place.database.raw().await;
    sqlx::query("INSERT INTO limit_counts VALUES ('votes:ann', 0, 0, 1)").execute(&database).await.unwrap();
    let mut held = database.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM limit_counts FOR UPDATE").execute(&mut *held).await.unwrap();
    place.stores[0].delete_returned_limits().await.unwrap();
    held.rollback().await.unwrap();
    let count = "SELECT COUNT(*) FROM limit_counts";
    let left: i64 = sqlx::query_scalar(count).fetch_one(&database).await.unwrap();
    assert_eq!(left, 1);
    place.stores[0].delete_returned_limits().await.unwrap();
    let left: i64 = sqlx::query_scalar(count).fetch_one(&database).await.unwrap();
    assert_eq!(left, 0);
    database.close().await;
    place.database.drop().await;
}

#[actix_web::test]
async fn the_script_and_the_rule_in_memory_agree() {
    let Some(place) = TwoInstances::start().await else { return };
    let alone = Arc::new(RateLimits::new(
        CurrentSettings::new(Settings {
            limits: LimitSettings { votes: WindowLimits::new(10, 0, 0), ..LimitSettings::default() },
            ..Settings::default()
        }),
        None,
    ));
    // A new instance each time remembers nothing by itself, so that Redis alone decides.
    for asked in 1..=CAP + 5 {
        let (shared, alone) = (
            place.limits()[0].take(LimitedAction::Vote, &visitor("ann")).await,
            alone.take(LimitedAction::Vote, &visitor("ann")).await,
        );
        assert_eq!(shared.is_ok(), alone.is_ok(), "vote {asked}: {shared:?} {alone:?}");
    }
    place.database.drop().await;
}

#[actix_web::test]
async fn hours_days_and_the_arenas_limit_are_counted_together_and_tell_each_instance_how_busy_all_are() {
    let Some(place) = TwoInstances::start().await else { return };
    let settings = |limits| CurrentSettings::new(Settings { limits, ..Settings::default() });
    let limits = LimitSettings {
        votes: WindowLimits::new(0, 7, 0),
        votes_per_arena: WindowLimits::new(0, 0, 11),
        turns_per_arena: WindowLimits::new(0, 0, 10),
        ..LimitSettings::default()
    };
    let [one, two] = place.backends().map(|shared| RateLimits::new(settings(limits.clone()), Some(shared)));
    let (ann, ben) = (visitor("ann"), visitor("ben"));
    let (by_one, by_two) = futures_util::join!(granted(&one, &ann, 20), granted(&two, &ann, 20));
    check_cap(by_one + by_two, 7);
    let refused = two.take(LimitedAction::Vote, &ann).await.unwrap_err();
    assert!(refused.scope == LimitScope::Visitor && refused.seconds() > 60, "{refused}");
    check_cap(7 + granted(&one, &ben, 20).await, 11);
    assert_eq!(two.take(LimitedAction::Vote, &visitor("carl")).await.unwrap_err().scope, LimitScope::Arena);
    let keys = place.redis.keys();
    assert!(keys.iter().all(|(_, expires_in)| (1..=86_400_000).contains(expires_in)), "{keys:?}");

    for _ in 0..6 {
        one.take(LimitedAction::Turn, &ann).await.unwrap();
    }
    assert!(two.used_turn_share(&ben) < 0.01, "it has not asked yet");
    two.take(LimitedAction::Turn, &ben).await.unwrap();
    assert!((two.used_turn_share(&ben) - 0.7).abs() < 0.01, "{}", two.used_turn_share(&ben));
    place.database.drop().await;
}

#[actix_web::test]
async fn what_counts_once_counts_once_for_all_instances_with_redis_and_without() {
    let Some(mut place) = TwoInstances::start().await else { return };
    let [one, two] = place.backends().map(|shared| SingleUse::new("proof", Some(shared)));
    let remembered = Duration::from_secs(60);
    let claimed = async |name: &'static str| {
        let claims = (0..20).map(|i| if i % 2 == 0 { &one } else { &two }.claim(name, remembered));
        join_all(claims).await.into_iter().filter(|granted| *granted).count()
    };
    assert_eq!(claimed("proof").await, 1);
    place.redis.kill();
    assert!(!one.claim("proof", remembered).await, "it remembers by itself");
    assert_eq!(claimed("later").await, 1, "the database remembers for both");
    place.database.drop().await;
    assert_eq!(claimed("last").await, 2, "without both, each for itself");
}
