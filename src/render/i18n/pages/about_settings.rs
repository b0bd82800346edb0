//! Texts of the rules about this arena's settings.

use crate::domain::rating::options::IntervalMethod;
use crate::i18n::fill;

/// The texts of one language.
pub struct ArenaTexts {
    pub heading: &'static str,
    /// Uniform, weighted, near ratings, active.
    policies: [&'static str; 4],
    /// Sentence for policies with a uniform share.
    uniform_share: &'static str,
    new_models: &'static str,
    pub pairs: &'static str,
    most_likely: &'static str,
    every_pair: &'static str,
    pub pairs_json: &'static str,
    pub chance: &'static str,
    pub method_heading: &'static str,
    method: &'static str,
    /// By voter, by vote, by voter's cluster, bootstrap, none.
    intervals: [&'static str; 5],
    pub rules_heading: &'static str,
    /// Exclude, mark, off.
    pub leaks: [&'static str; 3],
    /// Sentence on the model that checks battles for leaks.
    pub leak_judge: &'static str,
    /// Flagged voters are listed, or excluded.
    pub flagged_voters: [&'static str; 2],
    /// A moderation service checks prompts, or prompts and, after the vote, replies.
    pub moderation: [&'static str; 2],
    pub rules_link: &'static str,
    pub kept_heading: &'static str,
    pub kept_what: &'static str,
    pub kept_how_long: &'static str,
    votes: [&'static str; 2],
    texts: [&'static str; 2],
    texts_for_days: [&'static str; 2],
    open_battles: [&'static str; 2],
    cookie: [&'static str; 2],
    choices: [&'static str; 2],
    consent: [&'static str; 2],
    networks: [&'static str; 2],
    sign_ins: [&'static str; 2],
    log: [&'static str; 2],
    pub operator: &'static str,
    pub contact: &'static str,
    pub imprint: &'static str,
    pub privacy: &'static str,
}

/// Pairing policy in force, for the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairingInForce {
    /// All pairs with the same probability.
    Uniform,
    /// By weight.
    Weighted,
    /// Preference for similar ratings.
    Near {
        /// Rating points at which a pair is e times rarer.
        width: f64,
        /// Share of battles drawn uniformly.
        uniform_share: f64,
    },
    /// Preference for pairs where one more vote adds the most information.
    Active {
        /// Share of battles drawn uniformly.
        uniform_share: f64,
    },
}

/// Settings in force that affect stored data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageInForce {
    /// Minutes after which a battle without a vote is abandoned.
    pub abandon_after_minutes: u64,
    /// Days until a sign-in expires, if visitors sign in.
    pub sign_in_days: Option<u32>,
    /// Whether networks are counted.
    pub counts_networks: bool,
    /// Days after which questions and replies are deleted.
    pub text_days: Option<u32>,
}

impl ArenaTexts {
    /// Describes the pairing policy.
    pub fn pairing(&self, pairing: PairingInForce, new_votes: u64, boost: f64) -> String {
        let share = |share: f64| fill(self.uniform_share, &[("share", &format!("{:.0}", 100.0 * share))]);
        let drawn = match pairing {
            PairingInForce::Uniform => self.policies[0].to_owned(),
            PairingInForce::Weighted => self.policies[1].to_owned(),
            PairingInForce::Near { width, uniform_share } => {
                fill(self.policies[2], &[("width", &width.to_string())]) + &share(uniform_share)
            }
            PairingInForce::Active { uniform_share } => self.policies[3].to_owned() + &share(uniform_share),
        };
        if boost <= 1.0 || new_votes == 0 {
            return drawn;
        }
        drawn + &fill(self.new_models, &[("votes", &new_votes.to_string()), ("boost", &boost.to_string())])
    }

    /// Formats the number of displayed pairs.
    pub fn most_likely(&self, shown: usize, all: usize) -> String {
        if shown == all {
            return self.every_pair.to_owned();
        }
        fill(self.most_likely, &[("shown", &shown.to_string()), ("all", &all.to_string())])
    }

    /// Describes the method of the ratings.
    pub fn method(&self, confidence: f64, interval: IntervalMethod, min_votes: u64) -> String {
        let interval = match interval {
            IntervalMethod::Auto | IntervalMethod::Jackknife => self.intervals[0],
            IntervalMethod::Sandwich => self.intervals[1],
            IntervalMethod::Cluster => self.intervals[2],
            IntervalMethod::Bootstrap => self.intervals[3],
            IntervalMethod::None => self.intervals[4],
        };
        let percent = format!("{:.1}", 100.0 * confidence);
        let percent = percent.trim_end_matches(".0");
        let interval = fill(interval, &[("confidence", percent)]);
        fill(self.method, &[("interval", &interval), ("votes", &min_votes.to_string())])
    }

    /// Describes stored data and its retention.
    pub fn kept(&self, storage: StorageInForce) -> Vec<[String; 2]> {
        let minutes = storage.abandon_after_minutes.to_string();
        let days = storage.sign_in_days.unwrap_or_default().to_string();
        let text_days = storage.text_days.unwrap_or_default().to_string();
        let row = |texts: [&str; 2]| {
            texts.map(|text| fill(text, &[("minutes", &minutes), ("days", &days), ("text_days", &text_days)]))
        };
        let texts = if storage.text_days.is_some() { self.texts_for_days } else { self.texts };
        let always = [self.votes, texts, self.open_battles, self.cookie, self.choices, self.consent];
        let networks = storage.counts_networks.then_some(self.networks);
        let sign_ins = storage.sign_in_days.is_some().then_some(self.sign_ins);
        always.into_iter().chain(networks).chain(sign_ins).chain([self.log]).map(row).collect()
    }
}

pub(super) const ENGLISH: ArenaTexts = ArenaTexts {
    heading: "In force today",
    policies: [
        "All pairs of models are equally likely.",
        "The probability of a pair is proportional to the product of its models’ weights.",
        "Models with similar ratings meet more often: a pair whose ratings differ by {width} points is 2.7 times rarer than a pair with equal ratings.",
        "The probability of a pair is proportional to how much one more vote would narrow its interval.",
    ],
    uniform_share: " For {share} % of battles, every pair is equally likely, so that every pair occurs.",
    new_models: " Until a model has {votes} rated {votes:vote|votes}, its weight counts {boost} {boost:time|times}.",
    pairs: "Probability of each pair today",
    most_likely: "The {shown} most likely of {all} pairs, while every model answers.",
    every_pair: "Every pair, while every model answers.",
    pairs_json: "All pairs as JSON",
    chance: "Probability",
    method_heading: "Method",
    method: "Bradley–Terry by maximum likelihood; a tie and “both are bad” count as half a win for each side. {interval} A model with fewer than {votes} rated {votes:vote|votes} is called provisional. Elo, shown beside it, starts at 1000 and uses K = 4.",
    intervals: [
        "{confidence} % intervals by leaving out one voter at a time.",
        "{confidence} % intervals by the sandwich formula.",
        "{confidence} % intervals by the sandwich formula, clustered by voter.",
        "{confidence} % intervals by resampling.",
        "No intervals are computed.",
    ],
    rules_heading: "Rules that keep a vote out of the ratings",
    leaks: [
        "In this arena, a vote on a battle that was not blind is kept and not rated.",
        "In this arena, a vote on a battle that was not blind is rated and marked.",
        "In this arena, replies are not searched for names of models.",
    ],
    leak_judge: "After the vote, the conversation of each rated battle is sent to the provider of the model {model}, which does not learn who asked or how the vote went. This model checks whether a text reveals which model wrote it. If so, the vote on that battle is excluded too; the operator can withdraw the exclusion.",
    flagged_voters: [
        "Voters whose votes are statistically unusual are listed for the operator; the program does not exclude anybody for this.",
        "Votes from voters whose votes are statistically unusual are excluded automatically until the operator readmits them.",
    ],
    moderation: [
        "Each question is sent to a moderation service at {host} before any model gets it. The service does not learn who asks or which models answer. A question that it refuses does not start a battle; the operator reviews those that it flags.",
        "Each question is sent to a moderation service at {host} before any model gets it, and so are the replies of a battle after its vote. The service does not learn who asks or which models answer. A question that it refuses does not start a battle; the operator reviews what it flags.",
    ],
    rules_link: "All exclusions with their reasons",
    kept_heading: "What is stored, and how long",
    kept_what: "What",
    kept_how_long: "How long",
    votes: [
        "Your vote: the models, the outcome, times and counts, under a pseudonym",
        "Permanently: votes are never changed or deleted",
    ],
    texts: ["Your questions and the replies", "Until you delete them under “My battles”, or the operator does"],
    texts_for_days: [
        "Your questions and the replies",
        "{text_days} {text_days:day|days}, unless you delete them earlier under “My battles”, or the operator does; your vote stays",
    ],
    open_battles: [
        "A battle without a vote",
        "Counts as abandoned after {minutes} {minutes:minute|minutes} and is then kept like any other",
    ],
    cookie: ["A random number in a cookie, from your first battle on", "180 days in your browser"],
    choices: [
        "Your choices of language, colours and keys",
        "In your browser, for a year at most or until you clear them",
    ],
    consent: ["Your agreement to this text: which version and when, under the same pseudonym", "Permanently"],
    networks: ["A pseudonym of your network, to enforce limits", "At most one day"],
    sign_ins: ["That you signed in", "{days} {days:day|days}"],
    log: ["The server’s log", "Contains no question, reply or address"],
    operator: "Who runs this arena",
    contact: "Contact",
    imprint: "Imprint",
    privacy: "Privacy",
};

pub(super) const CHINESE: ArenaTexts = ArenaTexts {
    heading: "当前规则",
    policies: [
        "所有模型组合的机会相同。",
        "组合出现的机会与两个模型权重之积成正比。",
        "评分相近的模型更常相遇：评分相差 {width} 分的组合，出现的机会是评分相同组合的 1/2.7。",
        "组合出现的机会与再多一票能使区间缩小多少成正比。",
    ],
    uniform_share: "其中 {share} % 的对战从所有组合中等概率抽取，因此每种组合都会出现。",
    new_models: "模型在获得 {votes} 张有效票之前，其权重按 {boost} 倍计。",
    pairs: "今日各组合的概率",
    most_likely: "全部 {all} 种组合中概率最高的 {shown} 种（假定所有模型均可作答）。",
    every_pair: "全部组合（假定所有模型均可作答）。",
    pairs_json: "全部组合（JSON）",
    chance: "概率",
    method_heading: "评分方法",
    method: "以极大似然法拟合 Bradley–Terry 模型；平局和“都不好”各计半场胜利。{interval}有效票少于 {votes} 张的模型标为暂定。另列 Elo，K = 4，起始分 1000。",
    intervals: [
        "{confidence} % 区间由逐一剔除投票者得出。",
        "{confidence} % 区间由夹心公式得出。",
        "{confidence} % 区间由按投票者聚类的夹心公式得出。",
        "{confidence} % 区间由重抽样得出。",
        "不计算区间。",
    ],
    rules_heading: "哪些票不计入评分",
    leaks: [
        "本站对泄露模型身份的对战，其投票保留但不计入评分。",
        "本站对泄露模型身份的对战，其投票计入评分并加以标记。",
        "本站不检查回答中是否出现模型名称。",
    ],
    leak_judge: "投票之后，每场计入评分的对战，其对话会发送给模型 {model} 的服务商；对方不知道是谁提问，也不知道投票结果。该模型判断是否有文字泄露模型身份；若有，相应的投票也会被排除，运营者可以撤销。",
    flagged_voters: [
        "投票方式与众不同的投票者只会列给运营者查看，程序不会因此排除任何人。",
        "投票方式与众不同的投票者，其投票由程序排除，直至运营者恢复。",
    ],
    moderation: [
        "每个问题在交给模型之前，会先发送给位于 {host} 的审核服务；该服务不知道是谁提问，也不知道由哪些模型回答。被它拒绝的问题不会开始对战，被它标记的问题由运营者查看。",
        "每个问题在交给模型之前，会先发送给位于 {host} 的审核服务；对战的回答在投票之后也会发送。该服务不知道是谁提问，也不知道由哪些模型回答。被它拒绝的问题不会开始对战，被它标记的内容由运营者查看。",
    ],
    rules_link: "全部排除记录及其理由",
    kept_heading: "保存哪些内容，保存多久",
    kept_what: "内容",
    kept_how_long: "期限",
    votes: ["你的投票：模型、结果、时间和计数，以化名保存", "永久：投票不会被更改或删除"],
    texts: ["你的提问和模型的回答", "直到你在“我的对战”中删除，或由运营者删除"],
    texts_for_days: ["你的提问和模型的回答", "保留 {text_days} 天，除非你在“我的对战”中或运营者提前删除；投票会保留"],
    open_battles: ["未投票的对战", "{minutes} 分钟后视为放弃，此后与其他对战一样保存"],
    cookie: ["cookie 中的一个随机数（自第一场对战起）", "在你的浏览器中保存 180 天"],
    choices: ["你选择的语言、配色和快捷键", "保存在你的浏览器中，最长一年，可随时清除"],
    consent: ["你同意本说明的记录：版本和时间，以同一化名保存", "永久"],
    networks: ["你所在网络的化名，用于限制次数", "最长一天"],
    sign_ins: ["你的登录状态", "{days} 天"],
    log: ["服务器日志", "不含提问、回答或地址"],
    operator: "谁在运营本站",
    contact: "联系方式",
    imprint: "网站信息",
    privacy: "隐私政策",
};
