//! SuperCLUE: ten capabilities in Chinese, as open questions compared with a baseline model ([`open`]) or as multiple choice ([`close`]),
//! whose items are made from open ones ([`construction`]): [`drafts`] by a model, then [`review`] by people.
//!
//! The items are not public: operators supply their own in the formats of [`open`] and [`close`]. Sources: the paper, the READMEs of
//! SuperCLUE and SuperCLUE-Open, FastChat's `llm_judge`.

pub mod close;
pub mod construction;
pub mod drafts;
pub mod open;
pub mod review;

use super::super::item::Item;
use super::super::scores::score::{Part, PartKind};
use super::super::suite_data_file::DataProblem;

/// Capability of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// Chinese name, as stored in items.
    pub name: &'static str,
    /// Title in the paper's tables.
    pub title: &'static str,
    /// Group of the capability.
    pub group: &'static str,
    /// Kind of the answers.
    pub answers: AnswerKind,
}

/// Kind of answers, which determines how they are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// Answers are correct or wrong, so a reference helps the judge.
    Exact,
    /// Answers are judged by quality.
    Open,
}

/// Four groups in the paper's order.
pub const GROUPS: [&str; 4] =
    ["Semantic Understanding & Generation", "Knowledge", "Professional Abilities", "Environmental Adaptation & Safety"];

const fn capability(name: &'static str, title: &'static str, group: usize, answers: AnswerKind) -> Capability {
    Capability { name, title, group: GROUPS[group], answers }
}

/// Capabilities in the order of the paper's definitions.
pub const CAPABILITIES: [Capability; 10] = [
    capability("语义理解与抽取", "Semantic Understanding", 0, AnswerKind::Open),
    capability("闲聊", "Small Talk", 0, AnswerKind::Open),
    capability("上下文对话", "Contextual Dialogue", 0, AnswerKind::Open),
    capability("生成与创作", "Generation and Creation", 0, AnswerKind::Open),
    capability("知识与百科", "Knowledge and Encyclopedia", 1, AnswerKind::Open),
    capability("代码", "Code Generation", 2, AnswerKind::Exact),
    capability("逻辑与推理", "Logic and Reasoning", 2, AnswerKind::Exact),
    capability("计算", "Calculation", 2, AnswerKind::Exact),
    capability("角色扮演", "Role Playing", 3, AnswerKind::Open),
    capability("安全", "Safety", 3, AnswerKind::Open),
];

/// Returns a capability by its Chinese or English name.
#[must_use]
pub fn capability_of(name: &str) -> Option<&'static Capability> {
    CAPABILITIES.iter().find(|known| known.name == name || known.title.eq_ignore_ascii_case(name))
}

fn known_capability(name: &str) -> Result<&'static Capability, DataProblem> {
    let unknown = || DataProblem::unknown("capability", name, CAPABILITIES.iter().map(|known| known.name));
    capability_of(name.trim()).ok_or_else(unknown)
}

/// Groups the items by group and by capability; empty parts are left out.
fn parts(items: &[Item]) -> Vec<(Part, Vec<&Item>)> {
    let of = |belongs: &dyn Fn(&Capability) -> bool| -> Vec<&Item> {
        items.iter().filter(|item| capability_of(&item.category).is_some_and(belongs)).collect()
    };
    let groups = GROUPS.map(|name| (Part::new(PartKind::Group, name), of(&|known| known.group == name)));
    let capabilities = CAPABILITIES.map(|own| (Part::new(PartKind::Category, own.name), of(&|known| *known == own)));
    groups.into_iter().chain(capabilities).filter(|(_, items)| !items.is_empty()).collect()
}
