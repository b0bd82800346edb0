//! Stopping rule: ends a campaign once it has enough judgements, before every unit has all of its own.
//!
//! Checking after every judgement and stopping when models seem to differ has a higher error rate than the interval of a single check. So
//! the rule uses the intervals of a confidence sequence ([`crate::rating::intervals::sequential_testing`]), which hold at all checks
//! simultaneously. Which models are neighbours depends on the judgements, so the intervals hold for all pairs of models at once
//! (Bonferroni). They are narrowest at the planned number of judgements, which is known before the campaign begins.

use super::judged::JudgedUnit;
use super::vote_log;
use crate::rating::FitError;
use crate::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState, SequentialOptions};
use crate::rating::leaderboards::ranking::rank_log;
use crate::rating::options::LeaderboardOptions;
use crate::rating::votes::vote_log::VotersKnown;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::real_len;

/// Minimum number of comparisons per model for a decision: the intervals are asymptotic.
const MIN_COMPARISONS_PER_MODEL: u64 = 30;
/// Number of judgements up to which each one is followed by a check.
const CHECK_EACH_UP_TO: u64 = 64;

/// Whether a check is due after this many judgements: after each one at first, and later each time that they have grown by 2 to 3 %.
#[must_use]
pub fn is_due(judgements: u64) -> bool {
    let step = if judgements < CHECK_EACH_UP_TO { 1 } else { 1 << (judgements / (CHECK_EACH_UP_TO / 2)).ilog2() };
    judgements.is_multiple_of(step)
}

/// Compares the neighbours on the leaderboard of these judgements, for a campaign planned with this many.
///
/// # Errors
/// [`FitError`] if the comparisons cannot be fitted.
pub fn neighbours(
    judged: &[&JudgedUnit],
    planned: u64,
    level: ConfidenceLevel,
) -> Result<Vec<NeighbourPair>, FitError> {
    let log = vote_log(judged);
    let models = log.models.as_slice().len();
    // A single annotator's preference cannot be distinguished from the models' quality.
    if models < 2 || log.voters_known() != VotersKnown::Several {
        return Ok(Vec::new());
    }
    let pairs = real_len(models * (models - 1) / 2);
    let confidence = level.of_each(pairs);
    let optimal_at_battles = (2 * planned / (models as u64)).max(1);
    let sequential = Some(SequentialOptions { optimal_at_battles, ..SequentialOptions::default() });
    let options = LeaderboardOptions { confidence, sequential, ..LeaderboardOptions::default() };
    let leaderboard = rank_log(&log, &options)?;
    let few: Vec<&str> = leaderboard
        .models
        .iter()
        .filter(|model| model.battles < MIN_COMPARISONS_PER_MODEL)
        .map(|model| model.model.as_str())
        .collect();
    let mut neighbours = leaderboard.neighbours;
    for pair in &mut neighbours {
        if few.contains(&pair.upper.as_str()) || few.contains(&pair.lower.as_str()) {
            pair.state = NeighbourState::Open;
        }
    }
    Ok(neighbours)
}

/// Whether this many models all have a place, and each is separated from the next or equal to it.
#[must_use]
pub fn are_separated(neighbours: &[NeighbourPair], models: usize) -> bool {
    models > 1 && neighbours.len() + 1 == models && neighbours.iter().all(|pair| pair.state != NeighbourState::Open)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::battle::Outcome;
    use crate::campaign::assignment::AssignmentKind;
    use crate::campaign::judgement::UnitJudgement;

    const ANNOTATORS: u32 = 8;

    /// Simulated judgements of three models, of which the first wins against the others with this probability and the others are equal;
    /// `ANNOTATORS` people, who also have preferences, judge each unit.
    fn judgements(first_wins: f64, count: u32, seed: u64) -> Vec<JudgedUnit> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let tastes: Vec<f64> = (0..ANNOTATORS).map(|_| rng.random_range(-0.05..0.05)).collect();
        let unit = |number: u32| {
            let [a, b] = [[0, 1], [1, 2], [0, 2]][number as usize % 3];
            let annotator = (number / 3 + number) % ANNOTATORS;
            let wins = if a == 0 { first_wins } else { 0.5 } + tastes[annotator as usize];
            let outcome = if rng.random_bool(wins) { Outcome::AWins } else { Outcome::BWins };
            JudgedUnit {
                annotator: format!("p{annotator}").into(),
                unit: number,
                item: number,
                shown: [a, b].map(|model| format!("m{model}")).into(),
                kind: AssignmentKind::Fresh,
                judgement: UnitJudgement::Outcome(outcome),
                answers: std::sync::Arc::default(),
                seconds: 1.0,
            }
        };
        (0..count).map(unit).collect()
    }

    /// Number of judgements after which a check at every chance finds a pair of these models separated.
    fn separated(judged: &[JudgedUnit], names: [&str; 2], planned: u64) -> Option<usize> {
        let all: Vec<&JudgedUnit> = judged.iter().collect();
        (1..=all.len()).filter(|count| is_due(*count as u64)).find(|count| {
            let found = neighbours(&all[..*count], planned, ConfidenceLevel::default()).unwrap();
            found.iter().any(|pair| {
                pair.state == NeighbourState::Separated
                    && names.contains(&&*pair.upper)
                    && names.contains(&&*pair.lower)
            })
        })
    }

    fn false_stops(seeds: std::ops::Range<u64>, count: u32) -> usize {
        seeds.filter(|seed| separated(&judgements(0.7, count, *seed), ["m1", "m2"], u64::from(count)).is_some()).count()
    }

    #[test]
    fn looking_at_every_chance_separates_equal_models_less_often_than_it_may() {
        let stops = false_stops(0..40, 300);
        assert!(stops <= 2, "seeds 0 to 39: {stops} of 40 stop for models that are equal");
    }

    #[test]
    #[ignore = "a minute: run by ./tests/run"]
    fn looking_at_every_chance_is_wrong_at_the_stated_rate_at_most() {
        let stops = false_stops(1_000..1_100, 600);
        assert!(stops <= 5, "seeds 1,000 to 1,099: {stops} of 100 stop for models that are equal");
    }

    #[test]
    fn models_that_differ_are_separated_in_their_order() {
        let judged = judgements(0.9, 600, 3);
        let at = separated(&judged, ["m0", "m1"], 600).or_else(|| separated(&judged, ["m0", "m2"], 600));
        assert!(at.is_some_and(|at| (40..600).contains(&at)), "{at:?}");
        let all: Vec<&JudgedUnit> = judged.iter().collect();
        let found = neighbours(&all, 600, ConfidenceLevel::default()).unwrap();
        assert_eq!((found[0].upper.as_str(), found[0].state, found.len()), ("m0", NeighbourState::Separated, 2));
        // The other two are equal, and 600 judgements do not show it.
        assert!(found[1].state == NeighbourState::Open && !are_separated(&found, 3));
        assert!(are_separated(&found[..1], 2) && !are_separated(&found[..1], 3) && !are_separated(&[], 1));
    }

    #[test]
    fn nothing_is_said_of_a_model_with_few_judgements() {
        let judged = judgements(0.95, 43, 5);
        let all: Vec<&JudgedUnit> = judged.iter().collect();
        let found = neighbours(&all, 43, ConfidenceLevel::default()).unwrap();
        assert!(found.iter().all(|pair| pair.state == NeighbourState::Open), "{found:?}");
    }

    #[test]
    fn one_annotator_separates_nothing() {
        let mut judged = judgements(0.9, 300, 3);
        judged.iter_mut().for_each(|unit| unit.annotator = "p".into());
        assert_eq!(neighbours(&judged.iter().collect::<Vec<_>>(), 300, ConfidenceLevel::default()).unwrap(), []);
    }

    #[test]
    fn looks_become_rarer_as_judgements_grow() {
        assert!((1..64).all(is_due));
        assert_eq!((64..=130).filter(|count| is_due(*count)).count(), 33);
        let looks = (1..500_000).filter(|count| is_due(*count)).count();
        assert!(looks < 700, "{looks}");
        let last = (400_000..500_000).filter(|count| is_due(*count)).collect::<Vec<_>>();
        assert!(last.windows(2).all(|pair| pair[1] - pair[0] < 500_000 / 32));
    }
}
