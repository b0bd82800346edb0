//! Health findings of an arena for `langya doctor` and the admin, as data, with the rules that determine their severity.
//! `render::i18n::doctor` has their texts.

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::battle::model_card::SharedName;
use crate::public_log::promised_vote::included_by;
use crate::time::Timestamp;

/// Error threshold of free disk space: a day of a busy arena does not fit in less.
const MIN_FREE_BYTES: u64 = 256 << 20;

/// Warning threshold of free disk space.
const LOW_FREE_BYTES: u64 = 2 << 30;

/// Maximum age of a backup without a warning.
const MAX_BACKUP_AGE_MS: i64 = 7 * DAY_MS;

const DAY_MS: i64 = 24 * HOUR_MS;

const HOUR_MS: i64 = 60 * MINUTE_MS;

const MINUTE_MS: i64 = 60 * 1000;

/// Tolerated lag of the clock behind the latest stored time.
const CLOCK_SLACK_MS: i64 = 60 * 1000;

/// 2026-01-01: the lower bound of a plausible clock, since the program did not exist before.
const MIN_PLAUSIBLE_TIME_MS: i64 = 1_767_225_600_000;

/// Minimum number of models for a battle.
const MIN_MODELS: usize = 2;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No problem.
    Ok,
    /// The arena runs, but an operator should act.
    Warning,
    /// Battles or votes are at risk.
    Wrong,
}

/// Subject of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The settings file, the environment and the flags.
    Settings,
    /// The database.
    Database,
    /// The disk of the data folder.
    Disk,
    /// The machine's clock.
    Clock,
    /// Detection of visitors' addresses and of the site's name.
    Proxy,
    /// The newest backup.
    Backup,
    /// Availability of the models.
    Models,
    /// Availability of the moderation service.
    Moderation,
    /// Availability of the sign-in provider.
    SignInProvider,
    /// Completeness of the public log.
    PublicLog,
    /// Availability of Redis, which connects the instances.
    Redis,
}

impl Check {
    /// Returns the check's name in the output of `langya doctor`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Database => "database",
            Self::Disk => "disk",
            Self::Clock => "clock",
            Self::Proxy => "proxy",
            Self::Backup => "backup",
            Self::Models => "models",
            Self::Moderation => "moderation",
            Self::SignInProvider => "sign-in provider",
            Self::PublicLog => "public log",
            Self::Redis => "redis",
        }
    }
}

/// Result of a check. Times are whole units, sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The arena starts with these settings.
    SettingsUsable,
    /// The arena does not start with these settings; with the error.
    SettingsUnusable(String),
    /// The database answers and its schema is current.
    DatabaseReachable {
        /// Number of stored votes.
        votes: i64,
        /// Size of the database.
        bytes: u64,
    },
    /// The embedded database does not exist yet.
    DatabaseMissing,
    /// The embedded database does not exist yet, and its folder, given here, cannot be created or written.
    FolderUnusable(String),
    /// The database cannot be used; with the error and a remedy, if one is known.
    DatabaseUnusable(String, Option<String>),
    /// Space on the disk.
    DiskSpace {
        /// Free space.
        free: u64,
        /// Total space.
        total: u64,
    },
    /// The disk's space cannot be determined; with the error.
    DiskUnknown(String),
    /// This user cannot create files in the data folder, given here.
    FolderNotWritable(String),
    /// The clock agrees with the stored times.
    ClockPlausible,
    /// The clock shows a time before this program was written.
    ClockBeforeProgram,
    /// The clock is this many seconds behind the latest time that the arena has written.
    ClockBehind(i64),
    /// The clock is this many seconds ahead of the database server's, or behind it (negative).
    ClockUnlikeDatabase(i64),
    /// Visitors connect from their own addresses, without a proxy.
    ProxyNotNeeded,
    /// A proxy is configured and trusted.
    ProxyTrusted,
    /// Every address is trusted as a proxy.
    EveryAddressTrusted,
    /// The public address is that of a proxy, and none is trusted.
    NoProxyTrusted,
    /// The arena listens on this address to other machines without a configured public address.
    NoPublicUrl(String),
    /// The public address does not use TLS.
    PublicUrlWithoutTls,
    /// There is neither a backup nor a vote.
    NothingToBackUp,
    /// There are votes and no backup.
    NoBackup,
    /// The newest backup is this many days old.
    BackupOld(i64),
    /// The newest backup is missing from where it was made.
    BackupMoved(String),
    /// The newest backup is this many hours old.
    BackupFresh(i64),
    /// Number of models that answer.
    ModelsAnswer(ModelAnswers),
    /// Several models have the same name.
    ModelsShareName(SharedName),
    /// The moderation service at this host answers.
    ModerationAnswers(String),
    /// The moderation service does not answer.
    ModerationSilent {
        /// Host of the service.
        host: String,
        /// Reason, or the time since when.
        reason: String,
        /// Whether prompts are refused in the meantime.
        refuses: bool,
    },
    /// The provider of this name serves its metadata and its keys are readable.
    ProviderAnswers(String),
    /// The sign-in provider is unusable; with the error.
    ProviderUnusable(String),
    /// The public log has every vote that is due.
    PublicLogCurrent,
    /// The public log lacks a vote that was cast this many minutes ago.
    PublicLogBehind(i64),
    /// The stored log does not continue the signed one, or its key or file cannot be used; with the error.
    PublicLogNotContinued(String),
    /// Redis answers and accepts writes.
    RedisAnswers,
    /// Redis is unusable; with the reason.
    RedisUnusable(String),
    /// The settings combine Redis with a database that only one instance can use.
    RedisWithSqlite,
    /// This many instances serve the arena, and the settings name no Redis.
    InstancesWithoutRedis(usize),
}

/// Results of the models' test questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswers {
    /// Number of models asked.
    pub asked: usize,
    /// Name and remedy, if known, of each model that failed.
    pub failed: Vec<(String, Option<String>)>,
    /// Whether all of them are built-in practice models.
    pub are_practice: bool,
}

impl ModelAnswers {
    /// Returns the number of models that answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.asked - self.failed.len()
    }

    /// Whether too few models answered for a battle.
    #[must_use]
    pub fn are_too_few(&self) -> bool {
        self.answered() < MIN_MODELS
    }

    fn severity(&self) -> Severity {
        match self.are_practice {
            _ if self.are_too_few() || !self.failed.is_empty() => Severity::Wrong,
            true => Severity::Warning,
            false => Severity::Ok,
        }
    }
}

impl Finding {
    /// Returns the check that the finding belongs to.
    #[must_use]
    pub fn check(&self) -> Check {
        match self {
            Self::SettingsUsable | Self::SettingsUnusable(_) => Check::Settings,
            Self::DatabaseReachable { .. }
            | Self::DatabaseMissing
            | Self::FolderUnusable(_)
            | Self::DatabaseUnusable(..) => Check::Database,
            Self::DiskSpace { .. } | Self::DiskUnknown(_) | Self::FolderNotWritable(_) => Check::Disk,
            Self::ClockPlausible | Self::ClockBeforeProgram | Self::ClockBehind(_) | Self::ClockUnlikeDatabase(_) => {
                Check::Clock
            }
            Self::ProxyNotNeeded
            | Self::ProxyTrusted
            | Self::EveryAddressTrusted
            | Self::NoProxyTrusted
            | Self::NoPublicUrl(_)
            | Self::PublicUrlWithoutTls => Check::Proxy,
            Self::NothingToBackUp
            | Self::NoBackup
            | Self::BackupOld(_)
            | Self::BackupMoved(_)
            | Self::BackupFresh(_) => Check::Backup,
            Self::ModelsAnswer(_) | Self::ModelsShareName(_) => Check::Models,
            Self::ModerationAnswers(_) | Self::ModerationSilent { .. } => Check::Moderation,
            Self::ProviderAnswers(_) | Self::ProviderUnusable(_) => Check::SignInProvider,
            Self::PublicLogCurrent | Self::PublicLogBehind(_) | Self::PublicLogNotContinued(_) => Check::PublicLog,
            Self::RedisAnswers | Self::RedisUnusable(_) | Self::RedisWithSqlite | Self::InstancesWithoutRedis(_) => {
                Check::Redis
            }
        }
    }

    /// Returns the finding's severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::SettingsUsable
            | Self::DatabaseReachable { .. }
            | Self::ClockPlausible
            | Self::ProxyNotNeeded
            | Self::ProxyTrusted
            | Self::NothingToBackUp
            | Self::BackupFresh(_)
            | Self::ModerationAnswers(_)
            | Self::ProviderAnswers(_)
            | Self::PublicLogCurrent
            | Self::RedisAnswers => Severity::Ok,
            Self::DatabaseMissing
            | Self::FolderNotWritable(_)
            | Self::NoProxyTrusted
            | Self::NoPublicUrl(_)
            | Self::PublicUrlWithoutTls
            | Self::ClockUnlikeDatabase(_)
            | Self::NoBackup
            | Self::BackupMoved(_)
            | Self::ModelsShareName(_)
            | Self::RedisUnusable(_)
            | Self::RedisWithSqlite
            | Self::InstancesWithoutRedis(_) => Severity::Warning,
            Self::SettingsUnusable(_)
            | Self::FolderUnusable(_)
            | Self::DatabaseUnusable(..)
            | Self::DiskUnknown(_)
            | Self::ClockBeforeProgram
            | Self::ClockBehind(_)
            | Self::EveryAddressTrusted
            | Self::BackupOld(_)
            | Self::ModerationSilent { .. }
            | Self::ProviderUnusable(_)
            | Self::PublicLogBehind(_)
            | Self::PublicLogNotContinued(_) => Severity::Wrong,
            Self::DiskSpace { free, .. } if *free < MIN_FREE_BYTES => Severity::Wrong,
            Self::DiskSpace { free, .. } if *free < LOW_FREE_BYTES => Severity::Warning,
            Self::DiskSpace { .. } => Severity::Ok,
            Self::ModelsAnswer(answers) => answers.severity(),
        }
    }
}

/// Checks that a clock showing `now` is plausible; `written` is the latest time that the arena has written, and `database` the database
/// server's time.
#[must_use]
pub fn check_clock(now: Timestamp, written: Option<Timestamp>, database: Option<Timestamp>) -> Finding {
    let ahead = database.map_or(0, |database| now.0.saturating_sub(database.0));
    match written {
        _ if ahead.abs() > CLOCK_SLACK_MS => Finding::ClockUnlikeDatabase(ahead / 1000),
        _ if now.0 < MIN_PLAUSIBLE_TIME_MS => Finding::ClockBeforeProgram,
        Some(written) if written.0 > now.0 + CLOCK_SLACK_MS => Finding::ClockBehind((written.0 - now.0) / 1000),
        _ => Finding::ClockPlausible,
    }
}

/// Checks that the public log is up to date: `oldest` is the time of the oldest vote that it lacks, and each vote is due `within` this
/// time.
#[must_use]
pub fn check_public_log(oldest: Option<Timestamp>, within: Duration, now: Timestamp) -> Finding {
    match oldest.filter(|oldest| included_by(*oldest, within) < now) {
        Some(oldest) => Finding::PublicLogBehind((now.0 - oldest.0) / MINUTE_MS),
        None => Finding::PublicLogCurrent,
    }
}

/// Addresses of the arena in the settings.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// Address that the arena listens on.
    pub listen: &'a str,
    /// Whether only this machine reaches the listening address.
    pub is_loopback: bool,
    /// Public address of the arena; empty if unset.
    pub public_url: &'a str,
    /// Whether any network is trusted to forward visitors' addresses.
    pub trusts_a_proxy: bool,
    /// Whether every network is trusted to forward visitors' addresses.
    pub trusts_everybody: bool,
}

/// Checks the settings of proxies and of the public address. A proxy is expected where the public address uses TLS, or where it differs
/// from the loopback address that the arena listens on.
#[must_use]
pub fn check_proxy(address: Address<'_>) -> Vec<Finding> {
    let is_elsewhere = !address.public_url.is_empty() && !is_of_this_machine(address.public_url);
    let is_behind_proxy = address.public_url.starts_with("https://") || address.is_loopback && is_elsewhere;
    let rules = [
        (address.trusts_everybody, Finding::EveryAddressTrusted),
        (is_behind_proxy && !address.trusts_a_proxy, Finding::NoProxyTrusted),
        (address.public_url.is_empty() && !address.is_loopback, Finding::NoPublicUrl(address.listen.to_owned())),
        (address.public_url.starts_with("http://"), Finding::PublicUrlWithoutTls),
    ];
    let broken: Vec<Finding> =
        rules.into_iter().filter_map(|(is_broken, finding)| is_broken.then_some(finding)).collect();
    match broken.is_empty() {
        false => broken,
        true if is_behind_proxy => vec![Finding::ProxyTrusted],
        true => vec![Finding::ProxyNotNeeded],
    }
}

/// Whether an address is reachable from this machine only.
fn is_of_this_machine(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => rest.split([':', '/']).next(),
    };
    let host = host.unwrap_or_default();
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Recorded backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBackup {
    /// Time of the backup.
    pub made_at: Timestamp,
    /// Path of the backup.
    pub path: String,
    /// Whether the file still exists.
    pub is_there: bool,
}

/// Checks that a recent backup protects the votes against the loss of the database. `votes` is `None` where their number is unknown.
#[must_use]
pub fn check_backup(newest: Option<KnownBackup>, votes: Option<i64>, now: Timestamp) -> Finding {
    match newest {
        None if votes == Some(0) => Finding::NothingToBackUp,
        None => Finding::NoBackup,
        Some(backup) => match now.0 - backup.made_at.0 {
            age if age > MAX_BACKUP_AGE_MS => Finding::BackupOld(age / DAY_MS),
            _ if !backup.is_there => Finding::BackupMoved(backup.path),
            age => Finding::BackupFresh(age.max(0) / HOUR_MS),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_790_000_000_000);

    #[test]
    fn little_space_is_reported_before_it_is_too_little() {
        for (free, expected) in [(100 << 20, Severity::Wrong), (1 << 30, Severity::Warning), (5 << 30, Severity::Ok)] {
            assert_eq!(Finding::DiskSpace { free, total: 9 << 30 }.severity(), expected, "{free}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_its_own_records_is_wrong() {
        assert_eq!(check_clock(NOW, None, None), Finding::ClockPlausible);
        assert_eq!(check_clock(NOW, Some(Timestamp(NOW.0 + 59_000)), None), Finding::ClockPlausible);
        assert_eq!(check_clock(NOW, Some(Timestamp(NOW.0 + 3_600_000)), None), Finding::ClockBehind(3600));
        assert_eq!(check_clock(Timestamp(0), None, None), Finding::ClockBeforeProgram);
    }

    #[test]
    fn a_clock_is_compared_with_that_of_the_database() {
        let database = |off: i64| Some(Timestamp(NOW.0 + off));
        assert_eq!(check_clock(NOW, None, database(59_000)), Finding::ClockPlausible);
        assert_eq!(check_clock(NOW, None, database(3_600_000)), Finding::ClockUnlikeDatabase(-3600));
        assert_eq!(check_clock(NOW, None, database(-3_600_000)), Finding::ClockUnlikeDatabase(3600));
    }

    #[test]
    fn a_proxy_has_to_be_known_and_not_everybody_one() {
        let local = Address {
            listen: "127.0.0.1:8717",
            is_loopback: true,
            public_url: "",
            trusts_a_proxy: false,
            trusts_everybody: false,
        };
        let proxied = Address { public_url: "https://a.example", ..local };
        let open = Address { listen: "0.0.0.0:8717", is_loopback: false, ..local };
        assert_eq!(check_proxy(local), [Finding::ProxyNotNeeded]);
        assert_eq!(check_proxy(Address { trusts_a_proxy: true, ..proxied }), [Finding::ProxyTrusted]);
        assert_eq!(check_proxy(proxied), [Finding::NoProxyTrusted]);
        assert_eq!(
            check_proxy(Address { trusts_a_proxy: true, trusts_everybody: true, ..open }),
            [Finding::EveryAddressTrusted, Finding::NoPublicUrl("0.0.0.0:8717".into())]
        );
        assert_eq!(check_proxy(Address { public_url: "http://a.example", ..open }), [Finding::PublicUrlWithoutTls]);
        assert_eq!(
            check_proxy(Address { public_url: "http://a.example", ..local }),
            [Finding::NoProxyTrusted, Finding::PublicUrlWithoutTls]
        );
        for public_url in ["http://localhost:8717", "http://127.0.0.1:8717", "http://[::1]:8717"] {
            assert_eq!(check_proxy(Address { public_url, ..local }), [Finding::PublicUrlWithoutTls], "{public_url}");
        }
    }

    #[test]
    fn a_backup_that_is_missing_or_old_is_reported() {
        let made = |days: i64, is_there| {
            Some(KnownBackup { made_at: Timestamp(NOW.0 - days * DAY_MS), path: "/b".into(), is_there })
        };
        assert_eq!(check_backup(None, Some(0), NOW), Finding::NothingToBackUp);
        assert_eq!(check_backup(None, Some(5), NOW), Finding::NoBackup);
        assert_eq!(check_backup(None, None, NOW), Finding::NoBackup, "there may be votes");
        assert_eq!(check_backup(made(1, true), Some(5), NOW), Finding::BackupFresh(24));
        assert_eq!(check_backup(made(1, false), Some(5), NOW), Finding::BackupMoved("/b".into()));
        assert_eq!(check_backup(made(8, true), Some(5), NOW), Finding::BackupOld(8));
    }

    #[test]
    fn a_public_log_that_lacks_a_vote_for_longer_than_is_promised_is_behind() {
        let (within, ago) = (Duration::from_secs(60), |seconds: i64| Some(Timestamp(NOW.0 - 1000 * seconds)));
        for oldest in [None, ago(0), ago(60), ago(-3600)] {
            assert_eq!(check_public_log(oldest, within, NOW), Finding::PublicLogCurrent, "{oldest:?}");
        }
        assert_eq!(check_public_log(ago(61), within, NOW), Finding::PublicLogBehind(1));
        assert_eq!(check_public_log(ago(7200), within, NOW), Finding::PublicLogBehind(120));
    }

    #[test]
    fn a_battle_needs_two_models_that_answer() {
        let of = |asked, failed: usize, are_practice| {
            let failed = vec![("m".to_owned(), None); failed];
            Finding::ModelsAnswer(ModelAnswers { asked, failed, are_practice }).severity()
        };
        assert_eq!(of(2, 0, false), Severity::Ok);
        assert_eq!(of(5, 0, true), Severity::Warning);
        assert_eq!([of(3, 1, false), of(1, 0, false), of(0, 0, false)], [Severity::Wrong; 3]);
    }
}
