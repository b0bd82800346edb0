//! The final labels of votes' prompts. Where a prompt has none, the label counts that the visitor gave with the question.

use std::collections::{BTreeMap, HashMap};

use super::report::PromptLabel;
use super::scheme::Scheme;
use super::{FinalLabel, LabelOrigin, final_label};
use crate::battle::record::BattleLine;
use crate::rating::counts::slice_vote_counts::SliceVoteCounts;

/// A label of a vote's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteLabel {
    /// Number of the vote.
    pub seq: i64,
    /// Whether the vote is rated.
    pub rated: bool,
    /// What the visitor said with the question, in this scheme.
    pub given: Option<String>,
    /// The source.
    pub source: LabelOrigin,
    /// What it is about.
    pub label: String,
}

/// The final labels of some votes, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinalLabels(HashMap<(Scheme, i64), String>);

impl FinalLabels {
    /// Adds the labels of votes in one scheme, those of a vote one after the other.
    pub fn add(&mut self, scheme: Scheme, labels: &[VoteLabel]) {
        for vote in labels.chunk_by(|one, other| one.seq == other.seq) {
            self.0.extend(decide(vote).map(|found| ((scheme, vote[0].seq), found.label.to_owned())));
        }
    }

    /// That of a vote.
    #[must_use]
    pub fn of(&self, scheme: Scheme, seq: i64) -> Option<&str> {
        self.0.get(&(scheme, seq)).map(String::as_str)
    }
}

fn decide(vote: &[VoteLabel]) -> Option<FinalLabel<'_>> {
    let said: Vec<_> = vote.iter().map(|label| (label.source, label.label.as_str())).collect();
    final_label(&said)
}

/// Puts the final labels of prompts in one scheme in place of what visitors said, those of a prompt one after the other.
pub fn settle(scheme: Scheme, labels: &[PromptLabel], battles: &mut [BattleLine]) {
    let mut decided = HashMap::new();
    for query in labels.chunk_by(|one, other| one.query_id == other.query_id) {
        let said: Vec<_> = query.iter().map(|label| (label.source, label.label.as_str())).collect();
        decided.extend(final_label(&said).map(|found| (query[0].query_id.as_str(), found.label)));
    }
    for battle in battles {
        let field = match scheme {
            Scheme::Superclue => &mut battle.category,
            Scheme::Urs => &mut battle.intent,
        };
        if let Some(label) = decided.get(battle.id.as_str()) {
            *field = Some((*label).to_owned());
        }
    }
}

/// By how much the final labels of rated votes change the number of votes of each label, and who gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChanges {
    counts: BTreeMap<String, i64>,
    /// Rated votes with a final label, by its origin.
    origins: BTreeMap<LabelOrigin, u64>,
}

impl LabelChanges {
    /// Adds those of votes, the labels of a vote one after the other.
    pub fn add(&mut self, labels: &[VoteLabel]) {
        for vote in labels.chunk_by(|one, other| one.seq == other.seq).filter(|vote| vote[0].rated) {
            let Some(FinalLabel { label, source }) = decide(vote) else { continue };
            *self.counts.entry(label.to_owned()).or_default() += 1;
            *self.origins.entry(source).or_default() += 1;
            if let Some(given) = &vote[0].given {
                *self.counts.entry(given.clone()).or_default() -= 1;
            }
        }
    }

    fn apply(&self, counts: &mut BTreeMap<String, u64>) -> LabelOrigins {
        for (label, change) in &self.counts {
            let count = counts.entry(label.clone()).or_default();
            *count = count.saturating_add_signed(*change);
        }
        counts.retain(|_, count| *count > 0);
        let by = |origin| self.origins.get(&origin).copied().unwrap_or_default();
        let (reviewers, examples, model) = (by(LabelOrigin::Review), by(LabelOrigin::Seed), by(LabelOrigin::Model));
        let all: u64 = counts.values().sum();
        LabelOrigins { reviewers, examples, visitors: all.saturating_sub(reviewers + examples + model), model }
    }
}

/// How many rated votes have their label from whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LabelOrigins {
    /// From reviewers.
    pub reviewers: u64,
    /// From the labelled examples that the classifier learned from.
    pub examples: u64,
    /// From the visitors who asked, with the question or after the vote.
    pub visitors: u64,
    /// From the classifier, or the language model in its place.
    pub model: u64,
}

/// Rated votes by language, category and intent, after their final labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabeledSliceVotes {
    /// The counts.
    pub counts: SliceVoteCounts,
    /// Who said what a vote's category is.
    pub categories: LabelOrigins,
    /// Who said what its intent is.
    pub intents: LabelOrigins,
}

/// The counts by final labels: categories change by the first, intents by the second.
#[must_use]
pub fn relabeled(given: &SliceVoteCounts, [categories, intents]: &[LabelChanges; 2]) -> LabeledSliceVotes {
    let mut counts = given.clone();
    let categories = categories.apply(&mut counts.categories);
    let intents = intents.apply(&mut counts.intents);
    LabeledSliceVotes { counts, categories, intents }
}

/// The label of a question that counts, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionLabel {
    /// Its key in the scheme, or what else the visitor said with the question.
    pub label: String,
    /// The source.
    pub source: LabelOrigin,
}
