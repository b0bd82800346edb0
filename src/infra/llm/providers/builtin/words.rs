//! Words of English and Chinese text: pieces to stream, search terms, the last question of a conversation.

use crate::domain::language::Language;
use crate::llm::{Message, MessageRole};

/// Whether a character is Chinese.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

/// Detects the language to answer in: Chinese if the text contains any Chinese character.
pub(super) fn language_of(text: &str) -> Language {
    if text.chars().any(is_han) { Language::Chinese } else { Language::English }
}

/// Returns the last message of the visitor; empty if there is none.
pub(super) fn question(conversation: &[Message]) -> &str {
    questions(conversation).next().unwrap_or_default()
}

/// Returns the visitor's messages, the last one first.
pub(super) fn questions(conversation: &[Message]) -> impl Iterator<Item = &str> {
    conversation.iter().rev().filter(|message| message.role == MessageRole::User).map(|message| message.content.trim())
}

/// Returns the beginning of a text on one line, at most `limit` characters.
pub(super) fn excerpt(text: &str, limit: usize) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(limit) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Splits a text into streamed pieces: a word with the blanks after it, or two Chinese characters. Their concatenation is the text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = piece_end(rest)?;
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

fn piece_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, first) = chars.next()?;
    let mut han = usize::from(is_han(first));
    let mut in_blank = first.is_whitespace();
    for (index, c) in chars {
        let ends_word = in_blank && !c.is_whitespace();
        if ends_word || (is_han(c) && han == 0) || (han > 0 && (han == 2 || !is_han(c))) {
            return Some(index);
        }
        han += usize::from(is_han(c));
        in_blank = c.is_whitespace();
    }
    Some(text.len())
}

/// English stop words.
const STOP_WORDS: [&str; 71] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
    "do", "does", "explain", "for", "from", "give", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it",
    "its", "know", "many", "me", "more", "much", "my", "of", "on", "or", "please", "tell", "than", "that", "the",
    "their", "them", "there", "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who",
    "whose", "why", "will", "with", "would", "you", "your", "describe",
];

/// Chinese stop characters.
const STOP_HAN: &str = "的了吗呢是在有和与我你他她它们这那什么怎样为何请问一个说下吧啊哪几多少谁";

/// Returns the search terms of a text: lower-case words without their plural, and pairs of Chinese characters (single ones if there are no
/// pairs).
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    let (mut alone, mut singles) = (false, Vec::new());
    for c in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        if c.is_alphanumeric() && !is_han(c) {
            word.push(c);
        } else if !word.is_empty() {
            push_word(&mut terms, std::mem::take(&mut word));
        }
        let han = (is_han(c) && !STOP_HAN.contains(c)).then_some(c);
        match (previous, han) {
            (Some(first), Some(second)) => terms.push([first, second].iter().collect()),
            (Some(single), None) if alone => singles.push(single.to_string()),
            _ => {}
        }
        alone = previous.is_none() && han.is_some();
        previous = han;
    }
    if terms.is_empty() { singles } else { terms }
}

fn push_word(terms: &mut Vec<String>, mut word: String) {
    let short_number = word.len() < 3 && word.chars().all(|c| c.is_ascii_digit());
    if short_number || STOP_WORDS.contains(&word.as_str()) {
        return;
    }
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is")
    {
        word.pop();
    }
    terms.push(word);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pieces_are_words_or_two_chinese_characters() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("To be,  or\nnot"), ["To ", "be,  ", "or\n", "not"]);
        assert_eq!(cut("你好世界 and 我"), ["你好", "世界", " ", "and ", "我"]);
        assert!(cut("").is_empty());
    }

    #[test]
    fn terms_are_what_a_text_is_about() {
        assert_eq!(terms("What are the planets of the Solar System?"), ["planet", "solar", "system"]);
        assert_eq!(terms("What is 3 + 15 in 1969?"), ["1969"]);
        assert_eq!(terms("长江有多长？"), ["长江"]);
        assert_eq!(terms("什么是茶?"), ["茶"]);
        assert_eq!(terms("什么是光合作用"), ["光合", "合作", "作用"]);
    }

    #[test]
    fn an_excerpt_is_one_line_cut_between_characters() {
        assert_eq!(excerpt("a\n b", 10), "a b");
        assert_eq!(excerpt("你好世界", 2), "你好…");
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_text(text in "[a你好 \n,.😀]{0,60}") {
            prop_assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }
}
