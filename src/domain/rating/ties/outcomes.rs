//! Probabilities of the outcomes of a pair, as sums of exponentials of the parameters.
//!
//! With π = e^α for the first model, e^β for the second, and θ = 1 + e^η:
//!
//! - *Rao–Kupper* (1967): P(first) = π_a/(π_a + θπ_b), P(second) = π_b/(π_b + θπ_a), a tie is the rest.
//! - *Generalised Rao–Kupper*, with "both bad": P(bad) = 1/(1 + π_a + π_b), P(first) = π_a/(1 + π_a + θπ_b),
//!   P(second) = π_b/(1 + π_b + θπ_a), a tie is the rest. It is Rao–Kupper with a third player of strength 1, "bad".
//!
//! With D_1 and D_2 the denominators of first and second, and S that of bad (2 + e^η for Rao–Kupper, as a numerator), ties
//! have the probabilities π_aπ_b·e^η·(2 + e^η)/(D_1·D_2) and π_aπ_b·e^η·(D_1 + D_2)/(S·D_1·D_2). So −ln P of each outcome
//! is a sum of linear terms and logarithms of sums of exponentials.

/// Parameters of a pair: α, β and η.
pub(super) type PairParameters = [f64; 3];

/// Model of the outcomes of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutcomeModel {
    RaoKupper,
    GeneralisedRaoKupper,
}

/// Outcome of a vote on an ordered pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairOutcome {
    First,
    Second,
    Tie,
    BothBad,
}

impl PairOutcome {
    pub(super) const ALL: [Self; 4] = [Self::First, Self::Second, Self::Tie, Self::BothBad];
}

/// Value with its derivatives by α, β and η.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueWithDerivatives {
    pub(super) value: f64,
    pub(super) gradient: PairParameters,
    pub(super) hessian: [PairParameters; 3],
}

impl ValueWithDerivatives {
    pub(super) fn add(&mut self, times: f64, other: &Self) {
        self.value += times * other.value;
        for i in 0..3 {
            self.gradient[i] += times * other.gradient[i];
            for j in 0..3 {
                self.hessian[i][j] += times * other.hessian[i][j];
            }
        }
    }

    /// Expands a linear function.
    fn linear(by: PairParameters, at: PairParameters) -> Self {
        Self { value: dot(by, at), gradient: by, ..Self::default() }
    }

    /// Expands ln Σ e^(constant + by·at) over two lists of terms.
    fn log_sum(terms: [&[(f64, PairParameters)]; 2], at: PairParameters) -> Self {
        let exponent = |&(constant, by): &(f64, PairParameters)| constant + dot(by, at);
        let most = terms.into_iter().flatten().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut found) = (0.0, Self::default());
        for term in terms.into_iter().flatten() {
            let (weight, by) = ((exponent(term) - most).exp(), term.1);
            sum += weight;
            for i in 0..3 {
                found.gradient[i] += weight * by[i];
                for j in 0..3 {
                    found.hessian[i][j] += weight * by[i] * by[j];
                }
            }
        }
        found.gradient = found.gradient.map(|sum_of| sum_of / sum);
        for i in 0..3 {
            for j in 0..3 {
                found.hessian[i][j] = found.hessian[i][j] / sum - found.gradient[i] * found.gradient[j];
            }
        }
        found.value = most + sum.ln();
        found
    }
}

/// Computes by·at. η may be −∞, where no vote is a tie; terms without η ignore it.
fn dot(by: PairParameters, at: PairParameters) -> f64 {
    by.iter().zip(at).map(|(by, at)| if *by > 0.0 { by * at } else { 0.0 }).sum()
}

const NONE: PairParameters = [0.0; 3];
const FIRST: PairParameters = [1.0, 0.0, 0.0];
const SECOND: PairParameters = [0.0, 1.0, 0.0];
const FIRST_ETA: PairParameters = [1.0, 0.0, 1.0];
const SECOND_ETA: PairParameters = [0.0, 1.0, 1.0];

/// Computes −ln P of an outcome. The second value is its concave part, whose second derivatives a search far from the minimum may
/// leave out: the rest still bounds the loss from above.
pub(super) fn loss(
    model: OutcomeModel,
    outcome: PairOutcome,
    at: PairParameters,
) -> (ValueWithDerivatives, ValueWithDerivatives) {
    let bad: &[(f64, PairParameters)] = match model {
        OutcomeModel::RaoKupper => &[],
        OutcomeModel::GeneralisedRaoKupper => &[(0.0, NONE)],
    };
    let log_sum = |terms: &[(f64, PairParameters)]| ValueWithDerivatives::log_sum([bad, terms], at);
    let of_first = || log_sum(&[(0.0, FIRST), (0.0, SECOND), (0.0, SECOND_ETA)]);
    let of_second = || log_sum(&[(0.0, SECOND), (0.0, FIRST), (0.0, FIRST_ETA)]);
    let of_bad = || log_sum(&[(0.0, FIRST), (0.0, SECOND)]);
    let two = std::f64::consts::LN_2;
    let mut found = ValueWithDerivatives::default();
    let mut downwards = ValueWithDerivatives::default();
    match outcome {
        PairOutcome::First => {
            found.add(-1.0, &ValueWithDerivatives::linear(FIRST, at));
            found.add(1.0, &of_first());
        }
        PairOutcome::Second => {
            found.add(-1.0, &ValueWithDerivatives::linear(SECOND, at));
            found.add(1.0, &of_second());
        }
        PairOutcome::BothBad => found.add(1.0, &of_bad()),
        PairOutcome::Tie => {
            found.add(-1.0, &ValueWithDerivatives::linear([1.0, 1.0, 1.0], at));
            found.add(1.0, &of_first());
            found.add(1.0, &of_second());
            let numerator: &[(f64, PairParameters)] = match model {
                OutcomeModel::RaoKupper => &[(two, NONE), (0.0, [0.0, 0.0, 1.0])],
                OutcomeModel::GeneralisedRaoKupper => {
                    found.add(1.0, &of_bad());
                    &[(two, NONE), (two, FIRST), (two, SECOND), (0.0, FIRST_ETA), (0.0, SECOND_ETA)]
                }
            };
            downwards.add(-1.0, &ValueWithDerivatives::log_sum([numerator, &[]], at));
        }
    }
    found.add(1.0, &downwards);
    (found, downwards)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: PairParameters = [0.7, -0.4, -0.9];

    fn probability(model: OutcomeModel, outcome: PairOutcome, at: PairParameters) -> f64 {
        (-loss(model, outcome, at).0.value).exp()
    }

    #[test]
    fn the_outcomes_have_their_published_probabilities() {
        let (a, b, theta) = (AT[0].exp(), AT[1].exp(), 1.0 + AT[2].exp());
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} and {expected}");
        let grk = |outcome| probability(OutcomeModel::GeneralisedRaoKupper, outcome, AT);
        near(grk(PairOutcome::First), a / (a + theta * b + 1.0));
        near(grk(PairOutcome::Second), b / (b + theta * a + 1.0));
        near(grk(PairOutcome::BothBad), 1.0 / (1.0 + a + b));
        near(PairOutcome::ALL.map(grk).iter().sum(), 1.0);
        let rk = |outcome| probability(OutcomeModel::RaoKupper, outcome, AT);
        near(rk(PairOutcome::First), a / (a + theta * b));
        near(rk(PairOutcome::First) + rk(PairOutcome::Second) + rk(PairOutcome::Tie), 1.0);
    }

    #[test]
    fn derivatives_are_those_of_small_differences() {
        let step = 1e-5;
        for model in [OutcomeModel::RaoKupper, OutcomeModel::GeneralisedRaoKupper] {
            for outcome in PairOutcome::ALL {
                let (here, _) = loss(model, outcome, AT);
                for i in 0..3 {
                    let moved = |by: f64| {
                        let mut at = AT;
                        at[i] += by;
                        loss(model, outcome, at).0
                    };
                    let (more, less) = (moved(step), moved(-step));
                    let slope = (more.value - less.value) / (2.0 * step);
                    assert!((slope - here.gradient[i]).abs() < 1e-8, "{model:?} {outcome:?} {i}");
                    for j in 0..3 {
                        let curve = (more.gradient[j] - less.gradient[j]) / (2.0 * step);
                        assert!((curve - here.hessian[i][j]).abs() < 1e-8, "{model:?} {outcome:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_ties_eta_may_be_minus_infinity() {
        let at = [AT[0], AT[1], f64::NEG_INFINITY];
        let (a, b) = (AT[0].exp(), AT[1].exp());
        let found = probability(OutcomeModel::GeneralisedRaoKupper, PairOutcome::First, at);
        assert!((found - a / (a + b + 1.0)).abs() < 1e-14);
    }
}
