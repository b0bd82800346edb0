//! Circles of three models: a beats b, b beats c and c beats a, by the majority of the votes for one side of each pair.
//!
//! No order of the models describes such a circle (Kendall and Babington Smith 1940, "On the method of paired comparisons").
//! Even where there is an order, chance makes some, so their number is compared with that of a parametric bootstrap
//! ([`super::replicates`]). How clear a majority is says its sign statistic, (wins − losses)/√(wins + losses), and how clear
//! a circle is the least of its three.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::component::LargestComponent;
use super::majorities::Majorities;
use super::replicates::{Replicate, mean, p_value};
use crate::stats::real;

/// Circles of three in the largest component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cycles {
    /// Number of triples whose three pairs all have a majority.
    pub triples: u64,
    /// Number of them that are circles.
    pub cyclic: u64,
    /// Mean number of circles in the replicates.
    pub expected: f64,
    /// Probability of so many circles, or more, if the strengths were the whole truth.
    pub p: f64,
    /// Number of replicates.
    pub replicates: u32,
    /// The circle whose weakest majority is clearest.
    pub clearest: Option<CyclicTriple>,
}

/// A circle of three models: each beats the next, and the last the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CyclicTriple {
    /// The models.
    pub models: [String; 3],
    /// Votes for each model against the next.
    pub wins: [u64; 3],
    /// Votes for the next model against it.
    pub losses: [u64; 3],
    /// The least of the three sign statistics.
    pub clarity: f64,
    /// Probability that a circle is as clear, or clearer, if the strengths were the whole truth.
    pub p: f64,
}

/// `None` where no three models have majorities among one another.
pub(super) fn cycles(component: &LargestComponent, replicates: &[Replicate]) -> Option<Cycles> {
    let majorities = Majorities::new(component.names.len(), component.pairs());
    let triples = majorities.triples();
    let cyclic = majorities.cyclic();
    let clearest = majorities.clearest().map(|circle| CyclicTriple {
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
