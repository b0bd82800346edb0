//! Distinguishes a judge's score from part of a number, a range bound and the maximum of the scale.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Interpretation of the text at the position of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ScoreReading {
    /// Score, in the valid range or not.
    Number(f64),
    /// Part of a number, a range, or a score on another scale, which is ambiguous.
    Unclear,
}

/// Denominator after a score, and the text after it.
static DENOMINATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\s*_`\]】(（]*(?:/|(?i:out\s+of))[\s*_`]*([0-9]+(?:\.[0-9]+)?)").expect("the pattern is valid")
});

/// Continuation that makes digits part of a number, a bound or an operand: more digits on the same line, adjacent or after such a sign.
static NUMBER_CONTINUATION: LazyLock<Regex> = LazyLock::new(|| {
    let signs = r"[-–~～−*×+^]|(?i:to|or)\b|至|到|或";
    Regex::new(&format!(r"^(?:[.,][0-9]|[eE][+-]?[0-9]|[ \t\x{{3000}}]*(?:%|(?:{signs})?[ \t\x{{3000}}]*[0-9]))"))
        .expect("the pattern is valid")
});

/// Words before the maximum of the scale.
static WORDS_BEFORE_MAXIMUM: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"out\s+of|/|满分|max(?:imum)?\.?(?:\s+(?:score|rating|possible))*";
    Regex::new(&format!(r"(?i)(?:{words})[\s*_`:：为是=]*$")).expect("the pattern is valid")
});

/// Converts full-width digits, points, slashes and minus signs of a text to ASCII.
pub(super) fn half_width(text: &str) -> Cow<'_, str> {
    let is_wide = |letter: char| half_width_letter(letter) != letter;
    if text.contains(is_wide) { text.chars().map(half_width_letter).collect::<String>().into() } else { text.into() }
}

/// Converts a full-width digit, point, slash or minus sign to ASCII; other characters are unchanged.
pub(super) fn half_width_letter(letter: char) -> char {
    match letter {
        '０'..='９' | '．' | '／' | '－' => {
            char::from_u32(u32::from(letter) - 0xFEE0).expect("full-width forms stand that far behind ASCII")
        }
        letter => letter,
    }
}

/// Interprets a number and the text after it in the reply.
pub(super) fn read(number: &str, behind: &str) -> ScoreReading {
    let number = number.parse().map_or(ScoreReading::Unclear, ScoreReading::Number);
    if is_complete_score(behind) { number } else { ScoreReading::Unclear }
}

/// Whether a number with this text after it is complete and a score out of 10.
fn is_complete_score(behind: &str) -> bool {
    text_after_scale(behind).is_some_and(|rest| !NUMBER_CONTINUATION.is_match(rest))
}

/// Returns the text after a score and its scale, if it has one; `None` if the scale is not 10.
pub(super) fn text_after_scale(behind: &str) -> Option<&str> {
    match DENOMINATOR.captures(behind) {
        Some(found) => (found[1].parse() == Ok(10.0)).then(|| &behind[found[0].len()..]),
        None => Some(behind),
    }
}

/// Whether the text before a number identifies it as the maximum of the scale.
pub(super) fn names_maximum(before: &str) -> bool {
    WORDS_BEFORE_MAXIMUM.is_match(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_alone_where_no_more_digits_belong_to_it() {
        for behind in
            ["", ".", "分", "/10", " out of 10", ", since 2 are wrong", "\n2. more", "']", "-", " to the point"]
        {
            assert_eq!(read("7", behind), ScoreReading::Number(7.0), "{behind:?}");
        }
        for behind in
            [",5", ".5", " 0", "-8", " - 8", "～8", " to 8", "或8", "e1", "*0.5", "%", "/8", "/100", "/10-9/10"]
        {
            assert_eq!(read("7", behind), ScoreReading::Unclear, "{behind:?}");
        }
    }

    #[test]
    fn the_top_of_the_scale_is_known_by_the_words_before_it() {
        assert!(["8 out of ", "8/", "满分", "满分为：", "(Maximum score: ", "max "].into_iter().all(names_maximum));
        assert!(["Rating: ", "", "out of it, ", "满分制评分："].into_iter().all(|before| !names_maximum(before)));
    }

    #[test]
    fn full_width_becomes_ascii_and_nothing_else_changes() {
        assert_eq!(half_width("评级：７．５／１０，－１"), "评级：7.5/10，-1");
        assert!(matches!(half_width("评级：7，清晰"), Cow::Borrowed("评级：7，清晰")));
    }
}
