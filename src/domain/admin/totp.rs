//! Time-based one-time codes (RFC 6238): SHA-1, 30 seconds, six digits, as authenticator apps expect.
//!
//! The HMAC is from ring, which TLS uses already; this module adds the counter and the truncation of RFC 4226, 5.3.

use ring::hmac;

/// Validity of a code, in seconds.
const STEP_SECONDS: i64 = 30;
/// Tolerated clock skew in steps, in both directions.
const MAX_SKEW_STEPS: i64 = 1;
/// Length of a secret, in bytes: as long as the hash (RFC 4226, 4).
pub const SECRET_BYTES: usize = 20;
const CODE_DIGITS: u32 = 6;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Returns the step of a typed code; `None` for a wrong one. Steps up to `used` are rejected, so no code is accepted twice.
#[must_use]
pub fn step_of(secret: &[u8], typed: &str, unix_ms: i64, used: Option<i64>) -> Option<i64> {
    let typed: String = typed.chars().filter(|letter| !letter.is_whitespace()).take(7).collect();
    let now = unix_ms.div_euclid(1_000 * STEP_SECONDS);
    let steps = (now - MAX_SKEW_STEPS..=now + MAX_SKEW_STEPS).filter(|&step| used.is_none_or(|used| step > used));
    steps.rev().find(|&step| code(secret, step) == typed)
}

/// Computes the code of a step.
#[must_use]
pub fn code(secret: &[u8], step: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let hash = tag.as_ref();
    let at = usize::from(hash[hash.len() - 1] & 15);
    let word = u32::from_be_bytes([hash[at] & 127, hash[at + 1], hash[at + 2], hash[at + 3]]);
    format!("{:06}", word % 10_u32.pow(CODE_DIGITS))
}

/// Returns the step of a moment.
#[must_use]
pub fn step_at(unix_ms: i64) -> i64 {
    unix_ms.div_euclid(1_000 * STEP_SECONDS)
}

/// Formats the secret for typing into an app: base 32 in groups of four.
#[must_use]
pub fn secret_text(secret: &[u8]) -> String {
    let letters = base32(secret);
    letters.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned()).collect::<Vec<_>>().join(" ")
}

/// Formats the `otpauth` address for authenticator apps. `issuer` and `account` are plain names.
#[must_use]
pub fn address(secret: &[u8], issuer: &str, account: &str) -> String {
    let plain = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_')).collect()
    };
    let (issuer, account) = (plain(issuer), plain(account));
    format!(
        "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}&algorithm=SHA1&digits=6&period=30",
        base32(secret)
    )
}

/// Encodes bytes by RFC 4648, 6, without padding.
fn base32(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| (byte >> (7 - at % 8)) & 1);
    let letter = |group: usize| (0..5).fold(0, |value, at| 2 * value + usize::from(bit(5 * group + at)));
    (0..(8 * bytes.len()).div_ceil(5)).map(|group| char::from(BASE32[letter(group)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_rfc_6238() {
        // Appendix B for SHA-1; the last six of the eight digits are used.
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code(SECRET, step_at(seconds * 1_000)), expected, "{seconds}");
            assert_eq!(step_of(SECRET, expected, seconds * 1_000, None), Some(seconds / 30));
        }
    }

    #[test]
    fn a_code_holds_for_a_step_around_its_own_and_once() {
        let (step, now) = (40_000_000, 40_000_000 * 30_000);
        let typed = code(SECRET, step);
        for (late, expected) in [(-60_001, false), (-30_000, true), (0, true), (59_999, true), (60_000, false)] {
            assert_eq!(step_of(SECRET, &typed, now + late, None).is_some(), expected, "{late} ms");
        }
        assert_eq!(step_of(SECRET, &typed, now, Some(step - 1)), Some(step));
        assert_eq!(step_of(SECRET, &typed, now, Some(step)), None, "a code is not taken twice");
        assert_eq!(step_of(SECRET, &code(SECRET, step - 1), now, Some(step)), None, "nor is an older one");
        let spaced = format!(" {} {} ", &typed[..3], &typed[3..]);
        assert_eq!(step_of(SECRET, &spaced, now, None), Some(step));
        for wrong in ["", "000000x", &typed[1..], &format!("{typed}0"), "１２３４５６"] {
            assert_eq!(step_of(SECRET, wrong, now, None), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_secret_is_written_as_apps_read_it() {
        // RFC 4648, 10.
        for (bytes, expected) in [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foobar", "MZXW6YTBOI")] {
            assert_eq!(base32(bytes.as_bytes()), expected);
        }
        assert_eq!(secret_text(SECRET), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        let address = address(SECRET, "My & arena", "ada");
        assert!(
            address.starts_with("otpauth://totp/Myarena:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Myarena&")
        );
    }
}
