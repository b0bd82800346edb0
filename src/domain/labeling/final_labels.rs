//! Final labels of votes' prompts. A prompt without one keeps the label that the visitor gave with the question.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::report::PromptLabel;
use super::scheme::Scheme;
use super::{FinalLabel, LabelOrigin, final_label};
use crate::battle::record::BattleLine;
use crate::language::language_groups;
use crate::rating::counts::slice_vote_counts::SliceVoteCounts;
use crate::rating::votes::prompt_label_names::split_names;

/// Label of a vote's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteLabel {
    /// Number of the vote.
    pub seq: i64,
    /// Whether the vote counts towards the ratings.
    pub rated: bool,
    /// Label that the visitor gave with the question, in this scheme.
    pub given: Option<String>,
    /// Source of the label.
    pub source: LabelOrigin,
    /// Key of the label.
    pub label: String,
}

/// Final labels of votes, by scheme and sequence number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinalLabels(HashMap<(Scheme, i64), String>);

impl FinalLabels {
    /// Adds labels of votes in one scheme, grouped by vote.
    pub fn add(&mut self, scheme: Scheme, labels: &[VoteLabel]) {
        for vote in labels.chunk_by(|one, other| one.seq == other.seq) {
            self.0.extend(final_label_of_votes(vote).map(|found| ((scheme, vote[0].seq), found.label.to_owned())));
        }
    }

    /// Returns the final label of a vote.
    #[must_use]
    pub fn of(&self, scheme: Scheme, seq: i64) -> Option<&str> {
        self.0.get(&(scheme, seq)).map(String::as_str)
    }
}

fn final_label_of_votes(vote: &[VoteLabel]) -> Option<FinalLabel<'_>> {
    let said: Vec<_> = vote.iter().map(|label| (label.source, label.label.as_str())).collect();
    final_label(&said)
}

/// Replaces the visitors' labels by the final labels of one scheme; `labels` are grouped by prompt.
pub fn replace_visitor_labels(scheme: Scheme, labels: &[PromptLabel], battles: &mut [BattleLine]) {
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

/// Changes in the number of rated votes per label by final labels, and the origins of these labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChanges {
    counts: BTreeMap<String, i64>,
    /// Rated votes with a final label, by origin.
    origins: BTreeMap<LabelOrigin, u64>,
}

impl LabelChanges {
    /// Adds labels of votes, grouped by vote.
    pub fn add(&mut self, labels: &[VoteLabel]) {
        for vote in labels.chunk_by(|one, other| one.seq == other.seq).filter(|vote| vote[0].rated) {
            let Some(FinalLabel { label, source }) = final_label_of_votes(vote) else { continue };
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

/// Number of rated votes by the origin of their label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LabelOrigins {
    /// Labelled by reviewers.
    pub reviewers: u64,
    /// Labelled as seeds, from which the classifier was trained.
    pub examples: u64,
    /// Labelled by the visitors, with the question or after the vote.
    pub visitors: u64,
    /// Labelled by the classifier, or by the language model in its place.
    pub model: u64,
}

/// Rated votes by language, category and intent, according to the final labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabeledSliceVotes {
    /// Number of votes in each slice.
    pub counts: SliceVoteCounts,
    /// Origins of the category labels.
    pub categories: LabelOrigins,
    /// Origins of the intent labels.
    pub intents: LabelOrigins,
}

/// Applies final labels to the counts: the first changes to categories, the second to intents. A vote whose label has several names
/// counts for each of them, as in the slices, and a language that votes spell in several ways is counted once.
#[must_use]
pub fn relabeled(given: &SliceVoteCounts, [categories, intents]: &[LabelChanges; 2]) -> LabeledSliceVotes {
    let mut counts = given.clone();
    let categories = categories.apply(&mut counts.categories);
    let intents = intents.apply(&mut counts.intents);
    counts.languages = by_language(&counts.languages);
    counts.categories = by_name(&counts.categories);
    counts.intents = by_name(&counts.intents);
    LabeledSliceVotes { counts, categories, intents }
}

fn by_language(labels: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let texts: Vec<&str> = labels.keys().map(String::as_str).collect();
    let mut counts = BTreeMap::<String, u64>::new();
    for (name, votes) in language_groups(&texts).into_iter().zip(labels.values()) {
        *counts.entry(name.to_owned()).or_default() += *votes;
    }
    counts
}

fn by_name(labels: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::<String, u64>::new();
    for (label, votes) in labels {
        let names: BTreeSet<_> = split_names(label).into_iter().collect();
        for name in names {
            *counts.entry(name.into_owned()).or_default() += *votes;
        }
    }
    counts
}

/// Final label of a question with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionLabel {
    /// Key in the scheme, or other text that the visitor gave with the question.
    pub label: String,
    /// Source of the label.
    pub source: LabelOrigin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_language_are_counted_together() {
        let languages = [("English", 3), ("en", 2), ("en-GB", 1), ("zh", 4), ("unknown", 1)];
        let languages = languages.map(|(language, votes)| (language.to_owned(), votes)).into();
        let given = SliceVoteCounts { languages, ..SliceVoteCounts::default() };
        let counts = relabeled(&given, &[LabelChanges::default(), LabelChanges::default()]).counts;
        let expected = [("English", 6), ("unknown", 1), ("zh", 4)];
        assert_eq!(counts.languages, expected.map(|(name, votes)| (name.to_owned(), votes)).into());
        assert_eq!((counts.language_key("en-US"), counts.language_key("Chinese")), ("English", "zh"));
        assert_eq!((counts.language_key("German"), counts.language_key("")), ("German", ""));
    }

    #[test]
    fn a_vote_of_several_categories_counts_for_each_and_has_one_origin() {
        let labels = [("coding", 3), ("coding,math", 2), ("\"law, tax\",math,math", 1)];
        let categories = labels.map(|(label, votes)| (label.to_owned(), votes)).into();
        let given = SliceVoteCounts { categories, ..SliceVoteCounts::default() };
        let votes = relabeled(&given, &[LabelChanges::default(), LabelChanges::default()]);
        let expected = [("coding", 5), ("law, tax", 1), ("math", 3)];
        assert_eq!(votes.counts.categories, expected.map(|(name, votes)| (name.to_owned(), votes)).into());
        assert_eq!(votes.categories, LabelOrigins { visitors: 6, ..LabelOrigins::default() });
    }
}
