//! Whether intervals hold what they promise: over 300 simulated arenas, or 100 in the short form, a 95 % interval covers the
//! truth 93 to 97 times in a hundred. And whether a simulation is what it says.

use std::collections::BTreeMap;

use langya::domain::battle::pairing::{ModelPool, PairingRules, Policy, PoolEntry, choose_pair};
use langya::domain::battle::{ModelId, Outcome};
use langya::domain::rating::bradley_terry::fit;
use langya::domain::rating::comparison::ComparisonSet;
use langya::domain::rating::fit::ModelStrength;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::ranking::rank_log;
use langya::domain::rating::scoring::Scoring;
use langya::domain::rating::simulate::{PairingPolicy, Simulation, SimulationError, SimulationOptions, VoterActivity};
use langya::domain::rating::style::{StyleOptions, fit_style};
use langya::domain::rating::tally::Tally;
use langya::domain::rating::vote_log::{ColumnSet, Labels, VoteLog};
use langya::formats::simulation::{SimulatedVotesFile, write_truth};
use langya::formats::tables::Format;
use langya::formats::votes::{ReadOptions, read_log};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::size;

/// The half width of a normal interval at 95 %, in standard errors.
const Z: f64 = 1.959_963_984_540_054;

/// Seeds from 1 on, one for each arena.
fn arenas() -> u64 {
    size(100, 300) as u64
}

pub(crate) fn log_of(simulation: &mut Simulation, votes: usize) -> VoteLog {
    let mut log = VoteLog::default();
    append_votes(&mut log, simulation, votes);
    log
}

/// Adds votes with their voters and style counts to a log that has no others.
pub(crate) fn append_votes(log: &mut VoteLog, simulation: &mut Simulation, votes: usize) {
    let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
    let mut style = log.style.take().unwrap_or_default();
    let mut voters = log.voters.take().unwrap_or_default();
    for _ in 0..votes {
        let vote = simulation.vote();
        log.push(&names[vote.a], &names[vote.b], vote.outcome).unwrap();
        style.push(vote.counts.map(Some));
        voters.rows.push(voters.names.position(&vote.voter.to_string()));
    }
    (log.style, log.voters) = (Some(style), Some(voters));
}

fn tally(log: &VoteLog) -> Tally {
    let mut comparisons = ComparisonSet::new();
    let name = |model: u32| log.models.as_slice()[model as usize].as_str();
    for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
        comparisons.record(name(a), name(b), outcome).unwrap();
    }
    comparisons.tally(Scoring::default())
}

/// How many intervals there were, and how many held the truth.
#[derive(Debug, Default)]
struct Coverage {
    all: u32,
    covering: u32,
    /// Models without an interval, because too few voters compare them with the rest.
    missing: u32,
}

impl Coverage {
    fn count(&mut self, holds: bool) {
        self.all += 1;
        self.covering += u32::from(holds);
    }

    fn count_interval(&mut self, interval: Option<(f64, f64)>, truth: f64) {
        match interval {
            Some((lower, upper)) => self.count((lower..=upper).contains(&truth)),
            None => self.missing += 1,
        }
    }

    fn share(&self) -> f64 {
        f64::from(self.covering) / f64::from(self.all)
    }

    #[track_caller]
    fn holds(&self) {
        println!("{:.4} of {} intervals cover the truth; {} are missing", self.share(), self.all, self.missing);
        assert!((0.93..=0.97).contains(&self.share()), "{self:?}");
        assert!(50 * self.missing <= self.all, "{self:?}");
    }
}

/// Coverage of ratings by the intervals of a leaderboard, found in each of these ways, over the arenas.
fn coverage<const N: usize>(options: &SimulationOptions, votes: usize, ways: [IntervalMethod; N]) -> [Coverage; N] {
    let mut found = ways.map(|_| Coverage::default());
    for seed in 1..=arenas() {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let log = log_of(&mut simulation, votes);
        for (interval, coverage) in ways.into_iter().zip(&mut found) {
            let leaderboard =
                rank_log(&log, &LeaderboardOptions { interval, ..LeaderboardOptions::default() }).unwrap();
            assert_eq!(leaderboard.models.len(), simulation.models().len(), "every model has votes; seed {seed}");
            for model in simulation.models() {
                let rated = leaderboard.models.iter().find(|rated| rated.model == model.name).unwrap();
                assert_eq!(rated.unbounded, None, "seed {seed}");
                coverage.count_interval(rated.lower.zip(rated.upper), model.rating());
            }
        }
    }
    found
}

/// Models enough to have their errors correlated, and just votes enough for normal intervals.
fn small() -> SimulationOptions {
    SimulationOptions { models: 5, spread: 0.6, ties: 0.15, both_bad: 0.05, ..SimulationOptions::default() }
}

#[test]
fn sandwich_intervals_cover_the_truth() {
    let [sandwich] = coverage(&small(), 200, [IntervalMethod::Sandwich]);
    sandwich.holds();
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn where_votes_of_a_voter_hang_together_only_clustered_intervals_cover_the_truth() {
    let options = SimulationOptions { voters: 50, voter_spread: 0.5, ..small() };
    let [cluster, sandwich] = coverage(&options, 400, [IntervalMethod::Cluster, IntervalMethod::Sandwich]);
    cluster.holds();
    let plain = sandwich.share();
    assert!(plain < 0.9, "votes taken for independent ones seem surer than they are: {plain}");
}

/// A bootstrap that drew votes instead of voters would be as sure as the sandwich.
#[test]
#[ignore = "slow: tests/run runs it"]
fn the_bootstrap_draws_voters_and_so_covers_the_truth_where_they_have_tastes() {
    let options = SimulationOptions { voters: 50, voter_spread: 0.5, ..small() };
    let [bootstrap, sandwich] = coverage(&options, 400, [IntervalMethod::Bootstrap, IntervalMethod::Sandwich]);
    println!("bootstrap {:.4}, sandwich {:.4}", bootstrap.share(), sandwich.share());
    // Percentiles of a few dozen voters are a little too narrow; the default is the jackknife.
    assert!((0.91..=0.97).contains(&bootstrap.share()), "{bootstrap:?}");
    assert!(sandwich.share() < 0.88, "{sandwich:?}");
}

// ---------------------------------------------------------------------------------------------- the jackknife

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

// -------------------------------------------------------------------------------------------- the simulation itself

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
    write_truth(simulation.models(), &mut out).unwrap();
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
