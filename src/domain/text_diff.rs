//! Differences of two texts by words, or by sentences in long texts.

/// Part of a text that is common or differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffPart {
    /// Text of the part.
    pub text: String,
    /// Whether the other text lacks this part here.
    pub differs: bool,
}

/// Maximum number of compared words or sentences per text: the work grows with the product of both.
const MAX_COMPARED_UNITS: usize = 2_000;

/// Splits both texts into common and differing parts by a longest common subsequence of words, or of sentences where there are more than
/// the maximum number of words. Returns `None` where a text has too many sentences as well.
///
/// Words are runs of letters and digits; each other character, and each one of a script without spaces, is a word by itself. A sentence
/// ends with its punctuation mark or its line. The concatenated parts are the text.
#[must_use]
pub fn text_diff(one: &str, other: &str) -> Option<[Vec<DiffPart>; 2]> {
    let is_short =
        |[own, others]: &[Vec<&str>; 2]| own.len() <= MAX_COMPARED_UNITS && others.len() <= MAX_COMPARED_UNITS;
    let by_word = [words(one), words(other)];
    if is_short(&by_word) {
        return Some(marked(&by_word));
    }
    Some([sentences(one), sentences(other)]).filter(is_short).map(|by_sentence| marked(&by_sentence))
}

fn marked([own, others]: &[Vec<&str>; 2]) -> [Vec<DiffPart>; 2] {
    let (mut is_common, mut is_others_common) = (vec![false; own.len()], vec![false; others.len()]);
    for (at, other_at) in common(own, others) {
        (is_common[at], is_others_common[other_at]) = (true, true);
    }
    [parts(own, &is_common), parts(others, &is_others_common)]
}

/// Splits a text into sentences, each with its trailing spaces.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut has_ended) = (0, false);
    for (at, letter) in text.char_indices() {
        if has_ended && !letter.is_whitespace() && !is_end(letter) {
            sentences.push(&text[start..at]);
            (start, has_ended) = (at, false);
        }
        has_ended |= is_end(letter);
    }
    if start < text.len() {
        sentences.push(&text[start..]);
    }
    sentences
}

fn is_end(letter: char) -> bool {
    matches!(letter, '.' | '!' | '?' | '。' | '！' | '？' | '；' | '\n')
}

fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        // A word continues with its letters.
        let goes_on = is_of_word(letter) && text[start..at].chars().next_back().is_some_and(is_of_word);
        if at > start && !goes_on {
            words.push(&text[start..at]);
            start = at;
        }
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Whether a character is a digit or a letter of a script that uses spaces.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() && letter < '\u{2e80}'
}

/// Returns the positions of a longest common subsequence, in order.
fn common(own: &[&str], others: &[&str]) -> Vec<(usize, usize)> {
    let width = others.len() + 1;
    // Length of the longest common subsequence from each pair of positions to the ends.
    let mut lengths = vec![0_u16; (own.len() + 1) * width];
    for at in (0..own.len()).rev() {
        for other_at in (0..others.len()).rev() {
            lengths[at * width + other_at] = match own[at] == others[other_at] {
                true => lengths[(at + 1) * width + other_at + 1] + 1,
                false => lengths[(at + 1) * width + other_at].max(lengths[at * width + other_at + 1]),
            };
        }
    }
    let (mut at, mut other_at, mut found) = (0, 0, Vec::new());
    while at < own.len() && other_at < others.len() {
        if own[at] == others[other_at] {
            found.push((at, other_at));
            (at, other_at) = (at + 1, other_at + 1);
        } else if lengths[(at + 1) * width + other_at] >= lengths[at * width + other_at + 1] {
            at += 1;
        } else {
            other_at += 1;
        }
    }
    found
}

fn parts(words: &[&str], is_common: &[bool]) -> Vec<DiffPart> {
    let mut parts: Vec<DiffPart> = Vec::new();
    for (word, is_common) in words.iter().zip(is_common) {
        match parts.last_mut().filter(|part| part.differs != *is_common) {
            Some(part) => part.text.push_str(word),
            None => parts.push(DiffPart { text: (*word).to_owned(), differs: !is_common }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text with its differing parts in brackets.
    fn marked(parts: &[DiffPart]) -> String {
        let part = |part: &DiffPart| if part.differs { format!("[{}]", part.text) } else { part.text.clone() };
        parts.iter().map(part).collect()
    }

    #[track_caller]
    fn check(one: &str, other: &str, expected: [&str; 2]) {
        let found = text_diff(one, other).unwrap();
        assert_eq!(found.each_ref().map(|parts| marked(parts)), expected.map(str::to_owned));
        let whole = found.map(|parts| parts.into_iter().map(|part| part.text).collect::<String>());
        assert_eq!(whole, [one.to_owned(), other.to_owned()]);
    }

    #[test]
    fn words_that_only_one_text_has_are_marked() {
        check("", "", ["", ""]);
        check("the same", "the same", ["the same", "the same"]);
        check("A red fox.", "A brown fox runs.", ["A [red] fox.", "A [brown] fox[ runs]."]);
        check("", "new", ["", "[new]"]);
        check("三加四得七", "三加四等于七", ["三加四[得]七", "三加四[等于]七"]);
        check("naïve café", "naïve cafés", ["naïve [café]", "naïve [cafés]"]);
    }

    #[test]
    fn a_text_that_is_too_long_is_not_compared() {
        let long = "a. ".repeat(MAX_COMPARED_UNITS + 1);
        assert_eq!(text_diff(&long, "a"), None);
        assert!(text_diff(&long[..MAX_COMPARED_UNITS], "a").is_some());
    }

    #[test]
    fn long_texts_are_compared_by_sentence() {
        let filler = "A fox. 三加四。\n\n".repeat(MAX_COMPARED_UNITS / 4);
        let (one, other) = (format!("{filler}One red fox! So."), format!("{filler}One brown fox! So."));
        let expected = [format!("{filler}[One red fox! ]So."), format!("{filler}[One brown fox! ]So.")];
        check(&one, &other, [&expected[0], &expected[1]]);
        let whole = "a ".repeat(MAX_COMPARED_UNITS);
        check(&whole, "a", [&format!("[{whole}]"), "[a]"]);
        assert_eq!(sentences("Why?! So … 3.5 km\nx"), ["Why?! ", "So … 3.", "5 km\n", "x"]);
    }
}
