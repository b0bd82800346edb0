//! Pages and API of benchmarks, judges and correlation.

pub(super) mod benchmark;
pub(super) mod benchmark_comparison;
pub(super) mod correlation;
pub(super) mod judges;
pub(super) mod suite_score_table;
