//! Keeps the leaderboard hard to game: who voted, which votes a rule excludes, and why.
//!
//! [`rigging_detection`] tests every voter against the crowd in three ways: a score test of each model (`rao_score`), the
//! likelihood test of Huang et al. (`voter_likelihood`) and Fisher's combination of Chiang et al. (`fisher_combination`).
//! [`simulated_riggers`] makes riggers whose votes are known, to measure the tests, [`rigging_simulation`] simulates what they
//! gain, and [`rigging_report`] says what that means for a leaderboard. [`identity_leak`] finds texts that give a model away by
//! rules, and [`identity_leak_check`] has a language model read them. A test reports; it excludes a vote only where the operator
//! says so beforehand ([`automatic_exclusion`]).

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
mod poisson_binomial;
mod rao_score;
#[cfg(test)]
mod real_votes_tests;
mod taste_calibration;
mod voter_consistency_slope;
mod voter_likelihood;
