//! Reads replies as the benchmarks' own programs do, faults included. Only for the `compat` switches, whose scores are
//! to be set beside those programs'.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Preference, Rating, VerdictError};

static ALIGNBENCH_ENTRY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'([^\n]*?)': ([0-9]+)").expect("the pattern is valid"));
static ALIGNBENCH_OVERALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'综合得分': ([0-9]+(?:\.[0-9]{1,2})?)").expect("the pattern is valid"));
static URS_GROUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^}]+\}").expect("the pattern is valid"));
static BRACKET: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([0-9]+)\]").expect("the pattern is valid"));

/// AlignBench's: the last braces of one line, names in straight quotes and one space behind the colon, any number.
///
/// # Errors
/// [`VerdictError::Unreadable`] where that program gives -1.
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

/// The text from the first `{` of the line that holds the text's last `{` up to the first `}` behind that one.
fn last_braces(reply: &str) -> Option<&str> {
    let last = reply.rfind('{')?;
    let end = last + reply[last..].find(['}', '\n']).filter(|end| reply[last + end..].starts_with('}'))?;
    let line = reply[..last].rfind('\n').map_or(0, |newline| newline + 1);
    let start = line + reply[line..].find('{')?;
    Some(&reply[start + 1..end])
}

/// URS's: the last braces, each known name with one quote or none around it and an ASCII colon.
///
/// # Errors
/// [`VerdictError::Unreadable`] where that program drops the case.
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

/// MT-Bench-101's: the first whole number in single or double brackets, whatever it is.
///
/// # Errors
/// [`VerdictError::Unreadable`] where there is none.
pub fn mtbench101(reply: &str) -> Result<Rating, VerdictError> {
    let found = BRACKET.captures(reply).ok_or(VerdictError::Unreadable)?;
    let score = number(&found[1]).ok_or(VerdictError::Unreadable)?;
    Ok(Rating::new(score, BTreeMap::new()))
}

/// FastChat's: `[[A]]` anywhere, else `[[B]]`, else `[[C]]`.
///
/// # Errors
/// [`VerdictError::Unreadable`] where there is none.
pub fn fastchat(reply: &str) -> Result<Preference, VerdictError> {
    let tokens = [("[[A]]", Preference::A), ("[[B]]", Preference::B), ("[[C]]", Preference::Tie)];
    let found = tokens.into_iter().find(|(token, _)| reply.contains(token));
    found.map(|(_, winner)| winner).ok_or(VerdictError::Unreadable)
}

/// The number that digits make; none where there are so many that it is infinite.
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
