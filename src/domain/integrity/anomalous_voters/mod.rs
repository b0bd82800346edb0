//! Voters whose votes the models' strengths do not explain.

pub mod detection;
pub(super) mod false_discovery;
pub(super) mod fisher_combination;
pub(super) mod overdispersion;
pub(super) mod overdispersion_calibration;
pub(super) mod poisson_binomial;
pub(super) mod rao_score;
#[cfg(test)]
mod real_votes_tests;
pub mod simulated_riggers;
pub mod voter_check_state;
pub(super) mod voter_consistency_slope;
pub(super) mod voter_likelihood;
