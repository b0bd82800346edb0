//! Options of the fit: Davidson's ties, clustered and bootstrap intervals, weights, slices, matrices.

use std::collections::BTreeMap;
use std::path::Path;

use langya::domain::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::domain::rating::FitError;
use langya::domain::rating::comparison::ComparisonSet;
use langya::domain::rating::elo::EloTable;
use langya::domain::rating::fit::Direction;
use langya::domain::rating::leaderboard::{Leaderboard, RankedModel};
use langya::domain::rating::matrices::Matrices;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::ranking::{rank, rank_log};
use langya::domain::rating::scoring::{BothBadRule, Scoring, TieRule};
use langya::domain::rating::slice::{Slice, SliceError, Turns};
use langya::domain::rating::vote_log::{ColumnSet, Labels, VoteLog};
use langya::domain::rating::weighting::Reweight;
use langya::domain::stats::resample::BootstrapOptions;
use langya::formats::votes::{ReadOptions, read_log};
use proptest::prelude::*;

use crate::support::ratings::{
    agree, connected_votes, leaderboard_of, line, log_of, points, read_votes, recorded, shared,
};

/// The normal quantile of a 95 % interval.
const Z: f64 = 1.959_963_984_540_054;
/// Rating points of one unit of strength.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

fn by(interval: IntervalMethod) -> LeaderboardOptions {
    LeaderboardOptions { interval, ..LeaderboardOptions::default() }
}

fn davidson() -> LeaderboardOptions {
    let scoring = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    LeaderboardOptions { scoring, ..LeaderboardOptions::default() }
}

#[track_caller]
fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9 * expected.abs().max(1.0), "{got} instead of {expected}");
}

// ---------------------------------------------------------------------------------------------------- goldens

#[test]
fn weights_by_pair_count_agree_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    let log = read_votes(&shared.join("data/llmfao.csv"));
    let options = LeaderboardOptions { reweight: Reweight::PairCount, ..LeaderboardOptions::default() };
    let (leaderboard, golden) = (leaderboard_of(&log, &options), shared.join("golden/llmfao/bt_reweighted.csv"));
    agree(&leaderboard, &golden, "exact_rating", 1e-6, |model| model.rating_or_limit());
    agree(&leaderboard, &golden, "exact_lower", 1e-6, |model| model.lower.unwrap());
    agree(&leaderboard, &golden, "exact_upper", 1e-6, |model| model.upper.unwrap());
}

#[test]
fn matrices_agree_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    let matrices = |name: &str| {
        let log = read_votes(&shared.join(format!("data/{name}.csv")));
        leaderboard_of(&log, &LeaderboardOptions { matrices: true, ..LeaderboardOptions::default() }).matrices.unwrap()
    };
    let (llmfao, synthetic) = (matrices("llmfao"), matrices("synth_5000"));
    check_win_matrix(&llmfao, &shared.join("golden/llmfao/win_matrix.csv"));
    check_win_matrix(&synthetic, &shared.join("golden/synth_5000/win_matrix.csv"));
    check_predictions(&llmfao, &shared.join("golden/llmfao/predicted_win_matrix.csv"));
}

fn rows_of(matrices: &Matrices) -> BTreeMap<&str, usize> {
    matrices.models.iter().enumerate().map(|(row, model)| (model.as_str(), row)).collect()
}

#[track_caller]
fn check_win_matrix(matrices: &Matrices, golden: &Path) {
    let (rows, mut votes) = (rows_of(matrices), 0);
    for record in csv::Reader::from_path(golden).unwrap().deserialize() {
        let (_, _, one, other, wins, losses, ties, both_bad): (usize, usize, String, String, u32, u32, u32, u32) =
            record.unwrap();
        let (i, j) = (rows[one.as_str()], rows[other.as_str()]);
        assert_eq!([matrices.wins[i][j], matrices.wins[j][i]], [wins, losses], "{one} and {other}");
        assert_eq!([matrices.ties[i][j], matrices.ties[j][i]], [ties, ties], "{one} and {other}");
        assert_eq!([matrices.both_bad[i][j], matrices.both_bad[j][i]], [both_bad, both_bad], "{one} and {other}");
        assert_eq!(matrices.battles[i][j], wins + losses + ties + both_bad);
        votes += 2 * matrices.battles[i][j];
    }
    assert_eq!(matrices.battles.iter().flatten().sum::<u32>(), votes, "no pair beside those of the golden");
}

#[track_caller]
fn check_predictions(matrices: &Matrices, golden: &Path) {
    let rows = rows_of(matrices);
    let mut reader = csv::Reader::from_path(golden).unwrap();
    let header = reader.headers().unwrap().clone();
    for record in reader.records().map(Result::unwrap) {
        for (name, value) in header.iter().zip(&record).skip(1).filter(|(name, _)| *name != &record[0]) {
            let predicted = matrices.predicted[rows[&record[0]]][rows[name]].unwrap();
            assert!((predicted - value.parse::<f64>().unwrap()).abs() < 1e-9, "{} against {name}", &record[0]);
        }
    }
}

/// The factor comes from an independent computation.
#[test]
fn clustering_by_voter_widens_the_intervals_of_llmfao() {
    let Some(shared) = shared() else { return };
    let file = shared.join("data/llmfao.csv");
    let wanted = ColumnSet { voters: true, ..ColumnSet::default() };
    let log = read_log(&[file], wanted, &ReadOptions::default()).unwrap();
    let (plain, clustered) =
        (leaderboard_of(&log, &by(IntervalMethod::Sandwich)), leaderboard_of(&log, &by(IntervalMethod::Cluster)));
    let ratio =
        |model: &RankedModel| line(&clustered, &model.model).standard_error.unwrap() / model.standard_error.unwrap();
    let mut ratios: Vec<f64> = plain.models.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    assert!((ratios[29] - 1.12).abs() < 0.01, "the median: {}", ratios[29]);
    assert!((ratios[58] - 3.9).abs() < 0.1, "the most: {}", ratios[58]);
}

// --------------------------------------------------------------------------------------------------- Davidson

#[test]
fn two_models_with_ties_have_the_closed_form_of_davidson() {
    let (wins, losses, ties) = (6.0, 3.0, 2.0_f64);
    let leaderboard =
        leaderboard_of(&log_of(&[("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 2)]), &davidson());
    let (a, effect) = (line(&leaderboard, "a"), leaderboard.davidson.unwrap());
    near(a.rating_or_limit(), 1000.0 + points(wins / losses) / 2.0);
    near(effect.nu, ties / f64::sqrt(wins * losses));
    near(a.standard_error.unwrap(), 0.5 * POINTS * f64::sqrt(1.0 / wins + 1.0 / losses));
    let error = f64::sqrt(1.0 / ties + 0.25 * (1.0 / wins + 1.0 / losses));
    near(effect.upper.unwrap(), effect.nu * f64::exp(Z * error));
    near(effect.lower.unwrap(), effect.nu * f64::exp(-Z * error));
    // Half a tie each: the expected share is the observed one.
    near(a.average_win_rate.unwrap(), (wins + ties / 2.0) / (wins + losses + ties));
    near(
        leaderboard.log_likelihood,
        wins * f64::ln(wins / 11.0) + losses * f64::ln(losses / 11.0) + ties * f64::ln(ties / 11.0),
    );
}

#[test]
fn both_bad_is_a_tie_of_davidson_unless_it_is_dropped() {
    let votes = [("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 1), ("b", "a", BothBad, 1)];
    let nu = |both_bad| {
        let options = LeaderboardOptions { scoring: Scoring { ties: TieRule::Davidson, both_bad }, ..davidson() };
        leaderboard_of(&log_of(&votes), &options).davidson.unwrap().nu
    };
    near(nu(BothBadRule::Half), 2.0 / 18_f64.sqrt());
    near(nu(BothBadRule::Drop), 1.0 / 18_f64.sqrt());
}

#[test]
fn an_infinite_tie_parameter_is_noted() {
    for (votes, note) in [
        (&[("a", "b", Tie, 3), ("b", "c", BothBad, 2)][..], "no finite value"),
        // The more the two are apart, and the likelier a tie, the likelier both votes.
        (&[("a", "b", AWins, 1), ("a", "b", Tie, 1)], "no finite value"),
        (&[("a", "b", AWins, 3), ("b", "a", AWins, 1)], "no vote is a tie"),
    ] {
        let (leaderboard, half) = (
            leaderboard_of(&log_of(votes), &davidson()),
            leaderboard_of(&log_of(votes), &by(IntervalMethod::Sandwich)),
        );
        assert_eq!((&leaderboard.models, leaderboard.davidson), (&half.models, None));
        assert!(leaderboard.notes[0].to_string().contains(note), "{:?}", leaderboard.notes);
    }
}

#[test]
fn a_cycle_of_wins_keeps_the_tie_parameter_finite() {
    let circle = [("a", "b", AWins, 2), ("b", "c", AWins, 2), ("c", "a", AWins, 2), ("a", "b", Tie, 3)];
    let leaderboard = leaderboard_of(&log_of(&circle), &davidson());
    assert!(
        leaderboard.converged && leaderboard.davidson.is_some_and(|effect| effect.nu > 0.1 && effect.nu < 10.0),
        "{leaderboard:?}"
    );
}

#[test]
fn components_share_the_tie_parameter_and_keep_their_own_means() {
    let votes =
        [("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 2), ("x", "y", AWins, 4), ("y", "x", AWins, 4)];
    let leaderboard = leaderboard_of(&log_of(&votes), &davidson());
    assert_eq!(leaderboard.components, 2);
    near(line(&leaderboard, "a").rating_or_limit() + line(&leaderboard, "b").rating_or_limit(), 2000.0);
    near(line(&leaderboard, "x").rating_or_limit(), 1000.0);
    let alone = leaderboard_of(&log_of(&votes[..3]), &davidson()).davidson.unwrap().nu;
    assert!(leaderboard.davidson.unwrap().nu < 0.9 * alone, "eight votes without a tie make ties rarer");
}

#[test]
fn a_winner_of_every_vote_is_bounded_under_davidson() {
    let rest = [("b", "c", AWins, 6), ("b", "c", BWins, 3), ("c", "b", Tie, 2)];
    let lone = [("x", "y", AWins, 9)];
    let without = leaderboard_of(&log_of(&rest), &davidson());
    let leaderboard = leaderboard_of(&log_of(&[&rest[..], &lone, &[("a", "b", AWins, 5)]].concat()), &davidson());
    for model in &without.models {
        near(line(&leaderboard, &model.model).rating_or_limit(), model.rating_or_limit());
    }
    let (a, x) = (line(&leaderboard, "a"), line(&leaderboard, "x"));
    assert_eq!((a.unbounded, x.unbounded), (Some(Direction::Above), Some(Direction::Above)));
    assert!(a.rating_or_limit() > 900.0 && a.rating_or_limit() < 1300.0, "{a:?}");
    // Nine wins at the limit cost half of the chi-square quantile.
    let d = 2.0 * (x.rating_or_limit() - 1000.0) / POINTS;
    let loss = 9.0 * ((-d).exp() + leaderboard.davidson.unwrap().nu * (-0.5 * d).exp()).ln_1p();
    near(2.0 * loss, Z * Z);
}

// --------------------------------------------------------------------------------------------------- clusters

fn with_voters(mut log: VoteLog, voter: impl Fn(usize) -> Option<String>) -> VoteLog {
    let mut voters = Labels::default();
    for row in 0..log.len() {
        let position = voter(row).map_or(Labels::NONE, |name| voters.names.position(&name));
        voters.rows.push(position);
    }
    log.voters = Some(voters);
    log
}

#[test]
fn clustered_intervals_need_voters() {
    let log = log_of(&[("a", "b", Tie, 2)]);
    assert!(matches!(rank_log(&log, &by(IntervalMethod::Cluster)), Err(FitError::NoVoters)));
    let counts = ComparisonSet::from_log(&log);
    let refused = rank(&counts, &EloTable::default(), &by(IntervalMethod::Cluster)).unwrap_err();
    assert_eq!(refused.to_string(), "the votes name no voters: add a voter column or use sandwich intervals");
}

#[test]
fn a_single_voter_gives_no_interval() {
    let log = with_voters(log_of(&[("a", "b", AWins, 2), ("b", "a", AWins, 1)]), |_| Some("only".into()));
    let leaderboard = leaderboard_of(&log, &by(IntervalMethod::Cluster));
    assert!(
        leaderboard.models.iter().all(|model| model.lower.is_none() && model.standard_error.is_none()),
        "{leaderboard:?}"
    );
    assert!(leaderboard.notes.iter().any(|note| note.to_string().contains("voter")), "{:?}", leaderboard.notes);
}

// -------------------------------------------------------------------------------------------------- bootstrap

fn resampled(votes: &VoteLog, replicates: u32, seed: u64) -> Leaderboard {
    let bootstrap = BootstrapOptions { replicates, seed };
    leaderboard_of(votes, &LeaderboardOptions { bootstrap, ..by(IntervalMethod::Bootstrap) })
}

#[test]
fn the_bootstrap_depends_on_its_seed_but_not_on_threads() {
    let log = log_of(&[("a", "b", AWins, 60), ("b", "a", AWins, 30), ("b", "c", Tie, 20), ("a", "c", AWins, 9)]);
    let on = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| resampled(&log, 50, seed))
    };
    assert_eq!(on(1, 7), on(3, 7));
    assert_ne!(on(1, 7).models, on(1, 8).models);
    let report = on(1, 7).bootstrap.unwrap();
    assert_eq!((report.replicates, report.seed, report.not_finite, report.converged), (50, 7, 0, true));
}

#[test]
fn bootstrap_and_sandwich_intervals_of_many_votes_are_equally_wide() {
    let votes = [
        ("a", "b", AWins, 600),
        ("b", "a", AWins, 300),
        ("b", "c", Tie, 400),
        ("a", "c", AWins, 500),
        ("c", "a", AWins, 200),
    ];
    for options in [by(IntervalMethod::Sandwich), davidson()] {
        let sandwich = leaderboard_of(&log_of(&votes), &options);
        let bootstrap = BootstrapOptions { replicates: 2000, seed: 1 };
        let resampled = leaderboard_of(
            &log_of(&votes),
            &LeaderboardOptions { bootstrap, interval: IntervalMethod::Bootstrap, ..options },
        );
        for model in &sandwich.models {
            let other = line(&resampled, &model.model);
            let ratio = other.standard_error.unwrap() / model.standard_error.unwrap();
            assert!((ratio - 1.0).abs() < 0.06, "{}: {ratio}", model.model);
            for (end, expected) in [(other.lower, model.lower), (other.upper, model.upper)] {
                let off = (end.unwrap() - expected.unwrap()).abs() / model.standard_error.unwrap();
                assert!(off < 0.2, "{}: {off} standard errors off", model.model);
            }
        }
    }
}

#[test]
fn replicates_without_a_finite_rating_open_the_interval_and_are_counted() {
    let log = log_of(&[("a", "b", AWins, 40), ("b", "a", AWins, 30), ("c", "b", AWins, 1), ("b", "c", AWins, 5)]);
    let leaderboard = resampled(&log, 200, 3);
    let report = leaderboard.bootstrap.unwrap();
    // The one win of c, or all its losses, are missing in e⁻¹ + e⁻⁵ of the replicates, as nearly as 200 tell.
    assert!((50..=100).contains(&report.not_finite), "{report:?}");
    let (a, c) = (line(&leaderboard, "a"), line(&leaderboard, "c"));
    assert_eq!((c.lower, c.standard_error), (None, None));
    assert!(c.upper.is_some() && a.lower.is_some() && a.upper.is_some() && leaderboard.converged, "{leaderboard:?}");
    assert!(a.rank == 1 && c.rank == 1, "an interval without a lower end is not surely below another");
    assert!(
        leaderboard.notes.iter().any(|note| note.to_string().contains(&format!("in {} of 200", report.not_finite))),
        "{:?}",
        leaderboard.notes
    );
}

#[test]
fn an_invalid_bootstrap_is_refused() {
    let mut log = log_of(&[("a", "b", Tie, 2)]);
    let none =
        LeaderboardOptions { bootstrap: BootstrapOptions { replicates: 0, seed: 0 }, ..by(IntervalMethod::Bootstrap) };
    assert!(matches!(rank_log(&log, &none), Err(FitError::NoReplicates)));
    log.pair_probabilities = Some(vec![0.5; 2]);
    let weighted = LeaderboardOptions { reweight: Reweight::PairProbability, ..by(IntervalMethod::Bootstrap) };
    assert!(matches!(rank_log(&log, &weighted), Err(FitError::WeightedBootstrap)));
}

// ---------------------------------------------------------------------------------------------------- weights

#[test]
fn weights_need_valid_probabilities() {
    let options = LeaderboardOptions { reweight: Reweight::PairProbability, ..LeaderboardOptions::default() };
    let mut log = log_of(&[("a", "b", Tie, 2)]);
    assert!(matches!(rank_log(&log, &options), Err(FitError::NoPairProbabilities)));
    let way_out = "and 1e-12 to 1 are needed; imported votes and those of campaigns have none: reweight by pair-count, or leave \
                   such votes out, for example with --source arena";
    // The inverse of the smallest numbers is infinite.
    for probability in [0.0, f64::NAN, -0.5, 1.5, 1e-308, 5e-324] {
        log.pair_probabilities = Some(vec![0.5, probability]);
        let refused = rank_log(&log, &options).unwrap_err().to_string();
        assert_eq!(refused, format!("rated vote 2 has the pair probability {probability:?}, {way_out}"));
    }
}

// ----------------------------------------------------------------------------------------------------- slices

/// Eight votes, distinguished by columns that hold the bits of their number.
fn sliced() -> VoteLog {
    let mut log = log_of(&[("a", "b", AWins, 4), ("b", "c", Tie, 4)]);
    let mut languages = Labels::default();
    for row in 0..8 {
        languages.rows.push(if row == 7 { Labels::NONE } else { languages.names.position(["en", "zh"][row & 1]) });
    }
    log.languages = Some(languages);
    log.turns = Some((0..8).map(|row| 1 + (row >> 1 & 1)).collect());
    log.prompt_tokens = Some((0..8).map(|row| 498 + row).collect());
    log.seconds = Some((0..8).map(f64::from).collect());
    log
}

#[track_caller]
fn check_slice(slice: &Slice, expected: &[f64]) {
    let taken = slice.take(sliced()).unwrap();
    assert_eq!(taken.seconds.as_deref().unwrap(), expected);
    assert_eq!((taken.a.len(), taken.b.len(), taken.outcomes.len()), (expected.len(), expected.len(), expected.len()));
}

#[test]
fn a_slice_keeps_the_order_of_its_votes() {
    let all = Slice::default();
    check_slice(&all, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    check_slice(&Slice { language: Some("zh".into()), ..all.clone() }, &[1.0, 3.0, 5.0]);
    check_slice(&Slice { turns: Some(Turns::First), ..all.clone() }, &[0.0, 1.0, 4.0, 5.0]);
    check_slice(&Slice { turns: Some(Turns::Multi), ..all.clone() }, &[2.0, 3.0, 6.0, 7.0]);
    check_slice(&Slice { long_prompts: true, ..all.clone() }, &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    check_slice(&Slice { since: Some(3.0), until: Some(5.0), ..all.clone() }, &[3.0, 4.0]);
    check_slice(&Slice { language: Some("en".into()), turns: Some(Turns::Multi), ..all }, &[2.0, 6.0]);
}

#[test]
fn an_impossible_slice_is_refused_with_the_known_values() {
    let of_category = Slice { category: Some("coding".into()), ..Slice::default() };
    assert_eq!(of_category.take(sliced()).unwrap_err(), SliceError::Missing("category"));
    let of_language = Slice { language: Some("fr".into()), ..Slice::default() };
    let refused = of_language.take(sliced()).unwrap_err().to_string();
    assert_eq!(refused, "no rated vote has the language \"fr\": the votes have \"en\", \"zh\"");
}

// ------------------------------------------------------------------------------------------------- properties

/// Ratings and intervals by model; without an interval, the rating stands for its ends.
fn numbers(leaderboard: &Leaderboard) -> BTreeMap<&str, [f64; 3]> {
    let of = |model: &RankedModel| {
        [Some(model.rating_or_limit()), model.lower, model.upper].map(|at| at.unwrap_or(model.rating_or_limit()))
    };
    leaderboard.models.iter().map(|model| (model.model.as_str(), of(model))).collect()
}

fn all_near(one: &BTreeMap<&str, [f64; 3]>, other: &BTreeMap<&str, [f64; 3]>) -> bool {
    one.len() == other.len()
        && one.iter().all(|(model, these)| these.iter().zip(&other[model]).all(|(x, y)| (x - y).abs() < 1e-7))
}

/// Random options.
fn methods() -> impl Strategy<Value = LeaderboardOptions> {
    let scoring = |ties| Scoring { ties, ..Scoring::default() };
    let of = move |(ties, reweight)| LeaderboardOptions {
        scoring: scoring(ties),
        reweight,
        ..LeaderboardOptions::default()
    };
    let ties = prop::sample::select(vec![TieRule::Half, TieRule::Davidson]);
    (ties, prop::sample::select(vec![Reweight::None, Reweight::PairCount])).prop_map(of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn clusters_of_one_vote_equal_the_sandwich(votes in connected_votes(), options in methods()) {
        let log = with_voters(recorded(&votes), |row| (row % 3 != 0).then(|| row.to_string()));
        let plain = leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Sandwich, ..options.clone() });
        let clustered = leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Cluster, ..options });
        let groups = f64::from(u32::try_from(votes.len()).unwrap());
        for model in &plain.models {
            let other = line(&clustered, &model.model);
            prop_assert_eq!(model.rating_or_limit().to_bits(), other.rating_or_limit().to_bits());
            prop_assert_eq!(model.standard_error.is_some(), other.standard_error.is_some());
            if let Some((plain, theirs)) = model.standard_error.zip(other.standard_error) {
                let expected = plain * (groups / (groups - 1.0)).sqrt();
                prop_assert!((theirs - expected).abs() < 1e-7 * expected.max(1.0));
            }
        }
    }

    #[test]
    fn repeating_each_voters_votes_does_not_narrow_clustered_intervals(votes in connected_votes(), options in methods()) {
        let options = LeaderboardOptions { interval: IntervalMethod::Cluster, ..options };
        // Weights by pair count depend on the count: leave them out.
        let options = LeaderboardOptions { reweight: Reweight::None, ..options };
        let voter = |row: usize| Some((row % votes.len() / 3).to_string());
        let once = leaderboard_of(&with_voters(recorded(&votes), voter), &options);
        let twice = leaderboard_of(&with_voters(recorded(&[votes.clone(), votes.clone()].concat()), voter), &options);
        prop_assert!(all_near(&numbers(&once), &numbers(&twice)));
    }

    #[test]
    fn names_do_not_matter(votes in connected_votes(), options in methods()) {
        let leaderboard = leaderboard_of(&recorded(&votes), &options);
        let turned: Vec<_> = votes.iter().map(|&(a, b, outcome)| (7 - a, 7 - b, outcome)).collect();
        let mirror = leaderboard_of(&recorded(&turned), &options);
        let renamed: BTreeMap<String, [f64; 3]> = numbers(&mirror)
            .into_iter()
            .map(|(name, numbers)| (format!("model {}", 7 - name[6..].parse::<u8>().unwrap()), numbers))
            .collect();
        let renamed: BTreeMap<&str, [f64; 3]> = renamed.iter().map(|(name, numbers)| (name.as_str(), *numbers)).collect();
        prop_assert!(all_near(&numbers(&leaderboard), &renamed));
    }

    #[test]
    fn a_vote_of_half_the_probability_counts_double(votes in connected_votes(), ties in prop::bool::ANY) {
        let scoring = Scoring { ties: if ties { TieRule::Davidson } else { TieRule::Half }, ..Scoring::default() };
        let options = LeaderboardOptions { scoring, ..LeaderboardOptions::default() };
        let mut weighted = recorded(&votes);
        weighted.pair_probabilities = Some((0..votes.len()).map(|row| if row % 3 == 0 { 0.2 } else { 0.4 }).collect());
        let again = votes.iter().enumerate().filter(|(row, _)| row % 3 == 0).map(|(_, vote)| *vote);
        let repeated: Vec<_> = votes.iter().copied().chain(again).collect();
        let expected = leaderboard_of(&recorded(&repeated), &options);
        let leaderboard = leaderboard_of(&weighted, &LeaderboardOptions { reweight: Reweight::PairProbability, ..options });
        for model in &expected.models {
            prop_assert!((line(&leaderboard, &model.model).rating_or_limit() - model.rating_or_limit()).abs() < 1e-7);
        }
    }

    #[test]
    fn the_gradient_of_davidson_is_zero_at_its_fit(votes in connected_votes()) {
        let leaderboard = leaderboard_of(&recorded(&votes), &davidson());
        let Some(effect) = leaderboard.davidson else { return Ok(()) };
        let strength = |model: u8| line(&leaderboard, &format!("model {model}")).rating_or_limit() / POINTS;
        let (mut slopes, mut of_ties) = ([0.0; 8], 0.0);
        for &(a, b, outcome) in &votes {
            let d = strength(a) - strength(b);
            let weights = [(0.5 * d).exp(), (-0.5 * d).exp(), effect.nu];
            let p = weights.map(|weight| weight / weights.iter().sum::<f64>());
            let observed = match outcome { AWins => [1.0, 0.0, 0.0], BWins => [0.0, 1.0, 0.0], Tie | BothBad => [0.0, 0.0, 1.0] };
            let slope = 0.5 * ((observed[0] - p[0]) - (observed[1] - p[1]));
            slopes[usize::from(a)] += slope;
            slopes[usize::from(b)] -= slope;
            of_ties += observed[2] - p[2];
        }
        prop_assert!(leaderboard.converged && of_ties.abs() < 1e-8 && slopes.iter().all(|slope| slope.abs() < 1e-8), "{:?}", slopes);
    }

    #[test]
    fn every_method_handles_any_votes(votes in prop::collection::vec(
        (0..9_u8, 1..9_u8, prop::sample::select(vec![AWins, AWins, AWins, BWins, Tie])), 0..25,
    ), options in methods(), interval in prop::sample::select(vec![
        IntervalMethod::Sandwich, IntervalMethod::Cluster, IntervalMethod::Bootstrap,
    ])) {
        let votes: Vec<(u8, u8, Outcome)> = votes.into_iter().map(|(a, b, outcome)| (a, (a + b) % 9, outcome)).collect();
        let log = with_voters(recorded(&votes), |row| Some((row / 2).to_string()));
        let bootstrap = BootstrapOptions { replicates: 10, seed: 0 };
        let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval, bootstrap, matrices: true, ..options });
        prop_assert!(leaderboard.converged, "{:?}", leaderboard.notes);
        prop_assert_eq!(leaderboard.models.len(), log.models.as_slice().len());
        for model in &leaderboard.models {
            prop_assert!(model.lower.is_none_or(|lower| lower <= model.rating_or_limit() + 400.0) && model.rating_or_limit().abs() < 1e5);
        }
        let back: Leaderboard = serde_json::from_str(&serde_json::to_string(&leaderboard).unwrap()).unwrap();
        let texts = |leaderboard: &Leaderboard| leaderboard.notes.iter().map(ToString::to_string).collect::<Vec<_>>();
        prop_assert_eq!(texts(&back), texts(&leaderboard), "JSON holds the notes as texts");
        prop_assert_eq!(Leaderboard { notes: leaderboard.notes.clone(), ..back }, leaderboard);
    }
}
