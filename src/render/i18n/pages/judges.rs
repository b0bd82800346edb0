//! Texts of the page of judges on the arena's own battles.

use super::slice_names::SliceTexts;
use crate::domain::battle_judging::agreement::{MissingReason, SliceKind, UNKNOWN_DISTANCE};
use crate::domain::rating::votes::slice::SliceColumn;
use crate::domain::stats::{SeriesSide, Undefined};

/// The texts of one language.
pub struct JudgesTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub nothing: &'static str,
    pub judge: &'static str,
    pub instructions: &'static str,
    pub latest: &'static str,
    pub judged: &'static str,
    pub consistent: &'static str,
    pub first_position: &'static str,
    pub second_position: &'static str,
    pub one_tie: &'static str,
    pub worth: &'static str,
    pub worth_said: &'static str,
    pub by_other_prompts: &'static str,
    pub own_battles: &'static str,
    pub agreement: &'static str,
    pub agreement_reading: &'static str,
    pub agreement_heads: [&'static str; 5],
    pub all: &'static str,
    pub language: &'static str,
    pub category: &'static str,
    pub intent: &'static str,
    pub first_turn: &'static str,
    pub several_turns: &'static str,
    pub distance: &'static str,
    pub unknown_distance: &'static str,
    pub leaderboards: &'static str,
    pub leaderboards_reading: &'static str,
    pub leaderboard_heads: [&'static str; 5],
    pub bound: &'static str,
    pub spearman: &'static str,
    pub kendall: &'static str,
    pub otherwise: &'static str,
    pub unbounded: &'static str,
    pub between: &'static str,
    pub between_reading: &'static str,
    pub between_heads: [&'static str; 5],
    /// Says why a statistic has no value.
    pub missing: fn(MissingReason) -> String,
}

impl JudgesTexts {
    /// Display name of a slice of the battles.
    pub fn part(&self, by: SliceKind, value: &str, slices: &SliceTexts) -> String {
        let labelled = |label: &str, column| label.replace("{name}", slices.of(column, value));
        match (by, value) {
            (SliceKind::Language, _) => labelled(self.language, SliceColumn::Language),
            (SliceKind::Category, _) => labelled(self.category, SliceColumn::Category),
            (SliceKind::Intent, _) => labelled(self.intent, SliceColumn::Intent),
            (SliceKind::Turns, "first") => self.first_turn.to_owned(),
            (SliceKind::Turns, _) => self.several_turns.to_owned(),
            (SliceKind::Distance, UNKNOWN_DISTANCE) => self.unknown_distance.to_owned(),
            (SliceKind::Distance, _) => self.distance.replace("{n}", value),
        }
    }
}

pub(super) const ENGLISH: JudgesTexts = JudgesTexts {
    title: "Judges and people",
    lead: "Some battles are shown to judge models after the vote, in both orders of the sides. A judge's verdict names a better side only if it prefers that side in both orders; otherwise it is a tie. Intervals are at the leaderboard's confidence level.",
    nothing: "No battle has been judged yet.",
    judge: "Judge",
    instructions: "Instructions",
    latest: "Latest verdict",
    judged: "Battles read in both orders",
    consistent: "Both orders say the same",
    first_position: "Otherwise, the first position wins",
    second_position: "Otherwise, the second position wins",
    one_tie: "Otherwise, one of the orders is a tie",
    worth: "Worth in votes",
    worth_said: "verdicts on every battle would make the ratings as precise as {times} times as many votes",
    by_other_prompts: "{n} {n:battle was|battles were} judged with other instructions and {n:is|are} not counted.",
    own_battles: "The judge itself took part in {n} {n:battle|battles} of these, and may favour its own replies.",
    agreement: "Agreement with people",
    agreement_reading: "The share of battles on which judge and voter agree: over all battles, ties included, and over those where both prefer a side. Kappa is the agreement beyond chance. “Points apart” is the distance of the two models on the leaderboard.",
    agreement_heads: ["Battles of", "Number", "Agree", "Without ties", "Kappa"],
    all: "all kinds",
    language: "Language: {name}",
    category: "Category: {name}",
    intent: "Intent: {name}",
    first_turn: "One turn",
    several_turns: "Several turns",
    distance: "{n} points apart",
    unknown_distance: "Distance not known",
    leaderboards: "Two leaderboards of the same battles",
    leaderboards_reading: "Fitted on the votes, and on the judge's verdicts.",
    leaderboard_heads: ["Model", "Rank by votes", "Rating by votes", "Rank by verdicts", "Rating by verdicts"],
    bound: "a bound",
    spearman: "Spearman's correlation of the ratings: {value}",
    kendall: "Kendall's: {value}",
    otherwise: "Pairs of models in a different order: {n} of {all}.",
    unbounded: "These numbers leave out {n} {n:model that only won or only lost: its rating is a bound|models that only won or only lost: their ratings are bounds}.",
    between: "Agreement between judges",
    between_reading: "On the battles that both have judged.",
    between_heads: ["Judges", "Battles", "Agree", "Without ties", "Kappa"],
    missing: |reason| reason.to_string(),
};

pub(super) const CHINESE: JudgesTexts = JudgesTexts {
    title: "裁判与人类投票",
    lead: "部分对战在投票之后交给裁判模型，交换左右次序各看一遍。两次都偏向同一方，才算裁判选了这一方；两次不一致，记为平局。区间的置信水平与排行榜相同。",
    nothing: "还没有评判过任何对战。",
    judge: "裁判",
    instructions: "评判说明",
    latest: "最近一次评判",
    judged: "两种次序都读到结论的对战",
    consistent: "两种次序结论一致",
    first_position: "不一致时偏向先出现的一方",
    second_position: "不一致时偏向后出现的一方",
    one_tie: "不一致时有一次判为平局",
    worth: "折合选票",
    worth_said: "每场都判一次，相当于 {times} 倍的选票",
    by_other_prompts: "另有 {n} 场对战按别的评判说明评判，未计入。",
    own_battles: "其中 {n} 场对战裁判自己也参加，可能偏向自己的回答。",
    agreement: "与人类投票的一致程度",
    agreement_reading: "裁判与投票者说法相同的对战所占比例：先把平局也算作一种回答，再只看双方都分出高下的对战。Kappa 是除去偶然之后的一致程度。“相差分数”指两个模型在排行榜上的距离。",
    agreement_heads: ["哪些对战", "场数", "一致", "不计平局", "Kappa"],
    all: "全部",
    language: "语言：{name}",
    category: "类别：{name}",
    intent: "意图：{name}",
    first_turn: "单轮",
    several_turns: "多轮",
    distance: "相差 {n} 分",
    unknown_distance: "距离未知",
    leaderboards: "同一批对战的两份榜单",
    leaderboards_reading: "一份按投票拟合，一份按裁判的结论拟合。",
    leaderboard_heads: ["模型", "按投票的名次", "按投票的评分", "按裁判的名次", "按裁判的评分"],
    bound: "仅为界限",
    spearman: "两份评分的 Spearman 相关：{value}",
    kendall: "Kendall 相关：{value}",
    otherwise: "次序不同的模型对：{all} 对中有 {n} 对。",
    unbounded: "以上数字不含 {n} 个只胜或只负的模型：它们的评分只是界限。",
    between: "裁判之间",
    between_reading: "只看两位裁判都评判过的对战。",
    between_heads: ["裁判", "场数", "一致", "不计平局", "Kappa"],
    missing: chinese_reason,
};

fn chinese_reason(reason: MissingReason) -> String {
    let series = |side: SeriesSide| if side == SeriesSide::First { "第一列" } else { "第二列" };
    let undefined = match reason {
        MissingReason::SeparateGroups(groups) => {
            return format!("目前评判过的对战把模型分成 {groups} 组，组与组之间无法比较");
        }
        MissingReason::Undefined(undefined) => undefined,
    };
    match undefined {
        Undefined::TooFew { found, needed } => format!("需要 {needed} 个值，只有 {found} 个"),
        Undefined::Lengths { x, y } => format!("两列分别有 {x} 个和 {y} 个值，个数不同"),
        Undefined::Constant(side) => format!("{}的值全部相同", series(side)),
        Undefined::NotFinite(side) => format!("{}含有无穷大或非数值", series(side)),
        Undefined::Perfect => "完全相关，无法估计区间的宽度".to_owned(),
        Undefined::NoVariation => "所有评判都相同，仅凭偶然也会同样一致".to_owned(),
        Undefined::MeanNotPositive => "均值不是正数".to_owned(),
        Undefined::NoSpread => "所有重抽样都得到同一个数，看不出不确定的程度".to_owned(),
        Undefined::Nothing => "没有可以比较的内容".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::slice_names;
    use super::*;

    #[test]
    fn a_part_has_the_name_that_the_leaderboard_gives_it() {
        let english = |by, value| ENGLISH.part(by, value, &slice_names::ENGLISH);
        let chinese = |by, value| CHINESE.part(by, value, &slice_names::CHINESE);
        assert_eq!(english(SliceKind::Intent, "factual_qa"), "Intent: Factual QA");
        assert_eq!(chinese(SliceKind::Intent, "factual_qa"), "意图：信息检索");
        assert_eq!(chinese(SliceKind::Language, "English"), "语言：英语");
        assert_eq!(chinese(SliceKind::Category, "my own"), "类别：my own");
        assert_eq!(chinese(SliceKind::Distance, "100-200"), "相差 100-200 分");
    }

    #[test]
    fn a_missing_statistic_says_why_in_the_language_of_the_page() {
        let every = [
            Undefined::TooFew { found: 1, needed: 3 },
            Undefined::Constant(SeriesSide::Second),
            Undefined::NoVariation,
            Undefined::Nothing,
        ];
        for reason in every.map(MissingReason::Undefined).into_iter().chain([MissingReason::SeparateGroups(2)]) {
            assert_eq!((ENGLISH.missing)(reason), reason.to_string());
            let chinese = (CHINESE.missing)(reason);
            assert!(!chinese.contains(|letter: char| letter.is_ascii_alphabetic()), "{chinese}");
        }
    }
}
