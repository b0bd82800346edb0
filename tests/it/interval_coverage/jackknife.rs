//! Coverage of the intervals by the jackknife, which leaves out each voter in turn.

use std::collections::BTreeMap;

use langya::domain::battle::ModelId;
use langya::domain::battle::pairing::{ModelPool, PairingRules, Policy, PoolEntry, choose_pair};
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::simulate::{PairingPolicy, Simulation, SimulationOptions, VoterActivity};
use langya::domain::rating::votes::vote_log::{Labels, VoteLog};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Coverage, arenas, coverage, log_of, small};
use crate::support::size;

#[track_caller]
fn jackknife_covers(options: &SimulationOptions, votes: usize) {
    let ways = [IntervalMethod::Jackknife, IntervalMethod::Cluster, IntervalMethod::Sandwich];
    let [jackknife, cluster, sandwich] = coverage(options, votes, ways);
    let (models, voters, activity) = (options.models, options.voters, options.activity);
    println!("{models} models, {votes} votes, {voters} voters, {activity:?}, taste {}:", options.voter_spread);
    println!("by voter {:.4}, as independent votes {:.4}, without each voter:", cluster.share(), sandwich.share());
    jackknife.holds();
}

#[test]
fn the_jackknife_covers_the_truth_of_independent_votes() {
    jackknife_covers(&SimulationOptions { voters: 200, ..small() }, 200);
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_where_voters_have_tastes() {
    jackknife_covers(&SimulationOptions { voters: 50, voter_spread: 0.5, models: 10, ..small() }, 1_000);
    jackknife_covers(&SimulationOptions { voters: 20, voter_spread: 0.5, ..small() }, 400);
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_where_few_voters_vote_much() {
    let zipf = SimulationOptions { activity: VoterActivity::Zipf, voter_spread: 0.5, models: 10, ..small() };
    jackknife_covers(&SimulationOptions { voters: 100, ..zipf.clone() }, 1_000);
    jackknife_covers(&SimulationOptions { voters: 1_000, ..zipf.clone() }, 2_000);
    jackknife_covers(&SimulationOptions { voters: 30, models: 5, ..zipf }, 500);
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_of_many_models_that_meet_close_ones_more_often() {
    let many = SimulationOptions { models: 100, voters: 400, voter_spread: 0.3, ..small() };
    let options = SimulationOptions { pairing: PairingPolicy::Close, activity: VoterActivity::Zipf, ..many };
    let mut found = Coverage::default();
    for seed in 1..=u64::try_from(size(30, 200)).unwrap() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        count_intervals(&log_of(&mut simulation, 10_000), &simulation, &mut found);
    }
    found.holds();
}

/// Three of ten models take part only in the last third of the votes.
#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_of_models_that_enter_late() {
    let options = SimulationOptions {
        models: 10,
        voters: 100,
        voter_spread: 0.5,
        activity: VoterActivity::Zipf,
        pairing: PairingPolicy::Close,
        ..small()
    };
    let mut found = Coverage::default();
    for seed in 1..=arenas() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let whole = log_of(&mut simulation, 1_500);
        let is_late = |model: u32| whole.models.as_slice()[model as usize].as_str() >= "model-08";
        let late = |row: usize| is_late(whole.a[row]) || is_late(whole.b[row]);
        let kept: Vec<usize> = (0..whole.len()).filter(|&row| row >= 1_000 || !late(row)).collect();
        count_intervals(&rows_of(&whole, &kept), &simulation, &mut found);
    }
    found.holds();
}

/// Two of eight models take part only in the last third of the votes, and pairs are drawn by the arena's `active` policy from
/// ratings that are refitted after every 50 votes.
#[test]
#[ignore = "slow: tests/run runs it"]
fn the_jackknife_covers_the_truth_under_active_pairing_of_models_that_enter_late() {
    let options =
        SimulationOptions { models: 8, voters: 100, voter_spread: 0.5, activity: VoterActivity::Zipf, ..small() };
    let mut found = Coverage::default();
    for seed in 1..=size(40, 300) as u64 {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let log = actively_paired(&mut simulation, seed);
        count_intervals(&log, &simulation, &mut found);
    }
    found.holds();
}

fn actively_paired(simulation: &mut Simulation, seed: u64) -> VoteLog {
    let rules = PairingRules {
        policy: Policy::Active,
        uniform_share: 0.1,
        elo_width: 200.0,
        new_model_votes: 50,
        new_model_boost: 3.0,
    };
    let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut log = VoteLog { voters: Some(Labels::default()), ..VoteLog::default() };
    for round in 0..24 {
        let taking_part = if round < 16 { &names[..6] } else { &names[..] };
        let pool = pool_of(&log, taking_part);
        for _ in 0..50 {
            let pair = choose_pair(&pool, &rules, &mut rng).unwrap();
            let wanted = [pair.a.as_str(), pair.b.as_str()];
            // Votes on other pairs are passed over: which pair it is says nothing about the voter or the voter's taste.
            let vote = std::iter::repeat_with(|| simulation.vote())
                .find(|vote| [vote.a, vote.b].iter().all(|&model| wanted.contains(&names[model].as_str())))
                .unwrap();
            log.push(&names[vote.a], &names[vote.b], vote.outcome).unwrap();
            log.voters.as_mut().unwrap().push(Some(&vote.voter.to_string()));
        }
    }
    log
}

/// These models, with their ratings and votes so far.
fn pool_of(log: &VoteLog, names: &[String]) -> ModelPool {
    let options = LeaderboardOptions { interval: IntervalMethod::None, ..LeaderboardOptions::default() };
    let leaderboard = rank_log(log, &options).unwrap();
    let entry = |name: &String| {
        let rated = leaderboard.models.iter().find(|rated| rated.model == *name);
        let (rating, votes) = rated.map_or((1000.0, 0), |rated| (rated.rating_or_limit(), rated.battles));
        PoolEntry { id: ModelId::new(name.as_str()), weight: 1.0, rating, votes }
    };
    let mut pool = ModelPool::new(names.iter().map(entry).collect());
    let mut met: BTreeMap<[&str; 2], u64> = BTreeMap::new();
    for (&a, &b) in log.a.iter().zip(&log.b) {
        let [a, b] = [a, b].map(|model| log.models.as_slice()[model as usize].as_str());
        *met.entry([a.min(b), a.max(b)]).or_default() += 1;
    }
    met.into_iter().for_each(|([a, b], votes)| pool.set_pair_votes(&ModelId::new(a), &ModelId::new(b), votes));
    pool
}

fn count_intervals(log: &VoteLog, simulation: &Simulation, found: &mut Coverage) {
    let options = LeaderboardOptions { interval: IntervalMethod::Jackknife, ..LeaderboardOptions::default() };
    let leaderboard = rank_log(log, &options).unwrap();
    for model in simulation.models() {
        let rated = leaderboard.models.iter().find(|rated| rated.model == model.name).unwrap();
        found.count_interval(rated.lower.zip(rated.upper), model.rating());
    }
}

/// Some rows of a log, with their voters.
fn rows_of(log: &VoteLog, rows: &[usize]) -> VoteLog {
    let (mut kept, mut voters) = (VoteLog::default(), Labels::default());
    let from = log.voters.as_ref().unwrap();
    for &row in rows {
        let name = |model: u32| log.models.as_slice()[model as usize].as_str();
        kept.push(name(log.a[row]), name(log.b[row]), log.outcomes[row]).unwrap();
        voters.rows.push(voters.names.position(&from.names.as_slice()[from.rows[row] as usize]));
    }
    kept.voters = Some(voters);
    kept
}
