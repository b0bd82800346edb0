//! Witnesses that sign the public log beside the arena.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::{App, HttpResponse, HttpServer, rt, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use langya::domain::public_log::checkpoint::Checkpoint;
use langya::domain::public_log::cosignature::{WitnessKey, cosigned_text};
use langya::domain::public_log::hash::TreeHash;
use langya::domain::public_log::merkle_proof::{TreeHead, is_consistent};
use langya::infra::config::WitnessSettings;
use parking_lot::Mutex;
use ring::signature::{Ed25519KeyPair, KeyPair};
use tokio::sync::Notify;

use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::get;

/// When every witness signs.
const TIME: u64 = 1_800_000_000;

/// What a witness does.
#[derive(Clone, Copy, PartialEq)]
enum ProviderBehaviour {
    /// Signs what continues the tree that it signed last.
    Honest,
    /// Signs another text.
    SignsElse,
    /// Refuses with this status.
    Refuses(u16),
    /// Answers after its reader has gone.
    Hangs,
    /// Signs once the test lets it.
    Late,
}

/// A witness on a port of its own, written after the specification.
struct Witness {
    name: &'static str,
    pair: Ed25519KeyPair,
    conduct: Mutex<ProviderBehaviour>,
    signed: Mutex<TreeHead>,
    asked: Mutex<usize>,
    /// What one that is late waits for.
    gate: Notify,
}

impl Witness {
    fn new(name: &'static str, seed: u8, conduct: ProviderBehaviour) -> Arc<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
        let signed = Mutex::new(TreeHead { size: 0, root: TreeHash::empty_root() });
        Arc::new(Self { name, pair, conduct: Mutex::new(conduct), signed, asked: Mutex::new(0), gate: Notify::new() })
    }

    fn key(&self) -> WitnessKey {
        WitnessKey::new(self.name, self.pair.public_key().as_ref().try_into().unwrap()).unwrap()
    }

    /// Listens, and says where.
    fn serve(self: &Arc<Self>) -> WitnessSettings {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let witness = web::Data::from(Arc::clone(self));
        let server = HttpServer::new(move || {
            App::new().app_data(witness.clone()).route("/add-checkpoint", web::post().to(add_checkpoint))
        });
        rt::spawn(server.workers(1).disable_signals().listen(listener).unwrap().run());
        WitnessSettings { key: self.key().to_string(), url }
    }

    fn line(&self, text: &str) -> String {
        let signature = self.pair.sign(cosigned_text(text, TIME).as_bytes());
        let bytes = [&self.key().id()[..], &TIME.to_be_bytes(), signature.as_ref()].concat();
        format!("— {} {}\n", self.name, STANDARD.encode(bytes))
    }
}

async fn add_checkpoint(witness: web::Data<Witness>, request: String) -> HttpResponse {
    *witness.asked.lock() += 1;
    let conduct = *witness.conduct.lock();
    let (head, note) = request.split_once("\n\n").unwrap();
    let text = &note[..=note.find("\n\n").unwrap()];
    let new = Checkpoint::parse(text).unwrap().head;
    let mut lines = head.lines();
    let old: u64 = lines.next().unwrap().strip_prefix("old ").unwrap().parse().unwrap();
    let proof: Vec<TreeHash> = lines.map(|line| TreeHash::from_base64(line).unwrap()).collect();
    match conduct {
        ProviderBehaviour::Honest => {}
        ProviderBehaviour::Late => witness.gate.notified().await,
        ProviderBehaviour::SignsElse => return HttpResponse::Ok().body(witness.line("another/log\n1\nAAAA\n")),
        ProviderBehaviour::Refuses(status) => {
            return HttpResponse::build(status.try_into().unwrap()).body("key sk-secret");
        }
        ProviderBehaviour::Hangs => return std::future::pending().await,
    }
    let mut signed = witness.signed.lock();
    if old != signed.size {
        return HttpResponse::Conflict().content_type("text/x.tlog.size").body(format!("{}\n", signed.size));
    }
    if !is_consistent(*signed, new, &proof) {
        return HttpResponse::UnprocessableEntity().finish();
    }
    *signed = new;
    HttpResponse::Ok().body(witness.line(text))
}

async fn start(witnesses: Vec<WitnessSettings>) -> TestArena {
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    TestArena::start_with(&models, |settings| settings.public_log.witnesses = witnesses).await
}

/// Waits until the checkpoint of so many entries is signed by this witness.
async fn until_cosigned(arena: &TestArena, witness: &Witness, entries: u64) {
    until(async || {
        let latest = arena.app.public_log.latest().await.unwrap().filter(|latest| latest.head.size >= entries)?;
        witness.key().cosigned_at(&latest.note).unwrap()
    })
    .await;
}

async fn vote(arena: &TestArena) {
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn witnesses_sign_each_checkpoint_and_anyone_who_verifies_can_ask_for_them() {
    let witnesses = [
        Witness::new("witness.example/one", 1, ProviderBehaviour::Honest),
        Witness::new("two", 2, ProviderBehaviour::Honest),
    ];
    // One that has signed the empty log of another arena's life: it says how much it knows.
    let arena = start(witnesses.iter().map(Witness::serve).collect()).await;
    for entries in 1..=3 {
        vote(&arena).await;
        for witness in &witnesses {
            until_cosigned(&arena, witness, entries).await;
        }
    }
    let [one, two] = &witnesses;
    assert_eq!(one.signed.lock().size, 3);
    let folder = tempfile::tempdir().unwrap();
    let address = format!("{}/log", arena.url);
    let (one, two) = (one.key().to_string(), two.key().to_string());
    let done = langya_beside(folder.path(), &["verify", &address, "--witness", &one, "--witness", &two]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("witness: two signed it at 2027-01-15T08:00:00Z"), "{done:?}");
    let page = get(&address).await.text().await.unwrap();
    assert!(page.contains("Witnesses") && page.contains(&two), "{page}");
    arena.end().await;
}

#[actix_web::test]
async fn a_witness_that_fails_or_lies_holds_up_neither_the_log_nor_the_others() {
    let honest = Witness::new("honest", 1, ProviderBehaviour::Honest);
    let others = [
        Witness::new("liar", 2, ProviderBehaviour::SignsElse),
        Witness::new("stranger", 3, ProviderBehaviour::Refuses(403)),
        Witness::new("mute", 4, ProviderBehaviour::Hangs),
    ];
    let arena = start([&honest].into_iter().chain(&others).map(Witness::serve).collect()).await;
    // The log begins with a checkpoint of no entries.
    until_cosigned(&arena, &honest, 0).await;
    let job = arena.app.tasks.jobs()["ask_witnesses"].clone();
    assert!(job.running_since.is_some(), "the signature was kept while the mute one was still waited for");
    vote(&arena).await;
    until_cosigned(&arena, &honest, 1).await;
    let note = arena.app.public_log.latest().await.unwrap().unwrap().note;
    for other in &others {
        assert_eq!((other.key().cosigned_at(&note), *other.asked.lock()), (Ok(None), 1), "{}", other.name);
    }
    let folder = tempfile::tempdir().unwrap();
    let liar = others[0].key().to_string();
    // A folder is read once, so nobody waits for the signature.
    let copy = folder.path().join("log");
    std::fs::create_dir_all(copy.join("tile/0")).unwrap();
    std::fs::create_dir_all(copy.join("tile/entries")).unwrap();
    for path in ["checkpoint", "tile/0/000.p/1", "tile/entries/000.p/1"] {
        let part = get(&format!("{}/log/{path}", arena.url)).await.bytes().await.unwrap();
        std::fs::create_dir_all(copy.join(path).parent().unwrap()).unwrap();
        std::fs::write(copy.join(path), part).unwrap();
    }
    std::fs::write(copy.join("log.json"), get(&format!("{}/api/v1/log", arena.url)).await.bytes().await.unwrap())
        .unwrap();
    let copy = copy.to_str().unwrap();
    let verify = ["verify", copy, "--no-leaderboard"];
    let done = langya_beside(folder.path(), &verify).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = langya_beside(folder.path(), &[&verify[..], &["--witness", &liar]].concat()).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("the checkpoint is not signed by liar"), "{done:?}");
    arena.end().await;
}

#[actix_web::test]
async fn a_witness_of_a_longer_log_does_not_sign_a_shorter_one() {
    let witness = Witness::new("remembers", 1, ProviderBehaviour::Honest);
    *witness.signed.lock() = TreeHead { size: 9, root: TreeHash::leaf(b"x") };
    let arena = start(vec![witness.serve()]).await;
    vote(&arena).await;
    until(async || (*witness.asked.lock() > 0).then_some(())).await;
    let latest = arena.app.public_log.latest().await.unwrap().unwrap();
    assert_eq!(witness.key().cosigned_at(&latest.note), Ok(None));
    assert_eq!(witness.signed.lock().size, 9);
    arena.end().await;
}

#[actix_web::test]
async fn a_witness_that_failed_is_left_alone_while_the_others_sign_on() {
    let honest = Witness::new("honest", 1, ProviderBehaviour::Honest);
    let others = [
        Witness::new("liar", 2, ProviderBehaviour::SignsElse),
        Witness::new("stranger", 3, ProviderBehaviour::Refuses(403)),
    ];
    let arena = start([&honest].into_iter().chain(&others).map(Witness::serve).collect()).await;
    for entries in 1..=2 {
        vote(&arena).await;
        until_cosigned(&arena, &honest, entries).await;
    }
    let asked = others.each_ref().map(|other| *other.asked.lock());
    assert_eq!(asked, [1, 1], "not again within a minute");
    let note = arena.app.public_log.latest().await.unwrap().unwrap().note;
    assert!(others.iter().all(|other| other.key().cosigned_at(&note) == Ok(None)), "{note}");
    arena.end().await;
}

#[actix_web::test]
async fn a_signature_that_comes_late_is_not_put_below_a_later_checkpoint() {
    let witness = Witness::new("late", 1, ProviderBehaviour::Late);
    let arena = start(vec![witness.serve()]).await;
    vote(&arena).await;
    until(async || (*witness.asked.lock() == 1).then_some(())).await;
    vote(&arena).await;
    until(async || arena.app.public_log.latest().await.unwrap().filter(|latest| latest.head.size == 2)).await;
    *witness.conduct.lock() = ProviderBehaviour::Honest;
    witness.gate.notify_one();
    // Fails on a line below the second checkpoint that signs the first one.
    until_cosigned(&arena, &witness, 2).await;
    assert_eq!(*witness.asked.lock(), 2, "asked again for the later checkpoint");
    arena.end().await;
}
