//! Construction of multiple-choice items from open questions: a model rewrites, programs check the format, people review.
//!
//! The paper's review has three stages of three reviewers. A draft passes a stage once a majority of its reviewers accepts it, and is
//! rejected once a majority is impossible; one that has passed all stages becomes an item of [`super::close`].

use serde::{Deserialize, Serialize};

use super::close::PROMPT;
use crate::battle::message::Message;
use crate::benchmark::item::{Choices, Item, Question};
use crate::benchmark::judging_forms::multiple_choice::{OptionTexts, choices};
use crate::benchmark::suite_options::SuiteError;
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::PromptFile;

/// Number of stages of the review.
pub const REVIEW_STAGES: u8 = 3;
/// Number of reviewers per stage.
pub const REVIEWERS_PER_STAGE: usize = 3;

const CONSTRUCT: &str = "construct";
const FIELDS: JudgePromptFields = JudgePromptFields { required: &["question"], optional: &["capability"] };

/// Prompt for rewriting a question.
pub struct DraftPrompt(JudgePrompt);

/// Question rewritten by a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Text of the new question.
    pub question: String,
    /// Options with the correct letter.
    pub choices: Choices,
}

/// Error of a reply that is not a draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The reply has no JSON object.
    #[error("the reply holds no JSON object with 问题, 选项 and 答案")]
    NoObject,
    /// The reply does not have four options, or a single answer.
    #[error("{0}")]
    Choices(String),
}

#[derive(Deserialize)]
struct RewrittenQuestion {
    #[serde(alias = "问题")]
    question: String,
    #[serde(alias = "选项", alias = "choices")]
    options: OptionTexts,
    #[serde(alias = "答案")]
    answer: String,
}

impl DraftPrompt {
    /// Creates the built-in prompt, or one from a prompt file's variant `construct`.
    ///
    /// # Errors
    /// [`SuiteError`] if the prompt lacks the field of the question.
    pub fn new(prompt: Option<&str>) -> Result<Self, SuiteError> {
        let file = PromptFile::parse(prompt.unwrap_or(PROMPT));
        Ok(Self(JudgePrompt::new(CONSTRUCT, &file.variant(CONSTRUCT), FIELDS)?))
    }

    /// Builds the request to rewrite the first turn of an open item.
    #[must_use]
    pub fn request(&self, item: &Item) -> Vec<Message> {
        let question = item.turns.first().map_or("", |turn| turn.question.as_str());
        self.0.messages(&[("question", question), ("capability", &item.category)])
    }
}

impl Draft {
    /// Parses a model's reply: the last JSON object in it.
    ///
    /// # Errors
    /// [`DraftError`] if there is none, or its options and answer are not those of a multiple-choice question.
    pub fn parse(reply: &str) -> Result<Self, DraftError> {
        let mut starts = reply.rmatch_indices('{').map(|(place, _)| &reply[place..]);
        let object = |text| serde_json::Deserializer::from_str(text).into_iter::<RewrittenQuestion>().next()?.ok();
        let reply = starts.find_map(object).ok_or(DraftError::NoObject)?;
        let choices = choices(reply.options, &reply.answer);
        let choices = choices.map_err(|problem| DraftError::Choices(problem.to_string()))?;
        Ok(Self { question: reply.question, choices })
    }

    /// Converts a draft of an open item into an item.
    #[must_use]
    pub fn item(self, open: &Item) -> Item {
        let turns = vec![Question { question: self.question, reference: None }];
        Item { turns, choices: Some(self.choices), ..open.clone() }
    }
}

/// Review of a draft by one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftReview {
    /// Stage, from 1 to [`REVIEW_STAGES`].
    pub stage: u8,
    /// Name of the reviewer; a later review replaces the former.
    pub reviewer: String,
    /// Whether the reviewer accepts the draft.
    pub accepted: bool,
}

/// Progress of a draft's review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewProgress {
    /// The stage needs more reviews.
    Open {
        /// Stage, from 1.
        stage: u8,
    },
    /// Every stage accepted it.
    Accepted,
    /// A stage rejected the draft.
    Rejected {
        /// Stage, from 1.
        stage: u8,
    },
}

/// Determines the progress from a draft's reviews.
#[must_use]
pub fn progress(reviews: &[DraftReview]) -> ReviewProgress {
    let most = REVIEWERS_PER_STAGE / 2 + 1;
    for stage in 1..=REVIEW_STAGES {
        let words = latest_reviews(reviews, stage);
        let accepted = words.iter().filter(|review| review.accepted).count();
        if words.len() - accepted >= most {
            return ReviewProgress::Rejected { stage };
        }
        if accepted < most {
            return ReviewProgress::Open { stage };
        }
    }
    ReviewProgress::Accepted
}

/// Returns the last review of each reviewer in a stage.
fn latest_reviews(reviews: &[DraftReview], stage: u8) -> Vec<&DraftReview> {
    let mut words: Vec<&DraftReview> = Vec::new();
    for review in reviews.iter().filter(|review| review.stage == stage) {
        words.retain(|former| former.reviewer != review.reviewer);
        words.push(review);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::verdict::OptionLetter;

    #[test]
    fn the_last_object_of_a_reply_is_the_draft() {
        let reply =
            "好的：\n```json\n{\"问题\": \"{x}是几？\", \"选项\": \"A. 1 B. 2 C. 3 D. 4\", \"答案\": \"D\"}\n```";
        let draft = Draft::parse(reply).unwrap();
        assert_eq!((draft.question.as_str(), draft.choices.correct), ("{x}是几？", OptionLetter::D));
        assert_eq!(draft.choices.options, ["1", "2", "3", "4"]);
        assert_eq!(Draft::parse("不会"), Err(DraftError::NoObject));
        let two = Draft::parse(r#"{"question": "q", "choices": ["a", "b"], "answer": "A"}"#).unwrap_err();
        assert!(matches!(two, DraftError::Choices(_)), "{two}");
    }

    #[test]
    fn most_reviewers_of_every_stage_must_accept() {
        let review = |stage, reviewer: &str, accepted| DraftReview { stage, reviewer: reviewer.to_owned(), accepted };
        let mut reviews = vec![review(1, "x", true)];
        assert_eq!(progress(&reviews), ReviewProgress::Open { stage: 1 });
        reviews.push(review(1, "x", true));
        assert_eq!(progress(&reviews), ReviewProgress::Open { stage: 1 }, "one person counts once");
        reviews.extend([review(1, "y", false), review(1, "z", true)]);
        assert_eq!(progress(&reviews), ReviewProgress::Open { stage: 2 });
        reviews.extend([review(2, "x", false), review(2, "y", false)]);
        assert_eq!(progress(&reviews), ReviewProgress::Rejected { stage: 2 });
        reviews.extend([review(2, "y", true), review(2, "z", true)]);
        reviews.extend([review(3, "x", true), review(3, "y", true)]);
        assert_eq!(progress(&reviews), ReviewProgress::Accepted);
    }
}
