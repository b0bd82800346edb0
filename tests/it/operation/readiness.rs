//! `/readyz` as a load balancer and an operator read it.

use std::sync::Arc;
use std::time::Duration;

use langya::infra::events::{BusState, Event, EventBus, InstanceId, InstanceMessage, LocalBus};
use tokio::sync::{broadcast, watch};

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::get;

async fn readyz(arena: &TestArena) -> (u16, String) {
    let answer = get(&format!("{}/readyz", arena.url)).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// A bus whose other instances cannot be reached.
struct LostBus(LocalBus);

impl EventBus for LostBus {
    fn instance(&self) -> &InstanceId {
        self.0.instance()
    }

    fn publish(&self, event: Event) {
        self.0.publish(event);
    }

    fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }

    fn send(&self, to: &InstanceId, body: String) {
        self.0.send(to, body);
    }

    fn messages(&self) -> broadcast::Receiver<InstanceMessage> {
        self.0.messages()
    }

    fn state(&self) -> watch::Receiver<BusState> {
        watch::Sender::new(BusState::Lost).subscribe()
    }
}

#[actix_web::test]
async fn an_arena_with_a_database_and_two_models_is_ready() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    assert_eq!(readyz(&arena).await, (200, "ready\n".into()));
    arena.end().await;
}

#[actix_web::test]
async fn what_stands_in_the_way_is_said_a_line_each() {
    let one = Scripted::saying("one");
    let arena = TestArena::start(&[("one", &one)]).await;
    arena.app.store.close().await;
    arena.app.tasks.drain(Duration::ZERO).await;
    let (status, body) = readyz(&arena).await;
    assert_eq!(status, 503);
    let said: Vec<&str> = body.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(said, ["not ready", "database", "models", "process"], "{body}");
    assert!(!body.contains("one"), "{body}");
}

#[actix_web::test]
async fn an_arena_without_redis_is_ready_and_says_what_is_late() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let bus = Arc::new(LostBus(LocalBus::new(InstanceId("test".into()))));
    let arena = TestArena::start_on(&[("one", &one), ("two", &two)], bus, None, |_| {}).await;
    assert_eq!(
        readyz(&arena).await,
        (200, "ready\nredis: lost, live updates are late and limits are counted without it\n".into())
    );
    arena.end().await;
}

#[actix_web::test]
async fn an_arena_whose_data_folder_takes_no_file_is_ready_and_says_so() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let folder = tempfile::tempdir().unwrap();
    let (file, database) = (folder.path().join("file"), format!("sqlite:{}", folder.path().join("arena.db").display()));
    std::fs::write(&file, "").unwrap();
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.database = database.as_str().into();
        settings.storage.data_dir.clone_from(&file);
    })
    .await;
    let (status, body) = readyz(&arena).await;
    assert!(status == 200 && body.contains("\ndata folder: not writable"), "{status} {body}");
    arena.end().await;
}

#[actix_web::test]
async fn an_arena_whose_database_a_newer_program_has_changed_is_not_ready() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let path = arena.app.settings.now().storage.data_dir.join("langya.db");
    let other = sqlx::SqlitePool::connect_with(sqlx::sqlite::SqliteConnectOptions::new().filename(path)).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99991231000000, 'from the future', TRUE, x'00', 0)";
    sqlx::query(newer).execute(&other).await.unwrap();
    let (status, body) = readyz(&arena).await;
    assert_eq!((status, body.as_str()), (503, "not ready\ndatabase: its tables are another version's\n"));
    other.close().await;
    arena.end().await;
}
