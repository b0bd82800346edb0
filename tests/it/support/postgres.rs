//! A PostgreSQL database of a test's own, on the throw-away server that `tests/run` starts.

use std::sync::atomic::{AtomicU32, Ordering};

use langya::config::StorageSettings;
use langya::storage::{IfMissing, Store};
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{AssertSqlSafe, Connection};

static CREATED: AtomicU32 = AtomicU32::new(0);

/// A database without tables.
pub(crate) struct TestDatabase {
    admin: String,
    /// Its name.
    pub(crate) name: String,
    /// Its address.
    pub(crate) url: String,
}

impl TestDatabase {
    /// Creates a database; `None` without a server, and then the test has nothing to do.
    pub(crate) async fn create() -> Option<Self> {
        let Some(admin) = admin_address() else {
            println!("skipped: PostgreSQL tests run in ./tests/run");
            return None;
        };
        let name = format!("langya_{}_{}", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let (server, _) = admin.rsplit_once('/').expect("an address ends in a database");
        let url = format!("{server}/{name}");
        let database = Self { admin, name, url };
        database.as_admin(format!("CREATE DATABASE {}", database.name)).await;
        Some(database)
    }

    /// The settings of an instance on it.
    pub(crate) fn settings(&self) -> StorageSettings {
        StorageSettings { database: self.url.as_str().into(), ..StorageSettings::default() }
    }

    /// The store of an instance on it, with its tables.
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.settings(), IfMissing::Create).await.unwrap()
    }

    /// The same database, beside the store.
    pub(crate) async fn raw(&self) -> PgPool {
        PgPool::connect(&self.url).await.unwrap()
    }

    /// Ends every session on it whose latest statement holds this word, as an administrator would.
    pub(crate) async fn end_sessions(&self, word: &str) {
        let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = $1 AND query LIKE '%' || $2 || '%' AND pid <> pg_backend_pid()";
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        let ended = sqlx::query(ended).bind(&self.name).bind(word).execute(&mut connection).await.unwrap();
        assert!(ended.rows_affected() > 0, "no session has run {word}");
    }

    /// Takes the database away, whoever is still connected.
    pub(crate) async fn drop(self) {
        self.as_admin(format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }

    /// Runs a statement of an administrator.
    pub(crate) async fn as_admin(&self, statement: String) {
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

/// Address of an administrator's database: `LANGYA_TEST_POSTGRES`, without which only the full run fails.
fn admin_address() -> Option<String> {
    let address = std::env::var("LANGYA_TEST_POSTGRES").ok().filter(|address| !address.is_empty());
    let all = std::env::var("LANGYA_TESTS").is_ok_and(|which| which == "all");
    assert!(address.is_some() || !all, "LANGYA_TESTS=all needs LANGYA_TEST_POSTGRES");
    address
}
