//! Clusters of identical or nearly identical prompts, so that a prompt sent a thousand times is recognised.
//!
//! **Identical** prompts agree without case, character width, whitespace and sentence punctuation ([`normalized`]). **Nearly identical**
//! prompts have shingles with a Jaccard similarity of at least [`MIN_SIMILARITY`]: pieces of two characters in Chinese, Japanese and
//! Korean, of three elsewhere. Candidates are found by MinHash (Broder 1997): 64 hash functions `(a·x + b) mod 2⁶⁴ >> 32` with seeded `a`
//! and `b`, in 16 bands of 4 rows, so that a pair of similarity `s` becomes a candidate with probability 1 − (1 − s⁴)¹⁶: 0.9998 at 0.8,
//! 0.64 at 0.5. Each candidate is then compared by its shingles themselves, or by the 512 smallest of their hashes where there are more,
//! so a chance agreement of MinHash merges nothing.
//!
//! Prompts are assigned in log order. The first prompt of a cluster is its leader, and others join by their similarity to the
//! leader alone: clusters do not grow in chains, and no later prompt changes the cluster of an earlier one.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// Minimum Jaccard similarity of a prompt with the leader of its cluster.
pub const MIN_SIMILARITY: f64 = 0.8;

/// Number of bands of a MinHash signature.
const BANDS: usize = 16;
/// Number of hash functions per band.
const ROWS_PER_BAND: usize = 4;
/// Seed of the hash functions. A different seed finds the same clusters except for pairs that MinHash misses.
const SEED: u64 = 20_261_124;
/// Maximum number of stored shingle hashes per prompt; the smallest are kept.
const MAX_SHINGLE_HASHES: u32 = 512;
/// Maximum number of leaders compared with a prompt in each bucket of a band, the latest ones: it bounds the cost of a flood of prompts
/// that are alike, but not alike enough.
const MAX_LEADERS_PER_BUCKET: usize = 16;
/// Marker for no leader.
const NO_LEADER: u32 = u32::MAX;

/// Sentence punctuation and quotation marks. Brackets and operators stay: they distinguish `(1+2)*3` from `1+(2*3)`.
const PUNCTUATION: &str = ".,;:!?\"'`~…‥。、·‘’“”«»‹›「」『』《》〈〉—–";

/// Normalises a prompt: lower case, one character width, single spaces, no sentence punctuation and control characters, no spaces beside
/// Chinese, Japanese and Korean characters.
#[must_use]
pub fn normalized(prompt: &str) -> String {
    let mut text = String::with_capacity(prompt.len());
    let (mut last, mut gap) = (None, false);
    for character in prompt.nfkc().flat_map(char::to_lowercase) {
        if character.is_whitespace() || is_invisible(character) || PUNCTUATION.contains(character) {
            gap = true;
            continue;
        }
        if gap && last.is_some_and(|last| !is_cjk(last)) && !is_cjk(character) {
            text.push(' ');
        }
        text.push(character);
        (last, gap) = (Some(character), false);
    }
    text
}

/// Returns whether a character is a control or has no glyph.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Returns whether a character is a word or syllable by itself.
fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{3ffff}')
}

/// Id of a cluster: the digest of its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(u64);

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl ClusterId {
    /// Parses an id of 16 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

/// Sketch of a prompt for comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSketch {
    digest: u64,
    bands: [u64; BANDS],
    /// Smallest hashes of the shingles, ascending.
    shingles: Box<[u32]>,
}

impl PromptSketch {
    /// Computes the sketches of prompts on all cores; `None` for an empty prompt.
    #[must_use]
    pub fn of_prompts(prompts: &[&str]) -> Vec<Option<Self>> {
        prompts.par_iter().map(|prompt| (!prompt.is_empty()).then(|| Self::new(prompt))).collect()
    }

    /// Computes the sketch of a prompt. A prompt of punctuation alone is not normalised.
    #[must_use]
    pub fn new(prompt: &str) -> Self {
        let mut text = normalized(prompt);
        if text.is_empty() {
            prompt.trim().clone_into(&mut text);
        }
        let digest = Sha256::digest(&text);
        let digest = u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"));
        let mut shingles = shingles(&text);
        shingles.sort_unstable();
        shingles.dedup();
        let bands = bands(&shingles);
        shingles.truncate(MAX_SHINGLE_HASHES as usize);
        Self { digest, bands, shingles: shingles.into() }
    }

    /// Computes the Jaccard similarity of the shingles; an estimate from the [`MAX_SHINGLE_HASHES`] smallest hashes of both where there
    /// are more.
    fn similarity(&self, other: &[u32]) -> f64 {
        let (mut mine, mut theirs) = (self.shingles.iter().peekable(), other.iter().peekable());
        let (mut shared, mut all) = (0_u32, 0_u32);
        while all < MAX_SHINGLE_HASHES {
            let (one, two) = match (mine.peek(), theirs.peek()) {
                (None, None) => break,
                (one, two) => (one.copied(), two.copied()),
            };
            all += 1;
            if one == two {
                shared += 1;
            }
            // The smaller hash is skipped on its side, an equal one on both.
            let smaller = one.into_iter().chain(two).min();
            mine.next_if(|hash| Some(*hash) == smaller);
            theirs.next_if(|hash| Some(*hash) == smaller);
        }
        f64::from(shared) / f64::from(all.max(1))
    }
}

/// Hashes the pieces of a normalised text; the whole text where it is shorter than a piece.
fn shingles(text: &str) -> Vec<u32> {
    let characters: Vec<char> = text.chars().collect();
    let piece = |start: usize| characters.get(start..start + if is_cjk(characters[start]) { 2 } else { 3 });
    let mut hashes: Vec<u32> = (0..characters.len()).filter_map(piece).map(hash).collect();
    if hashes.is_empty() {
        hashes.push(hash(&characters));
    }
    hashes
}

fn hash(piece: &[char]) -> u32 {
    let mixed = piece.iter().fold(SEED, |state, &character| split_mix_64(state ^ u64::from(u32::from(character))));
    high_half(mixed)
}

/// Finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix_64(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn high_half(value: u64) -> u32 {
    (value >> 32) as u32
}

/// Coefficients `a` and `b` of each hash function.
static HASH_COEFFICIENTS: LazyLock<[[u64; 2]; BANDS * ROWS_PER_BAND]> = LazyLock::new(|| {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    std::array::from_fn(|_| [rng.next_u64() | 1, rng.next_u64()])
});

fn bands(shingles: &[u32]) -> [u64; BANDS] {
    let mut smallest = [u32::MAX; BANDS * ROWS_PER_BAND];
    for &shingle in shingles {
        for (smallest, [a, b]) in smallest.iter_mut().zip(HASH_COEFFICIENTS.iter()) {
            *smallest = (*smallest).min(high_half(a.wrapping_mul(u64::from(shingle)).wrapping_add(*b)));
        }
    }
    std::array::from_fn(|band| {
        let rows = &smallest[band * ROWS_PER_BAND..][..ROWS_PER_BAND];
        rows.iter().fold(band as u64, |state, &row| split_mix_64(state ^ u64::from(row)))
    })
}

/// Clusters of prompts, in the order of their leaders.
#[derive(Debug, Clone, Default)]
pub struct PromptClusters {
    /// Cluster of each distinct normalised prompt, by its digest.
    known: HashMap<u64, u32>,
    leaders: Vec<ClusterRepresentative>,
    /// Latest leader in each bucket of a band.
    buckets: HashMap<u64, u32>,
}

#[derive(Debug, Clone)]
struct ClusterRepresentative {
    digest: u64,
    shingles: Box<[u32]>,
    /// Previous leader in the bucket of each band.
    earlier: [u32; BANDS],
}

impl PromptClusters {
    /// Returns the number of clusters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.leaders.len()
    }

    /// Returns whether there are no clusters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leaders.is_empty()
    }

    /// Returns the number of distinct normalised prompts.
    #[must_use]
    pub fn distinct_prompts(&self) -> usize {
        self.known.len()
    }

    /// Returns the id of a cluster.
    #[must_use]
    pub fn id(&self, cluster: u32) -> ClusterId {
        ClusterId(self.leaders[cluster as usize].digest)
    }

    /// Finds a cluster by its id, or by the digest of any of its prompts.
    #[must_use]
    pub fn find(&self, id: ClusterId) -> Option<u32> {
        self.known.get(&id.0).copied()
    }

    /// Assigns the next prompt of the log to the cluster with the most similar leader, or to a new one.
    pub fn assign(&mut self, prompt: &PromptSketch) -> u32 {
        let cluster = self.cluster_of(prompt).unwrap_or_else(|| self.add_representative(prompt));
        self.known.insert(prompt.digest, cluster);
        cluster
    }

    /// Returns the existing cluster that a prompt belongs to.
    #[must_use]
    pub fn cluster_of(&self, prompt: &PromptSketch) -> Option<u32> {
        self.known.get(&prompt.digest).copied().or_else(|| self.most_similar(prompt))
    }

    /// Returns the most similar leader with at least the minimum similarity; the earliest of several.
    fn most_similar(&self, prompt: &PromptSketch) -> Option<u32> {
        let similarity = |leader: u32| (prompt.similarity(&self.leaders[leader as usize].shingles), leader);
        let found = self.candidates(prompt).into_iter().map(similarity);
        let similar = found.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY);
        similar.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, leader)| leader)
    }

    /// Lists the leaders to compare with, without repetition and ascending.
    fn candidates(&self, prompt: &PromptSketch) -> Vec<u32> {
        let known = |leader: u32| (leader != NO_LEADER).then_some(leader);
        let mut candidates: Vec<u32> = Vec::new();
        for (band, key) in prompt.bands.iter().enumerate() {
            let latest = self.buckets.get(key).copied();
            let earlier = |&leader: &u32| known(self.leaders[leader as usize].earlier[band]);
            candidates.extend(std::iter::successors(latest, earlier).take(MAX_LEADERS_PER_BUCKET));
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    fn add_representative(&mut self, prompt: &PromptSketch) -> u32 {
        let next = u32::try_from(self.leaders.len()).expect("memory ends long before 2^32 prompts");
        let earlier = prompt.bands.map(|key| self.buckets.insert(key, next).unwrap_or(NO_LEADER));
        self.leaders.push(ClusterRepresentative { digest: prompt.digest, shingles: prompt.shingles.clone(), earlier });
        next
    }
}

/// Vote with its voter and prompt cluster, for finding repeated votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptVote<'v> {
    /// Sequence number in the log.
    pub seq: i64,
    /// Voter id; empty where unknown.
    pub voter: &'v str,
    /// Cluster of the first prompt; `None` where the prompt is unknown.
    pub cluster: Option<u32>,
}

/// Returns the votes after the first one of the same voter on the same cluster, in the given order. Votes without a voter or a prompt are
/// ignored.
pub fn repeated_votes<'v>(votes: impl IntoIterator<Item = PromptVote<'v>>) -> Vec<i64> {
    let mut seen = std::collections::HashSet::new();
    let repeated = |vote: &PromptVote<'v>| match vote.cluster {
        Some(cluster) if !vote.voter.is_empty() => !seen.insert((vote.voter, cluster)),
        _ => false,
    };
    votes.into_iter().filter(repeated).map(|vote| vote.seq).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assigns prompts to clusters in their order.
    fn clusters(prompts: &[&str]) -> Vec<u32> {
        let mut clusters = PromptClusters::default();
        prompts.iter().map(|prompt| clusters.assign(&PromptSketch::new(prompt))).collect()
    }

    #[test]
    fn case_width_whitespace_and_sentence_punctuation_do_not_tell_prompts_apart() {
        for (one, other) in [
            ("Who wrote Hamlet?", "  who  wrote\nHAMLET "),
            ("如何证明费马大定理", "如何证明 费马大定理？"),
            ("Ｗｈｏ　ｗｒｏｔｅ　Ｈａｍｌｅｔ？", "who wrote hamlet"),
            ("who wrote\u{200b} Hamlet", "“Who wrote Hamlet…”"),
            ("你好，World！", "你好 world"),
        ] {
            assert_eq!(normalized(one), normalized(other));
        }
        for (one, other) in [("(1+2)*3", "1+(2*3)"), ("5-3", "5/3"), ("a < b", "a > b"), ("C", "C++"), ("12", "1 2")] {
            assert_ne!(normalized(one), normalized(other), "{one} and {other}");
        }
        assert_eq!(clusters(&["???", "!", "???", "", "  "]), [0, 1, 0, 2, 2]);
    }

    #[test]
    fn edited_copies_join_the_first_prompt_and_other_questions_do_not() {
        let question = "What are the main differences between civil law and criminal law in the United Kingdom?";
        let copies = [
            question,
            "Please: what are the main differences between civil law and criminal law in the United Kingdom? (17)",
            "What are the main diferences between civil law and criminal law in the united kingdom",
            "What are the main differences between a comet, an asteroid and a meteor?",
            "写一首关于春天的七言绝句，要求押韵，并且提到桃花和燕子。",
            "请写一首关于春天的七言绝句，要求押韵，并且提到桃花和燕子！谢谢",
            "写一首关于秋天的五言律诗，要求提到菊花和大雁。",
        ];
        assert_eq!(clusters(&copies), [0, 0, 0, 1, 2, 2, 3]);
    }

    #[test]
    fn similarity_is_jaccard_of_the_shingles_and_close_to_it_for_long_prompts() {
        let sketch = PromptSketch::new;
        // abc bcd cde and bcd cde def: two of four.
        assert!((sketch("abcde").similarity(&sketch("bcdef").shingles) - 0.5).abs() < 1e-12);
        assert!((sketch("abcde").similarity(&sketch("abcde").shingles) - 1.0).abs() < 1e-12);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let letters = |length: usize, rng: &mut ChaCha8Rng| -> String {
            (0..length).map(|_| char::from(b'a' + u8::try_from(rng.next_u32() % 26).unwrap())).collect()
        };
        let (shared, one, two) = (letters(4_000, &mut rng), letters(500, &mut rng), letters(500, &mut rng));
        let [one, two] = [one, two].map(|tail| shared.clone() + &tail);
        let exact = {
            let sets = [&one, &two].map(|text| shingles(text).into_iter().collect::<std::collections::HashSet<_>>());
            let shared = u32::try_from(sets[0].intersection(&sets[1]).count()).unwrap();
            f64::from(shared) / f64::from(u32::try_from(sets[0].union(&sets[1]).count()).unwrap())
        };
        let found = sketch(&one).similarity(&sketch(&two).shingles);
        assert!(exact < 1.0 && (found - exact).abs() < 0.07, "{found} for {exact}: four standard errors of 512 hashes");
    }

    #[test]
    fn a_flood_of_prompts_that_are_not_alike_enough_does_not_slow_down_the_next_one() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut letters = |length: usize| -> String {
            (0..length).map(|_| char::from(b'a' + u8::try_from(rng.next_u32() % 26).unwrap())).collect()
        };
        let (shared, mut clusters) = (letters(300), PromptClusters::default());
        for _ in 0..800 {
            clusters.assign(&PromptSketch::new(&(shared.clone() + &letters(60))));
        }
        assert_eq!(clusters.len(), 800, "a similarity of 0.7 is not enough");
        let compared = clusters.candidates(&PromptSketch::new(&(shared + &letters(60)))).len();
        assert!((MAX_LEADERS_PER_BUCKET..=BANDS * MAX_LEADERS_PER_BUCKET).contains(&compared), "{compared} of 800");
    }

    #[test]
    fn a_cluster_keeps_its_name_and_answers_to_each_of_its_prompts() {
        let mut clusters = PromptClusters::default();
        let [first, copy] = ["Who wrote Hamlet, Macbeth and Othello?", "Please: who wrote Hamlet, Macbeth and Othello"]
            .map(PromptSketch::new);
        let cluster = clusters.assign(&first);
        let id = clusters.id(cluster);
        assert_eq!(clusters.assign(&copy), cluster);
        assert_eq!((clusters.id(cluster), clusters.len(), clusters.distinct_prompts()), (id, 1, 2));
        for name in [id, ClusterId(copy.digest)] {
            assert_eq!(ClusterId::parse(&name.to_string()).and_then(|id| clusters.find(id)), Some(cluster));
        }
        for text in ["", "xyz", "0123", "+123456789abcdef", "00000000000000000"] {
            assert_eq!(ClusterId::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_vote_repeats_if_its_voter_has_voted_on_the_cluster_before() {
        let vote = |seq, voter, cluster| PromptVote { seq, voter, cluster };
        let votes = [
            vote(1, "ann", Some(0)),
            vote(2, "bob", Some(0)),
            vote(3, "ann", Some(1)),
            vote(4, "ann", Some(0)),
            vote(5, "", Some(0)),
            vote(6, "", Some(0)),
            vote(7, "ann", None),
            vote(8, "ann", None),
            vote(9, "ann", Some(0)),
        ];
        assert_eq!(repeated_votes(votes), [4, 9]);
    }
}
