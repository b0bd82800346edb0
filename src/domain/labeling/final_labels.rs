//! The final labels of votes' prompts. Where a prompt has none, the visitor's own label counts.

use std::collections::{BTreeMap, HashMap};

use super::scheme::Scheme;
use super::{LabelOrigin, final_label};
use crate::rating::facets::Facets;

/// A label of a vote's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteLabel {
    /// Number of the vote.
    pub seq: i64,
    /// Whether the vote is rated.
    pub rated: bool,
    /// What the visitor said it was about, in this scheme.
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
            self.0.extend(decide(vote).map(|label| ((scheme, vote[0].seq), label.to_owned())));
        }
    }

    /// That of a vote.
    #[must_use]
    pub fn of(&self, scheme: Scheme, seq: i64) -> Option<&str> {
        self.0.get(&(scheme, seq)).map(String::as_str)
    }
}

fn decide(vote: &[VoteLabel]) -> Option<&str> {
    let said: Vec<_> = vote.iter().map(|label| (label.source, label.label.as_str())).collect();
    Some(final_label(&said)?.label)
}

/// By how much the final labels of rated votes change the number of votes of each label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChanges(BTreeMap<String, i64>);

impl LabelChanges {
    /// Adds those of votes, the labels of a vote one after the other.
    pub fn add(&mut self, labels: &[VoteLabel]) {
        for vote in labels.chunk_by(|one, other| one.seq == other.seq).filter(|vote| vote[0].rated) {
            let Some(label) = decide(vote) else { continue };
            *self.0.entry(label.to_owned()).or_default() += 1;
            if let Some(given) = &vote[0].given {
                *self.0.entry(given.clone()).or_default() -= 1;
            }
        }
    }
}

/// The counts by final labels: categories change by the first, intents by the second.
#[must_use]
pub fn relabelled(given: &Facets, changes: &[LabelChanges; 2]) -> Facets {
    let mut facets = given.clone();
    for (counts, LabelChanges(changes)) in [&mut facets.categories, &mut facets.intents].into_iter().zip(changes) {
        for (label, change) in changes {
            let count = counts.entry(label.clone()).or_default();
            *count = count.saturating_add_signed(*change);
        }
        counts.retain(|_, count| *count > 0);
    }
    facets
}
