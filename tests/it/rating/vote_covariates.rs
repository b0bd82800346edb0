//! The context of a vote as covariates: the side on which a model is shown (`langya fit --side`), several turns (`--turn`) and
//! the judge's maker (`--same-maker`).

use std::path::Path;

use langya::domain::battle::Outcome::{AWins, BWins};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions, Method};
use langya::domain::rating::style::StyleEffect;
use langya::domain::rating::votes::makers::Makers;
use langya::domain::rating::votes::vote_log::{ColumnSet, Labels, VoteLog};
use langya::domain::rating::{FitError, POINTS_PER_STRENGTH};
use langya::formats::makers::read_makers;
use langya::formats::votes::{ReadOptions, read_log};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::ratings::{golden, leaderboard_of, line};

const TEAMS: [&str; 7] = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"];

/// Games of the eastern division of the American League in 1987 (Agresti 2013, table 11.10): by home team, the wins and
/// losses against each visitor in the order of the teams.
const GAMES: [[(u32, u32); 7]; 7] = [
    [(0, 0), (4, 3), (4, 2), (4, 3), (6, 1), (4, 2), (6, 0)],
    [(3, 3), (0, 0), (4, 2), (4, 3), (6, 0), (6, 1), (4, 3)],
    [(2, 5), (4, 3), (0, 0), (2, 4), (4, 3), (4, 2), (6, 0)],
    [(3, 3), (5, 1), (2, 5), (0, 0), (4, 3), (4, 2), (6, 1)],
    [(5, 1), (2, 5), (3, 3), (4, 2), (0, 0), (5, 2), (6, 0)],
    [(2, 5), (3, 3), (3, 4), (4, 3), (4, 2), (0, 0), (2, 4)],
    [(2, 5), (1, 5), (1, 6), (2, 4), (1, 6), (3, 4), (0, 0)],
];

/// Every game as a vote, the home team on side A.
fn baseball() -> VoteLog {
    let mut log = VoteLog::default();
    for (home, against) in TEAMS.iter().zip(GAMES) {
        for (visitor, (wins, losses)) in TEAMS.iter().zip(against) {
            (0..wins).for_each(|_| log.push(home, visitor, AWins).unwrap());
            (0..losses).for_each(|_| log.push(home, visitor, BWins).unwrap());
        }
    }
    log
}

fn side() -> LeaderboardOptions {
    LeaderboardOptions { side: true, ..LeaderboardOptions::default() }
}

fn above_baltimore(leaderboard: &Leaderboard, team: &str) -> f64 {
    (line(leaderboard, team).rating_or_limit() - line(leaderboard, "Baltimore").rating_or_limit()) / POINTS_PER_STRENGTH
}

#[test]
fn baseball_has_its_published_strengths_and_home_advantage() {
    let log = baseball();
    let (plain, sided) = (leaderboard_of(&log, &LeaderboardOptions::default()), leaderboard_of(&log, &side()));
    let published = [
        ("Cleveland", 0.684, 0.705),
        ("Boston", 1.108, 1.144),
        ("New York", 1.248, 1.281),
        ("Toronto", 1.294, 1.327),
        ("Detroit", 1.436, 1.475),
        ("Milwaukee", 1.581, 1.620),
    ];
    for (team, without, with) in published {
        let found = (above_baltimore(&plain, team), above_baltimore(&sided, team));
        assert!((found.0 - without).abs() < 6e-4 && (found.1 - with).abs() < 6e-4, "{team}: {found:?}");
    }
    let [StyleEffect { feature, coefficient, lower, upper }] = sided.style.as_slice() else { panic!("{sided:?}") };
    assert_eq!(feature, "side");
    assert!((coefficient - 0.302).abs() < 6e-4, "{coefficient}");
    assert!(*lower > 0.0 && lower < coefficient && coefficient < upper, "{lower} to {upper}");
}

#[test]
fn the_side_agrees_with_an_independent_program() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let log = read_log(&[data.join("jackknife_votes.csv")], ColumnSet::default(), &ReadOptions::default()).unwrap();
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Sandwich, ..side() });
    let [ratings, errors] = ["rating", "standard_error"].map(|column| golden(&data.join("side_expected.csv"), column));
    for model in &leaderboard.models {
        assert!((model.rating.unwrap() - ratings[&model.model]).abs() < 1e-6, "{model:?}");
        assert!((model.standard_error.unwrap() - errors[&model.model]).abs() < 1e-6, "{model:?}");
    }
    let effect = &leaderboard.style[0];
    assert!((effect.coefficient - ratings["side"]).abs() < 1e-8, "{effect:?}");
    assert!(
        ((effect.upper - effect.lower) / (2.0 * 1.959_963_984_540_054) - errors["side"]).abs() < 1e-8,
        "{effect:?}"
    );
}

#[test]
fn turns_and_makers_agree_with_an_independent_program() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let wanted = ColumnSet { voters: true, turns: true, ..ColumnSet::default() };
    let log = read_log(&[data.join("context_votes.csv")], wanted, &ReadOptions::default()).unwrap();
    let makers = Some(read_makers(&data.join("context_makers.csv")).unwrap());
    let options = LeaderboardOptions { turn: true, makers, interval: IntervalMethod::Sandwich, ..Default::default() };
    let leaderboard = leaderboard_of(&log, &options);
    let [values, errors] =
        ["rating", "standard_error"].map(|column| golden(&data.join("context_expected.csv"), column));
    for model in &leaderboard.models {
        assert!((model.rating.unwrap() - values[&model.model]).abs() < 1e-6, "{model:?}");
        assert!((model.standard_error.unwrap() - errors[&model.model]).abs() < 1e-6, "{model:?}");
    }
    let names: Vec<&str> = leaderboard.style.iter().map(|effect| effect.feature.as_str()).collect();
    assert_eq!(names, ["side", "side_in_later_turns", "same_maker"]);
    for StyleEffect { feature, coefficient, lower, upper } in &leaderboard.style {
        let error = (upper - lower) / (2.0 * 1.959_963_984_540_054);
        assert!((coefficient - values[feature]).abs() < 1e-8 && (error - errors[feature]).abs() < 1e-8, "{feature}");
    }
}

#[test]
fn turns_and_makers_that_are_not_known_are_asked_for_or_left_out() {
    let options = LeaderboardOptions { turn: true, ..LeaderboardOptions::default() };
    assert!(matches!(rank_log(&baseball(), &options), Err(FitError::NoTurns)));
    let single = VoteLog { turns: Some(vec![1; baseball().len()]), ..baseball() };
    let leaderboard = leaderboard_of(&single, &options);
    assert_eq!(leaderboard.style.len(), 1, "the side alone: {:?}", leaderboard.style);
    let constant = RatingNote::ConstantFeature { feature: "side_in_later_turns".to_owned() };
    assert!(leaderboard.notes.contains(&constant), "{:?}", leaderboard.notes);
    let nobody = LeaderboardOptions { makers: Some(Makers::default()), ..LeaderboardOptions::default() };
    assert!(matches!(rank_log(&baseball(), &nobody), Err(FitError::NoVoters)));
}

/// Votes of people and of judge models under known effects, by the number of battles.
fn in_context(seed: u64, voters: &[String], effects: [f64; 3]) -> VoteLog {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let strengths = [0.6, 0.2, 0.0, -0.3, -0.5];
    let mut log = VoteLog { voters: Some(Labels::default()), turns: Some(Vec::new()), ..VoteLog::default() };
    for _ in 0..900 {
        let a = rng.random_range(0..strengths.len());
        let b = (a + rng.random_range(1..strengths.len())) % strengths.len();
        let (voter, turns) = (rng.random_range(0..voters.len()), rng.random_range(1..=2));
        // The voters take turns in belonging to the maker of one of the models.
        let own = [a, b].map(|model| f64::from(u8::from(voter % strengths.len() == model)));
        let context = [1.0, f64::from(turns) - 1.0, own[0] - own[1]];
        let effect: f64 = context.iter().zip(effects).map(|(x, effect)| x * effect).sum();
        let odds = strengths[a] - strengths[b] + effect;
        let outcome = if rng.random_bool(1.0 / (1.0 + f64::exp(-odds))) { AWins } else { BWins };
        log.push(&format!("m{a}"), &format!("m{b}"), outcome).unwrap();
        log.voters.as_mut().unwrap().push(Some(&voters[voter]));
        log.turns.as_mut().unwrap().push(turns);
    }
    log
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn intervals_of_the_effects_cover_the_truth() {
    let voters: Vec<String> = (0..40).map(|voter| format!("judge {voter}")).collect();
    let of_voters = voters.iter().enumerate().map(|(number, voter)| (voter.clone(), format!("maker {}", number % 5)));
    let of_models = (0..5).map(|model| (format!("m{model}"), format!("maker {model}")));
    let options = LeaderboardOptions {
        turn: true,
        makers: Some(of_voters.chain(of_models).collect()),
        interval: IntervalMethod::Jackknife,
        ..LeaderboardOptions::default()
    };
    let effects = [0.3, -0.4, 0.5];
    let (mut covering, mut all) = (0_u32, 0_u32);
    for seed in 1..=200 {
        let leaderboard = leaderboard_of(&in_context(seed, &voters, effects), &options);
        for (found, truth) in leaderboard.style.iter().zip(effects) {
            covering += u32::from((found.lower..=found.upper).contains(&truth));
            all += 1;
        }
    }
    let share = f64::from(covering) / f64::from(all);
    println!("{share:.4} of {all} intervals of the side, of turns and of makers cover the truth");
    assert!(all == 600 && (0.93..=0.97).contains(&share), "{share} of {all}");
}

#[test]
fn a_swap_of_all_sides_turns_the_effect_and_leaves_the_ratings() {
    let (log, mut swapped) = (baseball(), baseball());
    std::mem::swap(&mut swapped.a, &mut swapped.b);
    for outcome in &mut swapped.outcomes {
        *outcome = if *outcome == AWins { BWins } else { AWins };
    }
    let (one, other) = (leaderboard_of(&log, &side()), leaderboard_of(&swapped, &side()));
    assert!((one.style[0].coefficient + other.style[0].coefficient).abs() < 1e-9);
    for model in &one.models {
        assert!((model.rating.unwrap() - line(&other, &model.model).rating.unwrap()).abs() < 1e-6, "{model:?}");
    }
}

#[test]
fn a_side_that_each_pair_keeps_cannot_be_distinguished_from_strength() {
    // Two models on fixed sides: the advantage of A is that of the model.
    let mut log = VoteLog::default();
    for outcome in [AWins, AWins, BWins] {
        log.push("x", "y", outcome).unwrap();
    }
    let leaderboard = leaderboard_of(&log, &side());
    assert!(leaderboard.style.is_empty(), "{:?}", leaderboard.style);
    assert!(
        leaderboard.notes.contains(&RatingNote::DependentFeature { feature: "side".to_owned() }),
        "{:?}",
        leaderboard.notes
    );

    let elo = LeaderboardOptions { method: Method::Elo, ..side() };
    assert!(matches!(rank_log(&baseball(), &elo), Err(FitError::StyleOptions)));
}
