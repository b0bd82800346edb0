//! Whether neighbours that look separated are, however often somebody looks, and whether all rank intervals hold together.

use langya::domain::rating::intervals::sequential_testing::{NeighbourState, SequentialOptions};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::simulate::{Simulation, SimulationOptions, VoterActivity};
use langya::domain::rating::votes::vote_log::VoteLog;

use crate::interval_coverage::{append_votes, log_of};
use crate::support::ratings::leaderboard_of;
use crate::support::size;

const VOTES: usize = 2_000;
/// Votes between two looks.
const LOOK: usize = 50;

/// Arenas of a simulation, with seeds from 1 on.
fn arenas() -> u64 {
    size(60, 200) as u64
}

fn sequential() -> LeaderboardOptions {
    LeaderboardOptions { sequential: Some(SequentialOptions::default()), ..LeaderboardOptions::default() }
}

/// Whether the first two models are neighbours that are separated.
fn separated(leaderboard: &Leaderboard) -> bool {
    let is_one_of_both = |name: &str| name == "model-1" || name == "model-2";
    leaderboard.neighbours.iter().any(|pair| {
        pair.state == NeighbourState::Separated && is_one_of_both(&pair.upper) && is_one_of_both(&pair.lower)
    })
}

/// The share of arenas in which somebody who looks after every 50 votes sees what `found` says at some time.
fn ever<const N: usize>(arenas: u64, options: &SimulationOptions, found: [fn(&Leaderboard) -> bool; N]) -> [f64; N] {
    let mut found_in = [0_u32; N];
    for seed in 1..=arenas {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let (mut log, mut seen) = (VoteLog::default(), [false; N]);
        for _ in 0..VOTES / LOOK {
            append_votes(&mut log, &mut simulation, LOOK);
            let leaderboard = rank_log(&log, &sequential()).unwrap();
            seen.iter_mut().zip(found).for_each(|(seen, found)| *seen |= found(&leaderboard));
        }
        found_in.iter_mut().zip(seen).for_each(|(arenas, seen)| *arenas += u32::from(seen));
    }
    found_in.map(|found| f64::from(found) / f64::from(u32::try_from(arenas).unwrap()))
}

/// Whether the difference of two models is significant at a single look: each rating's interval then excludes the mean.
fn significant_once(leaderboard: &Leaderboard) -> bool {
    leaderboard.models[0].lower.is_some_and(|lower| lower > 1000.0)
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn two_equal_models_are_rarely_separated_by_looking_often() {
    let equal =
        SimulationOptions { models: 2, spread: 0.0, ties: 0.15, both_bad: 0.05, ..SimulationOptions::default() };
    let tastes = SimulationOptions { voters: 100, voter_spread: 0.5, ..equal.clone() };
    let few_much = SimulationOptions { activity: VoterActivity::Zipf, ..tastes.clone() };
    for (name, options) in [("independent votes", equal), ("voters with tastes", tastes), ("few vote much", few_much)] {
        let [sequence, fixed] = ever(200, &options, [separated, significant_once]);
        println!("{name}: separated at some look {sequence:.3}, by an interval for a single look {fixed:.3}");
        assert!(sequence <= 0.05, "{name}: {sequence}");
        assert!(fixed > 0.1, "{name}: looking often must matter without it, {fixed}");
    }
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn two_of_five_equal_models_are_rarely_separated_by_looking_often() {
    let options = SimulationOptions {
        models: 5,
        spread: 0.0,
        ties: 0.15,
        both_bad: 0.05,
        voters: 100,
        voter_spread: 0.3,
        activity: VoterActivity::Zipf,
        ..SimulationOptions::default()
    };
    let [sequence] = ever(arenas(), &options, [separated]);
    println!("two of five: separated at some look {sequence:.3}");
    assert!(sequence <= 0.05, "{sequence}");
}

/// The price of being allowed to look: votes until two models that differ are separated.
#[test]
#[ignore = "slow: tests/run runs it"]
fn models_that_differ_are_separated_and_equal_ones_found_equal() {
    let options = SimulationOptions { models: 2, spread: 0.5, voters: 5_000, ..SimulationOptions::default() };
    let (mut apart, mut wrong, mut all) = (0_u64, 0, 0_u64);
    for seed in 1..=arenas() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let difference = simulation.models()[0].rating() - simulation.models()[1].rating();
        if difference.abs() < 60.0 {
            continue;
        }
        let leaderboard = leaderboard_of(&log_of(&mut simulation, VOTES), &sequential());
        let pair = &leaderboard.neighbours[0];
        let upper = usize::from(pair.upper != simulation.models()[0].name);
        all += 1;
        apart += u64::from(pair.state == NeighbourState::Separated);
        wrong += u32::from((upper == 0) != (difference > 0.0));
    }
    assert!(
        all > arenas() / 4 && wrong == 0 && 10 * apart >= 9 * all,
        "{apart} of {all} are separated, {wrong} the wrong way"
    );

    let equal = SimulationOptions { models: 2, spread: 0.0, voters: 30_000, ..SimulationOptions::default() };
    let leaderboard = leaderboard_of(&log_of(&mut Simulation::new(equal).unwrap(), 30_000), &sequential());
    assert_eq!(leaderboard.neighbours[0].state, NeighbourState::Equal, "{:?}", leaderboard.neighbours);
}

/// The price of looking: votes until two models 80 to 120 points apart are separated, by the intervals for any look and by one
/// for a single look, over all arenas whose seed has such models; the median, looking after every 50 votes.
#[test]
#[ignore = "slow: tests/run runs it"]
fn looking_at_any_time_costs_votes() {
    let options = SimulationOptions { models: 2, spread: 0.5, voters: 10_000, ..SimulationOptions::default() };
    let (mut any_look, mut single_look) = (Vec::new(), Vec::new());
    let seeds = 2 * arenas();
    for seed in 1..=seeds {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let [one, other] = [0, 1].map(|model: usize| simulation.models()[model].rating());
        if !(80.0..120.0).contains(&(one - other).abs()) {
            continue;
        }
        let (mut log, mut any, mut single) = (VoteLog::default(), None, None);
        while any.is_none() && log.len() < 3 * VOTES {
            append_votes(&mut log, &mut simulation, LOOK);
            let leaderboard = rank_log(&log, &sequential()).unwrap();
            single = single.or(significant_once(&leaderboard).then_some(log.len()));
            any = any.or(separated(&leaderboard).then_some(log.len()));
        }
        any_look.push(any.unwrap_or(3 * VOTES));
        single_look.push(single.unwrap_or(3 * VOTES));
    }
    let median = |votes: &mut Vec<usize>| {
        votes.sort_unstable();
        votes[votes.len() / 2]
    };
    let (any, single, arenas) = (median(&mut any_look), median(&mut single_look), any_look.len());
    println!("80 to 120 points apart, {arenas} arenas: {any} votes until separated at any look, {single} at the first");
    assert!(
        arenas as u64 > seeds / 10 && any > single && any < 8 * single,
        "{any} votes against {single} in {arenas} arenas"
    );
}

/// The share of arenas of ten models in which every model's true ranks are in its interval, and the mean number of places
/// in an interval.
fn ranks_hold(options: &SimulationOptions, interval: IntervalMethod) -> (f64, f64) {
    let (mut held, mut places) = (0_u32, 0);
    for seed in 1..=arenas() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let log = log_of(&mut simulation, VOTES);
        let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval, ..LeaderboardOptions::default() });
        let models = simulation.models();
        let holds = leaderboard.models.iter().all(|rated| {
            let (best, worst) = (rated.best_rank.unwrap(), rated.worst_rank.unwrap());
            places += worst - best + 1;
            let own = models.iter().find(|model| model.name == rated.model).unwrap().strength;
            let better = models.iter().filter(|model| model.strength > own).count() as u64;
            let worse = models.iter().filter(|model| model.strength < own).count() as u64;
            best <= 1 + better && worst >= models.len() as u64 - worse
        });
        held += u32::from(holds);
    }
    let count = f64::from(u32::try_from(arenas()).unwrap());
    let models = count * f64::from(options.models);
    (f64::from(held) / count, f64::from(u32::try_from(places).unwrap()) / models)
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn all_rank_intervals_of_an_arena_hold_together() {
    let voters =
        SimulationOptions { models: 10, ties: 0.15, voters: 60, voter_spread: 0.4, ..SimulationOptions::default() };
    // Equal models share all ranks, so any difference that is found is wrong.
    let equal = SimulationOptions { spread: 0.0, ..voters.clone() };
    let [(jackknife, _), (sandwich, _)] =
        [IntervalMethod::Jackknife, IntervalMethod::Sandwich].map(|interval| ranks_hold(&equal, interval));
    println!(
        "equal models: all ranks hold in {jackknife:.3} of arenas; if votes are taken as independent, {sandwich:.3}"
    );
    assert!((0.92..=0.98).contains(&jackknife), "{jackknife}");
    assert!(sandwich < 0.8, "{sandwich}");

    let (held, places) = ranks_hold(&SimulationOptions { spread: 1.0, ..voters }, IntervalMethod::Jackknife);
    println!("models of different strength: all ranks hold in {held:.3} of arenas, {places:.2} places each");
    assert!(held >= 0.95 && places < 5.0, "{held}, {places}");
}

#[test]
fn a_rank_by_own_intervals_is_in_the_rank_interval() {
    let mut log = VoteLog::default();
    for (winner, loser, times) in [("a", "b", 5), ("a", "c", 2), ("c", "a", 1), ("b", "c", 1)] {
        (0..times).for_each(|_| log.push(winner, loser, langya::domain::battle::Outcome::AWins).unwrap());
    }
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions::default());
    for model in &leaderboard.models {
        let (best, worst) = (model.best_rank.unwrap(), model.worst_rank.unwrap());
        assert!((best..=worst).contains(&model.rank), "{}: {} of {best} to {worst}", model.model, model.rank);
    }
    let b = leaderboard.models.iter().find(|model| model.model == "b").unwrap();
    // Its own interval overlaps those of both others, and the joint comparison has one of them above it.
    assert_eq!((b.rank, b.best_rank, b.worst_rank), (1, Some(1), Some(3)));
}

#[test]
fn a_rank_interval_says_which_places_are_possible() {
    // a is far above b and c, which are alike; d has a single vote.
    let mut log = VoteLog::default();
    let mut push = |a: &str, b: &str, times: usize| {
        (0..times).for_each(|_| log.push(a, b, langya::domain::battle::Outcome::AWins).unwrap())
    };
    for other in ["b", "c"] {
        push("a", other, 180);
        push(other, "a", 20);
    }
    push("b", "c", 100);
    push("c", "b", 98);
    push("d", "c", 1);
    push("c", "d", 1);
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions::default());
    let ranks = |name: &str| {
        let model = leaderboard.models.iter().find(|model| model.model == name).unwrap();
        (model.best_rank.unwrap(), model.worst_rank.unwrap())
    };
    assert_eq!((ranks("a"), ranks("b"), ranks("c"), ranks("d")), ((1, 2), (2, 4), (2, 4), (1, 4)));
    let none =
        leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::None, ..LeaderboardOptions::default() });
    assert!(none.models.iter().all(|model| model.best_rank.is_none() && model.worst_rank.is_none()));
}
