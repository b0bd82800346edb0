//! The two sets of labels: SuperCLUE's ten capabilities, which an arena calls categories, and URS's six intents.

/// A set of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// SuperCLUE's ten capabilities.
    Superclue,
    /// URS's six intents.
    Urs,
}

/// A label and the names that files give it.
struct SchemeLabel {
    key: &'static str,
    names: &'static [&'static str],
}

/// In the order of the paper's Table 3.
const SUPERCLUE: [SchemeLabel; 10] = [
    SchemeLabel {
        key: "semantic_understanding", names: &["语义理解与抽取", "Semantic Understanding and Extraction"]
    },
    SchemeLabel { key: "small_talk", names: &["闲聊"] },
    SchemeLabel { key: "contextual_dialogue", names: &["上下文对话", "Contextual Conversation"] },
    SchemeLabel { key: "generation_and_creation", names: &["生成与创作"] },
    SchemeLabel { key: "knowledge_and_encyclopedia", names: &["知识与百科"] },
    SchemeLabel { key: "code_generation", names: &["代码", "Code"] },
    SchemeLabel { key: "logic_and_reasoning", names: &["逻辑与推理"] },
    SchemeLabel { key: "calculation", names: &["计算"] },
    SchemeLabel { key: "role_playing", names: &["角色扮演"] },
    SchemeLabel { key: "safety", names: &["安全"] },
];
/// The data file has requests that came through an API apart; they are judged like problems to solve, and so labelled.
const URS: [SchemeLabel; 6] = [
    SchemeLabel { key: "factual_qa", names: &["信息检索"] },
    SchemeLabel {
        key: "solve_professional_problem",
        names: &["Solve Problem", "解决专业问题", "API", "Usage through API"],
    },
    SchemeLabel { key: "text_assistant", names: &["处理文本事务"] },
    SchemeLabel { key: "ask_for_advice", names: &["给出建议"] },
    SchemeLabel { key: "seek_creativity", names: &["给出创意"] },
    SchemeLabel { key: "leisure", names: &["休闲娱乐"] },
];

/// A label that the scheme does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the label {label:?} is unknown: give one of {known}")]
pub struct UnknownLabel {
    label: String,
    known: String,
}

impl Scheme {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Superclue, Self::Urs];

    /// Its name on the command line and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Superclue => "superclue",
            Self::Urs => "urs",
        }
    }

    /// Reads its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.as_str() == text)
    }

    /// How many seeds each label must have; `None` where any numbers will do.
    #[must_use]
    pub fn seeds_per_label(self) -> Option<usize> {
        match self {
            Self::Superclue => Some(30),
            Self::Urs => None,
        }
    }

    /// Its labels as votes spell them.
    pub fn labels(self) -> impl Iterator<Item = &'static str> {
        self.table().iter().map(|label| label.key)
    }

    /// Its labels, each with the names that papers and data files give it.
    pub fn names(self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        self.table().iter().map(|label| (label.key, label.names))
    }

    /// The position of a label among [`Scheme::labels`], by its key or any of its names, however they are capitalised and
    /// joined.
    ///
    /// # Errors
    /// [`UnknownLabel`] with those that there are.
    pub fn position(self, text: &str) -> Result<usize, UnknownLabel> {
        let plain = plain(text);
        let is = |label: &SchemeLabel| label.key == plain || label.names.iter().any(|name| self::plain(name) == plain);
        self.table().iter().position(is).ok_or_else(|| UnknownLabel {
            label: text.chars().take(60).collect(),
            known: self.labels().collect::<Vec<_>>().join(", "),
        })
    }

    /// The label at a position of [`Scheme::labels`].
    #[must_use]
    pub fn label(self, position: usize) -> Option<&'static str> {
        self.table().get(position).map(|label| label.key)
    }

    fn table(self) -> &'static [SchemeLabel] {
        match self {
            Self::Superclue => &SUPERCLUE,
            Self::Urs => &URS,
        }
    }
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_by_key_and_by_the_names_of_papers_and_data() {
        for (scheme, text, label) in [
            (Scheme::Superclue, "Logic and Reasoning", "logic_and_reasoning"),
            (Scheme::Superclue, " 代码 ", "code_generation"),
            (Scheme::Superclue, "Semantic Understanding", "semantic_understanding"),
            (Scheme::Urs, "Factual_QA", "factual_qa"),
            (Scheme::Urs, "API", "solve_professional_problem"),
            (Scheme::Urs, "Solve Problem", "solve_professional_problem"),
        ] {
            assert_eq!(scheme.label(scheme.position(text).unwrap()), Some(label), "{text}");
        }
        let unknown = Scheme::Urs.position("代码").unwrap_err().to_string();
        assert!(unknown.contains("代码") && unknown.contains("leisure"), "{unknown}");
    }
}
