//! All texts of pages, charts and reports, one table per language.
//!
//! A further language is a variant of [`Language`](crate::domain::language::Language) and one table in each module.

#![expect(missing_docs, reason = "a text is named after its place; its words say the rest")]

pub mod campaign_report;
pub mod charts;
pub mod doctor;
pub mod findings;
pub mod pages;
pub mod reports;

/// A text with the names in braces replaced by their values.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        rest = after;
    }
    out + rest
}
