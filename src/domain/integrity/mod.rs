//! Protection of the leaderboard against rigging: pseudonyms of voters, exclusion rules and tests.
//!
//! [`rigging_detection`] tests every voter against the crowd in three ways: a score test of each model (`rao_score`), the likelihood test
//! of Huang et al. (`voter_likelihood`) and Fisher's combination of Chiang et al. (`fisher_combination`). [`simulated_riggers`] adds
//! riggers with known votes to measure the tests, [`rigging_simulation`] simulates their gains, and [`rigging_report`] reports the effect
//! on a leaderboard. [`identity_leak`] finds texts that reveal a model by rules, and [`identity_leak_check`] by a language model. A test
//! reports; it excludes a vote only if the operator enabled that beforehand ([`automatic_exclusion`]).

pub mod automatic_exclusion;
pub mod exclusion_decision;
pub mod exclusion_report;
pub mod exclusion_rule;
pub mod exclusions_in_force;

pub mod identity_leak;
pub mod identity_leak_check;
pub mod leaderboard_change;
pub mod prompt_cluster;
pub mod prompt_index;
pub mod pseudonym;
pub mod question_digest;
pub mod ratable_votes;

pub mod rigging_detection;
pub mod rigging_report;
pub mod rigging_simulation;
pub mod simulated_riggers;
pub mod vote_filter;
pub mod voter_check_state;

mod false_discovery;
mod fisher_combination;
mod overdispersion;
mod overdispersion_calibration;
mod poisson_binomial;
mod rao_score;
#[cfg(test)]
mod real_votes_tests;
mod voter_consistency_slope;
mod voter_likelihood;
