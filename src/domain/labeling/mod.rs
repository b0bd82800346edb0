//! Labels of prompts: a classifier is trained on labelled ones, and people review its predictions.
//!
//! Pure. [`scheme`] has the labels, [`features`] turns a text into a vector, [`softmax`] fits vectors to labels, [`classifier`] combines
//! both, [`few_shot`] asks a language model instead, [`validation`] cross-validates, [`final_labels`] has the final label of each vote,
//! [`seed_labels`] and [`queue`] read the files that people write, by [`table`]. SuperCLUE labels 300 queries by hand, trains, labels all
//! others and has people review them (section 3.2 of its paper); here reviewers see the least confident predictions first.

pub mod classifier;
pub mod features;
pub mod few_shot;
pub mod final_labels;
pub mod queue;
pub mod report;
pub mod scheme;
pub mod seed_labels;
pub mod softmax;
pub mod table;
pub mod validation;

use crate::stats::agreement::choices::majority;

/// Source of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelOrigin {
    /// A labelled example of the classifier's training set.
    Seed,
    /// The classifier, or the language model that labels in its place.
    Model,
    /// The visitor who asked, after the vote.
    Visitor,
    /// A reviewer.
    Review,
}

impl LabelOrigin {
    /// All sources.
    pub const ALL: [Self; 4] = [Self::Seed, Self::Model, Self::Visitor, Self::Review];

    /// Returns the name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Model => "model",
            Self::Visitor => "visitor",
            Self::Review => "review",
        }
    }

    /// Parses the name in the database.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// Final label of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinalLabel<'a> {
    /// Key of the label.
    pub label: &'a str,
    /// Source of the label.
    pub source: LabelOrigin,
}

/// Returns the label by majority of the reviewers, else the seed's, else the visitor's, else the model's. Reviewers who are tied decide
/// nothing.
#[must_use]
pub fn final_label<'a>(labels: &[(LabelOrigin, &'a str)]) -> Option<FinalLabel<'a>> {
    let by = |source: LabelOrigin| labels.iter().filter(move |(by, _)| *by == source).map(|(_, label)| *label);
    let reviews: Vec<&str> = by(LabelOrigin::Review).collect();
    let of = |source: LabelOrigin| move |label| FinalLabel { label, source };
    let first = |source: LabelOrigin| by(source).next().map(of(source));
    majority(&reviews)
        .map(of(LabelOrigin::Review))
        .or_else(|| first(LabelOrigin::Seed))
        .or_else(|| first(LabelOrigin::Visitor))
        .or_else(|| first(LabelOrigin::Model))
}

#[cfg(test)]
mod tests {
    use super::LabelOrigin::{Model, Review, Seed, Visitor};
    use super::*;

    #[track_caller]
    fn check(labels: &[(LabelOrigin, &str)], expected: Option<&str>) {
        let found = final_label(labels);
        assert_eq!(found.map(|found| found.label), expected, "{labels:?}");
        assert!(found.is_none_or(|found| labels.contains(&(found.source, found.label))), "{labels:?}");
    }

    #[test]
    fn reviewers_go_before_seeds_then_come_visitors_and_the_model_is_last() {
        check(&[], None);
        check(&[(Model, "m")], Some("m"));
        check(&[(Model, "m"), (Seed, "s")], Some("s"));
        check(&[(Model, "m"), (Visitor, "v")], Some("v"));
        check(&[(Visitor, "v"), (Seed, "s")], Some("s"));
        check(&[(Visitor, "v"), (Review, "r")], Some("r"));
        check(&[(Visitor, "v"), (Review, "r"), (Review, "q")], Some("v"));
        check(&[(Model, "m"), (Seed, "s"), (Review, "r")], Some("r"));
        check(&[(Model, "m"), (Review, "r"), (Review, "q"), (Review, "r")], Some("r"));
        check(&[(Model, "m"), (Review, "r"), (Review, "q")], Some("m"));
        check(&[(Seed, "s"), (Model, "m"), (Review, "r"), (Review, "q")], Some("s"));
        check(&[(Review, "r"), (Review, "q")], None);
    }
}
