//! Visible part of an assignment: the texts of an item without the names of the models, or the reason why nothing is left to judge.

use super::ending::EndReason;
use super::invalid_judgement::ANSWER_LETTERS;
use super::plan::CampaignPlan;
use super::questions::CampaignQuestion;

/// Texts of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemTexts {
    /// Id of the item.
    pub name: String,
    /// Prompt, or conversation as text.
    pub prompt: String,
    /// Known good answer; empty without one.
    pub reference: String,
    /// Category of the item; may be empty.
    pub category: String,
    /// Language of the item; may be empty.
    pub language: String,
    /// Answers by model.
    pub answers: Vec<(String, String)>,
}

impl ItemTexts {
    /// Returns the answer of a model; empty without one.
    #[must_use]
    pub fn answer(&self, model: &str) -> &str {
        self.answers.iter().find(|(known, _)| known == model).map_or("", |(_, answer)| answer)
    }
}

/// Assignment as shown to the annotator.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownAssignment {
    /// Id of the assignment.
    pub id: String,
    /// Id of the item.
    pub item: String,
    /// Prompt, or conversation as text.
    pub prompt: String,
    /// Known good answer, if the campaign shows it.
    pub reference: Option<String>,
    /// Answers by the letters under which they are shown.
    pub answers: Vec<(&'static str, String)>,
    /// Questions about this item in addition to the task.
    pub questions: Vec<CampaignQuestion>,
}

/// Reason why nothing is left to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// All units that this annotator may see have their judgements.
    NothingLeft,
    /// The annotator has reached the link's maximum number of judgements.
    Quota,
    /// The campaign ended.
    Ended(EndReason),
}

impl Finished {
    /// Returns the name in API responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NothingLeft => "nothing_left",
            Self::Quota => "quota",
            Self::Ended(because) => because.as_str(),
        }
    }
}

impl ShownAssignment {
    /// Builds the assignment `id` of an item: its answers in the order of the models in `shown`, and only the parts and questions of the
    /// plan.
    #[must_use]
    pub fn new(id: String, shown: &[String], texts: ItemTexts, plan: &CampaignPlan) -> Self {
        let answer = |model: &String| texts.answer(model).to_owned();
        let asked = plan.questions.iter().filter(|question| question.is_about(&texts.category));
        Self {
            // An assignment reveals nothing about other items.
            questions: asked.map(|question| CampaignQuestion { categories: Vec::new(), ..question.clone() }).collect(),
            answers: ANSWER_LETTERS.into_iter().zip(shown.iter().map(answer)).collect(),
            id,
            item: texts.name,
            prompt: texts.prompt,
            reference: Some(texts.reference).filter(|text| plan.show_reference && !text.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "[campaign]\nid = \"a\"\ntitle = \"t\"\ntask = \"pairwise\"\nanswers = \"x.csv\"\n";
    const QUESTION: &str = "[[questions]]\nid = \"why\"\ntext = \"Why?\"\nkind = \"text\"\n";

    /// Item about "maths", shown with model two first.
    fn shown(plan: &str) -> ShownAssignment {
        let texts = ItemTexts {
            name: "q1".to_owned(),
            prompt: "What?".to_owned(),
            reference: "This.".to_owned(),
            category: "maths".to_owned(),
            language: "en".to_owned(),
            answers: [("one", "first"), ("two", "second")]
                .map(|(model, text)| (model.to_owned(), text.to_owned()))
                .to_vec(),
        };
        let plan = CampaignPlan::parse(plan).unwrap();
        ShownAssignment::new("id".to_owned(), &["two".to_owned(), "one".to_owned()], texts, &plan)
    }

    #[test]
    fn answers_stand_under_letters_in_the_order_of_the_assignment() {
        let shown = shown(PLAN);
        assert_eq!(shown.answers, [("a", "second".to_owned()), ("b", "first".to_owned())]);
        assert_eq!((shown.item.as_str(), shown.prompt.as_str(), shown.reference), ("q1", "What?", None));
        assert!(shown.questions.is_empty());
    }

    #[test]
    fn only_what_the_plan_shows_and_asks_about_the_item_is_there() {
        let with =
            |categories: &str| shown(&format!("{PLAN}show_reference = true\n{QUESTION}categories = {categories}\n"));
        let of_other = with("[\"law\"]");
        assert_eq!((of_other.reference.as_deref(), of_other.questions.len()), (Some("This."), 0));
        let of_this = with("[\"law\", \"Maths\"]").questions;
        assert_eq!((of_this.len(), of_this[0].categories.len()), (1, 0), "other categories stay unknown");
    }
}
