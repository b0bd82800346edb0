//! Whether intervals hold what they promise: over 300 simulated arenas, or 100 in the short form, a 95 % interval covers the
//! truth 93 to 97 times in a hundred. And whether a simulation is what it says.

mod jackknife;
mod simulation;
mod style;

use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::simulate::{Simulation, SimulationOptions};
use langya::domain::rating::votes::vote_log::VoteLog;

use crate::support::size;

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
