//! Index of votes by prompt cluster.
//!
//! The index contains the votes in log order, including excluded ones, so that the clusters do not depend on exclusions. It takes about a
//! kilobyte per distinct prompt while it is in use.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::super::exclusions::exclusion_rule::ExclusionRule;
use super::super::exclusions::exclusions_in_force::ExclusionsInForce;
use super::prompt_cluster::{ClusterId, PromptClusters, PromptSketch, PromptVote, repeated_votes};
use crate::rating::votes::vote_log::InternedTexts;

/// Maximum number of characters in the excerpt of a cluster's first prompt.
const MAX_EXCERPT_CHARS: usize = 200;

/// Votes by prompt cluster.
#[derive(Debug, Default)]
pub struct PromptIndex {
    clusters: PromptClusters,
    voters: InternedTexts,
    /// Votes in log order.
    votes: Vec<IndexedVote>,
    /// Beginning of the first prompt of each cluster.
    excerpts: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct IndexedVote {
    seq: i64,
    voter: u32,
    cluster: Option<u32>,
}

/// Summary of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSummary {
    /// Id of the cluster.
    pub id: ClusterId,
    /// Number of votes on its prompts.
    pub votes: u64,
    /// Number of these votes that no rule excludes.
    pub rated: u64,
    /// Number of known voters among them.
    pub voters: u64,
    /// Beginning of its first prompt.
    pub excerpt: String,
}

/// Vote to index, with the sketch of its prompt: [`PromptSketch::of_prompts`] computes many in parallel.
#[derive(Debug, Clone)]
pub struct SketchedVote<'v> {
    /// Sequence number in the log.
    pub seq: i64,
    /// Voter id; empty where unknown.
    pub voter: &'v str,
    /// First prompt of the battle; empty where unknown.
    pub prompt: &'v str,
    /// Sketch of the prompt; `None` without a prompt.
    pub sketch: Option<PromptSketch>,
}

impl PromptIndex {
    /// Adds the next vote of the log.
    pub fn push(&mut self, vote: SketchedVote<'_>) {
        let cluster = vote.sketch.map(|sketch| self.clusters.assign(&sketch));
        if self.clusters.len() > self.excerpts.len() {
            self.excerpts.push(vote.prompt.chars().take(MAX_EXCERPT_CHARS).collect());
        }
        self.votes.push(IndexedVote { seq: vote.seq, voter: self.voters.position(vote.voter), cluster });
    }

    /// Returns the numbers of distinct prompts and of clusters.
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.clusters.distinct_prompts(), self.clusters.len())
    }

    /// Returns the number of votes with a known prompt.
    #[must_use]
    pub fn votes_with_prompt(&self) -> usize {
        self.votes.iter().filter(|vote| vote.cluster.is_some()).count()
    }

    /// Returns whether a cluster has this id.
    #[must_use]
    pub fn has(&self, id: ClusterId) -> bool {
        self.clusters.find(id).is_some()
    }

    /// Returns the sequence numbers of the votes on the prompts of a cluster; empty for an unknown id.
    #[must_use]
    pub fn votes_of(&self, id: ClusterId) -> HashSet<i64> {
        let Some(cluster) = self.clusters.find(id) else { return HashSet::new() };
        self.votes.iter().filter(|vote| vote.cluster == Some(cluster)).map(|vote| vote.seq).collect()
    }

    /// Summarises all clusters, the one with the most votes first; of equal ones, the older first.
    #[must_use]
    pub fn summaries(&self, in_force: &ExclusionsInForce) -> Vec<ClusterSummary> {
        let summary = |(cluster, excerpt): (usize, &String)| ClusterSummary {
            id: self.clusters.id(u32::try_from(cluster).expect("clusters are counted in 32 bits")),
            votes: 0,
            rated: 0,
            voters: 0,
            excerpt: excerpt.clone(),
        };
        let mut summaries: Vec<ClusterSummary> = self.excerpts.iter().enumerate().map(summary).collect();
        let mut voters: BTreeSet<(u32, u32)> = BTreeSet::new();
        let unknown = self.voters.find("");
        for vote in &self.votes {
            let Some(cluster) = vote.cluster else { continue };
            let summary = &mut summaries[cluster as usize];
            summary.votes += 1;
            summary.rated += u64::from(in_force.rule_of(vote.seq).is_none());
            if Some(vote.voter) != unknown && voters.insert((cluster, vote.voter)) {
                summary.voters += 1;
            }
        }
        summaries.sort_by_key(|summary| std::cmp::Reverse(summary.votes));
        summaries
    }

    /// Lists the rated votes that follow a rated vote of the same voter on the same cluster.
    #[must_use]
    pub fn repeated(&self, in_force: &ExclusionsInForce) -> Vec<i64> {
        let rated = self.votes.iter().filter(|vote| in_force.rule_of(vote.seq).is_none());
        let voters = self.voters.as_slice();
        repeated_votes(rated.map(|vote| PromptVote {
            seq: vote.seq,
            voter: &voters[vote.voter as usize],
            cluster: vote.cluster,
        }))
    }

    /// Adds exclusions of the repeated votes.
    #[must_use]
    pub fn without_repeated(&self, mut in_force: ExclusionsInForce) -> ExclusionsInForce {
        let rule: Arc<str> = ExclusionRule::DuplicatePrompt.name().into();
        for vote in self.repeated(&in_force) {
            in_force.exclude(vote, &rule);
        }
        in_force
    }
}
