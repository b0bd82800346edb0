//! Rules for names in custom suites: a suite's name is part of files, locks and series, a category's is the key of its scores.

use crate::benchmark::scores::score::Part;

/// Maximum length of a suite's name.
const MAX_NAME_LENGTH: usize = 64;
/// Reserved part name of scores by intent; see `bench:SUITE:intents`.
const INTENTS_PART: &str = "intents";

/// Checks the name of a suite.
///
/// # Errors
/// Description of the problem.
pub(super) fn check(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = name.len() <= MAX_NAME_LENGTH
        && name.starts_with(is_plain)
        && name.chars().all(|c| is_plain(c) || matches!(c, '-' | '_'));
    fits.then_some(()).ok_or_else(|| {
        format!(
            "name is {name:?}: write up to {MAX_NAME_LENGTH} lower-case letters, digits, \"-\" and \"_\", beginning with a letter \
             or a digit"
        )
    })
}

/// Checks the name of a category, whose key must not equal that of another part.
///
/// # Errors
/// Description of the problem.
pub(super) fn check_category(name: &str) -> Result<(), String> {
    let is_taken = name == Part::overall().key() || name == INTENTS_PART;
    if is_taken || name.trim().is_empty() || name.contains(['/', ':']) {
        return Err(format!(
            "category {name:?} names another part of the scores: call it otherwise, without \"/\" and \":\""
        ));
    }
    Ok(())
}
