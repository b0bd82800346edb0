//! Negative log likelihood of votes under a model of all outcomes.

use argmin::core::{CostFunction, Error, Gradient, Hessian};
use nalgebra::{DMatrix, DVector};

use super::outcomes::{OutcomeModel, PairOutcome, PairParameters, ValueWithDerivatives, loss};
use crate::rating::strengths::newton::{mean_diagonal, project, project_matrix};
use crate::stats::cholesky::cholesky;

/// Votes of a pair by outcome, in the order of [`PairOutcome::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OutcomeCounts {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) votes: [f64; 4],
}

/// Σ −ln P over votes. A point holds the log strengths, then η if there are ties.
#[derive(Debug)]
pub(super) struct TieLoss {
    model: OutcomeModel,
    models: usize,
    pairs: Vec<OutcomeCounts>,
    has_ties: bool,
    /// Gauges: under Rao–Kupper, one of all models, since only differences of log strengths matter.
    gauges: Vec<Vec<usize>>,
}

impl TieLoss {
    pub(super) fn new(model: OutcomeModel, models: usize, pairs: Vec<OutcomeCounts>) -> Self {
        let has_ties = pairs.iter().any(|pair| pair.votes[PairOutcome::Tie as usize] > 0.0);
        let gauges = match model {
            OutcomeModel::RaoKupper => vec![(0..models).collect()],
            OutcomeModel::GeneralisedRaoKupper => Vec::new(),
        };
        Self { model, models, pairs, has_ties, gauges }
    }

    /// Returns the number of parameters of a point.
    pub(super) fn parameters(&self) -> usize {
        self.models + usize::from(self.has_ties)
    }

    pub(super) fn pairs(&self) -> &[OutcomeCounts] {
        &self.pairs
    }

    pub(super) fn votes(&self) -> f64 {
        self.pairs.iter().flat_map(|pair| pair.votes).sum::<f64>().max(1.0)
    }

    /// Returns the parameters of a pair: its models and, if there are ties, η.
    pub(super) fn places(&self, first: usize, second: usize) -> [Option<usize>; 3] {
        [Some(first), Some(second), self.has_ties.then_some(self.models)]
    }

    pub(super) fn at(places: [Option<usize>; 3], point: &DVector<f64>) -> PairParameters {
        places.map(|place| place.map_or(f64::NEG_INFINITY, |place| point[place]))
    }

    /// Computes −ln P of an outcome of two models at a point.
    pub(super) fn of(
        &self,
        outcome: PairOutcome,
        places: [Option<usize>; 3],
        point: &DVector<f64>,
    ) -> ValueWithDerivatives {
        loss(self.model, outcome, Self::at(places, point)).0
    }

    /// Computes the loss of a pair, and its concave part.
    fn of_pair(&self, pair: &OutcomeCounts, point: &DVector<f64>) -> (ValueWithDerivatives, ValueWithDerivatives) {
        let at = Self::at(self.places(pair.first, pair.second), point);
        let mut sums = (ValueWithDerivatives::default(), ValueWithDerivatives::default());
        for (outcome, votes) in PairOutcome::ALL.into_iter().zip(pair.votes).filter(|(_, votes)| *votes > 0.0) {
            let (whole, downwards) = loss(self.model, outcome, at);
            sums.0.add(votes, &whole);
            sums.1.add(votes, &downwards);
        }
        sums
    }

    pub(super) fn value(&self, point: &DVector<f64>) -> f64 {
        self.pairs.iter().map(|pair| self.of_pair(pair, point).0.value).sum()
    }

    fn slope(&self, point: &DVector<f64>) -> DVector<f64> {
        let mut slope = DVector::zeros(point.len());
        for pair in &self.pairs {
            let (whole, _) = self.of_pair(pair, point);
            for (place, by) in self.places(pair.first, pair.second).into_iter().zip(whole.gradient) {
                place.into_iter().for_each(|place| slope[place] += by);
            }
        }
        slope
    }

    /// Computes the Hessian; with `UpperBound`, that of a convex majorant of the loss that touches it at the point.
    fn curvature(&self, point: &DVector<f64>, curvature: HessianKind) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(point.len(), point.len());
        for pair in &self.pairs {
            let (mut whole, downwards) = self.of_pair(pair, point);
            if curvature == HessianKind::UpperBound {
                whole.add(-1.0, &downwards);
            }
            add_block(&mut matrix, self.places(pair.first, pair.second), &whole.hessian);
        }
        matrix
    }

    pub(super) fn hessian(&self, point: &DVector<f64>) -> DMatrix<f64> {
        self.curvature(point, HessianKind::Exact)
    }

    fn with_fixed_gauges(&self, mut matrix: DMatrix<f64>) -> DMatrix<f64> {
        let stiffness = mean_diagonal(&matrix);
        project_matrix(&self.gauges, &mut matrix, stiffness);
        matrix
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HessianKind {
    Exact,
    UpperBound,
}

/// Adds second derivatives by the parameters of a pair.
pub(super) fn add_block(matrix: &mut DMatrix<f64>, places: [Option<usize>; 3], block: &[PairParameters; 3]) {
    for (row, values) in places.into_iter().zip(block) {
        for (column, value) in places.into_iter().zip(values) {
            if let (Some(row), Some(column)) = (row, column) {
                matrix[(row, column)] += value;
            }
        }
    }
}

impl CostFunction for &TieLoss {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, point: &DVector<f64>) -> Result<f64, Error> {
        Ok(self.value(point) / self.votes())
    }
}

impl Gradient for &TieLoss {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, point: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut gradient = self.slope(point) / self.votes();
        project(&self.gauges, &mut gradient);
        Ok(gradient)
    }
}

impl Hessian for &TieLoss {
    type Param = DVector<f64>;
    type Hessian = DMatrix<f64>;

    fn hessian(&self, point: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        let exact = self.with_fixed_gauges(self.curvature(point, HessianKind::Exact)) / self.votes();
        // Away from the minimum the loss need not be convex.
        if cholesky(exact.clone()).is_some() {
            return Ok(exact);
        }
        Ok(self.with_fixed_gauges(self.curvature(point, HessianKind::UpperBound)) / self.votes())
    }
}
