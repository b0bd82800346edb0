//! Weights, matrices and intervals by voter agree with results that other programs computed.

use std::collections::BTreeMap;
use std::path::Path;

use langya::domain::rating::counts::weighting::Reweight;
use langya::domain::rating::leaderboards::leaderboard::RankedModel;
use langya::domain::rating::leaderboards::pair_matrices::Matrices;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::formats::votes::{ReadOptions, read_log};

use super::by;
use crate::support::ratings::{agree, leaderboard_of, line, read_votes, shared};

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
