//! Trains the weights of `classifier` on the labelled texts.

use std::collections::BTreeSet;

use super::classifier::{self, BUCKETS};
use super::tests::{LabeledText, TAUGHT, names, read, speaker_of};
use super::*;

/// Number of passes over the texts; the weights are the mean of those after each pass of the second half.
const PASSES: usize = 12;

/// Initial step size; each weight's steps shrink with its accumulated gradients.
const INITIAL_STEP_SIZE: f64 = 0.1;

/// Stored value of a weight of 1.
const STORED_WEIGHT_SCALE: f64 = 32.0;

/// Gradient below which no update is made.
const MIN_GRADIENT: f64 = 0.03;

/// Minimum number of texts that have a bucket for the bucket to count.
const MIN_TEXTS: usize = 2;

/// Text as the buckets of its sentences, with its label.
struct TrainingExample {
    sentences: Vec<Vec<usize>>,
    leak: bool,
}

fn example(names: &IdentityNames, row: &LabeledText) -> Option<TrainingExample> {
    let speaker = speaker_of(names, row);
    let normalized = if speaker.cites { NormalizedText::quoting(&row.text) } else { NormalizedText::new(&row.text) };
    let found = sentences(&normalized, names);
    let own = |sentence: &&Sentence| !sentence.names.iter().all(|name| sentence.is_in_quoted_phrase(name));
    let last = found.len();
    let numbered = found.iter().enumerate().filter(|(_, sentence)| own(sentence));
    let sentences: Vec<_> =
        numbered.map(|(at, sentence)| classifier::features(&speaker, sentence, at + 1 == last)).collect();
    (row.part != "prompt" && !sentences.is_empty()).then_some(TrainingExample { sentences, leak: row.leak })
}

/// Removes buckets that too few texts have.
fn remove_rare_buckets(examples: &mut [TrainingExample]) {
    let mut texts = vec![0; BUCKETS];
    for example in &*examples {
        let buckets: BTreeSet<usize> = example.sentences.iter().flatten().copied().collect();
        buckets.into_iter().for_each(|bucket| texts[bucket] += 1);
    }
    for sentence in examples.iter_mut().flat_map(|example| &mut example.sentences) {
        sentence.retain(|bucket| texts[*bucket] >= MIN_TEXTS);
    }
}

struct LinearModel {
    weights: Vec<f64>,
    gradients: Vec<f64>,
}

impl LinearModel {
    fn score(&self, sentence: &[usize]) -> f64 {
        sentence.iter().map(|bucket| self.weights[*bucket]).sum()
    }

    /// Updates the weights by one text: in a leak, the highest-scoring sentence is the positive example; in another text, all sentences are
    /// negative.
    fn train_on(&mut self, example: &TrainingExample) {
        let scores: Vec<f64> = example.sentences.iter().map(|sentence| self.score(sentence)).collect();
        let best = (0..scores.len()).reduce(|best, at| if scores[at] > scores[best] { at } else { best });
        for (at, sentence) in example.sentences.iter().enumerate() {
            if example.leak && Some(at) != best {
                continue;
            }
            let error = 1.0 / (1.0 + (-scores[at].clamp(-30.0, 30.0)).exp()) - f64::from(u8::from(example.leak));
            if error.abs() >= MIN_GRADIENT {
                self.step(sentence, error);
            }
        }
    }

    fn step(&mut self, sentence: &[usize], error: f64) {
        for bucket in sentence {
            self.gradients[*bucket] += error * error;
            self.weights[*bucket] -= INITIAL_STEP_SIZE * error / self.gradients[*bucket].sqrt();
        }
    }
}

/// Returns the next number below a bound of a generator that is the same on all platforms.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % below
}

fn train(mut examples: Vec<TrainingExample>) -> Vec<u8> {
    remove_rare_buckets(&mut examples);
    let mut model = LinearModel { weights: vec![0.0; BUCKETS], gradients: vec![0.01; BUCKETS] };
    let (mut sums, mut state) = (vec![0.0; BUCKETS], 16);
    for pass in 0..PASSES {
        for at in (1..examples.len()).rev() {
            examples.swap(at, draw(&mut state, at + 1));
        }
        examples.iter().for_each(|example| model.train_on(example));
        if pass >= PASSES / 2 {
            sums.iter_mut().zip(&model.weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few passes")]
    let passes = (PASSES - PASSES / 2) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "the weight is clamped to a byte")]
    let weight = |sum: f64| ((sum / passes * STORED_WEIGHT_SCALE).round().clamp(-127.0, 127.0) as i8).cast_unsigned();
    sums.into_iter().map(weight).collect()
}

/// `LANGYA_WRITE_WEIGHTS=1 cargo test -p langya-domain the_weights` writes the weights.
#[test]
fn the_weights_are_those_that_the_labelled_texts_teach() {
    let (names, rows) = (names(), TAUGHT.iter().flat_map(|file| read(file)));
    let weights = train(rows.filter_map(|row| example(&names, &row)).collect());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/integrity/identity_leak/weights.bin");
    if std::env::var_os("LANGYA_WRITE_WEIGHTS").is_some() {
        std::fs::write(file, &weights).unwrap();
    }
    let differ = std::fs::read(file).unwrap().iter().zip(&weights).filter(|(kept, taught)| kept != taught).count();
    assert!(differ <= BUCKETS / 1000, "{differ} weights are others: write them anew");
}
