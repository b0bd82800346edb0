//! Bootstrap samples of the metrics of a leaderboard, for studies that compare them with other metrics.
//!
//! All metrics of a replicate come from the same resampled votes: those of whole voters where several are known, drawn as in
//! [`bootstrap`](super::intervals::bootstrap), else votes drawn by pair and outcome. Elo needs single votes: in the second case
//! another step samples the votes of each pair and outcome with replacement. Log order is kept.

use std::collections::HashMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::counts::tally::Tally;
use super::counts::votes_by_voter::VotesByVoter;
use super::intervals::bootstrap::{ResamplingUnit, resample_counts, resampled_strengths, resampled_win_tie_rates};
use super::intervals::voter_resampling::{VoterVotes, votes_to_resample};
use super::leaderboards::leaderboard::RankedModel;
use super::strengths::elo::EloTable;
use super::votes::vote_log::VoteLog;
use super::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use crate::battle::Outcome;
use crate::rating::leaderboards::ranking::fit_strengths;
use crate::rating::options::LeaderboardOptions;
use crate::stats::resample::BootstrapOptions;

/// A metric of each model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Bradley–Terry rating on the public scale.
    Rating,
    /// Elo rating.
    Elo,
    /// Share of its votes that the model won or tied.
    WinTieRate,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 3] = [Self::Rating, Self::Elo, Self::WinTieRate];

    /// Returns the name in a series, such as `win_tie_rate`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rating => "rating",
            Self::Elo => "elo",
            Self::WinTieRate => "win_tie_rate",
        }
    }

    /// Parses a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.as_str() == text)
    }

    /// Returns the metric of a leaderboard row; `None` for the rating of an unbounded model.
    #[must_use]
    pub fn value(self, model: &RankedModel) -> Option<f64> {
        match self {
            Self::Rating => model.rating,
            Self::Elo => Some(model.elo),
            Self::WinTieRate => Some(model.win_tie_rate),
        }
    }
}

/// Bootstrap samples of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapSamples {
    /// The models.
    pub models: Vec<String>,
    /// For each replicate, the metric of each model; `None` where the replicate does not determine it.
    pub replicates: Vec<Vec<Option<f64>>>,
    /// Resampling unit: votes or voters.
    pub resampled: ResamplingUnit,
}

/// Resamples the votes of a log: whole voters where several are known and the interval method of the options reads them. The
/// ratings of each component have mean 1000: an anchor shifts all of them alike, which no correlation depends on.
///
/// # Errors
/// [`FitError`] as for the fit.
pub fn resample(
    log: &VoteLog,
    metric: Metric,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Result<BootstrapSamples, FitError> {
    let tally = Tally::from_log(log, options.scoring);
    let models = tally.models.iter().map(|model| model.name.clone()).collect();
    let reads_voters = bootstrap.replicates > 0 && options.interval.reads_voters();
    let by_voter = reads_voters.then(|| votes_to_resample(log, options.scoring, &tally)).flatten();
    let voters = by_voter.as_ref().map(|by_voter| VoterVotes::new(by_voter, &tally));
    let replicates = match metric {
        Metric::Rating => ratings(&tally, voters.as_ref(), options, bootstrap)?,
        Metric::WinTieRate => resampled_win_tie_rates(&tally, voters.as_ref(), bootstrap),
        Metric::Elo => elo(log, &tally, by_voter.as_ref().zip(voters.as_ref()), options, bootstrap),
    };
    let resampled = if voters.is_some() { ResamplingUnit::Voters } else { ResamplingUnit::Votes };
    Ok(BootstrapSamples { models, replicates, resampled })
}

fn ratings(
    tally: &Tally,
    voters: Option<&VoterVotes>,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Result<Vec<Vec<Option<f64>>>, FitError> {
    let fit = fit_strengths(tally, options.scoring)?;
    let rating = |strength: f64| strength.is_finite().then_some(MEAN_RATING + POINTS_PER_STRENGTH * strength);
    let strengths = resampled_strengths(tally, &fit, voters, bootstrap)?;
    Ok(strengths.into_iter().map(|strengths| strengths.into_iter().map(rating).collect()).collect())
}

fn elo(
    log: &VoteLog,
    tally: &Tally,
    voters: Option<(&VotesByVoter, &VoterVotes)>,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Vec<Vec<Option<f64>>> {
    let kinds = if voters.is_some() { Vec::new() } else { by_kind(log, tally, options) };
    let one = |replicate: u32| {
        let mut rng = bootstrap.rng(replicate);
        let times = match voters {
            Some((by_voter, voters)) => voters.sample_rows(by_voter, log.len(), &mut rng),
            None => sample_rows(tally, &kinds, log.len(), &mut rng),
        };
        let table = EloTable::from_repeated(log, options.scoring, &times);
        tally.models.iter().map(|model| Some(table.rating(model.index))).collect()
    };
    (0..bootstrap.replicates).into_par_iter().map(one).collect()
}

/// Draws votes one by one and returns how often each of the log's `rows` votes is drawn.
fn sample_rows(tally: &Tally, kinds: &[Vec<u32>], rows: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut times = vec![0; rows];
    for (votes, count) in kinds.iter().zip(resample_counts(tally, rng).into_iter().flatten()) {
        (0..count).for_each(|_| times[votes[rng.random_range(0..votes.len())] as usize] += 1);
    }
    times
}

/// Collects the log positions of the rated votes of each pair: for the first model, for the second, for neither.
fn by_kind(log: &VoteLog, tally: &Tally, options: &LeaderboardOptions) -> Vec<Vec<u32>> {
    let place = |at: usize| u32::try_from(tally.models[at].index).expect("models have 32-bit positions");
    let pairs = tally.pairs.iter().enumerate().map(|(at, pair)| ((place(pair.first), place(pair.second)), at));
    let pairs: HashMap<(u32, u32), usize> = pairs.collect();
    let mut kinds = vec![Vec::new(); 3 * tally.pairs.len()];
    for (vote, ((&a, &b), &outcome)) in (0_u32..).zip(log.a.iter().zip(&log.b).zip(&log.outcomes)) {
        let Some((pair, a_first)) =
            pairs.get(&(a, b)).map(|&at| (at, true)).or_else(|| Some((*pairs.get(&(b, a))?, false)))
        else {
            continue;
        };
        let kind = match outcome {
            Outcome::AWins => usize::from(!a_first),
            Outcome::BWins => usize::from(a_first),
            Outcome::Tie | Outcome::BothBad => 2,
        };
        if options.scoring.counts(outcome) {
            kinds[3 * pair + kind].push(vote);
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::leaderboards::ranking::rank_log;
    use crate::rating::options::IntervalMethod;
    use crate::rating::simulate::{Simulation, SimulationOptions};
    use crate::rating::votes::vote_log::Labels;
    use crate::stats::confidence::ConfidenceLevel;

    const BOOTSTRAP: BootstrapOptions = BootstrapOptions { replicates: 400, seed: 3 };

    fn log() -> VoteLog {
        let mut log = VoteLog::default();
        for number in 0..600_usize {
            let (a, b) = (number % 4, (number % 4 + 1 + number % 3) % 4);
            log.push(&format!("m{a}"), &format!("m{b}"), Outcome::ALL[(number * 7 + number / 5) % 4]).unwrap();
        }
        log
    }

    /// Votes of [`log`], cast by 37 voters.
    fn log_with_voters() -> VoteLog {
        let mut voters = Labels::default();
        (0..600).for_each(|number| voters.push(Some(&format!("voter {}", number % 37))));
        VoteLog { voters: Some(voters), ..log() }
    }

    /// Votes of 30 voters with individual tastes.
    fn log_of_tastes() -> VoteLog {
        let options = SimulationOptions {
            models: 3,
            seed: 7,
            spread: 0.3,
            ties: 0.1,
            both_bad: 0.05,
            voters: 30,
            voter_spread: 0.7,
            ..SimulationOptions::default()
        };
        Simulation::new(options).unwrap().log(1_200)
    }

    fn of_model(found: &BootstrapSamples, model: usize) -> Vec<f64> {
        found.replicates.iter().map(|values| values[model].unwrap()).collect()
    }

    fn spread(values: &[f64]) -> f64 {
        crate::stats::distribution::Summary::new(values).unwrap().std_dev
    }

    #[test]
    fn percentiles_of_resampled_ratings_equal_bootstrap_intervals() {
        println!("seed {}", BOOTSTRAP.seed);
        let options = LeaderboardOptions {
            interval: IntervalMethod::Bootstrap,
            bootstrap: BOOTSTRAP,
            ..LeaderboardOptions::default()
        };
        for (log, unit) in [(log(), ResamplingUnit::Votes), (log_with_voters(), ResamplingUnit::Voters)] {
            let leaderboard = rank_log(&log, &options).unwrap();
            let found = resample(&log, Metric::Rating, &options, BOOTSTRAP).unwrap();
            assert_eq!((found.resampled, leaderboard.bootstrap.unwrap().resampled), (unit, unit));
            for (position, name) in found.models.iter().enumerate() {
                let line = leaderboard.models.iter().find(|line| line.model == *name).unwrap();
                let values: Vec<_> = of_model(&found, position).into_iter().map(Ok).collect();
                let ends = crate::stats::resample::percentiles(&values, ConfidenceLevel::default()).unwrap().interval;
                let off = [ends.lower - line.lower.unwrap(), ends.upper - line.upper.unwrap()];
                assert!(off.iter().all(|off| off.abs() < 1e-9), "{unit:?} {name}: {off:?}");
            }
        }
    }

    #[test]
    fn where_voters_have_tastes_every_metric_varies_more_than_independent_votes_would() {
        println!("seed {}", BOOTSTRAP.seed);
        let by_voter = log_of_tastes();
        let without_voters = VoteLog { voters: None, ..by_voter.clone() };
        let options = LeaderboardOptions::default();
        for metric in Metric::ALL {
            let of = |log: &VoteLog| resample(log, metric, &options, BOOTSTRAP).unwrap();
            let [of_voters, of_votes] = [of(&by_voter), of(&without_voters)];
            for model in 0..of_voters.models.len() {
                let [wide, narrow] = [&of_voters, &of_votes].map(|found| spread(&of_model(found, model)));
                assert!(wide > 1.5 * narrow, "{} of {model}: {wide} and {narrow}", metric.as_str());
            }
            let sandwich = LeaderboardOptions { interval: IntervalMethod::Sandwich, ..options.clone() };
            assert_eq!(resample(&by_voter, metric, &sandwich, BOOTSTRAP).unwrap(), of_votes, "{}", metric.as_str());
        }
    }

    #[test]
    fn the_spread_of_a_resampled_rate_is_that_of_a_share() {
        println!("seed {}", BOOTSTRAP.seed);
        let options = LeaderboardOptions::default();
        let leaderboard = rank_log(&log(), &options).unwrap();
        let found = resample(&log(), Metric::WinTieRate, &options, BOOTSTRAP).unwrap();
        for (position, name) in found.models.iter().enumerate() {
            let line = leaderboard.models.iter().find(|line| line.model == *name).unwrap();
            let (p, n) = (line.win_tie_rate, crate::stats::real(line.battles));
            let expected = (p * (1.0 - p) / n).sqrt();
            let values = of_model(&found, position);
            let (got, mean) = (spread(&values), crate::stats::distribution::mean(&values).unwrap());
            assert!((mean - p).abs() < expected / 4.0, "{name}: {mean} instead of {p}");
            assert!((got / expected - 1.0).abs() < 0.15, "{name}: {got} instead of {expected}");
        }
    }

    #[test]
    fn resampled_elo_varies_around_the_rating() {
        println!("seed {}", BOOTSTRAP.seed);
        let options = LeaderboardOptions::default();
        let leaderboard = rank_log(&log(), &options).unwrap();
        let found = resample(&log(), Metric::Elo, &options, BOOTSTRAP).unwrap();
        for (position, name) in found.models.iter().enumerate() {
            let line = leaderboard.models.iter().find(|line| line.model == *name).unwrap();
            let values = of_model(&found, position);
            let mean = crate::stats::distribution::mean(&values).unwrap();
            assert!(spread(&values) > 1.0 && (mean - line.elo).abs() < 3.0 * spread(&values), "{name}: {mean}");
        }
    }

    #[test]
    fn all_figures_of_a_replicate_are_of_the_same_votes() {
        println!("seed {}", BOOTSTRAP.seed);
        for log in [log(), log_with_voters()] {
            let of = |metric| resample(&log, metric, &LeaderboardOptions::default(), BOOTSTRAP).unwrap();
            let [ratings, elo, rates] = Metric::ALL.map(of);
            for model in 0..ratings.models.len() {
                let with = |other: &BootstrapSamples| {
                    crate::stats::correlation::pearson_r(&of_model(&ratings, model), &of_model(other, model)).unwrap()
                };
                assert!(with(&rates) > 0.7 && with(&elo) > 0.7, "{model}: {} {}", with(&rates), with(&elo));
            }
        }
    }

    #[test]
    fn resampling_no_votes_gives_no_values() {
        let options = LeaderboardOptions::default();
        for metric in Metric::ALL {
            let found = resample(&VoteLog::default(), metric, &options, BootstrapOptions { replicates: 3, seed: 0 });
            assert!(found.unwrap().replicates.iter().all(Vec::is_empty), "{}", metric.as_str());
        }
    }
}
