//! PostgreSQL backend: one pool for reads and writes, a connection for votes, and the checks of a server before votes are stored on it.

mod address;

use std::fmt;
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use super::partitions::add_months_ahead;
use super::retry::Outage;
use super::server_checks::{missing_schema_right, missing_with_migrations};
use super::{IfMissing, SELECT_VERSION, StoreError, compare_versions, on_postgres};
use crate::config::{ServiceUrl, StorageSettings};
use crate::storage::outage::OutageKind;
use crate::storage::refusal_log::RefusalLog;
use crate::time::process_stalls::{repeated_after_stall, timeout_unless_stalled};
use address::{PERCENT_ENCODING, option_fault};

pub(super) static MIGRATIONS: Migrator = sqlx_macros::migrate!("../../migrations/postgres");

/// Oldest supported version.
const MIN_SERVER_VERSION: i64 = 13;
/// Keepalive settings with which the server detects within a quarter of a minute that an instance's machine is gone, and frees its locks.
const KEEPALIVE_SETTINGS: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "4"),
    ("tcp_user_timeout", "12000"),
];
/// Durability settings of the server: checked once per connection, and now and then, since both can be changed by a reload.
const SELECT_DURABILITY: &str = "SELECT current_setting('fsync'), current_setting('full_page_writes')";
const SELECT_TIME: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
/// Pins the session's own value, so that a reload of the server's settings cannot disable it; enables it if it is off.
const PIN_SYNCHRONOUS_COMMIT: &str = "SELECT set_config('synchronous_commit', \
     CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";
const SELECT_FACTS: &str = "SELECT CAST(current_setting('server_version_num') AS BIGINT), \
     pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', current_setting('server_encoding'), \
     current_setting('fsync'), current_setting('synchronous_commit'), current_setting('full_page_writes')";

/// SQLSTATE classes and codes that are distinguished.
pub(super) mod code {
    pub(super) const WRONG_PASSWORD: &str = "28P01";
    pub(super) const NOT_ALLOWED_IN: &str = "28000";
    pub(super) const NO_DATABASE: &str = "3D000";
    pub(super) const NO_TABLE: &str = "42P01";
    pub(in crate::storage) const TABLE_EXISTS: &str = "42P07";
    pub(in crate::storage) const NO_PRIVILEGE: &str = "42501";
    /// The class of all connection errors.
    pub(super) const CONNECTION_LOST: &str = "08";
    /// In this order: serialization failure, deadlock; shut down, crashed, starting; a session or transaction that was idle for too long;
    /// no connection left; read-only.
    pub(super) const TRANSIENT_CODES: [&str; 9] =
        ["40001", "40P01", "57P01", "57P02", "57P03", "57P05", "25P03", "53300", "25006"];
}

/// Connection pool, and the data for connections outside of it.
#[derive(Clone)]
pub(super) struct PostgresPool {
    pub(super) pool: PgPool,
    /// One connection reserved for votes, so that none waits behind the reads of many pages.
    votes: PgPool,
    pub(super) server: Arc<Server>,
    pub(super) outage: Arc<Outage>,
    /// Logs statements that are refused on some tables.
    pub(super) refusals: Arc<RefusalLog>,
    /// Locked while the server is asked for the reason of missing connections.
    asking: Arc<tokio::sync::Mutex<()>>,
    /// Maximum wait for any response.
    pub(super) longest: Duration,
}

/// The options contain the password, so only the address is shown.
impl fmt::Debug for PostgresPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresPool").field(&self.server.address).finish()
    }
}

impl PostgresPool {
    pub(super) async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Self, StoreError> {
        let server = Arc::new(Server::from_settings(settings)?);
        let mut connection = server.connect().await?;
        ServerFacts::read(&mut connection).await?.check(&server.address)?;
        match if_missing {
            IfMissing::Create => {
                match server.migrate(&mut connection).await {
                    // A user who may not create tables can serve a database that has them all.
                    Err(StoreError::NoPrivilege(_)) if server.check_version(&mut connection).await.is_ok() => {}
                    migrated => migrated?,
                }
                // Before the first row of a month without a partition. If this fails, rows go to the default partition.
                if let Err(error) = add_months_ahead(&mut connection).await {
                    tracing::warn!(error = ?error, "partitions for the next months could not be created");
                }
            }
            IfMissing::Fail => server.check_version(&mut connection).await?,
        }
        connection.close().await?;
        let outage: Arc<Outage> = Arc::default();
        let of = |connections| connect_lazily(&server, &outage, settings.statement_timeout_ms, connections);
        let (pool, votes) = match settings.max_connections {
            0 | 1 => {
                let only = of(1);
                (only.clone(), only)
            }
            most => (of(most - 1), of(1)),
        };
        let longest = server.patience + Duration::from_millis(settings.statement_timeout_ms) + IDLE_BEFORE_TEST;
        Ok(Self { pool, votes, server, outage, refusals: Arc::default(), asking: Arc::default(), longest })
    }

    /// Returns the same database with the connection reserved for votes.
    pub(super) fn for_votes(self) -> Self {
        Self { pool: self.votes.clone(), ..self }
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        self.pool.close().await;
        self.votes.close().await;
    }

    /// Acquires a pooled connection. A timeout that expired while this process was stopped is repeated, as it says nothing about the
    /// server.
    pub(super) async fn acquire(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        let is_timeout = |error: &StoreError| matches!(error, StoreError::Database(sqlx::Error::PoolTimedOut));
        repeated_after_stall(self.server.patience, self.acquire_once(), is_timeout, self.acquire_once()).await
    }

    /// Acquires a pooled connection. If that takes too long, the server is asked for the reason on a connection outside of the pool, so
    /// that the log and `/readyz` report it long before the timeout.
    async fn acquire_once(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        let mut acquiring = pin!(self.pool.acquire());
        if let Ok(acquired) = timeout(DIAGNOSIS_DELAY, &mut acquiring).await {
            return acquired.map_err(StoreError::from);
        }
        // One caller asks for all that wait: a connection for each of them would add to the load.
        let reason = match self.asking.try_lock() {
            Ok(_asking) => Box::pin(self.reason_for_no_connection()).await,
            Err(_) => None,
        };
        if let Some(kind) = reason {
            self.outage.note(kind);
        }
        match acquiring.await {
            Err(sqlx::Error::PoolTimedOut) => Err(reason.map_or(sqlx::Error::PoolTimedOut.into(), StoreError::Outage)),
            acquired => acquired.map_err(StoreError::from),
        }
    }

    /// Returns the reason; `None` if the server accepts connections: all of the pool are in use.
    async fn reason_for_no_connection(&self) -> Option<OutageKind> {
        match timeout(DIAGNOSIS_DELAY, PgConnection::connect_with(&self.server.options)).await {
            Ok(Ok(mut connection)) => durability(&mut connection).await.ok().flatten(),
            Ok(Err(error)) => OutageKind::from_error(&error),
            // Slow is not unavailable: the pool's own timeout decides.
            Err(_) => None,
        }
    }

    /// Reads the server's time of day in milliseconds since 1970.
    pub(super) async fn time_of_day(&self) -> Result<i64, StoreError> {
        on_postgres!(self, |connection| sqlx::query_scalar(SELECT_TIME).fetch_one(connection).await)
    }

    /// Checks that the server is still durable.
    pub(super) async fn check_durable(&self) -> Result<(), StoreError> {
        let mut connection = self.acquire().await?;
        match durability(&mut connection).await? {
            Some(kind) => {
                self.outage.note(kind);
                Err(StoreError::Outage(kind))
            }
            None => {
                self.outage.looks_durable();
                Ok(())
            }
        }
    }
}

/// Returns a connection to its pool after a statement. One that refused to write is closed instead: if the database itself was made
/// read-only, a session that began meanwhile stays so for good. So is one that timed out: its statement may still run.
pub(super) fn release_connection<T>(
    mut connection: PoolConnection<Postgres>,
    answer: Result<T, StoreError>,
) -> Result<T, StoreError> {
    let is_unusable = |error: &StoreError| {
        let is_lost = matches!(error, StoreError::Database(sqlx::Error::Io(_)));
        is_lost || error.outage_kind() == Some(OutageKind::ReadOnly)
    };
    if answer.as_ref().is_err_and(is_unusable) {
        connection.close_on_drop();
    }
    answer
}

/// Runs a statement with a timeout for an unresponsive server; its own limits end a statement much earlier.
pub(super) async fn with_response_timeout<T>(
    longest: Duration,
    statement: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let silent = || Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()).into());
    timeout_unless_stalled(longest, statement).await.unwrap_or_else(silent)
}

/// Creates a pool with a maximum number of connections, each opened when it is needed. `limit` is the statement timeout in milliseconds.
fn connect_lazily(server: &Server, outage: &Arc<Outage>, limit: u64, connections: u32) -> PgPool {
    let (outage_of_new, outage_of_idle) = (Arc::clone(outage), Arc::clone(outage));
    PgPoolOptions::new()
        .after_connect(move |connection, _| {
            let outage = Arc::clone(&outage_of_new);
            Box::pin(async move { prepare(connection, &outage).await })
        })
        .max_connections(connections)
        .acquire_timeout(server.patience)
        // A test before each use would be a round trip; retries handle a lost connection.
        .test_before_acquire(false)
        .before_acquire(move |connection, meta| {
            let may_write = !outage_of_idle.may_refuse_writes(meta.age);
            Box::pin(async move {
                if may_write && meta.idle_for > IDLE_BEFORE_TEST {
                    connection.ping().await?;
                }
                Ok(may_write)
            })
        })
        .connect_lazy_with(server.options.clone().options([
            ("statement_timeout", limit),
            // Shorter, so that an error names the lock that blocked the statement.
            ("lock_timeout", limit / 2),
            // An instance stopped within a transaction must not hold its rows for long.
            ("idle_in_transaction_session_timeout", limit / 5),
        ]))
}

/// Prepares a new connection so that it loses no acknowledged commit, or refuses it.
async fn prepare(connection: &mut PgConnection, outage: &Outage) -> sqlx::Result<()> {
    sqlx::query(PIN_SYNCHRONOUS_COMMIT).execute(&mut *connection).await?;
    match durability(connection).await? {
        Some(kind) => {
            outage.note(kind);
            Err(sqlx::Error::Configuration(kind.into()))
        }
        None => Ok(()),
    }
}

/// Returns the outage of a server whose commits would not survive a crash.
async fn durability(connection: &mut PgConnection) -> sqlx::Result<Option<OutageKind>> {
    let (fsync, full_page_writes): (String, String) = sqlx::query_as(SELECT_DURABILITY).fetch_one(connection).await?;
    Ok(if fsync != "on" {
        Some(OutageKind::FsyncOff)
    } else if full_page_writes != "on" {
        Some(OutageKind::FullPageWritesOff)
    } else {
        None
    })
}

/// Wait for a connection after which the server is asked for the reason.
const DIAGNOSIS_DELAY: Duration = Duration::from_millis(800);
/// Idle time after which a connection is tested before use.
const IDLE_BEFORE_TEST: Duration = Duration::from_secs(1);

/// Whether an error is transient: a lost connection or a stopped server, two conflicting transactions, a standby that is about to become
/// the primary.
pub(super) fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|found| {
            found.starts_with(code::CONNECTION_LOST) || code::TRANSIENT_CODES.iter().any(|passing| found == *passing)
        }),
        _ => false,
    }
}

/// Address and credentials of a server.
pub(super) struct Server {
    address: ServiceUrl,
    options: PgConnectOptions,
    patience: Duration,
}

impl Server {
    pub(super) fn from_settings(settings: &StorageSettings) -> Result<Self, StoreError> {
        let address = &settings.database;
        let bad = |reason: String| StoreError::BadAddress { address: address.to_string(), reason };
        if let Some(fault) = option_fault(address.expose()) {
            return Err(bad(fault));
        }
        let options = PgConnectOptions::from_str(address.expose())
            .map_err(|_| {
                bad(format!("it has to look like postgres://USER:PASSWORD@HOST:PORT/NAME; {PERCENT_ENCODING}"))
            })?
            .application_name("langya")
            .options(KEEPALIVE_SETTINGS)
            .disable_statement_logging();
        Ok(Self { address: address.clone(), options, patience: Duration::from_millis(settings.acquire_timeout_ms) })
    }

    /// Opens a separate connection, outside of the pool and without statement timeouts.
    pub(super) async fn connect(&self) -> Result<PgConnection, StoreError> {
        match timeout(self.patience, PgConnection::connect_with(&self.options)).await {
            Ok(connected) => connected.map_err(|error| self.explain(&error)),
            Err(_) => Err(self.unreachable(format!("no answer within {} ms", self.patience.as_millis()))),
        }
    }

    /// Returns the maximum wait for a response.
    pub(super) fn response_timeout(&self) -> Duration {
        self.patience
    }

    async fn migrate(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        MIGRATIONS.run(connection).await.map_err(|error| match error {
            MigrateError::VersionMissing(version) => StoreError::Newer(version),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)
                if is(&error, code::NO_PRIVILEGE) =>
            {
                StoreError::NoPrivilege(self.address.to_string())
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) if is_transient(&error) => {
                error.into()
            }
            other => StoreError::Migrate(other),
        })
    }

    async fn check_version(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        compare_versions(self.applied(connection).await?, &MIGRATIONS)
    }

    /// Reads the last applied migration.
    pub(super) async fn applied(&self, connection: &mut PgConnection) -> Result<Option<i64>, StoreError> {
        match sqlx::query_scalar(SELECT_VERSION).fetch_one(&mut *connection).await {
            Err(error) if is(&error, code::NO_TABLE) => {
                let refused = missing_schema_right(connection).await?;
                Err(refused.unwrap_or_else(|| StoreError::Missing(self.address.to_string())))
            }
            Err(error) if is(&error, code::NO_PRIVILEGE) => Err(missing_with_migrations(connection).await?),
            read => Ok(read?),
        }
    }

    fn explain(&self, error: &sqlx::Error) -> StoreError {
        if is(error, code::WRONG_PASSWORD) || is(error, code::NOT_ALLOWED_IN) {
            return StoreError::Denied(self.address.to_string());
        }
        if is(error, code::NO_DATABASE) {
            return StoreError::NoDatabase(self.address.to_string());
        }
        match error {
            sqlx::Error::Io(error) => self.unreachable(error.to_string()),
            // With its own remedy.
            _ if OutageKind::from_error(error) == Some(OutageKind::NoConnection) => {
                StoreError::Outage(OutageKind::NoConnection)
            }
            sqlx::Error::Database(error) => {
                StoreError::ServerError { address: self.address.to_string(), reason: error.message().to_owned() }
            }
            other => self.unreachable(other.to_string()),
        }
    }

    fn unreachable(&self, reason: String) -> StoreError {
        StoreError::Unreachable { address: self.address.to_string(), reason }
    }
}

/// Version, encoding and durability settings of a server.
#[derive(Debug, Clone, sqlx_macros::FromRow)]
struct ServerFacts {
    version: i64,
    read_only: bool,
    encoding: String,
    fsync: String,
    synchronous_commit: String,
    full_page_writes: String,
}

impl ServerFacts {
    async fn read(connection: &mut PgConnection) -> Result<Self, StoreError> {
        let (version, read_only, encoding, fsync, synchronous_commit, full_page_writes) =
            sqlx::query_as(SELECT_FACTS).fetch_one(connection).await?;
        Ok(Self { version, read_only, encoding, fsync, synchronous_commit, full_page_writes })
    }

    /// Refuses a server on which votes could not be stored, or not durably.
    fn check(self, address: &ServiceUrl) -> Result<(), StoreError> {
        let major = self.version / 10_000;
        if major < MIN_SERVER_VERSION {
            return Err(StoreError::TooOld { found: major, oldest: MIN_SERVER_VERSION });
        }
        if self.read_only {
            return Err(StoreError::ReadOnly(address.to_string()));
        }
        let wanted = |setting, value: String, wanted| Err(StoreError::NotDurable { setting, value, wanted });
        if self.fsync != "on" {
            return wanted("fsync", self.fsync, "on");
        }
        // `local`, `remote_write` and `remote_apply` flush locally before they answer.
        if self.synchronous_commit == "off" {
            return wanted("synchronous_commit", self.synchronous_commit, "on");
        }
        if self.full_page_writes != "on" {
            return wanted("full_page_writes", self.full_page_writes, "on");
        }
        if self.encoding != "UTF8" {
            return Err(StoreError::Encoding { address: address.to_string(), encoding: self.encoding });
        }
        Ok(())
    }
}

/// Whether an error has this SQLSTATE.
pub(super) fn is(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|found| found == code)
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_is_not_silent_while_this_process_is_stopped() {
        let (minute, (server, answer)) = (Duration::from_secs(60), oneshot::channel());
        let asking = with_response_timeout(minute, async { Ok(answer.await.is_ok()) });
        let stopped = async {
            advance(60 * minute).await;
            advance(minute / 10).await;
            server.send(()).unwrap();
        };
        let (answered, ()) = tokio::join!(asking, stopped);
        assert!(answered.unwrap(), "the answer came while nobody could read it");
        let silent = with_response_timeout(minute, std::future::pending::<Result<(), StoreError>>()).await;
        assert!(silent.unwrap_err().is_outage());
    }

    fn good() -> ServerFacts {
        ServerFacts {
            version: 150_004,
            read_only: false,
            encoding: "UTF8".into(),
            fsync: "on".into(),
            synchronous_commit: "on".into(),
            full_page_writes: "on".into(),
        }
    }

    #[track_caller]
    fn check(facts: ServerFacts, said: &str) {
        let refused = facts.check(&"postgres://me:secret@db/arena".into()).unwrap_err().to_string();
        assert!(refused.contains(said) && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_server_that_might_lose_votes_is_refused() {
        good().check(&ServiceUrl::default()).unwrap();
        for flushed_at_home in ["local", "remote_write", "remote_apply"] {
            let facts = ServerFacts { synchronous_commit: flushed_at_home.into(), ..good() };
            facts.check(&ServiceUrl::default()).unwrap();
        }
        check(ServerFacts { version: 120_017, ..good() }, "PostgreSQL 12");
        check(ServerFacts { read_only: true, ..good() }, "postgres://db/arena is read-only");
        check(ServerFacts { fsync: "off".into(), ..good() }, "fsync = off");
        check(ServerFacts { synchronous_commit: "off".into(), ..good() }, "synchronous_commit = off");
        check(ServerFacts { full_page_writes: "off".into(), ..good() }, "full_page_writes = off");
        check(ServerFacts { encoding: "LATIN1".into(), ..good() }, "LATIN1");
    }

    #[test]
    fn an_address_with_a_slip_is_refused_without_its_password() {
        for (address, said) in [
            ("postgres://me:secret@db/arena?pasword=secret", "\"pasword\""),
            ("postgres://me:secret@db:port/arena", "has to look like"),
            ("postgres://me:secret@db/arena?sslmode=secret", "has to look like"),
            ("postgres://me:sec?ret@db/arena", "unknown option"),
            ("postgres://me:sec?a=b&ret@db/arena", "unknown option, or a ? in its password"),
            ("postgres://me:sec/ret@db/arena", "%2F for /"),
            ("postgres://me:sec#ret@db/arena", "%23 for #"),
        ] {
            let settings = StorageSettings { database: address.into(), ..StorageSettings::default() };
            let refused = Server::from_settings(&settings).map(|_| ()).unwrap_err().to_string();
            assert!(refused.contains(said) && !["sec", "ret"].iter().any(|part| refused.contains(part)), "{refused}");
        }
    }
}
