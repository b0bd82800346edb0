//! Splits a text into sentences with names, and replaces each name by a placeholder.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::grammar::placeholder;
use super::names::IdentityNames;
use super::normalized_text::{NormalizedText, QUOTED};
use super::spelling::{NameHit, NameKind};

/// Sentence with at least one name.
#[derive(Debug, Default)]
pub(super) struct Sentence {
    /// Words separated by single spaces, and placeholders.
    pub(super) text: String,
    /// Text without spaces, for Chinese.
    pub(super) dense: String,
    /// Whether it has Chinese characters or nothing but names.
    pub(super) is_chinese: bool,
    /// Names, by the byte offset of their placeholder in `text` and in `dense`.
    pub(super) names: Vec<PlacedName>,
    /// Quoted byte ranges of `text` and of `dense`.
    quoted: [Vec<Range<usize>>; 2],
    /// Position among all sentences of the text.
    pub(super) number: usize,
    /// Previous sentence.
    pub(super) former: String,
    /// Previous sentence if it ends with a question mark or a semicolon, so that this one may complete it.
    pub(super) lead: String,
}

/// Name with its position.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedName {
    pub(super) hit: NameHit,
    pub(super) at: [usize; 2],
}

impl Sentence {
    /// Returns the text in the requested form.
    pub(super) fn form(&self, form: SentenceForm) -> &str {
        match form {
            SentenceForm::Spaced => &self.text,
            SentenceForm::Dense => &self.dense,
        }
    }

    /// Returns whether a byte is quoted.
    pub(super) fn is_quoted(&self, form: SentenceForm, byte: usize) -> bool {
        self.quoted[form as usize].iter().any(|range| range.contains(&byte))
    }

    /// Returns whether the match about a name is a quoted phrase of several words in the third person, not just a name in quotation marks.
    /// A quotation that addresses the speaker ("you are X") counts as the speaker's own statement.
    pub(super) fn quotes_phrase(&self, form: SentenceForm, range: &Range<usize>) -> bool {
        let Some(name) = self.names_in(form, range).last().map(|name| name.at[form as usize]) else { return false };
        let said = &self.form(form)[range.clone()];
        let quoted = self.quoted[form as usize].iter().find(|quoted| quoted.contains(&name));
        let is_outside =
            quoted.is_some_and(|quoted| range.start < quoted.start && name - quoted.start > MIN_PHRASE_BYTES);
        is_outside && !said.contains("you are") && !said.contains("你是")
    }

    /// Returns whether a name ends a quoted phrase that does not address the speaker.
    pub(super) fn is_in_quoted_phrase(&self, name: &PlacedName) -> bool {
        let at = name.at[SentenceForm::Spaced as usize];
        let quoted = self.quoted[SentenceForm::Spaced as usize].iter().find(|quoted| quoted.contains(&at));
        quoted.is_some_and(|quoted| {
            let before = &self.text[quoted.start..at];
            before.contains(char::is_alphabetic) && !before.contains("you are") && !before.contains("你是")
        })
    }

    /// Returns the names in a byte range.
    pub(super) fn names_in(&self, form: SentenceForm, range: &Range<usize>) -> impl Iterator<Item = &PlacedName> {
        let range = range.clone();
        self.names.iter().filter(move |name| range.contains(&name.at[form as usize]))
    }

    fn push(&mut self, c: char, quoted: bool) {
        let starts = [self.text.len(), self.dense.len()];
        if !(c == ' ' && (self.text.is_empty() || self.text.ends_with(' '))) {
            self.text.push(c);
        }
        if c != ' ' {
            self.dense.push(c);
            self.is_chinese |= ('\u{4E00}'..='\u{9FFF}').contains(&c);
        }
        if quoted {
            let ends = [self.text.len(), self.dense.len()];
            for (ranges, (start, end)) in self.quoted.iter_mut().zip(starts.into_iter().zip(ends)) {
                match ranges.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => ranges.push(start..end),
                }
            }
        }
    }
}

/// Minimum number of bytes before a name in the same quotation marks for a phrase.
const MIN_PHRASE_BYTES: usize = 8;

/// Form of a sentence that a grammar reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentenceForm {
    /// With spaces.
    Spaced = 0,
    /// Without spaces.
    Dense = 1,
}

/// Returns the sentences of a text that contain a name.
pub(super) fn sentences(text: &NormalizedText, names: &IdentityNames) -> Vec<Sentence> {
    let hits = names.find(text);
    if hits.is_empty() {
        return Vec::new();
    }
    let is_about_models = hits.iter().any(|hit| hit.kind == NameKind::Common)
        && (hits.iter().any(|hit| hit.kind != NameKind::Common)
            || MODEL_VOCABULARY.is_match(&text.chars.iter().collect::<String>()));
    let mut kept = Vec::new();
    let (mut sentence, mut number, mut at) = (Sentence::default(), 0, 0);
    let mut hits = hits.into_iter().peekable();
    while at < text.chars.len() {
        let quoted = text.flags[at] & QUOTED > 0;
        let next = hits.next_if(|hit| hit.start <= at).filter(|hit| !is_plain_word(text, &sentence.text, hit));
        if let Some(hit) = next {
            sentence.names.push(PlacedName { hit, at: [sentence.text.len(), sentence.dense.len()] });
            sentence.push(placeholder(hit.kind), quoted);
            at = hit.end;
            continue;
        }
        let c = text.chars[at];
        if ends_sentence(text, at) {
            // Full stops are kept, so that rules see an end; line breaks are not.
            if c != '\n' {
                sentence.push(c, quoted);
            }
            let ended = std::mem::take(&mut sentence);
            if matches!(c, '?' | ';') {
                sentence.lead.clone_from(&ended.text);
            }
            let is_empty = ended.text.trim().is_empty();
            number += usize::from(!is_empty);
            sentence.number = number;
            sentence.former.clone_from(if is_empty { &ended.former } else { &ended.text });
            push_if_relevant(&mut kept, ended, is_about_models);
        } else {
            sentence.push(if c.is_whitespace() { ' ' } else { c }, quoted);
        }
        at += 1;
    }
    push_if_relevant(&mut kept, sentence, is_about_models);
    kept
}

fn push_if_relevant(kept: &mut Vec<Sentence>, sentence: Sentence, is_about_models: bool) {
    let is_common = |name: &PlacedName| name.hit.kind == NameKind::Common;
    if !sentence.names.iter().all(is_common) || !sentence.names.is_empty() && is_about_models {
        kept.push(sentence);
    }
}

/// Matches words of a text about a language model.
static MODEL_VOCABULARY: LazyLock<Regex> = LazyLock::new(|| {
    let rule =
        "(?-u:\\b)(?:models?|assistants?|ai|llm|chatbot|bot|language|trained)(?-u:\\b)|模型|助手|智能|机器人|训练";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches words before a name that make it a common noun: an article, or a measure word for people, animals and things.
static ARTICLE_BEFORE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?:^|[^a-z'])(?:an?|the|some|every|each) $|[一这那两几半](?:只|头|匹|颗|块|笼|阵|股|盘|碗|根|条|座|位|名|群|杯|锅|屉|口)(?:[^,是叫]{0,6}的)? ?$";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a name that is also a word is used as a word: "a llama", "the Mistral", but "the Gemini model".
fn is_plain_word(text: &NormalizedText, before: &str, hit: &NameHit) -> bool {
    const NOUNS_AFTER_MODEL_NAME: &[&str] = &[
        "app",
        "web",
        "site",
        "team",
        "model",
        "assist",
        "ai",
        "llm",
        "chat",
        "bot",
        "family",
        "line",
        "trio",
        "range",
        "communit",
        "series",
        "language",
        "system",
        "一",
        "模型",
        "助手",
        "大模型",
        "系列",
        "家族",
    ];
    if !matches!(hit.kind, NameKind::Word | NameKind::Common) {
        return false;
    }
    let after: String = text.chars[hit.end..].iter().take(12).collect();
    let after = after.trim_start_matches([' ', '-', '\'']);
    let start = before.char_indices().rev().nth(16).map_or(0, |(at, _)| at);
    ARTICLE_BEFORE_NAME.is_match(&before[start..]) && !NOUNS_AFTER_MODEL_NAME.iter().any(|noun| after.starts_with(noun))
}

fn ends_sentence(text: &NormalizedText, at: usize) -> bool {
    let next = text.chars.get(at + 1);
    match text.chars[at] {
        '\n' | '。' | ';' | '!' | '?' | '…' => true,
        '.' => next.is_none_or(|next| next.is_whitespace() || !next.is_ascii()),
        _ => false,
    }
}
