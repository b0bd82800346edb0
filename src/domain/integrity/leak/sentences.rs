//! A text's sentences that hold a name, with a placeholder for each name.

use std::ops::Range;

use super::fold::{Folded, QUOTED};
use super::grammar::placeholder;
use super::names::{IdentityNames, NameHit};

/// A sentence with at least one name.
#[derive(Debug, Default)]
pub(super) struct Sentence {
    /// Words with one space between them, and placeholders.
    pub(super) text: String,
    /// The same without spaces, for Chinese.
    pub(super) dense: String,
    /// Whether it has Chinese characters or nothing but names.
    pub(super) is_chinese: bool,
    /// Names in it, by the byte of their placeholder in `text` and in `dense`.
    pub(super) names: Vec<PlacedName>,
    /// Quoted stretches of `text` and of `dense`, by byte.
    quoted: [Vec<Range<usize>>; 2],
    /// Position among all sentences of the text.
    pub(super) number: usize,
    /// The text before, where it ends with a question mark or a semicolon: it may begin what this sentence ends.
    pub(super) lead: String,
}

/// A name and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedName {
    pub(super) hit: NameHit,
    pub(super) at: [usize; 2],
}

impl Sentence {
    /// The text that a grammar reads.
    pub(super) fn form(&self, form: Form) -> &str {
        match form {
            Form::Spaced => &self.text,
            Form::Dense => &self.dense,
        }
    }

    /// Whether a byte is quoted.
    pub(super) fn is_quoted(&self, form: Form, byte: usize) -> bool {
        self.quoted[form as usize].iter().any(|range| range.contains(&byte))
    }

    /// The names in a range of bytes.
    pub(super) fn names_in(&self, form: Form, range: &Range<usize>) -> impl Iterator<Item = &PlacedName> {
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

/// Which form of a sentence a grammar reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// With spaces.
    Spaced = 0,
    /// Without.
    Dense = 1,
}

/// The sentences of a text that hold a name.
pub(super) fn sentences(text: &Folded, names: &IdentityNames) -> Vec<Sentence> {
    let hits = names.find(text);
    if hits.is_empty() {
        return Vec::new();
    }
    let mut kept = Vec::new();
    let (mut sentence, mut number, mut at) = (Sentence::default(), 0, 0);
    let mut hits = hits.into_iter().peekable();
    while at < text.chars.len() {
        let quoted = text.flags[at] & QUOTED > 0;
        if let Some(hit) = hits.next_if(|hit| hit.start <= at) {
            sentence.names.push(PlacedName { hit, at: [sentence.text.len(), sentence.dense.len()] });
            sentence.push(placeholder(hit.kind), quoted);
            at = hit.end;
            continue;
        }
        let c = text.chars[at];
        if ends_sentence(text, at) {
            // A full stop stays, so that rules see an end; a line break does not.
            if c != '\n' {
                sentence.push(c, quoted);
            }
            let ended = std::mem::take(&mut sentence);
            if matches!(c, '?' | ';') {
                sentence.lead.clone_from(&ended.text);
            }
            number += usize::from(!ended.text.trim().is_empty());
            sentence.number = number;
            keep(&mut kept, ended);
        } else {
            sentence.push(if c.is_whitespace() { ' ' } else { c }, quoted);
        }
        at += 1;
    }
    keep(&mut kept, sentence);
    kept
}

fn keep(kept: &mut Vec<Sentence>, sentence: Sentence) {
    if !sentence.names.is_empty() {
        kept.push(sentence);
    }
}

fn ends_sentence(text: &Folded, at: usize) -> bool {
    let next = text.chars.get(at + 1);
    match text.chars[at] {
        '\n' | '。' | ';' | '!' | '?' | '…' => true,
        '.' => next.is_none_or(|next| next.is_whitespace() || !next.is_ascii()),
        _ => false,
    }
}
