//! Comparison of probability-weighted scores with the scores that judges wrote.

use crate::benchmark::scores::judgement::Judgement;
use crate::judging::verdict::{Rating, Verdict};

/// Scores of one judge with requested token probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedScores {
    /// Number of readable scores.
    pub scores: u64,
    /// Number of scores with probabilities from the provider.
    pub weighted: u64,
    /// Sum of the written scores, over the weighted ones.
    written: f64,
    /// Sum of the expected scores.
    expected: f64,
    /// Sum of the absolute differences between written and expected scores.
    distance: f64,
}

impl WeightedScores {
    /// Counts the scores of judgements with requested probabilities.
    #[must_use]
    pub fn new<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> Self {
        let mut counted = Self::default();
        for judgement in judgements {
            if let Some(Verdict::Rating(rating)) = &judgement.parsed {
                counted.add(rating);
            }
        }
        counted
    }

    fn add(&mut self, rating: &Rating) {
        self.scores += 1;
        if let Some(written) = rating.written {
            self.weighted += 1;
            self.written += written;
            self.expected += rating.score;
            self.distance += (rating.score - written).abs();
        }
    }

    /// Returns means over the weighted scores: of the written ones, the expected ones, and their absolute differences. `None` without
    /// weighted scores.
    #[must_use]
    pub fn means(&self) -> [Option<f64>; 3] {
        let weighted = u32::try_from(self.weighted).map_or(f64::INFINITY, f64::from);
        [self.written, self.expected, self.distance].map(|sum| (self.weighted > 0).then(|| sum / weighted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::analysis::any_judgement;

    fn judged(score: f64, written: Option<f64>) -> Judgement {
        let rating = Rating { written, ..Rating::new(score, [].into()) };
        Judgement { parsed: Some(Verdict::Rating(rating)), ..any_judgement() }
    }

    #[test]
    fn means_are_of_weighted_scores_alone() {
        let said = [judged(7.5, Some(7.0)), judged(3.25, Some(4.0)), judged(9.0, None)];
        let counted = WeightedScores::new(&said);
        assert_eq!((counted.scores, counted.weighted), (3, 2));
        assert_eq!(counted.means(), [Some(5.5), Some(5.375), Some(0.625)]);
        let none = WeightedScores::new(&said[2..]);
        assert_eq!((none.scores, none.weighted, none.means()), (1, 0, [None; 3]));
    }
}
