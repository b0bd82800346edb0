//! Cost of correlations and agreement. Run with `cargo bench --bench correlation`.
//!
//! `agreement` reads llmfao from the folder `LANGYA_SHARED` or `../shared`, and measures nothing without it.

use std::path::{Path, PathBuf};

use divan::Bencher;
use langya::domain::agreement::compare;
use langya::domain::stats::confidence::ConfidenceLevel;
use langya::domain::stats::convex_mixture::{Search, leave_one_out};
use langya::domain::stats::correlation_matrix::{DataColumn, matrix};
use langya::domain::stats::resample::BootstrapOptions;
use langya::formats::agreement_files::read_votes;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    divan::main();
}

const SERIES: usize = 40;
const MODELS: u32 = 50;
const SAMPLES: usize = 1_000;

/// Simulates correlated series with samples around each value. One in `apart` series lacks some models; none for 0.
fn simulated(apart: usize) -> Vec<DataColumn> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let columns = (0..SERIES).map(|series| {
        let lacks =
            |model: u32| apart > 0 && series.is_multiple_of(apart) && (model as usize * 7 + series).is_multiple_of(10);
        let mut around = |centre: f64, error: f64| centre + error * (rng.random::<f64>() - 0.5);
        let value = |model: u32, around: &mut dyn FnMut(f64, f64) -> f64| around(f64::from(model), 40.0);
        let values: Vec<Option<f64>> =
            (0..MODELS).map(|model| (!lacks(model)).then(|| value(model, &mut around))).collect();
        let samples = (0..SAMPLES).map(|_| values.iter().map(|value| Some(around((*value)?, 8.0))).collect()).collect();
        DataColumn { values, samples }
    });
    columns.collect()
}

/// Correlates all pairs of 40 series of 50 models with 1,000 samples: all series complete, every fifth or every one incomplete.
#[divan::bench(args = [0, 5, 1], sample_count = 10)]
fn every_pair(bencher: Bencher, apart: usize) {
    let columns = simulated(apart);
    bencher.bench(|| matrix(&columns, ConfidenceLevel::default()));
}

/// Fits the best mixture of three series on a grid of a thousand steps, leaving out each of 12 models.
#[divan::bench(sample_count = 10)]
fn leave_one_out_of_a_mixture(bencher: Bencher) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut random = || (0..12).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
    let (series, target) = ([random(), random(), random()], random());
    let series = series.each_ref().map(Vec::as_slice);
    bencher.bench(|| leave_one_out(&series, &target, Search::Grid { steps: 1_000 }).expect("the series vary"));
}

/// Computes agreement of people with each other and with GPT-4, from 8,931 votes and 2,139 verdicts.
#[divan::bench]
fn agreement(bencher: Bencher) {
    let [votes, verdicts] = ["llmfao.csv", "llmfao_gpt4.csv"].map(file);
    if !votes.is_file() {
        return eprintln!("skipped: there is no {}", votes.display());
    }
    let read = |file: &Path| read_votes(file).expect("the file has votes");
    bencher.bench(|| compare(&read(&votes), &read(&verdicts), None, BootstrapOptions::default()));
}

fn file(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from).join("data").join(name)
}
