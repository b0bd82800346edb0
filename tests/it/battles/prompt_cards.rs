//! The cards of the battle page, and what the practice models answer to them.

use std::collections::BTreeSet;

use langya::domain::language::Language;
use langya::infra::llm::Message;
use langya::infra::llm::providers::builtin::PracticeKind;
use langya::render::i18n::pages::page_texts;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What the calculator, the retriever and the scholar say where they have no answer.
const UNPREPARED: [&str; 6] =
    ["I know arithmetic", "in my small library", "I have nothing reliable", "我只会算术", "小资料库", "没有可靠的内容"];

#[test]
fn four_practice_models_have_an_answer_of_their_own_to_every_card_in_both_languages() {
    for language in Language::ALL {
        for prompt in page_texts(language).cards.cards.iter().flat_map(|card| card.prompts) {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let answers: BTreeSet<String> =
                PracticeKind::ALL.iter().map(|kind| kind.answer(&[Message::user(*prompt)], &mut rng)).collect();
            assert_eq!(answers.len(), 5, "{prompt}: no two say the same");
            let unprepared = |answer: &&String| UNPREPARED.iter().any(|words| answer.contains(words));
            assert_eq!(answers.iter().find(unprepared), None, "{prompt}");
            let longest = answers.iter().map(|answer| answer.chars().count()).max();
            assert!(longest > Some(70), "{prompt}: somebody goes into detail");
        }
    }
}
