//! Prompts that repeat: digests, an index of near-duplicates, clusters.

pub mod prompt_cluster;
pub mod prompt_index;
pub mod question_digest;
