//! Practice models' answers to the prompt cards of the battle page: texts written for this arena, so that an arena on trial shows replies
//! worth comparing. Each model words them in its own way.

use std::sync::LazyLock;

use serde::Deserialize;

use super::words::{language_of, question};
use crate::domain::language::Language;
use crate::llm::Message;

/// Prepared answer to one card.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prepared {
    prompt: String,
    title: String,
    short: String,
    long: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PreparedFile {
    answers: Vec<Prepared>,
}

static PREPARED_ANSWERS: LazyLock<Vec<Prepared>> = LazyLock::new(|| {
    let file: PreparedFile =
        toml::from_str(include_str!("prompt_card_answers.toml")).expect("a test reads the whole file");
    file.answers
});

/// Returns the prepared answer if the conversation's latest question is a card's.
pub(super) fn prepared(conversation: &[Message]) -> Option<&'static Prepared> {
    let asked = question(conversation).trim();
    PREPARED_ANSWERS.iter().find(|answer| answer.prompt == asked)
}

impl Prepared {
    /// Returns the short answer.
    pub(super) fn short_answer(&self) -> String {
        self.short.trim().to_owned()
    }

    /// Returns the short answer with a question back.
    pub(super) fn answer_with_question(&self) -> String {
        let back = match language_of(&self.prompt) {
            Language::English => "Is that what you wanted to know, or shall I go on?",
            Language::Chinese => "这是你想知道的吗？要不要再说详细一点？",
        };
        format!("{}\n\n{back}", self.short_answer())
    }

    /// Returns the long answer.
    pub(super) fn long_answer(&self) -> String {
        self.long.trim().to_owned()
    }

    /// Returns the long answer under a title, with the gist at the end if that is a sentence.
    pub(super) fn as_article(&self) -> String {
        let gist = match language_of(&self.prompt) {
            Language::English => "**In short:**",
            Language::Chinese => "**简而言之：**",
        };
        let brief = self.short_answer();
        let end = if brief.contains('\n') { String::new() } else { format!("\n\n{gist} {brief}") };
        format!("## {}\n\n{}{end}", self.title, self.long_answer())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::PracticeKind;
    use super::super::tests::asked;
    use super::*;

    #[test]
    fn four_practice_models_give_each_prepared_answer_in_its_language_and_in_their_own_way() {
        let answering = PracticeKind::ALL.into_iter().filter(|kind| *kind != PracticeKind::Echo);
        let answering: Vec<PracticeKind> = answering.collect();
        for prepared in PREPARED_ANSWERS.iter() {
            let prompt = prepared.prompt.as_str();
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut answers: Vec<String> =
                answering.iter().map(|kind| kind.answer(&asked(&["Hello", prompt]), &mut rng)).collect();
            for answer in &answers {
                let told = [&prepared.short, &prepared.long].into_iter().any(|text| answer.contains(text.trim()));
                assert!(told && language_of(answer) == language_of(prompt), "{prompt}: {answer}");
            }
            answers.sort_unstable();
            answers.dedup();
            assert_eq!(answers.len(), 4, "{prompt}: no two say the same");
        }
        assert_eq!(PREPARED_ANSWERS.len(), 24);
    }
}
