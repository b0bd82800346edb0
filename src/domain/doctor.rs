//! What `langya doctor` and the admin say of an arena's health: findings as data, which
//! `render::i18n::doctor` puts into words, and the rules by which they are judged.

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::battle::model_card::SharedName;
use crate::public_log::promised_vote::included_by;
use crate::time::Timestamp;

/// Below this much free space something is wrong: a day of a busy arena does not fit.
const TOO_LITTLE_SPACE: u64 = 256 << 20;

/// Below this much, somebody should know.
const LITTLE_SPACE: u64 = 2 << 30;

/// A backup that is older than this was forgotten.
const OLD_BACKUP_MS: i64 = 7 * DAY_MS;

const DAY_MS: i64 = 24 * HOUR_MS;

const HOUR_MS: i64 = 60 * MINUTE_MS;

const MINUTE_MS: i64 = 60 * 1000;

/// How far the clock may be behind what was written before.
const CLOCK_SLACK_MS: i64 = 60 * 1000;

/// 2026-01-01: no clock of this program was ever right before.
const BEFORE_THIS_PROGRAM_MS: i64 = 1_767_225_600_000;

/// Models that a battle needs.
const MODELS_OF_A_BATTLE: usize = 2;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// All is well.
    Ok,
    /// The arena runs, and somebody should know.
    Warning,
    /// Battles or votes are in danger.
    Wrong,
}

/// What is looked at.
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
    /// How visitors' addresses and the site's name are known.
    Proxy,
    /// The newest backup.
    Backup,
    /// Whether models answer.
    Models,
    /// Whether the moderation service answers.
    Moderation,
    /// Whether the provider answers where people sign in.
    SignInProvider,
    /// Whether the public log has the votes that it should have.
    PublicLog,
    /// Whether Redis can be used, through which instances reach each other.
    Redis,
}

impl Check {
    /// Its name in the output of `langya doctor`.
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

/// What a check found. Times are whole units, sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The arena starts with these settings.
    SettingsUsable,
    /// It does not; with the error.
    SettingsUnusable(String),
    /// The database answers and its schema is current.
    DatabaseReachable {
        /// Votes in it.
        votes: i64,
        /// Its size.
        bytes: u64,
    },
    /// The embedded database does not exist yet.
    DatabaseMissing,
    /// The embedded database does not exist yet, and its folder, named here, cannot be created or written.
    FolderUnusable(String),
    /// It cannot be used; with the error, and what that says is to be done.
    DatabaseUnusable(String, Option<String>),
    /// The disk's space.
    DiskSpace {
        /// What may still be written.
        free: u64,
        /// All of it.
        total: u64,
    },
    /// The disk cannot be asked; with the error.
    DiskUnknown(String),
    /// This user can make no file in the data folder, named here.
    FolderNotWritable(String),
    /// The clock fits what was written before.
    ClockPlausible,
    /// It shows a time before this program was written.
    ClockBeforeProgram,
    /// It is this many seconds behind what the arena has written.
    ClockBehind(i64),
    /// It is this many seconds ahead of that of the database's server, or behind it (below zero).
    ClockUnlikeDatabase(i64),
    /// Visitors are known by their own addresses.
    ProxyNotNeeded,
    /// A proxy is in front and is trusted.
    ProxyTrusted,
    /// Every address is taken for a proxy.
    EveryAddressTrusted,
    /// The public address leads to a proxy, and none is trusted.
    NoProxyTrusted,
    /// The arena listens on this address to others without knowing its public one.
    NoPublicUrl(String),
    /// The public address has no TLS.
    PublicUrlWithoutTls,
    /// There is no backup, and no vote either.
    NothingToBackUp,
    /// There are votes and no backup.
    NoBackup,
    /// The newest backup is this many days old.
    BackupOld(i64),
    /// The newest backup is not where it was made.
    BackupMoved(String),
    /// The newest backup is this many hours old.
    BackupFresh(i64),
    /// How many models answer.
    ModelsAnswer(ModelAnswers),
    /// Several models have the same name.
    ModelsShareName(SharedName),
    /// The moderation service at this host answers.
    ModerationAnswers(String),
    /// The moderation service does not answer.
    ModerationSilent {
        /// Its host.
        host: String,
        /// Why, or since when.
        reason: String,
        /// Whether prompts are refused meanwhile.
        refuses: bool,
    },
    /// The provider of this name describes itself, and its keys can be read.
    ProviderAnswers(String),
    /// Nobody can sign in there; with the error.
    ProviderUnusable(String),
    /// The public log has every vote that was promised to be in it by now.
    PublicLogCurrent,
    /// It lacks one that came so many minutes ago.
    PublicLogBehind(i64),
    /// What is stored does not continue what was signed, or its key or file cannot be used; with the error.
    PublicLogNotContinued(String),
    /// Redis answers and takes writes.
    RedisAnswers,
    /// It cannot be used; with the reason.
    RedisUnusable(String),
    /// The settings name Redis, and a database that only one instance can use.
    RedisWithSqlite,
    /// So many instances serve the arena, and the settings name no Redis.
    InstancesWithoutRedis(usize),
}

/// How many models answer a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswers {
    /// Models that were asked.
    pub asked: usize,
    /// Of each one that failed, its name and what to change.
    pub failed: Vec<(String, Option<String>)>,
    /// Whether all of them are the built-in practice models.
    pub are_practice: bool,
}

impl ModelAnswers {
    /// Models that answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.asked - self.failed.len()
    }

    /// Whether no battle can begin.
    #[must_use]
    pub fn are_too_few(&self) -> bool {
        self.answered() < MODELS_OF_A_BATTLE
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
    /// What was looked at.
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

    /// How bad it is.
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
            Self::DiskSpace { free, .. } if *free < TOO_LITTLE_SPACE => Severity::Wrong,
            Self::DiskSpace { free, .. } if *free < LITTLE_SPACE => Severity::Warning,
            Self::DiskSpace { .. } => Severity::Ok,
            Self::ModelsAnswer(answers) => answers.severity(),
        }
    }
}

/// Whether a clock that shows `now` can be right; `written` is the latest time that the arena wrote anything at, and
/// `database` what the server of its database shows.
#[must_use]
pub fn check_clock(now: Timestamp, written: Option<Timestamp>, database: Option<Timestamp>) -> Finding {
    let ahead = database.map_or(0, |database| now.0.saturating_sub(database.0));
    match written {
        _ if ahead.abs() > CLOCK_SLACK_MS => Finding::ClockUnlikeDatabase(ahead / 1000),
        _ if now.0 < BEFORE_THIS_PROGRAM_MS => Finding::ClockBeforeProgram,
        Some(written) if written.0 > now.0 + CLOCK_SLACK_MS => Finding::ClockBehind((written.0 - now.0) / 1000),
        _ => Finding::ClockPlausible,
    }
}

/// Whether the public log keeps up with what voters were promised: the oldest vote that it lacks came at `oldest`, and each is to be
/// in it `within` this time.
#[must_use]
pub fn check_public_log(oldest: Option<Timestamp>, within: Duration, now: Timestamp) -> Finding {
    match oldest.filter(|oldest| included_by(*oldest, within) < now) {
        Some(oldest) => Finding::PublicLogBehind((now.0 - oldest.0) / MINUTE_MS),
        None => Finding::PublicLogCurrent,
    }
}

/// Where the arena can be reached, as the settings say.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// The address that it listens on.
    pub listen: &'a str,
    /// Whether only this machine reaches that address.
    pub is_loopback: bool,
    /// The address that visitors know; empty where none is set.
    pub public_url: &'a str,
    /// Whether any network is trusted to name visitors' addresses.
    pub trusts_a_proxy: bool,
    /// Whether every address is.
    pub trusts_everybody: bool,
}

/// Whether addresses of visitors and the site's name are known as they should be. TLS comes from a proxy, and so do visitors who use
/// another address than the one of this machine alone that the arena listens on.
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

/// Whether only programs of this machine can open an address.
fn is_of_this_machine(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => rest.split([':', '/']).next(),
    };
    let host = host.unwrap_or_default();
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBackup {
    /// When.
    pub made_at: Timestamp,
    /// Where.
    pub path: String,
    /// Whether it is still there.
    pub is_there: bool,
}

/// Whether the votes would survive the loss of the database.
#[must_use]
pub fn check_backup(newest: Option<KnownBackup>, votes: i64, now: Timestamp) -> Finding {
    match newest {
        None if votes == 0 => Finding::NothingToBackUp,
        None => Finding::NoBackup,
        Some(backup) => match now.0 - backup.made_at.0 {
            age if age > OLD_BACKUP_MS => Finding::BackupOld(age / DAY_MS),
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
        assert_eq!(check_backup(None, 0, NOW), Finding::NothingToBackUp);
        assert_eq!(check_backup(None, 5, NOW), Finding::NoBackup);
        assert_eq!(check_backup(made(1, true), 5, NOW), Finding::BackupFresh(24));
        assert_eq!(check_backup(made(1, false), 5, NOW), Finding::BackupMoved("/b".into()));
        assert_eq!(check_backup(made(8, true), 5, NOW), Finding::BackupOld(8));
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
