//! How firm a leaderboard is as a whole, against an independent program, brute force and worlds whose truth is known.

use std::path::{Path, PathBuf};

use langya::domain::battle::Outcome::{AWins, BWins, Tie};
use langya::domain::rating::robustness::{OverallRobustness, RobustnessOptions, TieTreatment, overall_robustness};
use langya::domain::rating::simulate::{Simulation, SimulationOptions};
use langya::domain::rating::votes::scoring::{BothBadRule, Scoring, TieRule};
use langya::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use langya::domain::stats::distribution::quantile;
use langya::formats::votes::{ReadOptions, read_log};
use serde::Deserialize;

use crate::rating::robustness::{Vote, fewest_by_brute_force, log_of, places, robustness_of, simulated, votes};
use crate::support::program::langya;

fn overall_of(log: &VoteLog) -> OverallRobustness {
    let found = overall_robustness(log, RobustnessOptions::default()).unwrap();
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<OverallRobustness>(&json).unwrap(), found, "finite");
    found
}

#[test]
fn where_all_votes_are_ties_no_order_leaves_them_out() {
    let found = overall_of(&log_of(&votes(&[("a", "b", Tie, 3), ("b", "c", Tie, 2)])));
    assert!(!found.tie_orders.is_empty());
    for order in found.tie_orders {
        assert!(order.ties != TieTreatment::Drop && order.first == ["a", "b", "c"], "{order:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------- golden

#[derive(Deserialize)]
struct Expected {
    goodness_of_fit: ExpectedFit,
    cycles: ExpectedCycles,
    voter_consistency: ExpectedConsistency,
}

#[derive(Deserialize)]
struct ExpectedFit {
    deviance: f64,
    degrees_of_freedom: u64,
    misfit: f64,
    worst: Vec<ExpectedMisfit>,
}

#[derive(Deserialize)]
struct ExpectedMisfit {
    better: String,
    worse: String,
    votes: u64,
    observed: f64,
    expected: f64,
    residual: f64,
}

#[derive(Deserialize)]
struct ExpectedCycles {
    triples: u64,
    cyclic: u64,
    clarity: f64,
    clearest: Vec<String>,
}

#[derive(Deserialize)]
struct ExpectedConsistency {
    mean: f64,
    against: u64,
    means: Vec<f64>,
}

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn golden() -> (OverallRobustness, Expected) {
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    let log = read_log(&[data("robustness_votes.csv")], columns, &ReadOptions::default()).unwrap();
    let expected = std::fs::read(data("robustness_expected.json")).unwrap();
    (overall_of(&log), serde_json::from_slice(&expected).unwrap())
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}

#[test]
fn the_deviance_and_the_worst_pairs_agree_with_an_independent_program() {
    let (found, Expected { goodness_of_fit: expected, .. }) = golden();
    let found = found.goodness_of_fit.unwrap();
    near(found.deviance, expected.deviance);
    assert_eq!((found.pairs, found.degrees_of_freedom), (15, expected.degrees_of_freedom));
    near(found.misfit, expected.misfit);
    assert_eq!(found.worst.len(), expected.worst.len());
    for (found, expected) in found.worst.iter().zip(&expected.worst) {
        assert_eq!((&found.better, &found.worse, found.votes), (&expected.better, &expected.worse, expected.votes));
        near(found.observed, expected.observed);
        near(found.expected, expected.expected);
        near(found.residual, expected.residual);
    }
    assert!(found.p < 0.02 && (found.expected_deviance - 10.0 * 0.85).abs() < 1.5, "{found:?}");
}

#[test]
fn circles_agree_with_an_independent_program() {
    let (found, Expected { cycles: expected, .. }) = golden();
    let found = found.cycles.unwrap();
    assert_eq!((found.triples, found.cyclic), (expected.triples, expected.cyclic));
    let clearest = found.clearest.unwrap();
    near(clearest.clarity, expected.clarity);
    let mut models = clearest.models.to_vec();
    models.sort();
    assert_eq!(models, expected.clearest);
    assert!(clearest.wins.iter().zip(clearest.losses).all(|(wins, losses)| *wins > losses), "{clearest:?}");
}

#[test]
fn the_consistency_of_voters_agrees_with_an_independent_program() {
    let (found, Expected { voter_consistency: expected, .. }) = golden();
    let found = found.voter_consistency.unwrap();
    near(found.mean, expected.mean);
    assert_eq!((found.active, found.against), (expected.means.len() as u64, expected.against));
    assert_eq!(found.deciles.len(), 11);
    for (tenth, found) in (0_u8..).zip(found.deciles) {
        near(found, quantile(&expected.means, f64::from(tenth) / 10.0));
    }
}

// ------------------------------------------------------------------------------------------------ worlds with a truth

/// Votes of six models in a world where ratings are the whole truth, but for a circle of this many log odds.
fn world(seed: u64, circle: f64) -> VoteLog {
    let options = SimulationOptions { models: 6, seed, spread: 0.6, ties: 0.2, ..SimulationOptions::default() };
    let mut simulation = Simulation::new(options).unwrap();
    let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
    let mut log = VoteLog::default();
    for number in 0..600_u32 {
        let vote = simulation.vote();
        // Some votes of the first three models become wins along the circle.
        let along = [(0, 1), (1, 2), (2, 0)].into_iter().find(|two| [*two, (two.1, two.0)].contains(&(vote.a, vote.b)));
        let turned = f64::from(number % 100) < 100.0 * circle;
        match along.filter(|_| turned) {
            Some((winner, loser)) => log.push(&names[winner], &names[loser], AWins).unwrap(),
            None => log.push(&names[vote.a], &names[vote.b], vote.outcome).unwrap(),
        }
    }
    log
}

#[test]
fn the_fit_is_rejected_as_often_as_the_level_says_where_ratings_are_the_truth() {
    let (mut fits, mut circles, mut sum) = (0, 0, 0.0);
    for seed in 1..=200 {
        let found = overall_of(&world(seed, 0.0));
        let p = found.goodness_of_fit.unwrap().p;
        sum += p;
        fits += u32::from(p <= 0.05);
        circles += u32::from(found.cycles.unwrap().p <= 0.05);
    }
    println!(
        "at 5 %: {fits} fits and {circles} numbers of circles of 200 rejected; mean p of the fit {:.3}",
        sum / 200.0
    );
    assert!((2..=18).contains(&fits), "{fits}");
    assert!(circles <= 18, "{circles}");
    assert!((0.43..=0.57).contains(&(sum / 200.0)), "{sum}");
}

#[test]
fn a_world_with_a_circle_is_rejected_nearly_always() {
    let (mut fits, mut named) = (0, 0);
    for seed in 1..=50 {
        let found = overall_of(&world(seed, 0.6));
        fits += u32::from(found.goodness_of_fit.unwrap().p <= 0.05);
        let mut clearest = found.cycles.and_then(|cycles| cycles.clearest).map(|circle| circle.models.to_vec());
        clearest.as_mut().into_iter().for_each(|models| models.sort());
        named += u32::from(clearest.is_some_and(|models| models == ["model-1", "model-2", "model-3"]));
    }
    println!("of 50 worlds with a circle, {fits} fits are rejected and {named} circles named");
    assert!(fits >= 48 && named >= 45, "{fits} {named}");
}

/// 12,000 votes of 300 voters, of whom every n-th votes the other way round.
fn crowd(contrarian: Option<u32>) -> VoteLog {
    let options = SimulationOptions { models: 8, seed: 5, spread: 1.2, voters: 300, ..SimulationOptions::default() };
    let mut simulation = Simulation::new(options).unwrap();
    let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
    let cast = (0..12_000).map(|_| {
        let vote = simulation.vote();
        let is_turned = contrarian.is_some_and(|nth| vote.voter.is_multiple_of(nth));
        let (a, b) = if is_turned { (vote.b, vote.a) } else { (vote.a, vote.b) };
        (names[a].clone(), names[b].clone(), vote.outcome, vote.voter)
    });
    log_of(&cast.collect::<Vec<Vote>>())
}

#[test]
fn voters_who_vote_the_other_way_round_are_recovered() {
    let turned = overall_of(&crowd(Some(10))).voter_consistency.unwrap();
    println!("30 of 300 voters turned: {turned:?}");
    assert!((25..=31).contains(&turned.against), "{turned:?}");
    assert!((0.85..=0.95).contains(&turned.mean), "nine in ten are consistent: {turned:?}");
    let honest = overall_of(&crowd(None)).voter_consistency.unwrap();
    println!("none turned: {honest:?}");
    assert_eq!((honest.against, honest.votes_against), (0, 0), "{honest:?}");
    assert!(honest.mean >= 0.96 && honest.deciles[0] > 0.5, "shrunk towards the others: {honest:?}");
}

// ----------------------------------------------------------------------------------------------------- first place

#[test]
fn voters_who_decide_the_first_place_are_those_of_brute_force() {
    let mut decisive = 0;
    for seed in 1..=6 {
        let votes = simulated(5, 150, 12, seed);
        let found = overall_of(&log_of(&votes)).first_place.unwrap();
        let voters = found.voters.unwrap();
        let is_decisive = |voter: &u32| {
            let left: Vec<Vote> = votes.iter().filter(|vote| vote.3 != *voter).cloned().collect();
            places(&robustness_of(&left))[&found.models[0]] > 1
        };
        let expected = (0..12).filter(is_decisive).count() as u64;
        assert_eq!((voters.decisive, voters.voters, voters.left_out), (expected, 12, 12), "seed {seed}");
        assert_eq!(voters.strongest.unwrap().lead < 0.0, expected > 0, "seed {seed}");
        decisive += expected;
    }
    assert!(decisive > 0, "the seeds show nothing");
}

#[test]
fn the_fewest_votes_for_another_first_place_are_those_of_brute_force() {
    let mut compared = 0;
    for seed in 1..=6 {
        let votes = simulated(4, 40, 40, seed);
        let found = overall_of(&log_of(&votes)).first_place.unwrap();
        let (Some(decisive), [first]) = (found.votes, found.models.as_slice()) else { continue };
        let others = (1..=4).map(|model| format!("model-{model}")).filter(|model| model != first);
        let expected = others.map(|other| fewest_by_brute_force(&votes, first, &other)).min().unwrap();
        // Brute force ends at four votes.
        assert_eq!(decisive.votes.min(5), expected, "seed {seed}");
        compared += u32::from(expected < 5);
    }
    assert!(compared > 0, "the seeds show nothing");
}

#[test]
fn a_first_place_that_is_shared_or_has_no_limit_has_no_lead() {
    let shared = overall_of(&log_of(&votes(&[("a", "b", Tie, 4)]))).first_place.unwrap();
    assert_eq!((shared.models.as_slice(), &shared.lead), (&["a".to_owned(), "b".to_owned()][..], &None));
    let unbounded = votes(&[("b", "c", AWins, 6), ("b", "c", BWins, 5), ("a", "b", AWins, 3)]);
    let unbounded = overall_of(&log_of(&unbounded)).first_place.unwrap();
    assert_eq!((unbounded.models.as_slice(), &unbounded.lead), (&["a".to_owned()][..], &None));
    assert!(unbounded.votes.is_none() && unbounded.voters.is_none());
}

#[test]
fn votes_that_compare_nothing_give_an_empty_report() {
    for votes in [votes(&[]), votes(&[("a", "b", AWins, 3)])] {
        assert_eq!(overall_of(&log_of(&votes)), OverallRobustness::default());
    }
    let two = overall_of(&log_of(&votes(&[("a", "b", AWins, 3), ("a", "b", BWins, 2)])));
    assert!(two.goodness_of_fit.is_none() && two.cycles.is_none(), "one pair is always as rated: {two:?}");
    assert!(two.tie_orders.is_empty(), "no vote is a tie");
}

// ------------------------------------------------------------------------------------------------------- tie orders

#[test]
fn ties_that_hide_a_lead_change_the_first_place() {
    // Against c, a has 6 of 10 points; b has 15 of 26 with ties and 5 of 6 without.
    let log = log_of(&votes(&[
        ("a", "b", AWins, 5),
        ("a", "b", BWins, 5),
        ("a", "c", AWins, 6),
        ("a", "c", BWins, 4),
        ("b", "c", AWins, 5),
        ("b", "c", BWins, 1),
        ("b", "c", Tie, 20),
    ]));
    let orders = overall_of(&log).tie_orders;
    let rules: Vec<TieTreatment> = orders.iter().map(|order| order.ties).collect();
    assert_eq!(rules, [TieTreatment::Half, TieTreatment::Drop, TieTreatment::Davidson, TieTreatment::RaoKupper]);
    let [half, drop, ..] = orders.as_slice() else { unreachable!() };
    assert_eq!((half.first.as_slice(), half.kendall, &half.largest_move), (&["a".to_owned()][..], Some(1.0), &None));
    assert_eq!(drop.first, ["b"]);
    let moved = drop.largest_move.as_ref().unwrap();
    assert_eq!((moved.model.as_str(), moved.published, moved.place, drop.models), ("a", 1, 2, 3));
    // One of three pairs of models turns.
    near(drop.kendall.unwrap(), 1.0 / 3.0);
    // With ties left out of the published order, it is the one that drops them.
    let scoring = Scoring { ties: TieRule::Drop, both_bad: BothBadRule::Drop };
    let options = RobustnessOptions { scoring, ..RobustnessOptions::default() };
    let orders = overall_robustness(&log, options).unwrap().tie_orders;
    assert_eq!((orders[0].kendall, orders[1].kendall), (drop.kendall, Some(1.0)));
}

#[test]
fn a_model_that_won_every_vote_stays_first_however_ties_count() {
    let log = log_of(&votes(&[
        ("winner", "a", AWins, 6),
        ("a", "b", AWins, 3),
        ("a", "b", BWins, 2),
        ("a", "b", Tie, 4),
        ("b", "c", AWins, 3),
        ("c", "a", AWins, 1),
    ]));
    let orders = overall_of(&log).tie_orders;
    assert_eq!(orders.len(), 4);
    assert!(orders.iter().all(|order| order.first == ["winner"] && order.models == 4), "{orders:?}");
}

// -------------------------------------------------------------------------------------------------------- command

#[test]
fn the_command_says_it_in_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let file = data("robustness_votes.csv").display().to_string();
    let found = langya(folder.path(), ["fit", "--votes", &file, "--robustness"]).stdout;
    for said in [
        "\nWho is first? ",
        "\nHow many votes or voters decide it? Without ",
        "\nDo the ratings describe the votes? Not quite: over 15 pairs of models",
        "Largest deviation: model A has 67 % of the points in 67 votes against model B; its rating predicts 50 %.",
        "\nDo models beat each other in circles? 1 of 20 groups of three do, most clearly ",
        "\nDoes it matter how ties count? ",
        "\nDo the voters agree? Voters who clearly vote against the rest: 1 of the 29 with 10 votes or more for one side, who",
    ] {
        assert!(found.contains(said), "no {said:?}: {found}");
    }
    let plain = langya(folder.path(), ["fit", "--votes", &file]).stdout;
    assert!(!plain.contains("Who is first?"), "{plain}");
}
