//! The suites that are built in, by name, and those of the user's own.

use super::options::{NAMES, SuiteError, SuiteOptions};
use crate::benchmark::Suite;
use crate::benchmark::alignbench::AlignBench;
use crate::benchmark::custom::CustomSuite;
use crate::benchmark::mtbench101::MtBench101;
use crate::benchmark::superclue::close::SuperClueClose;
use crate::benchmark::superclue::open::SuperClueOpen;
use crate::benchmark::urs::Urs;

/// A built-in suite with its options.
///
/// # Errors
/// [`SuiteError`] where there is no such suite, ablation or switch, or the prompt lacks a field.
pub fn suite(name: &str, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    match name {
        "superclue-open" => Ok(Box::new(SuperClueOpen::new(options)?)),
        "superclue-close" => Ok(Box::new(SuperClueClose::new(options)?)),
        "urs" => Ok(Box::new(Urs::new(options)?)),
        "alignbench" => Ok(Box::new(AlignBench::new(options)?)),
        "mtbench101" => Ok(Box::new(MtBench101::new(options)?)),
        _ => Err(SuiteError::UnknownSuite { name: name.to_owned(), known: NAMES.join(", ") }),
    }
}

/// A suite of the user's own, from the text of its suite file.
///
/// # Errors
/// [`SuiteError`] where the file cannot be used: see [`CustomSuite::new`].
pub fn custom_suite(toml: &str, options: &SuiteOptions) -> Result<Box<dyn Suite>, SuiteError> {
    Ok(Box::new(CustomSuite::new(toml, options)?))
}
