//! Texts of pages, charts and reports, one table per language.
//!
//! A further language is a variant of [`Language`](crate::domain::language::Language) and one table in each module.

#![expect(missing_docs, reason = "a text is named after its place; its words say the rest")]

pub mod campaign_report;
pub mod charts;
pub mod doctor;
pub mod findings;
pub mod pages;
pub mod published_notes;
pub mod reports;

/// Replaces placeholders in braces by their values. `{votes:vote|votes}` becomes the singular or plural for the value of `votes`. No space
/// stays between Chinese characters of the text and of a value, as a name may have either script.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').unwrap_or((after, ""));
        let (name, nouns) = hole.split_once(':').map_or((hole, None), |(name, nouns)| (name, nouns.split_once('|')));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
        out.push_str(before);
        let value = nouns.map_or(value, |(one, more)| if value == "1" { one } else { more });
        if value.starts_with(is_han) && out.strip_suffix(' ').is_some_and(|text| text.ends_with(is_han)) {
            out.pop();
        }
        out.push_str(value);
        let tight = after.strip_prefix(' ').filter(|text| value.ends_with(is_han) && text.starts_with(is_han));
        rest = tight.unwrap_or(after);
    }
    out + rest
}

/// Removes the spaces between Chinese characters, which Chinese names leave in a Chinese sentence.
fn without_spaces_between_han(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_between = out.ends_with(is_han) && characters.peek().copied().is_some_and(is_han);
        if character != ' ' || !is_between {
            out.push(character);
        }
    }
    out
}

/// Whether a character is a Chinese one.
fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_fits_its_number() {
        let text = "{n} {n:vote is|votes are} left out of {all} {all:vote|votes}.";
        let filled = |n, all| fill(text, &[("n", n), ("all", all)]);
        assert_eq!(filled("1", "21"), "1 vote is left out of 21 votes.");
        assert_eq!(filled("0", "1"), "0 votes are left out of 1 vote.");
    }

    #[test]
    fn a_chinese_name_has_no_space_beside_chinese_words_and_a_latin_name_has_one() {
        let filled = |a, b| fill("{a} 与 {b} 的对战，{a} 胜", &[("a", a), ("b", b)]);
        assert_eq!(filled("琥珀", "墨玉"), "琥珀与墨玉的对战，琥珀胜");
        assert_eq!(filled("Crane", "通义 7B"), "Crane 与通义 7B 的对战，Crane 胜");
        assert_eq!(filled("琥 珀", "owl"), "琥 珀与 owl 的对战，琥 珀胜", "a name stays as it is");
        assert_eq!(fill("{a} {b}", &[("a", "琥珀"), ("b", "便宜")]), "琥珀便宜");
        assert_eq!(fill("{a} prefers {b} here", &[("a", "She"), ("b", "琥珀")]), "She prefers 琥珀 here");
        assert_eq!(without_spaces_between_han("琥珀 与 Crane 的 3 票"), "琥珀与 Crane 的 3 票");
    }
}
