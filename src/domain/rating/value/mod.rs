//! Value for money: ratings joined with prices, time to the first token and speed.
//!
//! Pure. [`prices`] are what the operator gives, [`usage`] is what the arena's own battles took in tokens and time, and
//! [`join()`] makes a [`report::ValueReport`] of them: the models that are not [dominated](pareto), for each model the
//! cheapest one that cannot be told apart from it, and one sentence about the best-rated model.

pub mod join;
pub mod pareto;
pub mod prices;
pub mod report;
pub mod usage;

pub use join::join;
