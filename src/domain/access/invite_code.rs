//! Invite codes: 128 random bits as people type them, in Crockford's base 32, which has no letters that look like digits.

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Letters per code: 26 × 5 bits hold 128.
const LETTERS_PER_CODE: usize = 26;
/// Letters per group between dashes.
const LETTERS_PER_GROUP: usize = 5;

/// Encodes the bits of a code in groups: `0123A-…`.
#[must_use]
pub fn encode(bits: u128) -> String {
    let letter = |at: usize| {
        let value = (bits >> (5 * (LETTERS_PER_CODE - 1 - at))) & 31;
        char::from(ALPHABET[usize::try_from(value).expect("five bits")])
    };
    let dash = |at: usize| (at > 0 && at.is_multiple_of(LETTERS_PER_GROUP) && at + 1 < LETTERS_PER_CODE).then_some('-');
    (0..LETTERS_PER_CODE).flat_map(|at| dash(at).into_iter().chain([letter(at)])).collect()
}

/// Normalises a typed code: without dashes and spaces, in capitals, `O` as 0, `I` and `L` as 1. Returns `None` for any other text.
#[must_use]
pub fn normalised(typed: &str) -> Option<String> {
    let wanted = typed.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, '-' | '–' | '‐'));
    let read = |letter: char| match letter.to_ascii_uppercase() {
        'O' => Some('0'),
        'I' | 'L' => Some('1'),
        letter => u8::try_from(letter).ok().filter(|byte| ALPHABET.contains(byte)).map(char::from),
    };
    // Stops reading a text that is too long for a code.
    let letters: Option<String> = wanted.take(LETTERS_PER_CODE + 1).map(read).collect();
    letters.filter(|letters| letters.len() == LETTERS_PER_CODE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_is_read_however_it_is_typed() {
        let code = encode(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(code, "014D2-PF2DB-SQQG2-8T5CY-4TQKFF");
        let letters = normalised(&code);
        assert_eq!(letters.as_deref(), Some("014D2PF2DBSQQG28T5CY4TQKFF"));
        for typed in
            ["o14d2 pf2db sqqg2 8t5cy 4tqkff", " 0L4D2PF2DBSQQG28T5CY4TQKFF\n", "OI4D2-PF2DB-SQQG2-8T5CY-4TQKFF"]
        {
            assert_eq!(normalised(typed), letters, "{typed:?}");
        }
    }

    #[test]
    fn what_is_no_code_is_not_read() {
        let long = "A".repeat(1_000_000);
        for typed in ["", "0123", "014D2PF2DBSQQG28T5CY4TQKF", "014D2PF2DBSQQG28T5CY4TQKFU", "é", "\0", &long] {
            assert_eq!(normalised(typed), None, "{:.40}", typed);
        }
    }

    proptest! {
        #[test]
        fn different_bits_have_different_codes(one: u128, other: u128) {
            prop_assert_eq!(encode(one) == encode(other), one == other);
            prop_assert_eq!(normalised(&encode(one)), Some(encode(one).replace('-', "")));
        }
    }
}
