//! Texts of the step between the choice of an outcome and the reveal of the names.

/// Texts of a vote before its confirmation.
pub struct VoteConfirmationTexts {
    pub undo: &'static str,
    pub show: &'static str,
    pub wait: &'static str,
    /// Each side with its question.
    pub sides: &'static [(&'static str, &'static str)],
    /// Reasons in their wire spelling, with labels.
    pub reasons: &'static [(&'static str, &'static str)],
}

pub(super) const ENGLISH: VoteConfirmationTexts = VoteConfirmationTexts {
    undo: "Undo",
    show: "Show the names",
    wait: "Always wait until I ask for the names",
    sides: &[("a", "What describes A? (optional)"), ("b", "What describes B? (optional)")],
    reasons: &[
        ("useful", "Useful"),
        ("complete", "Complete"),
        ("correct", "Correct"),
        ("clear", "Clear"),
        ("wrong", "Wrong"),
        ("shallow", "Shallow"),
        ("too_long", "Too long"),
        ("ignored_instructions", "Ignored instructions"),
    ],
};

pub(super) const CHINESE: VoteConfirmationTexts = VoteConfirmationTexts {
    undo: "撤回",
    show: "揭晓名称",
    wait: "总是等我点击后再揭晓",
    sides: &[("a", "A 的回答怎么样？（可不选）"), ("b", "B 的回答怎么样？（可不选）")],
    reasons: &[
        ("useful", "有用"),
        ("complete", "完整"),
        ("correct", "正确"),
        ("clear", "清楚"),
        ("wrong", "有错误"),
        ("shallow", "太浅"),
        ("too_long", "太长"),
        ("ignored_instructions", "没按要求"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::vote_reasons::Reason;

    #[test]
    fn every_reason_has_a_label_in_both_languages() {
        for texts in [&ENGLISH, &CHINESE] {
            let spelt: Vec<&str> = texts.reasons.iter().map(|(reason, _)| *reason).collect();
            assert_eq!(spelt, Reason::ALL.map(Reason::as_str));
        }
    }
}
