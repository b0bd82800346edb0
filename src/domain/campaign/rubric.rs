//! Built-in rubrics: the dimensions on which a paper judges answers, each scored by the annotator in addition to the whole.
//!
//! A rubric becomes questions of the campaign, so that they are asked, stored and reported like others, and keep their wording when a later
//! version changes it.

use serde::{Deserialize, Serialize};

use super::questions::{CampaignQuestion, QuestionKind, Subject};
use crate::benchmark::suites::alignbench::{CATEGORIES, DIMENSIONS, dimensions_about, meaning_of, subcategories};

/// Built-in rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CampaignRubric {
    /// AlignBench's dimensions, by the category of the item.
    AlignBench,
    /// SuperCLUE's dimensions, the same for all categories.
    SuperClue,
}

/// Id, English name and English meaning of each of [`DIMENSIONS`], in order.
const ALIGNBENCH: [[&str; 3]; 8] = [
    ["factuality", "Factuality", "Is what the answer says accurate, and does it rest on reliable facts and data?"],
    [
        "user-satisfaction",
        "User satisfaction",
        "Does the answer serve the purpose of the question, fully and fittingly?",
    ],
    [
        "logical-coherence",
        "Logical coherence",
        "Do the parts of the answer agree with each other, without contradiction?",
    ],
    ["completeness", "Completeness", "Are there enough information and detail, and is nothing important left out?"],
    ["clarity", "Clarity", "Is the answer concise and easy to understand?"],
    ["creativity", "Creativity", "Is the answer original, with views or solutions of its own?"],
    ["richness", "Richness", "Does the answer have depth, context, and varied explanations and examples?"],
    [
        "fairness",
        "Fairness and responsibility",
        "Is the advice fair, feasible and responsible, and does it consider risks and consequences?",
    ],
];

/// Id, English name, Chinese name, English meaning and Chinese meaning of SuperCLUE's dimensions.
const SUPERCLUE: [[&str; 5]; 3] = [
    [
        "targeted",
        "Targeted",
        "针对性",
        "Does the answer address the question and follow what it demands?",
        "回答是否切合问题、遵从要求。",
    ],
    [
        "accurate",
        "Accurate",
        "准确性",
        "Is the content true and the reasoning right?",
        "回答的内容是否真实，推理是否正确。",
    ],
    [
        "comprehensive",
        "Comprehensive",
        "全面性",
        "Does the answer say everything that it should?",
        "该说的是否都说到了。",
    ],
];

impl CampaignRubric {
    /// Returns the name in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AlignBench => "alignbench",
            Self::SuperClue => "superclue",
        }
    }

    /// Whether the subcategory of an item takes precedence over its category.
    #[must_use]
    pub fn reads_subcategories(self) -> bool {
        self == Self::AlignBench
    }

    /// Returns the dimensions as questions with this scale.
    #[must_use]
    pub fn questions(self, scale: [u8; 2]) -> Vec<CampaignQuestion> {
        match self {
            Self::AlignBench => {
                DIMENSIONS.iter().zip(ALIGNBENCH).map(|(name, texts)| alignbench(name, texts)).collect()
            }
            Self::SuperClue => SUPERCLUE.map(superclue).to_vec(),
        }
        .into_iter()
        .map(|question: CampaignQuestion| CampaignQuestion { scale, ..question })
        .collect()
    }

    /// Returns the ids of the dimensions.
    #[must_use]
    pub fn ids(self) -> Vec<String> {
        self.questions([1, 10]).into_iter().map(|question| question.id).collect()
    }

    /// Checks that the rubric has dimensions for a category.
    ///
    /// # Errors
    /// Description of the problem, with all known categories.
    pub fn check(self, category: &str) -> Result<(), String> {
        if self == Self::SuperClue || dimensions_about(category.trim()).is_some() {
            return Ok(());
        }
        let categories = CATEGORIES.map(|known| format!("{} ({})", known.name, known.title)).join(", ");
        let subcategories = subcategories().collect::<Vec<_>>().join(", ");
        Err(format!(
            "the rubric \"alignbench\" has no dimensions for the category {category:?}: write one of {categories}, or of the \
             subcategories {subcategories}"
        ))
    }
}

fn alignbench(name: &str, [id, title, meaning]: [&str; 3]) -> CampaignQuestion {
    let is_judged = |about: &str| dimensions_about(about).is_some_and(|dimensions| dimensions.contains(&name));
    let all = || CATEGORIES.iter().flat_map(|known| [known.name, known.title]).chain(subcategories());
    let categories: Vec<String> = all().filter(|about| is_judged(about)).map(str::to_owned).collect();
    // A dimension of all categories needs no list.
    let categories = if categories.len() == all().count() { Vec::new() } else { categories };
    let meaning_zh = meaning_of(name).unwrap_or_default();
    CampaignQuestion { categories, ..dimension(id, [title, name], [meaning, &meaning_zh]) }
}

fn superclue([id, title, name, meaning, meaning_zh]: [&str; 5]) -> CampaignQuestion {
    dimension(id, [title, name], [meaning, meaning_zh])
}

/// Builds the question of a dimension from its English and Chinese texts.
fn dimension(id: &str, [text, text_zh]: [&str; 2], [meaning, meaning_zh]: [&str; 2]) -> CampaignQuestion {
    CampaignQuestion {
        id: id.to_owned(),
        text: text.to_owned(),
        text_zh: Some(text_zh.to_owned()),
        meaning: Some(meaning.to_owned()),
        meaning_zh: Some(meaning_zh.to_owned()),
        kind: QuestionKind::Scale,
        about: Subject::Item,
        categories: Vec::new(),
        options: Vec::new(),
        scale: [1, 10],
        required: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::questions;

    fn asked(rubric: CampaignRubric, category: &str) -> Vec<String> {
        let questions = rubric.questions([1, 10]).into_iter();
        questions.filter(|question| question.is_about(category)).filter_map(|question| question.text_zh).collect()
    }

    #[test]
    fn alignbench_asks_the_dimensions_of_the_paper_by_category_and_by_subcategory() {
        let of = |category| asked(CampaignRubric::AlignBench, category).join(" ");
        // Table 3 of the paper, and the footnote on translations.
        assert_eq!(of("专业能力"), "事实正确性 满足用户需求 完备性 清晰度");
        assert_eq!(of("mathematics"), "事实正确性 满足用户需求 逻辑连贯性 完备性");
        assert_eq!(of(" Writing Ability "), "事实正确性 满足用户需求 逻辑连贯性 创造性 丰富度");
        assert_eq!(of("综合问答"), "事实正确性 满足用户需求 创造性 公平与可负责程度");
        assert_eq!(of("基本任务"), of("信息抽取"));
        assert_eq!(of("翻译"), of("文本写作"));
    }

    #[test]
    fn each_dimension_is_a_question_that_can_be_asked_in_both_languages() {
        for (rubric, count) in [(CampaignRubric::AlignBench, 8), (CampaignRubric::SuperClue, 3)] {
            let asked = rubric.questions([1, 10]);
            assert_eq!((asked.len(), questions::check(&asked)), (count, Ok(())), "{rubric:?}");
            for question in asked {
                assert!(question.meaning_zh.is_some_and(|text| text.ends_with('。')), "{}", question.id);
            }
        }
        assert_eq!(asked(CampaignRubric::SuperClue, "whatever"), ["针对性", "准确性", "全面性"]);
    }

    #[test]
    fn an_unknown_category_is_refused_with_the_known_ones() {
        for known in ["物理", "Mathematics", " 数学计算"] {
            assert_eq!(CampaignRubric::AlignBench.check(known), Ok(()));
        }
        assert_eq!(CampaignRubric::SuperClue.check("cooking"), Ok(()));
        for unknown in ["cooking", ""] {
            let error = CampaignRubric::AlignBench.check(unknown).unwrap_err();
            for known in ["数学计算 (Mathematics)", "专业能力 (Professional Knowledge)", "翻译", "寻求建议"]
            {
                assert!(error.contains(known), "{known}: {error}");
            }
        }
    }
}
