//! Compares the matrix with the correlations of each pair.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::stats::SeriesSide;

/// A column without samples.
fn fixed(values: &[Option<f64>]) -> DataColumn {
    DataColumn { values: values.to_vec(), samples: Vec::new() }
}

/// The values at the positions that both have.
fn common(x: &[Option<f64>], y: &[Option<f64>]) -> (Vec<f64>, Vec<f64>) {
    x.iter().zip(y).filter_map(|(x, y)| Some(((*x)?, (*y)?))).unzip()
}

/// The values in a replicate, by definition.
fn in_replicate(column: &DataColumn, replicate: usize) -> Vec<Option<f64>> {
    match column.samples.get(replicate) {
        None => column.values.clone(),
        Some(draw) => draw.iter().zip(&column.values).map(|(draw, value)| draw.filter(|_| value.is_some())).collect(),
    }
}

/// The cell of two columns, computed pair by pair and replicate by replicate.
fn expected(x: &DataColumn, y: &DataColumn, level: ConfidenceLevel) -> ColumnCorrelations {
    let (of_x, of_y) = common(&x.values, &y.values);
    let samples = match (x.samples.len(), y.samples.len()) {
        (0, samples) | (samples, 0) => samples,
        (one, other) => one.min(other),
    };
    let resampled = Coefficient::ALL.map(|coefficient| {
        let found = (0..samples).map(|replicate| {
            let (x, y) = common(&in_replicate(x, replicate), &in_replicate(y, replicate));
            coefficient.correlate(&x, &y).map(|found| found.r)
        });
        percentiles_with_spread(&found.collect::<Vec<_>>(), level)
    });
    ColumnCorrelations {
        n: of_x.len(),
        found: Coefficient::ALL.map(|coefficient| coefficient.correlate(&of_x, &of_y)),
        resampled: (samples > 0).then_some(resampled),
    }
}

fn cells(columns: &[DataColumn], level: ConfidenceLevel) -> Vec<ColumnCorrelations> {
    matrix(columns, level).cells
}

/// A value that is often missing or tied, and sometimes not a finite number.
fn value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        2 => Just(None),
        8 => (-3_i32..=3).prop_map(|whole| Some(f64::from(whole))),
        8 => (-1e6_f64..1e6).prop_map(Some),
        1 => Just(Some(f64::INFINITY)),
    ]
}

/// A column of n positions: values, constants or gaps, with up to seven samples.
fn column(n: usize) -> impl Strategy<Value = DataColumn> {
    let values = prop_oneof![
        4 => prop::collection::vec(value(), n),
        4 => prop::collection::vec((-9_i32..=9).prop_map(|whole| Some(f64::from(whole))), n),
        1 => Just(vec![Some(0.1); n]),
    ];
    (values.clone(), prop::collection::vec(values, 0..8)).prop_map(|(values, samples)| DataColumn { values, samples })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_cell_equals_the_correlation_of_its_two_columns(
        columns in prop_oneof![4 => 0_usize..12, 1 => 60_usize..70].prop_flat_map(|n| prop::collection::vec(column(n), 4))
    ) {
        let level = ConfidenceLevel::new(0.8).unwrap();
        let all = matrix(&columns, level);
        for (j, y) in columns.iter().enumerate() {
            for (i, x) in columns.iter().enumerate().take(j) {
                prop_assert_eq!(all.cell(i, j), expected(x, y, level), "columns {} and {}", i, j);
                prop_assert_eq!(all.cell(i, j), pair(x, y, level));
            }
        }
    }
}

/// Columns of 50 positions with samples around their values.
fn sampled_columns(seed: u64) -> Vec<DataColumn> {
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut around = |centre: f64| Some(centre + rng.random::<f64>());
    let columns = (0..6).map(|_| {
        let values: Vec<Option<f64>> = (0..50).map(|position| around(f64::from(position) / 10.0)).collect();
        let samples = (0..20).map(|_| values.iter().map(|value| around((*value)?)).collect()).collect();
        DataColumn { values, samples }
    });
    columns.collect()
}

#[test]
fn threads_do_not_change_a_cell() {
    let (columns, level) = (sampled_columns(5), ConfidenceLevel::default());
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(alone.install(|| cells(&columns, level)), three.install(|| cells(&columns, level)));
}

#[test]
fn the_reason_names_the_column_in_the_requested_order() {
    let [varies, constant] =
        [fixed(&[Some(1.0), Some(2.0), Some(4.0), None]), fixed(&[Some(3.0), Some(3.0), Some(3.0), Some(1.0)])];
    let all = matrix(&[varies.clone(), constant.clone()], ConfidenceLevel::default());
    for (cell, series) in [(all.cell(0, 1), SeriesSide::Second), (all.cell(1, 0), SeriesSide::First)] {
        assert_eq!((cell.n, cell.resampled), (3, None));
        assert_eq!(cell.found, [Err(Undefined::Constant(series)); 3]);
    }
    assert_eq!(pair(&constant, &varies, ConfidenceLevel::default()), all.cell(1, 0));
}

#[test]
fn a_fixed_column_keeps_its_values_in_every_replicate() {
    let steady = fixed(&[Some(1.0), Some(2.0), Some(3.0)]);
    let rising = vec![Some(5.0), Some(7.0), Some(9.0)];
    let falling = vec![Some(5.0), Some(4.0), Some(3.0)];
    let sampled =
        DataColumn { values: rising.clone(), samples: vec![rising.clone(), falling, vec![Some(1.0); 3], rising] };
    let cell = pair(&steady, &sampled, ConfidenceLevel::default());
    for found in cell.resampled.unwrap() {
        let found = found.unwrap();
        assert_eq!((found.interval.upper, found.undefined), (1.0, 1));
        assert!(found.interval.lower < -0.8, "{found:?}");
    }
}

#[test]
fn an_order_that_no_replicate_changes_has_no_interval() {
    // The values are far apart, so that their order is the same in every replicate while Pearson's r varies a little.
    let values = [1.0, 10.0, 100.0, 1000.0].map(Some);
    let samples = (0..20).map(|at| [1.0, 10.0, 100.0, 1000.0 + f64::from(at)].map(Some).to_vec()).collect();
    let sampled = DataColumn { values: values.to_vec(), samples };
    let cell = pair(&fixed(&[2.0, 4.0, 6.0, 8.0].map(Some)), &sampled, ConfidenceLevel::default());
    let [pearson, spearman, kendall] = cell.resampled.unwrap();
    let pearson = pearson.unwrap().interval;
    assert!(pearson.lower < pearson.upper, "{pearson:?}");
    assert_eq!((spearman, kendall), (Err(Undefined::NoSpread), Err(Undefined::NoSpread)));
}

#[test]
fn the_interval_of_a_pair_comes_from_its_replicates() {
    let seed = 17;
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || (0..9).map(|_| rng.random_bool(0.8).then(|| rng.random_range(0.0..9.0))).collect::<Vec<_>>();
    let values: Vec<Option<f64>> = (0..9).map(|place| Some(f64::from(place))).collect();
    let [x, y] = [(), ()].map(|()| DataColumn { values: values.clone(), samples: (0..40).map(|_| draw()).collect() });
    let level = ConfidenceLevel::default();
    let found = replicate_correlations(&x, &y);
    let cell = pair(&x, &y, level);
    for (place, resampled) in cell.resampled.unwrap().into_iter().enumerate() {
        let values: Vec<_> =
            found.iter().map(|three| three.map(|three| three[place]).ok_or(Undefined::Nothing)).collect();
        assert_eq!(percentiles_with_spread(&values, level), resampled);
    }
    assert_eq!(found.len(), 40);
    assert_eq!(replicate_correlations(&fixed(&values), &fixed(&values)), []);
}
