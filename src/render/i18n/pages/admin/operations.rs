//! Texts of the page of jobs, health and instances.

use std::borrow::Borrow;
use std::time::Duration;

/// The texts of one language.
pub struct OperationTexts {
    pub title: &'static str,
    pub checks: &'static str,
    pub checks_lead: &'static str,
    pub check: &'static str,
    pub result: &'static str,
    /// Ok, warning, error.
    pub results: [&'static str; 3],
    pub found: &'static str,
    pub advice: &'static str,
    pub jobs: &'static str,
    pub jobs_lead: &'static str,
    pub job: &'static str,
    pub state: &'static str,
    pub running: &'static str,
    pub waiting: &'static str,
    pub down: &'static str,
    pub restarted: &'static str,
    pub last_run: &'static str,
    pub took: &'static str,
    pub next_run: &'static str,
    pub last_error: &'static str,
    pub at_an_event: &'static str,
    pub instances: &'static str,
    pub instances_lead: &'static str,
    pub alone: &'static str,
    pub instance: &'static str,
    pub this_one: &'static str,
    pub since: &'static str,
    pub seen: &'static str,
    pub settings: &'static str,
    pub same: &'static str,
    pub different: &'static str,
    pub redis: &'static str,
    /// Not configured, connected, connection lost.
    pub redis_states: [&'static str; 3],
    ago: &'static str,
    within: &'static str,
    /// Milliseconds, seconds, minutes, hours, days.
    units: [&'static str; 5],
    /// Descriptions of jobs by name.
    job_duties: [(&'static str, &'static str); 24],
}

impl OperationTexts {
    /// Description of a job; empty if unknown.
    pub fn duty(&self, job: &str) -> &'static str {
        self.job_duties.iter().find(|(known, _)| *known == job).map_or("", |(_, text)| text)
    }

    /// Formats a time span in its largest unit.
    pub fn span(&self, span: impl Borrow<Duration>) -> String {
        let span = span.borrow();
        let seconds = span.as_secs();
        let (number, unit) = match seconds {
            0 => (u64::from(span.subsec_millis()), 0),
            1..120 => (seconds, 1),
            120..7_200 => (seconds / 60, 2),
            7_200..172_800 => (seconds / 3_600, 3),
            _ => (seconds / 86_400, 4),
        };
        format!("{number} {}", self.units[unit])
    }

    /// Formats a time span in the past.
    pub fn ago(&self, span: impl Borrow<Duration>) -> String {
        self.ago.replace("{span}", &self.span(span))
    }

    /// Formats a time limit.
    pub fn within(&self, span: impl Borrow<Duration>) -> String {
        self.within.replace("{span}", &self.span(span))
    }
}

pub(super) const ENGLISH: OperationTexts = OperationTexts {
    title: "Operations",
    checks: "Health",
    checks_lead: "What langya doctor reports about this arena right now. Models are not tested here, because that costs money.",
    check: "Check",
    result: "Result",
    results: ["ok", "warning", "wrong"],
    found: "Found",
    advice: "What to do",
    jobs: "Background jobs",
    jobs_lead: "Jobs of this instance since its start. Work that must be done only once is done by the leader instance.",
    job: "Job",
    state: "State",
    running: "running",
    waiting: "waiting",
    down: "restarts after a panic",
    restarted: "restarted after a panic",
    last_run: "Last run",
    took: "Took",
    next_run: "Next run",
    last_error: "Last error",
    at_an_event: "when there is work",
    instances: "Instances",
    instances_lead: "Every instance that serves this database, and when it last reported.",
    alone: "This is the only instance, because the database is embedded.",
    instance: "Instance",
    this_one: "this one",
    since: "Since",
    seen: "Last seen",
    settings: "Settings",
    same: "same as here",
    different: "different from here",
    redis: "Redis",
    redis_states: [
        "not used",
        "connected",
        "lost: live updates are delayed, and each instance enforces limits on its own",
    ],
    ago: "{span} ago",
    within: "within {span}",
    units: ["ms", "s", "min", "h", "d"],
    job_duties: [
        ("abandon_battles", "ends abandoned battles"),
        ("append_public_log", "appends votes to the public log"),
        ("ask_witnesses", "has witnesses sign the public log"),
        ("check_leaks", "has a model look for leaks in voted battles"),
        ("check_voters", "tests voters, and excludes flagged ones where the settings say so"),
        ("compute_correlations", "computes the correlations"),
        ("compute_robustness", "computes how robust the leaderboard is"),
        ("connect_redis", "keeps the connection to Redis"),
        ("create_partitions", "creates the partitions of the next months"),
        ("delete_expired_texts", "deletes texts that are older than the settings allow"),
        ("digest_questions", "recognises questions that were asked before"),
        ("elect_leader", "takes part in leader election"),
        ("fit_leaderboard", "fits the leaderboard"),
        ("follow_settings", "reloads an edited settings file"),
        ("follow_sign_outs", "closes the connections of people who were signed out"),
        ("handle_messages", "answers what other instances ask"),
        ("judge_battles", "has judge models judge battles"),
        ("probe_models", "checks with a short question whether models that failed on visitors' questions still answer"),
        ("record_model_changes", "records changes of models"),
        ("run_metrics_upkeep", "keeps the memory of metrics bounded"),
        ("run_plans", "runs the plan of benchmarks"),
        ("send_heartbeats", "sends the heartbeat of this instance"),
        ("send_webhooks", "sends messages to webhooks"),
        ("store_breakers", "stores the states of circuit breakers"),
    ],
};

pub(super) const CHINESE: OperationTexts = OperationTexts {
    title: "运行状况",
    checks: "健康检查",
    checks_lead: "langya doctor 此刻对本站的检查结果。此处不会询问模型，因为那会产生费用。",
    check: "检查项",
    result: "结果",
    results: ["正常", "警告", "有问题"],
    found: "现状",
    advice: "处理办法",
    jobs: "后台任务",
    jobs_lead: "本实例自启动以来的任务。只需执行一次的工作由主实例完成。",
    job: "任务",
    state: "状态",
    running: "运行中",
    waiting: "等待中",
    down: "崩溃后正在重启",
    restarted: "崩溃后已重启",
    last_run: "上次运行",
    took: "用时",
    next_run: "下次运行",
    last_error: "最近的错误",
    at_an_event: "有工作时",
    instances: "实例",
    instances_lead: "为此数据库提供服务的所有实例及其最近的活动时间。",
    alone: "这是唯一的实例：使用的是内嵌数据库。",
    instance: "实例",
    this_one: "本实例",
    since: "启动时间",
    seen: "最近活动",
    settings: "设置",
    same: "与本实例相同",
    different: "与本实例不同",
    redis: "Redis",
    redis_states: ["未使用", "已连接", "已断开：实时更新会延迟，各实例分别限流"],
    ago: "{span}前",
    within: "{span}内",
    units: ["毫秒", "秒", "分钟", "小时", "天"],
    job_duties: [
        ("abandon_battles", "结束无人继续的对战"),
        ("append_public_log", "将投票写入公开日志"),
        ("ask_witnesses", "请见证方签署公开日志"),
        ("check_leaks", "让模型检查已投票对战是否泄露身份"),
        ("check_voters", "检验投票者；设置允许时排除被标记者的投票"),
        ("compute_correlations", "计算相关性"),
        ("compute_robustness", "计算排行榜的稳固程度"),
        ("connect_redis", "保持与 Redis 的连接"),
        ("create_partitions", "创建未来几个月的分区"),
        ("delete_expired_texts", "删除超过保留期限的内容"),
        ("digest_questions", "识别相同的问题"),
        ("elect_leader", "确定哪个实例为主实例"),
        ("fit_leaderboard", "拟合排行榜"),
        ("follow_settings", "采用修改后的设置文件"),
        ("follow_sign_outs", "断开已退出登录者的连接"),
        ("handle_messages", "回应其他实例的询问"),
        ("judge_battles", "让裁判模型评判对战"),
        ("probe_models", "用一个简短的问题确认在访客提问下出错的模型能否作答"),
        ("record_model_changes", "记录模型的变更"),
        ("run_metrics_upkeep", "限制指标占用的内存"),
        ("run_plans", "运行评测计划"),
        ("send_heartbeats", "向其他实例表明本实例在运行"),
        ("send_webhooks", "通知 webhook"),
        ("store_breakers", "保存哪些模型因失败而暂停"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_shown_in_the_largest_unit_that_it_fills() {
        for (seconds, expected) in
            [(0.25, "250 ms"), (119.9, "119 s"), (120.0, "2 min"), (7_200.0, "2 h"), (2e5, "2 d")]
        {
            assert_eq!(ENGLISH.span(Duration::from_secs_f64(seconds)), expected);
        }
        assert_eq!(
            (ENGLISH.ago(Duration::ZERO), CHINESE.within(Duration::from_secs(30))),
            ("0 ms ago".into(), "30 秒内".into())
        );
    }
}
