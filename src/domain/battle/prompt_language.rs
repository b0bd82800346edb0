//! In which language a text is written, in the names that LMArena's logs use ("English", "Chinese").

use whatlang::Lang;

/// What the log says where the language is unknown.
pub const UNKNOWN: &str = "unknown";

/// The language of a text, or [`UNKNOWN`] where the detector is not sure. Chinese and Latin letters decide short texts,
/// on which no detector is sure.
#[must_use]
pub fn detect(text: &str) -> &'static str {
    if let Some(info) = whatlang::detect(text).filter(whatlang::Info::is_reliable) {
        return match info.lang() {
            Lang::Cmn => "Chinese",
            other => other.eng_name(),
        };
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
