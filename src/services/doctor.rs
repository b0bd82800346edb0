//! Looks at what an arena needs; [`crate::domain::doctor`] judges what is found. Nothing is changed.

use std::net::SocketAddr;

use crate::domain::battle::model_card::shared_names;
use crate::domain::doctor::{Address, Finding, KnownBackup, check_backup, check_clock, check_proxy, check_public_log};
use crate::domain::public_log::promised_vote::included_within;
use crate::domain::time::Timestamp;
use crate::infra::config::{ServerSettings, Settings, StorageSettings};
use crate::infra::disk;
use crate::infra::llm::ModelCard;
use crate::infra::llm::roster::{card, entries};
use crate::infra::storage::backup::LastBackup;
use crate::infra::storage::{Store, StoreError};

/// Looks at everything but the models, which cost money to ask. Closes the database, if it could be opened.
pub async fn examine(settings: &Settings, opened: Result<Store, StoreError>, now: Timestamp) -> Vec<Finding> {
    findings(settings, read_database(opened).await, now)
}

/// The same for an arena that serves, whose database is open.
pub async fn examine_open(settings: &Settings, store: &Store, now: Timestamp) -> Vec<Finding> {
    findings(settings, read_facts(store).await, now)
}

/// What the database says of the arena.
#[derive(Debug, Default)]
struct DatabaseFacts {
    votes: i64,
    bytes: u64,
    latest_fit: Option<Timestamp>,
    time_of_day: Option<Timestamp>,
    /// When the oldest vote was cast that is not in the public log.
    oldest_unlogged: Option<Timestamp>,
}

async fn read_database(opened: Result<Store, StoreError>) -> Result<DatabaseFacts, StoreError> {
    let store = opened?;
    let facts = match store.check_pages().await {
        Ok(()) => read_facts(&store).await,
        Err(error) => Err(error),
    };
    store.close().await;
    facts
}

async fn read_facts(store: &Store) -> Result<DatabaseFacts, StoreError> {
    store.check().await?;
    Ok(DatabaseFacts {
        votes: store.vote_count().await?,
        bytes: store.bytes().await?,
        latest_fit: store.latest_leaderboard().await?.map(|leaderboard| leaderboard.fitted_at),
        time_of_day: store.time_of_day().await?,
        // Imported votes are promised to nobody, and wait for the next start of the arena.
        oldest_unlogged: store.first_unlogged_vote().await?.filter(|vote| !vote.is_imported).map(|vote| vote.since),
    })
}

fn findings(settings: &Settings, read: Result<DatabaseFacts, StoreError>, now: Timestamp) -> Vec<Finding> {
    let database = database(&read, &settings.storage);
    let within = included_within(settings.rating.leaderboards_every());
    let log = read.as_ref().ok().map(|facts| check_public_log(facts.oldest_unlogged, within, now));
    let facts = read.unwrap_or_default();
    let folder = &settings.storage.data_dir;
    let disk = match disk::space(folder) {
        Ok(space) => Finding::DiskSpace { free: space.free, total: space.total },
        Err(error) => Finding::DiskUnknown(error.to_string()),
    };
    let newest = LastBackup::read(folder).map(known_backup);
    let written = facts.latest_fit.max(newest.as_ref().map(|backup| backup.made_at));
    let mut findings = vec![database, disk, check_clock(now, written, facts.time_of_day)];
    findings.extend(check_proxy(address(&settings.server)));
    findings.push(check_backup(newest, facts.votes, now));
    findings.extend(log);
    let cards: Vec<ModelCard> = entries(settings).iter().map(card).collect();
    findings.extend(shared_names(&cards).into_iter().map(Finding::ModelsShareName));
    if !settings.redis.url.is_empty() && !settings.storage.is_postgres() {
        findings.push(Finding::RedisWithSqlite);
    }
    findings
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
            let outage = error.outage_kind().filter(|_| matches!(error, StoreError::Database(_)));
            let said = outage.map_or_else(|| error.to_string(), |kind| kind.to_string());
            match said.split_once(": ") {
                Some((found, advice)) => Finding::DatabaseUnusable(found.to_owned(), Some(advice.to_owned())),
                None => Finding::DatabaseUnusable(said, None),
            }
        }
    }
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

    #[test]
    fn a_database_that_fails_is_found_with_the_way_out() {
        let read: Result<DatabaseFacts, StoreError> = Err(sqlx::Error::PoolTimedOut.into());
        let advice = "start its server, or look at its load".to_owned();
        assert_eq!(
            database(&read, &StorageSettings::default()),
            Finding::DatabaseUnusable("it cannot be reached or does not answer".to_owned(), Some(advice))
        );
    }
}
