use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::*;

const DRAWS: u32 = 10_000;

fn ordered(one: &ModelId, other: &ModelId) -> (ModelId, ModelId) {
    if one <= other { (one.clone(), other.clone()) } else { (other.clone(), one.clone()) }
}

fn rules(policy: Policy) -> PairingRules {
    PairingRules { policy, uniform_share: 0.2, elo_width: 100.0, new_model_votes: 50, new_model_boost: 2.0 }
}

fn entry(id: &str, weight: f64, rating: f64, votes: u64) -> PoolEntry {
    PoolEntry { id: ModelId::new(id), weight, rating, votes }
}

/// Five models, of which one is paused and one is new.
fn pool() -> ModelPool {
    let mut pool = ModelPool::new(vec![
        entry("one", 1.0, 1000.0, 100),
        entry("two", 2.0, 1100.0, 100),
        entry("three", 1.0, 1300.0, 100),
        entry("paused", 0.0, 1000.0, 100),
        entry("new", 1.0, 950.0, 3),
    ]);
    pool.set_pair_votes(&ModelId::new("two"), &ModelId::new("one"), 63);
    pool.set_pair_votes(&ModelId::new("one"), &ModelId::new("three"), 8);
    pool
}

fn probability(policy: Policy, one: &str, other: &str) -> f64 {
    let shares = distribution(&pool(), &rules(policy)).unwrap();
    let ids = (ModelId::new(one), ModelId::new(other));
    let found = shares.into_iter().find(|share| ordered(&share.first, &share.second) == ordered(&ids.0, &ids.1));
    found.map_or(0.0, |share| share.probability)
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-12, "{got} instead of {want}");
}

/// The upper tail of chi-square for counts against probabilities.
fn chi_square_tail(counts: &[u32], probabilities: &[f64], draws: u32) -> f64 {
    let term = |(&count, &p): (&u32, &f64)| {
        let expected = f64::from(draws) * p;
        assert!(expected >= 5.0, "too rare for the test: {expected}");
        (f64::from(count) - expected).powi(2) / expected
    };
    let statistic: f64 = counts.iter().zip(probabilities).map(term).sum();
    let freedom = f64::from(u32::try_from(counts.len()).unwrap() - 1);
    1.0 - ChiSquared::new(freedom).unwrap().cdf(statistic)
}

#[test]
fn draws_of_every_policy_follow_the_stated_probabilities() {
    for policy in [Policy::Uniform, Policy::Weighted, Policy::Elo, Policy::Active] {
        let (pool, rules) = (pool(), rules(policy));
        let stated = distribution(&pool, &rules).unwrap();
        let probabilities: Vec<f64> = stated.iter().map(|pair| pair.probability).collect();
        let mut counts = vec![0_u32; stated.len()];
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..DRAWS {
            let pair = choose_pair(&pool, &rules, &mut rng).unwrap();
            let met = ordered(&pair.a, &pair.b);
            let place = stated.iter().position(|p| ordered(&p.first, &p.second) == met).unwrap();
            near(pair.probability, probabilities[place]);
            counts[place] += 1;
        }
        let tail = chi_square_tail(&counts, &probabilities, DRAWS);
        assert!(tail > 0.001, "{policy:?}: {counts:?} against {probabilities:?}, tail {tail}");
    }
}

#[test]
fn sides_are_fair_for_every_pair() {
    let (pool, rules) = (pool(), rules(Policy::Weighted));
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut sides: HashMap<(ModelId, ModelId), [u32; 2]> = HashMap::new();
    for _ in 0..DRAWS {
        let pair = choose_pair(&pool, &rules, &mut rng).unwrap();
        let key = ordered(&pair.a, &pair.b);
        let side = usize::from(pair.a == key.0);
        sides.entry(key).or_default()[side] += 1;
    }
    for (pair, counts) in sides {
        let tail = chi_square_tail(&counts, &[0.5, 0.5], counts[0] + counts[1]);
        assert!(tail > 0.001, "{pair:?}: {counts:?}, tail {tail}");
    }
}

#[test]
fn probabilities_add_up_to_one() {
    for policy in [Policy::Uniform, Policy::Weighted, Policy::Elo, Policy::Active] {
        let shares = distribution(&pool(), &rules(policy)).unwrap();
        near(shares.iter().map(|pair| pair.probability).sum(), 1.0);
        assert_eq!(shares.len(), 6, "the paused model meets no one");
    }
}

#[test]
fn uniform_makes_every_pair_alike() {
    near(probability(Policy::Uniform, "one", "two"), 1.0 / 6.0);
    near(probability(Policy::Uniform, "new", "three"), 1.0 / 6.0);
}

#[test]
fn weights_and_the_boost_of_a_new_model_multiply() {
    // Weights 1, 2, 1 and 1·2 for the new one: the products add up to 2 + 1 + 2 + 2 + 4 + 2.
    near(probability(Policy::Weighted, "one", "two"), 2.0 / 13.0);
    near(probability(Policy::Weighted, "two", "new"), 4.0 / 13.0);
    near(probability(Policy::Weighted, "paused", "new"), 0.0);
}

#[test]
fn near_ratings_meet_more_often_under_elo() {
    let uniform = 0.2 / 6.0;
    let (close, far) = (probability(Policy::Elo, "one", "two"), probability(Policy::Elo, "one", "three"));
    // Twice the weight, and e^(−100/100) against e^(−300/100).
    near((close - uniform) / (far - uniform), 2.0 * 2_f64.exp());
}

#[test]
fn seldom_compared_pairs_meet_more_often_under_active() {
    let uniform = 0.2 / 6.0;
    let (often, seldom) = (probability(Policy::Active, "one", "two"), probability(Policy::Active, "one", "three"));
    let deviation = |rating: f64| {
        let p = 1.0 / (1.0 + 10_f64.powf(-rating / 400.0));
        (p * (1.0 - p)).sqrt()
    };
    let shrinkage = |n: f64| 1.0 / n.sqrt() - 1.0 / (n + 1.0).sqrt();
    let want = 2.0 * deviation(100.0) * shrinkage(64.0) / (deviation(300.0) * shrinkage(9.0));
    assert!(((often - uniform) / (seldom - uniform) - want).abs() < 1e-9);
}

#[test]
fn a_uniform_share_of_nothing_still_gives_numbers_for_ratings_far_apart() {
    let pool = ModelPool::new(vec![entry("low", 1.0, -1e7, 99), entry("high", 1.0, 1e7, 99)]);
    for policy in [Policy::Elo, Policy::Active] {
        let shares = distribution(&pool, &PairingRules { uniform_share: 0.0, ..rules(policy) }).unwrap();
        near(shares[0].probability, 1.0);
    }
}

#[test]
fn the_same_seed_draws_the_same_pairs() {
    let draw = || {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        (0..20).map(|_| choose_pair(&pool(), &rules(Policy::Elo), &mut rng).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(draw(), draw());
}

#[test]
fn a_replacement_follows_the_pairs_of_the_model_that_stays() {
    let (pool, rules, staying) = (pool(), rules(Policy::Weighted), ModelId::new("one"));
    let excluded = [ModelId::new("three")];
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut counts = [0_u32; 2];
    for _ in 0..DRAWS {
        let opponent = choose_opponent(&pool, &rules, &staying, &excluded, &mut rng).unwrap();
        // Without the failed model the products are one·two 2, one·new 2 and two·new 4.
        near(opponent.probability, 2.0 / 8.0);
        counts[usize::from(opponent.id == ModelId::new("new"))] += 1;
    }
    assert_eq!(counts[0] + counts[1], DRAWS);
    assert!(chi_square_tail(&counts, &[0.5, 0.5], DRAWS) > 0.001, "{counts:?}");
}

#[test]
fn too_few_models_say_what_to_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let alone = ModelPool::new(vec![entry("one", 1.0, 1000.0, 0), entry("paused", 0.0, 1000.0, 0)]);
    let error = choose_pair(&alone, &rules(Policy::Weighted), &mut rng).unwrap_err();
    assert_eq!(error, PairingError::TooFewModels(1));
    assert!(error.to_string().contains("[[models]]"), "{error}");
    let excluded = ["two", "three", "new"].map(ModelId::new);
    let error = choose_opponent(&pool(), &rules(Policy::Elo), &ModelId::new("one"), &excluded, &mut rng);
    assert_eq!(error, Err(PairingError::TooFewModels(1)));
}

#[test]
fn numbers_that_cannot_be_used_are_named() {
    for (weight, rating) in [(f64::NAN, 1000.0), (-1.0, 1000.0), (1.0, f64::INFINITY)] {
        let pool = ModelPool::new(vec![entry("odd", weight, rating, 0), entry("two", 1.0, 1000.0, 0)]);
        let error = distribution(&pool, &rules(Policy::Weighted)).unwrap_err();
        assert!(matches!(&error, PairingError::BadNumber { model, .. } if model.as_str() == "odd"), "{error}");
    }
}

#[test]
fn a_staying_model_outside_the_pool_is_an_error() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let error = choose_opponent(&pool(), &rules(Policy::Uniform), &ModelId::new("paused"), &[], &mut rng);
    assert_eq!(error, Err(PairingError::NotInPool(ModelId::new("paused"))));
}
