//! Agreement of people and judges.
//!
//! - [`scores`]: both scored the same answers (AlignBench's three measures).
//! - [`choices`]: both chose between two answers (MT-Bench's agreement between two kinds of judge), or gave labels.
//! - [`kappa`] and [`alpha`]: agreement of labels beyond chance.
//! - [`wins`]: win rates, and the bias of a judge towards one generator.
//! - [`leaderboards`]: agreement of two leaderboards (Arena-Hard's measures).

pub mod alpha;
pub mod choices;
pub mod kappa;
pub mod leaderboards;
pub mod scores;
pub mod wins;
