//! Reads `Rating: [[7]]`: the last number in double brackets, else the last number behind the word.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Rating, VerdictError, in_range, no_verdict};

/// A number in double brackets, ASCII or full width; "7/10" is 7.
static BRACKETS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:\[\[|【【)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(?:/\s*10\s*)?(?:\]\]|】】)").expect("the pattern is valid")
});

/// A number behind the word, with signs such as `**` between them.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i:rating|score|评级|评分)[\s*_`]*[:：][\s*_`\[【]*(-?[0-9]+(?:\.[0-9]+)?)")
        .expect("the pattern is valid")
});

/// Reads a rating of 1 to 10, decimals allowed.
///
/// # Errors
/// [`VerdictError`] where there is none, or it is outside 1 to 10.
pub fn parse(reply: &str) -> Result<Rating, VerdictError> {
    let found = [&*BRACKETS, &*WORD].iter().find_map(|pattern| pattern.captures_iter(reply).last());
    let number = found.and_then(|found| found[1].parse().ok()).ok_or_else(|| no_verdict(reply))?;
    Ok(Rating::new(in_range(number)?, BTreeMap::new()))
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
}
