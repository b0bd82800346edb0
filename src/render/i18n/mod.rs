//! Texts of pages, charts and reports, one table per language.
//!
//! A further language is a variant of [`Language`](crate::domain::language::Language) and one table in each module.

#![expect(missing_docs, reason = "a text is named after its place; its words say the rest")]

pub mod campaign_report;
pub mod charts;
pub mod doctor;
pub mod findings;
pub mod pages;
pub mod reports;

/// Replaces placeholders in braces by their values. `{votes:vote|votes}` becomes the singular or plural for the value of `votes`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').unwrap_or((after, ""));
        let (name, nouns) = hole.split_once(':').map_or((hole, None), |(name, nouns)| (name, nouns.split_once('|')));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
        out.push_str(before);
        out.push_str(nouns.map_or(value, |(one, more)| if value == "1" { one } else { more }));
        rest = after;
    }
    out + rest
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
}
