//! Votes of flagged voters for automatic exclusion, for an operator who does not review each voter, with the published reason.
//!
//! The score test and Fisher's combination decide, each at its own α. The likelihood test does not: of 124 real people it flags 17
//! (DESIGN.md, "What does each control cost honest people?"); `langya votes flagged --test likelihood` lists them.

use std::collections::BTreeMap;

use super::super::anomalous_voters::detection::{SuspectModel, VoterResult, VoterTest, test_voters};
use super::exclusion_rule::ExclusionRule;
use super::exclusions_in_force::ExclusionsInForce;
use super::ratable_votes::RatableVotes;
use crate::rating::FitError;

/// α of a test that excludes without review: stricter than where an operator reads the list
/// ([`super::super::anomalous_voters::detection::DEFAULT_ALPHA`]).
const ALPHA: f64 = 0.01;
/// Tests that flag voters for automatic exclusion.
const EXCLUDING_TESTS: [VoterTest; 2] = [VoterTest::Score, VoterTest::Fisher];

/// A flagged voter with votes that the rule does not exclude yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnomalousVoter {
    /// Voter id in the log.
    pub voter: String,
    /// Finding of the tests; published, so it names no voter.
    pub reason: String,
    /// Sequence numbers of the votes in the log.
    pub votes: Vec<i64>,
}

/// Result of the tests for automatic exclusion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VotesToExclude {
    /// Flagged voters with the votes that [`ExclusionRule::AnomalousVoter`] does not exclude yet.
    pub voters: Vec<AnomalousVoter>,
    /// Number of voters that a test found suspicious without flagging them, since they are more than a quarter of all voters
    /// ([`VoterReport::withheld`](super::super::anomalous_voters::detection::VoterReport::withheld)); the larger number if both tests
    /// withhold their flags.
    pub withheld: Option<u64>,
}

/// Tests all voters. Votes that the rule excludes are tested with the others: without them the crowd would change with each exclusion, and
/// the next test would flag more.
///
/// # Errors
/// [`FitError::Solver`] as for the fit.
pub fn votes_to_exclude(
    cast: &RatableVotes,
    in_force: &ExclusionsInForce,
    seed: u64,
) -> Result<VotesToExclude, FitError> {
    let rule = ExclusionRule::AnomalousVoter.name();
    let tested = cast.rated(&in_force.clone().without_rule(rule));
    let (mut reasons, mut withheld) = (BTreeMap::<String, Vec<String>>::new(), None::<u64>);
    for test in EXCLUDING_TESTS {
        let report = match test_voters(&tested, test, seed) {
            // No votes yet, or all votes were imported without their voters.
            Err(FitError::NoVoters) => return Ok(VotesToExclude::default()),
            tested => tested?,
        };
        withheld = withheld.max(report.withheld());
        for result in report.flagged(ALPHA) {
            reasons.entry(result.voter.clone()).or_default().push(finding(result));
        }
    }
    let mut votes = votes_of(cast, &reasons, |vote| !in_force.rules_of(vote).any(|other| **other == *rule));
    let flagged = |(voter, findings): (String, Vec<String>)| {
        let votes = votes.remove(&voter).filter(|votes| !votes.is_empty())?;
        Some(AnomalousVoter { voter, reason: findings.join("; "), votes })
    };
    Ok(VotesToExclude { voters: reasons.into_iter().filter_map(flagged).collect(), withheld })
}

/// Returns the votes of these voters that the filter passes, in log order.
fn votes_of(
    cast: &RatableVotes,
    voters: &BTreeMap<String, Vec<String>>,
    passes: impl Fn(i64) -> bool,
) -> BTreeMap<String, Vec<i64>> {
    let mut votes: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let Some(labels) = &cast.log.voters else { return votes };
    for (&label, &number) in labels.rows.iter().zip(&cast.numbers) {
        let voter = labels.names.as_slice().get(label as usize).filter(|voter| voters.contains_key(*voter));
        if let Some(voter) = voter.filter(|_| passes(number)) {
            votes.entry(voter.clone()).or_default().push(number);
        }
    }
    votes
}

/// Formats the published finding of a test about a voter.
#[must_use]
pub fn finding(result: &VoterResult) -> String {
    let name = match result.test {
        VoterTest::Score => "score test",
        VoterTest::Likelihood => "likelihood test",
        VoterTest::Fisher => "Fisher's combination",
    };
    let found = match &result.model {
        Some(SuspectModel { model, votes, wins: Some(wins), expected: Some(expected), .. }) => {
            format!("{wins} of {votes} votes for {model}, where the crowd's ratings expect {expected:.1}")
        }
        Some(SuspectModel { model, favours, votes, .. }) => {
            let direction = if *favours { "for" } else { "against" };
            format!("{votes} votes that lean {direction} {model} more than those of others")
        }
        None => format!("{} votes that are unlikely together", result.votes),
    };
    format!("{name}: {found} (q = {:.2e})", result.q)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::integrity::anomalous_voters::simulated_riggers::{
        RiggerSimulation, RiggerStrategy, add_riggers, is_simulated_rigger,
    };
    use crate::rating::simulate::{Simulation, SimulationOptions};

    /// Simulates honest votes of 60 voters on 8 models, and three riggers with 100 votes each.
    fn rigged() -> RatableVotes {
        let options = SimulationOptions { models: 8, voters: 60, seed: 5, ..SimulationOptions::default() };
        let log = Simulation::new(options).unwrap().log(3_000);
        let strategy = RiggerStrategy::TargetOnly;
        let log = add_riggers(&log, RiggerSimulation { riggers: 3, votes: 100, strategy, target_share: 1.0, seed: 3 })
            .unwrap();
        let numbers = (1..).take(log.len()).collect();
        RatableVotes { log, numbers }
    }

    #[test]
    fn the_votes_of_riggers_are_found_with_a_reason_and_what_is_excluded_is_tested_and_not_found_again() {
        let cast = rigged();
        let none = ExclusionsInForce::none();
        let VotesToExclude { voters: found, withheld } = votes_to_exclude(&cast, &none, 0).unwrap();
        assert_eq!(withheld, None);
        let (riggers, honest): (Vec<_>, Vec<_>) = found.iter().partition(|found| is_simulated_rigger(&found.voter));
        assert!(riggers.len() == 3 && riggers.iter().all(|found| found.votes.len() == 100), "{found:?}");
        assert!(honest.is_empty(), "of 60 honest voters: {honest:?}");
        let reason = &found[0].reason;
        assert!(reason.starts_with("score test: 100 of 100 votes for ") && !reason.contains("rigger"), "{reason}");

        let rule = Arc::from(ExclusionRule::AnomalousVoter.name());
        let (excluded, late) = found[0].votes.split_at(90);
        let some: ExclusionsInForce = excluded.iter().map(|&vote| (vote, Arc::clone(&rule))).collect();
        let again = votes_to_exclude(&cast, &some, 0).unwrap().voters;
        assert_eq!(
            again[0],
            AnomalousVoter { votes: late.to_vec(), ..found[0].clone() },
            "the same test, the votes since"
        );
        let all: ExclusionsInForce =
            found.iter().flat_map(|found| &found.votes).map(|&vote| (vote, Arc::clone(&rule))).collect();
        assert_eq!(votes_to_exclude(&cast, &all, 0).unwrap().voters, [], "nothing is left, and nobody new is flagged");
    }

    #[test]
    fn votes_without_voters_flag_nobody() {
        let mut cast = rigged();
        cast.log.voters = None;
        assert_eq!(votes_to_exclude(&cast, &ExclusionsInForce::none(), 0).unwrap(), VotesToExclude::default());
    }
}
