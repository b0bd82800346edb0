//! Arena of simulated honest votes, paired by the arena's own policy.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::{RiggingError, RiggingOptions};
use crate::battle::ModelId;
use crate::battle::pairing::{ModelPool, PoolEntry, distribution};
use crate::rating::MEAN_RATING;
use crate::rating::counts::comparison::ComparisonSet;
use crate::rating::leaderboards::leaderboard::Leaderboard;
use crate::rating::leaderboards::ranking::rank;
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::simulate::Simulation;
use crate::rating::strengths::elo::EloTable;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{ColumnSet, VoteLog};

/// Number of refits of the pairing while the honest votes arrive.
const REFITS: usize = 20;

/// Arena with honest votes only, as the attacker finds it.
#[derive(Debug)]
pub(super) struct SimulatedArena {
    pub(super) log: VoteLog,
    /// Names of the models by position in the log.
    pub(super) names: Vec<String>,
    /// Pairs after the honest votes, by positions of models.
    pub(super) pairs: ArenaPairs,
    places: Vec<u64>,
}

/// Pairs of models with their probabilities.
#[derive(Debug)]
pub(super) struct ArenaPairs {
    pairs: Vec<([usize; 2], f64)>,
    alias: WeightedAliasIndex<f64>,
}

impl ArenaPairs {
    fn new(names: &[String], options: &RiggingOptions, log: &VoteLog) -> Result<Self, RiggingError> {
        let leaderboard = leaderboard_of(&ComparisonSet::from_log(log), log, &LeaderboardOptions::default())?;
        let mut pool = ModelPool::new(names.iter().map(|name| pool_entry(name, &leaderboard)).collect());
        for (first, second, counts) in ComparisonSet::from_log(log).pairs() {
            let [first, second] = [first, second].map(|model| ModelId::new(names[model as usize].clone()));
            pool.set_pair_votes(&first, &second, counts.total());
        }
        let place = |id: &ModelId| names.iter().position(|name| name == id.as_str()).unwrap_or_default();
        let shares = distribution(&pool, &options.pairing)?;
        let pairs: Vec<([usize; 2], f64)> =
            shares.iter().map(|share| ([place(&share.first), place(&share.second)], share.probability)).collect();
        let alias = WeightedAliasIndex::new(pairs.iter().map(|(_, share)| *share).collect());
        Ok(Self { pairs, alias: alias.expect("there is a pair, and probabilities sum to 1") })
    }

    /// Draws two models on random sides, and returns their probability.
    pub(super) fn draw(&self, rng: &mut impl rand::Rng) -> ([usize; 2], f64) {
        use rand::RngExt;
        let ([first, second], probability) = self.pairs[self.alias.sample(rng)];
        (if rng.random() { [first, second] } else { [second, first] }, probability)
    }
}

fn pool_entry(name: &str, leaderboard: &Leaderboard) -> PoolEntry {
    let ranked = leaderboard.models.iter().find(|model| model.model == name);
    PoolEntry {
        id: ModelId::new(name),
        weight: 1.0,
        rating: ranked.and_then(|model| model.rating).unwrap_or(MEAN_RATING),
        votes: ranked.map_or(0, |model| model.battles),
    }
}

/// Fits the leaderboard of counted votes, without intervals. `log` defines the models.
pub(super) fn leaderboard_of(
    votes: &ComparisonSet,
    log: &VoteLog,
    options: &LeaderboardOptions,
) -> Result<Leaderboard, RiggingError> {
    // Places are by the Bradley–Terry ratings, so Elo may stay at its initial values.
    let elo = EloTable::from_log(&VoteLog { models: log.models.clone(), ..VoteLog::default() }, Scoring::default());
    Ok(rank(votes, &elo, &LeaderboardOptions { interval: IntervalMethod::None, ..options.clone() })?)
}

/// Returns the place of each model by name: 1 + the number of models above it that are not provisional. `None` for a provisional model.
pub(super) fn places_of(leaderboard: &Leaderboard, names: &[String]) -> Vec<Option<u64>> {
    let height = |name: &String| {
        let model = leaderboard.models.iter().find(|model| &model.model == name).filter(|model| !model.provisional)?;
        model.rating.or(model.at_least.map(|_| f64::INFINITY)).or(model.at_most.map(|_| f64::NEG_INFINITY))
    };
    let heights: Vec<Option<f64>> = names.iter().map(height).collect();
    let place = |height: f64| 1 + heights.iter().flatten().map(|&other| u64::from(other > height)).sum::<u64>();
    heights.iter().map(|height| height.map(place)).collect()
}

impl SimulatedArena {
    pub(super) fn new(options: &RiggingOptions) -> Result<Self, RiggingError> {
        let mut simulation = Simulation::new(options.simulation.clone())?;
        let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(options.simulation.seed ^ 0x7061_6972);
        let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
        names.iter().for_each(|name| _ = log.models.position(name));
        for batch in 0..REFITS {
            let pairs = ArenaPairs::new(&names, options, &log)?;
            let upto = options.honest_votes * (batch + 1) / REFITS;
            while log.len() < upto {
                let ([a, b], probability) = pairs.draw(&mut rng);
                let vote = simulation.vote_on(a, b, probability);
                log.push(&names[a], &names[b], vote.outcome)?;
                if let Some(voters) = &mut log.voters {
                    voters.push(Some(&format!("honest-{}", vote.voter)));
                }
            }
        }
        let pairs = ArenaPairs::new(&names, options, &log)?;
        let leaderboard = leaderboard_of(&ComparisonSet::from_log(&log), &log, &LeaderboardOptions::default())?;
        let places = places_of(&leaderboard, &names).into_iter().map(|place| place.unwrap_or(0)).collect();
        Ok(Self { log, names, pairs, places })
    }

    /// Returns the place of each model after the honest votes; 0 for a provisional one.
    pub(super) fn places(&self) -> &[u64] {
        &self.places
    }
}
