//! Classifier of sentences with a name, trained on labelled texts: does the sentence identify the speaker? It complements the rules.
//!
//! A logistic regression over a sentence's words, their word classes, and the context of each name. A name counts only as its kind, so
//! weights learned from one model hold for a new one. Features are hashed into the weights of `weights.bin`; `training` computes these from
//! the labelled texts. A sentence without "I" or "my" needs a higher score.

use super::Speaker;
use super::grammar::{HINT, MAKER, MODEL, WORD};
use super::sentences::{Sentence, SentenceForm};
use super::spelling::NameKind;
use super::voice::{self, RuleMatch};
use super::words::WordClasses;

/// Number of weights: a power of two.
pub(super) const BUCKETS: usize = 1 << 16;

/// Weights as signed bytes.
static WEIGHTS: &[u8; BUCKETS] = include_bytes!("weights.bin");

/// Score thresholds of sentences with and without a word for the speaker.
const SCORE_THRESHOLDS: [i32; 2] = [8, 112];

/// Words with which a speaker refers to itself.
const SPEAKER_WORDS: [&str; 15] =
    ["i", "i'm", "i've", "i'll", "i'd", "me", "my", "mine", "myself", "we", "our", "us", "我", "咱", "俺"];

/// Beginnings of sentences that identify the speaker.
const SELF_IDENTIFICATION_PREFIXES: [&str; 7] = ["i'm ", "i am ", "i was ", "my name is ", "我是", "我叫", "我由"];

/// Number of tokens on either side of a name that are features together with their side.
const CONTEXT_TOKENS: usize = 6;

/// Number of word classes on either side of a name that are features together with their side.
const CONTEXT_CLASSES: usize = 8;

/// Returns whether the classifier finds that a sentence identifies the speaker.
pub(super) fn is_leak(speaker: &Speaker<'_>, sentence: &Sentence, is_last: bool) -> bool {
    let tokens = tokens(&sentence.text);
    let least = SCORE_THRESHOLDS[usize::from(!has_speaker(&tokens))];
    is_own_voice(speaker, sentence) && score(speaker, sentence, is_last) > least
}

/// Returns whether a sentence's statement about its names is neither quoted nor another's, and names more than a hint.
fn is_own_voice(speaker: &Speaker<'_>, sentence: &Sentence) -> bool {
    let is_of_makers = sentence.names.iter().all(|name| name.hit.kind == NameKind::Maker);
    let is_quoted = sentence.names.iter().all(|name| sentence.is_in_quoted_phrase(name));
    let is_hinted = sentence.names.iter().all(|name| name.hit.kind == NameKind::Hint);
    let is_supposed = SELF_IDENTIFICATION_PREFIXES.iter().filter_map(|start| sentence.text.rfind(start)).any(|start| {
        let (before, text) = sentence.text.split_at(start);
        RuleMatch { before, text, after: "" }.is_hearsay()
    });
    let is_other = voice::is_line_of_another(&sentence.text) || is_of_makers && voice::is_of_employee(&sentence.text);
    !speaker.repeats && !is_quoted && !is_hinted && !is_supposed && !is_other
}

fn score(speaker: &Speaker<'_>, sentence: &Sentence, is_last: bool) -> i32 {
    let weights = features(speaker, sentence, is_last);
    weights.into_iter().map(|bucket| i32::from(WEIGHTS[bucket].cast_signed())).sum()
}

/// Returns the buckets of a sentence's features, without repetition.
pub(super) fn features(speaker: &Speaker<'_>, sentence: &Sentence, is_last: bool) -> Vec<usize> {
    let mut features = Features::default();
    features.read_words(&tokens(&sentence.text));
    features.read_classes(&WordClasses::of(&sentence.text).row);
    for token in tokens(&sentence.former) {
        features.add("former", &[token]);
    }
    for name in &sentence.names {
        features.add("kind", &[&format!("{:?}", name.hit.kind)]);
        if sentence.is_quoted(SentenceForm::Spaced, name.at[SentenceForm::Spaced as usize]) {
            features.add("quoted", &[]);
        }
    }
    let context = match (speaker.asks, speaker.cites) {
        (_, true) => "cites",
        (true, false) => "asks",
        (false, false) => "none",
    };
    features.add("context", &[context]);
    features
        .add("position", &[if sentence.number == 0 { "first" } else { "later" }, if is_last { "last" } else { "" }]);
    features.buckets.sort_unstable();
    features.buckets.dedup();
    features.buckets
}

#[derive(Default)]
struct Features {
    buckets: Vec<usize>,
}

impl Features {
    fn add(&mut self, kind: &str, parts: &[&str]) {
        self.buckets.push(bucket(kind, parts));
    }

    fn read_words(&mut self, tokens: &[&str]) {
        let ends = [&["^"], tokens, &["$"]].concat();
        for length in 1..=3 {
            ends.windows(length).for_each(|window| self.add("words", window));
        }
        let names: Vec<usize> = (0..ends.len()).filter(|at| is_name(ends[*at])).collect();
        let speakers: Vec<usize> = (0..ends.len()).filter(|at| SPEAKER_WORDS.contains(&ends[*at])).collect();
        self.add("names", &[["0", "1", "2", "3"][names.len().min(3)]]);
        self.add("length", &[&ends.len().ilog2().min(6).to_string()]);
        for at in names {
            self.read_name(&ends, at);
            self.read_distance(&ends, at, &speakers);
        }
    }

    /// Adds the features of a name's context.
    fn read_name(&mut self, tokens: &[&str], at: usize) {
        let name = tokens[at];
        self.add("has", &[name]);
        for other in at.saturating_sub(CONTEXT_TOKENS)..tokens.len().min(at + CONTEXT_TOKENS + 1) {
            if other == at {
                continue;
            }
            let side = if other < at { "<" } else { ">" };
            self.add("near", &[side, name, tokens[other]]);
            if other.abs_diff(at) <= 3 {
                self.add("beside", &[side, ["", "1", "2", "3"][other.abs_diff(at)], name, tokens[other]]);
            }
            if other + 1 < tokens.len() && other + 1 != at {
                self.add("near two", &[side, tokens[other], tokens[other + 1]]);
            }
        }
    }

    /// Adds the distance of a name from the speaker.
    fn read_distance(&mut self, tokens: &[&str], at: usize, speakers: &[usize]) {
        let Some(speaker) = speakers.iter().min_by_key(|speaker| speaker.abs_diff(at)) else {
            return self.add("no speaker", &[tokens[at]]);
        };
        let side = if *speaker < at { "<" } else { ">" };
        let distance = speaker.abs_diff(at).ilog2().min(4).to_string();
        self.add("speaker", &[side, &distance, tokens[at]]);
        self.add("speaker", &[side, &distance, tokens[at], tokens[*speaker]]);
    }

    fn read_classes(&mut self, row: &str) {
        let row: String = row.chars().map(|c| if c == 'W' { 'M' } else { c }).collect();
        let ends = format!("^^{row}$");
        for length in 1..=4 {
            windows(&ends, length).for_each(|window| self.add("classes", &[window]));
        }
        for (at, name) in row.char_indices().filter(|(_, c)| matches!(c, 'M' | 'K' | 'H')) {
            self.read_class_name(&row, at, &name.to_string());
        }
        let brief: String =
            without(&row, "daDw,.").chars().map(|c| if matches!(c, 'z' | '~') { 's' } else { c }).collect();
        for length in 2..=5 {
            windows(&brief, length).for_each(|window| self.add("brief", &[window]));
        }
        for speaker in brief.matches(['s', 'o', 'p', 'u']) {
            for other in brief.matches(|c| "MKHvVmigqntkc$<>".contains(c)) {
                self.add("pair", &[speaker, other]);
            }
        }
    }

    /// Adds the word classes around a name, and those that are not fillers.
    fn read_class_name(&mut self, row: &str, at: usize, name: &str) {
        let (before, after) = (&row[..at], &row[at + 1..]);
        for class in last(before, CONTEXT_CLASSES).split_inclusive(|_| true) {
            self.add("class", &[name, "<", class]);
        }
        for class in first(after, CONTEXT_CLASSES).split_inclusive(|_| true) {
            self.add("class", &[name, ">", class]);
        }
        let before = without(last(before, CONTEXT_CLASSES + 2), "daDwf");
        let after = without(first(after, CONTEXT_CLASSES + 2), "daDwf");
        for (left, right) in [(4, 0), (0, 4), (2, 2), (3, 1), (1, 3)] {
            self.add("frame", &[last(&before, left), name, first(&after, right)]);
        }
    }
}

fn without(row: &str, classes: &str) -> String {
    row.chars().filter(|c| !classes.contains(*c)).collect()
}

/// Returns the first classes of a row, which is ASCII.
fn first(row: &str, count: usize) -> &str {
    &row[..row.len().min(count)]
}

/// Returns the last classes of a row, which is ASCII.
fn last(row: &str, count: usize) -> &str {
    &row[row.len().saturating_sub(count)..]
}

fn windows(row: &str, length: usize) -> impl Iterator<Item = &str> {
    (length..=row.len()).map(move |end| &row[end - length..end])
}

/// Hashes the parts by FNV-1a, separated by a byte that no text contains.
fn bucket(kind: &str, parts: &[&str]) -> usize {
    const FNV_OFFSET: u32 = 0x811C_9DC5;
    const FNV_PRIME: u32 = 0x0100_0193;
    let bytes = std::iter::once(&kind).chain(parts).flat_map(|part| part.bytes().chain([0xFF]));
    let hash = bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(FNV_PRIME));
    (hash ^ hash >> 16) as usize % BUCKETS
}

fn is_name(token: &str) -> bool {
    matches!(token, "<N>" | "<K>" | "<H>")
}

fn has_speaker(tokens: &[&str]) -> bool {
    const NOUNS_FOR_MODEL: [&str; 9] =
        ["assistant", "ai", "model", "chatbot", "bot", "chat", "window", "answer", "reply"];
    tokens.iter().any(|token| SPEAKER_WORDS.contains(token))
        || tokens.windows(2).any(|pair| pair[0] == "this" && NOUNS_FOR_MODEL.contains(&pair[1]))
        || tokens.windows(2).any(|pair| matches!(pair, ["本", "人" | "尊" | "助" | "模"] | ["在", "下"] | ["鄙", "人"]))
}

/// Splits a sentence into words, numbers, Chinese characters, marks, and names by their kinds.
fn tokens(sentence: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = sentence;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            'a'..='z' => word_length(rest),
            '0'..='9' => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        match c {
            c if c.is_whitespace() => {}
            MODEL | WORD => tokens.push("<N>"),
            MAKER => tokens.push("<K>"),
            HINT => tokens.push("<H>"),
            '0'..='9' => tokens.push("0"),
            _ => tokens.push(&rest[..length]),
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of a word including the suffix of a contraction.
fn word_length(text: &str) -> usize {
    let letters = |text: &str| text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
    let length = letters(text);
    let rest = text[length..].strip_prefix('\'').map_or(0, letters);
    if rest > 0 { length + 1 + rest } else { length }
}
