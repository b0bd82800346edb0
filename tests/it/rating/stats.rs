//! Statistics: scipy, published tables and invariances.

use std::path::Path;

use langya::domain::stats::agreement::choices::Choice::{self, First, Second, Tie};
use langya::domain::stats::agreement::choices::{Agreement, PairVote, VotesByQuestion, between, decided, within};
use langya::domain::stats::agreement::kappa::{cohen, fleiss, randolph};
use langya::domain::stats::agreement::scores::{
    AnswerScores, JudgeTies, ScoredQuestion, pairwise, sample_level, system_level,
};
use langya::domain::stats::agreement::wins::{WinCounts, rating_bias};
use langya::domain::stats::confidence::ConfidenceLevel;
use langya::domain::stats::convex_mixture::{
    FittedMixture, MixtureError, Search, best, leave_one_out, mix, permutation_test,
};
use langya::domain::stats::correlation::{
    Coefficient, Correlation, PMethod, exact_p, kendall, pearson, spearman, spearman_by_t,
};
use langya::domain::stats::distribution::Summary;
use langya::domain::stats::resample::BootstrapOptions;
use langya::domain::stats::{SeriesSide, Share, Undefined, ranks};
use proptest::prelude::*;
use serde::Deserialize;

use crate::support::ratings::shared;

#[track_caller]
fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got} instead of {want}");
}

// ------------------------------------------------------------------------------------------------------ scipy

const RANKED: [Coefficient; 2] = [Coefficient::Spearman, Coefficient::Kendall];

#[derive(Deserialize)]
struct Golden {
    x: Vec<f64>,
    y: Vec<f64>,
    pearson: Option<[f64; 2]>,
    spearman: Option<[f64; 2]>,
    kendall: Option<[f64; 2]>,
    pearson_95: Option<[f64; 2]>,
    spearman_exact_p: Option<f64>,
    tied_p: Option<[f64; 2]>,
}

fn goldens() -> Vec<Golden> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stats/correlations.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[track_caller]
fn agree(found: Result<Correlation, Undefined>, golden: Option<[f64; 2]>) {
    match (found, golden) {
        (Ok(found), Some([r, p])) => {
            close(found.r, r, 1e-9);
            close(found.p, p, 1e-9);
        }
        (Err(_), None) => {}
        (found, golden) => panic!("{found:?} instead of {golden:?}"),
    }
}

#[test]
fn two_hundred_correlations_agree_with_scipy() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 200);
    let (mut exact, mut tied, mut undefined) = (0, 0, 0);
    for Golden { x, y, pearson: r, spearman: rho, kendall: tau, pearson_95, spearman_exact_p, tied_p } in goldens {
        agree(pearson(&x, &y), r);
        agree(spearman_by_t(&x, &y), rho);
        agree(kendall(&x, &y), tau);
        undefined += usize::from(r.is_none());
        if let Some([lower, upper]) = pearson_95 {
            let interval = pearson(&x, &y).unwrap().interval(ConfidenceLevel::default()).unwrap();
            close(interval.lower, lower, 1e-9);
            close(interval.upper, upper, 1e-9);
        }
        if let Some(p) = spearman_exact_p {
            let found = spearman(&x, &y).unwrap();
            assert_eq!(found.p_method, PMethod::Exact);
            close(found.p, p, 1e-12);
            exact += 1;
        }
        if let Some(expected) = tied_p {
            let found = RANKED.map(|coefficient| exact_p(coefficient, &x, &y).unwrap());
            found.into_iter().zip(expected).for_each(|(found, expected)| close(found, expected, 1e-12));
            tied += 1;
        }
    }
    assert!(exact > 20 && undefined > 20, "{exact} exact, {undefined} undefined");
    assert_eq!(tied, 27);
}

#[test]
fn an_undefined_correlation_has_a_reason() {
    for coefficient in Coefficient::ALL {
        let of = |x: &[f64], y: &[f64]| coefficient.correlate(x, y).map(|found| found.r);
        assert_eq!(of(&[1.0, 2.0], &[1.0, 2.0]), Err(Undefined::TooFew { found: 2, needed: 3 }));
        assert_eq!(of(&[0.1; 4], &[1.0, 2.0, 3.0, 4.0]), Err(Undefined::Constant(SeriesSide::First)));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[7.0; 3]), Err(Undefined::Constant(SeriesSide::Second)));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0, f64::NAN, 3.0]), Err(Undefined::NotFinite(SeriesSide::Second)));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0, 2.0]), Err(Undefined::Lengths { x: 3, y: 2 }));
        assert_eq!(of(&[f64::MAX, f64::MIN, 0.0], &[5e-324, 0.0, 5e-324]).map(f64::is_nan), Ok(false));
    }
    let level = ConfidenceLevel::default();
    let line = pearson(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0]).unwrap();
    assert_eq!((line.p, line.interval(level)), (0.0, Err(Undefined::Perfect)));
    let three = pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 5.0]).unwrap();
    assert_eq!(three.interval(level), Err(Undefined::TooFew { found: 3, needed: 4 }));
    let reason = Undefined::Constant(SeriesSide::First).to_string();
    assert_eq!(reason, "all values of the first series are equal");
}

#[test]
fn the_method_of_p_is_reported() {
    let up: Vec<f64> = (0..40).map(f64::from).collect();
    let bent: Vec<f64> = up.iter().map(|x| (x - 3.3).abs()).collect();
    let method = |n: usize, find: fn(&[f64], &[f64]) -> Result<Correlation, Undefined>| {
        find(&up[..n], &bent[..n]).unwrap().p_method
    };
    assert_eq!([9, 10].map(|n| method(n, spearman)), [PMethod::Exact, PMethod::T]);
    assert_eq!([33, 34].map(|n| method(n, kendall)), [PMethod::Exact, PMethod::Normal]);
    let tied = spearman(&[1.0, 2.0, 2.0, 3.0], &[4.0, 1.0, 3.0, 2.0]).unwrap();
    assert_eq!(tied.p_method, PMethod::T);
    let with_tie = |n: usize| {
        let tied = [&[0.0, 0.0][..], &up[2..n]].concat();
        RANKED.map(|coefficient| exact_p(coefficient, &tied, &bent[..n]).is_some())
    };
    assert_eq!([8, 9].map(with_tie), [[true; 2], [false; 2]]);
    assert_eq!(exact_p(Coefficient::Spearman, &up[..8], &bent[..8]), None, "p is exact");
}

/// The orders at least as strong, of all, as `scipy.stats.permutation_test` (1.17) counts them.
#[test]
fn few_values_with_ties_have_the_p_of_all_their_orders() {
    let (x, y) = ([1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 7.0], [2.0, 1.0, 3.0, 3.0, 4.0, 6.0, 5.0]);
    let check = |x: &[f64], y: &[f64], expected: [f64; 2]| {
        let found = RANKED.map(|coefficient| exact_p(coefficient, x, y).unwrap());
        found.into_iter().zip(expected).for_each(|(found, expected)| close(found, expected, 1e-12));
    };
    check(&CLOSE, &OPEN_SINGLE, [7_992.0 / 40_320.0, 8_876.0 / 40_320.0]);
    check(&x, &y, [104.0 / 5_040.0, 184.0 / 5_040.0]);
    // Student's t gives a p of 0 here.
    check(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 3.0], [4.0 / 24.0; 2]);
}

// ----------------------------------------------------------------------------------------------------- papers

/// SuperCLUE, Table 2: CLOSE and OPEN SINGLE of the eight Chinese models.
const CLOSE: [f64; 8] = [60.67, 56.67, 55.67, 57.24, 57.67, 56.38, 56.67, 41.00];
const OPEN_SINGLE: [f64; 8] = [65.32, 57.09, 59.52, 51.19, 42.33, 28.91, 29.05, 27.00];
/// SuperCLUE, Table 2: MiniMax, ChatGLM-130B, ChatGLM2-6B, Ziya-13B and MOSS.
const FIVE_CLOSE: [f64; 5] = [60.67, 57.24, 57.67, 56.67, 41.00];
const FIVE_SINGLE: [f64; 5] = [65.32, 51.19, 42.33, 29.05, 27.00];
const FIVE_MULTI: [f64; 5] = [47.34, 30.14, 30.67, 14.12, 15.20];
const FIVE_ARENA: [f64; 5] = [86.69, 82.76, 85.63, 72.48, 69.01];
/// AlignBench, Tables 6 and 7: the overall scores of 17 models by GPT-4 and by CritiqueLLM.
const BY_GPT_4: [f64; 17] =
    [8.01, 7.53, 6.24, 6.14, 5.83, 6.08, 5.74, 5.72, 5.25, 4.97, 4.97, 4.96, 4.91, 4.48, 3.57, 3.65, 3.35];
/// The latter in hundredths.
const BY_CRITIQUE: [u16; 17] = [758, 683, 636, 591, 573, 568, 551, 541, 526, 505, 501, 497, 474, 457, 344, 324, 314];

#[test]
fn superclue_open_and_close_correlate_as_recomputed() {
    let rho = spearman(&CLOSE, &OPEN_SINGLE).unwrap();
    close(rho.r, 0.514_979, 1e-6);
    close(rho.p, 0.191_549, 1e-6);
    assert_eq!(rho.p_method, PMethod::T);
    let r = pearson(&CLOSE, &OPEN_SINGLE).unwrap();
    close(r.r, 0.554_696, 1e-6);
    close(r.p, 0.153_593, 1e-6);
    close(kendall(&CLOSE, &OPEN_SINGLE).unwrap().r, 0.4001, 1e-4);
    let coefficient_of_variation = |values: &[f64]| Summary::new(values).unwrap().coefficient_of_variation().unwrap();
    close(coefficient_of_variation(&CLOSE), 0.107_683_077_391_594_6, 1e-14);
    close(coefficient_of_variation(&OPEN_SINGLE), 0.3411, 1e-4);
}

#[test]
fn superclue_predicts_its_arena_as_in_table_4() {
    for (series, r, p) in [(FIVE_CLOSE, 0.7950, 0.1079), (FIVE_SINGLE, 0.8747, 0.0522), (FIVE_MULTI, 0.8985, 0.0382)] {
        let found = pearson(&series, &FIVE_ARENA).unwrap();
        close(found.r, r, 1e-4);
        close(found.p, p, 1e-4);
    }
}

#[test]
fn mixtures_of_superclue_have_the_weights_of_table_4() {
    let grid = |series: &[&[f64]]| best(series, &FIVE_ARENA, Search::Grid { steps: 1000 }).unwrap();
    let check = |found: FittedMixture, weights: &[f64], r: f64| {
        found.weights.iter().zip(weights).for_each(|(got, want)| close(*got, *want, 1e-12));
        close(found.pearson.r, r, 1e-6);
        found
    };
    let first = check(grid(&[&FIVE_CLOSE, &FIVE_SINGLE]), &[0.544, 0.456], 0.913_214);
    close(first.pearson.p, 0.0303, 1e-4);
    let second = check(grid(&[&FIVE_CLOSE, &FIVE_MULTI]), &[0.490, 0.510], 0.939_677);
    close(second.pearson.p, 0.0176, 1e-4);
    check(grid(&[&FIVE_SINGLE, &FIVE_MULTI]), &[0.0, 1.0], 0.898_481);
    check(grid(&[&FIVE_CLOSE, &FIVE_SINGLE, &FIVE_MULTI]), &[0.49, 0.0, 0.51], 0.939_677);
}

#[test]
fn the_exact_mixture_beats_the_grid_in_sample_and_not_out_of_sample() {
    let series: [&[f64]; 3] = [&FIVE_CLOSE, &FIVE_SINGLE, &FIVE_MULTI];
    let grid = best(&series, &FIVE_ARENA, Search::Grid { steps: 1000 }).unwrap();
    let exact = best(&series, &FIVE_ARENA, Search::Exact).unwrap();
    assert!(exact.pearson.r > grid.pearson.r);
    for (one, other) in exact.weights.iter().zip(&grid.weights) {
        close(*one, *other, 1e-3);
    }
    let left = leave_one_out(&series, &FIVE_ARENA, Search::Exact).unwrap();
    let rest = |values: &[f64]| values[1..].to_vec();
    let first = best(&[&rest(&FIVE_CLOSE), &rest(&FIVE_SINGLE), &rest(&FIVE_MULTI)], &rest(&FIVE_ARENA), Search::Exact);
    assert_eq!(left.weights[0], first.unwrap().weights);
    close(left.predicted[0], mix(&[&[60.67], &[65.32], &[47.34]], &left.weights[0])[0], 1e-12);
    assert!(pearson(&left.predicted, &FIVE_ARENA).unwrap().r < exact.pearson.r);
}

/// Six series and a target of ten models, all of random whole numbers.
const RANDOM: [[f64; 10]; 6] = [
    [83.0, 45.0, 99.0, 20.0, 74.0, 21.0, 38.0, 57.0, 97.0, 56.0],
    [26.0, 9.0, 18.0, 65.0, 43.0, 63.0, 39.0, 51.0, 31.0, 69.0],
    [10.0, 33.0, 88.0, 30.0, 67.0, 93.0, 3.0, 69.0, 90.0, 70.0],
    [29.0, 60.0, 5.0, 56.0, 66.0, 96.0, 18.0, 89.0, 92.0, 10.0],
    [41.0, 81.0, 55.0, 26.0, 94.0, 86.0, 33.0, 87.0, 22.0, 47.0],
    [81.0, 72.0, 27.0, 15.0, 42.0, 68.0, 34.0, 77.0, 47.0, 10.0],
];
const RANDOM_TARGET: [f64; 10] = [95.0, 20.0, 44.0, 88.0, 52.0, 67.0, 49.0, 84.0, 59.0, 64.0];

/// The expected values are by non-negative least squares in SciPy: of 40,000 random permutations, and of all 120 of five models.
#[test]
fn a_permutation_test_knows_that_the_weights_were_fitted() {
    let options = BootstrapOptions { replicates: 999, seed: 0 };
    let series = RANDOM.each_ref().map(|values| values.as_slice());
    let found = best(&series, &RANDOM_TARGET, Search::Exact).unwrap().pearson;
    close(found.r, 0.723_382, 1e-6);
    // Student's t takes the weights as given, and finds random numbers significant.
    close(found.p, 0.018_054, 1e-6);
    let tested = permutation_test(&series, &RANDOM_TARGET, options).unwrap();
    assert_eq!(tested.permutations, 999);
    close(tested.p, 0.173, 0.045);
    assert_eq!(permutation_test(&series, &RANDOM_TARGET, options), Ok(tested));
    close(permutation_test(&[&FIVE_CLOSE, &FIVE_SINGLE], &FIVE_ARENA, options).unwrap().p, 3.0 / 120.0, 0.018);
    let three: [&[f64]; 3] = [&FIVE_CLOSE, &FIVE_SINGLE, &FIVE_MULTI];
    close(permutation_test(&three, &FIVE_ARENA, options).unwrap().p, 2.0 / 120.0, 0.015);
    assert!(permutation_test(&[], &FIVE_ARENA, options).is_err());
}

#[test]
fn impossible_mixtures_are_named() {
    let target = [1.0, 2.0, 4.0];
    let constant = best(&[&[1.0, 3.0, 2.0], &[5.0; 3]], &target, Search::Exact).unwrap_err();
    assert_eq!(constant, MixtureError::Series { number: 2, why: Undefined::Constant(SeriesSide::First) });
    assert_eq!(best(&[], &target, Search::Exact), Err(MixtureError::Count(0)));
    let five: [&[f64]; 5] = [&[1.0, 3.0, 2.0]; 5];
    let fine = Search::Grid { steps: 1000 };
    assert_eq!(best(&five, &target, fine), Err(MixtureError::Grid { steps: 1000, series: 5 }));
    assert_eq!(best(&five, &target, Search::Exact).unwrap().weights, [1.0, 0.0, 0.0, 0.0, 0.0]);
    let against: [&[f64]; 2] = [&[4.0, 2.0, 1.0], &[9.0, 1.0, 3.0]];
    let found = best(&against, &target, Search::Exact).unwrap();
    assert_eq!(found.weights, [0.0, 1.0]);
    assert!(found.pearson.r < 0.0);
}

#[test]
fn two_judges_of_alignbench_rank_17_models_similarly() {
    let by_critique = BY_CRITIQUE.map(|hundredths| f64::from(hundredths) / 100.0);
    close(pearson(&BY_GPT_4, &by_critique).unwrap().r, 0.9851, 1e-4);
    close(spearman(&BY_GPT_4, &by_critique).unwrap().r, 0.9945, 1e-4);
    close(kendall(&BY_GPT_4, &by_critique).unwrap().r, 0.9668, 1e-4);
}

#[test]
fn win_rates_agree_with_alignbench_table_5() {
    for (wins, ties, losses, rate, delta) in
        [(217, 94, 155, 58.33, 12.40), (241, 102, 139, 63.42, 20.40), (186, 167, 147, 55.86, 7.80)]
    {
        let counts = WinCounts { wins, ties, losses, both_bad: 0 };
        close(100.0 * counts.win_rate_without_ties().unwrap(), rate, 0.005);
        close(100.0 * counts.delta_of_planned(500).unwrap(), delta, 1e-9);
    }
    close(WinCounts { wins: 217, ties: 94, losses: 155, both_bad: 0 }.delta().unwrap(), 62.0 / 466.0, 1e-12);
    close(100.0 * WinCounts { wins: 82, ties: 210, losses: 212, both_bad: 0 }.win_tie_rate().unwrap(), 57.94, 0.005);
    assert_eq!(WinCounts { ties: 3, ..WinCounts::default() }.win_rate_without_ties(), Err(Undefined::Nothing));
    assert_eq!(WinCounts::default().delta(), Err(Undefined::Nothing));
    close(rating_bias(&[8.15, 8.6, 7.9], 8.0).unwrap(), 0.216_666_666_666_666_8, 1e-12);
    assert_eq!(rating_bias(&[], 8.0), Err(Undefined::TooFew { found: 0, needed: 1 }));
}

// -------------------------------------------------------------------------------------------------- agreement

#[test]
fn the_textbook_series_with_ties_agrees_with_scipy() {
    let (x, y) = ([1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 7.0], [2.0, 1.0, 3.0, 3.0, 4.0, 6.0, 5.0]);
    agree(pearson(&x, &y), Some([0.825_274_188_295_206_5, 0.022_255_401_425_576_56]));
    agree(spearman(&x, &y), Some([0.853_246_917_972_929_6, 0.014_618_256_267_642_514]));
    agree(kendall(&x, &y), Some([0.718_184_846_459_607_8, 0.029_623_063_116_950_7]));
}

fn scored() -> Vec<ScoredQuestion> {
    let human = [[5, 3, 1, 4], [2, 2, 4, 3], [3, 3, 3, 3], [1, 5, 2, 2]];
    let judge = [[8, 6, 2, 8], [4, 5, 7, 7], [6, 7, 5, 6], [2, 9, 4, 3]];
    let pair = |(&human, &judge): (&u8, &u8)| Some(AnswerScores { human: f64::from(human), judge: f64::from(judge) });
    human.iter().zip(&judge).map(|(human, judge)| human.iter().zip(judge).map(pair).collect()).collect()
}

#[test]
fn agreement_of_scores_matches_a_worked_example() {
    let sample = sample_level(&scored());
    close(sample.questions[0].unwrap(), 0.966_091_783_079_295_9, 1e-12);
    close(sample.questions[1].unwrap(), 0.870_388_279_778_489_3, 1e-12);
    assert_eq!(sample.questions[2], Err(Undefined::Constant(SeriesSide::First)));
    close(sample.questions[3].unwrap(), 0.990_375_136_944_276_6, 1e-12);
    assert_eq!(sample.defined, 3);
    close(sample.mean.unwrap(), 0.942_285_066_600_687_3, 1e-12);
    close(system_level(&scored(), Coefficient::Pearson).unwrap().r, 0.992_794_553_591_540_3, 1e-12);
    assert_eq!(pairwise(&scored(), JudgeTies::Disagree), Share { of: 14, total: 16 });
    assert_eq!(pairwise(&scored(), JudgeTies::Drop), Share { of: 14, total: 14 });
}

#[test]
fn an_answer_without_a_score_is_left_out() {
    let mut holes = scored();
    holes[0][0] = None;
    holes[0][1] = None;
    let sample = sample_level(&holes);
    assert_eq!(sample.questions[0], Err(Undefined::TooFew { found: 2, needed: 3 }));
    assert_eq!(sample.defined, 2);
    assert_eq!(pairwise(&holes, JudgeTies::Disagree).total, 11);
    let mut none = scored();
    none.iter_mut().for_each(|question| question[3] = None);
    let three: Vec<ScoredQuestion> = scored().iter().map(|question| question[..3].to_vec()).collect();
    assert_eq!(system_level(&none, Coefficient::Kendall), system_level(&three, Coefficient::Kendall));
    assert!(sample_level(&[]).mean.is_err() && pairwise(&[], JudgeTies::Drop).rate().is_err());
}

#[track_caller]
fn pooled(found: Agreement, of: u64, total: u64) {
    assert_eq!(found.pooled, Share { of, total });
}

#[test]
fn agreement_matches_fastchat() {
    let judge: [Vec<Choice>; 4] = [vec![First], vec![Tie], vec![Second], vec![First]];
    let humans: [Vec<Choice>; 4] =
        [vec![First, First, Tie, Second], vec![Tie, First], vec![Second, Second, Second], vec![Tie]];
    let no_ties = |votes: &[Vec<Choice>; 4]| votes.clone().map(|votes| decided(&votes));
    let all = between(judge.iter().zip(&humans));
    pooled(all, 6, 10);
    assert_eq!((all.mean, all.questions), (Ok(0.5), 4));
    pooled(between(no_ties(&judge).iter().zip(&no_ties(&humans))), 5, 6);
    pooled(within(&humans), 4, 10);
    pooled(within(no_ties(&humans)), 4, 6);
    assert_eq!(within::<Choice>([[Tie]]).mean, Err(Undefined::TooFew { found: 0, needed: 1 }));
}

#[test]
fn kappa_matches_the_example_of_fleiss() {
    let counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    .map(Vec::from);
    close(fleiss(&counts).unwrap().kappa, 0.209_930_704_421_955_22, 1e-12);
    close(randolph(&counts, 5).unwrap().kappa, 0.222_527_472_527_472_5, 1e-12);
    assert_eq!(fleiss(&[vec![0, 3], vec![0, 3]]), Err(Undefined::NoVariation));
}

/// The votes of an llmfao file; a file without voters is one judge's.
fn llmfao(file: &Path) -> Vec<(String, String, [String; 2], Choice)> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let choice = |winner: &str| match winner {
        "left" => First,
        "right" => Second,
        other => {
            assert_eq!(other, "tie");
            Tie
        }
    };
    let rows = reader.records().map(|row| row.unwrap());
    rows.map(|row| {
        let cell = |name: &str| place(name).map_or("judge", |place| &row[place]).to_owned();
        (cell("prompt"), cell("worker"), [cell("left"), cell("right")], choice(&cell("winner")))
    })
    .collect()
}

fn pair_votes(votes: &[(String, String, [String; 2], Choice)]) -> VotesByQuestion<'_> {
    VotesByQuestion::gather(votes.iter().map(|(question, voter, models, choice)| PairVote {
        question,
        voter,
        models: models.each_ref().map(String::as_str),
        choice: *choice,
    }))
}

#[test]
fn people_and_gpt_4_agree_on_llmfao_as_recomputed() {
    let Some(shared) = shared() else { return };
    let (votes, verdicts) = (llmfao(&shared.join("data/llmfao.csv")), llmfao(&shared.join("data/llmfao_gpt4.csv")));
    let (people, gpt_4) = (pair_votes(&votes), pair_votes(&verdicts));
    assert_eq!((people.len(), gpt_4.len()), (2139, 2139));
    let questions: Vec<Vec<Choice>> = people.questions().collect();
    pooled(within(&questions), 8043, 15112);
    pooled(within(questions.iter().map(|votes| decided(votes))), 4737, 6755);
    let both: Vec<(Vec<Choice>, Vec<Choice>)> = people.paired_with(&gpt_4).collect();
    let all = between(both.iter().map(|(one, other)| (one, other)));
    pooled(all, 3705, 8931);
    close(all.pooled.rate().unwrap(), 0.414_847, 1e-6);
    pooled(between(both.iter().map(|(one, other)| (decided(one), decided(other)))), 3545, 5358);
}

// ------------------------------------------------------------------------------------------------- properties

/// Two series that both vary, of whole numbers, so that ties occur.
fn two_series() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let values = |n| prop::collection::vec((-8_i32..=8).prop_map(f64::from), n);
    let varies = |values: &[f64]| values.iter().any(|value| value.total_cmp(&values[0]).is_ne());
    (3_usize..30)
        .prop_flat_map(move |n| (values(n), values(n)))
        .prop_filter("both vary", move |(x, y)| varies(x) && varies(y))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pearson_does_not_depend_on_units((x, y) in two_series(), scale in 0.01_f64..100.0, shift in -1e3_f64..1e3) {
        let moved: Vec<f64> = x.iter().map(|x| scale * x + shift).collect();
        let mirrored: Vec<f64> = x.iter().map(|x| shift - scale * x).collect();
        let r = pearson(&x, &y).unwrap().r;
        prop_assert!((pearson(&moved, &y).unwrap().r - r).abs() < 1e-9);
        prop_assert!((pearson(&mirrored, &y).unwrap().r + r).abs() < 1e-9);
    }

    #[test]
    fn rank_correlations_depend_only_on_order((x, y) in two_series()) {
        let bent: Vec<f64> = x.iter().map(|x| x.powi(3) + x.exp()).collect();
        prop_assert_eq!(ranks(&bent), ranks(&x));
        for find in [spearman, kendall] {
            let (one, other) = (find(&x, &y).unwrap(), find(&bent, &y).unwrap());
            prop_assert_eq!(one, other);
            let swapped = find(&y, &x).unwrap();
            prop_assert!((swapped.r - one.r).abs() < 1e-12 && (swapped.p - one.p).abs() < 1e-9);
        }
    }

    #[test]
    fn correlations_p_values_and_intervals_are_in_range((x, y) in two_series()) {
        for coefficient in Coefficient::ALL {
            let found = coefficient.correlate(&x, &y).unwrap();
            prop_assert!((-1.0..=1.0).contains(&found.r) && (0.0..=1.0).contains(&found.p), "{:?}", found);
            if let Ok(interval) = found.interval(ConfidenceLevel::default()) {
                prop_assert!(-1.0 <= interval.lower && interval.lower < found.r, "{:?} {:?}", found, interval);
                prop_assert!(found.r < interval.upper && interval.upper <= 1.0, "{:?} {:?}", found, interval);
            }
        }
    }

    #[test]
    fn the_exact_mixture_is_at_least_as_good_as_any_on_the_grid((x, y) in two_series(), z in 0_u64..1000) {
        let third: Vec<f64> = (0..x.len()).map(|i| f64::from(u32::try_from((i as u64 * 7919 + z) % 101).unwrap())).collect();
        let series: [&[f64]; 2] = [&x, &third];
        let (Ok(exact), Ok(grid)) = (best(&series, &y, Search::Exact), best(&series, &y, Search::Grid { steps: 50 }))
        else { return Ok(()) };
        prop_assert!(exact.pearson.r >= grid.pearson.r - 1e-9, "{:?} {:?}", exact, grid);
        prop_assert!((exact.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn names_of_labels_and_order_of_raters_do_not_matter(rows in prop::collection::vec((0_u8..4, 0_u8..4), 2..40)) {
        let renamed = |label: &u8| [30_u8, 7, 99, 1][usize::from(*label)];
        let (one, other): (Vec<u8>, Vec<u8>) = rows.iter().copied().unzip();
        let kappa = |x: &[u8], y: &[u8]| cohen(x, y).map(|found| found.kappa);
        let plain = kappa(&one, &other);
        let named = kappa(&one.iter().map(renamed).collect::<Vec<_>>(), &other.iter().map(renamed).collect::<Vec<_>>());
        for turned in [named, kappa(&other, &one)] {
            match (plain, turned) {
                (Ok(x), Ok(y)) => prop_assert!((x - y).abs() < 1e-12),
                (x, y) => prop_assert_eq!(x, y),
            }
        }
        let votes: Vec<[u8; 2]> = rows.iter().map(|&(x, y)| [x, y]).collect();
        let relabeled: Vec<[u8; 2]> = votes.iter().map(|votes| votes.each_ref().map(renamed)).collect();
        prop_assert_eq!(within(&votes), within(&relabeled));
    }
}
