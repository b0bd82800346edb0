//! Texts of the page of excluded votes.

use std::borrow::Cow;
use std::str::FromStr;

use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::i18n::fill;

/// The texts of one language.
pub struct ExclusionTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub none: &'static str,
    pub caption: &'static str,
    pub vote: &'static str,
    pub rule: &'static str,
    pub reason: &'static str,
    pub excluded: &'static str,
    pub withdrawn: &'static str,
    pub in_force: &'static str,
    pub older: &'static str,
    pub newest: &'static str,
    pub rules_heading: &'static str,
    /// Display names of the rules, in the order of [`ExclusionRule::ALL`].
    names: [&'static str; ExclusionRule::ALL.len()],
    /// Descriptions of the rules.
    rules: [&'static str; ExclusionRule::ALL.len()],
    other_rule: &'static str,
    /// Translates a reason written by the program; `None` if it is shown as stored.
    translated_reason: fn(&str) -> Option<String>,
    pub fold_title: &'static str,
    fold_none: &'static str,
    /// `{excluded}` and `{read}` are filled in.
    fold_some: &'static str,
    pub fold_votes: &'static str,
    /// `{ranks}` and `{points}` are filled in.
    effect: &'static str,
    pub list: &'static str,
    pub counted: &'static str,
    pub with_excluded: &'static str,
    pub unique_prompts: &'static str,
    pub change_heading: &'static str,
    /// `{before}`, `{after}`, `{ranks}` and `{models}` are filled in.
    change: &'static str,
    /// `{points}` is filled in.
    largest: &'static str,
    pub change_caption: &'static str,
    pub model: &'static str,
    pub rank: &'static str,
    pub rating: &'static str,
    pub battles: &'static str,
    pub rated_leaderboard: &'static str,
    pub selected_leaderboard: &'static str,
}

impl ExclusionTexts {
    /// Description of a rule; a generic one for a name that this version does not know.
    pub fn rule(&self, name: &str) -> &'static str {
        position(name).map_or(self.other_rule, |position| self.rules[position])
    }

    /// Display name of a rule; the name itself if this version does not know it.
    pub fn rule_name<'n>(&self, name: &'n str) -> &'n str {
        position(name).map_or(name, |position| self.names[position])
    }

    /// Reason of an exclusion: translated if the program wrote it, otherwise unchanged.
    pub fn stated_reason<'r>(&self, reason: &'r str) -> Cow<'r, str> {
        (self.translated_reason)(reason).map_or(Cow::Borrowed(reason), Cow::Owned)
    }

    /// Summary of the number of excluded votes.
    pub fn fold(&self, excluded: u64, read: u64) -> String {
        if excluded == 0 {
            return self.fold_none.to_owned();
        }
        fill(self.fold_some, &[("excluded", &excluded.to_string()), ("read", &read.to_string())])
    }

    /// Describes the change if the votes of a rule were rated.
    pub fn effect(&self, ranks: usize, largest: Option<f64>) -> String {
        let points = largest.map_or_else(|| "–".to_owned(), signed);
        fill(self.effect, &[("ranks", &ranks.to_string()), ("points", &points)])
    }

    /// Describes the change by another selection of votes.
    pub fn change(&self, votes: [u64; 2], ranks: usize, models: usize, largest: Option<f64>) -> String {
        let [before, after] = votes.map(|votes| votes.to_string());
        let (ranks, models) = (ranks.to_string(), models.to_string());
        let numbers = [("before", before.as_str()), ("after", &after), ("ranks", &ranks), ("models", &models)];
        let largest = largest.map(|points| fill(self.largest, &[("points", &signed(points))]));
        fill(self.change, &numbers) + &largest.unwrap_or_default()
    }
}

/// Formats with a sign; the minus is as wide as the plus.
fn signed(points: f64) -> String {
    format!("{points:+.1}").replace('-', "−")
}

fn position(name: &str) -> Option<usize> {
    let rule = ExclusionRule::from_str(name).ok()?;
    ExclusionRule::ALL.iter().position(|other| *other == rule)
}

pub(super) const ENGLISH: ExclusionTexts = ExclusionTexts {
    title: "Votes that are not rated",
    lead: "No vote is deleted or changed. A rule, or the operator, can exclude a vote from the ratings; each exclusion is listed here with its reason and can be withdrawn. Neither the voter nor the person who decided is shown.",
    none: "No vote has been excluded.",
    caption: "Exclusions, the latest first",
    vote: "Vote",
    rule: "Rule",
    reason: "Reason",
    excluded: "Excluded",
    withdrawn: "Withdrawn",
    in_force: "in force",
    older: "Older exclusions",
    newest: "Latest exclusions",
    rules_heading: "What the rules mean",
    names: [
        "Identity leak",
        "Failed side",
        "Models chosen by the visitor",
        "Limits exceeded",
        "Anomalous voter",
        "Repeated prompt",
        "Operator’s decision",
        "Judgement taken back",
        "Annotator left out",
    ],
    rules: [
        "A reply, or the visitor's own text, says which model or maker is answering, so the vote was not blind.",
        "The operator found that one of the two sides had failed before the vote. The arena itself accepts no vote on such a battle.",
        "The visitor chose the models, so the vote was not blind.",
        "The operator found that the voter exceeded the limits of this arena. The arena itself refuses votes over its limits.",
        "Statistical tests find that this voter's votes differ from everybody else's.",
        "The same voter had voted on this prompt, or nearly the same one, before.",
        "The operator decided it; the reason says why.",
        "An annotator of a campaign took the judgement back, and may have judged again.",
        "The annotator is left out of the campaign; the reason says why.",
    ],
    translated_reason: |_| None,
    other_rule: "A rule from another version of this arena, or one that the operator added.",
    fold_title: "Which votes are left out?",
    fold_none: "None: all votes are rated.",
    fold_some: "{excluded} of {read} {read:vote|votes} {excluded:is|are} left out, each counted under one rule.",
    fold_votes: "votes",
    effect: "If they were rated, models with a different rank: {ranks}; largest change of a rating: {points} points.",
    list: "All exclusions, with reasons",
    counted: "Votes",
    with_excluded: "also those left out",
    unique_prompts: "one per voter and prompt",
    change_heading: "What this choice of votes changes",
    change: "{before} {before:vote is|votes are} rated; with this choice {after} {after:counts|count}. {ranks} of {models} {models:model|models} {ranks:has|have} another rank.",
    largest: " The largest change of a rating is {points} points.",
    change_caption: "Models whose rank changes",
    model: "Model",
    rank: "rank",
    rating: "rating",
    battles: "votes",
    rated_leaderboard: "Rated votes",
    selected_leaderboard: "This choice",
};

pub(super) const CHINESE: ExclusionTexts = ExclusionTexts {
    title: "未计分的选票",
    lead: "选票不会被删除或修改。规则或运营者可以让一张选票不计分；每次排除都连同理由列在这里，并且可以撤销。这里既不显示投票者，也不显示由谁决定。",
    none: "从未排除过选票。",
    caption: "排除记录，最新的在前",
    vote: "选票",
    rule: "规则",
    reason: "理由",
    excluded: "排除时间",
    withdrawn: "撤销时间",
    in_force: "仍有效",
    older: "更早的排除",
    newest: "最新的排除",
    rules_heading: "规则的含义",
    names: [
        "身份泄露",
        "一方故障",
        "访客自选模型",
        "超出限额",
        "异常投票者",
        "重复提问",
        "运营者决定",
        "判断已撤回",
        "标注者已排除",
    ],
    rules: [
        "回答或访客自己的文字透露了是哪个模型或哪家公司在回答，因此这场对战不是盲测。",
        "运营者发现投票前有一方出了故障。竞技场本身不接受这种对战的投票。",
        "模型由访客自己选定，因此这场对战不是盲测。",
        "运营者发现投票者超出了本竞技场的限额。竞技场本身会拒绝超额的投票。",
        "统计检验表明，该投票者的投票与其他所有人都不同。",
        "同一投票者此前已就这个提问（或几乎相同的提问）投过票。",
        "由运营者决定，原因见理由。",
        "标注活动的标注者撤回了这一判断，之后可能重新作出了判断。",
        "该标注者的判断不计入标注活动，原因见理由。",
    ],
    translated_reason: super::exclusion_reasons::chinese,
    other_rule: "本竞技场其他版本的规则，或运营者自定的规则。",
    fold_title: "哪些选票没有计入？",
    fold_none: "没有：所有选票都计分。",
    fold_some: "{read} 张选票中有 {excluded} 张没有计入，每张只归在一条规则下。",
    fold_votes: "张选票",
    effect: "若计分：名次不同的模型 {ranks} 个；评分最多变化 {points} 分。",
    list: "所有排除记录及理由",
    counted: "选票",
    with_excluded: "包括被排除的",
    unique_prompts: "每位投票者每个提问只算一票",
    change_heading: "换一种选票范围会有什么变化",
    change: "有效票 {before} 张；按此范围计入 {after} 张。{models} 个模型中有 {ranks} 个名次不同。",
    largest: "评分最多变化 {points} 分。",
    change_caption: "名次有变化的模型",
    model: "模型",
    rank: "名次",
    rating: "评分",
    battles: "票数",
    rated_leaderboard: "有效票",
    selected_leaderboard: "此范围",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_text_of_its_own_and_an_unknown_one_is_explained_as_such() {
        for texts in [ENGLISH, CHINESE] {
            let known: Vec<&str> = ExclusionRule::ALL.iter().map(|rule| texts.rule(rule.name())).collect();
            assert!((1..known.len()).all(|at| !known[..at].contains(&known[at])));
            assert_eq!(texts.rule("<b>of old</b>"), texts.other_rule);
            assert!(!known.contains(&texts.other_rule));
        }
        assert_eq!(
            ENGLISH.change([98, 100], 1, 3, Some(-2.04)),
            "98 votes are rated; with this choice 100 count. 1 of 3 models has another rank. The largest change of a rating is \
             −2.0 points."
        );
    }
}
