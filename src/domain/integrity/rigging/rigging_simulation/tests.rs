//! Invariants of rigging in any arena.

use super::*;
use crate::battle::pairing::Policy;

fn options() -> RiggingOptions {
    RiggingOptions {
        simulation: SimulationOptions {
            models: 12,
            seed: 3,
            spread: 0.8,
            ties: 0.15,
            voters: 60,
            voter_spread: 0.1,
            ..SimulationOptions::default()
        },
        honest_votes: 1_500,
        pairing: PairingRules {
            policy: Policy::Uniform,
            uniform_share: 0.2,
            elo_width: 200.0,
            new_model_votes: 0,
            new_model_boost: 1.0,
        },
        detector_accuracy: 0.95,
        targets: 2,
        most_rigged: 500,
        votes_per_account: 50,
        honest_shares: vec![0.0],
        limits: ControlLimits::default(),
    }
}

fn at(results: &[RiggingResult], strategy: AttackStrategy, control: Control) -> &RiggingResult {
    results.iter().find(|result| result.strategy == strategy && result.control == control).unwrap()
}

#[test]
fn rigging_is_cheap_a_vote_for_who_waits_and_a_battle_for_who_does_not_and_controls_make_it_dearer() {
    use AttackStrategy::{TargetOnly, VoteEverywhere};
    let controls = [Control::None, Control::VoterCap, Control::PromptCap, Control::FlaggedExcluded];
    let results = simulate_rigging(&options(), &controls, |_| {}).unwrap();
    // 100 votes; more of them lift a target to the top under any cap.
    let gained = |strategy, control| at(&results, strategy, control).effects[3].places;
    let (waiting, everywhere) = (at(&results, TargetOnly, Control::None), at(&results, VoteEverywhere, Control::None));
    assert!(waiting.effects[5].places > 2.0, "{waiting:?}");
    assert!(waiting.effects[5].places > everywhere.effects[5].places, "a vote: {waiting:?} {everywhere:?}");
    // A battle of 12 models shows the target in one of six.
    assert!(waiting.effects[5].battles > 4.0 * 500.0, "{waiting:?}");
    assert!((everywhere.effects[5].battles - 500.0).abs() < 1e-9, "{everywhere:?}");
    for (control, rated) in [(Control::VoterCap, 200.0), (Control::PromptCap, 50.0)] {
        let capped = at(&results, TargetOnly, control);
        assert!((capped.effects[5].rated - rated).abs() < 1e-9, "{capped:?}");
        assert!(gained(TargetOnly, control) < gained(TargetOnly, Control::None), "{control:?}: {results:?}");
    }
    let flagged = at(&results, TargetOnly, Control::FlaggedExcluded);
    assert!(flagged.effects[5].rated < 100.0, "riggers do not hide one another: {flagged:?}");
    assert!(gained(TargetOnly, Control::FlaggedExcluded) < 0.5 * gained(TargetOnly, Control::None), "{results:?}");
    assert!(flagged.honest_voters_hurt < 0.05, "{flagged:?}");
    assert!(
        waiting.honest_votes_lost.abs() < 1e-12 && at(&results, TargetOnly, Control::VoterCap).honest_votes_lost > 0.1
    );
}

#[test]
fn who_votes_honestly_in_part_is_found_less_often_and_gains_less_for_its_votes() {
    let mixed = RiggingOptions { honest_shares: vec![0.0, 0.8], ..options() };
    let results =
        simulate_rigging(&mixed, &[Control::None, Control::VoterCap, Control::FlaggedExcluded], |_| {}).unwrap();
    let of = |share: f64, control| {
        let is_it = |result: &&RiggingResult| {
            result.strategy == AttackStrategy::TargetOnly
                && result.control == control
                && (result.honest_share - share).abs() < 1e-12
        };
        results.iter().find(is_it).unwrap().effects[5]
    };
    let (open, masked) = (of(0.0, Control::None), of(0.8, Control::None));
    assert!(masked.places < 0.7 * open.places && masked.battles < 0.5 * open.battles, "{open:?} {masked:?}");
    assert!(open.accounts_hit.abs() < 1e-12 && (of(0.8, Control::VoterCap).accounts_hit - 1.0).abs() < 1e-12);
    let (open, masked) = (of(0.0, Control::FlaggedExcluded), of(0.8, Control::FlaggedExcluded));
    assert!(open.accounts_hit > 0.8 && masked.accounts_hit < 0.5, "{open:?} {masked:?}");
    let alone = simulate_rigging(&options(), &[Control::None], |_| {}).unwrap();
    assert_eq!(
        at(&alone, AttackStrategy::TargetOnly, Control::None).effects[5],
        of(0.0, Control::None),
        "as by itself"
    );
}

#[test]
fn a_cost_is_dearer_than_votes_that_lift_nobody_so_far_and_every_control_is_applied() {
    use AttackStrategy::{TargetOnly, VoteEverywhere};
    let options = RiggingOptions {
        simulation: SimulationOptions { models: 6, ..options().simulation },
        honest_votes: 600,
        targets: 3,
        limits: ControlLimits { min_votes: 1_000_000, ..ControlLimits::default() },
        ..options()
    };
    let results = simulate_rigging(&options, &[Control::None, Control::MinVotes, Control::Weights], |_| {}).unwrap();
    let free = at(&results, TargetOnly, Control::None);
    assert_eq!((free.costs[0].targets, free.costs[2].targets), (3, 1), "{free:?}");
    for (cost, effect) in free.costs.iter().flat_map(|cost| free.effects.iter().map(move |effect| (cost, effect))) {
        let gained_by_all = 3.0 * effect.places;
        let nobody = gained_by_all + 1e-9 < real(cost.places);
        assert!(!nobody || cost.votes.is_some_and(|votes| votes > effect.rigged_votes), "{cost:?} {effect:?}");
    }
    let everywhere = at(&results, VoteEverywhere, Control::None);
    assert!(everywhere.effects[5].places > 1.0, "{everywhere:?}");
    for strategy in AttackStrategy::ALL {
        let provisional = at(&results, strategy, Control::MinVotes);
        assert!(provisional.effects.iter().all(|effect| effect.places.abs() < 1e-12), "{provisional:?}");
    }
    let weighted = at(&results, TargetOnly, Control::Weights);
    assert!(weighted.costs[2].votes > free.costs[2].votes, "{weighted:?} {free:?}");
}

#[test]
fn the_cost_of_a_place_is_the_median_of_the_targets() {
    assert_eq!(median_cost(vec![Some((9, 90)), None, Some((3, 40))]), Some((9, 90)));
    assert_eq!(median_cost(vec![Some((5, 50)), Some((9, 10)), Some((3, 40))]), Some((5, 50)));
    assert_eq!(median_cost(vec![None, Some((3, 40)), None]), None, "most do not rise so far");
    assert_eq!(median_cost(vec![]), None);
}

#[test]
fn the_same_seed_gives_the_same_results_and_bad_options_are_refused() {
    let small = RiggingOptions { targets: 1, honest_votes: 500, ..options() };
    let run = || simulate_rigging(&small, &[Control::None], |_| {}).unwrap();
    assert_eq!(run(), run());
    for bad in [
        RiggingOptions { detector_accuracy: 1.5, ..small.clone() },
        RiggingOptions { targets: 0, ..small.clone() },
        RiggingOptions { most_rigged: 5, ..small.clone() },
        RiggingOptions { most_rigged: usize::MAX, ..small.clone() },
        RiggingOptions { honest_votes: usize::MAX, ..small.clone() },
        RiggingOptions { honest_shares: vec![0.5, 1.0], ..small.clone() },
    ] {
        assert!(matches!(simulate_rigging(&bad, &[], |_| {}), Err(RiggingError::Range { .. })), "{bad:?}");
    }
}

#[test]
fn where_no_model_is_below_another_none_can_rise() {
    // A single vote leaves all models provisional, and so without a place.
    let one = RiggingOptions { honest_votes: 1, ..options() };
    assert!(matches!(simulate_rigging(&one, &[Control::None], |_| {}), Err(RiggingError::NoTargets)));
}

#[test]
fn the_fewest_votes_are_found_by_bisection() {
    for needed in [1, 2, 37, 599, 600] {
        assert_eq!(fewest(600, |votes| Ok(votes >= needed)).unwrap(), Some(needed));
    }
    assert_eq!(fewest(600, |_| Ok(false)).unwrap(), None);
}
