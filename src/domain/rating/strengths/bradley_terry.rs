//! Bradley–Terry by maximum likelihood, exact to rounding and without a penalty.
//!
//! P(a beats b) = σ(θ_a − θ_b). The fit minimises Σ c·[softplus(d) − y·d], d = θ_a − θ_b, over pairs (Bradley and Terry
//! 1952; Chiang et al. 2024, section 4), with Σθ = 0 in each component. A model whose strength has no finite maximum is
//! [`ModelStrength::Unbounded`].

use nalgebra::DVector;

use super::super::FitError;
use super::super::counts::tally::Tally;
use super::fit::{Fit, ModelStrength};
use super::graph::{ModelPosition, decompose};
use super::model_block::blocks;
use super::negative_log_likelihood::Likelihood;
use super::newton::minimise;

/// Fits the votes of a tally; each tie or both-bad vote counts as half a win for each side.
///
/// # Errors
/// [`FitError::Solver`] if the Hessian cannot be inverted, which does not happen for counts of real votes.
pub fn fit(tally: &Tally) -> Result<Fit, FitError> {
    fit_by(tally, Likelihood::BradleyTerry)
}

/// Fits a tally by a likelihood that has a finite maximum within each component.
pub(super) fn fit_by(tally: &Tally, likelihood: Likelihood) -> Result<Fit, FitError> {
    let layout = decompose(tally.models.len(), &tally.pairs);
    let mut strengths = vec![0.0; tally.models.len()];
    let (mut converged, mut iterations, mut loss, mut log_nu) = (true, 0, 0.0, None);
    for block in blocks(tally.models.len(), &layout.components, likelihood) {
        let mut optimum = minimise(block.loss(&tally.pairs), DVector::zeros(block.parameters()))?;
        block.centre(&mut optimum.point);
        for (&model, &strength) in block.members.iter().zip(optimum.point.iter()) {
            strengths[model] = strength;
        }
        converged &= optimum.converged;
        iterations = iterations.max(optimum.iterations);
        loss += optimum.loss;
        log_nu = optimum.point.iter().nth(block.members.len()).copied();
    }
    let model_strength = |(place, &strength): (&ModelPosition, &f64)| match *place {
        ModelPosition::Inside(component) => ModelStrength::Rated { component, strength },
        ModelPosition::Beyond(component, direction) => ModelStrength::Unbounded { component, direction },
    };
    Ok(Fit {
        model_strengths: layout.places.iter().zip(&strengths).map(model_strength).collect(),
        components: layout.components.len(),
        bridges: layout.bridges,
        converged,
        iterations,
        // Avoids −0 where the loss is 0.
        log_likelihood: 0.0 - loss,
        log_nu,
    })
}
