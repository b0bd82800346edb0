//! English numbers with their nouns: "1 vote" and "2 votes".

use std::fmt::Display;

/// Formats a number with its noun: `counted(1, "vote", "votes")` is "1 vote".
#[must_use]
pub fn counted(number: impl Display, one: &str, more: &str) -> String {
    let number = number.to_string();
    let noun = if number == "1" { one } else { more };
    format!("{number} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let replies = [0, 1, 2, 11, 21].map(|number| counted(number, "reply", "replies"));
        assert_eq!(replies, ["0 replies", "1 reply", "2 replies", "11 replies", "21 replies"]);
    }
}
