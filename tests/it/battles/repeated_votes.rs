//! Votes sent many times at once, over many connections and instances, with answers lost on the way: each counts once,
//! and a copy that comes again gets the answer of the first one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store, VoteRow};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::support::arena::SEED;
use crate::support::postgres::TestDatabase;
use crate::support::program::Server;
use crate::support::proxy::LossyProxy;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

const VISITORS: usize = 16;
/// Connections that a visitor keeps to each instance.
const CONNECTIONS: usize = 8;
const OUTCOMES: [&str; 4] = ["a", "b", "tie", "both_bad"];

/// The instances of one arena, each with a proxy that loses answers.
struct Precinct {
    servers: Vec<Server>,
    proxies: Vec<LossyProxy>,
    _upstream: Upstream,
}

/// What is known of a vote: the outcomes that were sent, and the one answer that all its copies got.
struct SentVote {
    sent: BTreeSet<&'static str>,
    receipt: Value,
}

/// Sent so often, answered so often, lost so often.
#[derive(Default)]
struct Counts {
    votes: BTreeMap<String, SentVote>,
    copies: usize,
    retries: usize,
}

impl Precinct {
    async fn open(folder: &Path, instances: usize, arguments: &[&str]) -> Self {
        println!("seed {SEED}");
        let upstream = Upstream::start().await;
        upstream.script("one", Script::openai(["One."]));
        upstream.script("two", Script::openai(["Two."]));
        let model = |id: &str| {
            format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url())
        };
        let settings = "[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n[providers]\npractice = \"never\"\n\
                        [limits]\nturns = []\nvotes = []\nturns_per_arena = []\nvotes_per_arena = []\nconcurrent_battles = 0\n";
        std::fs::write(folder.join("langya.toml"), format!("{settings}{}{}", model("one"), model("two"))).unwrap();
        let servers: Vec<Server> = (0..instances).map(|_| Server::start(folder, arguments)).collect();
        let proxies = join_all(servers.iter().map(|server| LossyProxy::before(&server.url))).await;
        Self { servers, proxies, _upstream: upstream }
    }

    /// All visitors cast this many votes each.
    async fn poll(&self, votes: usize) -> Counts {
        let counts = Arc::new(Mutex::new(Counts::default()));
        join_all((0..VISITORS).map(|number| Booth::cast_all(self, number, votes, Arc::clone(&counts)))).await;
        Arc::into_inner(counts).unwrap().into_inner().unwrap()
    }

    /// Every row is a vote's only one and says what all its copies got.
    fn check(&self, counts: &Counts, rows: &[VoteRow]) {
        let mut by_battle: BTreeMap<&str, &VoteRow> = BTreeMap::new();
        for row in rows {
            assert!(by_battle.insert(row.battle.as_str(), row).is_none(), "{} has two votes", row.battle);
        }
        assert_eq!(rows.len(), counts.votes.len(), "stored and sent votes");
        for (battle, vote) in &counts.votes {
            let row = by_battle.get(battle.as_str()).unwrap_or_else(|| panic!("the vote on {battle} is lost"));
            let told = (&vote.receipt["vote"], &vote.receipt["outcome"]);
            assert_eq!(told, (&json!(row.id), &json!(row.outcome.as_str())), "{battle}");
            assert!(vote.sent.contains(row.outcome.as_str()), "{battle} has an outcome that nobody sent");
        }
        let lost: usize = self.proxies.iter().map(LossyProxy::lost_answers).sum();
        println!(
            "{} votes, {} copies at once, {} later retries, {lost} answers lost",
            counts.votes.len(),
            counts.copies,
            counts.retries
        );
        assert!(lost > counts.votes.len() / 4, "only {lost} answers were lost: the test proves little");
    }
}

/// A visitor with connections to every instance.
struct Booth<'a> {
    precinct: &'a Precinct,
    /// By instance.
    connections: Vec<Vec<Visitor>>,
    rng: ChaCha8Rng,
}

impl<'a> Booth<'a> {
    async fn cast_all(precinct: &'a Precinct, number: usize, votes: usize, counts: Arc<Mutex<Counts>>) {
        let first = Visitor::connect(&precinct.servers[number % precinct.servers.len()].url).await;
        let mut connections = Vec::new();
        for server in &precinct.servers {
            let connect = || Visitor::connect_with(&server.url, Some(("cookie", first.cookie().to_owned())));
            connections.push(join_all((0..CONNECTIONS).map(|_| async { connect().await.unwrap() })).await);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        rng.set_stream(u64::try_from(number).unwrap());
        let mut booth = Self { precinct, connections, rng };
        for _ in 0..votes {
            booth.cast(&counts).await;
            // The draws pass over some connections for longer than the server waits for their pongs.
            join_all(booth.connections.iter_mut().flatten().map(Visitor::answer_pings)).await;
        }
    }

    /// A battle, its vote in 2 to 20 copies at once, and another copy for each whose answer was lost.
    async fn cast(&mut self, counts: &Mutex<Counts>) {
        let battle = self.battle().await;
        // 2 to 20, more often few.
        let most = self.rng.random_range(2..=20);
        let copies = self.rng.random_range(2..=most);
        let (mut sent, mut receipts) = (BTreeSet::new(), Vec::new());
        let mut direct: Vec<(usize, &'static str)> = Vec::new();
        let mut lossy: Vec<(usize, &'static str)> = Vec::new();
        for copy in 0..copies {
            let (instance, outcome) = (copy % self.connections.len(), self.draw_outcome());
            sent.insert(outcome);
            // A connection takes one copy at a time; some copies lose their answers.
            let is_lossy = self.rng.random_bool(0.15) || direct.len() >= CONNECTIONS * self.connections.len();
            if is_lossy { lossy.push((instance, outcome)) } else { direct.push((instance, outcome)) }
        }
        receipts.extend(self.send_at_once(&battle, &direct, &lossy).await);
        for &(instance, _) in &lossy {
            let other = (instance + 1) % self.connections.len();
            let changed = self.draw_outcome();
            sent.insert(changed);
            let connection = self.rng.random_range(0..CONNECTIONS);
            receipts.push(vote(&mut self.connections[other][connection], &battle, changed).await);
        }
        assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "{battle}: {receipts:#?}");
        let receipt: Value = serde_json::from_str(&receipts[0]).unwrap();
        let mut counts = counts.lock().unwrap();
        counts.copies += copies;
        counts.retries += lossy.len();
        counts.votes.insert(battle, SentVote { sent, receipt });
    }

    async fn battle(&mut self) -> String {
        let instance = self.rng.random_range(0..self.connections.len());
        let connection = self.rng.random_range(0..CONNECTIONS);
        let visitor = &mut self.connections[instance][connection];
        visitor.ask("Which?").await;
        visitor.next_of(&["ready"]).await["battle"].as_str().unwrap().to_owned()
    }

    fn draw_outcome(&mut self) -> &'static str {
        OUTCOMES[self.rng.random_range(0..OUTCOMES.len())]
    }

    /// Sends all copies together; returns the answers that arrived.
    async fn send_at_once(
        &mut self,
        battle: &str,
        direct: &[(usize, &'static str)],
        lossy: &[(usize, &'static str)],
    ) -> Vec<String> {
        let cookie = self.connections[0][0].cookie().to_owned();
        let through_proxies = lossy.iter().map(|(instance, outcome)| {
            let (url, cookie) = (self.precinct.proxies[*instance].url(), cookie.clone());
            async move {
                let mut visitor = Visitor::connect_with(&url, Some(("cookie", cookie))).await.unwrap();
                // The connection may be gone before the message is wholly out.
                let _ = visitor.try_send(vote_message(battle, outcome)).await;
                assert!(visitor.try_next().await.is_err(), "an answer came through that was to be lost");
            }
        });
        let mut free: Vec<std::slice::IterMut<'_, Visitor>> =
            self.connections.iter_mut().map(|all| all.iter_mut()).collect();
        let through_connections = direct.iter().map(|(instance, outcome)| {
            let own = free[*instance].next();
            let visitor = own.or_else(|| free.iter_mut().find_map(Iterator::next)).expect("a connection is free");
            vote(visitor, battle, outcome)
        });
        let through_connections: Vec<_> = through_connections.collect();
        let (receipts, _) = tokio::join!(join_all(through_connections), join_all(through_proxies));
        receipts
    }
}

fn vote_message(battle: &str, outcome: &str) -> Value {
    json!({"type": "vote", "battle": battle, "outcome": outcome})
}

/// Votes and returns the answer to the letter.
async fn vote(visitor: &mut Visitor, battle: &str, outcome: &str) -> String {
    visitor.send(vote_message(battle, outcome)).await;
    let answer = visitor.next_of(&["revealed", "error"]).await;
    assert_eq!((&answer["type"], &answer["battle"]), (&json!("revealed"), &json!(battle)), "{answer}");
    visitor.frames.pop().unwrap()
}

async fn all_votes(store: &Store) -> Vec<VoteRow> {
    store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 1_000_000).await.unwrap()
}

#[actix_web::test]
async fn a_hundred_votes_in_many_copies_count_once_each_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let precinct = Precinct::open(folder.path(), 1, &["--config", "langya.toml"]).await;
    let counts = precinct.poll(100_usize.div_ceil(VISITORS)).await;
    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    precinct.check(&counts, &all_votes(&store).await);
    store.close().await;
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn two_thousand_votes_over_two_instances_count_once_each_on_postgresql() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--config", "langya.toml", "--database", &database.url];
    let precinct = Precinct::open(folder.path(), 2, &arguments).await;
    let counts = precinct.poll(2_000 / VISITORS).await;
    let store = database.open().await;
    precinct.check(&counts, &all_votes(&store).await);
    store.close().await;
    drop(precinct);
    database.drop().await;
}
