//! Cyclic triples of models: a beats b, b beats c and c beats a, by the majority of the votes for one side of each pair.
//!
//! No order of the models describes a cycle (Kendall and Babington Smith 1940, "On the method of paired comparisons").
//! Even where there is an order, some occur by chance, so their number is compared with that of a parametric bootstrap
//! ([`super::replicates`]). The clarity of a majority is its sign statistic, (wins − losses)/√(wins + losses), and that of
//! a cycle the least of its three.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::component::LargestComponent;
use super::majorities::Majorities;
use super::replicates::{Replicate, mean, p_value};
use crate::stats::real;

/// Cyclic triples in the largest component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cycles {
    /// Number of triples whose three pairs all have a majority.
    pub triples: u64,
    /// Number of cyclic triples.
    pub cyclic: u64,
    /// Mean number of cyclic triples in the replicates.
    pub expected: f64,
    /// Probability of at least this many cyclic triples under the fitted strengths.
    pub p: f64,
    /// Number of replicates.
    pub replicates: u32,
    /// Cycle whose weakest majority is clearest.
    pub clearest: Option<CyclicTriple>,
}

/// Cycle of three models: each beats the next, and the last the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CyclicTriple {
    /// The models.
    pub models: [String; 3],
    /// Votes for each model against the next.
    pub wins: [u64; 3],
    /// Votes for the next model against each.
    pub losses: [u64; 3],
    /// The least of the three sign statistics.
    pub clarity: f64,
    /// Probability of a cycle at least as clear under the fitted strengths.
    pub p: f64,
}

/// Counts the cyclic triples; `None` where no three models have majorities among one another.
pub(super) fn cycles(component: &LargestComponent, replicates: &[Replicate]) -> Option<Cycles> {
    let majorities = Majorities::new(component.names.len(), component.pairs());
    let triples = majorities.triples();
    let cyclic = majorities.cyclic();
    let clearest = majorities.clearest_cycle().map(|circle| CyclicTriple {
        models: circle.models.map(|model| component.names[model].clone()),
        wins: circle.models.map(|model| majorities.wins_over(model, circle.next(model))),
        losses: circle.models.map(|model| majorities.wins_over(circle.next(model), model)),
        clarity: circle.clarity,
        p: p_value(replicates, |replicate| replicate.majorities.clarity >= circle.clarity),
    });
    (triples > 0).then(|| Cycles {
        triples,
        cyclic,
        expected: mean(replicates, |replicate| real(replicate.majorities.cyclic)),
        p: p_value(replicates, |replicate| replicate.majorities.cyclic >= cyclic),
        replicates: u32::try_from(replicates.len()).unwrap_or(u32::MAX),
        clearest,
    })
}
