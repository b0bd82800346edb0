//! Stratified k-fold cross-validation of a classifier.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::classifier::Classifier;
use super::scheme::Scheme;
use super::seed_labels::Seed;
use super::softmax::FitFailed;
use crate::integrity::prompts::prompt_digest::prompt_digest;
use crate::stats::real_len;

/// Options of the cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidationOptions {
    /// Number of folds; each is held out once.
    pub folds: usize,
    /// Random seed for assigning texts to folds.
    pub seed: u64,
}

impl Default for ValidationOptions {
    fn default() -> Self {
        Self { folds: 5, seed: 0 }
    }
}

/// Result of the validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validation {
    /// Number of texts.
    pub texts: usize,
    /// Number of folds.
    pub folds: usize,
    /// Random seed of the assignment.
    pub seed: u64,
    /// Share of texts whose label was predicted.
    pub accuracy: f64,
    /// Unweighted mean of the labels' F1 scores.
    pub macro_f1: f64,
    /// Quality by label.
    pub labels: Vec<LabelQuality>,
}

/// Classification quality of one label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelQuality {
    /// Key of the label.
    pub label: &'static str,
    /// Number of texts with the label.
    pub texts: usize,
    /// Share of the texts predicted to have the label that have it; 0 without any.
    pub precision: f64,
    /// Share of the texts with the label that are predicted to have it.
    pub recall: f64,
    /// F1 score, 2PR/(P + R); 0 where both are 0.
    pub f1: f64,
}

/// Trains without each fold in turn and predicts the labels of that fold.
///
/// # Errors
/// [`FitFailed`].
pub fn cross_validate(seeds: &[Seed], scheme: Scheme, options: ValidationOptions) -> Result<Validation, FitFailed> {
    let (labels, folds) = (scheme.labels().count(), assign_folds(seeds, options));
    let held_out = |fold: usize| {
        if !folds.contains(&fold) {
            // There are fewer distinct texts than folds.
            return Ok(Vec::new());
        }
        let of = |inside: bool| seeds.iter().zip(&folds).filter(move |(_, of)| (**of == fold) == inside);
        let classifier = Classifier::train(of(false).map(|(seed, _)| seed), labels)?;
        Ok(of(true).map(|(seed, _)| (seed.label, Some(classifier.predict(&seed.text).label))).collect::<Vec<_>>())
    };
    let found = (0..options.folds).into_par_iter().map(held_out).collect::<Result<Vec<_>, FitFailed>>()?;
    Ok(score(&found.concat(), scheme, options))
}

/// Assigns each seed to a fold. The seeds of each label are shuffled and assigned in turn, continuing where the previous label ended, so
/// that folds differ by at most one seed of a label, and in total. Seeds whose texts are [the same question](prompt_digest) go together,
/// so that no text is in two folds.
#[must_use]
pub fn assign_folds(seeds: &[Seed], options: ValidationOptions) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..seeds.len()).collect();
    order.shuffle(&mut rng);
    order.sort_by_key(|&seed| seeds[seed].label);
    let (mut folds, mut fold_of_question) = (vec![0; seeds.len()], HashMap::new());
    for seed in order {
        let next = fold_of_question.len() % options.folds;
        folds[seed] = *fold_of_question.entry(prompt_digest(&seeds[seed].text)).or_insert(next);
    }
    folds
}

/// Scores predictions. `pairs` are the true and the predicted label of each text, `None` without a prediction.
#[must_use]
pub fn score(pairs: &[(usize, Option<usize>)], scheme: Scheme, options: ValidationOptions) -> Validation {
    let count = |holds: &dyn Fn(usize, Option<usize>) -> bool| {
        real_len(pairs.iter().filter(|(is, taken)| holds(*is, *taken)).count())
    };
    let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    let quality = |(label, name): (usize, &'static str)| {
        let hits = count(&|is, taken| is == label && taken == Some(label));
        let precision = share(hits, count(&|_, taken| taken == Some(label)));
        let recall = share(hits, count(&|is, _| is == label));
        let texts = pairs.iter().filter(|(is, _)| *is == label).count();
        LabelQuality { label: name, texts, precision, recall, f1: share(2.0 * precision * recall, precision + recall) }
    };
    let labels: Vec<LabelQuality> = scheme.labels().enumerate().map(quality).collect();
    Validation {
        texts: pairs.len(),
        folds: options.folds,
        seed: options.seed,
        accuracy: share(count(&|is, taken| Some(is) == taken), real_len(pairs.len())),
        macro_f1: labels.iter().map(|label| label.f1).sum::<f64>() / real_len(labels.len()),
        labels,
    }
}

/// Classifier trained on all seeds, with its cross-validation.
#[derive(Debug, Clone)]
pub struct ValidatedClassifier {
    /// Cross-validation on the seeds.
    pub validation: Validation,
    /// Classifier trained on all seeds.
    pub classifier: Classifier,
}

impl ValidatedClassifier {
    /// Cross-validates, then trains on all seeds.
    ///
    /// # Errors
    /// [`FitFailed`].
    pub fn new(seeds: &[Seed], scheme: Scheme, options: ValidationOptions) -> Result<Self, FitFailed> {
        let validation = cross_validate(seeds, scheme, options)?;
        Ok(Self { validation, classifier: Classifier::train(seeds, scheme.labels().count())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_has_its_share_of_every_label() {
        let seed = |i: usize| Seed { text: format!("text {i}"), label: i * i % 7 % 6, query: None, line: 0 };
        let seeds: Vec<Seed> = (0..103).map(seed).collect();
        let folds = assign_folds(&seeds, ValidationOptions { folds: 5, seed: 3 });
        for label in 0..6 {
            let in_fold =
                |fold| seeds.iter().zip(&folds).filter(|(seed, of)| seed.label == label && **of == fold).count();
            let counts: Vec<usize> = (0..5).map(in_fold).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{label}: {counts:?}");
        }
        let other = assign_folds(&seeds, ValidationOptions { folds: 5, seed: 4 });
        assert_ne!(folds, other, "another seed deals otherwise");
    }

    /// A hundred texts of random digits with random labels, each in three copies: unchanged, with a space and with an exclamation mark.
    fn triplicates() -> Vec<Seed> {
        let mut labels: Vec<usize> = (0..100).map(|n| n % 6).collect();
        labels.shuffle(&mut ChaCha8Rng::seed_from_u64(5));
        let copies = |(label, number): (usize, u64)| {
            let text = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            ["", " ", "!"].map(|end| Seed { text: format!("{text}{end}"), label, query: None, line: 0 })
        };
        labels.into_iter().zip(1..).flat_map(copies).collect()
    }

    #[test]
    fn copies_of_a_text_are_dealt_to_the_same_fold() {
        let seeds = triplicates();
        let folds = assign_folds(&seeds, ValidationOptions::default());
        assert!(folds.chunks(3).all(|copies| copies.iter().all(|fold| *fold == copies[0])), "{folds:?}");
        let sizes: Vec<usize> = (0..5).map(|fold| folds.iter().filter(|of| **of == fold).count()).collect();
        assert_eq!(sizes, [60; 5]);
    }

    #[test]
    fn random_labels_are_not_recognised_by_copies_of_their_texts() {
        let found = cross_validate(&triplicates(), Scheme::Urs, ValidationOptions::default()).unwrap();
        assert!(found.accuracy < 0.35, "one of six labels is right by chance: {}", found.accuracy);
    }

    #[test]
    fn copies_of_a_single_text_cannot_be_validated() {
        let copies: Vec<Seed> = triplicates().into_iter().take(3).collect();
        let error = cross_validate(&copies, Scheme::Urs, ValidationOptions::default()).unwrap_err().to_string();
        assert!(error.contains("give seeds whose texts differ"), "{error}");
    }

    #[test]
    fn accuracy_and_f1_of_a_table_done_by_hand() {
        // Of label 0 two of three are found and there is one false positive; of label 1 one of two is found; of the others none.
        let pairs = [(0, Some(0)), (0, Some(0)), (0, Some(1)), (1, Some(1)), (1, Some(0))];
        let found = score(&pairs, Scheme::Urs, ValidationOptions::default());
        assert!((found.accuracy - 0.6).abs() < 1e-12);
        assert!((found.labels[0].f1 - 2.0 / 3.0).abs() < 1e-12 && (found.labels[1].f1 - 0.5).abs() < 1e-12);
        assert!((found.macro_f1 - (2.0 / 3.0 + 0.5) / 6.0).abs() < 1e-12);
        assert_eq!((found.labels[0].texts, found.labels[1].texts), (3, 2));
        let silent = score(&[(0, Some(0)), (0, None)], Scheme::Urs, ValidationOptions::default());
        let label = &silent.labels[0];
        assert_eq!((silent.accuracy, label.precision, label.recall), (0.5, 1.0, 0.5), "no label is no right one");
    }
}
