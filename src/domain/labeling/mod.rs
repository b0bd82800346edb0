//! What prompts are about: a classifier learns it from labelled ones, and people review what it says.
//!
//! Pure. [`scheme`] has the labels, [`features`] turns a text into numbers, [`softmax`] fits them to labels,
//! [`classifier`] is both together, [`few_shot`] asks a language model instead, [`validation`] says how good it is on what it has not seen, [`final_labels`] has the
//! label that counts of each vote, [`seed_labels`] and [`queue`] are the files that people write, [`table`] reads both. SuperCLUE labels 300 queries by hand, trains, labels all others and has people
//! review them (section 3.2 of its paper); here the reviewers see first what the classifier is least sure of.

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

/// The source of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelOrigin {
    /// Who labelled the examples that the classifier learned from.
    Seed,
    /// The classifier, or the language model that labels in its place.
    Model,
    /// The visitor who asked, after the vote.
    Visitor,
    /// A reviewer.
    Review,
}

impl LabelOrigin {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Seed, Self::Model, Self::Visitor, Self::Review];

    /// Its name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Model => "model",
            Self::Visitor => "visitor",
            Self::Review => "review",
        }
    }

    /// Reads the database's spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// The label that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinalLabel<'a> {
    /// What it says.
    pub label: &'a str,
    /// Its source.
    pub source: LabelOrigin,
}

/// The one that more reviewers gave than any other, else the seed's, else the visitor's, else the model's. Reviewers who are
/// of two minds decide nothing.
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
