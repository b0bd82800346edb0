//! Names and passphrases of accounts.

/// Minimum length of a passphrase.
pub const MIN_PASSPHRASE_CHARS: usize = 12;
/// Maximum length of a passphrase, which bounds the time of hashing.
pub const MAX_PASSPHRASE_BYTES: usize = 512;
/// Maximum length of an account name, in characters.
pub const MAX_NAME_CHARS: usize = 40;

/// Reason for refusing a name or passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// The name has characters or a length that are not allowed.
    #[error("a name must have 1 to 40 letters a to z, digits, '.', '-' or '_', and no spaces, such as ada.lovelace")]
    Name,
    /// The passphrase is too short.
    #[error("a passphrase has 12 characters or more: four words in a row do")]
    Short,
    /// The passphrase is too long.
    #[error("a passphrase has 512 bytes at most")]
    Long,
    /// The passphrase is easily guessed.
    #[error("this passphrase is easily guessed: use four unrelated words")]
    Easy,
}

/// Parses a user name into its stored form: lower-case ASCII letters, digits, `.`, `-` and `_`, so that no two look alike.
///
/// # Errors
/// [`AccountError::Name`].
pub fn parse_name(typed: &str) -> Result<String, AccountError> {
    let name = typed.trim().to_ascii_lowercase();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let is_name = (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(is_plain);
    if is_name { Ok(name) } else { Err(AccountError::Name) }
}

/// Checks the strength of a passphrase: long enough, and neither a repeated character or short pattern nor the name itself.
///
/// # Errors
/// [`AccountError`].
pub fn check_passphrase(passphrase: &str, name: &str) -> Result<(), AccountError> {
    if passphrase.chars().count() < MIN_PASSPHRASE_CHARS {
        return Err(AccountError::Short);
    }
    if passphrase.len() > MAX_PASSPHRASE_BYTES {
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
