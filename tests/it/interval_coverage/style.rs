//! Coverage of the intervals of ratings and effects under style control.

use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::tally::Tally;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::simulate::{Simulation, SimulationOptions, VoterActivity};
use langya::domain::rating::strengths::bradley_terry::fit;
use langya::domain::rating::strengths::fit::ModelStrength;
use langya::domain::rating::style::{StyleOptions, fit_style};
use langya::domain::rating::votes::scoring::Scoring;
use langya::domain::rating::votes::vote_log::VoteLog;

use super::{Coverage, arenas, log_of, small};

/// The half width of a normal interval at 95 %, in standard errors.
const Z: f64 = 1.959_963_984_540_054;

fn tally(log: &VoteLog) -> Tally {
    let mut comparisons = ComparisonSet::new();
    let name = |model: u32| log.models.as_slice()[model as usize].as_str();
    for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
        comparisons.record(name(a), name(b), outcome).unwrap();
    }
    comparisons.tally(Scoring::default())
}

/// Arenas of each simulation, which first draws thousands of votes to learn how spread the features are.
const ARENAS_A_SIMULATION: u64 = 30;

#[test]
#[ignore = "slow: tests/run runs it"]
fn intervals_under_style_control_cover_the_truth() {
    let options = SimulationOptions { models: 4, style: [0.5, 0.2, -0.3, 0.0], ..small() };
    let [mut strengths, mut effects] = [Coverage::default(), Coverage::default()];
    for seed in 1..=arenas() / ARENAS_A_SIMULATION {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        for _ in 0..ARENAS_A_SIMULATION {
            let log = log_of(&mut simulation, 250);
            let tally = tally(&log);
            let styled = fit_style(&log, &tally, &fit(&tally).unwrap(), StyleOptions::default()).unwrap();
            for (place, model) in tally.models.iter().enumerate() {
                let truth = simulation.models().iter().find(|truth| truth.name == model.name).unwrap().strength;
                let ModelStrength::Rated { strength, .. } = styled.fit.model_strengths[place] else {
                    panic!("unbounded; seed {seed}")
                };
                strengths.count((strength - truth).abs() <= Z * styled.errors[place].unwrap());
            }
            for (effect, truth) in styled.effects.iter().zip(options.style) {
                effects.count((effect.coefficient - truth).abs() <= Z * effect.error.unwrap());
            }
        }
    }
    strengths.holds();
    effects.holds();
}

/// Effects of style among voters with tastes of their own.
#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_under_style_control() {
    let style = SimulationOptions { models: 4, style: [0.5, 0.2, -0.3, 0.0], ..small() };
    let options = SimulationOptions { voters: 60, voter_spread: 0.5, activity: VoterActivity::Zipf, ..style };
    let jackknife = LeaderboardOptions { interval: IntervalMethod::Jackknife, style: true, ..Default::default() };
    let [mut ratings, mut effects] = [Coverage::default(), Coverage::default()];
    for seed in 1..=arenas() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let leaderboard = rank_log(&log_of(&mut simulation, 600), &jackknife).unwrap();
        for model in simulation.models() {
            let rated = leaderboard.models.iter().find(|rated| rated.model == model.name).unwrap();
            ratings.count_interval(rated.lower.zip(rated.upper), model.rating());
        }
        for (effect, truth) in leaderboard.style.iter().zip(options.style) {
            effects.count((effect.lower..=effect.upper).contains(&truth));
        }
    }
    ratings.holds();
    effects.holds();
}
