//! Models of strengths and the Newton fit that estimates them.

pub mod bradley_terry;
pub(crate) mod crowd_expectation;
pub mod davidson;
pub mod elo;
pub mod fit;
pub(super) mod graph;
pub(super) mod model_block;
pub(super) mod negative_log_likelihood;
pub(super) mod newton;
pub mod unbounded_strengths;
