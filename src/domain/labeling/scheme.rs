//! Label schemes: SuperCLUE's ten capabilities, which the arena calls categories, and URS's six intents.

/// Label scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// SuperCLUE's ten capabilities.
    Superclue,
    /// URS's six intents.
    Urs,
}

/// Label with its aliases in data files.
struct SchemeLabel {
    key: &'static str,
    names: &'static [&'static str],
}

/// SuperCLUE's labels, in the order of the paper's Table 3.
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
/// URS's labels. Its data file lists requests through an API separately; they are judged, and so labelled, like problems to solve.
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

/// Error of a label that the scheme does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the label {label:?} is unknown: give one of {known}")]
pub struct UnknownLabel {
    label: String,
    known: String,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 2] = [Self::Superclue, Self::Urs];

    /// Returns the name on the command line and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Superclue => "superclue",
            Self::Urs => "urs",
        }
    }

    /// Parses a scheme's name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.as_str() == text)
    }

    /// Returns the required number of seeds per label; `None` where any number is allowed.
    #[must_use]
    pub fn seeds_per_label(self) -> Option<usize> {
        match self {
            Self::Superclue => Some(30),
            Self::Urs => None,
        }
    }

    /// Labels of the scheme as stored with votes.
    pub fn labels(self) -> impl Iterator<Item = &'static str> {
        self.table().iter().map(|label| label.key)
    }

    /// Labels of the scheme, each with its aliases in papers and data files.
    pub fn names(self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        self.table().iter().map(|label| (label.key, label.names))
    }

    /// Returns the position of a label in [`Scheme::labels`], by its key or any alias, ignoring case and separators.
    ///
    /// # Errors
    /// [`UnknownLabel`] with the existing labels.
    pub fn position(self, text: &str) -> Result<usize, UnknownLabel> {
        let plain = plain(text);
        let is = |label: &SchemeLabel| label.key == plain || label.names.iter().any(|name| self::plain(name) == plain);
        self.table().iter().position(is).ok_or_else(|| UnknownLabel {
            label: text.chars().take(60).collect(),
            known: self.labels().collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the label at a position of [`Scheme::labels`].
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
