//! Which votes are about the same prompt, or nearly the same.
//!
//! The index is made when somebody asks, from the first prompts of all votes in log order, excluded ones too: so the clusters depend
//! neither on exclusions nor on who asks. It takes about a kilobyte for each distinct prompt while it is in use.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::domain::integrity::exclusion_rule::ExclusionRule;
use crate::domain::integrity::exclusions_in_force::ExclusionsInForce;
use crate::domain::integrity::prompt_cluster::{ClusterId, PromptClusters, PromptSketch, PromptVote, repeated_votes};
use crate::domain::rating::vote_log::Names;
use crate::infra::storage::{Store, StoreError, VoteColumn, VotePage, VoteRange};

/// Sequence numbers in one page: a prompt may have thousands of characters.
const PAGE: i64 = 1_000;
/// Characters that are kept of the first prompt of a cluster, to show what it is about.
const EXCERPT: usize = 200;
/// What is read of each vote.
const COLUMNS: [VoteColumn; 3] = [VoteColumn::Seq, VoteColumn::Voter, VoteColumn::FirstPrompt];

/// The votes by prompt cluster.
#[derive(Debug, Default)]
pub struct PromptIndex {
    clusters: PromptClusters,
    voters: Names,
    /// In log order.
    votes: Vec<IndexedVote>,
    /// The beginning of the first prompt of each cluster.
    excerpts: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct IndexedVote {
    seq: i64,
    voter: u32,
    cluster: Option<u32>,
}

/// What is known of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSummary {
    /// Its name.
    pub id: ClusterId,
    /// Votes on its prompts.
    pub votes: u64,
    /// Those that no rule excludes.
    pub rated: u64,
    /// Voters among them, as far as they are known.
    pub voters: u64,
    /// The beginning of its first prompt.
    pub excerpt: String,
}

impl PromptIndex {
    /// Reads the first prompts of all votes. `progress` hears of the last number read, and of the last of all.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn read(store: &Store, progress: impl Fn(i64, i64)) -> Result<Self, StoreError> {
        let last = store.last_vote_seq().await?;
        let (mut index, mut after) = (Self::default(), 0);
        while after < last {
            let upto = after.saturating_add(PAGE).min(last);
            let page = store.cast_vote_page(VoteRange { after, upto, ..VoteRange::ALL }, &COLUMNS).await?;
            // A task of a runtime thread must not compute for long.
            let added = tokio::task::spawn_blocking(move || index.with_page(&page)).await;
            index = added.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()))?;
            after = upto;
            progress(after, last);
        }
        Ok(index)
    }

    fn with_page(mut self, page: &VotePage) -> Result<Self, StoreError> {
        let mut columns = page.columns().map(|(_, values)| values);
        let [seqs, voters, prompts] = std::array::from_fn(|_| columns.next().into_iter().flatten());
        let prompts: Vec<&str> = prompts.collect();
        let sketches: Vec<Option<PromptSketch>> =
            prompts.par_iter().map(|prompt| (!prompt.is_empty()).then(|| PromptSketch::of(prompt))).collect();
        for (((seq, voter), prompt), sketch) in seqs.zip(voters).zip(prompts).zip(sketches) {
            let cluster = sketch.map(|sketch| self.clusters.assign(&sketch));
            if self.clusters.len() > self.excerpts.len() {
                self.excerpts.push(prompt.chars().take(EXCERPT).collect());
            }
            let seq = seq.parse().map_err(|_| page.inconsistent("seq", seq))?;
            self.votes.push(IndexedVote { seq, voter: self.voters.position(voter), cluster });
        }
        Ok(self)
    }

    /// Number of distinct prompts, and of clusters.
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.clusters.distinct_prompts(), self.clusters.len())
    }

    /// Number of votes whose prompt is known.
    #[must_use]
    pub fn votes_with_prompt(&self) -> usize {
        self.votes.iter().filter(|vote| vote.cluster.is_some()).count()
    }

    /// Whether a cluster has this name.
    #[must_use]
    pub fn has(&self, id: ClusterId) -> bool {
        self.clusters.find(id).is_some()
    }

    /// Numbers of the votes on the prompts of a cluster; none for an unknown name.
    #[must_use]
    pub fn votes_of(&self, id: ClusterId) -> HashSet<i64> {
        let Some(cluster) = self.clusters.find(id) else { return HashSet::new() };
        self.votes.iter().filter(|vote| vote.cluster == Some(cluster)).map(|vote| vote.seq).collect()
    }

    /// All clusters, the one with the most votes first; of equal ones, the older first.
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

    /// The rated votes that come after a rated vote of the same voter on the same cluster.
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

    /// Excludes the repeated votes too.
    #[must_use]
    pub fn without_repeated(&self, mut in_force: ExclusionsInForce) -> ExclusionsInForce {
        let rule: Arc<str> = ExclusionRule::DuplicatePrompt.name().into();
        for vote in self.repeated(&in_force) {
            in_force.exclude(vote, &rule);
        }
        in_force
    }
}
