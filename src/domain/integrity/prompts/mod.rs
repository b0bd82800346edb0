//! Prompts that repeat: digests, an index of near-duplicates, clusters.

pub mod prompt_cluster;
pub mod prompt_digest;
pub mod prompt_index;
