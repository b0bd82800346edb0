//! Parsers that reproduce the benchmarks' own programs, including their faults. Only for the `compat` switches, whose scores are compared
//! with those programs'.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Preference, Rating, VerdictError};

static ALIGNBENCH_ENTRY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'([^\n]*?)': ([0-9]+)").expect("the pattern is valid"));
static ALIGNBENCH_OVERALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'综合得分': ([0-9]+(?:\.[0-9]{1,2})?)").expect("the pattern is valid"));
static URS_GROUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^}]+\}").expect("the pattern is valid"));
static BRACKETED_NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([0-9]+)\]").expect("the pattern is valid"));

/// Parses like AlignBench: the last braces of one line, names in straight quotes and one space after the colon, any number.
///
/// # Errors
/// [`VerdictError::Unreadable`] if that program returns -1.
pub fn alignbench(reply: &str) -> Result<Rating, VerdictError> {
    let mut dimensions = BTreeMap::new();
    for entry in ALIGNBENCH_ENTRY.captures_iter(last_braces(reply).unwrap_or_default()) {
        dimensions.extend(number(&entry[2]).map(|score| (entry[1].to_owned(), score)));
    }
    let overall = dimensions.remove("综合得分");
    let anywhere = || ALIGNBENCH_OVERALL.captures(reply).and_then(|found| number(&found[1]));
    let score = overall.or_else(anywhere).ok_or(VerdictError::Unreadable)?;
    Ok(Rating::new(score, dimensions))
}

/// Returns the text from the first `{` of the line with the text's last `{` up to the first `}` after the latter.
fn last_braces(reply: &str) -> Option<&str> {
    let last = reply.rfind('{')?;
    let end = last + reply[last..].find(['}', '\n']).filter(|end| reply[last + end..].starts_with('}'))?;
    let line = reply[..last].rfind('\n').map_or(0, |newline| newline + 1);
    let start = line + reply[line..].find('{')?;
    Some(&reply[start + 1..end])
}

/// Parses like URS: the last braces, each known name with one quote or none around it and an ASCII colon.
///
/// # Errors
/// [`VerdictError::Unreadable`] if that program drops the case.
pub fn urs(reply: &str, dimensions: &[&str]) -> Result<Rating, VerdictError> {
    let group = URS_GROUP.find_iter(reply).last().ok_or(VerdictError::Unreadable)?.as_str();
    let score = |name: &str| {
        let pattern = format!(r#"['"‘’“”]?{}['"‘’“”]?\s*:\s*([0-9]+)"#, regex::escape(name));
        let found = Regex::new(&pattern).expect("an escaped name is a valid pattern").captures(group)?;
        number(&found[1])
    };
    let named = dimensions.iter().filter_map(|name| Some(((*name).to_owned(), score(name)?)));
    let dimensions = named.collect();
    let overall = score("综合得分").or_else(|| score("Final Score"));
    Ok(Rating::new(overall.ok_or(VerdictError::Unreadable)?, dimensions))
}

/// Parses like MT-Bench-101: the first whole number in single or double brackets, of any value.
///
/// # Errors
/// [`VerdictError::Unreadable`] if there is none.
pub fn mtbench101(reply: &str) -> Result<Rating, VerdictError> {
    let found = BRACKETED_NUMBER.captures(reply).ok_or(VerdictError::Unreadable)?;
    let score = number(&found[1]).ok_or(VerdictError::Unreadable)?;
    Ok(Rating::new(score, BTreeMap::new()))
}

/// Parses like FastChat: `[[A]]` anywhere, else `[[B]]`, else `[[C]]`.
///
/// # Errors
/// [`VerdictError::Unreadable`] if there is none.
pub fn fastchat(reply: &str) -> Result<Preference, VerdictError> {
    let tokens = [("[[A]]", Preference::A), ("[[B]]", Preference::B), ("[[C]]", Preference::Tie)];
    let found = tokens.into_iter().find(|(token, _)| reply.contains(token));
    found.map(|(_, winner)| winner).ok_or(VerdictError::Unreadable)
}

/// Parses a number; `None` if it has so many digits that it is infinite.
fn number(digits: &str) -> Option<f64> {
    digits.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_beyond_all_numbers_are_no_score() {
        let long = "9".repeat(400);
        assert_eq!(mtbench101(&format!("[[{long}]]")), Err(VerdictError::Unreadable));
        assert_eq!(alignbench(&format!("{{'综合得分': {long}}}")), Err(VerdictError::Unreadable));
        assert_eq!(urs(&format!("{{'综合得分': {long}}}"), &[]), Err(VerdictError::Unreadable));
        let dimension = format!("{{'清晰度': {long}, '综合得分': 7}}");
        let seven = Ok(Rating::new(7.0, BTreeMap::new()));
        assert_eq!((alignbench(&dimension), urs(&dimension, &["清晰度"])), (seven.clone(), seven));
    }
}
