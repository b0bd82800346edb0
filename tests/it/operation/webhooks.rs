//! Webhooks: what is sent and signed, what is sent again, and what is given up, seen and sent once more.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use actix_web::web::Bytes;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, rt, web};
use futures_util::future::join_all;
use futures_util::stream;
use langya::domain::admin::role::Role;
use langya::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use langya::domain::time::Timestamp;
use langya::domain::webhook::{DeliveryState, MAX_ATTEMPTS, WebhookEvent, signature};
use langya::infra::config::{Environment, Settings, WebhookSettings};
use langya::infra::rng::SharedRng;
use langya::infra::storage::{StoreError, WebhookMessageRow};
use langya::infra::time::clock::{Clock, SystemClock};
use langya::infra::webhooks::WebhookSender;
use langya::services::webhooks::Webhooks;
use parking_lot::Mutex;
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqlitePool;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::admin::browser::signed_in;
use crate::support::arena::{HOOK_SECRET, TestArena};
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::until;

/// A program that receives messages.
struct Receiver {
    answers: Mutex<u16>,
    taken: Mutex<Vec<Message>>,
}

#[derive(Clone)]
struct Message {
    event: String,
    signature: String,
    body: String,
}

impl Message {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Receiver {
    fn serve(answers: u16) -> (Arc<Self>, String) {
        let receiver = Arc::new(Self { answers: Mutex::new(answers), taken: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let data = web::Data::from(Arc::clone(&receiver));
        let server = HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(take)));
        rt::spawn(server.workers(1).disable_signals().listen(listener).unwrap().run());
        (receiver, url)
    }

    fn taken(&self) -> Vec<Message> {
        self.taken.lock().clone()
    }
}

async fn take(receiver: web::Data<Receiver>, request: HttpRequest, body: String) -> HttpResponse {
    let header = |name: &str| request.headers().get(name).unwrap().to_str().unwrap().to_owned();
    receiver.taken.lock().push(Message { event: header("langya-event"), signature: header("langya-signature"), body });
    let mut answer = HttpResponse::build((*receiver.answers.lock()).try_into().unwrap());
    // A reader of this receiver's answer reads forever.
    let part = || Ok::<_, actix_web::Error>(Bytes::from_static(b"sk-secret of the receiver "));
    answer.insert_header(("location", "/elsewhere")).streaming(stream::repeat_with(part))
}

/// A receiver that reads requests and answers none before the test says so.
struct HoldingReceiver {
    url: String,
    open: Arc<AtomicUsize>,
    may_answer: watch::Sender<bool>,
}

impl HoldingReceiver {
    async fn serve() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (open, may_answer) = (Arc::new(AtomicUsize::new(0)), watch::Sender::new(false));
        let (counter, answering) = (Arc::clone(&open), may_answer.subscribe());
        rt::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                rt::spawn(hold(connection, Arc::clone(&counter), answering.clone()));
            }
        });
        Self { url, open, may_answer }
    }

    /// A webhook that gets votes alone, so that one request is open at a time.
    fn hook(&self, id: &str) -> WebhookSettings {
        WebhookSettings { id: id.into(), events: vec![WebhookEvent::VotesRecorded], ..hook(&self.url) }
    }

    /// Requests that are neither answered nor given up by their sender.
    fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

/// Reads a request, and answers it once it may.
async fn hold(mut connection: TcpStream, open: Arc<AtomicUsize>, mut may_answer: watch::Receiver<bool>) {
    let mut bytes = [0; 4_096];
    let mut read = connection.read(&mut bytes).await;
    open.fetch_add(1, Ordering::SeqCst);
    while matches!(read, Ok(1..)) && !*may_answer.borrow() {
        tokio::select! {
            more = connection.read(&mut bytes) => read = more,
            changed = may_answer.changed() => if changed.is_err() { return },
        }
    }
    open.fetch_sub(1, Ordering::SeqCst);
    let _ = connection.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
    // A close with bytes unread resets the connection, and the answer with it.
    while matches!(connection.read(&mut bytes).await, Ok(1..)) {}
}

fn hook(url: &str) -> WebhookSettings {
    WebhookSettings { id: "ours".into(), url: url.into(), secret_env: "HOOK_SECRET".into(), events: Vec::new() }
}

async fn vote(arena: &TestArena) {
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn votes_and_ranks_are_sent_with_a_signature_and_nothing_before_the_vote() {
    let (receiver, url) = Receiver::serve(204);
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| settings.webhooks = vec![hook(&url)]).await;
    let begun = async |event| arena.app.store.webhook_position("ours", event).await.unwrap();
    for event in WebhookEvent::ALL {
        until(async || begun(event).await).await;
    }
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    assert_eq!(receiver.taken().len(), 0);
    visitor.vote("a").await;
    let all = until(async || Some(receiver.taken()).filter(|taken| taken.len() == 2)).await;
    let of = |event: &str| all.iter().find(|message| message.event == event).unwrap();
    let votes = of("votes.recorded").json();
    assert_eq!((&votes["event"], &votes["data"]), (&json!("votes.recorded"), &json!({"after": 0, "upto": 1})));
    let leaderboard = of("leaderboard.changed").json();
    let changes = leaderboard["data"]["changes"].as_array().unwrap();
    let models: Vec<&Value> = changes.iter().map(|change| &change["model"]).collect();
    assert_eq!(models, ["one", "two"], "{leaderboard}");
    assert!(changes.iter().all(|change| change["rank"].is_u64() && change["former_rank"].is_null()), "{leaderboard}");
    assert_eq!(leaderboard["data"]["last_vote_seq"], 1);
    for message in &all {
        assert!(!message.body.contains("river") && !message.body.contains("One."), "{}", message.body);
        let (time, _) = message.signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        let seconds: i64 = time.parse().unwrap();
        assert!((SystemClock.now().0 / 1_000 - seconds).abs() < 60, "{}", message.signature);
        assert_eq!(message.signature, signature(HOOK_SECRET.as_bytes(), seconds, &message.body));
    }
    let delivered = async || {
        let rows = arena.app.store.webhook_messages(Some(DeliveryState::Delivered), 9).await.unwrap();
        (rows.len() == 2).then_some(())
    };
    until(delivered).await;
    arena.end().await;
}

/// A clock that the test sets.
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Sends what is due and waits for all of it; returns how many messages were sent.
async fn send_due(webhooks: &Webhooks) -> Result<usize, StoreError> {
    let due = webhooks.due(&LeaderboardSnapshot::default(), 64).await?;
    let sent = join_all(due.into_iter().map(|message| webhooks.send(message))).await;
    let sent = sent.into_iter().collect::<Result<Vec<bool>, StoreError>>()?;
    Ok(sent.into_iter().filter(|sent| *sent).count())
}

/// The outbox of an arena that is looked at when the test says so.
struct Outbox {
    arena: TestArena,
    clock: Arc<SetClock>,
    webhooks: Webhooks,
    /// With the arena's data in `data`.
    folder: TempDir,
}

impl Outbox {
    async fn start(url: &str) -> Self {
        let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let arena =
            TestArena::start_with(&[("one", &one), ("two", &two)], |settings| settings.storage.data_dir = data).await;
        let clock = Arc::new(SetClock(AtomicI64::new(SystemClock.now().0)));
        let webhooks = Self::webhooks(url, &arena, &clock);
        Self { arena, clock, webhooks, folder }
    }

    /// What an instance looks with.
    fn webhooks(url: &str, arena: &TestArena, clock: &Arc<SetClock>) -> Webhooks {
        let settings = Settings { webhooks: vec![hook(url)], ..Settings::default() };
        let sender = WebhookSender::open(&settings, &Environment::of([("HOOK_SECRET", HOOK_SECRET)])).unwrap();
        let rng = Arc::new(SharedRng::seeded(7));
        Webhooks::new(arena.app.store.clone(), Arc::new(sender), rng, clock.clone())
    }

    /// Has another program change the database.
    async fn sql(&self, statement: &str) {
        let path = self.folder.path().join("data/langya.db");
        let database = SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&database).await.unwrap();
        database.close().await;
    }

    /// Looks a while later; returns how many messages were sent.
    async fn look(&self, seconds_later: i64) -> usize {
        self.clock.0.fetch_add(1_000 * seconds_later, Ordering::SeqCst);
        send_due(&self.webhooks).await.unwrap()
    }

    async fn messages(&self) -> Vec<WebhookMessageRow> {
        self.arena.app.store.webhook_messages(None, 99).await.unwrap()
    }
}

#[actix_web::test]
async fn a_message_is_sent_again_until_it_is_taken_and_the_next_one_tells_what_happened_meanwhile() {
    let (receiver, url) = Receiver::serve(500);
    let outbox = Outbox::start(&url).await;
    assert_eq!(outbox.look(0).await, 0, "it begins with what comes next");
    vote(&outbox.arena).await;
    assert_eq!((outbox.look(0).await, outbox.look(0).await, outbox.look(29).await), (1, 0, 0), "not before its time");
    vote(&outbox.arena).await;
    assert_eq!((outbox.look(1).await, outbox.look(59).await), (1, 0));
    let [row] = &outbox.messages().await[..] else { panic!("one message waits at a time") };
    assert_eq!((row.failures, row.state), (2, DeliveryState::Waiting));
    assert_eq!(row.error, "it answers with status 500 Internal Server Error", "nothing of the answer");
    *receiver.answers.lock() = 302;
    assert_eq!(outbox.look(1).await, 1);
    *receiver.answers.lock() = 410;
    assert_eq!(outbox.look(120).await, 1);
    *receiver.answers.lock() = 200;
    assert_eq!(outbox.look(240).await, 1);
    let taken = receiver.taken();
    assert_eq!(taken.len(), 5, "no redirect is followed");
    assert!(taken.iter().all(|message| message.body == taken[0].body), "the same message with the same id");
    let signatures: Vec<&str> = taken.iter().map(|message| message.signature.as_str()).collect();
    assert!(signatures[0] != signatures[1], "each try has a time of its own");
    assert_eq!((outbox.look(0).await, outbox.look(999).await), (1, 0));
    let spans: Vec<Value> = receiver.taken().iter().map(|message| message.json()["data"].clone()).collect();
    assert_eq!(spans[4..], [json!({"after": 0, "upto": 1}), json!({"after": 1, "upto": 2})]);
    assert!(outbox.messages().await.iter().all(|row| row.state == DeliveryState::Delivered));
    assert_eq!(outbox.webhooks.delete_old().await.unwrap(), 0);
    outbox.clock.0.fetch_add(86_400_001, Ordering::SeqCst);
    assert_eq!(outbox.webhooks.delete_old().await.unwrap(), 2);
    // A new process goes on where the old one was.
    assert_eq!(outbox.look(0).await, 0);
}

/// Has the database refuse every change of messages that this condition holds for, as a full disk would.
async fn refuse_changes(outbox: &Outbox, when: &str) {
    let refused = format!(
        "CREATE TRIGGER full BEFORE UPDATE ON webhook_messages WHEN {when} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    );
    outbox.sql(&refused).await;
}

#[actix_web::test]
async fn nothing_is_sent_while_nothing_can_be_noted_and_what_was_not_noted_is_sent_again_with_the_same_id() {
    let (receiver, url) = Receiver::serve(200);
    let outbox = Outbox::start(&url).await;
    outbox.look(0).await;
    vote(&outbox.arena).await;
    refuse_changes(&outbox, "TRUE").await;
    for _ in 0..2 {
        assert!(send_due(&outbox.webhooks).await.is_err());
    }
    assert_eq!(receiver.taken().len(), 0, "a receiver would get it every second");
    outbox.sql("DROP TRIGGER full").await;
    // The process dies between the answer and its note.
    refuse_changes(&outbox, "new.state <> old.state").await;
    assert!(send_due(&outbox.webhooks).await.is_err());
    outbox.sql("DROP TRIGGER full").await;
    assert_eq!(
        (receiver.taken().len(), outbox.look(59).await, outbox.look(1).await, outbox.look(99).await),
        (1, 0, 1, 0)
    );
    let taken = receiver.taken();
    assert_eq!((taken.len(), &taken[0].body), (2, &taken[1].body));
}

#[actix_web::test]
#[ignore = "slow"]
async fn a_receiver_that_never_answers_counts_as_one_that_fails() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let outbox = Outbox::start(&format!("http://{}/sk-canary", silent.local_addr().unwrap())).await;
    outbox.look(0).await;
    vote(&outbox.arena).await;
    assert_eq!(outbox.look(0).await, 1);
    let [row] = &outbox.messages().await[..] else { panic!("one message") };
    assert_eq!((row.failures, row.state), (1, DeliveryState::Waiting));
    assert!(row.error.starts_with("it cannot be reached") && !row.error.contains("canary"), "{}", row.error);
}

#[actix_web::test]
async fn a_receiver_that_never_answers_holds_up_no_other() {
    let silent = HoldingReceiver::serve().await;
    let (receiver, url) = Receiver::serve(204);
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let models = [("one", &one), ("two", &two)];
    let hooks = vec![silent.hook("silent"), hook(&url)];
    let arena = TestArena::start_with(&models, |settings| settings.webhooks = hooks).await;
    let begun = async |webhook| arena.app.store.webhook_position(webhook, WebhookEvent::VotesRecorded).await.unwrap();
    for webhook in ["silent", "ours"] {
        until(async || begun(webhook).await).await;
    }
    vote(&arena).await;
    until(async || (silent.open() == 1).then_some(())).await;
    vote(&arena).await;
    let told = |message: &Message| message.json()["data"]["upto"] == 2;
    until(async || receiver.taken().iter().any(told).then_some(())).await;
    assert_eq!(silent.open(), 1, "its first request was waited for");
    arena.end().await;
}

#[actix_web::test]
async fn a_delivery_whose_result_waits_for_the_database_blocks_neither_the_job_nor_other_writes() {
    let receiver = HoldingReceiver::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| {
        settings.storage.data_dir.clone_from(&data);
        settings.webhooks = vec![receiver.hook("held")];
    })
    .await;
    let store = &arena.app.store;
    until(async || store.webhook_position("held", WebhookEvent::VotesRecorded).await.unwrap()).await;
    vote(&arena).await;
    until(async || (receiver.open() == 1).then_some(())).await;
    // From here on every look writes: it tries to send the second vote.
    vote(&arena).await;
    let database = SqlitePool::connect(&format!("sqlite:{}", data.join("langya.db").display())).await.unwrap();
    let mut lock = database.acquire().await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *lock).await.unwrap();
    receiver.may_answer.send_replace(true);
    // The result of the delivery has the writing connection and waits for the lock; then the next look waits for that connection.
    let looks = || arena.app.tasks.jobs()["send_webhooks"].running_since;
    until(async || looks()).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut *lock).await.unwrap();
    let delivered = async || store.webhook_messages(Some(DeliveryState::Delivered), 9).await.unwrap();
    until(async || (delivered().await.len() == 2).then_some(())).await;
    drop(lock);
    database.close().await;
    arena.end().await;
}

#[actix_web::test]
async fn of_two_instances_that_look_at_once_one_sends() {
    let (receiver, url) = Receiver::serve(200);
    let outbox = Outbox::start(&url).await;
    outbox.look(0).await;
    vote(&outbox.arena).await;
    let other = Outbox::webhooks(&url, &outbox.arena, &outbox.clock);
    let (one, two) = futures_util::join!(send_due(&outbox.webhooks), send_due(&other));
    assert_eq!((one.unwrap() + two.unwrap(), receiver.taken().len()), (1, 1));
}

#[actix_web::test]
async fn a_message_that_is_given_up_is_seen_and_sent_again_on_the_page_and_by_command() {
    let (receiver, url) = Receiver::serve(503);
    let outbox = Outbox::start(&url).await;
    outbox.look(0).await;
    vote(&outbox.arena).await;
    for tries in 1..=MAX_ATTEMPTS {
        assert_eq!(outbox.look(6 * 3_600).await, 1, "{tries}");
    }
    assert_eq!(outbox.look(99 * 3_600).await, 0, "given up");
    let [dead] = &outbox.messages().await[..] else { panic!("one message") };
    assert_eq!((dead.state, dead.failures), (DeliveryState::Dead, MAX_ATTEMPTS));
    let metrics = langya::infra::metrics::render();
    let counted =
        metrics.lines().find_map(|line| line.strip_prefix("langya_webhooks_abandoned_total ")?.parse::<f64>().ok());
    assert!(counted.is_some_and(|count| count >= 1.0), "{metrics}");

    let list = ["webhooks", "list", "--state", "dead", "--format", "json", "--data-dir", "data"];
    let listed = langya_beside(outbox.folder.path(), &list).await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["webhook"]), (&json!(dead.id), &json!("ours")), "{listed}");
    let mut viewer = signed_in(&outbox.arena, Role::Viewer).await;
    let page = viewer.get("/admin/webhooks").await.text().await.unwrap();
    assert!(page.contains("503") && !page.contains("/admin/webhooks/retry"), "{page}");
    let mut operator = signed_in(&outbox.arena, Role::Operator).await;
    assert!(operator.get("/admin/webhooks").await.text().await.unwrap().contains("/admin/webhooks/retry"));
    let retried = operator.post_form("/admin/webhooks/retry", &[("id", &dead.id)]).await;
    assert_eq!(retried.status(), StatusCode::SEE_OTHER);
    let again = operator.post_form("/admin/webhooks/retry", &[("id", &dead.id)]).await;
    assert_eq!(again.status(), StatusCode::CONFLICT, "it waits already");
    let retry = ["webhooks", "retry", dead.id.as_str(), "--data-dir", "data"];
    assert_eq!(langya_beside(outbox.folder.path(), &retry).await.code, Some(2));
    *receiver.answers.lock() = 200;
    assert_eq!(outbox.look(0).await, 1);
    assert_eq!(outbox.messages().await[0].state, DeliveryState::Delivered);
    let audit = outbox.arena.app.store.audit_entries(&Default::default(), 9).await.unwrap();
    assert!(audit.iter().any(|row| row.action == "retry_webhook" && row.subject == dead.id), "{audit:?}");
}

#[actix_web::test]
async fn a_webhook_that_is_out_of_reach_or_has_no_secret_is_refused_at_the_start() {
    let open = |url: &str, secret: &str, private: bool| {
        let mut settings = Settings { webhooks: vec![hook(url)], ..Settings::default() };
        if !private {
            settings.providers.private_networks = Vec::new();
        }
        WebhookSender::open(&settings, &Environment::of([("HOOK_SECRET", secret)])).map_err(|error| error.to_string())
    };
    assert!(open("https://hooks.example.org/a?b=c", HOOK_SECRET, false).is_ok());
    assert!(open("http://127.0.0.1:9/", HOOK_SECRET, true).is_ok());
    for (url, private) in [
        ("http://169.254.169.254/latest", true),
        ("http://[::ffff:169.254.169.254]/", true),
        ("http://127.0.0.1:9/", false),
        ("http://10.0.0.7/", false),
        ("https://me:sk-canary@hooks.example.org/", true),
        ("https://hooks.example.org/#x", true),
    ] {
        let refused = open(url, HOOK_SECRET, private).unwrap_err();
        assert!(refused.contains("webhooks.url") && !refused.contains("canary"), "{url}: {refused}");
    }
    for secret in ["", "short"] {
        let refused = open("https://hooks.example.org/", secret, true).unwrap_err();
        assert!(refused.contains("webhooks.secret_env") && !refused.contains("short\""), "{refused}");
    }
}
