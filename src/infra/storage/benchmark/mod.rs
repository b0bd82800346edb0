//! Tables of benchmarks (`bench_*`): suites, answers, judgements, runs and plans.

pub(super) mod answers;
pub(super) mod batches;
pub(super) mod judgements;
pub(super) mod plans;
pub(super) mod published_scores;
pub(super) mod runs;
pub(super) mod scored_judgements;
pub(super) mod suites;
