//! Six user intents, with the criteria for judging answers to each.

use crate::language::Language;

/// Intent of a user, with its judging criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intent {
    /// Name in the data file.
    pub name: &'static str,
    /// Title in the paper.
    pub title: &'static str,
    /// Name in the Chinese prompt.
    pub chinese: &'static str,
    /// Block: [`OBJECTIVE`] or [`SUBJECTIVE`].
    pub block: &'static str,
    /// Five criteria in order, as in [`CRITERIA`].
    pub criteria: [&'static str; 5],
}

/// Block of intents with factual answers.
pub const OBJECTIVE: &str = "objective";
/// Block of intents whose answers depend on the user.
pub const SUBJECTIVE: &str = "subjective";

/// Six intents in the order of the paper's table of cases.
pub const INTENTS: [Intent; 6] = [
    Intent {
        name: "Factual_QA",
        title: "Factual QA",
        chinese: "信息检索",
        block: OBJECTIVE,
        criteria: ["Factuality", "User Satisfaction", "Clarity", "Completeness", "Logical Coherence"],
    },
    Intent {
        name: "Solve_Professional_Problem",
        title: "Solve Problem",
        chinese: "解决专业问题",
        block: OBJECTIVE,
        criteria: ["Factuality", "User Satisfaction", "Clarity", "Logical Coherence", "Completeness"],
    },
    Intent {
        name: "Text_Assistant",
        title: "Text Assistant",
        chinese: "处理文本事务",
        block: OBJECTIVE,
        criteria: ["Clarity", "User Satisfaction", "Logical Coherence", "Factuality", "Creativity"],
    },
    Intent {
        name: "Ask_for_Advice",
        title: "Ask for Advice",
        chinese: "给出建议",
        block: SUBJECTIVE,
        criteria: ["User Satisfaction", "Factuality", "Fairness and Responsibility", "Creativity", "Richness"],
    },
    Intent {
        name: "Seek_Creativity",
        title: "Seek Creativity",
        chinese: "给出创意",
        block: SUBJECTIVE,
        criteria: ["User Satisfaction", "Logical Coherence", "Creativity", "Richness", "Factuality"],
    },
    Intent {
        name: "Leisure",
        title: "Leisure",
        chinese: "休闲娱乐",
        block: SUBJECTIVE,
        criteria: ["User Satisfaction", "Engagement", "Appropriateness", "Creativity", "Factuality"],
    },
];

/// Label of API calls, which count as problem solving.
pub const API: &str = "API";

/// Criteria in English, as stored, and in Chinese.
pub const CRITERIA: [(&str, &str); 10] = [
    ("Factuality", "事实正确性"),
    ("User Satisfaction", "满足用户需求"),
    ("Clarity", "清晰度"),
    ("Completeness", "完备性"),
    ("Logical Coherence", "逻辑连贯性"),
    ("Creativity", "创造性"),
    ("Fairness and Responsibility", "公平与可负责程度"),
    ("Richness", "丰富度"),
    ("Engagement", "趣味性"),
    ("Appropriateness", "适宜性"),
];

/// Returns the intent of a label in the data; API calls count as problem solving.
#[must_use]
pub fn intent_of(label: &str) -> &'static Intent {
    INTENTS.iter().find(|intent| intent.name == label).unwrap_or(&INTENTS[1])
}

/// Returns an intent's criteria in a language.
pub(super) fn criteria_in(language: Language, intent: &Intent) -> Vec<&'static str> {
    let chinese = |name: &str| CRITERIA.iter().find(|(english, _)| *english == name).map(|(_, chinese)| *chinese);
    match language {
        Language::English => intent.criteria.to_vec(),
        Language::Chinese => intent.criteria.iter().filter_map(|name| chinese(name)).collect(),
    }
}
