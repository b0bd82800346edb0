//! The register of models: what the settings say over time, and battles by finished day.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use langya::domain::model_register::days::{Period, number_of, start_of};
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::CurrentSettings;
use langya::infra::llm::ChatError;
use langya::infra::llm::roster::Roster;
use langya::infra::rng::SharedRng;
use langya::infra::storage::{IfMissing, Store};
use langya::infra::time::clock::{Clock, SystemClock};
use langya::services::arena::models::Models;
use langya::services::import_export::import::{self, VotesFile};
use langya::services::model_register::ModelRegister;
use langya::services::model_register::recording::Recorder;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqlitePool;
use tempfile::TempDir;

use crate::support::arena::{SEED, TestArena};
use crate::support::postgres::TestDatabase;
use crate::support::program::{Server, langya_beside};
use crate::support::redis::TestRedis;
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::get;
use crate::support::{size, until};

const RECORDED: &str = "changes of models or of the pairing recorded";
/// What no page may show.
const SECRETS: [&str; 4] = ["crane-at-its-provider", "heron-at-its-provider", "127.0.0.1:9", "Be a secret agent"];

/// An entry of the settings. No model is asked here, so no server answers.
fn entry(id: &str, provider_model: &str, more: &str) -> String {
    format!(
        "[[models]]\nid = \"{id}\"\norganization = \"Maker\"\nprovider = \"openai\"\n\
         base_url = \"http://127.0.0.1:9/v1\"\nmodel = \"{provider_model}-at-its-provider\"\n\
         system_prompt = \"Be a secret agent.\"\n{more}\n"
    )
}

struct Settings(TempDir);

impl Settings {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, policy: &str, models: &[String]) {
        let text = format!(
            "[server]\nworkers = 1\n[providers]\npractice = \"never\"\n[pairing]\npolicy = \"{policy}\"\n{}",
            models.concat()
        );
        // Under another name first, as editors do: nobody reads half a file.
        std::fs::write(self.folder().join("edited"), text).unwrap();
        std::fs::rename(self.folder().join("edited"), self.folder().join("langya.toml")).unwrap();
    }
}

/// The register as it is read from the database, without an arena.
async fn stored(store: &Store) -> Value {
    let register = ModelRegister::new(store.clone()).get(Period::Month, BTreeSet::new()).await.unwrap();
    serde_json::to_value(&*register).unwrap()
}

async fn json(url: &str) -> Value {
    let answer = get(&format!("{url}/api/v1/models")).await;
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

fn row<'r>(register: &'r Value, id: &str) -> &'r Value {
    let models = register["models"].as_array().unwrap();
    models.iter().find(|model| model["id"] == id).unwrap()
}

/// The kinds of all changes of a model.
fn kinds(register: &Value, id: &str) -> Vec<String> {
    let changes = row(register, id)["changes"].as_array().unwrap();
    let kinds = changes.iter().flat_map(|change| change["kinds"].as_array().unwrap());
    kinds.map(|kind| kind.as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn the_register_tells_what_the_settings_said_of_each_model_over_time() {
    let settings = Settings::new();
    let (one, two) = (entry("one", "crane", ""), entry("two", "heron", ""));
    let three = entry("three", "crane", "reason = \"a second entry for the spring comparison\"");
    settings.write("weighted", &[one.clone(), two.clone()]);
    let server = Server::start(settings.folder(), &[]);
    server.logged_times(RECORDED, 1).await;
    let steps: [(&str, Vec<String>); 7] = [
        ("weighted", vec![one.clone(), two.clone(), three.clone()]),
        ("weighted", vec![one.clone(), entry("two", "heron", "weight = 0.0"), three.clone()]),
        ("weighted", vec![entry("one", "crane", "weight = 3.5"), two.clone(), three.clone()]),
        ("weighted", vec![entry("one", "heron", "weight = 3.5"), two.clone(), three.clone()]),
        ("weighted", vec![two.clone(), three.clone()]),
        ("weighted", vec![one.clone(), two.clone(), three.clone()]),
        ("active", vec![one.clone(), two.clone(), three.clone()]),
    ];
    for (step, (policy, models)) in steps.iter().enumerate() {
        settings.write(policy, models);
        server.logged_times(RECORDED, step + 2).await;
    }
    let register = json(&server.url).await;
    let first = ["added", "reweighted", "provider_model", "retired", "returned", "provider_model"];
    assert_eq!(kinds(&register, "one"), first);
    assert_eq!(kinds(&register, "two"), ["added", "paused", "resumed"]);
    assert_eq!(kinds(&register, "three"), ["added"]);
    let added = &row(&register, "three")["changes"][0];
    assert_eq!(added["reason"], "a second entry for the spring comparison");
    let same = |id: &str| row(&register, id)["same_provider_model_as"].clone();
    assert_eq!(same("three"), serde_json::json!([{"id": "one", "at_present": true}]));
    assert_eq!(same("two"), serde_json::json!([{"id": "one", "at_present": false}]), "as it was for a while");
    let weights = row(&register, "one")["changes"].as_array().unwrap().iter().map(|change| change["weight"].clone());
    assert_eq!(weights.collect::<Vec<_>>(), [1.0, 3.5, 3.5, 0.0, 1.0]);
    let maker = &register["organizations"][0];
    assert_eq!((&maker["entries"], &maker["provider_models"], &maker["active"]), (&3.into(), &2.into(), &3.into()));
    let policies = register["pairing"].as_array().unwrap();
    assert_eq!(
        (policies.len(), &policies[0]["policy"], &policies[1]["policy"]),
        (2, &"weighted".into(), &"active".into())
    );
    assert_eq!((&policies[0]["until"], &policies[1]["until"]), (&policies[1]["from"], &Value::Null));

    assert!(server.terminate().success());
    let server = Server::start(settings.folder(), &[]);
    let reason = ["models", "reason", "two", "back after its maker mended it", "--data-dir", "data"];
    let stated = langya_beside(settings.folder(), &reason).await;
    assert_eq!(stated.code, Some(0), "{stated:?}");
    settings.write("active", &[one, entry("two", "heron", "weight = 0.5"), three]);
    server.logged_times(RECORDED, 1).await;
    let register = json(&server.url).await;
    assert_eq!(kinds(&register, "one"), first, "a restart changes nothing");
    assert_eq!(kinds(&register, "two"), ["added", "paused", "resumed", "reason", "reweighted"]);
    let stated = &row(&register, "two")["changes"][3];
    assert_eq!((&stated["reason"], &stated["author"]), (&"back after its maker mended it".into(), &"command".into()));

    let unknown = langya_beside(settings.folder(), &["models", "reason", "nobody", "why", "--data-dir", "data"]).await;
    assert!(unknown.code == Some(2) && unknown.stderr.contains("models register"), "{unknown:?}");
    let mut shown = vec![register.to_string()];
    for path in ["/models", "/models?lang=zh&period=week"] {
        shown.push(get(&format!("{}{path}", server.url)).await.text().await.unwrap());
    }
    for format in ["table", "json", "csv"] {
        let run =
            langya_beside(settings.folder(), &["models", "register", "--format", format, "--data-dir", "data"]).await;
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("three") && run.stdout.contains("Maker"), "{}", run.stdout);
        shown.push(run.stdout);
    }
    for (text, secret) in shown.iter().flat_map(|text| SECRETS.map(|secret| (text, secret))) {
        assert!(!text.contains(secret), "{secret} is shown: {text}");
    }
    assert!(shown[1].contains("a second entry for the spring comparison") && shown[1].contains("weight 1 → 3.5"));
    assert_eq!(get(&format!("{}/models?period=year", server.url)).await.status(), 400);
    assert_eq!(serde_json::from_str::<Value>(&shown[4]).unwrap(), register, "the command says what the page says");
}

#[actix_web::test]
async fn of_two_instances_one_records_each_change() {
    let (Some(database), Some(redis)) = (TestDatabase::create().await, TestRedis::start()) else { return };
    let settings = Settings::new();
    let (one, two) = (entry("one", "crane", ""), entry("two", "heron", ""));
    settings.write("weighted", &[one.clone(), two.clone()]);
    let address = redis.settings().url.expose().to_owned();
    let serve = || Server::start(settings.folder(), &["--database", &database.url, "--redis", &address]);
    let leader = serve();
    leader.logged_times(RECORDED, 1).await;
    let follower = serve();
    settings.write("weighted", &[one.clone(), entry("two", "heron", "weight = 2.0")]);
    for server in [&leader, &follower] {
        server.logged("the edited settings are in force").await;
    }
    leader.logged_times(RECORDED, 2).await;
    assert_eq!(kinds(&json(&follower.url).await, "two"), ["added", "reweighted"]);
    leader.kill();
    follower.logged("now the leader").await;
    settings.write("uniform", &[one, entry("two", "heron", "weight = 3.0")]);
    follower.logged(RECORDED).await;
    let pool = database.raw().await;
    let rows: Vec<(String, i64, f64)> =
        sqlx::query_as("SELECT model, number, weight FROM model_changes ORDER BY model, number")
            .fetch_all(&pool)
            .await
            .unwrap();
    let expected = [("one", 1, 1.0), ("two", 1, 1.0), ("two", 2, 2.0), ("two", 3, 3.0)];
    assert_eq!(rows, expected.map(|(model, number, weight)| (model.to_owned(), number, weight)));
    pool.close().await;
    drop(follower);
    database.drop().await;
}

/// So much later than now.
struct Later(i64);

impl Clock for Later {
    fn now(&self) -> Timestamp {
        Timestamp(SystemClock.now().0 + self.0)
    }
}

const DAY: i64 = 86_400_000;

/// What the leading instance does, a while after now.
fn recorder(arena: &TestArena, later: i64) -> Recorder {
    Recorder {
        store: arena.app.store.clone(),
        models: Arc::clone(&arena.app.models),
        settings: arena.app.settings.clone(),
        clock: Arc::new(Later(later)),
        rng: Arc::clone(&arena.app.rng),
    }
}

#[actix_web::test]
async fn two_writers_at_the_same_time_leave_one_row() {
    let model = Scripted::saying("Here.");
    let arena = TestArena::start(&[("one", &model), ("two", &model)]).await;
    let (one, other) = (recorder(&arena, 0), recorder(&arena, 1));
    tokio::join!(one.record_settings(), other.record_settings()).0.unwrap();
    let mut settings = (*arena.app.settings.now()).clone();
    settings.pairing.elo_width = 7.0;
    arena.app.settings.replace(settings);
    let (first, second) = tokio::join!(one.record_settings(), other.record_settings());
    first.unwrap();
    second.unwrap();
    let pairing = arena.app.store.pairing_changes().await.unwrap();
    assert_eq!(pairing.iter().map(|change| change.number).collect::<Vec<_>>(), [1, 2]);
    let changes = arena.app.store.model_changes().await.unwrap();
    assert_eq!(changes.iter().map(|change| change.number).collect::<Vec<_>>(), [1, 1], "one row for each model");
    arena.end().await;
}

#[actix_web::test]
async fn the_register_does_not_move_before_the_vote() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let model = Scripted::saying("Here.");
    let models = ["one", "two", "three"].map(|id| (id, &model));
    let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data)).await;
    recorder(&arena, 0).record_settings().await.unwrap();
    let mut visitor = arena.visitor().await;
    visitor.ask("Who is it?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    let tomorrow = recorder(&arena, DAY + 2 * 3_600_000);
    let counts = |register: &Value| {
        let models = register["models"].as_array().unwrap().iter();
        let counted = models.map(|model| (model["battles"].clone(), model["first_day"].clone()));
        (register["battles"].clone(), register["counted_through"].clone(), counted.collect::<Vec<_>>())
    };
    let before = counts(&json(&arena.url).await);
    assert_eq!(recorder(&arena, 0).count_battles().await.unwrap(), 0, "today is not over");

    visitor.ask("And who is this?").await;
    visitor.until_ready().await;
    tomorrow.count_battles().await.unwrap();
    let open = counts(&json(&arena.url).await);
    assert_eq!((&open.0, &open.2), (&before.0, &before.2), "a battle of the day has no vote yet");

    visitor.vote("tie").await;
    assert!(tomorrow.count_battles().await.unwrap() > 0);
    let after = json(&arena.url).await;
    assert_eq!(after["battles"], 2);
    let battles = after["models"].as_array().unwrap().iter().map(|model| model["battles"].as_u64().unwrap());
    assert_eq!(battles.sum::<u64>(), 4, "two models a battle");

    let votes = folder.path().join("votes.csv");
    // The first battle is named by the arena that it comes from.
    let [from_arena, local] = ["018bcfe5-6800-7000-8000-000000000001", "2"];
    let rows = format!("{from_arena},old,older,model_a,1700000000\n{local},old,one,tie,1700090000\n");
    std::fs::write(&votes, format!("battle_id,model_a,model_b,winner,tstamp\n{rows}")).unwrap();
    let read = VotesFile::read(&votes, &ReadOptions::default(), Timestamp(1)).unwrap();
    import::votes(&arena.app.store, read, |_, _| {}).await.unwrap();
    tomorrow.count_battles().await.unwrap();
    let register = json(&arena.url).await;
    let old = row(&register, "old");
    assert_eq!(
        (&old["state"], &old["battles"], &old["imported_battles"]),
        (&"not_configured".into(), &0.into(), &2.into())
    );
    assert_eq!((&old["first_day"], &old["last_day"]), (&"2023-11-14".into(), &"2023-11-15".into()));
    assert_eq!((&register["battles"], &register["imported_battles"]), (&2.into(), &2.into()));

    // The arena's own job counts by today's clock, and takes back that today is counted, so it has to end first.
    let store = arena.app.store.clone();
    arena.end().await;
    tomorrow.count_battles().await.unwrap();
    let (filled, shown) = (counts(&stored(&store).await), counts(&register));
    assert_eq!((&filled.0, &filled.2), (&shown.0, &shown.2), "the arena showed what is stored");
    let database = SqlitePool::connect(&format!("sqlite:{}", data.join("langya.db").display())).await.unwrap();
    for table in ["battle_days", "counted_sources"] {
        sqlx::raw_sql(AssertSqlSafe(format!("DELETE FROM {table}"))).execute(&database).await.unwrap();
    }
    assert_eq!(stored(&store).await["battles"], 0);
    tomorrow.count_battles().await.unwrap();
    assert_eq!(counts(&stored(&store).await), filled, "emptied and filled again, the counts are the same");
    database.close().await;
    store.close().await;
}

#[actix_web::test]
async fn a_model_that_drops_out_of_battles_shows_how_often_once_the_day_is_counted() {
    let says = Scripted::saying("Here.");
    let fails = Scripted::new(|_| vec![Step::Fail(ChatError::Empty)]);
    let arena = TestArena::start(&[("fails", &fails), ("good", &says), ("spare", &says)]).await;
    let mut visitor = arena.visitor().await;
    while fails.asked() == 0 {
        visitor.ask("Who is it?").await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote("a").await["type"], "revealed");
    }
    let failures = |register: &Value| row(register, "fails")["recent_failures"].clone();
    let none = serde_json::json!({ "drawn": 0, "failed": 0, "share": null });
    assert_eq!(failures(&json(&arena.url).await), none, "the day is not over");

    let tomorrow = recorder(&arena, DAY + 2 * 3_600_000);
    // The arena's own job counts by today's clock, and takes back that today is counted.
    let page = until(async || {
        tomorrow.count_battles().await.unwrap();
        let page = get(&format!("{}/models/fails?lang=en", arena.url)).await.text().await.unwrap();
        page.contains("failed to answer").then_some(page)
    });
    assert!(page.await.contains("<dd>100 % (1 of 1)</dd>"));
    let published = until(async || {
        tomorrow.count_battles().await.unwrap();
        Some(failures(&json(&arena.url).await)).filter(|failures| *failures != none)
    });
    assert_eq!(published.await, serde_json::json!({ "drawn": 1, "failed": 1, "share": 1.0 }));
    let table = until(async || {
        tomorrow.count_battles().await.unwrap();
        let page = get(&format!("{}/models?lang=en", arena.url)).await.text().await.unwrap();
        page.contains("<td>100.0 % <small>1 / 1</small></td>").then_some(page)
    });
    assert!(table.await.contains("<th scope=\"col\">Failed to answer, last 30 days</th>"));
    arena.end().await;
}

/// A clock that stands still.
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// On a database that no arena serves: the arena's own job would count the import, too.
#[actix_web::test]
async fn an_import_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = langya::infra::config::Settings::default();
    settings.storage.data_dir = folder.path().join("data");
    let store = Store::open(&settings.storage, IfMissing::Create).await.unwrap();
    let clock = Still(SystemClock.now());
    let recorder = Recorder {
        models: Arc::new(Models::open(Roster::default(), &store, &clock).await.unwrap()),
        store: store.clone(),
        settings: CurrentSettings::new(settings),
        clock: Arc::new(clock),
        rng: Arc::new(SharedRng::seeded(SEED)),
    };
    recorder.count_battles().await.unwrap();
    let votes = folder.path().join("votes.csv");
    // The first battle is named by the arena that it comes from.
    let [from_arena, local] = ["018bcfe5-6800-7000-8000-000000000001", "2"];
    let rows = format!("{from_arena},old,older,model_a,1700000000\n{local},old,one,tie,1700090000\n");
    std::fs::write(&votes, format!("battle_id,model_a,model_b,winner,tstamp\n{rows}")).unwrap();
    let read = VotesFile::read(&votes, &ReadOptions::default(), Timestamp(1)).unwrap();
    import::votes(&store, read, |_, _| {}).await.unwrap();
    assert_eq!(recorder.count_battles().await.unwrap(), 1);
    assert_eq!(recorder.count_battles().await.unwrap(), 0);
    store.close().await;
}

/// Battles of a year, as quickly as SQLite makes them.
async fn fill(database: &SqlitePool, models: usize, battles: usize) {
    let today = number_of(SystemClock.now());
    let statements = [
        format!(
            "INSERT INTO models (id, name, organization, license, practice, first_seen_at) \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {models}) \
             SELECT 'model-' || i, 'Model ' || i, 'Maker ' || (i / 10), 'MIT', FALSE, 1 FROM n"
        ),
        "INSERT INTO model_changes (model, number, changed_at, state, weight, name, organization, license, practice, \
         provider_model, reason, author) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) \
         SELECT id, i, i * 1000, 'active', i, name, organization, license, FALSE, 'digest-' || (models.rowid / 2), \
         'reason ' || i, 'settings' FROM models, n WHERE id LIKE 'model-%'"
            .to_owned(),
        format!(
            "INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version, \
             pair_probability, language, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {battles}), \
             t(i, ms, hex) AS (SELECT i, {first} + i * {step}, printf('%012x', {first} + i * {step}) FROM n) \
             SELECT substr(hex, 1, 8) || '-' || substr(hex, 9) || '-7000-8000-' || printf('%012d', i), 'v', 'anonymous', \
             'voted', 1, 'model-' || (i % {models}), 'model-' || ((i * 7 + 1) % {models}), 'weighted', 1, 0.5, 'en', ms, ms FROM t",
            first = start_of(today - 365),
            step = 365 * DAY / i64::try_from(battles).unwrap(),
        ),
    ];
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(database).await.unwrap();
    }
}

#[actix_web::test]
async fn the_register_of_many_battles_is_counted_once_and_read_from_the_counts() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let model = Scripted::saying("Here.");
    let arena = TestArena::start_with(&[("one", &model), ("two", &model)], |settings| {
        settings.storage.data_dir.clone_from(&data);
    })
    .await;
    let (models, battles) = (size(20, 300), size(2_000, 1_000_000));
    let database = SqlitePool::connect(&format!("sqlite:{}", data.join("langya.db").display())).await.unwrap();
    // The job of the arena has counted that there is nothing.
    until(async || arena.app.store.counted_through().await.unwrap()).await;
    fill(&database, models, battles).await;
    sqlx::raw_sql("DELETE FROM counted_sources").execute(&database).await.unwrap();
    let begun = Instant::now();
    recorder(&arena, 0).count_battles().await.unwrap();
    println!("{models} models, {battles} battles: counted in {:?}", begun.elapsed());
    for path in ["/api/v1/models", "/models", "/models?period=week", "/models?period=day", "/api/v1/models?period=day"]
    {
        let (mut took, mut bytes) = (Vec::new(), 0);
        for _ in 0..4 {
            let begun = Instant::now();
            bytes = get(&format!("{}{path}", arena.url)).await.bytes().await.unwrap().len();
            took.push(begun.elapsed());
        }
        println!("{path}: {bytes} bytes, first {:?}, then {:?}", took[0], &took[1..]);
    }
    let register = json(&arena.url).await;
    // Those of today are not counted.
    let counted = register["battles"].as_u64().unwrap();
    assert_eq!(register["models"].as_array().unwrap().len(), models + 2);
    assert!(counted <= battles as u64 && counted >= battles as u64 * 363 / 365, "{counted}");
    // Without the battles, the page stands: it is read from the counts, also by a process that has nothing in memory.
    sqlx::raw_sql("PRAGMA foreign_keys = OFF; DELETE FROM battles").execute(&database).await.unwrap();
    let fresh = ModelRegister::new(arena.app.store.clone());
    assert_eq!(fresh.get(Period::Month, BTreeSet::new()).await.unwrap().battles, counted);
    database.close().await;
    arena.end().await;
}
