//! Ratings of slices by partial pooling: `langya fit --pool-by`.

use std::collections::HashMap;
use std::path::Path;

use langya::domain::battle::Outcome::{self, AWins, BWins, Tie};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions, Method};
use langya::domain::rating::pooling::{PooledRating, PooledSlices};
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::rating::votes::slice::{Slice, SliceColumn};
use langya::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use langya::domain::rating::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use langya::formats::votes::{ReadOptions, read_log};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::support::ratings::leaderboard_of;

fn by_category() -> LeaderboardOptions {
    LeaderboardOptions { pool_by: Some(SliceColumn::Category), ..LeaderboardOptions::default() }
}

fn columns() -> ColumnSet {
    ColumnSet { categories: true, voters: true, ..ColumnSet::default() }
}

fn pooled(log: &VoteLog, options: &LeaderboardOptions) -> PooledSlices {
    leaderboard_of(log, options).pooled.expect("the votes have categories")
}

#[test]
fn pooled_ratings_agree_with_an_independent_program() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let reading = ColumnSet { categories: true, ..ColumnSet::default() };
    let log = read_log(&[data.join("pooling_votes.csv")], reading, &ReadOptions::default()).unwrap();
    let found = pooled(&log, &LeaderboardOptions { interval: IntervalMethod::None, ..by_category() });
    assert!((found.design_effect - 1.0).abs() < 1e-12, "without intervals, votes are independent");

    let mut golden = csv::Reader::from_path(data.join("pooling_expected.csv")).unwrap();
    let mut compared = 0;
    for record in golden.records().map(Result::unwrap) {
        let (category, model) = (&record[0], &record[1]);
        let number = |column: usize| record[column].parse::<f64>().unwrap();
        if category.is_empty() {
            assert!((found.spread - number(2)).abs() < 1e-6, "{} and {}", found.spread, number(2));
            assert!((found.spread / number(8) - 1.0).abs() < 0.02, "{} and {}", found.spread, number(8));
            continue;
        }
        let slice = found.slices.iter().find(|slice| slice.slice == category).unwrap();
        let PooledRating { rating, lower, upper, difference, difference_lower, difference_upper, .. } =
            *slice.models.iter().find(|rated| rated.model == model).unwrap();
        for (column, value) in (2..).zip([rating, lower, upper, difference, difference_lower, difference_upper]) {
            assert!((value - number(column)).abs() < 1e-5, "{category} {model} {column}: {value}");
            compared += 1;
        }
        for (bound, exact) in [(lower, number(8)), (upper, number(9))] {
            assert!((bound - exact).abs() < 0.01 * (upper - lower), "{category} {model}: {bound} and {exact}");
        }
    }
    assert_eq!(compared, 12 * 6);
    assert_eq!(found.slices.iter().map(|slice| slice.slice.as_str()).collect::<Vec<_>>(), ["code", "maths", "writing"]);
}

/// A world of models that are better at some categories than at others.
struct World {
    rng: ChaCha8Rng,
    strengths: Vec<f64>,
    /// By category, then model.
    extra: Vec<Vec<f64>>,
    /// By voter, then model; empty without tastes.
    tastes: Vec<Vec<f64>>,
}

const CATEGORIES: [&str; 5] = ["code", "maths", "writing", "law", "history"];
/// Votes by category.
const VOTES: [usize; 5] = [1200, 400, 200, 100, 60];
const MODELS: usize = 8;
/// Share of a vote's variance that a voter's taste explains.
const TASTE: f64 = 0.3;

impl World {
    fn new(seed: u64, spread: f64, voters: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |count: usize, scale: f64| -> Vec<f64> {
            (0..count).map(|_| scale * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect()
        };
        let strengths = draw(MODELS, 0.5);
        let extra = CATEGORIES.map(|_| draw(MODELS, spread)).to_vec();
        let tastes = (0..voters).map(|_| draw(MODELS, 1.0)).collect();
        Self { rng, strengths, extra, tastes }
    }

    /// A in a category beats B with the probability of its strengths; a voter's votes depend on each other by taste.
    fn vote(&mut self, category: usize) -> (usize, usize, Outcome, usize) {
        let a = self.rng.random_range(0..MODELS);
        let b = (a + self.rng.random_range(1..MODELS)) % MODELS;
        let own: f64 = StandardNormal.sample(&mut self.rng);
        let voter = if self.tastes.is_empty() { 0 } else { self.rng.random_range(0..self.tastes.len()) };
        let shared = self.tastes.get(voter).map_or(own, |taste| (taste[a] - taste[b]) / 2.0_f64.sqrt());
        let z = TASTE.sqrt() * shared + (1.0 - TASTE).sqrt() * own;
        let z = if self.tastes.is_empty() { own } else { z };
        let extra = &self.extra[category];
        let gap = self.strengths[a] + extra[a] - self.strengths[b] - extra[b];
        let outcome = match Normal::standard().cdf(z) {
            share if share < 1.0 / (1.0 + (-gap).exp()) => AWins,
            _ => BWins,
        };
        (a, b, outcome, voter)
    }

    fn log(&mut self) -> VoteLog {
        let mut log = VoteLog::with_columns(columns());
        for (category, votes) in VOTES.into_iter().enumerate() {
            for _ in 0..votes {
                let (a, b, outcome, voter) = self.vote(category);
                log.push(&format!("m{a}"), &format!("m{b}"), outcome).unwrap();
                log.categories.as_mut().unwrap().push(Some(CATEGORIES[category]));
                let voter = format!("voter {voter}");
                log.voters.as_mut().unwrap().push(Some(voter.as_str()).filter(|_| !self.tastes.is_empty()));
            }
        }
        log
    }

    /// The true rating of a model in a category, and what the category adds.
    fn truth(&self, category: usize, model: usize) -> (f64, f64) {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / f64::from(u8::try_from(MODELS).unwrap());
        let strength = self.strengths[model] - mean(&self.strengths);
        let extra = self.extra[category][model] - mean(&self.extra[category]);
        (MEAN_RATING + POINTS_PER_STRENGTH * (strength + extra), POINTS_PER_STRENGTH * extra)
    }
}

#[derive(Debug, Default)]
struct Tried {
    /// By category: intervals, and how many hold the rating and the difference.
    intervals: [u32; 5],
    rating_holds: [u32; 5],
    difference_holds: [u32; 5],
    /// Squared errors in the smallest category: pooled, and of its own votes.
    pooled_error: f64,
    own_error: f64,
}

fn try_worlds(spread: f64, voters: usize) -> Tried {
    let mut tried = Tried::default();
    for seed in 0..200 {
        let mut world = World::new(seed, spread, voters);
        let log = world.log();
        let found = pooled(&log, &by_category());
        for (category, name) in CATEGORIES.into_iter().enumerate() {
            let slice = found.slices.iter().find(|slice| slice.slice == name).unwrap();
            for rated in slice.models.iter().filter(|_| slice.models.len() == MODELS) {
                let (rating, difference) = world.truth(category, rated.model[1..].parse().unwrap());
                tried.intervals[category] += 1;
                tried.rating_holds[category] += u32::from((rated.lower..=rated.upper).contains(&rating));
                let around = rated.difference_lower..=rated.difference_upper;
                tried.difference_holds[category] += u32::from(around.contains(&difference));
            }
        }
        let last = CATEGORIES.len() - 1;
        let slice = Slice { category: Some(CATEGORIES[last].to_owned()), ..Slice::default() };
        let own = leaderboard_of(&slice.take(log).unwrap(), &LeaderboardOptions::default());
        let own: HashMap<&str, f64> =
            own.models.iter().filter_map(|model| Some((model.model.as_str(), model.rating?))).collect();
        let small = found.slices.iter().find(|slice| slice.slice == CATEGORIES[last]).unwrap();
        for rated in small.models.iter().filter(|_| own.len() == MODELS) {
            let truth = world.truth(last, rated.model[1..].parse().unwrap()).0;
            tried.pooled_error += (rated.rating - truth).powi(2);
            tried.own_error += (own[rated.model.as_str()] - truth).powi(2);
        }
    }
    println!("spread {spread}, {voters} voters: {tried:?}");
    tried
}

#[test]
#[ignore = "slow: 400 simulated arenas"]
fn pooled_intervals_hold_and_small_slices_are_nearer_to_the_truth() {
    // Between voters with tastes, the intervals are a little short: 92 % of the ratings and 91 % of the differences.
    for (spread, voters, least) in [(0.3, 0, 0.93), (0.3, 60, 0.90)] {
        let tried = try_worlds(spread, voters);
        let sum = |counts: [u32; 5]| f64::from(counts.iter().sum::<u32>());
        let share = |holds: [u32; 5]| sum(holds) / sum(tried.intervals);
        let (ratings, differences) = (share(tried.rating_holds), share(tried.difference_holds));
        assert!((least..=0.975).contains(&ratings), "{ratings}");
        assert!((least..=0.975).contains(&differences), "{differences}");
        assert!(tried.pooled_error < 0.5 * tried.own_error, "{tried:?}");
    }
}

#[test]
fn slices_that_do_not_differ_share_one_rating() {
    let found = pooled(&World::new(3, 0.0, 0).log(), &by_category());
    let ratings = |slice: usize| -> HashMap<&str, f64> {
        found.slices[slice].models.iter().map(|rated| (rated.model.as_str(), rated.rating)).collect()
    };
    assert!(found.spread < 20.0, "{}", found.spread);
    let (largest, smallest) = (ratings(0), ratings(4));
    assert!(largest.iter().all(|(model, rating)| (rating - smallest[model]).abs() < 12.0), "{largest:?} {smallest:?}");
}

#[test]
fn a_single_slice_says_nothing_of_differences() {
    let mut log = World::new(5, 0.4, 0).log();
    let only = log.categories.as_ref().unwrap().names.find("maths").unwrap();
    log.retain(&log.categories.as_ref().unwrap().rows.iter().map(|&row| row == only).collect::<Vec<_>>());
    let leaderboard: Leaderboard = leaderboard_of(&log, &by_category());
    // A spread of 0 and differences of 0 ± 0.3 points would be assumptions, not estimates.
    assert_eq!((leaderboard.pooled, leaderboard.models.len()), (None, MODELS));
    assert_eq!(leaderboard.notes, [RatingNote::OneSlice { by: SliceColumn::Category }]);
    let text = leaderboard.notes[0].to_string();
    assert!(text.contains("do not have several values of category"), "{text}");
}

#[test]
fn a_handful_of_votes_says_little_about_slices() {
    for voters in [["one", "one", "one", "one"], ["one", "two", "one", "two"], ["a", "b", "c", "d"]] {
        let mut log = VoteLog::with_columns(columns());
        let votes = [(AWins, "code"), (BWins, "code"), (AWins, "maths"), (Tie, "maths")];
        for ((outcome, category), voter) in votes.into_iter().zip(voters) {
            log.push("x", "y", outcome).unwrap();
            log.categories.as_mut().unwrap().push(Some(category));
            log.voters.as_mut().unwrap().push(Some(voter));
        }
        let found = pooled(&log, &by_category());
        // Half of the prior's weight is below 117 points, and the votes change little about it.
        assert!((60.0..200.0).contains(&found.spread), "{voters:?}: {}", found.spread);
        let rated = found.slices.iter().flat_map(|slice| &slice.models);
        rated.for_each(|rated| {
            assert!((100.0..1_000.0).contains(&(rated.upper - rated.lower)), "{voters:?}: {rated:?}");
            assert!(rated.difference_lower < 0.0 && rated.difference_upper > 0.0, "{voters:?}: {rated:?}");
        });
    }
}

#[test]
fn every_pooled_slice_is_selected_by_its_name() {
    let mut log = VoteLog::with_columns(columns());
    let labels = ["\"law, tax\"", "code, maths", "maths", "\"law, tax\",code"];
    for number in 0..80 {
        log.push("x", "y", [AWins, BWins, Tie][number % 3]).unwrap();
        log.categories.as_mut().unwrap().push(Some(labels[number % 4]));
        log.voters.as_mut().unwrap().push(Some(["a", "b", "c", "d", "e"][number % 5]));
    }
    let found = pooled(&log, &by_category());
    let slices: Vec<(&str, u64)> = found.slices.iter().map(|slice| (slice.slice.as_str(), slice.votes)).collect();
    assert_eq!(slices, [("code", 40), ("law, tax", 40), ("maths", 40)]);
    for (name, votes) in slices {
        let slice = Slice { category: Some(name.to_owned()), ..Slice::default() };
        assert_eq!(slice.take(log.clone()).unwrap().len() as u64, votes, "{name}");
    }
    let unknown = Slice { category: Some("law".to_owned()), ..Slice::default() };
    let refused = unknown.take(log).unwrap_err().to_string();
    let known = "no rated vote has the category \"law\": the votes have \"law, tax\", \"code\", \"maths\"";
    assert_eq!(refused, known);
}

#[test]
fn the_order_of_the_votes_changes_no_bit() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let reading = ColumnSet { categories: true, ..ColumnSet::default() };
    let log = read_log(&[data.join("pooling_votes.csv")], reading, &ReadOptions::default()).unwrap();
    let mut reversed = VoteLog::with_columns(reading);
    let labels = log.categories.as_ref().unwrap();
    for row in (0..log.len()).rev() {
        let name = |model: u32| log.models.as_slice()[model as usize].as_str();
        reversed.push(name(log.a[row]), name(log.b[row]), log.outcomes[row]).unwrap();
        let label = labels.names.as_slice().get(labels.rows[row] as usize).map(String::as_str);
        reversed.categories.as_mut().unwrap().push(label);
    }
    assert_eq!(pooled(&log, &by_category()), pooled(&reversed, &by_category()));
}

#[test]
fn models_that_no_votes_connect_with_the_pooled_ones_are_named() {
    let mut log = VoteLog::with_columns(ColumnSet { categories: true, ..ColumnSet::default() });
    let mut vote = |a, b, outcome, category| {
        log.push(a, b, outcome).unwrap();
        log.categories.as_mut().unwrap().push(Some(category));
    };
    for category in ["code", "maths"] {
        for (a, b) in [("x", "y"), ("y", "z"), ("z", "x")] {
            vote(a, b, AWins, category);
            vote(a, b, Tie, category);
        }
    }
    // A group of its own, and a model that lost all its votes.
    vote("apart", "alone", Tie, "code");
    vote("x", "loser", AWins, "code");
    let leaderboard = leaderboard_of(&log, &by_category());
    let pooled: Vec<&str> =
        leaderboard.pooled.iter().flat_map(|found| &found.slices[0].models).map(|rated| rated.model.as_str()).collect();
    assert_eq!(pooled.len(), 3, "{pooled:?}");
    let named = leaderboard.notes.iter().find_map(|note| match note {
        RatingNote::NotPooled { models } => Some(models),
        _ => None,
    });
    let mut named = named.expect("a note names who is left out").clone();
    named.sort_unstable();
    assert_eq!(named, ["alone", "apart", "loser"]);
}

#[test]
fn votes_that_cannot_be_pooled_are_refused_with_the_reason() {
    let mut log = VoteLog::default();
    log.push("x", "y", Tie).unwrap();
    assert!(matches!(rank_log(&log, &by_category()), Err(FitError::NoSliceLabels("category"))));
    let log = World::new(1, 0.0, 0).log();
    let davidson = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    for options in [
        LeaderboardOptions { method: Method::Elo, ..by_category() },
        LeaderboardOptions { scoring: davidson, ..by_category() },
        LeaderboardOptions { side: true, ..by_category() },
    ] {
        assert!(matches!(rank_log(&log, &options), Err(FitError::PlainPooling)), "{options:?}");
    }
    // Nothing is comparable: no slices, but no error either.
    let mut one_sided = VoteLog::with_columns(columns());
    one_sided.push("x", "y", AWins).unwrap();
    one_sided.categories.as_mut().unwrap().push(Some("code"));
    one_sided.voters.as_mut().unwrap().push(None);
    assert_eq!(leaderboard_of(&one_sided, &by_category()).pooled, None);
}
