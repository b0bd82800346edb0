//! Texts of the battle page on an arena of two models, where another battle has the same two.

use super::{BattleTexts, ScriptTexts};

/// Texts that replace those of the same name in [`BattleTexts`] and [`ScriptTexts`].
pub struct TwoModelTexts {
    pub retry: &'static str,
    pub again: &'static str,
    pub error_empty_reply: &'static str,
    pub error_voided: &'static str,
}

/// Offers of another battle, and the texts of the page's script.
pub struct OfferTexts {
    /// Label of the button after a failed battle.
    pub retry: &'static str,
    /// Label of the button after a vote.
    pub again: &'static str,
    pub script: ScriptTexts,
}

impl OfferTexts {
    /// Selects the texts for this number of models that can be paired.
    #[must_use]
    pub fn of(pairable: usize, battle: &BattleTexts, script: &ScriptTexts, two: &TwoModelTexts) -> Self {
        if pairable != 2 {
            return Self { retry: battle.retry, again: battle.again, script: script.clone() };
        }
        let TwoModelTexts { retry, again, error_empty_reply, error_voided } = *two;
        Self { retry, again, script: ScriptTexts { error_empty_reply, error_voided, ..script.clone() } }
    }
}

pub(super) const ENGLISH: TwoModelTexts = TwoModelTexts {
    retry: "Ask the same two models again",
    again: "Ask the same question again",
    error_empty_reply: "There is no complete answer to compare, so you cannot vote on this battle. This arena has two models: you can ask the same two again.",
    error_voided: "A model failed to answer, so this battle does not count. This arena has two models: you can ask the same two again.",
};

pub(super) const CHINESE: TwoModelTexts = TwoModelTexts {
    retry: "请这两个模型重新作答",
    again: "再问一次这个问题",
    error_empty_reply: "没有可以比较的完整回答，这场对战不能投票。本站只有两个模型，可以请它们重新作答。",
    error_voided: "有回答失败，这场对战不计入。本站只有两个模型，可以请它们重新作答。",
};
