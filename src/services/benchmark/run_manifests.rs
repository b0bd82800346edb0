//! Manifests of the runs over one round of answers.

use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_manifest::RunManifest;
use crate::infra::storage::{AnswerRound, Store, StoreError};

/// Number of latest runs of a suite that are read.
const MAX_READ_RUNS: u32 = 200;

/// Reads the manifests of the runs over a round of answers, the earliest first.
///
/// # Errors
/// [`StoreError`].
pub(super) async fn manifests_of(store: &Store, set: &AnswerRound) -> Result<Vec<RunManifest>, StoreError> {
    let mut runs = store.bench_runs_of(set.suite.as_str(), MAX_READ_RUNS).await?;
    runs.retain(|row| row.run.version == set.version && row.run.sample == set.sample);
    Ok(runs.into_iter().rev().map(|row| row.run.manifest).collect())
}

/// Finds models and judges whose settings differ between these runs.
///
/// # Errors
/// [`StoreError`].
pub async fn mixed_settings(store: &Store, set: &AnswerRound) -> Result<Vec<MixedSettings>, StoreError> {
    Ok(MixedSettings::among(&manifests_of(store, set).await?))
}
