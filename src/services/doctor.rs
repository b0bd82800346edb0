//! Looks at what an arena needs, and says what is wrong and what to do. Nothing is changed.

use std::net::SocketAddr;

use serde::Serialize;

use crate::domain::language::Language;
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

const CLOCK_ADVICE_CHINESE: &str = "请校准时钟，并用 NTP 保持准确（timedatectl set-ntp true）：投票和限流都以它计时";

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
    /// Both in Chinese, for pages; empty where they are only known in English.
    #[serde(skip)]
    chinese: [String; 2],
}

impl Finding {
    /// Nothing to do.
    #[must_use]
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, Severity::Ok, found.into(), String::new())
    }

    /// Something to know.
    #[must_use]
    pub fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(check, Severity::Warning, found.into(), advice.into())
    }

    /// Something to mend.
    #[must_use]
    pub fn wrong(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(check, Severity::Wrong, found.into(), advice.into())
    }

    fn new(check: &'static str, severity: Severity, found: String, advice: String) -> Self {
        Self { check, severity, found, advice, chinese: Default::default() }
    }

    fn chinese(self, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { chinese: [found.into(), advice.into()], ..self }
    }

    /// What was found and what to do, with the language in which it is known.
    #[must_use]
    pub fn texts(&self, language: Language) -> (Language, [&str; 2]) {
        let [found, advice] = &self.chinese;
        if language == Language::Chinese && !found.is_empty() {
            (Language::Chinese, [found, advice])
        } else {
            (Language::English, [&self.found, &self.advice])
        }
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
            let (votes, size) = (facts.votes, human(facts.bytes));
            let finding = Finding::ok("database", format!("reachable, migrated, {votes} votes, {size}"));
            (finding.chinese(format!("可连接，表结构为最新，{votes} 票，{size}"), ""), facts)
        }
        Err(StoreError::Missing(_)) => (
            Finding::warning("database", "there is none yet", "`langya serve` makes it at its first start")
                .chinese("尚不存在", "`langya serve` 会在首次启动时创建"),
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
    let (free, total) = (human(space.free), human(space.total));
    let found = format!("{free} of {total} free");
    let advice = "make room on the disk of storage.data_dir: a full disk takes no votes";
    let (chinese, chinese_advice) =
        (format!("共 {total}，可用 {free}"), "请为 storage.data_dir 所在的磁盘腾出空间：磁盘写满后无法再记录投票");
    match space.free {
        free if free < TOO_LITTLE_SPACE => Finding::wrong("disk", found, advice).chinese(chinese, chinese_advice),
        free if free < LITTLE_SPACE => Finding::warning("disk", found, advice).chinese(chinese, chinese_advice),
        _ => Finding::ok("disk", found).chinese(chinese, ""),
    }
}

/// `written` is the latest time that anything of the arena's was written at.
fn clock(now: Timestamp, written: Option<Timestamp>) -> Finding {
    let advice =
        "set the clock, and keep it right with NTP (timedatectl set-ntp true): votes and limits are timed by it";
    if now.0 < BEFORE_THIS_PROGRAM_MS {
        let found = "it shows a time before this program was written";
        return Finding::wrong("clock", found, advice).chinese("显示的时间早于本程序的编写时间", CLOCK_ADVICE_CHINESE);
    }
    match written {
        Some(written) if written.0 > now.0 + CLOCK_SLACK_MS => {
            let behind = (written.0 - now.0) / 1000;
            let found = format!("it is {behind} s behind what the arena has written before");
            let chinese = format!("比本站此前写下的时间落后 {behind} 秒");
            Finding::wrong("clock", found, advice).chinese(chinese, CLOCK_ADVICE_CHINESE)
        }
        _ => Finding::ok("clock", "plausible").chinese("看起来正确", ""),
    }
}

/// Whether addresses of visitors and the site's name are known as they should be.
fn proxy(server: &ServerSettings) -> Vec<Finding> {
    let is_local = server.listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback());
    let is_behind_proxy = server.public_url.starts_with("https://");
    let mut findings = Vec::new();
    if server.trusted_proxies.iter().any(|network| network.prefix_len() == 0) {
        let finding = Finding::wrong(
            "proxy",
            "server.trusted_proxies takes every address for a proxy",
            "name only your proxies' networks: as it is, every visitor can claim any address and pass the limits",
        );
        findings.push(finding.chinese(
            "server.trusted_proxies 把所有地址都当作代理",
            "请只写你的代理所在的网络：否则任何访客都能冒用任意地址，绕过限流",
        ));
    }
    if is_behind_proxy && server.trusted_proxies.is_empty() {
        let finding = Finding::warning(
            "proxy",
            "server.public_url is https, and no proxy is trusted",
            "set server.trusted_proxies to the proxy's address: as it is, all visitors share its limits",
        );
        findings.push(finding.chinese(
            "server.public_url 为 https，但没有受信任的代理",
            "请将 server.trusted_proxies 设为代理的地址：否则所有访客共用同一份限额",
        ));
    }
    if server.public_url.is_empty() && !is_local {
        let finding = Finding::warning(
            "proxy",
            format!("the arena listens on {} without server.public_url", server.listen),
            "set server.public_url: as it is, only IP addresses and localhost are answered, and without TLS",
        );
        findings.push(finding.chinese(
            format!("本站在 {} 上监听，但没有设置 server.public_url", server.listen),
            "请设置 server.public_url：否则只应答 IP 地址和 localhost，且没有 TLS",
        ));
    }
    if server.public_url.starts_with("http://") {
        let finding = Finding::warning(
            "proxy",
            "server.public_url has no TLS",
            "put a proxy with a certificate in front (deploy/nginx), and write https://",
        );
        findings.push(
            finding.chinese("server.public_url 没有 TLS", "请在前面放置带证书的代理（deploy/nginx），并写成 https://"),
        );
    }
    if findings.is_empty() {
        findings.push(if is_behind_proxy {
            Finding::ok("proxy", "trusted proxies are named").chinese("已列明受信任的代理", "")
        } else {
            Finding::ok("proxy", "none is needed").chinese("不需要", "")
        });
    }
    findings
}

fn backup(last: Option<&LastBackup>, is_there: bool, votes: i64, now: Timestamp) -> Finding {
    let advice = "make one with `langya backup --out DIR`, each day by a timer, and keep it on another machine";
    let make = "请用 `langya backup --out DIR` 制作备份，并用定时器每天执行，保存到另一台机器上";
    match last {
        None if votes == 0 => {
            Finding::ok("backup", "none yet, and no vote to lose").chinese("尚无备份，也没有投票可丢失", "")
        }
        None => Finding::warning("backup", "`langya backup` has made none from this data folder", advice)
            .chinese("`langya backup` 尚未从此数据文件夹制作过备份", make),
        Some(last) if now.0 - last.at.0 > OLD_BACKUP_MS => {
            let days = (now.0 - last.at.0) / DAY_MS;
            let finding = Finding::wrong("backup", format!("the newest is {days} days old"), advice);
            finding.chinese(format!("最新的备份已有 {days} 天"), make)
        }
        Some(last) if !is_there => {
            let path = last.path.display();
            let advice = "check that it was moved and not lost";
            let finding = Finding::warning("backup", format!("{path} is not there any more"), advice);
            finding.chinese(format!("{path} 已不在原处"), "请确认它是被移走，而不是丢失")
        }
        Some(last) => {
            let hours = (now.0 - last.at.0).max(0) / (60 * 60 * 1000);
            Finding::ok("backup", format!("{hours} hours old")).chinese(format!("{hours} 小时前制作"), "")
        }
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
