//! Text classifier: character n-grams and softmax regression.

use super::features::{Sparse, Vocabulary};
use super::seed_labels::Seed;
use super::softmax::{FitFailed, Softmax};

/// Predicted label of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Position of the most probable label; the first of equally probable ones.
    pub label: usize,
    /// Probability of the label.
    pub confidence: f64,
}

/// Trained text classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    vocabulary: Vocabulary,
    model: Softmax,
}

impl Classifier {
    /// Trains on seeds, whose labels are positions below `labels`.
    ///
    /// # Errors
    /// [`FitFailed`].
    pub fn train<'s>(seeds: impl IntoIterator<Item = &'s Seed>, labels: usize) -> Result<Self, FitFailed> {
        let seeds: Vec<&Seed> = seeds.into_iter().collect();
        let vocabulary = Vocabulary::new(seeds.iter().map(|seed| seed.text.as_str()));
        let examples: Vec<(Sparse, usize)> =
            seeds.iter().map(|seed| (vocabulary.vector(&seed.text), seed.label)).collect();
        let model = Softmax::fit(&examples, vocabulary.len(), labels)?;
        Ok(Self { vocabulary, model })
    }

    /// Returns the probability of each label, by position.
    #[must_use]
    pub fn probabilities(&self, text: &str) -> Vec<f64> {
        self.model.probabilities(&self.vocabulary.vector(text))
    }

    /// Predicts the label of a text.
    #[must_use]
    pub fn predict(&self, text: &str) -> Prediction {
        let probabilities = self.probabilities(text);
        let first = Prediction { label: 0, confidence: f64::NEG_INFINITY };
        probabilities.into_iter().enumerate().fold(first, |best, (label, confidence)| {
            if confidence > best.confidence { Prediction { label, confidence } } else { best }
        })
    }
}
