//! Registry of built-in and custom suites.

use super::super::record::BenchSuiteRow;
use super::super::suite_options::{BUILT_IN_SUITES, SuiteError, SuiteOptions};
use crate::benchmark::Suite;
use crate::benchmark::judging_forms::logprob_weighted::LogprobWeighted;
use crate::benchmark::suites::alignbench::AlignBench;
use crate::benchmark::suites::custom::CustomSuite;
use crate::benchmark::suites::mtbench101::MtBench101;
use crate::benchmark::suites::superclue::close::SuperClueClose;
use crate::benchmark::suites::superclue::open::SuperClueOpen;
use crate::benchmark::suites::urs::Urs;

/// Data file format of each built-in suite, with an example item.
pub const DATA_FORMATS: [(&str, &str, &str); 5] = [
    (
        "superclue-open",
        "a line of JSON an item; one or two turns, and reference may be left out",
        r#"{"id": 1, "capability": "计算", "turns": ["7乘8等于几？", "再加4呢？"], "reference": ["56", "60"]}"#,
    ),
    (
        "superclue-close",
        "a line of JSON an item",
        r#"{"id": 1, "capability": "计算", "question": "7乘8等于几？", "options": {"A": "54", "B": "56", "C": "58", "D": "64"}, "answer": "B"}"#,
    ),
    (
        "urs",
        "CSV with a header; language is EN or CN",
        "question,reference_ans,user_intent,language\nHow many legs has a spider?,Eight.,Factual_QA,EN",
    ),
    (
        "alignbench",
        "a line of JSON an item",
        r#"{"question_id": 1, "category": "数学计算", "subcategory": "初等数学", "question": "7乘8等于几？", "reference": "56"}"#,
    ),
    (
        "mtbench101",
        "a line of JSON a dialogue; bot is the reply that stands in the context of later turns",
        r#"{"task": "CM", "id": 1, "history": [{"user": "My dog is called Biscuit.", "bot": "Nice!"}, {"user": "What is its name?", "bot": "Biscuit."}]}"#,
    ),
];

/// Creates a built-in suite with its options.
///
/// # Errors
/// [`SuiteError`] if the suite, ablation or switch is unknown, or the prompt lacks a field.
pub fn suite(name: &str, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    LogprobWeighted::build(options, |options| built_in(name, options))
}

fn built_in(name: &str, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    match name {
        "superclue-open" => Ok(Box::new(SuperClueOpen::new(options)?)),
        "superclue-close" => Ok(Box::new(SuperClueClose::new(options)?)),
        "urs" => Ok(Box::new(Urs::new(options)?)),
        "alignbench" => Ok(Box::new(AlignBench::new(options)?)),
        "mtbench101" => Ok(Box::new(MtBench101::new(options)?)),
        _ => Err(SuiteError::UnknownSuite { name: name.to_owned(), known: BUILT_IN_SUITES.join(", ") }),
    }
}

/// Creates a custom suite from the text of its suite file.
///
/// # Errors
/// [`SuiteError`] if the file is invalid: see [`CustomSuite::new`].
pub fn custom_suite(toml: &str, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    LogprobWeighted::build(options, |options| Ok(Box::new(CustomSuite::new(toml, options)?)))
}

/// Creates the suite of a data file, with options.
///
/// # Errors
/// Those of [`suite`] and [`custom_suite`].
pub fn suite_of(row: &BenchSuiteRow, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    match &row.declaration {
        None => suite(row.suite.as_str(), options),
        Some(declaration) => custom_suite(declaration, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_reads_the_item_that_is_shown_for_it() {
        assert_eq!(DATA_FORMATS.map(|(name, ..)| name), BUILT_IN_SUITES);
        for (name, _, example) in DATA_FORMATS {
            let items = suite(name, &SuiteOptions::default()).unwrap().read(example.as_bytes());
            assert_eq!(items.map(|items| items.len()), Ok(1), "{name}");
        }
    }
}
