//! Cluster bootstrap over items: ratings of one item are not independent, so an item is drawn with all of its units.
//!
//! Many units have the same ratings: they are counted by pattern, and a statistic is computed from these counts.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Rating patterns of units, grouped by item.
pub struct ItemPatterns {
    patterns: Vec<usize>,
    /// Start of each item's units, and the end of the last.
    starts: Vec<usize>,
    distinct: usize,
}

impl ItemPatterns {
    /// Groups (item, pattern) pairs, which come in item order; patterns are numbers below `distinct`.
    pub fn new<I: PartialEq>(units: impl Iterator<Item = (I, usize)>, distinct: usize) -> Self {
        let (mut patterns, mut starts, mut last) = (Vec::new(), Vec::new(), None);
        for (item, pattern) in units {
            if last.as_ref() != Some(&item) {
                starts.push(patterns.len());
                last = Some(item);
            }
            patterns.push(pattern);
        }
        starts.push(patterns.len());
        Self { patterns, starts, distinct }
    }

    /// Number of units.
    #[must_use]
    pub fn units(&self) -> usize {
        self.patterns.len()
    }

    /// Number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of units of each pattern.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.distinct];
        self.patterns.iter().for_each(|at| counts[*at] += 1);
        counts
    }

    /// Number of units of each pattern in a bootstrap sample of the items.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let (mut counts, items) = (vec![0; self.distinct], self.items());
        for _ in 0..items {
            let at = rng.random_range(0..items);
            self.patterns[self.starts[at]..self.starts[at + 1]].iter().for_each(|pattern| counts[*pattern] += 1);
        }
        counts
    }
}
