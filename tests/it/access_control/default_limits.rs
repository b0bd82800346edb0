//! What the default limits hold and whom they leave alone, on a virtual clock: no test waits in real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use langya::domain::battle::VisitorId;
use langya::infra::config::{CurrentSettings, Settings};
use langya::infra::limits::{Caller, LimitedAction, RateLimits, TurnRefused};
use tokio::time::{Instant, sleep};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
/// What a program's battle takes at the least: the models of this story answer within half a second.
const QUICK_BATTLE: Duration = Duration::from_millis(500);
/// How soon a program tries again where no answer says it, and at the soonest: several hundred that all come back at the
/// moment that they got would only wait for each other.
const RETRY: Duration = Duration::from_millis(100);

fn default_limits() -> Arc<RateLimits> {
    Arc::new(RateLimits::new(CurrentSettings::new(Settings::default()), None))
}

fn caller(visitor: &str, network: Option<&str>) -> Caller {
    Caller { visitor: VisitorId::new(visitor), network: network.map(str::to_owned) }
}

/// What was asked for and granted.
#[derive(Debug, Default)]
struct Tally {
    battles: AtomicUsize,
    votes: AtomicUsize,
    refused: AtomicUsize,
}

impl Tally {
    fn numbers(&self) -> [usize; 3] {
        [&self.battles, &self.votes, &self.refused].map(|count| count.load(Ordering::Relaxed))
    }
}

/// A program on one socket that comes back as soon as it may: a battle with the next cookie, then its vote, until the end.
async fn program(limits: &RateLimits, next_cookie: impl Fn(usize) -> Caller, end: Instant, tally: &Tally) {
    let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed);
    while Instant::now() < end {
        let caller = &next_cookie(tally.battles.load(Ordering::Relaxed));
        let permit = match limits.begin_turn(caller).await {
            Ok(permit) => permit,
            Err(refused) => {
                count(&tally.refused);
                let wait = if let TurnRefused::TooFast(limited) = refused { limited.wait } else { RETRY };
                sleep(wait.max(RETRY)).await;
                continue;
            }
        };
        count(&tally.battles);
        sleep(QUICK_BATTLE).await;
        drop(permit);
        while let Err(limited) = limits.take(LimitedAction::Vote, caller).await {
            count(&tally.refused);
            sleep(limited.wait.max(RETRY)).await;
            if Instant::now() >= end {
                return;
            }
        }
        count(&tally.votes);
    }
}

/// So many sockets for so long: battles, votes and refusals.
async fn attack(sockets: usize, next_cookie: impl Fn(usize) -> Caller, lasting: Duration) -> [usize; 3] {
    let (limits, tally, end) = (default_limits(), Tally::default(), Instant::now() + lasting);
    join_all((0..sockets).map(|_| program(&limits, &next_cookie, end, &tally))).await;
    tally.numbers()
}

/// A cookie that nobody has used, for each battle.
fn fresh(network: Option<&str>) -> impl Fn(usize) -> Caller {
    move |battle| caller(&format!("fresh {battle}"), network)
}

#[track_caller]
fn check_cap(granted: usize, cap: usize) {
    assert!((cap - 1..=cap + 1).contains(&granted), "{granted} granted, {cap} expected");
}

#[tokio::test(start_paused = true)]
async fn one_cookie_with_eight_sockets_casts_thirty_votes_in_a_minute_and_no_more_than_the_hour_and_the_day_grant() {
    let ann = |_| caller("ann", Some("home"));
    // All at once, and as much again while it comes back.
    let [battles, votes, refused] = attack(8, ann, MINUTE).await;
    println!("one cookie, eight sockets, 60 s: {battles} battles, {votes} votes, {refused} refusals");
    check_cap(votes, 15 + 15);
    assert!(refused > 0, "{refused}");
    let [_, votes, _] = attack(8, ann, HOUR).await;
    println!("one cookie, eight sockets, an hour: {votes} votes");
    check_cap(votes, 240 + 240);
    let [_, votes, _] = attack(8, ann, 24 * HOUR).await;
    println!("one cookie, eight sockets, a day: {votes} votes");
    check_cap(votes, 720 + 720);
}

#[tokio::test(start_paused = true)]
async fn fresh_cookies_of_one_address_share_its_limits_however_many_they_are() {
    let [battles, votes, refused] = attack(40, fresh(Some("home")), MINUTE).await;
    println!("a fresh cookie for each battle, one address, 60 s: {battles} battles, {votes} votes, {refused} refusals");
    check_cap(votes, 90 + 90);
    let [battles, votes, _] = attack(40, fresh(Some("home")), HOUR).await;
    println!("a fresh cookie for each of {battles} battles, one address, an hour: {votes} votes");
    assert!(battles > 1_000);
    check_cap(votes, 1_800 + 1_800);
}

#[tokio::test(start_paused = true)]
async fn cookies_whose_addresses_nobody_knows_share_the_limits_of_the_arena() {
    // A proxy on this machine that the settings do not trust: every visitor seems to be this machine.
    let [battles, votes, _] = attack(600, fresh(None), MINUTE).await;
    println!("a fresh cookie for each of {battles} battles, no address, 60 s: {votes} votes");
    assert!(battles > 48_000);
    assert!((46_000..=48_001).contains(&votes), "{votes} of 24,000 at once and as many again within the minute");
}

#[tokio::test(start_paused = true)]
async fn a_person_who_votes_every_twenty_seconds_for_an_hour_is_never_refused() {
    let limits = default_limits();
    let person = caller("ann", Some("home"));
    for battle in 0..180 {
        let permit = limits.begin_turn(&person).await.unwrap_or_else(|error| panic!("battle {battle}: {error}"));
        sleep(Duration::from_secs(18)).await;
        drop(permit);
        limits.take(LimitedAction::Vote, &person).await.unwrap_or_else(|error| panic!("vote {battle}: {error}"));
        sleep(Duration::from_secs(2)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_class_of_thirty_who_vote_once_a_minute_for_an_hour_are_never_refused() {
    let limits = default_limits();
    let person = async |name: usize| {
        let person = caller(&format!("pupil {name}"), Some("school"));
        sleep(Duration::from_millis(300 * u64::try_from(name).unwrap())).await;
        for minute in 0..60 {
            for turn in ["a question", "a further one"] {
                let permit =
                    limits.begin_turn(&person).await.unwrap_or_else(|error| panic!("{turn}, {minute}: {error}"));
                sleep(Duration::from_secs(25)).await;
                drop(permit);
            }
            limits.take(LimitedAction::Vote, &person).await.unwrap_or_else(|error| panic!("vote {minute}: {error}"));
            sleep(Duration::from_secs(10)).await;
        }
    };
    join_all((0..30).map(person)).await;
}

#[tokio::test(start_paused = true)]
async fn an_attack_from_one_address_leaves_visitors_of_others_alone() {
    let (limits, tally, end) = (default_limits(), Tally::default(), Instant::now() + MINUTE);
    let person = async {
        let person = caller("ben", Some("elsewhere"));
        for _ in 0..3 {
            let _ = limits.begin_turn(&person).await.unwrap();
            limits.take(LimitedAction::Vote, &person).await.unwrap();
            sleep(Duration::from_secs(20)).await;
        }
    };
    let cookies = fresh(Some("home"));
    let programs = join_all((0..40).map(|_| program(&limits, &cookies, end, &tally)));
    futures_util::join!(programs, person);
    assert!(tally.numbers()[2] > 0, "the attack was held");
}
