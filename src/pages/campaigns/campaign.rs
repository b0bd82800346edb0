//! The page on which annotators of a campaign judge. Its script reads the token from the link, so the page is the same for all annotators.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use crate::domain::campaign::plan::{CampaignPlan, Task};
use crate::domain::campaign::questions::{CampaignQuestion, MAX_FREE_TEXT_CHARS, QuestionKind, Subject};
use crate::domain::language::Language;
use crate::render::i18n::pages::CampaignTexts;
use crate::render::markdown;

#[derive(Template)]
#[template(path = "campaign.html")]
struct AnnotationPage {
    page: Page,
    words: &'static CampaignTexts,
    id: String,
    plan: CampaignPlan,
    /// The instructions as safe HTML.
    instructions: String,
    /// Texts of the script, as JSON.
    script_texts: String,
    question: &'static str,
    keys: &'static str,
}

impl AnnotationPage {
    fn is(&self, task: &str) -> bool {
        self.plan.task.as_str() == task
    }

    fn scores(&self) -> std::ops::RangeInclusive<u8> {
        self.plan.scale[0]..=self.plan.scale[1]
    }

    /// Returns the points of the preference scale, from A to B, with their labels.
    fn preferences(&self) -> Vec<(i8, &'static str)> {
        let words = self.words;
        let five = [words.much_better_a, words.choose_a, words.choose_tie, words.choose_b, words.much_better_b];
        let seven = [
            words.much_better_a,
            words.choose_a,
            words.slightly_better_a,
            words.choose_tie,
            words.slightly_better_b,
            words.choose_b,
            words.much_better_b,
        ];
        match self.plan.preference_scale {
            None => Vec::new(),
            Some(7) => (-3..=3).zip(seven).collect(),
            Some(_) => (-2..=2).zip(five).collect(),
        }
    }

    /// Returns the questions beside the task; a question about each answer has a field per answer.
    fn fields(&self) -> Vec<QuestionField<'_>> {
        let letters = |question: &CampaignQuestion| match question.about {
            Subject::Item => vec![None],
            Subject::Answer => self.letters().iter().copied().map(Some).collect(),
        };
        let fields = self.plan.questions.iter().zip(0..).flat_map(|(question, at): (&CampaignQuestion, u32)| {
            letters(question).into_iter().map(move |letter| QuestionField {
                name: format!("question-{at}{}", letter.unwrap_or_default()),
                question,
                letter,
                language: self.page.language,
            })
        });
        fields.collect()
    }

    fn letters(&self) -> &'static [&'static str] {
        match self.plan.task {
            Task::Pairwise => &["a", "b"],
            Task::Score => &["a"],
            Task::Rank => &["a", "b", "c", "d", "e"],
        }
    }
}

/// Input field of a question.
struct QuestionField<'p> {
    /// Name of the HTML inputs.
    name: String,
    question: &'p CampaignQuestion,
    /// Letter of the answer that the field asks about.
    letter: Option<&'static str>,
    language: Language,
}

impl QuestionField<'_> {
    fn text(&self) -> &str {
        self.question.text_in(self.language)
    }

    fn meaning(&self) -> Option<&str> {
        self.question.meaning_in(self.language)
    }

    fn is_text(&self) -> bool {
        self.question.kind == QuestionKind::Text
    }

    fn is_scale(&self) -> bool {
        self.question.kind == QuestionKind::Scale
    }

    /// Returns the options.
    fn values(&self) -> Vec<String> {
        match self.question.kind {
            QuestionKind::Choice => self.question.options.clone(),
            QuestionKind::Scale => self.question.points().map(|point| point.to_string()).collect(),
            QuestionKind::Text => Vec::new(),
        }
    }
}

/// `GET /campaign/{id}`
///
/// # Panics
/// Never: the texts are JSON.
#[must_use]
pub fn campaign(request: &HttpRequest, id: &str, plan: CampaignPlan) -> HttpResponse {
    let page = Page::new(request, Section::None);
    let words = &page.t().campaign;
    let (question, keys) = match plan.task {
        Task::Pairwise if plan.preference_scale.is_some() => (words.pairwise_question, words.preference_keys),
        Task::Pairwise => (words.pairwise_question, words.pairwise_keys),
        Task::Score => (words.score_question, words.score_keys),
        Task::Rank => (words.rank_question, words.rank_keys),
    };
    let view = AnnotationPage {
        instructions: markdown::render(&plan.instructions).concat(),
        script_texts: serde_json::to_string(&words.script).expect("texts are JSON"),
        id: id.to_owned(),
        page,
        words,
        plan,
        question,
        keys,
    };
    let mut response = respond(request, StatusCode::OK, &view);
    // Links of earlier versions carry a token in the address.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
