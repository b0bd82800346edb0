//! Search of the documentation for sections with every word of a query.

use super::Guide;

/// Maximum number of hits.
const MAX_HITS: usize = 30;
/// Maximum number of words of a query.
const MAX_WORDS: usize = 8;
/// Characters of an excerpt before and after the first word.
const EXCERPT_CHARS: [usize; 2] = [60, 140];

/// Section with every word of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Address of the section.
    pub href: String,
    /// Title of its page.
    pub page: String,
    /// Its heading; `None` before the first one.
    pub heading: Option<String>,
    /// The text around the first word.
    pub excerpt: String,
}

/// Finds the sections with every word of the query, those with the words in a heading first.
#[must_use]
pub fn search(guide: &Guide, query: &str) -> Vec<SearchHit> {
    let words: Vec<String> = query.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for page in &guide.pages {
        for section in &page.sections {
            let heading = section.heading.as_ref().map_or(page.title.as_str(), |heading| &heading.text);
            let [head, text] = [heading, &section.markdown].map(str::to_lowercase);
            if words.iter().all(|word| head.contains(word) || text.contains(word)) {
                let anchor = section.heading.as_ref().map_or_else(String::new, |heading| format!("#{}", heading.id));
                let hit = SearchHit {
                    href: format!("/docs/{}{anchor}", page.name),
                    page: page.title.clone(),
                    heading: section.heading.as_ref().map(|heading| heading.text.clone()),
                    excerpt: excerpt(&section.markdown, &words),
                };
                found.push((score(&head, &text, &words), hit));
            }
        }
    }
    // Stable: sections of the same score stay in reading order.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(MAX_HITS).map(|(_, hit)| hit).collect()
}

fn score(head: &str, text: &str, words: &[String]) -> usize {
    words.iter().map(|word| 20 * usize::from(head.contains(word)) + text.matches(word.as_str()).count().min(10)).sum()
}

/// One line of text around the first word, without Markdown syntax.
fn excerpt(markdown: &str, words: &[String]) -> String {
    let plain: Vec<char> = markdown
        .lines()
        .filter(|line| !line.starts_with("```") && !line.starts_with("!["))
        .flat_map(|line| line.trim().chars().chain([' ']))
        .filter(|c| !"`*#|".contains(*c))
        .collect();
    let lower: String = plain.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let at = words.iter().find_map(|word| lower.find(word.as_str()));
    let at = at.map_or(0, |byte| lower[..byte].chars().count());
    let [start, end] = [at.saturating_sub(EXCERPT_CHARS[0]), (at + EXCERPT_CHARS[1]).min(plain.len())];
    let text: String = plain[start..end].iter().collect();
    let [before, after] = [start > 0, end < plain.len()].map(|cut| if cut { "… " } else { "" });
    format!("{before}{}{}", text.trim(), if after.is_empty() { "" } else { " …" })
}
