//! Texts of prompt labels and their origins.

use crate::domain::labeling::LabelOrigin;
use crate::domain::labeling::final_labels::LabelOrigins;

use crate::i18n::fill;

/// Their texts.
pub struct LabelTexts {
    pub title: &'static str,
    pub lead: &'static str,
    /// Origin of a prompt without labels.
    pub unlabeled: &'static str,
    pub by_visitor: &'static str,
    pub by_model: &'static str,
    pub by_reviewers: &'static str,
    /// Origins of the labels of a column.
    pub origins: &'static str,
    pub of_model: &'static str,
    pub of_visitors: &'static str,
    pub of_reviewers: &'static str,
    pub of_examples: &'static str,
    /// Separator of two origins.
    pub comma: &'static str,
}

impl LabelTexts {
    /// Origin of a prompt's effective label. Visitors see labelled examples as reviewed ones.
    pub fn source(&self, source: Option<LabelOrigin>) -> &'static str {
        match source {
            None => self.unlabeled,
            Some(LabelOrigin::Visitor) => self.by_visitor,
            Some(LabelOrigin::Model) => self.by_model,
            Some(LabelOrigin::Review | LabelOrigin::Seed) => self.by_reviewers,
        }
    }

    /// Describes the origins of a column's labels.
    pub fn origins(&self, column: &str, origins: LabelOrigins) -> String {
        let parts = [
            (self.of_model, origins.model),
            (self.of_visitors, origins.visitors),
            (self.of_reviewers, origins.reviewers),
            (self.of_examples, origins.examples),
        ];
        let parts = parts.into_iter().filter(|(_, votes)| *votes > 0);
        let parts: Vec<String> = parts.map(|(text, votes)| fill(text, &[("n", &votes.to_string())])).collect();
        fill(self.origins, &[("column", column), ("parts", &parts.join(self.comma))])
    }
}

pub(super) const ENGLISH: LabelTexts = LabelTexts {
    title: "What was your question about?",
    lead: "The leaderboard can show the votes on one category of questions, or on one intent: what people want from the answer. If your question is in the wrong one, choose the right one. Your choice counts from now on, unless a reviewer has already decided.",
    unlabeled: "not sorted yet",
    by_visitor: "as you said",
    by_model: "proposed by the classifier",
    by_reviewers: "decided by a reviewer",
    origins: "{column} labels: {parts}.",
    of_model: "{n} by the classifier",
    of_visitors: "{n} by visitors or imported with the prompt",
    of_reviewers: "{n} by reviewers",
    of_examples: "{n} from the examples it learned from",
    comma: ", ",
};

pub(super) const CHINESE: LabelTexts = LabelTexts {
    title: "你的问题属于哪一类？",
    lead: "排行榜可按类别和意图（提问者想要什么）分别查看。如果分错了，请选择正确的一项：从现在起生效，除非审核员已作决定。",
    unlabeled: "尚未归类",
    by_visitor: "你所选",
    by_model: "分类器建议",
    by_reviewers: "审核员决定",
    origins: "{column}标签来源：{parts}。",
    of_model: "分类器标注 {n} 票",
    of_visitors: "访客标注或随问题导入 {n} 票",
    of_reviewers: "审核员标注 {n} 票",
    of_examples: "标注样例 {n} 票",
    comma: "，",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_labelled_are_named() {
        let origins = LabelOrigins { model: 12, visitors: 3, ..LabelOrigins::default() };
        assert_eq!(
            ENGLISH.origins("Category", origins),
            "Category labels: 12 by the classifier, 3 by visitors or imported with the prompt."
        );
        let reviewed = LabelOrigins { reviewers: 1, examples: 2, ..LabelOrigins::default() };
        assert_eq!(CHINESE.origins("意图", reviewed), "意图标签来源：审核员标注 1 票，标注样例 2 票。");
    }
}
