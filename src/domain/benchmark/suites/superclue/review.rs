//! Review of a draft: decisions of the reviewers, and pending reviews.
//!
//! A reviewer who revises a draft accepts the revised text. Earlier decisions in that stage and in later ones are discarded, since they
//! were about another text; earlier stages are not repeated.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::construction::{
    Draft, DraftError, DraftReview, REVIEW_STAGES, REVIEWERS_PER_STAGE, ReviewProgress, progress,
};
use super::drafts::by_letter;
use crate::benchmark::judging_forms::multiple_choice::{OptionTexts, choices};

/// Decision of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewDecision {
    /// The draft is accepted.
    Accept,
    /// The draft is accepted in this revised form.
    Revise(Draft),
    /// The draft is rejected.
    Reject,
}

/// Error of a review decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// The stage does not exist.
    #[error("unknown stage {0}: write 1 to {REVIEW_STAGES}")]
    Stage(u32),
    /// The stage has more than [`super::construction::REVIEWERS_PER_STAGE`] reviewers.
    #[error("stage {stage} has its {REVIEWERS_PER_STAGE} reviewers already, {names}: leave the row out")]
    TooMany {
        /// Stage, from 1.
        stage: u8,
        /// Names of the reviewers.
        names: String,
    },
}

/// Draft with its reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    draft: Draft,
    /// Reviews of the current text.
    reviews: Vec<DraftReview>,
    /// Reviewers with a decision in each stage, including those on earlier texts.
    reviewers: BTreeMap<u8, BTreeSet<String>>,
}

impl Reviewed {
    /// Starts the review of a draft.
    #[must_use]
    pub fn new(draft: Draft) -> Self {
        Self { draft, reviews: Vec::new(), reviewers: BTreeMap::new() }
    }

    /// Returns the current draft.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Applies a decision after the earlier ones. An invalid decision changes nothing.
    ///
    /// # Errors
    /// [`ReviewError`].
    pub fn take(&mut self, stage: u32, reviewer: &str, decision: ReviewDecision) -> Result<(), ReviewError> {
        let unknown = ReviewError::Stage(stage);
        let stage = u8::try_from(stage).ok().filter(|stage| (1..=REVIEW_STAGES).contains(stage)).ok_or(unknown)?;
        let reviewers = self.reviewers.entry(stage).or_default();
        if reviewers.len() >= REVIEWERS_PER_STAGE && !reviewers.contains(reviewer) {
            let names = reviewers.iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(ReviewError::TooMany { stage, names });
        }
        reviewers.insert(reviewer.to_owned());
        let accepted = decision != ReviewDecision::Reject;
        if let ReviewDecision::Revise(draft) = decision {
            self.draft = draft;
            self.reviews.retain(|review| review.stage < stage);
        }
        self.reviews.push(DraftReview { stage, reviewer: reviewer.to_owned(), accepted });
        Ok(())
    }

    /// Returns the progress of the review.
    #[must_use]
    pub fn progress(&self) -> ReviewProgress {
        progress(&self.reviews)
    }

    /// Returns the reviewers whose decision a stage lacks: known ones by name, and the number of others. `team` is all reviewers of this
    /// stage; if there are more than a stage needs, only those with an earlier decision are named.
    #[must_use]
    pub fn waits_for(&self, stage: u8, team: &BTreeSet<String>) -> Vec<String> {
        let none = BTreeSet::new();
        let own = self.reviewers.get(&stage).unwrap_or(&none);
        let team = if team.len() <= REVIEWERS_PER_STAGE { team } else { own };
        let has_reviewed =
            |name: &&String| self.reviews.iter().any(|review| review.stage == stage && review.reviewer == **name);
        let mut names: Vec<String> = team.union(own).filter(|name| !has_reviewed(name)).cloned().collect();
        match REVIEWERS_PER_STAGE.saturating_sub(team.len()) {
            0 => {}
            more => names.push(format!("{more} more")),
        }
        names
    }
}

impl Draft {
    /// Revises the question, the options or the answer. Options may be a list, an object by letter, one text, or any of these as JSON in a
    /// text.
    ///
    /// # Errors
    /// [`DraftError`] if nothing changes, or the options and the answer are not those of a multiple-choice question.
    pub fn revised(
        &self,
        question: Option<String>,
        options: Option<&Value>,
        answer: Option<&str>,
    ) -> Result<Self, DraftError> {
        let refuse = |reason: &str| DraftError::Choices(reason.to_owned());
        let revised = match (options, answer) {
            (None, None) if question.is_none() => {
                return Err(refuse("it revises nothing: give a question, options with their answer, or an answer"));
            }
            (Some(_), None) => return Err(refuse("it has new options: give their answer too")),
            (Some(options), Some(answer)) => choices(texts(options)?, answer),
            (None, answer) => {
                let answer = answer.unwrap_or(self.choices.correct.as_str());
                choices(by_letter(&self.choices), answer)
            }
        };
        let choices = revised.map_err(|problem| DraftError::Choices(problem.to_string()))?;
        Ok(Self { question: question.unwrap_or_else(|| self.question.clone()), choices })
    }
}

fn texts(options: &Value) -> Result<OptionTexts, DraftError> {
    let in_text = options.as_str().and_then(|text| serde_json::from_str(text).ok());
    let form = |_| DraftError::Choices("the options are neither a list nor by letter nor a text".to_owned());
    serde_json::from_value(in_text.unwrap_or_else(|| options.clone())).map_err(form)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn draft() -> Draft {
        Draft::parse(r#"{"question": "q", "options": ["1", "2", "3", "4"], "answer": "B"}"#).unwrap()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_revision_begins_its_stage_again_and_keeps_those_before_it() {
        let mut reviewed = Reviewed::new(draft());
        let better = draft().revised(Some("better".to_owned()), None, None).unwrap();
        for (stage, reviewer, decision) in [
            (1, "ann", ReviewDecision::Accept),
            (1, "bob", ReviewDecision::Accept),
            (2, "ann", ReviewDecision::Reject),
            (3, "ann", ReviewDecision::Accept),
            (2, "bob", ReviewDecision::Revise(better.clone())),
        ] {
            reviewed.take(stage, reviewer, decision).unwrap();
        }
        assert_eq!((reviewed.draft(), reviewed.progress()), (&better, ReviewProgress::Open { stage: 2 }));
        assert_eq!(reviewed.waits_for(2, &names(&["ann", "bob"])), ["ann", "1 more"]);
        assert_eq!(reviewed.waits_for(2, &names(&["ann", "bob", "cyn"])), ["ann", "cyn"]);
        assert_eq!(reviewed.waits_for(2, &names(&["ann", "bob", "cyn", "dan"])), ["ann", "1 more"]);
        reviewed.take(2, "cyn", ReviewDecision::Accept).unwrap();
        assert_eq!(
            reviewed.progress(),
            ReviewProgress::Open { stage: 3 },
            "what was said in stage 3 was of another text"
        );
    }

    #[test]
    fn a_stage_has_three_reviewers_and_there_are_three_stages() {
        let mut reviewed = Reviewed::new(draft());
        for reviewer in ["ann", "bob", "cyn", "ann"] {
            reviewed.take(1, reviewer, ReviewDecision::Accept).unwrap();
        }
        let fourth = reviewed.take(1, "dan", ReviewDecision::Reject).unwrap_err().to_string();
        assert!(fourth.contains("its 3 reviewers already, ann, bob, cyn"), "{fourth}");
        assert_eq!(reviewed.take(4, "ann", ReviewDecision::Accept), Err(ReviewError::Stage(4)));
        assert_eq!(reviewed.take(0, "ann", ReviewDecision::Accept), Err(ReviewError::Stage(0)));
    }

    #[track_caller]
    fn check(options: Option<Value>, answer: Option<&str>, expected: Result<([&str; 4], &str), &str>) {
        let revised = draft().revised(None, options.as_ref(), answer);
        match (revised, expected) {
            (Ok(draft), Ok((options, correct))) => {
                assert_eq!(
                    (draft.choices.options, draft.choices.correct.as_str()),
                    (options.map(str::to_owned), correct)
                );
            }
            (Err(error), Err(said)) => assert!(error.to_string().contains(said), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn options_are_revised_with_their_answer_in_any_form_that_a_cell_can_hold() {
        let new = Ok((["w", "x", "y", "z"], "D"));
        check(Some(json!(["w", "x", "y", "z"])), Some("D"), new);
        check(Some(json!("A. w B. x C. y D. z")), Some("D"), new);
        check(Some(json!(r#"{"A": "w", "B": "x", "C": "y", "D": "z"}"#)), Some("D"), new);
        check(None, Some("A"), Ok((["1", "2", "3", "4"], "A")));
        check(Some(json!(["w", "x", "y", "z"])), None, Err("give their answer too"));
        check(Some(json!(["w", "x", "y"])), Some("A"), Err("four different options"));
        check(Some(json!(7)), Some("A"), Err("neither a list"));
        check(None, None, Err("revises nothing"));
    }
}
