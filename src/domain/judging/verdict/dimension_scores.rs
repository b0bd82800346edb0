//! Parses scores by dimension: `{'清晰度': 9, …, '综合得分': 7}`, with any quotes, colons and line breaks.
//!
//! The last pair of braces with the overall score is used, so formulas and earlier drafts do no harm. Without one, the last overall score
//! in the text is used, without dimensions. Part of a number, a range, the maximum of the scale (满分10分), and a number with which the
//! reply breaks off inside braces are no scores.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::number::{ScoreReading, half_width, half_width_letter, names_maximum, read};
use super::{Rating, SCORE_RANGE, VerdictError, in_range, no_verdict};

/// Names of the overall score. The example in URS's official prompt uses "Overall".
const OVERALL_NAMES: [&str; 4] = ["综合得分", "Final Score", "Overall Score", "Overall"];

/// Innermost pair of braces, ASCII or full width.
static INNERMOST_BRACES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[{｛][^{}｛｝]*[}｝]").expect("the pattern is valid"));

/// Name, colon and number, each with or without quotes.
static NAMED_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"['"‘’“”`]?([^'"‘’“”`:：,，{}｛｝\n]+?)['"‘’“”`]?\s*[:：]\s*['"‘’“”`]?(-?[0-9]+(?:\.[0-9]+)?)"#)
        .expect("the pattern is valid")
});

/// Name of the overall score, as judges write it.
static OVERALL_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let name = r#"(?i)综合得分|(?:final|overall)[ _]*score|\boverall(?:\s*[(（][^()（）]*[)）])?['"‘’“”`]?\s*[:：]"#;
    Regex::new(name).expect("the pattern is valid")
});

/// Overall score outside braces, with or without an explanation in brackets after its name.
static OVERALL_OUTSIDE_BRACES: LazyLock<Regex> = LazyLock::new(|| {
    let name = "(?i:综合得分|(?:final|overall)[ _]*score)";
    let explained = r"[^0-9\-()（）]{0,6}[(（][^()（）\n]*[)）][^0-9\-:：=]{0,6}[:：=]";
    // Of the scale's maximum and a number after it, the number.
    let scale = r"[^0-9\-]{0,6}满分[为是：:\s]*10[^0-9\-]{0,6}";
    Regex::new(&format!(r"{name}(?:{explained}|{scale})?[^0-9\-]{{0,6}}(-?[0-9]+(?:\.[0-9]+)?)"))
        .expect("the pattern is valid")
});

/// Parses the scores of the given dimensions and the overall score. A judge that copied the placeholders of the prompt (维度一, Dimension 1)
/// gave its scores in the order of the names.
///
/// # Errors
/// [`VerdictError`] if there is no overall score, or it is outside 1 to 10.
pub fn parse(reply: &str, dimensions: &[&str]) -> Result<Rating, VerdictError> {
    let text = half_width(reply);
    if ends_within_overall(&text) {
        return Err(no_verdict(reply));
    }
    let group =
        INNERMOST_BRACES.find_iter(&text).map(|group| group.as_str()).filter(|group| names_overall(group)).last();
    let score = group.and_then(|group| of_group(group, dimensions)).or_else(|| parse_overall_outside_braces(&text));
    score.unwrap_or_else(|| Err(no_verdict(reply)))
}

fn names_overall(group: &str) -> bool {
    OVERALL_NAME.is_match(group)
}

/// Whether the text ends inside braces with the number of the overall score: 1 may be the beginning of 10.
fn ends_within_overall(text: &str) -> bool {
    let open = text.rfind(['{', '｛']).map(|brace| &text[brace..]).filter(|group| !group.contains(['}', '｝']));
    let last_entry = open.and_then(|group| group.rsplit([',', '，']).next()).unwrap_or_default();
    names_overall(last_entry)
        && last_entry.trim_end().ends_with(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// Parses the scores within braces; `None` if the overall score has no number there.
fn of_group(group: &str, dimensions: &[&str]) -> Option<Result<Rating, VerdictError>> {
    let mut overall = None;
    let mut scores = BTreeMap::new();
    for entry in NAMED_NUMBER.captures_iter(group) {
        let Some(number) = entry.get(2) else { continue };
        let (name, reading) = (entry[1].trim(), read(number.as_str(), &group[number.end()..]));
        if OVERALL_NAMES.iter().any(|known| same_name(known, strip_explanation(name))) {
            overall = Some(reading);
        } else if let (Some(dimension), ScoreReading::Number(score)) = (dimension_of(name, dimensions), reading)
            && SCORE_RANGE.contains(&score)
        {
            scores.insert(dimension.to_owned(), score);
        }
    }
    match overall? {
        ScoreReading::Number(score) => Some(in_range(score).map(|score| Rating::new(score, scores))),
        ScoreReading::Unclear => None,
    }
}

/// Parses the last overall score in the text; `None` if there is none or it is ambiguous.
fn parse_overall_outside_braces(text: &str) -> Option<Result<Rating, VerdictError>> {
    let reading = |found: regex::Captures<'_>| {
        let number = found.get(1)?;
        let is_maximum = names_maximum(&text[..number.start()]);
        (!is_maximum).then(|| read(number.as_str(), &text[number.end()..]))
    };
    match OVERALL_OUTSIDE_BRACES.captures_iter(text).filter_map(reading).last()? {
        ScoreReading::Number(score) => Some(in_range(score).map(|score| Rating::new(score, BTreeMap::new()))),
        ScoreReading::Unclear => None,
    }
}

/// Returns the dimension of a name: by the name itself, by the name before an explanation in brackets, or by its position.
fn dimension_of<'d>(name: &str, dimensions: &[&'d str]) -> Option<&'d str> {
    let bare = strip_explanation(name);
    let named = dimensions.iter().find(|known| same_name(known, bare));
    named.or_else(|| dimensions.get(placeholder(bare)?)).copied()
}

/// Strips an explanation in brackets after a name.
fn strip_explanation(name: &str) -> &str {
    name.split(['(', '（']).next().unwrap_or(name).trim()
}

/// Whether two names are equal up to spaces, case and the width of digits.
fn same_name(one: &str, other: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|letter| !letter.is_whitespace() && *letter != '_')
            .flat_map(|letter| half_width_letter(letter).to_lowercase())
            .collect::<String>()
    };
    letters(one) == letters(other)
}

/// Returns the position of a placeholder, from 0: 维度一 and "Dimension 1" are 0.
fn placeholder(name: &str) -> Option<usize> {
    let place = match name.strip_prefix("维度") {
        Some(place) => place,
        None => name.strip_prefix("Dimension").or_else(|| name.strip_prefix("dimension"))?,
    };
    let place = place.trim();
    let chinese = "一二三四五六七八九".chars().position(|digit| place.chars().eq([digit]));
    let english = ["one", "two", "three", "four", "five"].iter().position(|word| place.eq_ignore_ascii_case(word));
    chinese.or(english).or_else(|| place.parse::<usize>().ok()?.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSIONS: [&str; 3] = ["事实正确性", "满足用户需求", "清晰度"];

    #[track_caller]
    fn check(reply: &str, score: f64, dimensions: &[(&str, f64)]) {
        let dimensions = dimensions.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect();
        assert_eq!(parse(reply, &DIMENSIONS), Ok(Rating::new(score, dimensions)), "{reply:?}");
    }

    #[track_caller]
    fn refused(reply: &str, expected: VerdictError) {
        assert_eq!(parse(reply, &DIMENSIONS), Err(expected), "{reply:?}");
    }

    #[test]
    fn quotes_colons_and_line_breaks_are_those_of_the_judge() {
        let expected = [("事实正确性", 9.0)];
        check("{’事实正确性’: 9, ’综合得分’: 7}", 7.0, &expected);
        check("{“事实正确性”：9，“综合得分”：7}", 7.0, &expected);
        check("｛'事实正确性'：9，'综合得分'：7｝", 7.0, &expected);
        check("```json\n{\n  \"事实正确性\": 9,\n  \"综合得分\": \"7\"\n}\n```", 7.0, &expected);
        check("{事实正确性:9,综合得分:7分}", 7.0, &expected);
        check("{'事实正确性': 9.0, '综合得分': 7.5/10}", 7.5, &expected);
    }

    #[test]
    fn the_last_dictionary_with_an_overall_score_counts() {
        check("{'清晰度': 3, '综合得分': 2} 改为 {'清晰度': 8, '综合得分': 9}", 9.0, &[("清晰度", 8.0)]);
        check("{'清晰度': 3, '综合得分': 2}，其中 {1, 2} 是集合", 2.0, &[("清晰度", 3.0)]);
        check("{'评分': {'清晰度': 3, '综合得分': 2}}", 2.0, &[("清晰度", 3.0)]);
    }

    #[test]
    fn names_may_be_explained_or_be_placeholders() {
        check("{'清晰度(Clarity)': 6, '综合得分': 5}", 5.0, &[("清晰度", 6.0)]);
        check("{'清晰度(1-10)': 9, '综合得分(1-10)': 7}", 7.0, &[("清晰度", 9.0)]);
        check("{'清晰度（1到10分）': 9, 'Final Score (of 10)': 7}", 7.0, &[("清晰度", 9.0)]);
        check("{'维度一': 6, '维度三': 4, '综合得分': 5}", 5.0, &[("事实正确性", 6.0), ("清晰度", 4.0)]);
        check("{'Dimension 2': 6, 'Final Score': 5}", 5.0, &[("满足用户需求", 6.0)]);
        check("{'dimension one': 6, 'final_score': 5}", 5.0, &[("事实正确性", 6.0)]);
        check("{'维度九': 6, '文采': 3, '综合得分': 5}", 5.0, &[]);
        check("{'清晰度': 6, 'Overall': 5}", 5.0, &[("清晰度", 6.0)]);
        check("{清晰度: 6, Overall (1-10): 5}", 5.0, &[("清晰度", 6.0)]);
        check("{'清晰度': 6, '综合得分': 5}, {x overall}", 5.0, &[("清晰度", 6.0)]);
    }

    #[test]
    fn without_braces_the_last_overall_score_counts() {
        check("综合得分：3分。再想，综合得分：7分", 7.0, &[]);
        check("Final Score: 8", 8.0, &[]);
        check("Final Score (1-10): 8", 8.0, &[]);
        check("**综合得分**（1-10分）：**8**", 8.0, &[]);
        check("综合得分（8）", 8.0, &[]);
        check("综合得分：8 {'清晰度': 3}", 8.0, &[]);
    }

    #[test]
    fn a_score_that_cannot_be_is_an_error_and_a_dimension_that_cannot_be_is_absent() {
        refused("{'事实正确性': 9, '综合得分': 11}", VerdictError::OutOfRange(11.0));
        refused("{'事实正确性': 9, '综合得分': 0}", VerdictError::OutOfRange(0.0));
        refused("{'事实正确性': 9, '综合得分': -1}", VerdictError::OutOfRange(-1.0));
        refused("{'事实正确性': 9}", VerdictError::Unreadable);
        refused("", VerdictError::Unreadable);
        check("{'事实正确性': 0, '清晰度': 12, '综合得分': 5}", 5.0, &[]);
    }
    #[test]
    fn a_number_with_which_a_reply_breaks_off_is_no_score() {
        let broken_off = ["{'事实正确性': 9, '综合得分': 1", "{'综合得分': '1", "｛'综合得分'：７．", "{'Overall': 7"];
        for reply in broken_off {
            refused(reply, VerdictError::Unreadable);
        }
        refused("{'清晰度': 3, '综合得分': 2}，改为 {'清晰度': 8, '综合得分': 1", VerdictError::Unreadable);
        check("{'事实正确性': 9, '综合得分': 7, '清晰度': 8", 7.0, &[]);
        check("{'事实正确性': 9, '综合得分': 7\n```", 7.0, &[]);
    }

    #[test]
    fn a_piece_of_a_number_a_range_or_the_top_of_the_scale_is_no_score() {
        for number in ["1 0", "7,5", "9-10", "9～10", "8或9", "1e1", "4/5", "7%"] {
            refused(&format!("{{'综合得分': {number}}}"), VerdictError::Unreadable);
            refused(&format!("综合得分：{number}"), VerdictError::Unreadable);
            refused(&format!("综合得分：8，{{'综合得分': {number}}}"), VerdictError::Unreadable);
            check(&format!("{{'清晰度': {number}, '综合得分': 7}}"), 7.0, &[]);
        }
        check("综合得分：满分10分，得7分", 7.0, &[]);
        check("{'综合得分': '满分10分，得7分'}", 7.0, &[]);
        check("综合得分：7分（满分10分）", 7.0, &[]);
        check("Final Score: 8 (out of 10)", 8.0, &[]);
        refused("Final Score: 4 (out of 5)", VerdictError::Unreadable);
        refused("综合得分满分10分", VerdictError::Unreadable);
        check("{'清晰度':9,'综合得分':7}", 7.0, &[("清晰度", 9.0)]);
        check("{'清晰度'：９，'综合得分'：７．５}", 7.5, &[("清晰度", 9.0)]);
    }
}
