//! The database, behind [`Store`]: files are named after their tables, and the SQL stands beside the method that runs it.
//!
//! The statements use `$1` placeholders, `RETURNING` and `ON CONFLICT`, which SQLite and PostgreSQL read alike; `on_reader`
//! and `on_writer` run them on either, and again after what passes (see `retry`). Where the two differ, a statement has
//! two constants and says why. Numbers are cast here, checked, and nowhere else.

mod admin_audit;
mod admin_identities;
mod admin_overview;
mod admin_reviews;
mod admin_sessions;
mod admin_users;
mod api_keys;
pub mod backup;
mod battle_days;
mod battle_rows;
mod battle_verdicts;
mod battle_writes;
mod battles;
mod bench_answers;
mod bench_batches;
mod bench_judgements;
mod bench_plans;
mod bench_runs;
mod bench_scores;
mod bench_suites;
mod campaign_assignments;
mod campaign_deletion;
mod campaign_endings;
mod campaign_exclusions;
mod campaign_judgements;
mod campaign_links;
mod campaign_opinions;
mod campaign_verdicts;
mod campaign_votes;
mod campaign_withdrawals;
mod campaigns;
mod consents;
mod database_move;
mod deletion_requests;
mod error;
mod images;
mod imported_votes;
mod imports;
mod instances;
mod integer_conversions;
mod joined_rows;
mod label_replies;
mod leaderboards;
mod leak_checks;
mod limit_counts;
mod locks;
mod model_register;
mod model_stats;
mod models;
mod moderation_flags;
mod moved_mark;
mod outage;
mod own_battles;
mod partitions;
mod pending_migrations;
mod postgres;
mod prompt_labels;
mod public_log;
mod question_digests;
mod refusal_log;
mod request_attempts;
mod retry;
mod scored_judgements;
mod secrets;
mod server_checks;
mod sign_ins;
mod sqlite;
mod sqlite_access;
mod sqlite_durability;
mod sqlite_writer;
#[cfg(test)]
mod test_log;
mod unlogged_entries;
mod vote_columns;
mod vote_counts;
mod vote_exclusions;
mod vote_inserts;
mod vote_pages;
mod vote_rows;
mod votes;
mod webhooks;
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
    BenchAnswerRow, BenchPlanRow, BenchRunRow, BenchSet, BenchSuiteRow, JudgedGroup, NewBenchRun, PlanStep,
    ScoredJudgement,
};
pub use crate::domain::campaign::state::CampaignState;
pub use crate::domain::rating::vote_range::VoteRange;
pub use crate::storage::battle_rows::SideFailure;
pub use crate::storage::vote_rows::{NewVoteRow, SatisfiedVote, VoteExclusion};
pub use admin_audit::{ActedVia, AuditFilter, AuditRow, NewAuditEntry};
pub use admin_identities::{AddedUser, IdentityHash, NewProviderUser};
pub use admin_overview::AdminOverview;
pub use admin_reviews::{FailureCount, LeakDecision, LeakedVote};
pub use admin_sessions::{AdminSessionRow, NewAdminSession, SessionAge};
pub use admin_users::{AdminInviteRow, AdminUserRow, Joined, JoiningUser, NewAdminInvite, ProviderAccount, UserChange};
pub use api_keys::{ApiKeyRow, NewApiKey};
pub use battle_verdicts::{JudgeSpending, VerdictRow};
pub use battles::EditedTurn;
pub use bench_answers::{AnswerLength, AnsweredModel, BenchFilter};
pub use bench_batches::{BatchRowState, BenchBatchRow};
pub use bench_judgements::{BenchJudgementRow, IncludeText};
pub use bench_plans::{NewBenchPlan, PlanBeat};
pub use bench_scores::PublishedScoreRow;
pub use bench_suites::BenchItemRow;
pub use campaign_assignments::{
    AssignmentLimit, AssignmentRequest, AssignmentRow, CampaignJudgementRow, NewCampaignJudgement, NextAssignment,
    NothingLeft, StandingJudgement,
};
pub use campaign_exclusions::AnnotatorExclusion;
pub use campaign_judgements::{AnnotatorJudgements, CampaignVersion};
pub use campaign_links::{JoiningAnnotator, NewSharedLink, SharedLinkRow};
pub use campaign_verdicts::UnitJudgedByPeople;
pub use campaign_votes::CampaignVote;
pub use campaign_withdrawals::JudgementWithdrawal;
pub use campaigns::{AnnotatorRow, CampaignRow, InvitedAnnotator, NewAnnotator, NewCampaign, NewUnit};
pub use consents::{ConsentRow, ConsentVersion};
pub use database_move::{DatabaseMoveError, Moved, transfer};
pub use deletion_requests::{DeletionDecision, DeletionRequestRow, DeletionTarget, NewDeletionRequest};
pub use error::StoreError;
pub use images::NewImage;
pub use imported_votes::{UnusableName, unusable_name};
pub use imports::{Import, Imported, ImportedVote};
pub use instances::InstanceRow;
pub use joined_rows::{DeletionPreview, HistoryEntry, ItemView, LeakCheckState, LeakReview, ModerationReview};
pub use leaderboards::StoredLeaderboard;
pub use leak_checks::{LeakCheckCounts, LeakCheckRow, LeakCheckStatus, UncheckedVote};
pub use limit_counts::LimitCharge;
pub use locks::{DataLock, JobLock};
pub use model_register::RegisterVersion;
pub use model_stats::RecentModelStats;
pub use models::{BreakerReport, RegisteredModel};
pub use moderation_flags::{ModerationDecision, ModerationFlagRow, NewModerationFlag};
pub use outage::OutageKind;
pub use own_battles::{OwnBattleRow, OwnBattlesFilter};
pub use pending_migrations::PendingMigration;
pub use prompt_labels::{LabelSource, NewLabel, PromptRow};
pub use public_log::{LogAppend, LogCheckpoint, LogSubject, LoggedChange, LoggedVote, NewLogEntry, NewSalt};
pub use question_digests::FirstQuestion;
pub use request_attempts::{AttemptRow, AttemptStatus, OpenAttempts};
pub use sign_ins::{InviteRow, NewInvite, NewSignIn, SignInMethod};
pub use unlogged_entries::{UnloggedChange, UnloggedVotes, VotedPrompt, VotedReply};
pub use vote_columns::{VotePageError, columns_of_log};
pub use vote_counts::StoredCounts;
pub use vote_exclusions::{ExclusionRow, NewExclusion, NewExclusions};
pub use vote_pages::{PackedOutcome, PackedVote, VoteColumn, VotePage, is_storable};
pub use votes::InsertedVote;
pub use webhooks::{NewWebhookMessage, WebhookMessageRow, WebhookPosition};

use crate::config::StorageSettings;
use crate::domain::time::Timestamp;
use postgres::PostgresPool;
use retry::Outage;
use sqlite::SqlitePools;
use write_queue::WriteQueue;

/// The arena's database.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
    writes: WriteQueue,
}

/// The kinds of database, each with the types of its own driver.
#[derive(Debug, Clone)]
enum Database {
    /// The embedded default: one writer, a few readers.
    Sqlite(SqlitePools),
    /// A server that any number of instances share.
    Postgres(PostgresPool),
}

/// Runs an expression with `$connection` bound to what reads, again after what passes.
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

/// Runs an expression with `$connection` bound to a connection that writes, again after what passes. On SQLite the
/// whole expression is one transaction. On PostgreSQL each statement is one, unless the expression begins its own.
macro_rules! on_writer {
    ($owner:expr, |$connection:ident| $body:expr) => {
        $crate::storage::with_retries!(&$owner.database, writer, |database| {
            $crate::storage::attempt_write!(database, |$connection| $body)
        })
    };
}

/// As [`on_writer`], for what cannot run twice: it is not repeated.
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

/// The body gives a `Result` of its own: `?` and `return` end the body, not the method around it. It may run several
/// times, so it must be safe to send again. Attempts are boxed: a driver's futures are tens of kilobytes, and every turn
/// and socket would hold one for each statement that it might send.
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

/// One try of a write.
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
                    // Where this fails, the connection is not kept.
                    let written = $crate::storage::sqlite_writer::end(transaction, written).await?;
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

/// One try on a pooled connection to PostgreSQL.
macro_rules! on_postgres {
    ($postgres:expr, |$connection:ident| $body:expr) => {{
        let attempt = Box::pin(async {
            let mut pooled = $postgres.acquire().await?;
            let answer = async {
                let $connection = &mut *pooled;
                Ok($body?)
            };
            let answer = answer.await;
            $crate::storage::postgres::give_back(pooled, answer)
        });
        $crate::storage::postgres::answered_within($postgres.longest, attempt).await
    }};
}

pub(crate) use {attempt_write, on_postgres, on_reader, on_writer, on_writer_once, with_retries};

/// What [`Store::open`] does where there is no database yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// Make a new one; on a server, make its tables.
    Create,
    /// Fail with [`StoreError::Missing`].
    Fail,
}

impl Store {
    /// Opens the database and checks that its commits last. Who may create it brings its tables up to date too; who
    /// may not leaves that to the serving process, and takes them only as this program knows them.
    ///
    /// # Errors
    /// [`StoreError`] names the folder, server or setting and the way out.
    pub async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Self, StoreError> {
        let database = match Backend::new(settings)? {
            Backend::Sqlite(path) => Database::Sqlite(SqlitePools::open(path, if_missing).await?),
            Backend::Postgres => Database::Postgres(PostgresPool::open(settings, if_missing).await?),
        };
        Ok(Self { writes: WriteQueue::start(database.clone()), database })
    }

    /// Whether other processes may serve the same database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.database, Database::Postgres(_))
    }

    /// Whether the database answers, keeps what is written, and has the tables that this program knows. On SQLite a
    /// committed write is read back over another connection; on PostgreSQL its durability settings and the user's rights are read.
    ///
    /// # Errors
    /// [`StoreError::Newer`] or [`StoreError::Older`] where its tables are another version's, [`StoreError::Outage`]
    /// where it takes no writes or would lose them, [`StoreError::MissingRights`] where it lets no battle begin or takes no vote.
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
                let known = probed_at.filter(|at| at.elapsed() < PROBE_EVERY && self.outage_kind().is_none());
                if known.is_none() {
                    *probed_at = None;
                    with_retries!(&self.database, writer, |_database| pools.probe_write().await)?;
                    *probed_at = Some(Instant::now());
                }
            }
            // Every instance writes that it is there, which shows the end of an outage.
            Database::Postgres(_) => {
                self.check_durable().await?;
                self.check_rights_for_battles().await?;
            }
        }
        self.database.outage().kind().map_or(Ok(()), |kind| Err(StoreError::Outage(kind)))
    }

    /// How large the database is; of the embedded one, without its write-ahead log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bytes(&self) -> Result<u64, StoreError> {
        let select = if self.is_shared() { SELECT_BYTES_POSTGRES } else { SELECT_BYTES_SQLITE };
        let bytes: i64 = on_reader!(self, |pool| sqlx::query_scalar(select).fetch_one(pool).await)?;
        unsigned(bytes, "database", "bytes", "all")
    }

    /// What is known to be wrong with the database at the moment.
    #[must_use]
    pub fn outage_kind(&self) -> Option<OutageKind> {
        self.database.outage().kind()
    }

    /// The time of day that a database server shows; `None` for an embedded database, which has no clock of its own.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn time_of_day(&self) -> Result<Option<Timestamp>, StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(None),
            Database::Postgres(postgres) => Ok(Some(Timestamp(postgres.time_of_day().await?))),
        }
    }

    /// Reads all of an embedded database, which takes about a second a gigabyte; a server looks after its own.
    ///
    /// # Errors
    /// [`StoreError::Outage`] where it is damaged.
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
    /// Whether a failure is one that passes by itself, so that the same statement may succeed a little later.
    fn is_transient(&self, error: &StoreError) -> bool {
        let StoreError::Database(error) = error else { return false };
        match self {
            Self::Sqlite(_) => sqlite::is_transient(error),
            Self::Postgres(_) => postgres::is_transient(error),
        }
    }

    /// Whether there is space for more than what was just written; a server is not asked.
    async fn has_room(&self) -> bool {
        match self {
            Self::Sqlite(pools) => pools.has_room().await,
            Self::Postgres(_) => true,
        }
    }

    /// Refuses what would be acknowledged and could be lost in a crash.
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

/// The kind of database that the settings name.
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
            // A bare name would have no folder.
            .map(|path| {
                Self::Sqlite(if path.parent() == Some(Path::new("")) { Path::new(".").join(path) } else { path.into() })
            })
            // An address may hold a password, so only its scheme is repeated.
            .ok_or_else(|| StoreError::UnknownBackend(address.split(':').next().unwrap_or_default().to_owned() + ":…"))
    }
}

/// How long it holds that a committed write was read back.
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// The last migration that the database has.
const SELECT_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations";
/// Each database measures itself in its own way.
const SELECT_BYTES_SQLITE: &str = "SELECT s.page_size * c.page_count FROM pragma_page_size s, pragma_page_count c";
const SELECT_BYTES_POSTGRES: &str = "SELECT pg_database_size(current_database())";

/// Whether the migrations that the database has are those that this program knows.
fn compare_versions(applied: Option<i64>, migrations: &Migrator) -> Result<(), StoreError> {
    let known = migrations.iter().map(|migration| migration.version).max();
    match applied.cmp(&known) {
        Ordering::Less => Err(StoreError::Older),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StoreError::Newer(applied.unwrap_or_default())),
    }
}
