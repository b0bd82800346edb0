//! Texts of the findings of `langya doctor`, with advice.

use super::fill;
use crate::domain::doctor::{Check, Finding, ModelAnswers, Severity};
use crate::domain::language::Language;

/// Text of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingWords {
    /// The language of the text: errors of other programs exist in English only.
    pub language: Language,
    pub found: String,
    /// Advice; empty if nothing needs to be done.
    pub advice: String,
}

/// Renders a finding in a language, or in English if it contains an error.
#[must_use]
pub fn finding_words(finding: &Finding, language: Language) -> FindingWords {
    let is_error = matches!(
        finding,
        Finding::SettingsUnusable(_)
            | Finding::DatabaseUnusable(..)
            | Finding::DiskUnknown(_)
            | Finding::ModelsAnswer(_)
            | Finding::ProviderUnusable(_)
            | Finding::PublicLogNotContinued(_)
            | Finding::RedisUnusable(_)
    );
    let language = if is_error { Language::English } else { language };
    let values = values(finding);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, &**value)).collect();
    let [found, advice] = doctor_texts(language).template(finding).map(|template| fill(template, &values));
    FindingWords { language, found, advice }
}

/// The heading of a check's row.
#[must_use]
pub fn check_name(check: Check, language: Language) -> &'static str {
    let names = &doctor_texts(language).checks;
    match check {
        Check::Settings => names[0],
        Check::Database => names[1],
        Check::Disk => names[2],
        Check::Clock => names[3],
        Check::Proxy => names[4],
        Check::Backup => names[5],
        Check::Models => names[6],
        Check::Moderation => names[7],
        Check::SignInProvider => names[8],
        Check::Redis => names[9],
        Check::PublicLog => names[10],
    }
}

/// Templates of a finding and its advice.
type FindingTemplate = [&'static str; 2];

/// The texts of findings in one language.
struct DoctorTexts {
    checks: [&'static str; 11],
    settings_usable: FindingTemplate,
    settings_unusable: FindingTemplate,
    database_reachable: FindingTemplate,
    database_missing: FindingTemplate,
    folder_unusable: FindingTemplate,
    database_unusable: FindingTemplate,
    disk_space: FindingTemplate,
    disk_unknown: FindingTemplate,
    folder_not_writable: FindingTemplate,
    clock_plausible: FindingTemplate,
    clock_before_program: FindingTemplate,
    clock_behind: FindingTemplate,
    clock_unlike_database: FindingTemplate,
    proxy_not_needed: FindingTemplate,
    proxy_trusted: FindingTemplate,
    every_address_trusted: FindingTemplate,
    no_proxy_trusted: FindingTemplate,
    no_public_url: FindingTemplate,
    public_url_without_tls: FindingTemplate,
    nothing_to_back_up: FindingTemplate,
    no_backup: FindingTemplate,
    backup_old: FindingTemplate,
    backup_moved: FindingTemplate,
    backup_fresh: FindingTemplate,
    models_answer: FindingTemplate,
    practice_models_answer: FindingTemplate,
    models_share_name: FindingTemplate,
    moderation_answers: FindingTemplate,
    moderation_lets_through: FindingTemplate,
    moderation_refuses: FindingTemplate,
    provider_answers: FindingTemplate,
    provider_unusable: FindingTemplate,
    public_log_current: FindingTemplate,
    public_log_behind: FindingTemplate,
    public_log_not_continued: FindingTemplate,
    redis_answers: FindingTemplate,
    redis_unusable: FindingTemplate,
    redis_with_sqlite: FindingTemplate,
    instances_without_redis: FindingTemplate,
}

impl DoctorTexts {
    fn template(&self, finding: &Finding) -> FindingTemplate {
        match finding {
            Finding::SettingsUsable => self.settings_usable,
            Finding::SettingsUnusable(_) => self.settings_unusable,
            Finding::DatabaseReachable { .. } => self.database_reachable,
            Finding::DatabaseMissing => self.database_missing,
            Finding::FolderUnusable(_) => self.folder_unusable,
            Finding::DatabaseUnusable(..) => self.database_unusable,
            Finding::DiskSpace { .. } if finding.severity() == Severity::Ok => [self.disk_space[0], ""],
            Finding::DiskSpace { .. } => self.disk_space,
            Finding::DiskUnknown(_) => self.disk_unknown,
            Finding::FolderNotWritable(_) => self.folder_not_writable,
            Finding::ClockPlausible => self.clock_plausible,
            Finding::ClockBeforeProgram => self.clock_before_program,
            Finding::ClockBehind(_) => self.clock_behind,
            Finding::ClockUnlikeDatabase(_) => self.clock_unlike_database,
            Finding::ProxyNotNeeded => self.proxy_not_needed,
            Finding::ProxyTrusted => self.proxy_trusted,
            Finding::EveryAddressTrusted => self.every_address_trusted,
            Finding::NoProxyTrusted => self.no_proxy_trusted,
            Finding::NoPublicUrl(_) => self.no_public_url,
            Finding::PublicUrlWithoutTls => self.public_url_without_tls,
            Finding::NothingToBackUp => self.nothing_to_back_up,
            Finding::NoBackup => self.no_backup,
            Finding::BackupOld(_) => self.backup_old,
            Finding::BackupMoved(_) => self.backup_moved,
            Finding::BackupFresh(_) => self.backup_fresh,
            Finding::ModelsAnswer(_) if finding.severity() == Severity::Warning => self.practice_models_answer,
            Finding::ModelsAnswer(_) => self.models_answer,
            Finding::ModelsShareName(_) => self.models_share_name,
            Finding::ModerationAnswers(_) => self.moderation_answers,
            Finding::ModerationSilent { refuses: false, .. } => self.moderation_lets_through,
            Finding::ModerationSilent { refuses: true, .. } => self.moderation_refuses,
            Finding::ProviderAnswers(_) => self.provider_answers,
            Finding::ProviderUnusable(_) => self.provider_unusable,
            Finding::PublicLogCurrent => self.public_log_current,
            Finding::PublicLogBehind(_) => self.public_log_behind,
            Finding::PublicLogNotContinued(_) => self.public_log_not_continued,
            Finding::RedisAnswers => self.redis_answers,
            Finding::RedisUnusable(_) => self.redis_unusable,
            Finding::RedisWithSqlite => self.redis_with_sqlite,
            Finding::InstancesWithoutRedis(_) => self.instances_without_redis,
        }
    }
}

/// Values of a template's placeholders.
fn values(finding: &Finding) -> Vec<(&'static str, String)> {
    match finding {
        Finding::SettingsUnusable(error)
        | Finding::DiskUnknown(error)
        | Finding::ProviderUnusable(error)
        | Finding::PublicLogNotContinued(error)
        | Finding::RedisUnusable(error) => vec![("error", error.clone())],
        Finding::DatabaseUnusable(error, advice) => {
            let advice = advice.clone().unwrap_or_else(|| "see the log of the arena".into());
            vec![("error", error.clone()), ("advice", advice)]
        }
        Finding::DatabaseReachable { votes, bytes } => vec![("votes", votes.to_string()), ("size", size(*bytes))],
        Finding::DiskSpace { free, total } => vec![("free", size(*free)), ("total", size(*total))],
        Finding::ClockBehind(seconds) | Finding::ClockUnlikeDatabase(seconds) => vec![("seconds", seconds.to_string())],
        Finding::NoPublicUrl(listen) => vec![("listen", listen.clone())],
        Finding::ModerationAnswers(host) => vec![("host", host.clone())],
        Finding::ModerationSilent { host, reason, .. } => vec![("host", host.clone()), ("reason", reason.clone())],
        Finding::BackupOld(days) => vec![("days", days.to_string())],
        Finding::InstancesWithoutRedis(count) => vec![("count", count.to_string())],
        Finding::PublicLogBehind(minutes) => vec![("minutes", minutes.to_string())],
        Finding::ProviderAnswers(name) => vec![("name", name.clone())],
        Finding::ModelsShareName(shared) => vec![("name", shared.name.clone()), ("models", shared.listed())],
        Finding::BackupMoved(path) | Finding::FolderUnusable(path) | Finding::FolderNotWritable(path) => {
            vec![("path", path.clone())]
        }
        Finding::BackupFresh(hours) => vec![("hours", hours.to_string())],
        Finding::ModelsAnswer(answers) => vec![
            ("answered", answers.answered().to_string()),
            ("asked", answers.asked.to_string()),
            ("advice", advice_on(answers)),
        ],
        _ => Vec::new(),
    }
}

/// Advice on the failed models, or on adding models if none failed and there are too few.
fn advice_on(answers: &ModelAnswers) -> String {
    let says = |(model, advice): &(String, Option<String>)| {
        format!("{model}: {}", advice.as_deref().unwrap_or("see `langya models check`"))
    };
    match answers.failed.is_empty() {
        true if answers.are_too_few() => "add models with `langya models add --from URL`".into(),
        _ => answers.failed.iter().map(says).collect::<Vec<_>>().join("; "),
    }
}

/// Formats a number of bytes with a suitable unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    }
}

fn doctor_texts(language: Language) -> &'static DoctorTexts {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

const ENGLISH: DoctorTexts = DoctorTexts {
    checks: [
        "settings",
        "database",
        "disk",
        "clock",
        "proxy",
        "backup",
        "models",
        "moderation service",
        "sign-in provider",
        "redis",
        "public log",
    ],
    settings_usable: ["usable", ""],
    settings_unusable: ["{error}", "fix the settings; the arena does not start with these"],
    database_reachable: ["reachable, migrated, {votes} {votes:vote|votes}, {size}", ""],
    database_missing: ["there is no database yet", "`langya serve` creates it when it first starts"],
    folder_unusable: [
        "there is no database yet, and {path} is not a folder that this user can write",
        "make it writable for the user that runs the arena, or choose another one with storage.data_dir or --data-dir",
    ],
    database_unusable: ["{error}", "{advice}"],
    disk_space: [
        "{free} of {total} free",
        "free up space on the disk of storage.data_dir: with a full disk, no vote can be stored",
    ],
    disk_unknown: ["the free space of the data folder's disk cannot be read: {error}", "check storage.data_dir"],
    folder_not_writable: [
        "the data folder {path} is not a folder that this user can write",
        "make it writable for the user that runs the arena: the latest checkpoint of the public log is kept there. Until then, voters get \
         no promise that their vote will be in the log, and an embedded database there accepts no votes",
    ],
    clock_plausible: ["plausible", ""],
    clock_before_program: ["the clock shows a time before this program was built", CLOCK_ADVICE],
    clock_unlike_database: [
        "the clock is {seconds} s ahead of the database server's (below zero: behind it), whose time the arena uses",
        "set both clocks, and keep them right with NTP (timedatectl set-ntp true)",
    ],
    clock_behind: [
        "the clock is {seconds} s behind the latest time that the arena has recorded",
        "if the clock is wrong now, set it, and keep it right with NTP (timedatectl set-ntp true): votes and limits are timed by it; if it is \
         right now and was ahead before, there is nothing to do: this ends in {seconds} s",
    ],
    proxy_not_needed: ["none is needed", ""],
    proxy_trusted: ["trusted proxies are named", ""],
    every_address_trusted: [
        "server.trusted_proxies trusts every address as a proxy",
        "list only your proxies' networks: otherwise every visitor can forge an address and bypass the limits",
    ],
    no_proxy_trusted: [
        "server.public_url leads to a proxy, and no proxy is trusted",
        "set server.trusted_proxies to the proxy's address: otherwise the arena does not know visitors' addresses, so behind a proxy on this \
         machine no limit by address applies, and behind another one all visitors share the limits of its address",
    ],
    no_public_url: [
        "the arena listens on {listen} without server.public_url",
        "set server.public_url: otherwise the arena answers only under IP addresses and localhost, and without TLS",
    ],
    public_url_without_tls: [
        "server.public_url has no TLS",
        "put a proxy with a certificate in front (deploy/nginx), write https://, and name the proxy in server.trusted_proxies",
    ],
    nothing_to_back_up: ["none yet; there are no votes to lose", ""],
    no_backup: ["`langya backup` has made none from this data folder", BACKUP_ADVICE],
    backup_old: ["the newest is {days} {days:day|days} old", BACKUP_ADVICE],
    backup_moved: ["{path} no longer exists", "check that it was moved and not lost"],
    backup_fresh: ["{hours} {hours:hour|hours} old", ""],
    models_answer: ["{answered} of {asked} answer", "{advice}"],
    practice_models_answer: [
        "{answered} of {asked} answer, and all are practice models",
        "add models with `langya models add --from URL`",
    ],
    models_share_name: [
        "the models {models} have the same name: {name}",
        "give each of them a \"name\" of its own under [[models]]: otherwise nobody can tell them apart after the vote or on the leaderboard",
    ],
    moderation_answers: ["{host} answers", ""],
    moderation_lets_through: ["{host} does not answer ({reason}): prompts are accepted unchecked", MODERATION_ADVICE],
    moderation_refuses: ["{host} does not answer ({reason}): prompts are refused", MODERATION_ADVICE],
    provider_answers: ["{name} answers, and its keys can be read", ""],
    provider_unusable: [
        "{error}",
        "check oidc.issuer and the network path to it; people with a passphrase can still sign in",
    ],
    public_log_current: ["it has every vote that was promised to be in it by now", ""],
    public_log_behind: [
        "it lacks a vote that was cast {minutes} {minutes:minute|minutes} ago",
        "start the arena if it is stopped; if it runs, its log says why it cannot append to the public log, such as a data folder that cannot \
         be read or written; until then, votes are counted, and voters get no promise that their vote will be in the log",
    ],
    public_log_not_continued: [
        "{error}",
        "fix that first; until then, votes are counted, and voters get no promise that their vote will be in the log",
    ],
    redis_answers: ["it answers and accepts writes", ""],
    redis_unusable: [
        "{error}",
        "check redis.url and the network path to it; battles continue meanwhile, but events on other instances are shown late, and limits are \
         counted separately from instances that reach it",
    ],
    redis_with_sqlite: [
        "redis.url is set, and the database is SQLite, which only one instance can use",
        "for several instances, set storage.database to a PostgreSQL address; for one, remove redis.url",
    ],
    instances_without_redis: [
        "{count} instances serve this arena, and redis.url is not set",
        "set the same redis.url on all of them: otherwise each instance counts limits by itself, and shows events on the others late",
    ],
};

const MODERATION_ADVICE: &str = "check moderation.base_url, its model and its key with `langya moderation check`";

const CLOCK_ADVICE: &str =
    "set the clock, and keep it right with NTP (timedatectl set-ntp true): votes and limits are timed by it";

const BACKUP_ADVICE: &str = "run `langya backup --out DIR` daily from a timer, and keep the backups on another machine";

const CHINESE: DoctorTexts = DoctorTexts {
    checks: ["设置", "数据库", "磁盘", "时钟", "代理", "备份", "模型", "审核服务", "登录服务", "Redis", "公开日志"],
    settings_usable: ["可用", ""],
    database_reachable: ["可连接，表结构为最新，{votes} 票，{size}", ""],
    database_missing: ["尚不存在", "`langya serve` 会在首次启动时创建"],
    folder_unusable: [
        "尚不存在，而 {path} 不是当前用户可以写入的文件夹",
        "请让运行竞技场的用户可以写入它，或用 storage.data_dir（--data-dir）另选一个文件夹",
    ],
    disk_space: ["共 {total}，可用 {free}", "请为 storage.data_dir 所在的磁盘腾出空间：磁盘写满后无法再记录投票"],
    folder_not_writable: [
        "数据文件夹 {path} 不是当前用户可以写入的文件夹",
        "请让运行竞技场的用户可以写入它：公开日志的最新检查点保存在那里，否则投票者得不到其票将进入日志的承诺；如果数据库也在那里，则无法记录投票",
    ],
    clock_plausible: ["看起来正确", ""],
    clock_before_program: ["显示的时间早于本程序的编写时间", CHINESE_CLOCK_ADVICE],
    clock_unlike_database: [
        "比数据库服务器快 {seconds} 秒（负数表示慢）；本站采用数据库的时间",
        "请校准两台机器的时钟，并用 NTP 保持准确（timedatectl set-ntp true）",
    ],
    clock_behind: [
        "比本站此前写下的时间落后 {seconds} 秒",
        "如果时钟现在不准，请校准，并用 NTP 保持准确（timedatectl set-ntp true）：投票和限流都以它计时；如果现在是准的，只是之前快了，则无需处理，{seconds} 秒后自行消失",
    ],
    proxy_not_needed: ["不需要", ""],
    proxy_trusted: ["已列明受信任的代理", ""],
    every_address_trusted: [
        "server.trusted_proxies 把所有地址都当作代理",
        "请只写你的代理所在的网络：否则任何访客都能冒用任意地址，绕过限流",
    ],
    no_proxy_trusted: [
        "server.public_url 指向代理，但没有受信任的代理",
        "请将 server.trusted_proxies 设为代理的地址：否则本站不知道访客的地址。代理在本机时，按地址的限流不起作用；代理在别处时，所有访客共用该地址的限额",
    ],
    no_public_url: [
        "本站在 {listen} 上监听，但没有设置 server.public_url",
        "请设置 server.public_url：否则只应答 IP 地址和 localhost，且没有 TLS",
    ],
    public_url_without_tls: [
        "server.public_url 没有 TLS",
        "请在前面放置带证书的代理（deploy/nginx），写成 https://，并在 server.trusted_proxies 中写明该代理",
    ],
    nothing_to_back_up: ["尚无备份，也没有投票可丢失", ""],
    no_backup: ["`langya backup` 尚未从此数据文件夹制作过备份", CHINESE_BACKUP_ADVICE],
    backup_old: ["最新的备份已有 {days} 天", CHINESE_BACKUP_ADVICE],
    backup_moved: ["{path} 已不在原处", "请确认它是被移走，而不是丢失"],
    backup_fresh: ["{hours} 小时前制作", ""],
    models_share_name: [
        "模型 {models} 的名称相同：{name}",
        "请在 [[models]] 下为每个模型设置不同的 \"name\"：否则投票后和排行榜上都无法区分它们",
    ],
    moderation_answers: ["{host} 有应答", ""],
    moderation_lets_through: ["{host} 没有应答（{reason}）：问题未经检查直接放行", CHINESE_MODERATION_ADVICE],
    moderation_refuses: ["{host} 没有应答（{reason}）：问题一律被拒绝", CHINESE_MODERATION_ADVICE],
    provider_answers: ["{name} 有应答，其密钥可读取", ""],
    public_log_current: ["凡是承诺过此时应已进入日志的票，都已在其中", ""],
    public_log_behind: [
        "缺少 {minutes} 分钟前投出的一票",
        "竞技场如已停止，请启动；如正在运行，其运行日志会写明为何无法写入公开日志，例如数据文件夹无法读写。在此之前，投票照常计入，但投票者得不到其票将进入日志的承诺",
    ],
    redis_answers: ["有应答，可写入", ""],
    redis_with_sqlite: [
        "设置了 redis.url，而数据库是只能由一个实例使用的 SQLite",
        "要运行多个实例，请把 storage.database 设为 PostgreSQL 的地址；只有一个实例时，请去掉 redis.url",
    ],
    instances_without_redis: [
        "有 {count} 个实例在运行本站，但没有设置 redis.url",
        "请为所有实例设置同一个 redis.url：否则每个实例各自计算限流，其他实例上的变化也显示得较晚",
    ],
    ..ENGLISH
};

const CHINESE_MODERATION_ADVICE: &str = "请用 `langya moderation check` 检查 moderation.base_url 及其模型和密钥";

const CHINESE_CLOCK_ADVICE: &str = "请校准时钟，并用 NTP 保持准确（timedatectl set-ntp true）：投票和限流都以它计时";

const CHINESE_BACKUP_ADVICE: &str = "请用 `langya backup --out DIR` 制作备份，并用定时器每天执行，保存到另一台机器上";
