//! Instances that share a database.

use langya::domain::time::Timestamp;
use langya::infra::storage::{InstanceRow, Store};

pub(super) async fn instances_know_of_each_other(store: &Store) {
    store.heartbeat("b", "settings", Timestamp(1)).await.unwrap();
    store.heartbeat("a", "settings", Timestamp(2)).await.unwrap();
    let rows = store.heartbeat("b", "others", Timestamp(3)).await.unwrap();
    let row = |id: &str, beats, settings: &str, started, seen| InstanceRow {
        id: id.into(),
        beats,
        settings: settings.into(),
        log_fails: false,
        started_at: Timestamp(started),
        seen_at: Timestamp(seen),
    };
    assert_eq!(rows, [row("a", 1, "settings", 2, 2), row("b", 2, "others", 1, 3)]);
    store.note_log_failure("a", true).await.unwrap();
    let failing = InstanceRow { log_fails: true, ..row("a", 1, "settings", 2, 2) };
    assert_eq!(store.instances().await.unwrap()[0], failing);
    assert_eq!(store.heartbeat("a", "settings", Timestamp(2)).await.unwrap()[0], InstanceRow { beats: 2, ..failing });
    store.forget_instance("a", 2).await.unwrap();
    store.forget_instance("b", 1).await.unwrap();
    assert_eq!(store.instances().await.unwrap(), [row("b", 2, "others", 1, 3)], "b has written since");
    store.leave("b").await.unwrap();
    assert_eq!(store.heartbeat("c", "", Timestamp(4)).await.unwrap(), [row("c", 1, "", 4, 4)]);
    assert_eq!(store.heartbeat("a", "", Timestamp(5)).await.unwrap()[0], row("a", 1, "", 5, 5), "a lives on");
}
