//! Texts of the battle modes: hidden models, or models chosen by the visitor.

use serde::Serialize;

use crate::domain::battle::mode::BattleMode;

/// The texts of the modes.
pub struct ModeTexts {
    /// Label of the mode selector.
    pub title: &'static str,
    pub anonymous: ModeText,
    pub named: ModeText,
    pub direct: ModeText,
    pub one_hidden: ModeText,
    /// Labels of chosen models: alone and on each side.
    pub model: &'static str,
    pub model_a: &'static str,
    pub model_b: &'static str,
    pub unrated: &'static str,
    /// Question on a single reply, with its two answers.
    pub question_alone: &'static str,
    pub regenerate: &'static str,
    pub good: &'static str,
    pub not_good: &'static str,
    /// Replaces the offer of two other models.
    pub ask_again: &'static str,
    /// Replaces the offer to show the names.
    pub send_vote: &'static str,
    pub always_wait: &'static str,
    pub ratings_stay: &'static str,
    /// Consent text on prompts to a single model.
    pub consent_alone: &'static str,
    pub script: ModeScriptTexts,
    /// Reason why such a vote is not rated.
    pub excluded: &'static str,
    /// Vote of the visitor who shares a battle: A is better, B is better, a tie, both bad.
    pub shared_outcomes: [&'static str; 4],
    /// Vote on a single reply: good, not good.
    pub shared_alone: [&'static str; 2],
    /// Shown for a battle without a vote whose names are known.
    pub no_vote: &'static str,
    pub without_vote: &'static str,
    pub voided: &'static str,
    pub one_model: &'static str,
}

/// Name and explanation of a mode.
pub struct ModeText {
    pub name: &'static str,
    pub explained: &'static str,
}

/// Texts of the page's scripts that replace their usual texts of the same name.
#[derive(Serialize)]
pub struct ModeScriptTexts {
    pub everywhere: ChoiceTexts,
    /// For modes with at least one chosen model.
    pub chosen: ChosenTexts,
    /// For modes with all models chosen.
    pub known: KnownTexts,
    /// For the mode with a single model.
    pub alone: DirectModeTexts,
}

#[derive(Serialize)]
pub struct ChoiceTexts {
    pub excluded_named_mode: &'static str,
    pub error_model_unavailable: &'static str,
    pub error_unsupported_mode: &'static str,
    pub same_model: &'static str,
    pub models_missing: &'static str,
    pub unrated_kept: &'static str,
}

#[derive(Serialize)]
pub struct ChosenTexts {
    pub vote_now: &'static str,
}

#[derive(Serialize)]
pub struct KnownTexts {
    pub error_voided: &'static str,
    pub error_empty_reply: &'static str,
    pub confirmation_running: &'static str,
    pub confirmation_waiting: &'static str,
}

#[derive(Serialize)]
pub struct DirectModeTexts {
    pub started: &'static str,
    pub both_ended: &'static str,
    pub wait_for_both: &'static str,
    pub revealed: &'static str,
    pub chose_a: &'static str,
    pub chose_both_bad: &'static str,
    pub chat_on: &'static str,
    pub chat_ended: &'static str,
}

impl ModeTexts {
    /// Returns the texts of a mode.
    #[must_use]
    pub fn of(&self, mode: BattleMode) -> &ModeText {
        match mode {
            BattleMode::Anonymous => &self.anonymous,
            BattleMode::Named => &self.named,
            BattleMode::Direct => &self.direct,
            BattleMode::OneHidden => &self.one_hidden,
        }
    }
}

pub(super) const ENGLISH: ModeTexts = ModeTexts {
    title: "Which models",
    anonymous: ModeText {
        name: "Blind battle",
        explained: "The arena picks two models and hides their names until you vote. Only these votes are rated.",
    },
    named: ModeText {
        name: "Side by side",
        explained: "You choose two models and see their names. Your vote is kept and not rated.",
    },
    direct: ModeText {
        name: "Direct chat",
        explained: "You choose one model and talk to it alone. Your vote is kept and not rated.",
    },
    one_hidden: ModeText {
        name: "One hidden",
        explained: "You choose one model; the arena picks the other and hides it until you vote. Your vote is kept and not rated.",
    },
    model: "Model",
    model_a: "Model A",
    model_b: "Model B",
    unrated: "Not rated",
    question_alone: "Is this reply good?",
    regenerate: "Regenerate",
    good: "Good",
    not_good: "Not good",
    ask_again: "Ask again",
    send_vote: "Send my vote",
    always_wait: "Always wait until I send my vote",
    ratings_stay: "This vote does not change any rating.",
    consent_alone: "Your question goes to one model, and this arena keeps the conversation and your vote. Leave out anything personal.",
    script: ModeScriptTexts {
        everywhere: ChoiceTexts {
            excluded_named_mode: "Your vote is kept and not rated, because you chose a model.",
            error_model_unavailable: "A model that you chose is not available at the moment. Choose another one.",
            error_unsupported_mode: "This arena does not offer this choice of models any more. Reload the page.",
            same_model: "Choose two different models.",
            models_missing: "The list of models has not arrived yet. Try again in a moment.",
            unrated_kept: "not rated",
        },
        chosen: ChosenTexts { vote_now: "Your vote is kept and not rated." },
        known: KnownTexts {
            error_voided: "A model that you chose did not answer, and chosen models are not replaced. Ask again, or start over with another model.",
            error_empty_reply: "There is no complete answer, so there is nothing to vote on. Ask again, or start over with another model.",
            confirmation_running: "Nothing is sent yet. Your vote is sent in two seconds; if you pick a reason, you have two minutes.",
            confirmation_waiting: "Nothing is sent yet. Take your time; your vote is sent when you press the button, leave this page, or do nothing for two minutes.",
        },
        alone: DirectModeTexts {
            started: "The model is answering.",
            both_ended: "The reply has ended. You can vote now.",
            wait_for_both: "You can vote when the reply has ended.",
            revealed: "Your vote is saved.",
            chose_a: "You found the reply good.",
            chose_both_bad: "You found the reply not good.",
            chat_on: "Continue with this model…",
            chat_ended: "The reply has ended.",
        },
    },
    excluded: "You chose a model, so this vote is kept and not rated.",
    shared_outcomes: [
        "The visitor found A better.",
        "The visitor found B better.",
        "The visitor called it a tie.",
        "The visitor found both bad.",
    ],
    shared_alone: ["The visitor found the reply good.", "The visitor found the reply not good."],
    no_vote: "There is no vote on this conversation.",
    without_vote: "No vote",
    voided: "A model did not answer, and chosen models are not replaced.",
    one_model: "Conversation with {a}",
};

pub(super) const CHINESE: ModeTexts = ModeTexts {
    title: "选择模型",
    anonymous: ModeText {
        name: "匿名对战",
        explained: "由竞技场抽取两个模型，投票前不显示名称。只有这里的投票计入评分。",
    },
    named: ModeText {
        name: "并排比较", explained: "你选择两个模型，名称可见。投票会保存，但不计入评分。"
    },
    direct: ModeText {
        name: "单独对话", explained: "你选择一个模型，与它单独对话。投票会保存，但不计入评分。"
    },
    one_hidden: ModeText {
        name: "一明一暗",
        explained: "你选择一个模型，竞技场抽取另一个，投票前不显示其名称。投票会保存，但不计入评分。",
    },
    model: "模型",
    model_a: "模型 A",
    model_b: "模型 B",
    unrated: "不计入评分",
    question_alone: "这个回答好吗？",
    regenerate: "重新作答",
    good: "好",
    not_good: "不好",
    ask_again: "重新提问",
    send_vote: "提交投票",
    always_wait: "总是等我点击后再提交投票",
    ratings_stay: "这次投票不影响评分。",
    consent_alone: "你的问题会发送给一个模型，本站会保存对话和投票。请不要填写个人信息。",
    script: ModeScriptTexts {
        everywhere: ChoiceTexts {
            excluded_named_mode: "投票已保存，但不计入评分：模型是你自己选择的。",
            error_model_unavailable: "你选择的模型目前无法作答，请换一个模型。",
            error_unsupported_mode: "本站不再提供这种选择，请刷新页面。",
            same_model: "请选择两个不同的模型。",
            models_missing: "模型列表还没有加载，请稍后再试。",
            unrated_kept: "不计入评分",
        },
        chosen: ChosenTexts { vote_now: "投票会保存，但不计入评分。" },
        known: KnownTexts {
            error_voided: "你选择的模型没有作答，也不会换成别的模型。请重新提问，或换一个模型重新开始。",
            error_empty_reply: "没有完整的回答，无法投票。请重新提问，或换一个模型重新开始。",
            confirmation_running: "尚未提交。投票将在两秒后提交；选择理由后，最多等两分钟。",
            confirmation_waiting: "尚未提交。不用着急，你确认、离开本页或两分钟没有操作时才会提交。",
        },
        alone: DirectModeTexts {
            started: "模型正在回答。",
            both_ended: "回答已结束，可以投票了。",
            wait_for_both: "回答结束后才能投票。",
            revealed: "投票已保存。",
            chose_a: "你认为这个回答好。",
            chose_both_bad: "你认为这个回答不好。",
            chat_on: "继续与这个模型对话……",
            chat_ended: "回答已结束。",
        },
    },
    excluded: "模型由你自己选择，因此投票已保存，但不计入评分。",
    shared_outcomes: ["提问者认为 A 更好。", "提问者认为 B 更好。", "提问者判为平局。", "提问者认为两者都不好。"],
    shared_alone: ["提问者认为这个回答好。", "提问者认为这个回答不好。"],
    no_vote: "这次对话没有投票。",
    without_vote: "未投票",
    voided: "有模型没有作答；自己选择的模型不会换成别的模型。",
    one_model: "与 {a} 的对话",
};
