//! Protection of the leaderboard against rigging: pseudonyms of voters, exclusion rules and tests.
//!
//! [`detection`](anomalous_voters::detection) tests every voter against the crowd in three ways: a score test of each model
//! (`rao_score`), the likelihood test of Huang et al. (`voter_likelihood`) and Fisher's combination of Chiang et al.
//! (`fisher_combination`). [`simulated_riggers`](anomalous_voters::simulated_riggers) adds riggers with known votes to measure the tests,
//! [`rigging_simulation`](rigging::rigging_simulation) simulates their gains, and [`rigging_report`](rigging::rigging_report) reports the
//! effect on a leaderboard. [`identity_leak`] finds texts that reveal a model by rules, and [`identity_leak_check`] by a language model.
//! A test reports; it excludes a vote only if the operator enabled that beforehand
//! ([`automatic_exclusion`](exclusions::automatic_exclusion)).

pub mod anomalous_voters;
pub mod exclusions;
pub mod identity_leak;
pub mod identity_leak_check;
pub mod prompts;
pub mod pseudonym;
pub mod rigging;

pub mod vote_filter;
