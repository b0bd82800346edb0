//! Benchmarks: imports items, queries models and judges, and computes scores.
//!
//! [`crate::domain::benchmark`] has the rules; this module connects them to models and the database. [`answering`] and [`judging`] store
//! every reply at once and repeat no stored request, so a stopped or killed run can continue; [`attempts`] stores unusable replies.
//! [`budget`](crate::domain::judging::budget) limits requests and cost, [`imports`] reads files made elsewhere, [`scores`] reads results
//! and [`suite_results`](suite_results_cache) caches them. [`batches`] sends requests together where a provider charges less for it. A [`suite_run`] covers one
//! suite, a [`planned_run`] several, and [`plans`] are planned runs of the server itself. [`construction`] and
//! [`draft_review`](crate::formats::draft_review) turn open questions into multiple-choice items, from file to file.

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
pub mod prompt_digests;
pub mod reparse_replies;
pub mod run_comparison;
pub mod run_error;
pub mod run_manifests;
pub mod run_record;
pub mod run_roles;
pub mod scores;
pub mod suite_results_cache;
pub mod suite_run;

use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::benchmark::{Suite, SuiteData};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{AnswerRound, Store};
use crate::infra::time::clock::Clock;

/// Context of a run over a suite.
#[derive(Clone, Copy)]
pub struct RunContext<'b> {
    /// The database.
    pub store: &'b Store,
    /// Clock of the stored rows.
    pub clock: &'b dyn Clock,
    /// Random number generator, for ids.
    pub rng: &'b SharedRng,
    /// The suite with its options.
    pub suite: &'b dyn Suite,
    /// Its items.
    pub data: &'b SuiteData,
    /// Round of answers, from 1.
    pub sample: u32,
}

impl RunContext<'_> {
    /// Returns the suite, data file and round of answers.
    #[must_use]
    pub fn set(&self) -> AnswerRound {
        AnswerRound { suite: SuiteId::new(self.suite.name()), version: self.data.sha256.clone(), sample: self.sample }
    }
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Results so far, including those of earlier runs.
    pub done: u64,
    /// Results due in total.
    pub total: u64,
}

/// Callback for the progress of a run.
pub type OnProgress<'p> = &'p (dyn Fn(RunProgress) + Sync);
