//! Feature vectors of texts: character n-grams, weighted by rarity.
//!
//! Characters rather than words, so that Chinese needs no segmenter and misspellings have little effect. The weight of a gram with c
//! occurrences is (1 + ln c)·(1 + ln((1 + n)/(1 + d))) for n texts of which d contain it (Salton and Buckley 1988, smoothed); the vector
//! then has length 1. Only the beginning of a text is used, since it usually states the request.

use std::collections::{BTreeMap, HashMap};

use crate::stats::real_len;

/// Maximum length of an n-gram.
const MAX_NGRAM_LENGTH: usize = 3;
/// Number of leading characters of a text that are used.
const MAX_TEXT_CHARS: usize = 300;
/// Minimum number of texts that contain a gram: a gram of one text says nothing about others.
const MIN_TEXTS: usize = 2;

/// Sparse vector: the non-zero values by feature, in ascending order.
pub type Sparse = Vec<(u32, f64)>;

/// Known grams and their rarity weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    grams: HashMap<String, u32>,
    rarity: Vec<f64>,
}

impl Vocabulary {
    /// Builds the vocabulary of these texts, with features in the order of the grams.
    #[must_use]
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut with: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = 0;
        for text in texts {
            all += 1;
            for gram in counts(text).into_keys() {
                *with.entry(gram).or_default() += 1;
            }
        }
        let mut found = Self::default();
        for ((gram, texts), number) in with.into_iter().filter(|(_, texts)| *texts >= MIN_TEXTS).zip(0..) {
            found.grams.insert(gram, number);
            found.rarity.push(1.0 + ((1.0 + real_len(all)) / (1.0 + real_len(texts))).ln());
        }
        found
    }

    /// Returns the number of features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rarity.len()
    }

    /// Whether the vocabulary is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rarity.is_empty()
    }

    /// Returns a text's vector of length 1; empty without a known gram.
    #[must_use]
    pub fn vector(&self, text: &str) -> Sparse {
        let weigh = |(gram, count): (String, usize)| {
            let number = *self.grams.get(&gram)?;
            Some((number, (1.0 + real_len(count).ln()) * self.rarity[number as usize]))
        };
        let mut vector: Sparse = counts(text).into_iter().filter_map(weigh).collect();
        vector.sort_unstable_by_key(|(number, _)| *number);
        let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
        vector
    }
}

/// Counts the grams of a text in lower case, with runs of spaces collapsed and a space added at both ends.
fn counts(text: &str) -> HashMap<String, usize> {
    let words = text.split_whitespace().flat_map(|word| [" ", word]).chain([" "]);
    let characters: Vec<char> = words.flat_map(str::chars).flat_map(char::to_lowercase).take(MAX_TEXT_CHARS).collect();
    let mut counts = HashMap::new();
    for length in 1..=MAX_NGRAM_LENGTH {
        for gram in characters.windows(length) {
            *counts.entry(gram.iter().collect()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_common_grams_weighed_by_rarity() {
        let vocabulary = Vocabulary::new(["ab", "ab c", "AB"]);
        // " ", "a", "b", " a", "ab", "b ", " ab", "ab " are in all three; grams of only one text are left out.
        assert_eq!(vocabulary.len(), 8);
        let vector = vocabulary.vector("ab");
        assert!((vector.iter().map(|(_, weight)| weight * weight).sum::<f64>() - 1.0).abs() < 1e-12);
        let space = vector[0].1;
        assert!(
            vector[1..].iter().all(|(_, weight)| (space / weight - 1.0 - 2.0_f64.ln()).abs() < 1e-12),
            "{vector:?}"
        );
        assert_eq!(vocabulary.vector("  Ab\n"), vector);
        assert_eq!(vocabulary.vector("xyz").len(), 1);
        assert!(Vocabulary::default().vector("ab").is_empty());
    }

    #[test]
    fn only_the_beginning_of_a_long_text_counts() {
        let vocabulary = Vocabulary::new(["数 z", "数 z"]);
        let long = "数".repeat(MAX_TEXT_CHARS);
        assert_eq!(vocabulary.vector(&format!("{long} zzz")), vocabulary.vector(&long));
    }
}
