//! Looks at what an arena needs, and says what is wrong and what to do. Nothing is changed.

use std::net::SocketAddr;

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::infra::config::{ServerSettings, Settings};
use crate::infra::disk::{self, DiskSpace};
use crate::infra::storage::backup::LastBackup;
use crate::infra::storage::{IfMissing, Store, StoreError};

/// Below this much free space something is wrong: a day of a busy arena does not fit.
const TOO_LITTLE_SPACE: u64 = 256 << 20;

/// Below this much, somebody should know.
const LITTLE_SPACE: u64 = 2 << 30;

/// A backup that is older than this was forgotten.
const OLD_BACKUP_MS: i64 = 7 * DAY_MS;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How far the clock may be behind what was written before.
const CLOCK_SLACK_MS: i64 = 60 * 1000;

/// 2026-01-01: no clock of this program was ever right before.
const BEFORE_THIS_PROGRAM_MS: i64 = 1_767_225_600_000;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// All is well.
    Ok,
    /// The arena runs, and somebody should know.
    Warning,
    /// Battles or votes are in danger.
    Wrong,
}

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What there is.
    pub found: String,
    /// What to do; empty where there is nothing to do.
    pub advice: String,
}

impl Finding {
    /// Nothing to do.
    #[must_use]
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, severity: Severity::Ok, found: found.into(), advice: String::new() }
    }

    /// Something to know.
    #[must_use]
    pub fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, severity: Severity::Warning, found: found.into(), advice: advice.into() }
    }

    /// Something to mend.
    #[must_use]
    pub fn wrong(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, severity: Severity::Wrong, found: found.into(), advice: advice.into() }
    }
}

/// Looks at everything but the models, which cost money to ask.
pub async fn examine(settings: &Settings, now: Timestamp) -> Vec<Finding> {
    judge(settings, database(read_database(settings).await), now)
}

/// The same for an arena that serves, whose database is open.
pub async fn examine_open(settings: &Settings, store: &Store, now: Timestamp) -> Vec<Finding> {
    judge(settings, database(read_facts(store).await), now)
}

fn judge(settings: &Settings, (database, facts): (Finding, Facts), now: Timestamp) -> Vec<Finding> {
    let space = disk::space(&settings.storage.data_dir);
    let last = LastBackup::read(&settings.storage.data_dir);
    let mut findings = vec![database];
    findings.push(match space {
        Ok(space) => disk_finding(space),
        Err(error) => {
            Finding::wrong("disk", format!("the data folder's disk cannot be asked: {error}"), "check storage.data_dir")
        }
    });
    let written = [facts.latest_fit, last.as_ref().map(|last| last.at)].into_iter().flatten().max();
    findings.push(clock(now, written));
    findings.extend(proxy(&settings.server));
    let is_there = last.as_ref().is_some_and(|last| last.path.exists());
    findings.push(backup(last.as_ref(), is_there, facts.votes, now));
    findings
}

/// What the database says of the arena.
#[derive(Debug, Default)]
struct Facts {
    votes: i64,
    bytes: u64,
    latest_fit: Option<Timestamp>,
}

fn database(read: Result<Facts, StoreError>) -> (Finding, Facts) {
    match read {
        Ok(facts) => {
            let found = format!("reachable, migrated, {} votes, {}", facts.votes, human(facts.bytes));
            (Finding::ok("database", found), facts)
        }
        Err(StoreError::Missing(_)) => (
            Finding::warning("database", "there is none yet", "`langya serve` makes it at its first start"),
            Facts::default(),
        ),
        // Each of these errors names its own way out.
        Err(error) => match error.to_string().split_once(": ") {
            Some((found, advice)) => (Finding::wrong("database", found, advice), Facts::default()),
            None => (Finding::wrong("database", error.to_string(), "see the log of the arena"), Facts::default()),
        },
    }
}

async fn read_database(settings: &Settings) -> Result<Facts, StoreError> {
    let store = Store::open(&settings.storage, IfMissing::Fail).await?;
    let facts = read_facts(&store).await;
    store.close().await;
    facts
}

async fn read_facts(store: &Store) -> Result<Facts, StoreError> {
    store.check().await?;
    Ok(Facts {
        votes: store.last_vote_seq().await?,
        bytes: store.bytes().await?,
        latest_fit: store.latest_leaderboard().await?.map(|board| board.fitted_at),
    })
}

fn disk_finding(space: DiskSpace) -> Finding {
    let found = format!("{} of {} free", human(space.free), human(space.total));
    let advice = "make room on the disk of storage.data_dir: a full disk takes no votes";
    match space.free {
        free if free < TOO_LITTLE_SPACE => Finding::wrong("disk", found, advice),
        free if free < LITTLE_SPACE => Finding::warning("disk", found, advice),
        _ => Finding::ok("disk", found),
    }
}

/// `written` is the latest time that anything of the arena's was written at.
fn clock(now: Timestamp, written: Option<Timestamp>) -> Finding {
    let advice =
        "set the clock, and keep it right with NTP (timedatectl set-ntp true): votes and limits are timed by it";
    if now.0 < BEFORE_THIS_PROGRAM_MS {
        return Finding::wrong("clock", "it shows a time before this program was written", advice);
    }
    match written {
        Some(written) if written.0 > now.0 + CLOCK_SLACK_MS => {
            let behind = (written.0 - now.0) / 1000;
            Finding::wrong("clock", format!("it is {behind} s behind what the arena has written before"), advice)
        }
        _ => Finding::ok("clock", "plausible"),
    }
}

/// Whether addresses of visitors and the site's name are known as they should be.
fn proxy(server: &ServerSettings) -> Vec<Finding> {
    let is_local = server.listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback());
    let is_behind_proxy = server.public_url.starts_with("https://");
    let mut findings = Vec::new();
    if server.trusted_proxies.iter().any(|network| network.prefix_len() == 0) {
        findings.push(Finding::wrong(
            "proxy",
            "server.trusted_proxies takes every address for a proxy",
            "name only your proxies' networks: as it is, every visitor can claim any address and pass the limits",
        ));
    }
    if is_behind_proxy && server.trusted_proxies.is_empty() {
        findings.push(Finding::warning(
            "proxy",
            "server.public_url is https, and no proxy is trusted",
            "set server.trusted_proxies to the proxy's address: as it is, all visitors share its limits",
        ));
    }
    if server.public_url.is_empty() && !is_local {
        findings.push(Finding::warning(
            "proxy",
            format!("the arena listens on {} without server.public_url", server.listen),
            "set server.public_url: as it is, only IP addresses and localhost are answered, and without TLS",
        ));
    }
    if server.public_url.starts_with("http://") {
        findings.push(Finding::warning(
            "proxy",
            "server.public_url has no TLS",
            "put a proxy with a certificate in front (deploy/nginx), and write https://",
        ));
    }
    if findings.is_empty() {
        findings
            .push(Finding::ok("proxy", if is_behind_proxy { "trusted proxies are named" } else { "none is needed" }));
    }
    findings
}

fn backup(last: Option<&LastBackup>, is_there: bool, votes: i64, now: Timestamp) -> Finding {
    let advice = "make one with `langya backup --out DIR`, each day by a timer, and keep it on another machine";
    match last {
        None if votes == 0 => Finding::ok("backup", "none yet, and no vote to lose"),
        None => Finding::warning("backup", "`langya backup` has made none from this data folder", advice),
        Some(last) if now.0 - last.at.0 > OLD_BACKUP_MS => {
            Finding::wrong("backup", format!("the newest is {} days old", (now.0 - last.at.0) / DAY_MS), advice)
        }
        Some(last) if !is_there => Finding::warning(
            "backup",
            format!("{} is not there any more", last.path.display()),
            "check that it was moved and not lost",
        ),
        Some(last) => Finding::ok("backup", format!("{} hours old", (now.0 - last.at.0).max(0) / (60 * 60 * 1000))),
    }
}

fn human(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_790_000_000_000);

    fn of(findings: &[Finding]) -> Vec<Severity> {
        findings.iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn little_space_is_told_before_it_is_too_little() {
        for (free, expected) in [(100 << 20, Severity::Wrong), (1 << 30, Severity::Warning), (5 << 30, Severity::Ok)] {
            assert_eq!(disk_finding(DiskSpace { free, total: 9 << 30 }).severity, expected, "{free}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_its_own_records_is_wrong() {
        assert_eq!(clock(NOW, None).severity, Severity::Ok);
        assert_eq!(clock(NOW, Some(Timestamp(NOW.0 + 59_000))).severity, Severity::Ok);
        let behind = clock(NOW, Some(Timestamp(NOW.0 + 3_600_000)));
        assert!(behind.severity == Severity::Wrong && behind.found.contains("3600 s"), "{behind:?}");
        assert_eq!(clock(Timestamp(0), None).severity, Severity::Wrong);
    }

    #[test]
    fn a_proxy_has_to_be_known_and_not_everybody_one() {
        let server = |listen: &str, public_url: &str, proxies: &[&str]| ServerSettings {
            listen: listen.into(),
            public_url: public_url.into(),
            trusted_proxies: proxies.iter().map(|network| network.parse().unwrap()).collect(),
            ..ServerSettings::default()
        };
        assert_eq!(of(&proxy(&ServerSettings::default())), [Severity::Ok]);
        assert_eq!(of(&proxy(&server("127.0.0.1:1", "https://a.example", &["127.0.0.1/32"]))), [Severity::Ok]);
        assert_eq!(of(&proxy(&server("127.0.0.1:1", "https://a.example", &[]))), [Severity::Warning]);
        assert_eq!(of(&proxy(&server("0.0.0.0:1", "", &["0.0.0.0/0"]))), [Severity::Wrong, Severity::Warning]);
        assert_eq!(of(&proxy(&server("0.0.0.0:1", "http://a.example", &[]))), [Severity::Warning]);
    }

    #[test]
    fn a_backup_that_is_missing_or_old_is_told() {
        let last = |days: i64| LastBackup { at: Timestamp(NOW.0 - days * DAY_MS), path: "/b".into() };
        assert_eq!(backup(None, false, 0, NOW).severity, Severity::Ok);
        assert_eq!(backup(None, false, 5, NOW).severity, Severity::Warning);
        assert_eq!(backup(Some(&last(1)), true, 5, NOW).severity, Severity::Ok);
        assert_eq!(backup(Some(&last(1)), false, 5, NOW).severity, Severity::Warning);
        assert_eq!(backup(Some(&last(8)), true, 5, NOW).severity, Severity::Wrong);
    }
}
