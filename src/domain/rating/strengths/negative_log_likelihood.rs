//! Negative log likelihood of votes, with gradient and Hessian.
//!
//! With d = θ_first − θ_second,
//!
//! - *Bradley–Terry*: P(first) = σ(d), P(second) = σ(−d); a vote for neither is half a vote for each.
//! - *Davidson* (1970): P(first) ∝ e^(d/2), P(second) ∝ e^(−d/2), P(neither) ∝ ν. ln ν is the last parameter.
//!
//! With p, q, t the probabilities of first, second and neither (t = 0 under Bradley–Terry), −ln P has these derivatives
//! by d and ln ν: first −(q + t/2), t; second p + t/2, t; neither (p − q)/2, t − 1. The second derivatives are the same
//! for every outcome: pq + t(p + q)/4 by d twice, −t(p − q)/2 by both, t(p + q) by ln ν twice. Both losses are convex.

use nalgebra::{DMatrix, DVector};

use super::super::counts::tally::PairTally;

/// Outcome model, which determines the treatment of votes for neither side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rating) enum Likelihood {
    BradleyTerry,
    Davidson,
}

/// Outcome probabilities of one pair.
#[derive(Debug, Clone, Copy)]
pub(in crate::rating) struct OutcomeProbabilities {
    first: f64,
    second: f64,
    neither: f64,
}

/// Derivatives of −ln P of one vote by d and by ln ν.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::rating) struct LossScore {
    pub(in crate::rating) difference: f64,
    pub(in crate::rating) log_nu: f64,
}

impl Likelihood {
    /// Returns the number of parameters besides the strengths.
    pub(in crate::rating) fn extra(self) -> usize {
        match self {
            Self::BradleyTerry => 0,
            Self::Davidson => 1,
        }
    }

    pub(in crate::rating) fn probabilities(self, d: f64, log_nu: f64) -> OutcomeProbabilities {
        match self {
            Self::BradleyTerry => {
                // logistic(d) and logistic(−d) from one exponential.
                let odds = (-d.abs()).exp();
                let likelier = 1.0 / (1.0 + odds);
                let (first, second) = if d >= 0.0 { (likelier, odds * likelier) } else { (odds * likelier, likelier) };
                OutcomeProbabilities { first, second, neither: 0.0 }
            }
            Self::Davidson => {
                let most = (0.5 * d.abs()).max(log_nu);
                let [first, second, neither] = [0.5 * d, -0.5 * d, log_nu].map(|weight| (weight - most).exp());
                let sum = first + second + neither;
                OutcomeProbabilities { first: first / sum, second: second / sum, neither: neither / sum }
            }
        }
    }

    /// Computes the loss of the votes of a pair.
    pub(in crate::rating) fn loss(self, pair: &PairTally, d: f64, log_nu: f64) -> f64 {
        match self {
            Self::BradleyTerry => {
                // softplus(−d) and softplus(d) from one logarithm.
                let tail = (-d.abs()).exp().ln_1p();
                pair.points_first() * ((-d).max(0.0) + tail) + pair.points_second() * (d.max(0.0) + tail)
            }
            Self::Davidson => {
                pair.first_wins * softplus_of_two(-d, log_nu - 0.5 * d)
                    + pair.second_wins * softplus_of_two(d, log_nu + 0.5 * d)
                    + pair.halves * softplus_of_two(0.5 * d - log_nu, -0.5 * d - log_nu)
            }
        }
    }
}

impl OutcomeProbabilities {
    /// Computes the score of a vote for the first as a sum of small terms, not as a difference from 1: exact even for 9,999 to 1.
    pub(in crate::rating) fn of_first(self) -> LossScore {
        LossScore { difference: -(self.second + 0.5 * self.neither), log_nu: self.neither }
    }

    pub(in crate::rating) fn of_second(self) -> LossScore {
        LossScore { difference: self.first + 0.5 * self.neither, log_nu: self.neither }
    }

    pub(in crate::rating) fn of_neither(self) -> LossScore {
        LossScore { difference: 0.5 * (self.first - self.second), log_nu: -(self.first + self.second) }
    }

    /// Computes the expected points of the first model; neither is half a point.
    pub(in crate::rating) fn points_first(self) -> f64 {
        self.first + 0.5 * self.neither
    }

    pub(in crate::rating) fn by_difference_twice(self) -> f64 {
        self.first * self.second + 0.25 * self.neither * (self.first + self.second)
    }

    pub(in crate::rating) fn mixed_second_derivative(self) -> f64 {
        -0.5 * self.neither * (self.first - self.second)
    }

    pub(in crate::rating) fn by_log_nu_twice(self) -> f64 {
        self.neither * (self.first + self.second)
    }
}

/// Loss over pairs. A point holds the strengths, then ln ν if the likelihood has it.
#[derive(Debug, Clone)]
pub(in crate::rating) struct PairLoss {
    likelihood: Likelihood,
    models: usize,
    pairs: Vec<PairTally>,
    gauges: Vec<Vec<usize>>,
    votes: f64,
}

impl PairLoss {
    pub(in crate::rating) fn new(
        likelihood: Likelihood,
        models: usize,
        pairs: Vec<PairTally>,
        gauges: Vec<Vec<usize>>,
    ) -> Self {
        let votes = pairs.iter().map(|pair| pair.points_first() + pair.points_second()).sum::<f64>().max(1.0);
        Self { likelihood, models, pairs, gauges, votes }
    }

    /// Returns the votes by pair.
    pub(in crate::rating) fn pairs(&self) -> &[PairTally] {
        &self.pairs
    }

    pub(in crate::rating) fn votes(&self) -> f64 {
        self.votes
    }

    /// Returns disjoint sets of models whose strengths keep their sum; a set of one keeps its strength.
    pub(in crate::rating) fn gauges(&self) -> &[Vec<usize>] {
        &self.gauges
    }

    pub(in crate::rating) fn value(&self, point: &DVector<f64>) -> f64 {
        let log_nu = self.log_nu(point);
        self.pairs.iter().map(|pair| self.likelihood.loss(pair, difference(pair, point), log_nu)).sum()
    }

    pub(in crate::rating) fn gradient(&self, point: &DVector<f64>) -> DVector<f64> {
        let mut gradient = DVector::zeros(point.len());
        let (log_nu, mut by_log_nu) = (self.log_nu(point), 0.0);
        for pair in &self.pairs {
            let probabilities = self.likelihood.probabilities(difference(pair, point), log_nu);
            let (first, second, neither) =
                (probabilities.of_first(), probabilities.of_second(), probabilities.of_neither());
            let slope = match self.likelihood {
                // Half a vote each, combined before terms can cancel.
                Likelihood::BradleyTerry => {
                    pair.points_first() * first.difference + pair.points_second() * second.difference
                }
                Likelihood::Davidson => {
                    pair.first_wins * first.difference
                        + pair.second_wins * second.difference
                        + pair.halves * neither.difference
                }
            };
            gradient[pair.first] += slope;
            gradient[pair.second] -= slope;
            by_log_nu += (pair.first_wins + pair.second_wins) * first.log_nu + pair.halves * neither.log_nu;
        }
        if self.likelihood == Likelihood::Davidson {
            gradient[self.models] = by_log_nu;
        }
        gradient
    }

    pub(in crate::rating) fn hessian(&self, point: &DVector<f64>) -> DMatrix<f64> {
        let mut hessian = DMatrix::zeros(point.len(), point.len());
        let log_nu = self.log_nu(point);
        for pair in &self.pairs {
            let votes = pair.first_wins + pair.second_wins + pair.halves;
            let probabilities = self.likelihood.probabilities(difference(pair, point), log_nu);
            let weight = votes * probabilities.by_difference_twice();
            hessian[(pair.first, pair.first)] += weight;
            hessian[(pair.second, pair.second)] += weight;
            hessian[(pair.first, pair.second)] -= weight;
            hessian[(pair.second, pair.first)] -= weight;
            if self.likelihood == Likelihood::Davidson {
                let (both, nu) = (votes * probabilities.mixed_second_derivative(), self.models);
                hessian[(pair.first, nu)] += both;
                hessian[(nu, pair.first)] += both;
                hessian[(pair.second, nu)] -= both;
                hessian[(nu, pair.second)] -= both;
                hessian[(nu, nu)] += votes * probabilities.by_log_nu_twice();
            }
        }
        hessian
    }

    /// Computes the Hessian at a point, times a vector.
    pub(in crate::rating) fn curve(&self, point: &DVector<f64>, vector: &DVector<f64>) -> DVector<f64> {
        let mut product = DVector::zeros(point.len());
        let log_nu = self.log_nu(point);
        for pair in &self.pairs {
            let votes = pair.first_wins + pair.second_wins + pair.halves;
            let probabilities = self.likelihood.probabilities(difference(pair, point), log_nu);
            let along = difference(pair, vector);
            let mut slope = votes * probabilities.by_difference_twice() * along;
            if self.likelihood == Likelihood::Davidson {
                let (both, nu) = (votes * probabilities.mixed_second_derivative(), self.models);
                slope += both * vector[nu];
                product[nu] += both * along + votes * probabilities.by_log_nu_twice() * vector[nu];
            }
            product[pair.first] += slope;
            product[pair.second] -= slope;
        }
        product
    }

    /// Computes the diagonal of the Hessian at a point.
    pub(in crate::rating) fn information(&self, point: &DVector<f64>) -> DVector<f64> {
        let mut information = DVector::zeros(point.len());
        let log_nu = self.log_nu(point);
        for pair in &self.pairs {
            let votes = pair.first_wins + pair.second_wins + pair.halves;
            let probabilities = self.likelihood.probabilities(difference(pair, point), log_nu);
            let weight = votes * probabilities.by_difference_twice();
            information[pair.first] += weight;
            information[pair.second] += weight;
            if self.likelihood == Likelihood::Davidson {
                information[self.models] += votes * probabilities.by_log_nu_twice();
            }
        }
        information
    }

    fn log_nu(&self, point: &DVector<f64>) -> f64 {
        match self.likelihood {
            Likelihood::BradleyTerry => 0.0,
            Likelihood::Davidson => point[self.models],
        }
    }
}

fn difference(pair: &PairTally, point: &DVector<f64>) -> f64 {
    point[pair.first] - point[pair.second]
}

/// Computes 1 / (1 + e^−x), without overflow and with full relative precision in both tails.
pub(crate) fn logistic(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// Computes ln(1 + e^x + e^y), without overflow and with full relative precision for small values.
fn softplus_of_two(x: f64, y: f64) -> f64 {
    let most = x.max(y);
    if most <= 0.0 {
        (x.exp() + y.exp()).ln_1p()
    } else {
        most + ((-most).exp() + (x - most).exp() + (y - most).exp()).ln()
    }
}
