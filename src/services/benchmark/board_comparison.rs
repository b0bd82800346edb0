//! Compares one model with the others in every suite of the board.

use std::sync::Arc;

use super::error::BenchError;
use super::suite_results::SuiteResultsCache;
use crate::domain::benchmark::run_selector::RunSelector;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::correlation::suite_board::{BoardComparison, SuiteBoard, SuiteComparison};

/// The models of the board beside one of them, on the same items: as the board has it, over the latest data, the first answers and
/// the suites' own ways of judging. `None` where the model is not on the board.
///
/// # Errors
/// [`BenchError`] where a suite cannot be read, or others compute too long.
pub async fn compare(
    results: &SuiteResultsCache,
    board: &SuiteBoard,
    with: &str,
) -> Result<Option<BoardComparison>, BenchError> {
    if !board.has(with) {
        return Ok(None);
    }
    let mut measured = Vec::with_capacity(board.suites.len());
    for suite in &board.suites {
        let results = results.measured(&SuiteId::new(&suite.suite), &RunSelector::default()).await?;
        measured.push((suite.suite.clone(), Arc::clone(&results)));
    }
    let with = with.to_owned();
    let compared = tokio::task::spawn_blocking(move || {
        let compared = measured.iter().filter_map(|(suite, results)| {
            Some(SuiteComparison { suite: suite.clone(), models: results.compare_with(&with)? })
        });
        let suites = compared.collect();
        BoardComparison { with, suites }
    });
    Ok(Some(compared.await?))
}
