//! Result of a fit: a finite or unbounded strength for each model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::negative_log_likelihood::Likelihood;

/// Direction in which a strength is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The model won every vote: a larger strength is always more likely.
    Above,
    /// The model lost every vote.
    Below,
}

impl Direction {
    /// Returns 1 for a winner, −1 for a loser.
    pub(in crate::rating) fn sign(self) -> f64 {
        match self {
            Self::Above => 1.0,
            Self::Below => -1.0,
        }
    }
}

/// Strength of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelStrength {
    /// A finite strength.
    Rated {
        /// Strengths of one component are comparable and have mean 0.
        component: usize,
        /// θ.
        strength: f64,
    },
    /// The model won or lost every vote against rated models; [`super::unbounded_strengths::limit`] bounds its strength.
    Unbounded {
        /// Component of the opponents.
        component: usize,
        /// Direction in which the strength is unbounded.
        direction: Direction,
    },
}

impl ModelStrength {
    /// Returns the component of the model.
    #[must_use]
    pub fn component(self) -> usize {
        match self {
            Self::Rated { component, .. } | Self::Unbounded { component, .. } => component,
        }
    }
}

/// One-way votes between two components: they do not determine how far apart the components are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bridge {
    /// The model that won each time, by position in the tally.
    pub winner: usize,
    /// The model that lost each time.
    pub loser: usize,
    /// Number of votes.
    pub votes: f64,
}

/// A [`Bridge`] with the names of the models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneWayBridge {
    /// The model that won each time.
    pub winner: String,
    /// The model that lost each time.
    pub loser: String,
    /// Number of votes.
    pub votes: f64,
}

/// Result of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Strengths by position in the tally.
    pub model_strengths: Vec<ModelStrength>,
    /// Number of components, each rated separately.
    pub components: usize,
    /// One-way votes between components.
    pub bridges: Vec<Bridge>,
    /// Whether the fit of every component converged.
    pub converged: bool,
    /// Maximum number of Newton steps over the components.
    pub iterations: u64,
    /// Log likelihood of the rated votes; its supremum if some model is unbounded.
    pub log_likelihood: f64,
    /// ln ν, if ties are a separate outcome: see [`super::davidson`].
    pub log_nu: Option<f64>,
}

impl Fit {
    pub(in crate::rating) fn likelihood(&self) -> Likelihood {
        if self.log_nu.is_some() { Likelihood::Davidson } else { Likelihood::BradleyTerry }
    }

    /// Returns the strengths by model; `None` for unbounded models.
    pub fn strengths(&self) -> impl Iterator<Item = Option<f64>> {
        self.model_strengths.iter().map(|model_strength| match model_strength {
            ModelStrength::Rated { strength, .. } => Some(*strength),
            ModelStrength::Unbounded { .. } => None,
        })
    }

    /// Returns the rated models of each component, in ascending order.
    #[must_use]
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.components];
        for (model, model_strength) in self.model_strengths.iter().enumerate() {
            if let ModelStrength::Rated { component, .. } = model_strength {
                members[*component].push(model);
            }
        }
        members
    }
}
