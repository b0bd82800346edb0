//! Messages for refused benchmark plans, in the user's language.

use std::fmt::Display;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::run_plan::RunPlanError;
use crate::pages::admin::bench_plans::PlanRefusal;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{PlanErrorTexts, PlanRefusalTexts};
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::run_error::{RunError, RunRole};

/// Returns why a plan is invalid.
pub(super) fn invalid_plan(error: &RunPlanError, words: &PlanRefusalTexts) -> PlanRefusal {
    Wording::translated(words, |texts| texts.plan(error)).of(error)
}

/// Returns why a plan cannot be run on this arena.
pub(super) fn refused_plan(error: &RunError, words: &PlanRefusalTexts) -> PlanRefusal {
    wording(error, words).of(error)
}

/// Source of an error's wording.
enum Wording {
    /// Text of the page.
    Page(String),
    /// Error message, which is in the page's language.
    Error,
    /// Error message, which is English on a page in another language.
    QuotedError,
}

impl Wording {
    /// Selects the wording: the error message on English pages, otherwise the translation. `translate` returns `None` for errors known in
    /// English only.
    fn translated(words: &PlanRefusalTexts, translate: impl FnOnce(&PlanErrorTexts) -> Option<String>) -> Self {
        match words.errors {
            None => Self::Error,
            Some(texts) => translate(texts).map_or(Self::QuotedError, Self::Page),
        }
    }

    /// Like [`Self::translated`], for an error known in every language.
    fn said(words: &PlanRefusalTexts, translate: impl FnOnce(&PlanErrorTexts) -> String) -> Self {
        Self::translated(words, |texts| Some(translate(texts)))
    }

    fn of(self, error: &impl Display) -> PlanRefusal {
        match self {
            Self::Page(text) => PlanRefusal { text, is_quoted: false },
            Self::Error => PlanRefusal { text: error.to_string(), is_quoted: false },
            Self::QuotedError => PlanRefusal { text: error.to_string(), is_quoted: true },
        }
    }
}

/// Selects the wording of an error: errors that name command-line flags have a text of the page, in English too.
fn wording(error: &RunError, words: &PlanRefusalTexts) -> Wording {
    match error {
        RunError::NoPrices { model } => Wording::Page(of_model(words.no_prices, model)),
        RunError::NoBatches { model } => Wording::Page(of_model(words.no_batches, model)),
        RunError::NeedsNoBaseline { suite } => Wording::Page(of_suite(words.needs_no_baseline, suite)),
        RunError::NeedsNoJudge { suite } => Wording::Page(of_suite(words.needs_no_judge, suite)),
        RunError::Participants { suite, error } => {
            let said = words.participants(suite, error);
            said.map_or_else(|| Wording::translated(words, |_| None), Wording::Page)
        }
        RunError::UnknownModel { model, known } => Wording::said(words, |texts| {
            let known = known.iter().map(ModelId::as_str).collect::<Vec<_>>().join(", ");
            fill(texts.unknown_model, &[("model", &format!("{:?}", model.as_str())), ("known", &known)])
        }),
        RunError::NamedTwice { role: RunRole::Judge, name } => {
            Wording::said(words, |texts| fill(texts.judge_named_twice, &[("name", name)]))
        }
        RunError::NamedTwice { role: RunRole::Model, name } => {
            Wording::said(words, |texts| fill(texts.model_named_twice, &[("name", name)]))
        }
        RunError::NothingToJudge { suite } => Wording::said(words, |texts| of_suite(texts.nothing_to_judge, suite)),
        RunError::NoModelLeft { suite } => Wording::said(words, |texts| of_suite(texts.no_model_left, suite)),
        RunError::NoSuites => Wording::said(words, |texts| texts.no_suites.to_owned()),
        RunError::SuiteTaken { suite } => Wording::said(words, |texts| of_suite(texts.suite_taken, suite)),
        RunError::Bench(error) => Wording::translated(words, |texts| bench_error(error, texts)),
    }
}

/// Translates an error; `None` for errors known in English only. Plans of the server name no runs, variants or references, and database
/// errors are not refusals.
fn bench_error(error: &BenchError, texts: &PlanErrorTexts) -> Option<String> {
    match error {
        BenchError::Suite(error) => texts.suite(error),
        BenchError::NoData { suite } => Some(of_suite(texts.no_data, suite)),
        BenchError::NoSuchData { suite, wanted, known } => {
            Some(fill(texts.no_such_data, &[("suite", suite), ("data", &format!("{wanted:?}")), ("known", known)]))
        }
        BenchError::NoReferences { .. }
        | BenchError::NoAnswers { .. }
        | BenchError::Unanswered { .. }
        | BenchError::NotJudged { .. }
        | BenchError::NotCompared(_)
        | BenchError::NoRun { .. }
        | BenchError::OtherSuite { .. }
        | BenchError::File(_)
        | BenchError::Store(_)
        | BenchError::Shared(_)
        | BenchError::Thread(_) => None,
    }
}

fn of_suite(text: &str, suite: &str) -> String {
    fill(text, &[("suite", suite)])
}

fn of_model(text: &str, model: &ModelId) -> String {
    fill(text, &[("model", &format!("{:?}", model.as_str()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::SuiteError;
    use crate::domain::benchmark::runs::participants::ParticipantsError;
    use crate::domain::language::Language;
    use crate::render::i18n::pages::page_texts;

    fn in_both(error: &RunError) -> [PlanRefusal; 2] {
        let words = |language| &page_texts(language).admin.bench_runs.plan.refusals;
        [Language::English, Language::Chinese].map(|language| refused_plan(error, words(language)))
    }

    fn suite() -> String {
        "urs".to_owned()
    }

    /// Returns errors whose flags the page leaves out.
    fn with_flags() -> [RunError; 6] {
        let model = ModelId::new("m");
        let participants = |error| RunError::Participants { suite: suite(), error };
        [
            RunError::NoPrices { model: model.clone() },
            RunError::NoBatches { model },
            participants(ParticipantsError::NoBaseline),
            participants(ParticipantsError::NoJudge),
            RunError::NeedsNoBaseline { suite: suite() },
            RunError::NeedsNoJudge { suite: suite() },
        ]
    }

    /// Returns errors with the same wording on the page and the command line.
    fn without_flags() -> [RunError; 11] {
        let name = || "m".to_owned();
        let error = ParticipantsError::BaselineAgainstItself(name());
        let unknown = SuiteError::UnknownSuite { name: name(), known: suite() };
        [
            RunError::UnknownModel { model: ModelId::new("m"), known: vec![ModelId::new("n")] },
            RunError::NamedTwice { role: RunRole::Judge, name: name() },
            RunError::NamedTwice { role: RunRole::Model, name: name() },
            RunError::Participants { suite: suite(), error },
            RunError::NothingToJudge { suite: suite() },
            RunError::NoModelLeft { suite: suite() },
            RunError::NoSuites,
            RunError::SuiteTaken { suite: suite() },
            RunError::Bench(BenchError::NoData { suite: suite() }),
            RunError::Bench(BenchError::NoSuchData { suite: suite(), wanted: name(), known: name() }),
            RunError::Bench(BenchError::Suite(unknown)),
        ]
    }

    #[test]
    fn refusals_of_a_plan_are_said_in_chinese_and_name_no_flag() {
        for error in with_flags().into_iter().chain(without_flags()) {
            let [english, chinese] = in_both(&error);
            assert!(english.text.is_ascii() && !english.text.contains(['{', '}']), "{}", english.text);
            assert!(!chinese.is_quoted && !chinese.text.contains(['{', '}']), "{}", chinese.text);
            assert!(!chinese.text.is_ascii(), "{}", chinese.text);
            assert!(!english.text.contains("--") && !chinese.text.contains("--"), "{}", english.text);
        }
    }

    #[test]
    fn the_page_says_in_english_what_the_command_says() {
        for error in without_flags() {
            let [english, chinese] = in_both(&error);
            assert_eq!((english.text, english.is_quoted), (error.to_string(), false));
            assert_eq!(chinese.text.contains("langya bench stop"), error.to_string().contains("langya bench stop"));
        }
    }

    #[test]
    fn what_is_known_in_english_only_is_quoted_on_a_chinese_page() {
        let unanswered = BenchError::Unanswered { suite: suite(), model: "m".to_owned() };
        let [english, chinese] = in_both(&RunError::Bench(unanswered));
        assert_eq!((english.is_quoted, chinese.is_quoted, &english.text), (false, true, &chinese.text));
    }
}
