//! Categories of questions, and the dimensions of each answer type.

use crate::benchmark::item::Item;

/// Category of questions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Category {
    /// Name in the data file.
    pub name: &'static str,
    /// Title in the paper's English tables.
    pub title: &'static str,
    /// Group: [`REASONING`] or [`LANGUAGE`].
    pub group: &'static str,
    /// Temperature of the models' answers.
    pub temperature: f64,
    /// Dimensions in the paper's table of categories; a subcategory may have others.
    pub dimensions: &'static [&'static str],
}

/// Group of mathematics and logic.
pub const REASONING: &str = "reasoning";
/// Group of all other categories.
pub const LANGUAGE: &str = "language";

const fn category(
    name: &'static str,
    title: &'static str,
    (group, temperature): (&'static str, f64),
    dimensions: &'static [&'static str],
) -> Category {
    Category { name, title, group, temperature, dimensions }
}

/// Categories in the order of the paper's tables of results.
pub const CATEGORIES: [Category; 8] = [
    category("数学计算", "Mathematics", (REASONING, 0.1), LOGIC_DIMENSIONS),
    category("逻辑推理", "Logical Reasoning", (REASONING, 0.1), LOGIC_DIMENSIONS),
    category("基本任务", "Fundamental Language Ability", (LANGUAGE, 0.1), FACTUAL_DIMENSIONS),
    category("中文理解", "Advanced Chinese Understanding", (LANGUAGE, 0.1), FACTUAL_DIMENSIONS),
    category("综合问答", "Open-ended Questions", (LANGUAGE, 0.7), ADVICE_DIMENSIONS),
    category("文本写作", "Writing Ability", (LANGUAGE, 0.7), WRITING_DIMENSIONS),
    category("角色扮演", "Task-oriented Role Play", (LANGUAGE, 0.7), WRITING_DIMENSIONS),
    category("专业能力", "Professional Knowledge", (LANGUAGE, 0.1), FACTUAL_DIMENSIONS),
];

/// All dimensions in the order of the paper's table of dimensions.
pub const DIMENSIONS: [&str; 8] =
    ["事实正确性", "满足用户需求", "逻辑连贯性", "完备性", "清晰度", "创造性", "丰富度", "公平与可负责程度"];

const FACTUAL_DIMENSIONS: &[&str] = &["事实正确性", "满足用户需求", "清晰度", "完备性"];
const LOGIC_DIMENSIONS: &[&str] = &["事实正确性", "满足用户需求", "逻辑连贯性", "完备性"];
const WRITING_DIMENSIONS: &[&str] = &["事实正确性", "满足用户需求", "逻辑连贯性", "创造性", "丰富度"];
const ADVICE_DIMENSIONS: &[&str] = &["事实正确性", "满足用户需求", "公平与可负责程度", "创造性"];

/// Dimensions of each answer type, with its subcategories.
const ANSWER_TYPES: [(&[&str], &[&str]); 4] = [
    (
        FACTUAL_DIMENSIONS,
        &[
            "常识知识",
            "阅读理解",
            "文本分类",
            "信息抽取",
            "字词理解",
            "文化理解",
            "物理",
            "化学",
            "计算机",
            "生物医学",
            "经济",
            "天文",
            "历史",
            "音乐",
            "法律",
            "体育",
            "地理",
            "文学",
            "其他",
        ],
    ),
    (LOGIC_DIMENSIONS, &["证明", "推理", "初等数学", "高等数学", "应用数学"]),
    (
        WRITING_DIMENSIONS,
        &[
            "翻译",
            "实用文体写作",
            "创意文体写作",
            "专业文体写作",
            "其他写作类",
            "现实生活类",
            "游戏娱乐类",
            "功能类",
            "现实名人类",
            "（虚拟）恋爱类",
        ],
    ),
    (ADVICE_DIMENSIONS, &["观点表达", "寻求建议"]),
];

/// Returns a category by its name in the data file.
#[must_use]
pub fn category_of(name: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.name == name)
}

/// Returns a category by its name in the data file or its English title.
fn category_titled(name: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.name == name || category.title.eq_ignore_ascii_case(name))
}

/// Returns the dimensions of a subcategory, or of a category by its name or title; `None` for any other word.
#[must_use]
pub fn dimensions_about(name: &str) -> Option<&'static [&'static str]> {
    dimensions_of_subcategory(name).or_else(|| category_titled(name).map(|category| category.dimensions))
}

/// Returns the dimensions on which an item is judged, in order.
#[must_use]
pub fn dimensions_of(item: &Item) -> &'static [&'static str] {
    item.subcategory.as_deref().and_then(dimensions_of_subcategory).unwrap_or(FACTUAL_DIMENSIONS)
}

pub(super) fn dimensions_of_subcategory(name: &str) -> Option<&'static [&'static str]> {
    ANSWER_TYPES.iter().find(|(_, subcategories)| subcategories.contains(&name)).map(|(dimensions, _)| *dimensions)
}

/// Iterates over all subcategories.
pub fn subcategories() -> impl Iterator<Item = &'static str> {
    ANSWER_TYPES.iter().flat_map(|(_, subcategories)| subcategories.iter().copied())
}
