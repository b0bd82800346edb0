//! Whether a simulation is what it says, and its files.

use std::collections::BTreeMap;

use langya::domain::battle::Outcome;
use langya::domain::rating::simulate::{PairingPolicy, Simulation, SimulationError, SimulationOptions, VoterActivity};
use langya::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use langya::formats::simulation::{SimulatedVotesFile, write_true_strengths};
use langya::formats::tables::Format;
use langya::formats::votes::{ReadOptions, read_log};

use super::{log_of, small};

fn share(votes: u32, of: usize) -> f64 {
    f64::from(votes) / f64::from(u32::try_from(of).unwrap())
}

#[test]
fn outcomes_have_the_shares_asked_for_and_strengths_stay_true() {
    let options = SimulationOptions {
        models: 2,
        spread: 1.5,
        ties: 0.2,
        both_bad: 0.1,
        voter_spread: 0.3,
        ..SimulationOptions::default()
    };
    let mut simulation = Simulation::new(options).unwrap();
    let d = simulation.models()[0].strength - simulation.models()[1].strength;
    let (mut points, mut ties, mut both_bad, votes) = (0.0, 0, 0, 40_000);
    for _ in 0..votes {
        let vote = simulation.vote();
        let points_a = vote.outcome.points_a();
        points += if vote.a == 0 { points_a } else { 1.0 - points_a };
        ties += u32::from(vote.outcome == Outcome::Tie);
        both_bad += u32::from(vote.outcome == Outcome::BothBad);
    }
    assert!((share(ties, votes) - 0.2).abs() < 0.01, "{ties}");
    assert!((share(both_bad, votes) - 0.1).abs() < 0.01, "{both_bad}");
    let mean = points / f64::from(u32::try_from(votes).unwrap());
    assert!((mean - 1.0 / (1.0 + (-d).exp())).abs() < 0.015, "{mean} at {d}");
}

#[test]
fn one_voter_agrees_with_itself_more_than_with_others() {
    let options = SimulationOptions { models: 2, voters: 50, spread: 0.0, voter_spread: 0.6, ..small() };
    let mut simulation = Simulation::new(SimulationOptions { ties: 0.0, both_bad: 0.0, ..options }).unwrap();
    let mut for_first = vec![(0_u32, 0_u32); 50];
    for _ in 0..10_000 {
        let vote = simulation.vote();
        let first_won = (vote.outcome == Outcome::AWins) == (vote.a == 0);
        let (won, all) = &mut for_first[vote.voter as usize];
        (*won, *all) = (*won + u32::from(first_won), *all + 1);
    }
    let shares = for_first.iter().map(|&(won, all)| f64::from(won) / f64::from(all));
    let spread = shares.map(|share| (share - 0.5).powi(2)).sum::<f64>() / 50.0;
    // For two normal numbers with correlation ρ, P(both below 0) = 1/4 + asin(ρ)/2π; so the shares vary by asin(ρ)/2π.
    let expected = 0.6_f64.asin() / std::f64::consts::TAU;
    assert!((spread - expected).abs() < 0.04, "{spread} instead of {expected}");
}

#[test]
fn pairs_come_as_often_as_their_probability_says() {
    for pairing in [PairingPolicy::Uniform, PairingPolicy::Zipf, PairingPolicy::Close] {
        let mut simulation = Simulation::new(SimulationOptions { models: 4, pairing, ..small() }).unwrap();
        let mut met = BTreeMap::new();
        for _ in 0..20_000 {
            let vote = simulation.vote();
            let (times, probability) = met.entry((vote.a.min(vote.b), vote.a.max(vote.b))).or_insert((0, 0.0));
            (*times, *probability) = (*times + 1, vote.pair_probability);
        }
        assert_eq!(met.len(), 6);
        let total: f64 = met.values().map(|&(_, probability)| probability).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        for (pair, (times, probability)) in met {
            assert!((share(times, 20_000) - probability).abs() < 0.015, "{pairing:?} {pair:?}: {times}, {probability}");
        }
    }
}

const FORMATS: [Format; 3] = [Format::Csv, Format::Jsonl, Format::Parquet];

fn bytes(seed: u64, format: Format) -> Vec<u8> {
    let mut simulation = Simulation::new(SimulationOptions { seed, ..small() }).unwrap();
    let mut out = Vec::new();
    let mut file = SimulatedVotesFile::begin("uniform", format, &mut out).unwrap();
    file.write(&mut simulation, 150).unwrap();
    file.write(&mut simulation, 50).unwrap();
    file.finish().unwrap();
    out
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    for format in FORMATS {
        assert_eq!(bytes(5, format), bytes(5, format));
        assert_ne!(bytes(5, format), bytes(6, format));
    }
}

#[test]
fn every_format_holds_the_votes_that_were_drawn() {
    let mut simulation = Simulation::new(SimulationOptions { seed: 5, ..small() }).unwrap();
    let drawn = log_of(&mut simulation, 200);
    let wanted = ColumnSet {
        voters: true,
        seconds: true,
        turns: true,
        style: true,
        pair_probabilities: true,
        ..ColumnSet::default()
    };
    for format in FORMATS {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, bytes(5, format)).unwrap();
        let log = read_log(&[file.path()], wanted, &ReadOptions::default()).unwrap();
        let names = |log: &VoteLog, places: &[u32]| -> Vec<String> {
            places.iter().map(|&place| log.models.as_slice()[place as usize].clone()).collect()
        };
        assert_eq!(names(&log, &log.a), names(&drawn, &drawn.a), "{format:?}");
        assert_eq!(names(&log, &log.b), names(&drawn, &drawn.b), "{format:?}");
        assert_eq!((&log.outcomes, &log.style), (&drawn.outcomes, &drawn.style), "{format:?}");
        assert_eq!(log.voters.unwrap().rows, drawn.voters.as_ref().unwrap().rows, "{format:?}");
        assert_eq!((log.turns, log.seconds.map(|seconds| seconds[199])), (Some(vec![1; 200]), Some(1_735_689_800.0)));
        assert!(log.pair_probabilities.unwrap().iter().all(|&probability| (probability - 1.0 / 10.0).abs() < 1e-12));
    }
}

#[test]
fn the_truth_is_written_best_first() {
    let simulation = Simulation::new(small()).unwrap();
    let mut out = Vec::new();
    write_true_strengths(simulation.models(), &mut out).unwrap();
    let rows: Vec<(String, f64, f64)> =
        csv::Reader::from_reader(out.as_slice()).deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 5);
    assert!(rows.is_sorted_by(|x, y| x.1 >= y.1));
    assert!(rows.iter().all(|(_, strength, rating)| (rating - 1000.0 - 400.0 / 10_f64.ln() * strength).abs() < 1e-9));
}

#[test]
fn the_largest_spread_gives_finite_strengths_and_pairs() {
    for pairing in [PairingPolicy::Uniform, PairingPolicy::Close] {
        let options = SimulationOptions { spread: 50.0, pairing, ..SimulationOptions::default() };
        let mut simulation = Simulation::new(options).unwrap();
        assert!(simulation.models().iter().all(|model| model.strength.is_finite()));
        assert!((0..100).all(|_| simulation.vote().pair_probability.is_finite()));
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refuse = |options: SimulationOptions| Simulation::new(options).unwrap_err();
    assert_eq!(refuse(SimulationOptions { models: 1, ..small() }), SimulationError::Models(1));
    for voters in [0, u32::MAX] {
        // The weights of so many voters would take 32 GB.
        let activity = VoterActivity::Zipf;
        assert_eq!(refuse(SimulationOptions { voters, activity, ..small() }), SimulationError::Voters(voters));
    }
    assert!(matches!(refuse(SimulationOptions { ties: 1.0, ..small() }), SimulationError::Share { .. }));
    for spread in [f64::NAN, 1e308, 1e4, -1.0] {
        // Models so far apart that none of them would ever meet.
        let told = refuse(SimulationOptions { spread, pairing: PairingPolicy::Close, ..small() }).to_string();
        assert_eq!(told, format!("the spread of strengths is {spread:?}: give a number from 0 to 50, in log odds"));
    }
    for effect in [f64::INFINITY, 1e308, -51.0] {
        let told = refuse(SimulationOptions { style: [0.0, effect, 0.0, 0.0], ..small() }).to_string();
        assert_eq!(told, format!("an effect of style is {effect:?}: give a number from -50 to 50, in log odds"));
    }
    let far = SimulationOptions { ties: 0.4, spread: 6.0, ..small() };
    assert!(matches!(refuse(far), SimulationError::TooManyTies { .. }));
}
