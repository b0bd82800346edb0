//! The cards of the battle page, and what the practice models answer to them.

use std::collections::BTreeSet;

use langya::domain::language::Language;
use langya::infra::llm::Message;
use langya::infra::llm::builtin::PracticeKind;
use langya::render::i18n::pages::page_texts;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn four_practice_models_have_an_answer_of_their_own_to_every_card_in_both_languages() {
    for language in Language::ALL {
        for prompt in page_texts(language).cards.cards.iter().flat_map(|card| card.prompts) {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let answers: BTreeSet<String> =
                PracticeKind::ALL.iter().map(|kind| kind.answer(&[Message::user(*prompt)], &mut rng)).collect();
            assert_eq!(answers.len(), 5, "{prompt}: no two say the same");
            let unprepared = |answer: &&String| answer.contains("I do not know") || answer.contains("不知道");
            assert_eq!(answers.iter().find(unprepared), None, "{prompt}");
            let longest = answers.iter().map(|answer| answer.chars().count()).max();
            assert!(longest > Some(70), "{prompt}: somebody goes into detail");
        }
    }
}
