//! Bradley–Terry by maximum likelihood, exact to rounding and without any penalty.
//!
//! P(a beats b) = σ(θ_a − θ_b). The fit minimises Σ c·[softplus(d) − y·d], d = θ_a − θ_b, over pairs (Bradley and Terry
//! 1952; Chiang et al. 2024, section 4), with Σθ = 0 in each component. Where no finite maximum exists, it says so
//! instead of returning a large number: see [`ModelStrength`].

use nalgebra::DVector;

use super::FitError;
use super::block::{Block, blocks};
use super::graph::{Place, decompose};
use super::loss::Likelihood;
use super::newton::minimise;
use super::tally::Tally;

/// To which side a strength has no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The model won every vote: any larger strength is likelier still.
    Above,
    /// The model lost every vote.
    Below,
}

impl Direction {
    /// 1 for a winner, −1 for a loser.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Above => 1.0,
            Self::Below => -1.0,
        }
    }
}

/// What the votes say of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelStrength {
    /// A finite strength.
    Rated {
        /// Strengths of one component can be compared, and their mean is 0.
        component: usize,
        /// θ.
        strength: f64,
    },
    /// It won or lost every vote against the models that are rated; [`super::unbounded::limit`] bounds it.
    Unbounded {
        /// The component beyond which it stands.
        component: usize,
        /// Whether it won or lost.
        direction: Direction,
    },
}

impl ModelStrength {
    /// The component that the model belongs to.
    #[must_use]
    pub fn component(self) -> usize {
        match self {
            Self::Rated { component, .. } | Self::Unbounded { component, .. } => component,
        }
    }
}

/// Votes between two components that all went to the same side, so that nothing says how far apart they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bridge {
    /// The model that won each time, by position in [`Tally::models`].
    pub winner: usize,
    /// The model that lost each time.
    pub loser: usize,
    /// How often.
    pub votes: f64,
}

/// The result of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// By position in [`Tally::models`].
    pub model_strengths: Vec<ModelStrength>,
    /// Number of components that are rated apart.
    pub components: usize,
    /// What connects components one way only.
    pub bridges: Vec<Bridge>,
    /// Whether every component's fit reached its optimum.
    pub converged: bool,
    /// Newton steps of the component that took most.
    pub iterations: u64,
    /// Log likelihood of the counted votes; its least upper bound where some model is unbounded.
    pub log_likelihood: f64,
    /// ln ν where ties were fitted as an outcome of their own: see [`super::davidson`].
    pub log_nu: Option<f64>,
}

impl Fit {
    pub(super) fn likelihood(&self) -> Likelihood {
        if self.log_nu.is_some() { Likelihood::Davidson } else { Likelihood::BradleyTerry }
    }

    /// What has to be fitted together.
    pub(super) fn blocks(&self) -> Vec<Block> {
        blocks(self.model_strengths.len(), &self.members(), self.likelihood())
    }

    /// Strengths by model, `None` for the unbounded.
    pub fn strengths(&self) -> impl Iterator<Item = Option<f64>> {
        self.model_strengths.iter().map(|standing| match standing {
            ModelStrength::Rated { strength, .. } => Some(*strength),
            ModelStrength::Unbounded { .. } => None,
        })
    }

    /// The models rated within each component, in ascending order.
    #[must_use]
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.components];
        for (model, standing) in self.model_strengths.iter().enumerate() {
            if let ModelStrength::Rated { component, .. } = standing {
                members[*component].push(model);
            }
        }
        members
    }
}

/// Fits the votes of a tally; each vote for neither side is half a vote for each.
///
/// # Errors
/// [`FitError::Solver`] where the curvature cannot be inverted, which votes that a person could cast do not bring about.
pub fn fit(tally: &Tally) -> Result<Fit, FitError> {
    fit_by(tally, Likelihood::BradleyTerry)
}

/// Fits the votes of a tally by a likelihood whose maximum must be finite within components.
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
    let standing = |(place, &strength): (&Place, &f64)| match *place {
        Place::Inside(component) => ModelStrength::Rated { component, strength },
        Place::Beyond(component, direction) => ModelStrength::Unbounded { component, direction },
    };
    Ok(Fit {
        model_strengths: layout.places.iter().zip(&strengths).map(standing).collect(),
        components: layout.components.len(),
        bridges: layout.bridges,
        converged,
        iterations,
        // A loss of zero is a likelihood of one; not −0.
        log_likelihood: 0.0 - loss,
        log_nu,
    })
}
