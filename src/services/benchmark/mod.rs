//! Benchmarks: imports items, asks models and judges, and reads scores.
//!
//! The rules are in [`crate::domain::benchmark`]; here they meet models and the database. [`answering`] and [`judging`] store
//! every reply at once and repeat no request that is stored, so a stopped or killed run can continue; what settles nothing is stored by [`attempts`]. [`budget`](crate::domain::judging::budget) limits requests
//! and cost, [`imports`] reads files that were made elsewhere, [`scores`] reads results and [`suite_results`] caches them.
//! [`batches`] sends requests together where a provider takes them for less. A run over a suite is a [`suite_run`], several as one are a [`planned_run`], and [`plans`] are such runs of the server itself.
//! [`construction`] and [`draft_review`](crate::formats::draft_review) turn open questions into multiple-choice items, from file to file.

pub mod answering;
pub mod attempts;
pub mod batches;
pub mod construction;
pub mod error;
pub mod imports;
pub mod judging;
pub mod loading;
pub mod locked_run;
pub mod model_clients;
pub mod planned_run;
pub mod plans;
pub mod question_digests;
pub mod reparse_replies;
pub mod run_comparison;
pub mod run_error;
pub mod run_manifests;
pub mod run_record;
pub mod run_roles;
pub mod scores;
pub mod suite_results;
pub mod suite_run;

use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{Suite, SuiteData};
use crate::infra::clock::Clock;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{BenchSet, Store};

/// What a run is made over.
#[derive(Clone, Copy)]
pub struct RunContext<'b> {
    /// The database.
    pub store: &'b Store,
    /// Clock of the stored rows.
    pub clock: &'b dyn Clock,
    /// Randomness, for ids.
    pub rng: &'b SharedRng,
    /// The suite with its options.
    pub suite: &'b dyn Suite,
    /// Its items.
    pub data: &'b SuiteData,
    /// Which round of answers, from 1.
    pub sample: u32,
}

impl RunContext<'_> {
    /// The round of answers that it is about.
    #[must_use]
    pub fn set(&self) -> BenchSet {
        BenchSet { suite: SuiteId::new(self.suite.name()), version: self.data.sha256.clone(), sample: self.sample }
    }
}

/// RunProgress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Results so far, including those of earlier runs.
    pub done: u64,
    /// Results due in total.
    pub total: u64,
}

/// Callback for the progress of a run.
pub type OnProgress<'p> = &'p (dyn Fn(RunProgress) + Sync);
