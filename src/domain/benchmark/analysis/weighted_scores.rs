//! Scores weighted by the judge's own probabilities beside those that it wrote.

use crate::benchmark::judgement::Judgement;
use crate::judging::verdict::{Rating, Verdict};

/// One judge's scores where it was asked for the probabilities of its tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedScores {
    /// Scores that were read.
    pub scores: u64,
    /// Those for which the provider returned probabilities.
    pub weighted: u64,
    /// Sum of what the judge wrote, over the weighted ones.
    written: f64,
    /// Sum of the expected scores.
    expected: f64,
    /// Sum of the distances between the two.
    distance: f64,
}

impl WeightedScores {
    /// Counts the scores of judgements for which probabilities were asked.
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

    /// Means over the weighted scores: of what was written, of the expected ones, and of the distance between the two. None where
    /// nothing is weighted.
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
