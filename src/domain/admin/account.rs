//! Names and passphrases of accounts.

/// A shorter passphrase can be guessed.
pub const LEAST_PASSPHRASE_CHARS: usize = 12;
/// Nobody types more, and hashing takes time.
pub const MOST_PASSPHRASE_BYTES: usize = 512;
/// Characters of a name at most.
pub const MOST_NAME_CHARS: usize = 40;

/// Why a name or passphrase is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// A name that nobody could type again.
    #[error("a name must have 1 to 40 letters a to z, digits, '.', '-' or '_', and no spaces, such as ada.lovelace")]
    Name,
    /// A passphrase that can be guessed.
    #[error("a passphrase has 12 characters or more: four words in a row do")]
    Short,
    /// A passphrase of a book's length.
    #[error("a passphrase has 512 bytes at most")]
    Long,
    /// A passphrase that everybody tries first.
    #[error("this passphrase is easily guessed: use four unrelated words")]
    Easy,
}

/// The name with which somebody signs in, as it is kept: in lower case and of few characters, so that nobody can look like somebody else.
///
/// # Errors
/// [`AccountError::Name`].
pub fn parse_name(typed: &str) -> Result<String, AccountError> {
    let name = typed.trim().to_ascii_lowercase();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let is_name = (1..=MOST_NAME_CHARS).contains(&name.len()) && name.chars().all(is_plain);
    if is_name { Ok(name) } else { Err(AccountError::Name) }
}

/// Whether a passphrase may be chosen: long enough, and neither one character or short pattern repeated nor the name itself.
///
/// # Errors
/// [`AccountError`].
pub fn check_passphrase(passphrase: &str, name: &str) -> Result<(), AccountError> {
    if passphrase.chars().count() < LEAST_PASSPHRASE_CHARS {
        return Err(AccountError::Short);
    }
    if passphrase.len() > MOST_PASSPHRASE_BYTES {
        return Err(AccountError::Long);
    }
    let plain = passphrase.to_lowercase();
    let repeats =
        |pattern: usize| plain.as_bytes().iter().zip(plain.as_bytes().iter().skip(pattern)).all(|(x, y)| x == y);
    let is_row = plain.as_bytes().windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 1 || pair == b"90");
    let is_word = ["password", "passphrase", "correct horse battery staple", "langya"].iter().any(|word| {
        plain.contains(word) && plain.replace(word, "").chars().filter(|letter| letter.is_alphabetic()).count() < 4
    });
    let is_easy = (1..=4).any(repeats) || is_row || is_word || plain.replace(name, "").chars().count() < 6;
    if is_easy { Err(AccountError::Easy) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_in_lower_case() {
        for (typed, expected) in [("ada", Some("ada")), (" Ada.L-1_x ", Some("ada.l-1_x"))] {
            assert_eq!(parse_name(typed).ok().as_deref(), expected, "{typed:?}");
        }
        for typed in ["", " ", "a b", "ädä", "<b>", "a\0", "a\nb", &"a".repeat(41), "аda"] {
            assert_eq!(parse_name(typed), Err(AccountError::Name), "{typed:?}");
        }
    }

    #[test]
    fn a_pass_phrase_is_long_and_nothing_that_is_tried_first() {
        let check = |passphrase: &str| check_passphrase(passphrase, "ada");
        for fine in ["seven herons over a quiet lake", "七只鹭鸟飞过一片安静的湖水", "k8f-4Zq2m_x0"] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        assert_eq!(check("elevenchars"), Err(AccountError::Short));
        assert_eq!(check(&"seven herons".repeat(60)), Err(AccountError::Long));
        for easy in [
            "aaaaaaaaaaaa",
            "abcabcabcabc",
            "123456789012345",
            "Password1234",
            "langya-langya-1",
            "adaadaadaada1",
            "abcdefghijkl",
        ] {
            assert_eq!(check(easy), Err(AccountError::Easy), "{easy}");
        }
    }
}
