//! Inspects the arena's environment; [`crate::domain::doctor`] evaluates the findings. Read-only, except for a table that is created in
//! PostgreSQL and rolled back to see whether its disk has space.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use crate::domain::battle::model_card::shared_names;
use crate::domain::doctor::{Address, Finding, KnownBackup, check_backup, check_clock, check_proxy, check_public_log};
use crate::domain::public_log::promised_vote::{MAX_UNLOGGED, included_within};
use crate::domain::time::Timestamp;
use crate::infra::config::{ServerSettings, Settings, StorageSettings};
use crate::infra::disk;
use crate::infra::llm::ModelCard;
use crate::infra::llm::roster::{card, entries};
use crate::infra::storage::backup::LastBackup;
use crate::infra::storage::{Store, StoreError};
use crate::public_log::PublicLogError;
use crate::public_log::continuity::check_stored_log;

/// Heartbeat age in milliseconds above which an instance counts as gone.
const HEARTBEAT_TIMEOUT_MS: i64 = 10_000;

/// Checks everything except the models, whose requests cost money. Closes the database, if it could be opened.
pub async fn examine(settings: &Settings, opened: Result<Store, StoreError>, now: Timestamp) -> Vec<Finding> {
    findings(settings, read_database(opened, &settings.storage.data_dir).await, now)
}

/// Runs the same checks for a serving arena, on its open database.
pub async fn examine_open(settings: &Settings, store: &Store, now: Timestamp) -> Vec<Finding> {
    findings(settings, read_facts(store, &settings.storage.data_dir).await, now)
}

/// Facts about the arena, read from the database.
#[derive(Debug, Default)]
struct DatabaseFacts {
    votes: i64,
    bytes: u64,
    latest_fit: Option<Timestamp>,
    time_of_day: Option<Timestamp>,
    /// Number of live instances; 0 where the database is embedded.
    instances: usize,
    /// Time of the oldest vote cast here that is not in the public log.
    oldest_unlogged: Option<Timestamp>,
    /// Reason why the public log cannot be continued.
    log_fault: Option<String>,
}

async fn read_database(opened: Result<Store, StoreError>, data_folder: &Path) -> Result<DatabaseFacts, StoreError> {
    let store = opened?;
    let facts = match check_storage(&store).await {
        Ok(()) => read_facts(&store, data_folder).await,
        Err(error) => Err(error),
    };
    store.close().await;
    facts
}

/// Checks that the database can be read and written, as a serving arena does by itself.
async fn check_storage(store: &Store) -> Result<(), StoreError> {
    store.check_pages().await?;
    store.check_write_space().await
}

async fn read_facts(store: &Store, data_folder: &Path) -> Result<DatabaseFacts, StoreError> {
    store.check_rights().await?;
    store.check().await?;
    let time_of_day = store.time_of_day().await?;
    Ok(DatabaseFacts {
        votes: store.vote_count().await?,
        bytes: store.bytes().await?,
        latest_fit: store.latest_leaderboard().await?.map(|leaderboard| leaderboard.fitted_at),
        time_of_day,
        instances: instances(store, time_of_day).await?,
        // Imported votes have no inclusion promise, and wait for the next start of the arena.
        oldest_unlogged: store.unlogged_votes(MAX_UNLOGGED).await?.oldest_cast,
        log_fault: log_fault(store, data_folder).await?,
    })
}

/// Counts live instances, by the clock of the shared database.
async fn instances(store: &Store, time_of_day: Option<Timestamp>) -> Result<usize, StoreError> {
    let Some(now) = time_of_day else { return Ok(0) };
    let rows = store.instances().await?;
    Ok(rows.iter().filter(|row| row.seen_at.0 > now.0 - HEARTBEAT_TIMEOUT_MS).count())
}

async fn log_fault(store: &Store, data_folder: &Path) -> Result<Option<String>, StoreError> {
    match check_stored_log(store, data_folder).await {
        Ok(()) => Ok(None),
        Err(PublicLogError::Store(error)) => Err(error),
        // A user who cannot write the folder may not be the arena's, and that has its own finding.
        Err(PublicLogError::File { .. }) if !disk::is_writable(data_folder) => Ok(None),
        Err(error) => Ok(Some(error.to_string())),
    }
}

fn findings(settings: &Settings, read: Result<DatabaseFacts, StoreError>, now: Timestamp) -> Vec<Finding> {
    let database = database(&read, &settings.storage);
    let within = included_within(settings.rating.leaderboards_every());
    let log = read.as_ref().map(|facts| public_log(facts, within, now)).unwrap_or_default();
    let votes = known_votes(&read);
    let facts = read.unwrap_or_default();
    let folder = &settings.storage.data_dir;
    let disk = match disk::space(folder) {
        Ok(space) => Finding::DiskSpace { free: space.free, total: space.total },
        Err(error) => Finding::DiskUnknown(error.to_string()),
    };
    let newest = LastBackup::read(&settings.storage).map(known_backup);
    let written = facts.latest_fit.max(newest.as_ref().map(|backup| backup.made_at));
    let is_usable = disk::is_writable(folder) || matches!(database, Finding::FolderUnusable(_));
    let mut findings = vec![database, disk, check_clock(now, written, facts.time_of_day)];
    findings.extend((!is_usable).then(|| Finding::FolderNotWritable(folder.display().to_string())));
    findings.extend(check_proxy(address(&settings.server)));
    findings.push(check_backup(newest, votes, now));
    findings.extend(log);
    let cards: Vec<ModelCard> = entries(settings).iter().map(card).collect();
    findings.extend(shared_names(&cards).into_iter().map(Finding::ModelsShareName));
    if !settings.redis.url.is_empty() && !settings.storage.is_postgres() {
        findings.push(Finding::RedisWithSqlite);
    }
    if settings.redis.url.is_empty() && facts.instances > 1 {
        findings.push(Finding::InstancesWithoutRedis(facts.instances));
    }
    findings
}

/// Returns the number of votes; `None` where it is unknown.
fn known_votes(read: &Result<DatabaseFacts, StoreError>) -> Option<i64> {
    match read {
        Ok(facts) => Some(facts.votes),
        Err(StoreError::Missing(_)) => Some(0),
        Err(_) => None,
    }
}

fn database(read: &Result<DatabaseFacts, StoreError>, storage: &StorageSettings) -> Finding {
    match read {
        Ok(facts) => Finding::DatabaseReachable { votes: facts.votes, bytes: facts.bytes },
        Err(StoreError::Missing(_)) if storage.database.is_empty() && !disk::is_writable(&storage.data_dir) => {
            Finding::FolderUnusable(storage.data_dir.display().to_string())
        }
        Err(StoreError::Missing(_)) => Finding::DatabaseMissing,
        // Each of these errors names its own way out.
        Err(error) => {
            let is_plain = matches!(error, StoreError::Database(_) | StoreError::Outage(_));
            let outage = error.outage_kind().filter(|_| is_plain);
            let said = outage.map_or_else(|| error.to_string(), |kind| kind.to_string());
            match said.split_once(": ") {
                Some((found, advice)) => Finding::DatabaseUnusable(found.to_owned(), Some(advice.to_owned())),
                None => Finding::DatabaseUnusable(said, None),
            }
        }
    }
}

/// Reports a lagging or broken public log: a log with all votes may still accept no new one.
fn public_log(facts: &DatabaseFacts, within: Duration, now: Timestamp) -> Vec<Finding> {
    let lag = check_public_log(facts.oldest_unlogged, within, now);
    let fault = facts.log_fault.clone().map(Finding::PublicLogNotContinued);
    let lag = Some(lag).filter(|lag| fault.is_none() || *lag != Finding::PublicLogCurrent);
    lag.into_iter().chain(fault).collect()
}

fn known_backup(backup: LastBackup) -> KnownBackup {
    let is_there = backup.path.exists();
    KnownBackup { made_at: backup.at, path: backup.path.display().to_string(), is_there }
}

fn address(server: &ServerSettings) -> Address<'_> {
    Address {
        listen: &server.listen,
        is_loopback: server.listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback()),
        public_url: &server.public_url,
        trusts_a_proxy: !server.trusted_proxies.is_empty(),
        trusts_everybody: server.trusted_proxies.iter().any(|network| network.prefix_len() == 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::storage::OutageKind;

    const NOW: Timestamp = Timestamp(1_790_000_000_000);

    #[test]
    fn a_database_that_fails_is_found_with_the_way_out() {
        let read: Result<DatabaseFacts, StoreError> = Err(sqlx::Error::PoolTimedOut.into());
        let advice = "start its server, or look at its load".to_owned();
        assert_eq!(
            database(&read, &StorageSettings::default()),
            Finding::DatabaseUnusable("it cannot be reached or does not answer".to_owned(), Some(advice))
        );
    }

    #[test]
    fn a_server_that_answers_with_an_error_is_not_one_that_has_to_be_started() {
        let found = |error: StoreError| match database(&Err(error), &StorageSettings::default()) {
            Finding::DatabaseUnusable(found, Some(advice)) => (found, advice),
            other => panic!("{other:?}"),
        };
        let (address, reason) = ("postgres://db/arena".to_owned(), "the database system is starting up".to_owned());
        let (said, advice) = found(StoreError::ServerError { address, reason });
        assert_eq!(said, "the server of the database postgres://db/arena answers with an error");
        assert!(advice.starts_with("the database system is starting up; wait until it has started"), "{advice}");
        let (said, advice) = found(StoreError::Outage(OutageKind::NoConnection));
        assert_eq!(said, "its server has no connection left");
        assert!(advice.starts_with("raise its max_connections"), "{advice}");
        let (rights, grant) = ("INSERT on votes".to_owned(), "GRANT INSERT ON public.votes TO arena;".to_owned());
        let (said, advice) = found(StoreError::MissingRights { rights, grant });
        assert_eq!(said, "the user of the database lacks INSERT on votes");
        assert!(advice.starts_with("run `GRANT INSERT ON public.votes TO arena;`"), "{advice}");
    }

    #[test]
    fn a_database_that_cannot_be_read_may_have_votes_to_lose() {
        let backup = |read| {
            let mut settings = Settings::default();
            settings.storage.data_dir = "Cargo.toml/data".into();
            findings(&settings, read, NOW).contains(&Finding::NothingToBackUp)
        };
        assert!(backup(Ok(DatabaseFacts::default())) && backup(Err(StoreError::Missing("here".into()))));
        assert!(!backup(Err(sqlx::Error::PoolTimedOut.into())));
    }

    #[test]
    fn a_log_that_cannot_be_continued_is_not_called_current() {
        let late = Some(Timestamp(NOW.0 - 120_000));
        let found = |oldest_unlogged, fault: Option<&str>| {
            let log_fault = fault.map(str::to_owned);
            let facts = DatabaseFacts { oldest_unlogged, log_fault, ..DatabaseFacts::default() };
            public_log(&facts, Duration::from_secs(60), NOW)
        };
        let fault = || Finding::PublicLogNotContinued("it shrank".to_owned());
        assert_eq!(found(None, None), [Finding::PublicLogCurrent]);
        assert_eq!(found(None, Some("it shrank")), [fault()]);
        assert_eq!(found(late, Some("it shrank")), [Finding::PublicLogBehind(2), fault()]);
    }

    #[test]
    fn several_instances_without_redis_are_found() {
        let without_redis = |instances: usize, url: &str| {
            let mut settings = Settings::default();
            settings.redis.url = url.into();
            let found = findings(&settings, Ok(DatabaseFacts { instances, ..DatabaseFacts::default() }), NOW);
            found.contains(&Finding::InstancesWithoutRedis(instances))
        };
        assert!(without_redis(2, "") && !without_redis(1, "") && !without_redis(2, "redis://127.0.0.1"));
    }

    #[test]
    fn a_data_folder_that_takes_no_file_is_found_beside_a_database_that_is_elsewhere() {
        let mut settings = Settings::default();
        settings.storage.data_dir = "Cargo.toml/data".into();
        let folder = Finding::FolderNotWritable("Cargo.toml/data".to_owned());
        assert!(findings(&settings, Ok(DatabaseFacts::default()), NOW).contains(&folder));
        settings.storage.data_dir = std::env::temp_dir();
        let found = findings(&settings, Ok(DatabaseFacts::default()), NOW);
        assert!(!found.iter().any(|finding| matches!(finding, Finding::FolderNotWritable(_))), "{found:?}");
    }
}
