//! Intervals of ratings: [`sandwich`] from the curvature of the likelihood, also clustered by voter, and [`bootstrap`] from
//! resampled votes or voters; the jackknife leaves one voter out at a time.

pub mod bootstrap;
pub mod sandwich;
pub mod sequential_testing;

pub(super) mod clustered_sandwich;
pub(super) mod covariance;
pub(super) mod jackknife;
pub(super) mod voter_resampling;
