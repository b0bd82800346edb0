//! Two small classifiers: a random forest and softmax regression.

use rand::seq::index::sample;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::stats::real_len;

const TREES: usize = 40;
const DEPTH: usize = 9;
const SMALLEST_LEAF: usize = 6;
/// Number of thresholds tried for a feature.
const THRESHOLDS: usize = 12;
const EPOCHS: usize = 200;
const RATE: f64 = 0.5;

/// Rows of features with the class of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Dataset {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) labels: Vec<usize>,
}

impl Dataset {
    /// Splits the rows into a training half and a test half.
    pub(super) fn halves(self) -> (Self, Self) {
        let middle = self.rows.len() / 2;
        let (mut train, mut test) = (self, Self::default());
        test.rows = train.rows.split_off(middle);
        test.labels = train.labels.split_off(middle);
        (train, test)
    }

    fn classes(&self) -> usize {
        self.labels.iter().max().map_or(0, |last| last + 1)
    }

    fn counts(&self, rows: &[usize], classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        rows.iter().for_each(|row| counts[self.labels[*row]] += 1);
        counts
    }

    /// Share of the most frequent class: the accuracy of always predicting it.
    pub(super) fn largest_class(&self) -> f64 {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let largest = self.counts(&all, self.classes()).into_iter().max().unwrap_or(0);
        real_len(largest) / real_len(self.rows.len())
    }

    /// Share of the rows whose class is predicted correctly.
    pub(super) fn accuracy(&self, predict: impl Fn(&[f64]) -> usize) -> f64 {
        let right = self.rows.iter().zip(&self.labels).filter(|(row, label)| predict(row) == **label).count();
        real_len(right) / real_len(self.rows.len())
    }
}

enum Node {
    Leaf(usize),
    Split { feature: usize, threshold: f64, below: Box<Node>, above: Box<Node> },
}

/// Random forest: trees on resampled rows that vote.
pub(super) struct Forest {
    trees: Vec<Node>,
    classes: usize,
}

impl Forest {
    pub(super) fn trained(data: &Dataset, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let classes = data.classes();
        let tree = |_| {
            let rows: Vec<usize> = (0..data.rows.len()).map(|_| rng.random_range(0..data.rows.len())).collect();
            grow(data, &rows, classes, DEPTH, &mut rng)
        };
        Self { trees: (0..TREES).map(tree).collect(), classes }
    }

    pub(super) fn predict(&self, row: &[f64]) -> usize {
        let mut votes = vec![0; self.classes];
        self.trees.iter().for_each(|tree| votes[tree.predict(row)] += 1);
        largest(&votes)
    }
}

impl Node {
    fn predict(&self, row: &[f64]) -> usize {
        match self {
            Self::Leaf(class) => *class,
            Self::Split { feature, threshold, below, above } => {
                if row[*feature] < *threshold {
                    below.predict(row)
                } else {
                    above.predict(row)
                }
            }
        }
    }
}

fn largest(counts: &[usize]) -> usize {
    (0..counts.len()).max_by_key(|class| counts[*class]).unwrap_or(0)
}

fn grow(data: &Dataset, rows: &[usize], classes: usize, depth: usize, rng: &mut impl Rng) -> Node {
    let counts = data.counts(rows, classes);
    let leaf = Node::Leaf(largest(&counts));
    if depth == 0 || rows.len() < 2 * SMALLEST_LEAF || counts.contains(&rows.len()) {
        return leaf;
    }
    let Some((feature, threshold)) = best_split(data, rows, classes, rng) else { return leaf };
    let (below, above): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| data.rows[**row][feature] < threshold);
    Node::Split {
        feature,
        threshold,
        below: Box::new(grow(data, &below, classes, depth - 1, rng)),
        above: Box::new(grow(data, &above, classes, depth - 1, rng)),
    }
}

fn best_split(data: &Dataset, rows: &[usize], classes: usize, rng: &mut impl Rng) -> Option<(usize, f64)> {
    let features = data.rows[0].len();
    let tried = features.isqrt() + 1;
    let mut best = (f64::INFINITY, None);
    let (mut column, mut counts) = (Vec::with_capacity(rows.len()), [vec![0; classes], vec![0; classes]]);
    for feature in sample(rng, features, tried) {
        column.clear();
        column.extend(rows.iter().map(|row| (data.rows[*row][feature], data.labels[*row])));
        for _ in 0..THRESHOLDS {
            let threshold = column[rng.random_range(0..column.len())].0;
            let impurity = impurity(&column, threshold, &mut counts);
            if impurity < best.0 {
                best = (impurity, Some((feature, threshold)));
            }
        }
    }
    best.1
}

/// Gini impurity of values with their classes after a split; infinite where a part is too small. `counts` is scratch space.
fn impurity(column: &[(f64, usize)], threshold: f64, counts: &mut [Vec<usize>; 2]) -> f64 {
    counts.iter_mut().for_each(|counts| counts.fill(0));
    column.iter().for_each(|(value, class)| counts[usize::from(*value >= threshold)][*class] += 1);
    let part = |counts: &Vec<usize>| {
        let size = counts.iter().sum::<usize>();
        let pure: f64 = counts.iter().map(|count| real_len(*count).powi(2)).sum::<f64>() / real_len(size);
        if size < SMALLEST_LEAF { f64::INFINITY } else { real_len(size) - pure }
    };
    counts.iter().map(part).sum()
}

/// Softmax regression on standardised features and their squares.
pub(super) struct Logistic {
    scale: Vec<(f64, f64)>,
    weights: Vec<Vec<f64>>,
}

impl Logistic {
    pub(super) fn trained(data: &Dataset) -> Self {
        let count = real_len(data.rows.len());
        let column = |at: usize| data.rows.iter().map(move |row| row[at]);
        let scale = (0..data.rows[0].len()).map(|at| {
            let mean = column(at).sum::<f64>() / count;
            let spread = (column(at).map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            (mean, spread.max(1e-9))
        });
        let mut model = Self { scale: scale.collect(), weights: Vec::new() };
        let rows: Vec<Vec<f64>> = data.rows.iter().map(|row| model.expand(row)).collect();
        model.weights = vec![vec![0.0; rows[0].len()]; data.classes()];
        for _ in 0..EPOCHS {
            model.descend(&rows, &data.labels);
        }
        model
    }

    fn expand(&self, row: &[f64]) -> Vec<f64> {
        let scaled =
            row.iter().zip(&self.scale).map(|(value, (mean, spread))| ((value - mean) / spread).clamp(-3.0, 3.0));
        let scaled: Vec<f64> = scaled.collect();
        let squares = scaled.iter().map(|value| value * value / 3.0);
        std::iter::once(1.0).chain(scaled.iter().copied()).chain(squares).collect()
    }

    fn descend(&mut self, rows: &[Vec<f64>], labels: &[usize]) {
        let mut gradient = vec![vec![0.0; rows[0].len()]; self.weights.len()];
        for (row, label) in rows.iter().zip(labels) {
            let scores = self.scores(row);
            for (class, (gradient, score)) in gradient.iter_mut().zip(scores).enumerate() {
                let error = score - f64::from(u8::from(class == *label));
                gradient.iter_mut().zip(row).for_each(|(sum, value)| *sum += error * value);
            }
        }
        let rate = RATE / real_len(rows.len());
        for (weights, gradient) in self.weights.iter_mut().zip(&gradient) {
            weights.iter_mut().zip(gradient).for_each(|(weight, slope)| *weight -= rate * slope + 1e-4 * *weight);
        }
    }

    fn scores(&self, row: &[f64]) -> Vec<f64> {
        let dot = |weights: &Vec<f64>| weights.iter().zip(row).map(|(weight, value)| weight * value).sum::<f64>();
        let raw: Vec<f64> = self.weights.iter().map(dot).collect();
        let most = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = raw.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect()
    }

    pub(super) fn predict(&self, row: &[f64]) -> usize {
        let scores = self.scores(&self.expand(row));
        (0..scores.len()).max_by(|one, other| scores[*one].total_cmp(&scores[*other])).unwrap_or(0)
    }
}
