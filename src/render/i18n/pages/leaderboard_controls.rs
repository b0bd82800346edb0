//! Texts of a leaderboard's controls, and explanations of its numbers.

use crate::i18n::fill;

/// Their texts.
pub struct LeaderboardControlTexts {
    pub search: &'static str,
    pub find: &'static str,
    pub clear: &'static str,
    pub chips: &'static str,
    pub tabs: &'static str,
    pub more_choices: &'static str,
    pub open: &'static str,
    pub closed: &'static str,
    pub shown: &'static str,
    pub none_shown: &'static str,
    pub record: &'static str,
    pub won: &'static str,
    pub tied: &'static str,
    pub lost: &'static str,
    pub both_bad: &'static str,
    /// Between the numbers of a record.
    pub comma: &'static str,
    pub downloads: &'static str,
    pub meaning: &'static str,
    pub not_apart: &'static str,
    /// Label of a default option.
    pub off: &'static str,
    pub ties_half: &'static str,
    pub rated_votes: &'static str,
}

impl LeaderboardControlTexts {
    /// Formats the number of displayed models.
    pub fn shown(&self, shown: usize, all: usize) -> String {
        fill(self.shown, &[("shown", &shown.to_string()), ("all", &all.to_string())])
    }

    /// Formats a model's numbers of wins, ties, losses and both-bad votes.
    pub fn record(&self, [won, tied, lost, both_bad]: [u64; 4]) -> String {
        let parts = [(self.won, won), (self.tied, tied), (self.lost, lost), (self.both_bad, both_bad)];
        parts.map(|(word, count)| format!("{word} {count}")).join(self.comma)
    }

    /// Explains the ratings of the first two models: `expected` wins in 100 battles.
    pub fn meaning(&self, [first, second]: [&str; 2], expected: &str, apart: bool) -> String {
        let meaning = fill(self.meaning, &[("first", first), ("second", second), ("n", expected)]);
        if apart { meaning } else { meaning + self.not_apart }
    }
}

pub(super) const ENGLISH: LeaderboardControlTexts = LeaderboardControlTexts {
    search: "Find a model, maker or licence",
    find: "Find",
    clear: "Show all models",
    chips: "Show only",
    tabs: "Slices of the votes",
    more_choices: "More ways to count",
    open: "Open licence",
    closed: "Not open",
    shown: "{shown} of {all} models; ranks and ratings are those among all.",
    none_shown: "No model matches this choice.",
    record: "Record",
    won: "won",
    tied: "tied",
    lost: "lost",
    both_bad: "both bad",
    comma: ", ",
    downloads: "Download",
    meaning: "In 100 battles between {first} and {second}, {first} is expected to be preferred in {n}. A lead of 100 points means 64.",
    not_apart: " The votes so far do not tell the two apart.",
    off: "Off",
    ties_half: "Half a win each",
    rated_votes: "Rated votes",
};

pub(super) const CHINESE: LeaderboardControlTexts = LeaderboardControlTexts {
    search: "查找模型、机构或许可证",
    find: "查找",
    clear: "显示全部模型",
    chips: "只看",
    tabs: "按选票范围查看",
    more_choices: "更多统计方式",
    open: "开放许可",
    closed: "非开放",
    shown: "显示 {all} 个模型中的 {shown} 个；名次和评分仍按全部模型计算。",
    none_shown: "没有符合条件的模型。",
    record: "战绩",
    won: "胜",
    tied: "平局",
    lost: "负",
    both_bad: "都不好",
    comma: "，",
    downloads: "下载",
    meaning: "{first} 与 {second} 每对战 100 场，预计有 {n} 场更偏好 {first}。领先 100 分，相当于 100 场中约 64 场更受偏好。",
    not_apart: "目前的投票还不足以区分这两个模型。",
    off: "关",
    ties_half: "各计半胜",
    rated_votes: "有效票",
};
