//! Parses `Rating: [[7]]`: the last score in double brackets, else the last number after the word.
//!
//! The maximum of the scale ("out of `[[10]]`") and a footnote mark are no scores. Part of a number or a range (`[[7,5]]`, `[[9-10]]`) at
//! the position of the last score is not a verdict, since it is ambiguous.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::number::{ScoreReading, half_width, names_maximum, read, text_after_scale};
use super::{Rating, VerdictError, in_range, no_verdict};

/// Text in double brackets, ASCII or full width, that begins with a number, and the text after the number within them.
static BRACKETED_RATING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\[\[|【【|［［)[\s*_`'"]*(-?[0-9]+(?:\.[0-9]+)?)([^\[\]【】［］]*)(?:\]\]|】】|］］)"#)
        .expect("the pattern is valid")
});

/// Text allowed after the number: the scale, a unit, an explanation without numbers.
static ALLOWED_SUFFIX: LazyLock<Regex> = LazyLock::new(|| {
    let scale = r"(?:\s*[(（]?(?:/|(?i:out\s+of))\s*10[)）]?)?";
    Regex::new(&format!(r#"^{scale}\s*(?:分|(?i:points?))?\s*(?:[(（:：][^0-9]*)?[\s*_`'".。]*$"#))
        .expect("the pattern is valid")
});

/// Number after the word, with signs such as `**` between them.
static NUMBER_AFTER_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i:rating|score|评级|评分)[\s*_`]*[:：][\s*_`\[【]*(-?[0-9]+(?:\.[0-9]+)?)")
        .expect("the pattern is valid")
});

/// Mark at the end of the text that nothing closes: `[[1` may be the beginning of `[[10]]`.
static UNCLOSED_MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?:\[\[|【【|［［)[\s*_`'"]*-?[0-9]*\.?[0-9]*\s*$"#).expect("the pattern is valid"));

/// Separator that joins two marks into a range.
static RANGE_SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:\]\]|】】|］］)\s*(?:[-–~～−]|(?i:to|or)\b|至|到|或)\s*$").expect("the pattern is valid")
});

/// Text after the mark of a footnote or source.
static FOOTNOTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[ \t]*[:：]").expect("the pattern is valid"));
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:\((?:https?:|#)|[ \t]*[:：]\s*<?https?:)").expect("the pattern is valid"));

/// Parses a rating of 1 to 10, decimals allowed.
///
/// # Errors
/// [`VerdictError`] if there is none, or it is outside 1 to 10.
pub fn parse(reply: &str) -> Result<Rating, VerdictError> {
    let text = half_width(reply);
    if UNCLOSED_MARK.is_match(&text) {
        return Err(no_verdict(reply));
    }
    let in_brackets = |footnotes: bool| {
        let marks = BRACKETED_RATING.captures_iter(&text).filter(|found| is_footnote(&text, found) == footnotes);
        marks.filter_map(|found| of_mark(&text, &found)).last()
    };
    let behind_word = || NUMBER_AFTER_WORD.captures_iter(&text).filter_map(|found| of_word(&text, &found)).last();
    // A footnote mark is the score if there is no other: "[[7]]: a good answer".
    match in_brackets(false).or_else(behind_word).or_else(|| in_brackets(true)) {
        Some(ScoreReading::Number(number)) => Ok(Rating::new(in_range(number)?, BTreeMap::new())),
        Some(ScoreReading::Unclear) | None => Err(no_verdict(reply)),
    }
}

/// Whether a mark begins its line and is followed by a colon.
fn is_footnote(text: &str, found: &Captures<'_>) -> bool {
    found.get(0).is_some_and(|mark| {
        let begins_line = text[..mark.start()].rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
        begins_line && FOOTNOTE.is_match(&text[mark.end()..])
    })
}

/// Interprets a mark; `None` for the maximum of the scale and for a source's mark.
fn of_mark(text: &str, found: &Captures<'_>) -> Option<ScoreReading> {
    let mark = found.get(0)?;
    let (before, behind) = (&text[..mark.start()], &text[mark.end()..]);
    if LINK.is_match(behind) {
        return None;
    }
    let reading = match ALLOWED_SUFFIX.is_match(&found[2])
        && text_after_scale(behind).is_some()
        && !RANGE_SEPARATOR.is_match(before)
    {
        true => read(&found[1], ""),
        false => ScoreReading::Unclear,
    };
    match names_maximum(before) {
        true if reading == ScoreReading::Number(10.0) => None,
        // The score before it is on another scale.
        true => Some(ScoreReading::Unclear),
        false => Some(reading),
    }
}

/// Interprets a number after the word; `None` for the maximum of the scale.
fn of_word(text: &str, found: &Captures<'_>) -> Option<ScoreReading> {
    let (whole, number) = (found.get(0)?, found.get(1)?);
    let (before, behind) = (&text[..number.start()], &text[number.end()..]);
    if names_maximum(before) {
        return None;
    }
    let is_opened = before[whole.start()..].contains(['[', '【']);
    let is_closed = || behind.split(['[', '【']).next().is_some_and(|rest| rest.contains([']', '】']));
    Some(if is_opened && !is_closed() { ScoreReading::Unclear } else { read(number.as_str(), behind) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Result<f64, VerdictError>) {
        assert_eq!(parse(reply).map(|rating| rating.score), expected, "{reply:?}");
    }

    #[test]
    fn the_last_number_in_double_brackets_counts() {
        check("As said in [1], good. Rating: [[8]]", Ok(8.0));
        check("Rating: [[10]] … on reflection, Rating: [[9]]", Ok(9.0));
        check("评级：[[5]]", Ok(5.0));
        check("评级：【【 5 】】", Ok(5.0));
        check("评级：［［５］］", Ok(5.0));
        check("Rating: [[7.5/10]]", Ok(7.5));
    }

    #[test]
    fn without_brackets_the_word_counts() {
        check("**Rating**: 7", Ok(7.0));
        check("**Rating: 7**", Ok(7.0));
        check("Rating: [6]", Ok(6.0));
        check("rating：4分", Ok(4.0));
        check("I rate it 7.", Err(VerdictError::Unreadable));
    }

    #[test]
    fn what_is_no_score_is_an_error() {
        check("Rating: [[0]]", Err(VerdictError::OutOfRange(0.0)));
        check("Rating: [[11]]", Err(VerdictError::OutOfRange(11.0)));
        check("Rating: [[-1]]", Err(VerdictError::OutOfRange(-1.0)));
        check("", Err(VerdictError::Unreadable));
        check("I'm sorry, I will not rate this.", Err(VerdictError::Refused));
    }
    #[test]
    fn a_piece_of_a_number_or_a_range_is_no_score() {
        let unclear =
            ["[[7,5]]", "[[7，5]]", "[[9-10]]", "[[9–10]]", "[[8 or 9]]", "[[1e1]]", "[[1 0]]", "[[7%]]", "[[4/5]]"];
        for reply in unclear {
            check(reply, Err(VerdictError::Unreadable));
            check(&format!("Rating: {reply}"), Err(VerdictError::Unreadable));
        }
        for reply in ["Rating: 7,5", "Rating: 9-10", "Rating: 1e1", "评分：1 0", "Rating: [[8]]-[[9]]", "Rating: 4/5"]
        {
            check(reply, Err(VerdictError::Unreadable));
        }
        check("Rating: [[8]]. No, Rating: [[9-10]]", Err(VerdictError::Unreadable));
        check("Rating: [[7 (good)]]", Ok(7.0));
        check("Rating: [[7]] - 3 points are lost", Ok(7.0));
        check("Rating: [[7]] 10 would be perfect", Ok(7.0));
        check("Rating: [[8 (out of 10)]]", Ok(8.0));
        check("Rating: [[8分]]", Ok(8.0));
        check("Rating: [[**8**]]", Ok(8.0));
        check("Rating: [[8 out of 10]]", Ok(8.0));
        check("Rating: 7, as there are two slips.", Ok(7.0));
        check("Rating: 7/10\n2. More to say", Ok(7.0));
    }

    #[test]
    fn brackets_that_nothing_closes_hold_no_score() {
        let unclosed =
            ["Rating: [[1", "Rating: [[", "评级：【【1", "Rating: [1", "Rating: [[1 ", "Rating: [[7 as it\n[[is]] so"];
        for reply in unclosed {
            check(reply, Err(VerdictError::Unreadable));
        }
        check("Rating: [[8]]. No, Rating: [[1", Err(VerdictError::Unreadable));
        check("Rating: [[8]", Ok(8.0));
        check("Rating: [6 points]", Ok(6.0));
    }

    #[test]
    fn the_top_of_the_scale_and_a_footnote_are_no_score() {
        check("Rating: [[8]] out of [[10]]", Ok(8.0));
        check("Rating: [[8]] / [[10]]", Ok(8.0));
        check("评级：[[8]]（满分[[10]]）", Ok(8.0));
        check("Rating: [[4]] out of [[5]]", Err(VerdictError::Unreadable));
        check("Rating: [[8]] out of 10", Ok(8.0));
        check("Rating: [[8]].\n\n[[1]]: https://x", Ok(8.0));
        check("Rating: [[8]], see [[1]](https://x)", Ok(8.0));
        check("Rating: 8\n[[1]]: https://x", Ok(8.0));
        check("Rating: [[8]].\n\n[[1]]: as the reference has it", Ok(8.0));
        check("[[7]]: a good answer", Ok(7.0));
        check("[[1]]: https://x", Err(VerdictError::Unreadable));
        check("Rating: 8 (maximum score: 10)", Ok(8.0));
    }

    #[test]
    fn digits_of_full_width_are_digits() {
        check("评级：[[７]]", Ok(7.0));
        check("评级：【【７．５】】", Ok(7.5));
        check("评级：[[８／１０]]", Ok(8.0));
        check("评级：[[１０]]", Ok(10.0));
    }
}
