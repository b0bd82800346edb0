//! Digest of a question that ignores case, character width, whitespace and sentence punctuation.

use super::prompt_cluster::normalized;
use crate::sha256::sha256;

/// Computes the SHA-256 of a question as [`normalized`], in hexadecimal. A question of punctuation alone is not normalised.
#[must_use]
pub fn prompt_digest(question: &str) -> String {
    let normalized = normalized(question);
    sha256(if normalized.is_empty() { question } else { &normalized }.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_differ_in_case_width_spaces_and_punctuation_are_the_same() {
        let same = ["What is 2 + 2?", " what  is ２ ＋ ２ ", "What is 2 + 2 ？！", "\u{feff}WHAT IS\n2 + 2"];
        for question in same {
            assert_eq!(prompt_digest(question), prompt_digest(same[0]), "{question:?}");
        }
        assert_eq!(prompt_digest("琅琊 榜？"), prompt_digest("琅琊榜"));
        for other in ["What is 2 - 2?", "What was 2 + 2?", "What is 22?", ""] {
            assert_ne!(prompt_digest(other), prompt_digest(same[0]), "{other:?}");
        }
        assert_ne!(prompt_digest("?"), prompt_digest("!"), "nothing else tells them apart");
    }
}
