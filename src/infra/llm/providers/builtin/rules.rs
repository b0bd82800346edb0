//! Practice model with conversation rules like those of the first chat programs: a keyword, the text after it, a canned sentence.
//!
//! It sounds attentive and knows nothing, which makes it a useful opponent.

use rand::{Rng, RngExt};

use super::words::{excerpt, language_of, question, questions};
use crate::domain::language::Language;
use crate::llm::Message;

/// A keyword and its sentences; `{}` stands for the text after the keyword with the persons swapped.
struct KeywordRule {
    keyword: &'static str,
    answers: &'static [&'static str],
}

const ENGLISH_RULES: &[KeywordRule] = &[
    KeywordRule {
        keyword: "hello",
        answers: &["Hello! What is on your mind today?", "Hi there. What shall we talk about?"],
    },
    KeywordRule {
        keyword: "thank",
        answers: &["You are welcome. Is there anything else you would like to talk about?"],
    },
    KeywordRule { keyword: "i feel", answers: &["How long have you felt {}?", "What usually makes you feel {}?"] },
    KeywordRule { keyword: "i am", answers: &["How does being {} change your day?", "Since when are you {}?"] },
    KeywordRule {
        keyword: "i want",
        answers: &["What would it mean to you to get {}?", "Suppose you had {}: what then?"],
    },
    KeywordRule { keyword: "i need", answers: &["What keeps you from having {}?", "Are you sure that you need {}?"] },
    KeywordRule { keyword: "i can't", answers: &["What would have to change so that you could {}?"] },
    KeywordRule { keyword: "i think", answers: &["What makes you think {}?", "Do others also think {}?"] },
    KeywordRule {
        keyword: "should i",
        answers: &["What speaks for it, and what against: to {}?", "What would a friend say if you {}?"],
    },
    KeywordRule { keyword: "because", answers: &["Is that the only reason?", "What other reasons come to mind?"] },
    KeywordRule {
        keyword: "write",
        answers: &[
            "I would begin with the reader: who is it for? Then one idea a paragraph: the first says what it is about, \
             the last what to do next. What should {} leave behind?",
        ],
    },
    KeywordRule {
        keyword: "how do i",
        answers: &["A good start is to say what you tried so far. Which part of how to {} is hardest?"],
    },
    KeywordRule { keyword: "how to", answers: &["Take one small step first. What is the smallest part of how to {}?"] },
    KeywordRule {
        keyword: "why",
        answers: &["What do you think is the reason?", "What answer would you hope to hear?"],
    },
    KeywordRule {
        keyword: "what is",
        answers: &["What does {} mean to you?", "What would you do if you knew about {}?"],
    },
    KeywordRule {
        keyword: "you are",
        answers: &["What makes you say that I am {}?", "Would it help you if I were {}?"],
    },
    KeywordRule { keyword: "can you", answers: &["I can only talk in a simple way. Why do you want me to {}?"] },
    KeywordRule { keyword: "sorry", answers: &["No need to be sorry. Go on, please."] },
];

const ENGLISH_FALLBACKS: &[&str] = &[
    "Tell me more about that.",
    "What matters most to you about it?",
    "Could you give me an example?",
    "I see. And what happened next?",
];

const CHINESE_RULES: &[KeywordRule] = &[
    KeywordRule {
        keyword: "你好", answers: &["你好！今天想聊点什么？", "你好，有什么想说的吗？"]
    },
    KeywordRule { keyword: "谢谢", answers: &["不客气。还有什么想聊的吗？"] },
    KeywordRule { keyword: "我觉得", answers: &["为什么你觉得{}？", "别人也觉得{}吗？"] },
    KeywordRule { keyword: "我想", answers: &["如果真的能{}，你会怎么样？", "是什么让你想{}？"] },
    KeywordRule {
        keyword: "我很", answers: &["你从什么时候开始这么{}的？", "什么事情会让你更{}？"]
    },
    KeywordRule { keyword: "我不能", answers: &["要怎样你才能{}？"] },
    KeywordRule { keyword: "我应该", answers: &["如果{}，最好的结果是什么？最坏的呢？"] },
    KeywordRule { keyword: "怎么", answers: &["先说说你已经试过什么？哪一步“{}”最难？"] },
    KeywordRule { keyword: "如何", answers: &["不妨先走一小步。要{}，最小的一步是什么？"] },
    KeywordRule {
        keyword: "写", answers: &["写之前先想读者是谁，每段只讲一件事。你希望{}让人记住什么？"]
    },
    KeywordRule {
        keyword: "为什么", answers: &["你自己认为为什么{}？", "你希望听到什么样的解释？"]
    },
    KeywordRule { keyword: "什么是", answers: &["对你来说，{}意味着什么？"] },
    KeywordRule { keyword: "因为", answers: &["这是唯一的原因吗？", "还有别的原因吗？"] },
];

const CHINESE_FALLBACKS: &[&str] =
    &["请再多说一点。", "这件事里你最在意的是什么？", "能举个例子吗？", "我明白了。后来呢？"];

pub(super) fn answer(conversation: &[Message], rng: &mut impl Rng) -> String {
    let asked = question(conversation);
    let language = language_of(asked);
    if questions(conversation).skip(1).any(|earlier| earlier == asked) {
        let again = if language == Language::Chinese {
            "这句话你刚才说过了。是我没有听懂吗？"
        } else {
            "You said that before. Did I miss your point?"
        };
        return again.to_owned();
    }
    let (rules, otherwise) = if language == Language::Chinese {
        (CHINESE_RULES, CHINESE_FALLBACKS)
    } else {
        (ENGLISH_RULES, ENGLISH_FALLBACKS)
    };
    let lower = asked.to_lowercase().replace('’', "'");
    let found = rules.iter().find_map(|rule| Some((rule, after_keyword(&lower, rule.keyword)?)));
    let (answers, rest) = found.map_or((otherwise, String::new()), |(rule, rest)| (rule.answers, rest));
    let template = answers[rng.random_range(0..answers.len())];
    if template.contains("{}") && rest.is_empty() {
        return otherwise[0].to_owned();
    }
    template.replace(
        "{}",
        &if language == Language::Chinese { swap_person_chinese(&rest) } else { swap_person_english(&rest) },
    )
}

/// Returns the text after a keyword up to the end of its sentence; `None` if the keyword does not occur as a word.
fn after_keyword(lower: &str, keyword: &str) -> Option<String> {
    let (before, after) = lower.split_once(keyword)?;
    let inside_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    if keyword.is_ascii()
        && (inside_word(before.chars().next_back()) || inside_word(after.chars().next()))
        && keyword != "thank"
    {
        return None;
    }
    let sentence = after.split(['.', '?', '!', '\n', '。', '？', '！', '，']).next().unwrap_or_default();
    Some(excerpt(sentence.trim().trim_start_matches([',', '，']), 120))
}

/// Swaps the first and second person.
fn swap_person_english(text: &str) -> String {
    let turned = text.split_whitespace().map(|word| match word {
        "i" | "me" => "you",
        "my" => "your",
        "am" => "are",
        "mine" => "yours",
        "myself" => "yourself",
        "you" => "I",
        "your" => "my",
        "yours" => "mine",
        other => other,
    });
    turned.collect::<Vec<_>>().join(" ")
}

fn swap_person_chinese(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '我' => '你',
            '你' => '我',
            other => other,
        })
        .collect::<String>()
        .trim_end_matches(['吗', '呢', '了'])
        .to_owned()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::tests::asked;
    use super::*;

    #[track_caller]
    fn check(questions: &[&str], expected: &str) {
        let said = answer(&asked(questions), &mut ChaCha8Rng::seed_from_u64(1));
        assert!(said.contains(expected), "{questions:?}: {said}");
    }

    #[test]
    fn what_follows_a_keyword_is_turned_around() {
        check(&["I feel lost in my work."], "lost in your work?");
        check(&["因为下雨"], "原因");
        check(&["我觉得我太忙了"], "你太忙");
    }

    #[test]
    fn a_keyword_inside_a_word_is_none() {
        assert_eq!(after_keyword("maki am", "i am"), None);
        assert_eq!(after_keyword("i amber", "i am"), None);
        assert_eq!(after_keyword("well, i am tired. really", "i am").as_deref(), Some("tired"));
    }

    #[test]
    fn a_repeated_question_is_noticed() {
        check(&["Tell me a joke", "Tell me a joke"], "before");
    }

    #[test]
    fn anything_gets_some_answer() {
        for question in ["", "why", "…", "\0", "🤖"] {
            check(&[question], "");
            assert!(!answer(&asked(&[question]), &mut ChaCha8Rng::seed_from_u64(2)).is_empty());
        }
    }
}
