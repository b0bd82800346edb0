//! The feed of the leaderboard.

/// Its texts.
pub struct FeedTexts {
    pub subtitle: &'static str,
    pub entry: &'static str,
    pub joined: &'static str,
    pub moved: &'static str,
    pub left: &'static str,
}

pub(super) const ENGLISH: FeedTexts = FeedTexts {
    subtitle: "One entry for each day on which ranks changed. The latest entry is updated as that day's votes come in.",
    entry: "Ranks on {date}, after {votes} {votes:vote|votes}",
    joined: "{model}: new, rank {to}",
    moved: "{model}: rank {from} → {to}",
    left: "{model}: no longer on the leaderboard",
};

pub(super) const CHINESE: FeedTexts = FeedTexts {
    subtitle: "名次发生变化的日子。最新一条会随当天的投票更新。",
    entry: "{date} 的名次（共 {votes} 张有效票）",
    joined: "{model}：新上榜，第 {to} 名",
    moved: "{model}：第 {from} 名 → 第 {to} 名",
    left: "{model}：不再上榜",
};
