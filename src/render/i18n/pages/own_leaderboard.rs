//! A visitor's own leaderboard.

/// Its texts.
pub struct OwnLeaderboardTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub crowd: &'static str,
    pub no_crowd: &'static str,
    pub model: &'static str,
    pub share: &'static str,
    pub battles: &'static str,
    pub wins: &'static str,
    pub even: &'static str,
    pub losses: &'static str,
}

pub(super) const ENGLISH: OwnLeaderboardTexts = OwnLeaderboardTexts {
    title: "My leaderboard",
    lead: "Your rated votes, model by model: {votes} in all. Ties and “both bad” count half.",
    crowd: "On average, {share} of other people’s votes on the same two models agree with yours ({votes} of your votes are on pairs with at least ten votes from others).",
    no_crowd: "No pair that you voted on has ten votes of other people yet, so there is nothing to compare yours with.",
    model: "Model",
    share: "Share of points",
    battles: "Battles",
    wins: "Won",
    even: "Tie or both bad",
    losses: "Lost",
};

pub(super) const CHINESE: OwnLeaderboardTexts = OwnLeaderboardTexts {
    title: "我的榜单",
    lead: "按模型统计你的 {votes} 张有效票；平局和“都不好”各计一半。",
    crowd: "对同样的两个模型，其他人的投票平均有 {share} 与你一致（你有 {votes} 张票所在的模型组合至少有十张其他人的票）。",
    no_crowd: "你投过票的模型组合都还没有十张其他人的票，暂时无法比较。",
    model: "模型",
    share: "得分率",
    battles: "对战",
    wins: "胜",
    even: "平局或都不好",
    losses: "负",
};
