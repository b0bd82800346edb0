//! Practice model that quotes passages of a small built-in text: BM25 over words, and over pairs of Chinese characters.
//!
//! Scoring after Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with k1 = 1.2 and b = 0.75.
//! Only passages that cover a sufficient share of the query are quoted; otherwise it says that it found nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::words::{language_of, question, questions, terms};
use crate::domain::language::Language;
use crate::llm::Message;

/// A passage of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

/// A passage that matches, with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankedPassage {
    pub(super) passage: &'static Passage,
    pub(super) score: f64,
}

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Number of occurrences in the text that one occurrence in the title counts as.
const TITLE_WEIGHT: u32 = 2;

/// Minimum share of the weight of all query terms that a passage must contain.
const MIN_COVERAGE: f64 = 0.4;

/// Number of occurrences of a term in one passage.
struct Posting {
    passage: usize,
    count: u32,
}

struct PassageIndex {
    passages: Vec<Passage>,
    /// Number of terms in each passage.
    lengths: Vec<f64>,
    mean_length: f64,
    postings: HashMap<String, Vec<Posting>>,
}

static INDEX: LazyLock<PassageIndex> = LazyLock::new(|| PassageIndex::new(include_str!("passages.txt")));

pub(super) fn answer(conversation: &[Message]) -> String {
    let language = language_of(question(conversation));
    let hits = search(conversation);
    let Some((best, others)) = hits.split_first() else {
        let nothing = if language == Language::Chinese {
            "我在自己的小资料库里没有找到相关内容，所以不知道答案。"
        } else {
            "I found nothing about that in my small library, so I do not know."
        };
        return nothing.to_owned();
    };
    let more = others.first().filter(|other| other.score > 0.7 * best.score);
    let quoted: Vec<&str> = [best].into_iter().chain(more).map(|hit| hit.passage.text).collect();
    quoted.join("\n\n")
}

/// Finds the passages about the last question, best first. A question without a subject of its own (“and why?”) continues the one before
/// it.
pub(super) fn search(conversation: &[Message]) -> Vec<RankedPassage> {
    let subject = questions(conversation).map(terms).find(|terms| !terms.is_empty()).unwrap_or_default();
    INDEX.search(&subject)
}

impl PassageIndex {
    fn new(text: &'static str) -> Self {
        let passages: Vec<Passage> = text.split("\n\n").filter_map(Passage::parse).collect();
        let mut postings: HashMap<String, Vec<Posting>> = HashMap::new();
        let mut lengths = Vec::new();
        for (passage, Passage { title, text }) in passages.iter().enumerate() {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for (part, weight) in [(title, TITLE_WEIGHT), (text, 1)] {
                for term in terms(part) {
                    *counts.entry(term).or_default() += weight;
                }
            }
            lengths.push(counts.values().copied().map(f64::from).sum());
            for (term, count) in counts {
                postings.entry(term).or_default().push(Posting { passage, count });
            }
        }
        let mean_length = lengths.iter().sum::<f64>() / count(lengths.len()).max(1.0);
        Self { passages, lengths, mean_length, postings }
    }

    fn search(&'static self, asked: &[String]) -> Vec<RankedPassage> {
        let unique: std::collections::BTreeSet<&String> = asked.iter().collect();
        // Per passage: its score and the weight of the terms that it contains.
        let mut found: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let mut asked_weight = 0.0;
        for term in unique {
            let postings = self.postings.get(term).map_or(&[][..], Vec::as_slice);
            let weight = self.weight(postings.len());
            asked_weight += weight;
            for posting in postings {
                let (score, held) = found.entry(posting.passage).or_default();
                *score += weight * self.saturation(posting);
                *held += weight;
            }
        }
        let enough = found.into_iter().filter(|(_, (_, held))| *held >= MIN_COVERAGE * asked_weight);
        let mut hits: Vec<RankedPassage> =
            enough.map(|(passage, (score, _))| RankedPassage { passage: &self.passages[passage], score }).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        hits.truncate(3);
        hits
    }

    /// Computes ln(1 + (N − n + ½) / (n + ½)) for a term that occurs in n of N passages.
    fn weight(&self, holders: usize) -> f64 {
        let (all, holders) = (count(self.passages.len()), count(holders));
        (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
    }

    /// Computes f·(k1 + 1) / (f + k1·(1 − b + b·length/mean)) for a term that occurs f times in a passage.
    fn saturation(&self, posting: &Posting) -> f64 {
        let frequency = f64::from(posting.count);
        let length = self.lengths[posting.passage] / self.mean_length;
        frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length))
    }
}

impl Passage {
    /// Parses `# title` on the first line and the text after it.
    fn parse(block: &'static str) -> Option<Self> {
        let (title, text) = block.trim().strip_prefix("# ")?.split_once('\n')?;
        Some(Self { title, text: text.trim() })
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::*;

    #[track_caller]
    fn check(questions: &[&str], title: Option<&str>) {
        let hits = search(&asked(questions));
        assert_eq!(hits.first().map(|hit| hit.passage.title), title, "{questions:?}: {hits:?}");
    }

    #[test]
    fn every_passage_is_found_by_its_title() {
        assert!(INDEX.passages.len() >= 80, "{}", INDEX.passages.len());
        for passage in &INDEX.passages {
            check(&[passage.title], Some(passage.title));
        }
    }

    #[test]
    fn questions_find_their_passage() {
        check(&["What is the capital of France?"], Some("France and Paris"));
        check(&["Why is the sky blue?"], Some("Why the sky is blue"));
        check(&["Who wrote Hamlet?"], Some("Shakespeare"));
        check(&["How does a vaccine work?"], Some("Vaccines"));
        check(&["中国的首都是哪里？"], Some("北京"));
        check(&["长江有多长？"], Some("长江和黄河"));
        check(&["什么是光合作用？"], Some("光合作用"));
    }

    #[test]
    fn a_question_without_a_subject_goes_on_about_the_last_one() {
        check(&["Tell me about the Roman Empire", "Tell me more about it"], Some("Roman Empire"));
    }

    #[test]
    fn what_is_not_in_the_text_is_not_answered() {
        check(&["How do I repair a carburettor gasket?"], None);
        check(&["Write a limerick about my neighbour's parrot"], None);
        check(&[""], None);
    }
}
