//! Progress of labelling and agreement of the labels.

use std::collections::{BTreeMap, BTreeSet};

use super::scheme::Scheme;
use super::{LabelOrigin, final_label};
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff};
use crate::stats::agreement::kappa::{Kappa, fleiss};
use crate::stats::{Share, Undefined};

/// Label of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLabel {
    /// Id of the prompt.
    pub query_id: String,
    /// Source of the label.
    pub source: LabelOrigin,
    /// Name of the reviewer; empty for seeds and the model.
    pub labeled_by: String,
    /// Key of the label.
    pub label: String,
}

/// Progress of labelling and agreement of the labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelReport {
    /// Number of prompts in the arena.
    pub queries: u64,
    /// Number of prompts with a final label.
    pub labelled: u64,
    /// Number of prompts with a label of each source.
    pub by_source: BTreeMap<&'static str, u64>,
    /// Number of prompts whose reviewers are tied, so that their labels decide nothing.
    pub undecided: u64,
    /// Share of the prompts with a final label by reviewers that the classifier labelled alike.
    pub model_agrees: Share,
    /// Number of reviews by reviewer.
    pub reviewers: BTreeMap<String, u64>,
    /// Fleiss' kappa of the reviewers, over the prompts with the same number of reviews.
    pub fleiss: Result<Kappa, Undefined>,
    /// Krippendorff's alpha of the reviewers, over all prompts with at least two reviews.
    pub alpha: Result<f64, Undefined>,
}

/// Builds a [`LabelReport`] from all prompts and their labels.
pub struct LabelReportBuilder {
    scheme: Scheme,
    report: LabelReport,
    /// Number of reviews by label, for each reviewed prompt.
    reviews: Vec<Vec<u64>>,
}

impl LabelReportBuilder {
    /// Starts an empty report.
    #[must_use]
    pub fn new(scheme: Scheme) -> Self {
        let report = LabelReport {
            queries: 0,
            labelled: 0,
            by_source: LabelOrigin::ALL.into_iter().map(|source| (source.as_str(), 0)).collect(),
            undecided: 0,
            model_agrees: Share::default(),
            reviewers: BTreeMap::new(),
            fleiss: Err(Undefined::Nothing),
            alpha: Err(Undefined::Nothing),
        };
        Self { scheme, report, reviews: Vec::new() }
    }

    /// Adds prompts, labelled or not.
    pub fn add_prompts(&mut self, count: u64) {
        self.report.queries += count;
    }

    /// Adds the labels of one prompt.
    pub fn add_labels(&mut self, labels: &[PromptLabel]) {
        let said: Vec<_> = labels.iter().map(|label| (label.source, label.label.as_str())).collect();
        let decided = final_label(&said);
        self.report.labelled += u64::from(decided.is_some());
        for source in said.iter().map(|(source, _)| source).collect::<BTreeSet<_>>() {
            *self.report.by_source.entry(source.as_str()).or_default() += 1;
        }
        let reviewed = said.iter().any(|(source, _)| *source == LabelOrigin::Review);
        let by_review = decided.filter(|decided| decided.source == LabelOrigin::Review);
        self.report.undecided += u64::from(reviewed && by_review.is_none());
        let model = said.iter().find(|(source, _)| *source == LabelOrigin::Model);
        if let (Some(decided), Some((_, model))) = (by_review, model) {
            self.report.model_agrees.count(decided.label == *model);
        }
        if reviewed {
            self.review(labels);
        }
    }

    fn review(&mut self, labels: &[PromptLabel]) {
        let mut counts = vec![0; self.scheme.labels().count()];
        for review in labels.iter().filter(|label| label.source == LabelOrigin::Review) {
            *self.report.reviewers.entry(review.labeled_by.clone()).or_default() += 1;
            if let Some(count) = self.scheme.position(&review.label).ok().and_then(|label| counts.get_mut(label)) {
                *count += 1;
            }
        }
        self.reviews.push(counts);
    }

    /// Completes the report.
    #[must_use]
    pub fn finish(mut self) -> LabelReport {
        self.report.fleiss = fleiss(&self.reviews);
        self.report.alpha = krippendorff(&label_indices(&self.reviews), MeasurementLevel::Nominal);
        self.report
    }
}

/// Converts each prompt's reviews into numbers, the positions of the labels.
fn label_indices(reviews: &[Vec<u64>]) -> Vec<Vec<f64>> {
    let values = |counts: &Vec<u64>| {
        let labels = (0_u32..).zip(counts);
        labels.flat_map(|(label, &count)| (0..count).map(move |_| f64::from(label))).collect()
    };
    reviews.iter().map(values).collect()
}
