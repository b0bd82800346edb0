//! Embedded test databases, copied from one migrated template to avoid repeated migrations.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use tokio::sync::OnceCell;

/// File content of a database with all tables and without rows.
static EMPTY: OnceCell<Vec<u8>> = OnceCell::const_new();

/// Opens a store. If the settings refer to an embedded database that does not exist yet in their folder, it is created from the template.
pub(crate) async fn open(settings: &StorageSettings) -> Store {
    let path = settings.data_dir.join("langya.db");
    if settings.database.expose().is_empty() && !path.exists() {
        let empty = EMPTY.get_or_init(make).await;
        std::fs::create_dir_all(&settings.data_dir).unwrap();
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.write_all(empty).unwrap();
    }
    Store::open(settings, IfMissing::Create).await.unwrap()
}

async fn make() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    // Closing the last connection moves the write-ahead log into the file.
    Store::open(&settings, IfMissing::Create).await.unwrap().close().await;
    std::fs::read(folder.path().join("langya.db")).unwrap()
}
