//! Models of all outcomes of a vote: `langya fit --good-enough` and `--compare-ties`.

use std::collections::BTreeMap;
use std::path::Path;

use langya::domain::battle::Outcome::{AWins, BWins, BothBad, Tie};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::ties::comparison::TieModel;
use langya::domain::rating::votes::scoring::{BothBadRule, Scoring, TieRule};
use langya::domain::rating::votes::vote_log::{ColumnSet, Labels, VoteLog};
use langya::formats::votes::{ReadOptions, read_log};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use crate::support::ratings::{leaderboard_of, line, log_of};

#[derive(Deserialize)]
struct Expected {
    good_enough: BTreeMap<String, [f64; 3]>,
    good_enough_change: BTreeMap<String, [f64; 3]>,
    log_likelihood: BTreeMap<String, f64>,
}

fn options() -> LeaderboardOptions {
    LeaderboardOptions { good_enough: true, compare_ties: true, ..LeaderboardOptions::default() }
}

fn golden_votes() -> (VoteLog, Expected) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let log = read_log(&[data.join("jackknife_votes.csv")], ColumnSet::default(), &ReadOptions::default()).unwrap();
    let expected = std::fs::read(data.join("ties_expected.json")).unwrap();
    (log, serde_json::from_slice(&expected).unwrap())
}

#[test]
fn levels_agree_with_an_independent_program() {
    let (log, expected) = golden_votes();
    let leaderboard = leaderboard_of(&log, &options());
    assert_eq!(leaderboard.models.len(), expected.good_enough.len());
    for model in &leaderboard.models {
        let found = [model.good_enough, model.good_enough_lower, model.good_enough_upper].map(Option::unwrap);
        for (found, expected) in found.into_iter().zip(expected.good_enough[&model.model]) {
            assert!((found - expected).abs() < 1e-8, "{}: {found} instead of {expected}", model.model);
        }
    }
}

#[test]
fn changes_of_levels_agree_with_an_independent_program() {
    let (log, expected) = golden_votes();
    for model in leaderboard_of(&log, &options()).models {
        let found = [model.good_enough_change, model.good_enough_change_lower, model.good_enough_change_upper];
        for (found, expected) in found.map(Option::unwrap).into_iter().zip(expected.good_enough_change[&model.model]) {
            assert!((found - expected).abs() < 1e-8, "{}: {found} instead of {expected}", model.model);
        }
    }
}

#[test]
fn models_that_became_better_have_a_rising_level() {
    let (mut log, later) = (simulated(1, &[0.0, -0.5, 0.5], 600), simulated(2, &[1.5, 1.0, 2.0], 600));
    log.append(&later);
    let rising = leaderboard_of(&log, &options());
    assert!(rising.models.iter().all(|model| model.good_enough_change_lower.unwrap() > 0.0), "{rising:?}");
    // By time the later votes come first.
    log.seconds = Some((0..1_200).map(|vote| f64::from(1_200 - vote)).collect());
    let falling = leaderboard_of(&log, &options());
    assert!(falling.models.iter().all(|model| model.good_enough_change_upper.unwrap() < 0.0), "{falling:?}");
}

#[test]
fn likelihoods_of_ties_agree_with_an_independent_program() {
    let (log, expected) = golden_votes();
    let leaderboard = leaderboard_of(&log, &options());
    let order: Vec<TieModel> = leaderboard.tie_models.iter().map(|compared| compared.ties).collect();
    assert_eq!(order, [TieModel::RaoKupper, TieModel::Davidson, TieModel::Half], "best first");
    for compared in &leaderboard.tie_models {
        let name = serde_json::to_value(compared.ties).unwrap();
        let likelihood = expected.log_likelihood[name.as_str().unwrap()];
        assert!((compared.log_likelihood - likelihood).abs() < 1e-6, "{compared:?} instead of {likelihood}");
        // Five differences of strengths and the frequency of ties; 420 votes.
        assert_eq!(compared.parameters, 6);
        assert!((compared.aic - (12.0 - 2.0 * likelihood)).abs() < 1e-6, "{compared:?}");
        assert!((compared.bic - (6.0 * 420.0_f64.ln() - 2.0 * likelihood)).abs() < 1e-6, "{compared:?}");
    }
}

#[test]
fn equally_frequent_ties_are_likeliest_at_the_strengths_of_the_wins_alone() {
    // "x" won all that was decided against "y": towards an infinite strength these votes cost nothing.
    let log = log_of(&[
        ("x", "y", AWins, 20),
        ("x", "y", Tie, 10),
        ("y", "z", AWins, 10),
        ("y", "z", BWins, 5),
        ("y", "z", Tie, 2),
    ]);
    let leaderboard = leaderboard_of(&log, &options());
    let half = leaderboard.tie_models.iter().find(|compared| compared.ties == TieModel::Half).unwrap();
    let share = |votes: f64, of: f64| votes * (votes / of).ln();
    let expected = share(12.0, 47.0) + share(35.0, 47.0) + share(10.0, 15.0) + share(5.0, 15.0);
    assert!((half.log_likelihood - expected).abs() < 1e-9, "{half:?} instead of {expected}");
}

#[test]
fn without_ties_that_count_a_note_says_that_models_of_ties_are_not_compared() {
    let decided = [("x", "y", AWins, 20), ("x", "y", BWins, 20)];
    let compare = LeaderboardOptions { compare_ties: true, ..LeaderboardOptions::default() };
    let without = leaderboard_of(&log_of(&decided), &compare);
    let dropped = Scoring { ties: TieRule::Drop, ..Scoring::default() };
    let tied = log_of(&[&decided[..], &[("x", "y", Tie, 9)]].concat());
    let dropped = leaderboard_of(&tied, &LeaderboardOptions { scoring: dropped, ..compare.clone() });
    for leaderboard in [without, dropped] {
        assert!(leaderboard.tie_models.is_empty(), "{leaderboard:?}");
        assert!(leaderboard.notes.contains(&RatingNote::TiesNotCompared), "{:?}", leaderboard.notes);
    }
    let compared = leaderboard_of(&tied, &compare);
    assert!(compared.tie_models.len() == 3 && !compared.notes.contains(&RatingNote::TiesNotCompared), "{compared:?}");
}

#[test]
fn levels_have_intervals_only_where_ratings_have_and_by_voter_where_these_have() {
    let log = simulated(1, &[1.2, 0.5, 0.0, -0.8], 400);
    let levels = |interval| {
        let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval, ..options() });
        let level = |name| line(&leaderboard, name).clone();
        ["m0", "m1", "m2", "m3"].map(level)
    };
    let of_votes = levels(IntervalMethod::Sandwich);
    let of_voters = levels(IntervalMethod::Jackknife);
    for interval in [IntervalMethod::Cluster, IntervalMethod::Bootstrap] {
        for ((found, by_voter), by_vote) in levels(interval).iter().zip(&of_voters).zip(&of_votes) {
            assert_eq!(found.good_enough_lower, by_voter.good_enough_lower, "{interval:?}");
            assert_eq!(found.good_enough_change_upper, by_voter.good_enough_change_upper, "{interval:?}");
            assert_ne!(found.good_enough_lower, by_vote.good_enough_lower, "{interval:?}");
        }
    }
    for (found, with) in levels(IntervalMethod::None).iter().zip(&of_votes) {
        assert_eq!(found.good_enough, with.good_enough);
        assert_eq!((found.good_enough_lower, found.good_enough_upper, found.good_enough_change), (None, None, None));
    }
}

#[test]
fn a_level_that_one_voter_alone_determines_has_no_interval() {
    let mut log = simulated(1, &[1.2, 0.5, 0.0], 300);
    for (other, outcome) in [("m0", AWins), ("m1", BothBad), ("m2", BWins)] {
        log.push("lone", other, outcome).unwrap();
        let voters = log.voters.as_mut().unwrap();
        voters.rows.push(voters.names.position("7"));
    }
    for model in leaderboard_of(&log, &options()).models {
        assert!(model.good_enough.is_some(), "{model:?}");
        assert_eq!(model.good_enough_lower.is_some(), model.model != "lone", "{model:?}");
    }
}

#[test]
fn equal_models_of_which_half_the_replies_are_good_have_that_level() {
    // P(bad) = 1/(1 + 1 + 1): both are bad in a third of the votes.
    let log = log_of(&[("x", "y", AWins, 20), ("x", "y", BWins, 20), ("x", "y", Tie, 20), ("x", "y", BothBad, 30)]);
    let leaderboard = leaderboard_of(&log, &options());
    for model in &leaderboard.models {
        assert!((model.good_enough.unwrap() - 0.5).abs() < 1e-9, "{model:?}");
    }
}

#[test]
fn without_votes_for_both_bad_no_level_is_known() {
    let votes = [("x", "y", AWins, 20), ("x", "y", BWins, 20), ("x", "y", Tie, 20)];
    let without = leaderboard_of(&log_of(&votes), &options());
    let with = [&votes[..], &[("x", "y", BothBad, 9)]].concat();
    let dropped = Scoring { both_bad: BothBadRule::Drop, ..Scoring::default() };
    let dropped = leaderboard_of(&log_of(&with), &LeaderboardOptions { scoring: dropped, ..options() });
    for leaderboard in [without, dropped] {
        assert!(leaderboard.models.iter().all(|model| model.good_enough.is_none()), "{leaderboard:?}");
        assert!(leaderboard.notes.contains(&RatingNote::NoBothBad), "{:?}", leaderboard.notes);
    }
    let plain = leaderboard_of(&log_of(&with), &LeaderboardOptions::default());
    assert!(plain.tie_models.is_empty() && !plain.notes.contains(&RatingNote::NoBothBad), "{plain:?}");
}

#[test]
fn a_model_that_was_never_good_or_never_bad_has_no_level() {
    let log = log_of(&[
        ("x", "y", AWins, 20),
        ("x", "y", BWins, 15),
        ("x", "y", Tie, 5),
        ("x", "y", BothBad, 9),
        ("x", "only lost", AWins, 8),
        ("only won", "y", AWins, 8),
    ]);
    let leaderboard = leaderboard_of(&log, &options());
    let level = |leaderboard: &Leaderboard, name: &str| line(leaderboard, name).good_enough;
    assert!(level(&leaderboard, "x").is_some() && level(&leaderboard, "y").is_some());
    assert_eq!((level(&leaderboard, "only won"), level(&leaderboard, "only lost")), (None, None));
}

#[test]
fn however_few_the_votes_a_level_is_known_or_not_and_never_an_error() {
    let options = LeaderboardOptions { good_enough: true, ..LeaderboardOptions::default() };
    for sequence in 0..4_usize.pow(4) {
        let mut log = VoteLog::default();
        for vote in 0..4 {
            log.push("x", "y", [AWins, BWins, Tie, BothBad][sequence / 4_usize.pow(vote) % 4]).unwrap();
        }
        for one_voter in [false, true] {
            log.voters = one_voter.then(|| {
                let mut voters = Labels::default();
                (0..4).for_each(|_| voters.rows.push(voters.names.position("same")));
                voters
            });
            let leaderboard = rank_log(&log, &options).unwrap_or_else(|error| panic!("votes {sequence}: {error}"));
            for model in leaderboard.models {
                let numbers = [model.good_enough, model.good_enough_lower, model.good_enough_upper];
                assert!(numbers.into_iter().flatten().all(|number| (0.0..=1.0).contains(&number)), "votes {sequence}");
            }
        }
    }
}

/// Votes of the model, of voters who each cast ten.
fn simulated(seed: u64, strengths: &[f64], votes: u32) -> VoteLog {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut log, mut voters) = (VoteLog::default(), Labels::default());
    let theta = 1.5;
    for vote in 0..votes {
        let first = rng.random_range(0..strengths.len());
        let second = (first + rng.random_range(1..strengths.len())) % strengths.len();
        let (a, b) = (strengths[first].exp(), strengths[second].exp());
        let [a_wins, b_wins, bad] = [a / (a + theta * b + 1.0), b / (b + theta * a + 1.0), 1.0 / (1.0 + a + b)];
        let at: f64 = rng.random();
        let outcome = match at {
            _ if at < a_wins => AWins,
            _ if at < a_wins + b_wins => BWins,
            _ if at < a_wins + b_wins + bad => BothBad,
            _ => Tie,
        };
        log.push(&format!("m{first}"), &format!("m{second}"), outcome).unwrap();
        voters.rows.push(voters.names.position(&(vote / 10).to_string()));
    }
    log.voters = Some(voters);
    log
}

#[test]
fn intervals_of_levels_cover_the_truth() {
    let strengths = [2.0, 1.2, 0.5, 0.0, -0.8];
    for interval in [IntervalMethod::Jackknife, IntervalMethod::Sandwich] {
        let (mut covering, mut all, mut unchanged) = (0, 0, 0);
        for seed in 1..=200 {
            let log = simulated(seed, &strengths, 500);
            let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval, ..options() });
            for (model, strength) in strengths.iter().enumerate() {
                let found = line(&leaderboard, &format!("m{model}"));
                let truth = 1.0 / (1.0 + (-strength).exp());
                let (lower, upper) = (found.good_enough_lower.unwrap(), found.good_enough_upper.unwrap());
                assert!(lower < found.good_enough.unwrap() && found.good_enough.unwrap() < upper);
                covering += u32::from((lower..=upper).contains(&truth));
                let (lower, upper) = (found.good_enough_change_lower.unwrap(), found.good_enough_change_upper.unwrap());
                unchanged += u32::from((lower..=upper).contains(&0.0));
                all += 1;
            }
        }
        let share = f64::from(covering) / f64::from(all);
        println!("{interval:?}: {share:.4} of {all} intervals of levels cover the truth");
        assert!((0.93..=0.97).contains(&share), "{interval:?}: {share}");
        let share = f64::from(unchanged) / f64::from(all);
        println!("{interval:?}: {share:.4} of {all} intervals of changes hold that nothing changed");
        assert!((0.93..=0.975).contains(&share), "{interval:?}: {share}");
    }
}
