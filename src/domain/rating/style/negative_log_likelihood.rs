//! Negative log likelihood with style features and its derivatives, in one pass over the votes.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Gradient, Hessian};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::super::strengths::newton::{mean_diagonal, project, project_matrix};
use super::OwnInformation;
use super::features::{COUNT, FeatureVector, StyledVote, StyledVotes, VOTES_PER_CHUNK};
use crate::rating::strengths::fit::{Fit, ModelStrength};

/// Σ c·[softplus(d) − y·d] over votes, d = θ_first − θ_second + x·β. A point holds the strengths of
/// [`StyledVotes::models`], then the effects of the kept features.
#[derive(Debug)]
pub(super) struct StyleLoss<'votes> {
    votes: &'votes StyledVotes,
    kept: Vec<usize>,
    total: f64,
    /// Cache of the last point: argmin evaluates loss, gradient and Hessian at one point in sequence.
    last: RefCell<Option<(DVector<f64>, StyleSums)>>,
}

/// Terms of one vote.
pub(super) struct Terms {
    pub(super) loss: f64,
    pub(super) slope: f64,
    pub(super) weight: f64,
}

/// Sums over the votes of one group.
#[derive(Debug, Clone, Copy, Default)]
struct GroupSums {
    slope: f64,
    weight: f64,
    /// Σ weight·x.
    cross: FeatureVector,
}

/// Sums over all votes, Σ slope·u and Σ weight·u·uᵀ with u = (e_first − e_second, x), in parts.
#[derive(Debug, Clone, Default)]
pub(super) struct StyleSums {
    loss: f64,
    /// Sums by group.
    cells: Vec<(usize, GroupSums)>,
    /// Σ slope·x.
    gradient: FeatureVector,
    /// Σ weight·x·xᵀ.
    squares: [FeatureVector; COUNT],
}

impl<'votes> StyleLoss<'votes> {
    pub(super) fn new(votes: &'votes StyledVotes, kept: Vec<usize>) -> Self {
        let total = votes.votes.iter().map(|vote| vote.weight).sum::<f64>();
        Self { votes, kept, total: if total > 0.0 { total } else { 1.0 }, last: RefCell::default() }
    }

    /// Returns the features in the fit.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Returns the models in the fit, by position in the tally.
    pub(super) fn models(&self) -> &[usize] {
        &self.votes.models
    }

    pub(super) fn votes(&self) -> &'votes StyledVotes {
        self.votes
    }

    /// Returns the sum of the weights; argmin gets the mean loss.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Returns the strengths of the fit without style, with effects 0.
    pub(super) fn start(&self, plain: &Fit) -> DVector<f64> {
        let strength = |&model: &usize| match plain.model_strengths[model] {
            ModelStrength::Rated { strength, .. } => strength,
            ModelStrength::Unbounded { .. } => 0.0,
        };
        let strengths = self.models().iter().map(strength).chain(self.kept.iter().map(|_| 0.0));
        DVector::from_iterator(self.models().len() + self.kept.len(), strengths)
    }

    /// Returns the last evaluated point.
    pub(super) fn last_point(&self) -> Option<DVector<f64>> {
        self.last.borrow().as_ref().map(|(point, _)| point.clone())
    }

    pub(super) fn hessian(&self, point: &DVector<f64>) -> DMatrix<f64> {
        self.at(point, |sums| self.matrix(sums))
    }

    /// Computes the Hessian made invertible by [`project_matrix`].
    pub(super) fn regularized_hessian(&self, point: &DVector<f64>) -> DMatrix<f64> {
        let mut hessian = self.hessian(point);
        let stiffness = mean_diagonal(&hessian);
        project_matrix(&self.votes.components, &mut hessian, stiffness);
        hessian
    }

    /// Computes the information on the effects at a point; `None` without features, or if the strengths are not identified.
    pub(super) fn information_on_style(&self, point: &DVector<f64>) -> Option<OwnInformation> {
        let (models, features) = (self.models().len(), self.kept.len());
        if features == 0 {
            return None;
        }
        let hessian = self.regularized_hessian(point);
        let alone = hessian.view((models, models), (features, features)).into_owned();
        let cross = hessian.view((0, models), (models, features)).into_owned();
        let strengths = hessian.view((0, 0), (models, models)).into_owned().cholesky()?;
        let left = &alone - cross.transpose() * strengths.solve(&cross);
        Some(OwnInformation { alone, left })
    }

    /// Returns a function that computes d of a vote.
    pub(super) fn predict(&self, point: &DVector<f64>) -> impl Fn(f64, &StyledVote) -> f64 + use<> {
        let mut effects = [0.0; COUNT];
        for (place, &feature) in self.kept.iter().enumerate() {
            effects[feature] = point[self.models().len() + place];
        }
        move |difference, vote| difference + vote.x.iter().zip(&effects).map(|(x, effect)| x * effect).sum::<f64>()
    }

    fn at<T>(&self, point: &DVector<f64>, read: impl Fn(&StyleSums) -> T) -> T {
        let mut last = self.last.borrow_mut();
        if let Some((_, sums)) = last.as_ref().filter(|(known, _)| known == point) {
            return read(sums);
        }
        let sums = self.sums(point, likelihood);
        let found = read(&sums);
        *last = Some((point.clone(), sums));
        found
    }

    /// Sums terms of d over all votes, in chunks on all threads.
    pub(super) fn sums(&self, point: &DVector<f64>, terms: impl Fn(f64, &StyledVote) -> Terms + Sync) -> StyleSums {
        let (votes, predict) = (self.votes, self.predict(point));
        let chunks = votes.votes.len().div_ceil(VOTES_PER_CHUNK);
        let parts: Vec<StyleSums> =
            (0..chunks).into_par_iter().map(|chunk| chunk_sums(votes, chunk, point, &predict, &terms)).collect();
        let mut total = StyleSums::default();
        parts.into_iter().for_each(|part| total.add(part));
        total
    }

    /// Computes Σ slope·u.
    fn vector(&self, sums: &StyleSums) -> DVector<f64> {
        let models = self.models().len();
        let mut vector = DVector::zeros(models + self.kept.len());
        for &(group, cell) in &sums.cells {
            let pair = self.votes.groups[group];
            vector[pair.first] += cell.slope;
            vector[pair.second] -= cell.slope;
        }
        for (place, &feature) in self.kept.iter().enumerate() {
            vector[models + place] = sums.gradient[feature];
        }
        vector
    }

    /// Computes Σ weight·u·uᵀ.
    pub(super) fn matrix(&self, sums: &StyleSums) -> DMatrix<f64> {
        let models = self.models().len();
        let size = models + self.kept.len();
        let mut matrix = DMatrix::zeros(size, size);
        for &(group, cell) in &sums.cells {
            let pair = self.votes.groups[group];
            matrix[(pair.first, pair.first)] += cell.weight;
            matrix[(pair.second, pair.second)] += cell.weight;
            matrix[(pair.first, pair.second)] -= cell.weight;
            matrix[(pair.second, pair.first)] -= cell.weight;
            for (place, &feature) in self.kept.iter().enumerate() {
                matrix[(pair.first, models + place)] += cell.cross[feature];
                matrix[(pair.second, models + place)] -= cell.cross[feature];
            }
        }
        for (row, &one) in self.kept.iter().enumerate() {
            for (column, &other) in self.kept.iter().enumerate() {
                matrix[(models + row, models + column)] = sums.squares[one.min(other)][one.max(other)];
            }
            for model in 0..models {
                matrix[(models + row, model)] = matrix[(model, models + row)];
            }
        }
        matrix
    }
}

fn chunk_sums(
    votes: &StyledVotes,
    chunk: usize,
    point: &DVector<f64>,
    predict: impl Fn(f64, &StyledVote) -> f64,
    terms: impl Fn(f64, &StyledVote) -> Terms,
) -> StyleSums {
    let end = ((chunk + 1) * VOTES_PER_CHUNK).min(votes.votes.len());
    let mut at = chunk * VOTES_PER_CHUNK;
    let mut sums = StyleSums::default();
    let mut group = votes.groups.partition_point(|group| group.begin <= at) - 1;
    while at < end {
        let until = votes.end_of(group).min(end);
        let pair = votes.groups[group];
        let difference = point[pair.first] - point[pair.second];
        let mut cell = GroupSums::default();
        for vote in &votes.votes[at..until] {
            sums.add_vote(&mut cell, &vote.x, &terms(predict(difference, vote), vote));
        }
        sums.cells.push((group, cell));
        (at, group) = (until, group + 1);
    }
    sums
}

impl StyleSums {
    fn add_vote(&mut self, cell: &mut GroupSums, x: &FeatureVector, terms: &Terms) {
        self.loss += terms.loss;
        cell.slope += terms.slope;
        cell.weight += terms.weight;
        for i in 0..COUNT {
            let weighed = terms.weight * x[i];
            self.gradient[i] += terms.slope * x[i];
            cell.cross[i] += weighed;
            for (square, other) in self.squares[i][i..].iter_mut().zip(&x[i..]) {
                *square += weighed * other;
            }
        }
    }

    fn add(&mut self, part: Self) {
        self.loss += part.loss;
        self.cells.extend(part.cells);
        for i in 0..COUNT {
            self.gradient[i] += part.gradient[i];
            for (square, more) in self.squares[i].iter_mut().zip(&part.squares[i]) {
                *square += more;
            }
        }
    }
}

/// p = σ(d) and 1 − p, both with full relative precision, and softplus(−|d|).
pub(super) struct Shares {
    pub(super) p: f64,
    pub(super) q: f64,
    tail: f64,
}

impl Shares {
    pub(super) fn at(d: f64) -> Self {
        let small = (-d.abs()).exp();
        let large = 1.0 / (1.0 + small);
        let tail = small * large;
        let (p, q) = if d >= 0.0 { (large, tail) } else { (tail, large) };
        Self { p, q, tail: small }
    }

    /// Computes p − y as a sum of two small terms: exact even for 9,999 to 1.
    pub(super) fn residual(&self, points: f64) -> f64 {
        (1.0 - points) * self.p - points * self.q
    }
}

/// Computes the loss of a vote and its derivatives by d.
fn likelihood(d: f64, vote: &StyledVote) -> Terms {
    let shares = Shares::at(d);
    let loss = shares.tail.ln_1p() + (1.0 - vote.points) * d.max(0.0) + vote.points * (-d).max(0.0);
    Terms {
        loss: vote.weight * loss,
        slope: vote.weight * shares.residual(vote.points),
        weight: vote.weight * shares.p * shares.q,
    }
}

/// Computes the squared score: the contribution of a vote to the middle of the sandwich.
pub(super) fn squared(d: f64, vote: &StyledVote) -> Terms {
    let score = vote.weight * Shares::at(d).residual(vote.points);
    Terms { loss: 0.0, slope: score, weight: score * score }
}

impl CostFunction for &StyleLoss<'_> {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, point: &DVector<f64>) -> Result<f64, Error> {
        Ok(self.at(point, |sums| sums.loss) / self.total)
    }
}

impl Gradient for &StyleLoss<'_> {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, point: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut gradient = self.at(point, |sums| self.vector(sums)) / self.total;
        project(&self.votes.components, &mut gradient);
        Ok(gradient)
    }
}

impl Hessian for &StyleLoss<'_> {
    type Param = DVector<f64>;
    type Hessian = DMatrix<f64>;

    fn hessian(&self, point: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        Ok(self.regularized_hessian(point) / self.total)
    }
}
