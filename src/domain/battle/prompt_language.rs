//! Language detection of texts, with the language names of LMArena's logs ("English", "Chinese").

use crate::language::english_name;

/// Name of an unknown language in the log.
pub const UNKNOWN: &str = "unknown";

/// Detects the language of a text; [`UNKNOWN`] where the detector is not sure. Short texts, on which no detector is sure, are decided by
/// their Chinese and Latin letters.
#[must_use]
pub fn detect(text: &str) -> &'static str {
    if let Some(info) = whatlang::detect(text).filter(whatlang::Info::is_reliable) {
        return english_name(info.lang());
    }
    let han = text.chars().filter(|c| matches!(u32::from(*c), 0x3400..=0x9FFF)).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if han > 0 && 2 * han >= letters { "Chinese" } else { UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_texts_are_recognised_and_others_are_not_guessed() {
        assert_eq!(detect("Which river is the longest on earth, and how do we measure it?"), "English");
        assert_eq!(detect("琅琊阁在哪里？"), "Chinese");
        assert_eq!(detect("x = 1"), UNKNOWN);
    }
}
