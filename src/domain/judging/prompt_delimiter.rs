//! Delimiter between the texts of a prompt. It is derived from the texts themselves: a text that contained it would have to contain its own
//! hash.

use sha2::{Digest, Sha256};

use crate::hex::hex;

/// Length of a delimiter in hexadecimal digits: 64 bits.
const DELIMITER_HEX_DIGITS: usize = 16;

/// Derives a delimiter line prefix that none of these texts contains.
#[must_use]
pub fn prompt_delimiter<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(format!("{}\n", text.len()));
        digest.update(text);
    }
    format!("### {}", &hex(&digest.finalize())[..DELIMITER_HEX_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_all_texts_and_of_where_each_ends() {
        let mark = |texts: &[&str]| prompt_delimiter(texts.iter().copied());
        assert_eq!(mark(&["a", "b"]), mark(&["a", "b"]));
        assert!(mark(&["a", "b"]).starts_with("### ") && mark(&["a", "b"]).len() == 4 + DELIMITER_HEX_DIGITS);
        for other in [&["ab", ""][..], &["ab"], &["b", "a"], &["a", "c"]] {
            assert_ne!(mark(&["a", "b"]), mark(other), "{other:?}");
        }
    }
}
