//! Limits that two instances count together in a real Redis, and alone when it is in trouble.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langya::domain::battle::VisitorId;
use langya::infra::config::{CurrentSettings, LimitSettings, Settings, WindowLimits};
use langya::infra::events::BusState;
use langya::infra::limits::{Caller, LimitScope, LimitedAction, RateLimits, SingleUse};

use crate::support::instance::Instance;
use crate::support::redis::TestRedis;

/// Votes a minute: one comes back in six seconds, which a test may take.
const CAP: usize = 10;

fn limits(instance: &Instance) -> RateLimits {
    let limits = LimitSettings {
        votes: WindowLimits::new(10, 0, 0),
        votes_per_address: WindowLimits::new(15, 0, 0),
        ..LimitSettings::default()
    };
    let settings = CurrentSettings::new(Settings { limits, ..Settings::default() });
    RateLimits::new(settings, Some(instance.bus.handle().clone()))
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
    let Some(redis) = TestRedis::start() else { return };
    let (one, two) =
        (Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await);
    let (one, two) = (limits(&one), limits(&two));
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
}

#[actix_web::test]
async fn with_redis_gone_each_instance_goes_on_counting_by_itself_and_together_when_it_is_back() {
    let Some(mut redis) = TestRedis::start() else { return };
    let instances =
        [Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await];
    let [one, two] = instances.each_ref().map(limits);
    let ann = visitor("ann");
    check_cap(granted(&one, &ann, 6).await, 6);
    redis.kill();
    check_cap(6 + granted(&one, &ann, 50).await, CAP);
    check_cap(granted(&two, &ann, 50).await, CAP);

    for instance in &instances {
        instance.until(BusState::Lost).await;
    }
    redis.run();
    for instance in &instances {
        instance.until_writable(true).await;
    }
    assert!(granted(&one, &ann, 5).await <= 1, "an empty Redis does not forgive what an instance remembers");
    let ben = visitor("ben");
    check_cap(granted(&one, &ben, 50).await + granted(&two, &ben, 50).await, CAP);
}

#[actix_web::test]
async fn with_redis_full_or_read_only_each_instance_counts_by_itself_until_it_is_mended() {
    let Some(redis) = TestRedis::start() else { return };
    let instances =
        [Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await];
    let [one, two] = instances.each_ref().map(limits);
    let broken: [(&[&str], &[&str], &str); 2] = [
        (&["CONFIG", "SET", "maxmemory", "1"], &["CONFIG", "SET", "maxmemory", "0"], "full"),
        (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"], "read-only"),
    ];
    for (broken_by, mended_by, name) in broken {
        let () = redis.command(broken_by);
        let (ann, ben) = (visitor(&format!("{name} ann")), visitor(&format!("{name} ben")));
        check_cap(granted(&one, &ann, 50).await, CAP);
        check_cap(granted(&two, &ann, 50).await, CAP);
        for instance in &instances {
            instance.until_writable(false).await;
        }
        let () = redis.command(mended_by);
        for instance in &instances {
            instance.until_writable(true).await;
        }
        check_cap(granted(&one, &ben, 50).await + granted(&two, &ben, 50).await, CAP);
    }
}

#[actix_web::test]
async fn the_script_and_the_rule_in_memory_agree() {
    let Some(redis) = TestRedis::start() else { return };
    let instance = Instance::connected("one", &redis.settings()).await;
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
            limits(&instance).take(LimitedAction::Vote, &visitor("ann")).await,
            alone.take(LimitedAction::Vote, &visitor("ann")).await,
        );
        assert_eq!(shared.is_ok(), alone.is_ok(), "vote {asked}: {shared:?} {alone:?}");
    }
}

#[actix_web::test]
async fn hours_days_and_the_arenas_limit_are_counted_together_and_tell_each_instance_how_busy_all_are() {
    let Some(redis) = TestRedis::start() else { return };
    let instances =
        [Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await];
    let settings = |limits| CurrentSettings::new(Settings { limits, ..Settings::default() });
    let limits = LimitSettings {
        votes: WindowLimits::new(0, 7, 0),
        votes_in_all: WindowLimits::new(0, 0, 11),
        turns_in_all: WindowLimits::new(0, 0, 10),
        ..LimitSettings::default()
    };
    let [one, two] =
        instances.each_ref().map(|at| RateLimits::new(settings(limits.clone()), Some(at.bus.handle().clone())));
    let (ann, ben) = (visitor("ann"), visitor("ben"));
    let (by_one, by_two) = futures_util::join!(granted(&one, &ann, 20), granted(&two, &ann, 20));
    check_cap(by_one + by_two, 7);
    let refused = two.take(LimitedAction::Vote, &ann).await.unwrap_err();
    assert!(refused.scope == LimitScope::Visitor && refused.seconds() > 60, "{refused}");
    check_cap(7 + granted(&one, &ben, 20).await, 11);
    assert_eq!(two.take(LimitedAction::Vote, &visitor("carl")).await.unwrap_err().scope, LimitScope::Arena);
    let keys = redis.keys();
    assert!(keys.iter().all(|(_, expires_in)| (1..=86_400_000).contains(expires_in)), "{keys:?}");

    for _ in 0..6 {
        one.take(LimitedAction::Turn, &ann).await.unwrap();
    }
    assert!(two.pressure(&ben) < 0.01, "it has not asked yet");
    two.take(LimitedAction::Turn, &ben).await.unwrap();
    assert!((two.pressure(&ben) - 0.7).abs() < 0.01, "{}", two.pressure(&ben));
}

#[actix_web::test]
async fn what_counts_once_counts_once_for_all_instances_and_with_redis_gone_once_for_each() {
    let Some(mut redis) = TestRedis::start() else { return };
    let instances =
        [Instance::connected("one", &redis.settings()).await, Instance::connected("two", &redis.settings()).await];
    let [one, two] = instances.each_ref().map(|at| SingleUse::new("proof", Some(at.bus.handle().clone())));
    let remembered = Duration::from_secs(60);
    let claims = (0..20).map(|i| if i % 2 == 0 { &one } else { &two }.claim("proof", remembered));
    let granted = join_all(claims).await.into_iter().filter(|granted| *granted).count();
    assert_eq!(granted, 1);
    redis.kill();
    assert!(!one.claim("proof", remembered).await, "it remembers by itself");
    let both = [one.claim("later", remembered).await, two.claim("later", remembered).await];
    assert_eq!(both, [true, true], "each for itself");
    assert!(!two.claim("later", remembered).await);
}
