//! The weakest practice model: repeats the question and adds nothing. The lower bound of every leaderboard.

use rand::{Rng, RngExt};

use super::words::{excerpt, language_of, question, questions};
use crate::domain::language::Language;
use crate::llm::Message;

pub(super) fn answer(conversation: &[Message], rng: &mut impl Rng) -> String {
    let asked = excerpt(question(conversation), 400);
    let earlier = questions(conversation).nth(1).map(|text| excerpt(text, 80));
    let way = rng.random_range(0..3);
    if language_of(&asked) == Language::Chinese {
        in_chinese(&asked, earlier.as_deref(), way)
    } else {
        in_english(&asked, earlier.as_deref(), way)
    }
}

fn in_english(asked: &str, earlier: Option<&str>, way: u8) -> String {
    let before = earlier.map(|text| format!("Before that you said “{text}”. ")).unwrap_or_default();
    match way {
        0 => format!("{before}You said: “{asked}” That is an interesting thing to say."),
        1 => format!("{before}So your question is “{asked}”. I have heard it, and I can only say it back to you."),
        _ => format!("{before}“{asked}” – yes, that is what you wrote, and there is no more to it."),
    }
}

fn in_chinese(asked: &str, earlier: Option<&str>, way: u8) -> String {
    let before = earlier.map(|text| format!("刚才你说的是“{text}”。")).unwrap_or_default();
    match way {
        0 => format!("{before}你说：“{asked}”这句话很有意思。"),
        1 => format!("{before}你的问题是“{asked}”。我听到了，但只能把它重复一遍。"),
        _ => format!("{before}“{asked}”，你是这样写的。我只会回声，说不出更多的了。"),
    }
}
