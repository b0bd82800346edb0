//! Page of the documentation: a title and linkable sections, rendered to HTML.
//!
//! Prose is rendered by [`markdown`], like replies. Two extensions are added here: links within the arena, written
//! `[text](/leaderboard)`, and charts, written `![caption](chart:NAME)` on a separate line. A heading ends in `{#id}`, which is the same
//! in every language; without it the id is derived from its text.

use std::sync::OnceLock;

use super::figures;
use crate::domain::language::Language;
use crate::markdown;

/// Placeholder host of links within the arena, since [`markdown`] drops addresses without a host.
const PLACEHOLDER_ORIGIN: &str = "https://arena.invalid";

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Level, 2 or 3.
    pub level: u8,
    /// Fragment id for links.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// Section under a heading, or before the first one.
#[derive(Debug)]
pub(super) struct DocSection {
    pub(super) heading: Option<Heading>,
    pub(super) markdown: String,
}

/// Parsed page of the documentation.
#[derive(Debug)]
pub struct DocPage {
    /// Name in the page's address.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    language: Language,
    pub(super) sections: Vec<DocSection>,
    html: OnceLock<String>,
}

impl DocPage {
    /// Parses a page.
    pub(super) fn parse(name: &'static str, text: &str, language: Language) -> Self {
        let (mut title, mut in_code) = (String::new(), false);
        let mut sections = vec![DocSection { heading: None, markdown: String::new() }];
        for line in text.lines() {
            in_code ^= line.starts_with("```");
            match heading(line).filter(|_| !in_code) {
                Some(Heading { level: 1, text, .. }) => title = text,
                Some(heading) => sections.push(DocSection { heading: Some(heading), markdown: String::new() }),
                None => {
                    let last = sections.last_mut().expect("the first section is there from the start");
                    last.markdown.push_str(line);
                    last.markdown.push('\n');
                }
            }
        }
        Self { name, title, language, sections, html: OnceLock::new() }
    }

    /// The headings, in order.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.sections.iter().filter_map(|section| section.heading.as_ref())
    }

    /// The page below its title as HTML, rendered on first use.
    pub fn html(&self) -> &str {
        self.html.get_or_init(|| self.sections.iter().map(|section| self.section_html(section)).collect())
    }

    fn section_html(&self, section: &DocSection) -> String {
        let mut html = section.heading.as_ref().map_or_else(String::new, |Heading { level, id, text }| {
            let text = markdown::escape(text);
            format!("<h{level} id=\"{id}\"><a class=\"anchor\" href=\"#{id}\">{text}</a></h{level}>")
        });
        let mut prose = String::new();
        for line in section.markdown.lines() {
            match figure(line) {
                Some((caption, name)) => {
                    html.push_str(&blocks(&std::mem::take(&mut prose)));
                    html.push_str(&figure_html(caption, &figures::draw(name, self.language)));
                }
                None => {
                    prose.push_str(line);
                    prose.push('\n');
                }
            }
        }
        html + &blocks(&prose)
    }
}

/// Parses a figure, `![caption](chart:NAME)`, into caption and name.
fn figure(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("![")?.strip_suffix(')')?.split_once("](chart:")
}

fn figure_html(caption: &str, svg: &str) -> String {
    let caption = markdown::escape(caption);
    format!(
        "<figure><div class=\"chart-frame\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">{svg}</div><figcaption>{caption}</figcaption></figure>"
    )
}

fn blocks(markdown: &str) -> String {
    let html: String = markdown::render(&markdown.replace("](/", &format!("]({PLACEHOLDER_ORIGIN}/")))
        .iter()
        .map(|block| format!("<div class=\"block\">{block}</div>"))
        .collect();
    within_the_arena(&html)
}

/// Removes the placeholder host from links within the arena, with the attributes of external links.
fn within_the_arena(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, link)) = rest.split_once("<a ") {
        out.push_str(before);
        let (attributes, behind) = link.split_once('>').unwrap_or((link, ""));
        match attributes.split_once(PLACEHOLDER_ORIGIN).and_then(|(_, path)| path.split_once('"')) {
            Some((path, _)) => out.push_str(&format!("<a href=\"{path}\">")),
            None => out.push_str(&format!("<a {attributes}>")),
        }
        rest = behind;
    }
    out.push_str(rest);
    // Addresses in code, which are no links.
    out.replace(PLACEHOLDER_ORIGIN, "")
}

fn heading(line: &str) -> Option<Heading> {
    let text = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - text.len()).ok().filter(|level| (1..=3).contains(level))?;
    let text = text.strip_prefix(' ')?.trim();
    let (text, id) = match text.strip_suffix('}').and_then(|text| text.split_once(" {#")) {
        Some((text, id)) => (text, id.to_owned()),
        None => (text, slug(text)),
    };
    Some(Heading { level, id, text: text.to_owned() })
}

/// Converts a text to an id: ASCII letters and digits in lower case, joined by hyphens.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
