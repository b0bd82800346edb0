//! Value for money: ratings joined with prices, time to the first token and speed.
//!
//! Pure. The operator sets [`prices`], the arena's battles give the [`usage`] of tokens and time, and [`join()`] computes a
//! [`report::ValueReport`]: the models that are not [dominated](pareto), for each model the cheapest one not significantly different
//! from it, and one sentence about the best-rated model.

pub mod join;
pub mod pareto;
pub mod prices;
pub mod report;
pub mod usage;

pub use join::join;
