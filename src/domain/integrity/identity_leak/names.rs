//! Names of models and their makers, and their search in a normalized text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use super::normalized_text::NormalizedText;
use super::spelling::{
    MIN_DISGUISED_LENGTH, NameHit, NameKind, NamePattern, VARIANT_WORDS, after_version, is_letter_sign, is_person,
    is_whole, mentions_reversal, shape,
};

/// First words of display names that do not identify a model by themselves.
const COMMON_FIRST_WORDS: [&str; 27] = [
    "name",
    "language",
    "agent",
    "model",
    "test",
    "local",
    "small",
    "large",
    "fast",
    "slow",
    "chat",
    "base",
    "practice",
    "assistant",
    "english",
    "chinese",
    "open",
    "best",
    "good",
    "first",
    "second",
    "third",
    "left",
    "right",
    "this",
    "that",
    "your",
];

/// Model of the arena with all of its names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownModel {
    /// Id in the arena.
    pub id: String,
    /// Display name, provider's name and aliases.
    pub names: Vec<String>,
    /// Maker; may be empty.
    pub organization: String,
}

#[derive(Deserialize)]
struct NamesFile {
    maker: Vec<MakerEntry>,
}

#[derive(Deserialize)]
struct MakerEntry {
    makers: Vec<String>,
    models: Vec<String>,
    words: Vec<String>,
    #[serde(default)]
    common: Vec<String>,
    #[serde(default)]
    hints: Vec<String>,
}

static MAKER_ENTRIES: LazyLock<Vec<MakerEntry>> = LazyLock::new(|| {
    let file: NamesFile = toml::from_str(include_str!("names.toml")).expect("the built-in names are TOML");
    file.maker
});

/// All names that reveal a model: built-in names, and the arena's models with their aliases and makers.
#[derive(Debug)]
pub struct IdentityNames {
    search: AhoCorasick,
    patterns: Vec<NamePattern>,
    makers_of: HashMap<String, Vec<usize>>,
}

impl IdentityNames {
    /// Builds the search from the built-in names and those of these models.
    #[must_use]
    pub fn new(models: &[KnownModel]) -> Self {
        let mut names = NameList::default();
        for (maker, entry) in MAKER_ENTRIES.iter().enumerate() {
            entry.makers.iter().for_each(|name| names.add(name, NameKind::Maker, maker));
            entry.models.iter().for_each(|name| names.add(name, NameKind::Model, maker));
            entry.words.iter().for_each(|name| names.add(name, NameKind::Word, maker));
            entry.common.iter().for_each(|name| names.add(name, NameKind::Common, maker));
            entry.hints.iter().for_each(|name| names.add(name, NameKind::Hint, maker));
        }
        let mut makers_of = HashMap::new();
        for (number, model) in models.iter().enumerate() {
            let own = MAKER_ENTRIES.len() + number;
            let mut makers = names.makers_within(model);
            makers.push(own);
            names.add_model(model, own);
            makers_of.insert(model.id.clone(), makers);
        }
        let keys = names.patterns.iter().map(|pattern| pattern.chars.iter().map(|c| shape(*c)).collect::<String>());
        let search = AhoCorasick::new(keys).expect("a few hundred short names");
        Self { search, patterns: names.patterns, makers_of }
    }

    /// Returns whether a name belongs to this model or its maker.
    pub(super) fn is_of(&self, hit: &NameHit, model: &str) -> bool {
        self.makers_of.get(model).is_some_and(|makers| makers.contains(&hit.maker))
    }

    /// Finds all names in a text in order, the longest of those with the same start.
    pub(super) fn find(&self, text: &NormalizedText) -> Vec<NameHit> {
        let signs: Vec<bool> = (0..text.chars.len()).map(|at| is_letter_sign(text, at)).collect();
        let mut found = Vec::new();
        self.find_along(text, |at| signs[at], &mut found);
        // A sign between two letters may also separate them.
        if signs.contains(&true) {
            self.find_along(text, |_| false, &mut found);
        }
        if mentions_reversal(text) {
            self.find_backwards(text, &mut found);
        }
        found.sort_by_key(|hit| {
            (hit.start, std::cmp::Reverse(hit.end), matches!(hit.kind, NameKind::Word | NameKind::Common))
        });
        let mut kept: Vec<NameHit> = Vec::new();
        for mut hit in found {
            if kept.last().is_none_or(|last| last.end <= hit.start) {
                let is_word = matches!(hit.kind, NameKind::Word | NameKind::Common);
                if hit.kind != NameKind::Maker {
                    let end = after_version(text, hit.end);
                    let is_versioned = end > hit.end && text.chars[hit.end] != ':';
                    hit.kind = if is_word && is_versioned { NameKind::Model } else { hit.kind };
                    hit.end = end;
                }
                if !is_word || !is_person(text, &hit) {
                    kept.push(hit);
                }
            }
        }
        kept
    }

    /// Adds the long names of models that are spelled backwards.
    fn find_backwards(&self, text: &NormalizedText, found: &mut Vec<NameHit>) {
        let last = text.chars.len();
        let stream: String = text.chars.iter().rev().map(|c| shape(*c)).collect();
        let places: Vec<usize> =
            stream.chars().enumerate().flat_map(|(at, c)| std::iter::repeat_n(at, c.len_utf8())).collect();
        for hit in self.search.find_overlapping_iter(&stream) {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            let end = last - places[hit.start()];
            let start = end - pattern.chars.len();
            let is_long = pattern.chars.len() > MIN_DISGUISED_LENGTH && pattern.kind != NameKind::Maker;
            if is_long && is_whole(text, start, end - 1) {
                found.push(NameHit { start, end, kind: pattern.kind, maker: pattern.maker });
            }
        }
    }

    /// Adds every name found in the letters, digits and signs that count as letters.
    fn find_along(&self, text: &NormalizedText, is_letter: impl Fn(usize) -> bool, found: &mut Vec<NameHit>) {
        let mut stream = String::with_capacity(text.chars.len());
        let mut places = Vec::with_capacity(text.chars.len());
        for (at, c) in text.chars.iter().enumerate() {
            if c.is_alphanumeric() || is_letter(at) {
                let shape = shape(*c);
                stream.push(shape);
                places.extend(std::iter::repeat_n(at, shape.len_utf8()));
            }
        }
        for hit in self.search.find_overlapping_iter(&stream) {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            let at: Vec<usize> =
                stream[hit.range()].char_indices().map(|(byte, _)| places[hit.start() + byte]).collect();
            if pattern.fits(text, &at) {
                let (start, end) = (at[0], at[at.len() - 1] + 1);
                found.push(NameHit { start, end, kind: pattern.kind, maker: pattern.maker });
            }
        }
    }
}

#[derive(Default)]
struct NameList {
    patterns: Vec<NamePattern>,
    seen: HashSet<(Vec<char>, usize)>,
}

impl NameList {
    fn add(&mut self, name: &str, kind: NameKind, maker: usize) {
        let (mut chars, mut gaps, mut gap) = (Vec::new(), Vec::new(), false);
        for c in NormalizedText::new(name).chars {
            if c.is_alphanumeric() {
                if gap && !chars.is_empty() {
                    gaps.push(chars.len());
                }
                gap = false;
                chars.push(c);
            } else {
                gap = true;
            }
        }
        let least = if chars.first().is_some_and(char::is_ascii) { 2 } else { 1 };
        if chars.len() >= least && self.seen.insert((chars.clone(), maker)) {
            self.patterns.push(NamePattern { chars, gaps, kind, maker });
        }
    }

    /// Adds the names of a model: its full names, and the family that a name begins with.
    fn add_model(&mut self, model: &KnownModel, maker: usize) {
        for name in model.names.iter().chain([&model.id]) {
            let name = name.rsplit('/').next().unwrap_or(name);
            let name = name.split(['(', '（']).next().unwrap_or(name).trim();
            let family = family(name);
            if is_distinct(name) {
                self.add(name, NameKind::Model, maker);
            } else if is_name(name) {
                self.add(name, NameKind::Word, maker);
            }
            if is_name(family) {
                self.add(family, NameKind::Word, maker);
            }
        }
        self.add(&model.organization, NameKind::Maker, maker);
    }

    /// Returns the makers whose names occur in a model's names or organisation.
    fn makers_within(&self, model: &KnownModel) -> Vec<usize> {
        let texts: Vec<String> =
            model.names.iter().chain([&model.id, &model.organization]).map(|name| letters(name)).collect();
        let held = |pattern: &&NamePattern| {
            let name: String = pattern.chars.iter().collect();
            pattern.maker < MAKER_ENTRIES.len() && texts.iter().any(|text| text.starts_with(&name))
        };
        let mut makers: Vec<usize> = self.patterns.iter().filter(held).map(|pattern| pattern.maker).collect();
        makers.dedup();
        makers
    }
}

fn letters(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    NormalizedText::new(name).chars.into_iter().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the first word of a name if a version follows it: `Nightjar` of `Nightjar 7B`; otherwise an empty string.
fn family(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_alphabetic()).unwrap_or(name.len());
    let (family, rest) = name.split_at(end);
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let next: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    let is_versioned = next.contains(|c: char| c.is_ascii_digit()) || VARIANT_WORDS.contains(&next.as_str());
    if is_versioned { family } else { "" }
}

/// Returns whether a name has letters and a digit, so that it is unambiguous.
fn is_distinct(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_digit()) && name.chars().filter(|c| c.is_alphabetic()).count() >= 2
}

/// Returns whether a word can be the name of a model.
fn is_name(name: &str) -> bool {
    let length = name.chars().filter(|c| c.is_alphabetic()).count();
    let is_long = length >= MIN_DISGUISED_LENGTH || length >= 2 && !name.is_ascii();
    is_long && !COMMON_FIRST_WORDS.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> IdentityNames {
        let nightjar = KnownModel {
            id: "nightjar-7b".into(),
            names: vec!["Nightjar 7B".into(), "labs/NJ-7B-Chat".into(), "夜鹰".into()],
            organization: "Harbour Labs".into(),
        };
        let qwen = KnownModel { id: "q".into(), names: vec!["Qwen 14B Chat".into()], organization: "Alibaba".into() };
        IdentityNames::new(&[nightjar, qwen])
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let normalized = NormalizedText::new(text);
        let hits = names().find(&normalized);
        let found: Vec<String> = hits.iter().map(|hit| normalized.chars[hit.start..hit.end].iter().collect()).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn names_are_found_with_their_versions() {
        check("GPT-4o mini, Claude 3.5 Sonnet and Qwen2.5-7B.", &["gpt-4o mini", "claude 3.5 sonnet", "qwen2.5-7b"]);
        check("我是通义千问,由阿里巴巴达摩院训练", &["通义千问", "阿里巴巴达摩院"]);
        check("Nightjar, the NJ-7B-chat of Harbour Labs (夜鹰)", &["nightjar", "nj-7b-chat", "harbour labs", "夜鹰"]);
    }

    #[test]
    fn disguised_names_are_found() {
        check("G3m1n1 C1aude cIaude cl@ude", &["g3m1n1", "c1aude", "ciaude", "cl@ude"]);
        check("G e m i n i; C.l.a.u.d.e; c-l-a-u-d-e", &["g e m i n i", "c.l.a.u.d.e", "c-l-a-u-d-e"]);
        check("Cl aude 通 义 千 问", &["cl aude", "通 义 千 问"]);
        check("C\nl\na\nu\nd\ne", &["c\nl\na\nu\nd\ne"]);
    }

    #[test]
    fn parts_of_words_people_and_things_are_no_names() {
        check("llamas, Geminis, metaphysics, Googled, philosophy, ollama", &[]);
        check("Claude Monet, Jean-Claude, Project Gemini, Mr. Claude", &[]);
        check("a gem in identity; oi mini", &[]);
        check("the gem in i and j", &[]);
    }

    #[test]
    fn a_battles_own_names_are_those_of_its_models_and_makers() {
        let names = names();
        let own = |text: &str, model: &str| {
            let hits = names.find(&NormalizedText::new(text));
            names.is_of(&hits[0], model)
        };
        assert!(own("Nightjar", "nightjar-7b") && own("Harbour Labs", "nightjar-7b"));
        assert!(own("通义千问", "q") && own("Alibaba Cloud", "q"));
        assert!(!own("通义千问", "nightjar-7b") && !own("Claude", "q"));
    }
}
