//! R2: a vote counts once, however often and wherever it is sent.
//!
//! Two instances on PostgreSQL and Redis. Each vote is sent in 2 to 20 concurrent copies, with different outcomes: on sockets to both
//! instances, several on one, and through a proxy that loses the answer between commit and visitor. Visitors whose answer was lost
//! reconnect and vote once more, with yet another outcome. The checker then requires one row per vote, and one receipt, to the letter, for
//! all copies.

use std::path::Path;

use futures_util::future::{join_all, try_join_all};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::arena::RAW;
use crate::checker::evidence::{Event, VisitorHistory};
use crate::harness::{self, Size};
use crate::measurements::Measurements;
use crate::proxy::LossyProxy;
use crate::services::{NAMES, Services};
use crate::upstream::{Tempo, Upstream};
use crate::visitor::{OUTCOMES, Visitor, cast};
use crate::{checker, gather, print_summary};

const VISITORS: usize = 16;

/// Targets of the copies: the instances, and a proxy before each.
struct Addresses {
    instances: Vec<String>,
    proxies: Vec<LossyProxy>,
}

impl Addresses {
    async fn of(services: &Services) -> Self {
        let instances: Vec<String> = (0..NAMES.len()).map(|which| services.instance_url(which)).collect();
        let proxies = join_all(instances.iter().map(|url| LossyProxy::before(url))).await;
        Self { instances, proxies }
    }

    /// Returns the address of a socket to the instance at this position, directly or through the proxy.
    fn pick(&self, place: usize, loses_answers: bool) -> String {
        let place = place % self.instances.len();
        let url = if loses_answers { self.proxies[place].url() } else { self.instances[place].clone() };
        format!("{}/ws/battle", url.replace("http://", "ws://"))
    }
}

/// Casts one visitor's votes, one after the other.
async fn poll(
    mut visitor: Visitor,
    addresses: &Addresses,
    votes: usize,
    mut rng: ChaCha8Rng,
    measurements: &Measurements,
) -> anyhow::Result<VisitorHistory> {
    for _ in 0..votes {
        visitor.ready_battle().await?;
        // 2 to 20, mostly few.
        let most = rng.random_range(2..=20);
        let copies: Vec<(String, Vec<&'static str>)> = draw_copies(addresses, rng.random_range(2..=most), &mut rng);
        for outcome in copies.iter().flat_map(|(_, outcomes)| outcomes) {
            measurements.count("copies sent at once");
            visitor.note(Event::Voted { outcome: (*outcome).to_owned() });
        }
        let (battle, cookie) = (visitor.battle_id().unwrap_or_default().to_owned(), visitor.cookie().to_owned());
        let sent = copies.iter().map(|(url, outcomes)| cast(url, &cookie, &battle, outcomes));
        for events in join_all(sent).await {
            let lost = events.iter().filter(|event| matches!(event, Event::Lost { .. })).count();
            events.into_iter().for_each(|event| visitor.note(event));
            for _ in 0..lost {
                measurements.count("answers lost, asked again on a new connection");
                let outcome = OUTCOMES[rng.random_range(0..OUTCOMES.len())];
                visitor.note(Event::Voted { outcome: outcome.to_owned() });
                let url = addresses.pick(rng.random_range(0..NAMES.len()), false);
                cast(&url, &cookie, &battle, &[outcome]).await.into_iter().for_each(|event| visitor.note(event));
            }
        }
        measurements.count("battles voted on");
    }
    Ok(visitor.into_history())
}

/// Distributes copies over sockets: some sockets send several at once.
fn draw_copies(addresses: &Addresses, copies: usize, rng: &mut ChaCha8Rng) -> Vec<(String, Vec<&'static str>)> {
    let mut sockets: Vec<(String, Vec<&'static str>)> = Vec::new();
    for copy in 0..copies {
        let outcome = OUTCOMES[rng.random_range(0..OUTCOMES.len())];
        let loses_answers = rng.random_bool(0.2);
        if copy < 2 || loses_answers || rng.random_bool(0.5) {
            sockets.push((addresses.pick(copy, loses_answers), vec![outcome]));
        } else {
            let chosen = rng.random_range(0..sockets.len());
            sockets[chosen].1.push(outcome);
        }
    }
    sockets
}

async fn repeated_votes(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(200);
    let upstream = Upstream::start(size.seed, Tempo::QUICK).await;
    let mut services = Services::start(folder, &upstream.url(), RAW, &mut harness::port_rng()).await?;
    let (addresses, measurements) = (Addresses::of(&services).await, Measurements::new());
    let polls = (0..VISITORS).map(|number| {
        let visitor = Visitor::new(number, services.visitors_port(), size.rng(number + 1), measurements.clone());
        let share = (size.count + VISITORS - 1 - number) / VISITORS;
        poll(visitor, &addresses, share, size.rng(1_000 + number), &measurements)
    });
    let histories = try_join_all(polls).await?;
    let evidence = gather(&mut services, &upstream, histories).await?;
    print_summary(&evidence, &measurements);
    let mut wrong = services.panics();
    wrong.extend(checker::violations(&evidence).iter().map(ToString::to_string));
    if evidence.stored.votes.len() != size.count {
        wrong.push(format!("{} votes are stored, and {} were cast", evidence.stored.votes.len(), size.count));
    }
    let lost: usize = addresses.proxies.iter().map(LossyProxy::lost_answers).sum();
    println!("{lost} answers lost after the vote was taken");
    if lost == 0 {
        wrong.push("no answer was lost: the test proves little".into());
    }
    Ok(wrong)
}

#[test]
#[ignore = "needs PostgreSQL, Redis and nginx: tests/soak/run starts it"]
fn a_vote_counts_once_however_often_it_is_sent() {
    let tools = [("pg_lsclusters", "postgresql"), ("redis-server", "redis-server"), ("nginx", "nginx-light")];
    if tools.iter().all(|(tool, package)| harness::has(tool, package)) {
        harness::run(repeated_votes);
    }
}
