//! The database, behind [`Store`]: files are named after their tables, and the SQL stands beside the method that runs it.
//!
//! The statements use `$1` placeholders, `RETURNING` and `ON CONFLICT`, which SQLite and PostgreSQL support alike; `on_reader` and
//! `on_writer` run them on either, and retry transient errors (see `retry`). Where the two differ, a statement has two constants and a
//! comment with the reason. Integers are converted here, with checks, and nowhere else.

mod admin;
pub mod backup;
mod battle;
mod benchmark;
mod campaign;
mod consents;
mod database_move;
mod error;
mod instances;
mod integer_conversions;
mod joined_rows;
mod leaderboards;
mod limit_counts;
mod locks;
mod model_stats;
mod models;
mod outage;
mod partitions;
mod pending_migrations;
mod postgres;
mod public_log;
mod refusal_log;
mod request_attempts;
mod retry;
mod rows;
mod secrets;
mod server_checks;
mod sign_ins;
mod sqlite;
#[cfg(test)]
mod test_log;
mod vote;
mod write_queue;
mod write_space_check;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::Migrator;
use tokio::time::Instant;

use self::integer_conversions::{signed, unsigned};

pub use crate::domain::battle::record::{
    BattleLine, BattleRecord, BattleRow, NewReply, ReplyEnding, ReplyRow, TurnRow, VoteRow,
};
pub use crate::domain::battle_judging::pending::SettledGame;
pub use crate::domain::benchmark::record::{
    AnswerRound, BenchAnswerRow, BenchPlanRow, BenchRunRow, BenchSuiteRow, JudgedGroup, NewBenchRun, PlanStep,
    ScoredJudgement,
};
pub use crate::domain::campaign::state::CampaignState;
pub use crate::domain::rating::votes::vote_range::VoteRange;
pub use crate::storage::rows::battle_rows::SideFailure;
pub use crate::storage::rows::vote_rows::{NewVoteRow, SatisfiedVote, VoteExclusion};
pub use admin::api_keys::{ApiKeyRow, NewApiKey};
pub use admin::audit::{ActedVia, AuditFilter, AuditRow, NewAuditEntry};
pub use admin::deletion_requests::{DeletionDecision, DeletionRequestRow, DeletionTarget, NewDeletionRequest};
pub use admin::identities::{AddedUser, IdentityHash, NewProviderUser};
pub use admin::model_register::RegisterVersion;
pub use admin::overview::AdminOverview;
pub use admin::reviews::{FailureCount, LeakDecision, LeakedVote};
pub use admin::sessions::{AdminSessionRow, NewAdminSession, SessionAge};
pub use admin::users::{
    AdminInviteRow, AdminUserRow, Joined, JoiningUser, NewAdminInvite, ProviderAccount, UserChange,
};
pub use admin::webhooks::{NewWebhookMessage, WebhookMessageRow, WebhookPosition};
pub use battle::battles::EditedTurn;
pub use battle::history::{OwnBattleRow, OwnBattlesFilter};
pub use battle::images::NewImage;
pub use battle::moderation_flags::{ModerationDecision, ModerationFlagRow, NewModerationFlag};
pub use battle::prompt_digests::FirstQuestion;
pub use battle::prompt_labels::{LabelSource, NewLabel, PromptRow};
pub use battle::verdicts::{JudgeSpending, VerdictRow};
pub use benchmark::answers::{AnswerLength, AnsweredModel, BenchFilter};
pub use benchmark::batches::{BatchRowState, BenchBatchRow};
pub use benchmark::judgements::{BenchJudgementRow, IncludeText};
pub use benchmark::plans::{NewBenchPlan, PlanHeartbeat};
pub use benchmark::published_scores::PublishedScoreRow;
pub use benchmark::suites::BenchItemRow;
pub use campaign::assignments::{
    AssignmentLimit, AssignmentRequest, AssignmentRow, CampaignJudgementRow, NewCampaignJudgement, NextAssignment,
    NoAssignmentReason, ValidJudgement,
};
pub use campaign::campaigns::{AnnotatorRow, CampaignRow, InvitedAnnotator, NewAnnotator, NewCampaign, NewUnit};
pub use campaign::exclusions::AnnotatorExclusion;
pub use campaign::judgements::{AnnotatorJudgements, CampaignVersion};
pub use campaign::links::{JoiningAnnotator, NewSharedLink, SharedLinkRow};
pub use campaign::verdicts::UnitJudgedByPeople;
pub use campaign::votes::CampaignVote;
pub use campaign::withdrawals::JudgementWithdrawal;
pub use consents::{ConsentRow, ConsentVersion};
pub use database_move::{DatabaseMoveError, Moved, transfer};
pub use error::StoreError;
pub use instances::InstanceRow;
pub use joined_rows::{DeletionPreview, HistoryEntry, ItemView, LeakCheckState, LeakReview, ModerationReview};
pub use leaderboards::StoredLeaderboard;
pub use limit_counts::LimitCharge;
pub use locks::{DataLock, JobLock};
pub use model_stats::RecentModelStats;
pub use models::{BreakerReport, RegisteredModel};
pub use outage::OutageKind;
pub use pending_migrations::PendingMigration;
pub use public_log::unlogged_entries::{UnloggedChange, UnloggedVotes, VotedPrompt, VotedReply};
pub use public_log::{LogAppend, LogCheckpoint, LogSubject, LoggedChange, LoggedVote, NewLogEntry, NewSalt};
pub use request_attempts::{AttemptRow, AttemptStatus, OpenAttempts};
pub use rows::vote_columns::{VotePageError, columns_of_log};
pub use sign_ins::{InviteRow, NewInvite, NewSignIn, SignInMethod};
pub use vote::counts::StoredCounts;
pub use vote::exclusions::{ExclusionRow, NewExclusion, NewExclusions};
pub use vote::imported_votes::{UnusableName, unusable_name};
pub use vote::imports::{Import, Imported, ImportedVote};
pub use vote::leak_checks::{LeakCheckCounts, LeakCheckRow, LeakCheckStatus, UncheckedVote};
pub use vote::pages::{PackedOutcome, PackedVote, VoteColumn, VotePage, is_storable};
pub use vote::votes::InsertedVote;

use crate::config::StorageSettings;
use crate::domain::time::Timestamp;
use postgres::PostgresPool;
use retry::Outage;
use sqlite::SqlitePools;
use write_queue::WriteQueue;

/// Database of the arena.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
    writes: WriteQueue,
}

/// Kinds of database, each with the types of its own driver.
#[derive(Debug, Clone)]
enum Database {
    /// Embedded default: one writer, a few readers.
    Sqlite(SqlitePools),
    /// Server shared by any number of instances.
    Postgres(PostgresPool),
}

/// Runs an expression with `$connection` bound to a reader, with retries of transient errors.
macro_rules! on_reader {
    ($owner:expr, |$connection:ident| $body:expr) => {
        $crate::storage::with_retries!(&$owner.database, reader, |database| {
            match database {
                $crate::storage::Database::Sqlite(pools) => {
                    let $connection = &pools.reader;
                    Box::pin(async { Ok($body?) }).await
                }
                $crate::storage::Database::Postgres(postgres) => {
                    $crate::storage::on_postgres!(postgres, |$connection| $body)
                }
            }
        })
    };
}

/// Runs an expression with `$connection` bound to a writing connection, with retries of transient errors. On SQLite the whole expression is
/// one transaction. On PostgreSQL each statement is one, unless the expression begins its own.
macro_rules! on_writer {
    ($owner:expr, |$connection:ident| $body:expr) => {
        $crate::storage::with_retries!(&$owner.database, writer, |database| {
            $crate::storage::attempt_write!(database, |$connection| $body)
        })
    };
}

/// Runs an expression like [`on_writer`], without retries, for statements that must not run twice.
macro_rules! on_writer_once {
    ($owner:expr, |$connection:ident| $body:expr) => {{
        let database: &$crate::storage::Database = &$owner.database;
        let written: Result<_, $crate::storage::StoreError> =
            $crate::storage::attempt_write!(database, |$connection| $body);
        if let Err(error) = &written {
            $crate::storage::retry::RetryPolicy::writer(database).note_failure(error);
        }
        written
    }};
}

/// The body returns its own `Result`: `?` and `return` end the body, not the method around it. It may run several times, so it must be
/// idempotent. Attempts are boxed: a driver's futures are tens of kilobytes, and every turn and socket would hold one for each statement
/// that it might send.
macro_rules! with_retries {
    ($database:expr, $role:ident, |$bound:ident| $attempt:expr) => {{
        let $bound: &$crate::storage::Database = $database;
        let mut patience = $crate::storage::retry::RetryPolicy::$role($bound);
        loop {
            let done = $attempt;
            match done {
                Ok(done) => {
                    patience.on_success().await;
                    break Ok::<_, $crate::storage::StoreError>(done);
                }
                Err(error) => {
                    if !patience.wait_after(&error).await {
                        break Err(error);
                    }
                }
            }
        }
    }};
}

/// One attempt of a write.
macro_rules! attempt_write {
    ($database:expr, |$connection:ident| $body:expr) => {
        match $database {
            $crate::storage::Database::Sqlite(pools) => {
                Box::pin(async {
                    let mut writing = pools.acquire_writer().await?;
                    let mut transaction = writing.begin().await?;
                    let written = async {
                        let $connection = &mut *transaction;
                        Ok($body?)
                    };
                    let written = written.await;
                    // If this fails, the connection is not kept.
                    let written = $crate::storage::sqlite::writer::end(transaction, written).await?;
                    writing.keep();
                    written
                })
                .await
            }
            $crate::storage::Database::Postgres(postgres) => {
                $crate::storage::on_postgres!(postgres, |$connection| $body)
            }
        }
    };
}

/// One attempt on a pooled connection to PostgreSQL.
macro_rules! on_postgres {
    ($postgres:expr, |$connection:ident| $body:expr) => {{
        let attempt = Box::pin(async {
            let mut pooled = $postgres.acquire().await?;
            let answer = async {
                let $connection = &mut *pooled;
                Ok($body?)
            };
            let answer = answer.await;
            $crate::storage::postgres::release_connection(pooled, answer)
        });
        $crate::storage::postgres::with_response_timeout($postgres.longest, attempt).await
    }};
}

pub(crate) use {attempt_write, on_postgres, on_reader, on_writer, on_writer_once, with_retries};

/// Behaviour of [`Store::open`] if there is no database yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// Create a new one; on a server, create its tables.
    Create,
    /// Fail with [`StoreError::Missing`].
    Fail,
}

impl Store {
    /// Opens the database and checks that its commits are durable. With [`IfMissing::Create`] it also applies migrations; otherwise the
    /// serving process does that, and only a matching version is accepted.
    ///
    /// # Errors
    /// [`StoreError`] names the folder, server or setting and the remedy.
    pub async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Self, StoreError> {
        let database = match Backend::new(settings)? {
            Backend::Sqlite(path) => Database::Sqlite(SqlitePools::open(path, if_missing).await?),
            Backend::Postgres => Database::Postgres(PostgresPool::open(settings, if_missing).await?),
        };
        Ok(Self { writes: WriteQueue::start(database.clone()), database })
    }

    /// Whether other processes may use the same database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.database, Database::Postgres(_))
    }

    /// Checks that the database responds, is durable, and has the tables of this version. On SQLite a committed write is read back over
    /// another connection; on PostgreSQL its durability settings and the user's privileges are read.
    ///
    /// # Errors
    /// [`StoreError::Newer`] or [`StoreError::Older`] if its tables are of another version, [`StoreError::Outage`] if it refuses writes or
    /// would lose them, [`StoreError::MissingRights`] if it refuses battles or votes.
    pub async fn check(&self) -> Result<(), StoreError> {
        let applied: Option<i64> = on_reader!(self, |pool| sqlx::query_scalar(SELECT_VERSION).fetch_one(pool).await)?;
        let known = match self.database {
            Database::Sqlite(_) => &sqlite::MIGRATIONS,
            Database::Postgres(_) => &postgres::MIGRATIONS,
        };
        compare_versions(applied, known)?;
        match &self.database {
            Database::Sqlite(pools) => {
                pools.check_file()?;
                let mut probed_at = pools.probed_at.lock().await;
                let known = probed_at.filter(|at| at.elapsed() < WRITE_PROBE_INTERVAL && self.outage_kind().is_none());
                if known.is_none() {
                    *probed_at = None;
                    with_retries!(&self.database, writer, |_database| pools.probe_write().await)?;
                    *probed_at = Some(Instant::now());
                }
            }
            // Every instance writes heartbeats, which detect the end of an outage.
            Database::Postgres(_) => {
                self.check_durable().await?;
                self.check_rights_for_battles().await?;
            }
        }
        self.database.outage().kind().map_or(Ok(()), |kind| Err(StoreError::Outage(kind)))
    }

    /// Returns the size of the database in bytes; of the embedded one, without its write-ahead log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bytes(&self) -> Result<u64, StoreError> {
        let select = if self.is_shared() { SELECT_BYTES_POSTGRES } else { SELECT_BYTES_SQLITE };
        let bytes: i64 = on_reader!(self, |pool| sqlx::query_scalar(select).fetch_one(pool).await)?;
        unsigned(bytes, "database", "bytes", "all")
    }

    /// Returns the current outage of the database, if any.
    #[must_use]
    pub fn outage_kind(&self) -> Option<OutageKind> {
        self.database.outage().kind()
    }

    /// Reads the time of day of a database server; `None` for an embedded database, which has no clock of its own.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn time_of_day(&self) -> Result<Option<Timestamp>, StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(None),
            Database::Postgres(postgres) => Ok(Some(Timestamp(postgres.time_of_day().await?))),
        }
    }

    /// Verifies all pages of an embedded database, which takes about a second per gigabyte; a server is not checked.
    ///
    /// # Errors
    /// [`StoreError::Outage`] if it is damaged.
    pub async fn check_pages(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(pools) => pools.check_pages().await,
            Database::Postgres(_) => Ok(()),
        }
    }

    /// Waits for queued writes and running statements, and closes all connections.
    pub async fn close(&self) {
        self.writes.close().await;
        match &self.database {
            Database::Sqlite(pools) => pools.close().await,
            Database::Postgres(postgres) => postgres.close().await,
        }
    }
}

impl Database {
    /// Whether an error is transient, so that the same statement may succeed a little later.
    fn is_transient(&self, error: &StoreError) -> bool {
        let StoreError::Database(error) = error else { return false };
        match self {
            Self::Sqlite(_) => sqlite::is_transient(error),
            Self::Postgres(_) => postgres::is_transient(error),
        }
    }

    /// Whether there is space for more than was just written; not checked on a server.
    async fn has_room(&self) -> bool {
        match self {
            Self::Sqlite(pools) => pools.has_room().await,
            Self::Postgres(_) => true,
        }
    }

    /// Refuses writes that would be acknowledged and could be lost in a crash.
    fn refuse_if_not_durable(&self) -> Result<(), StoreError> {
        match self.outage().kind().filter(|kind| kind.loses_commits()) {
            Some(kind) => Err(StoreError::Outage(kind)),
            None => Ok(()),
        }
    }

    fn outage(&self) -> &Outage {
        match self {
            Self::Sqlite(pools) => &pools.outage,
            Self::Postgres(postgres) => &postgres.outage,
        }
    }
}

/// Kind of database in the settings.
enum Backend {
    Sqlite(PathBuf),
    Postgres,
}

impl Backend {
    fn new(settings: &StorageSettings) -> Result<Self, StoreError> {
        let address = settings.database.expose();
        if address.is_empty() {
            return Ok(Self::Sqlite(settings.data_dir.join("langya.db")));
        }
        if settings.is_postgres() {
            return Ok(Self::Postgres);
        }
        address
            .strip_prefix("sqlite:")
            .map(|path| Path::new(path.trim_start_matches("//")))
            .filter(|path| !path.as_os_str().is_empty())
            // A bare file name would have no folder.
            .map(|path| {
                Self::Sqlite(if path.parent() == Some(Path::new("")) { Path::new(".").join(path) } else { path.into() })
            })
            // An address may contain a password, so only its scheme is repeated.
            .ok_or_else(|| StoreError::UnknownBackend(address.split(':').next().unwrap_or_default().to_owned() + ":…"))
    }
}

/// Validity of a successful write probe.
const WRITE_PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Reads the last applied migration.
const SELECT_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations";
/// Each database measures its size differently.
const SELECT_BYTES_SQLITE: &str = "SELECT s.page_size * c.page_count FROM pragma_page_size s, pragma_page_count c";
const SELECT_BYTES_POSTGRES: &str = "SELECT pg_database_size(current_database())";

/// Compares the applied migrations with those of this program.
fn compare_versions(applied: Option<i64>, migrations: &Migrator) -> Result<(), StoreError> {
    let known = migrations.iter().map(|migration| migration.version).max();
    match applied.cmp(&known) {
        Ordering::Less => Err(StoreError::Older),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StoreError::Newer(applied.unwrap_or_default())),
    }
}
