//! Why a plan of benchmarks cannot be run, in the language of whoever plans it.

use std::fmt::Display;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::run_plan::RunPlanError;
use crate::pages::admin::bench_plans::PlanRefusal;
use crate::render::i18n::fill;
use crate::render::i18n::pages::PlanRefusalTexts;
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::run_error::RunError;

/// What is wrong with a plan.
pub(super) fn invalid_plan(error: &RunPlanError, words: &PlanRefusalTexts) -> PlanRefusal {
    said_or_quoted(words.plan(error), error)
}

/// Why a plan cannot be run here.
pub(super) fn refused_plan(error: &RunError, words: &PlanRefusalTexts) -> PlanRefusal {
    let of_suite = |text: &str, suite: &str| Some(fill(text, &[("suite", suite)]));
    let of_model = |text: &str, model: &ModelId| Some(fill(text, &[("model", model.as_str())]));
    let said = match error {
        RunError::UnknownModel { model, known } => {
            let known = known.iter().map(ModelId::as_str).collect::<Vec<_>>().join(", ");
            Some(fill(words.unknown_model, &[("model", model.as_str()), ("known", &known)]))
        }
        RunError::NoPrices { model } => of_model(words.no_prices, model),
        RunError::NoBatches { model } => of_model(words.no_batches, model),
        RunError::NamedTwice { role: "judge", name } => Some(fill(words.judge_named_twice, &[("name", name)])),
        RunError::NamedTwice { name, .. } => Some(fill(words.model_named_twice, &[("name", name)])),
        RunError::Participants { suite, error } => Some(words.participants(suite, error)),
        RunError::NeedsNoBaseline { suite } => of_suite(words.needs_no_baseline, suite),
        RunError::NeedsNoJudge { suite } => of_suite(words.needs_no_judge, suite),
        RunError::NothingToJudge { suite } => of_suite(words.nothing_to_judge, suite),
        RunError::NoSuites => Some(words.no_suites.to_owned()),
        RunError::SuiteTaken { suite } => of_suite(words.suite_taken, suite),
        RunError::Bench(BenchError::Suite(error)) => words.suite(error),
        RunError::Bench(BenchError::NoData { suite }) => of_suite(words.no_data, suite),
        RunError::Bench(BenchError::NoSuchData { suite, wanted, known }) => {
            Some(fill(words.no_such_data, &[("suite", suite), ("data", &format!("{wanted:?}")), ("known", known)]))
        }
        RunError::Bench(_) => None,
    };
    said_or_quoted(said, error)
}

/// A text of the page; the error's own words where the page has none.
fn said_or_quoted(said: Option<String>, error: &impl Display) -> PlanRefusal {
    match said {
        Some(text) => PlanRefusal { text, is_quoted: false },
        None => PlanRefusal { text: error.to_string(), is_quoted: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::participants::ParticipantsError;
    use crate::domain::language::Language;
    use crate::render::i18n::pages::page_texts;

    #[test]
    fn every_refusal_of_a_plan_is_said_in_chinese() {
        let (model, suite, name) = (ModelId::new("m"), "urs".to_owned(), "m".to_owned());
        let words = |language| &page_texts(language).admin.bench_runs.plan.refusals;
        for error in [
            RunError::UnknownModel { model: model.clone(), known: vec![ModelId::new("n")] },
            RunError::NoPrices { model: model.clone() },
            RunError::NoBatches { model },
            RunError::NamedTwice { role: "judge", name: name.clone() },
            RunError::NamedTwice { role: "model", name },
            RunError::Participants { suite: suite.clone(), error: ParticipantsError::NoBaseline },
            RunError::NeedsNoBaseline { suite: suite.clone() },
            RunError::NeedsNoJudge { suite: suite.clone() },
            RunError::NothingToJudge { suite: suite.clone() },
            RunError::NoSuites,
            RunError::SuiteTaken { suite: suite.clone() },
            RunError::Bench(BenchError::NoData { suite }),
        ] {
            let [english, chinese] =
                [Language::English, Language::Chinese].map(|language| refused_plan(&error, words(language)));
            assert!(english.text.is_ascii() && !english.text.contains('{'), "{}", english.text);
            assert!(!chinese.is_quoted && !chinese.text.contains('{'), "{}", chinese.text);
            assert!(!chinese.text.is_ascii(), "{}", chinese.text);
        }
    }
}
