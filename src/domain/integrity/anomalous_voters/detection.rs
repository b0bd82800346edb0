//! Tests of every voter against the crowd, with control of the false discovery rate.
//!
//! A voter is flagged if the q-value is at most α, so that at most a share α of the flagged voters is expected to be honest (Benjamini and
//! Hochberg; `false_discovery`). A flag is a reason for a review, not a proof: an honest person with an unusual taste votes like a rigger.
//! If a test would flag more than a quarter of all voters at [`DEFAULT_ALPHA`], it flags none at any level: the test then describes honest
//! votes badly, or cannot distinguish riggers from the crowd ([`VoterReport::withheld`]).

use nalgebra::DVector;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::false_discovery::q_values;
use super::fisher_combination::{FisherResult, History, fisher_test};
use super::overdispersion::{SharedResiduals, shows_taste_of_all, taste_correlation};
use super::overdispersion_calibration::{CalibratedTests, calibrate, score_tests, uncalibrated};
use super::rao_score::{ModelVotes, ScoreResult, by_model, shared_residuals};
use super::voter_likelihood::{LikelihoodResult, likelihood_test};
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::strengths::crowd_expectation::{CrowdExpectation, CrowdVote};
use crate::rating::votes::vote_log::{Labels, VoteLog};

/// Minimum number of decisive votes of a tested voter.
pub const MIN_VOTES: usize = 10;
/// Default α of the tests.
pub const DEFAULT_ALPHA: f64 = 0.1;

/// Maximum p-value of a voter who is left out of the crowd of the score test.
const MAX_OUTLIER_P_VALUE: f64 = 0.01;
/// Maximum number of passes: riggers who hid one another appear one pass after another.
const MAX_PASSES: usize = 5;
/// Maximum number of passes in which a raised taste and its outliers settle.
const MAX_TASTE_PASSES: usize = 3;
/// A test that would flag more than one in this many voters flags none.
const MAX_FLAGGED_ONE_IN: u64 = 4;
/// Minimum number of flagged voters to withhold.
const MIN_TO_WITHHOLD: u64 = 5;

/// Statistical test of a voter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VoterTest {
    /// Score test of each model.
    Score,
    /// Likelihood test.
    Likelihood,
    /// Fisher's combination for each model.
    Fisher,
}

/// Error of an unknown test name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected score, likelihood or fisher")]
pub struct UnknownTest;

impl VoterTest {
    /// All tests.
    pub const ALL: [Self; 3] = [Self::Score, Self::Likelihood, Self::Fisher];

    /// Returns the name of the test.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Likelihood => "likelihood",
            Self::Fisher => "fisher",
        }
    }
}

impl std::str::FromStr for VoterTest {
    type Err = UnknownTest;

    fn from_str(text: &str) -> Result<Self, UnknownTest> {
        Self::ALL.into_iter().find(|test| test.as_str() == text).ok_or(UnknownTest)
    }
}

/// Votes of a voter on the model that the test finds most suspicious.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectModel {
    /// Model id.
    pub model: String,
    /// Whether the voter favours it; otherwise the voter votes against it.
    pub favours: bool,
    /// Number of votes on it that the test counts.
    pub votes: u64,
    /// Number of these votes for it; `None` where the test does not count them.
    pub wins: Option<u64>,
    /// Expected number of votes for it by the crowd's ratings.
    pub expected: Option<f64>,
}

/// Result of one test of one voter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoterResult {
    /// Voter id in the log.
    pub voter: String,
    /// Number of votes between rated models.
    pub votes: u64,
    /// Statistical test.
    pub test: VoterTest,
    /// Most suspicious model; `None` if the test considers no single model.
    pub model: Option<SuspectModel>,
    /// Statistic: z for the score test, T for the likelihood test, M for Fisher's.
    pub statistic: f64,
    /// p-value: probability that an honest voter's votes are at least as suspicious.
    pub p: f64,
    /// q-value: the smallest false discovery rate at which the voter is flagged.
    pub q: f64,
}

/// Result of one test of all voters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoterReport {
    /// Statistical test.
    pub test: VoterTest,
    /// Number of voters.
    pub voters: u64,
    /// Results of the voters with enough votes, the most suspicious first.
    pub results: Vec<VoterResult>,
    /// Correlation that taste gives two votes of an honest voter on one model, for the score test.
    pub taste: Option<f64>,
}

impl VoterReport {
    /// Returns the voters whose q-value is at most α, the most suspicious first; none where flags are [withheld](Self::withheld).
    pub fn flagged(&self, alpha: f64) -> impl Iterator<Item = &VoterResult> {
        let results: &[VoterResult] = if self.withheld().is_some() { &[] } else { &self.results };
        results.iter().filter(move |result| result.q <= alpha)
    }

    /// Returns the number of voters whom [`DEFAULT_ALPHA`] would flag, if they are more than a quarter of all voters. Then none is flagged
    /// at any α: a smaller one does not make the test fit the votes, and a longer list of a fitting test needs a larger one.
    #[must_use]
    pub fn withheld(&self) -> Option<u64> {
        let found = count(self.results.iter().filter(|result| result.q <= DEFAULT_ALPHA).count());
        (found >= MIN_TO_WITHHOLD && MAX_FLAGGED_ONE_IN * found > self.voters).then_some(found)
    }
}

/// Voter with enough votes.
struct TestedVoter<'a> {
    /// Position among the voters of the log; also the number of its random stream.
    index: usize,
    votes: &'a [CrowdVote],
    /// Strengths of the crowd without the voter's votes.
    strengths: DVector<f64>,
}

/// Result of a test, before q-values.
struct VoterFinding {
    model: Option<(usize, SuspectModel)>,
    statistic: f64,
    p: f64,
}

/// Results of a test for the voters with enough votes.
struct VoterFindings {
    crowd: CrowdExpectation,
    /// Results by position among the voters of the log.
    by_voter: Vec<(usize, VoterFinding)>,
    taste: Option<f64>,
}

/// Tests all voters of a log. The seed is for simulated voters and checkpoints; the results do not depend on the number of threads.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] as for the fit.
pub fn test_voters(log: &VoteLog, test: VoterTest, seed: u64) -> Result<VoterReport, FitError> {
    let known = log.voters.as_ref().filter(|labels| !labels.names.as_slice().is_empty());
    let labels = known.ok_or(FitError::NoVoters)?;
    let voters = u64::try_from(labels.names.as_slice().len()).unwrap_or(u64::MAX);
    let mut report = VoterReport { test, voters, results: Vec::new(), taste: None };
    let Some(VoterFindings { crowd, by_voter, taste }) = test_all_voters(log, labels, test, seed)? else {
        return Ok(report);
    };
    let (names, votes) = (crowd.names(log), crowd.votes_of_voters(log));
    let result = |(voter, VoterFinding { model, statistic, p }): (usize, VoterFinding)| VoterResult {
        voter: labels.names.as_slice()[voter].clone(),
        votes: count(votes[voter].len()),
        test,
        model: model.map(|(model, suspect)| SuspectModel { model: names[model].to_owned(), ..suspect }),
        statistic,
        p,
        q: 1.0,
    };
    report.taste = taste;
    report.results = by_voter.into_iter().map(result).collect();
    let q = q_values(&report.results.iter().map(|result| result.p).collect::<Vec<_>>());
    report.results.iter_mut().zip(q).for_each(|(result, q)| result.q = q);
    report.results.sort_by(|x, y| x.p.total_cmp(&y.p).then_with(|| x.voter.cmp(&y.voter)));
    Ok(report)
}

/// Tests all voters; `None` if no votes of the crowd compare two rated models.
fn test_all_voters(
    log: &VoteLog,
    labels: &Labels,
    test: VoterTest,
    seed: u64,
) -> Result<Option<VoterFindings>, FitError> {
    if test == VoterTest::Score {
        return Ok(ReferenceCrowd::with_score_tests(log, labels)?.map(|(reference, voters, tests)| {
            let results = voters.into_iter().zip(tests.results);
            let by_voter = results.filter_map(|(voter, found)| Some((voter, VoterFinding::from(found?)))).collect();
            VoterFindings { crowd: reference.crowd, by_voter, taste: Some(tests.taste) }
        }));
    }
    let everyone = vec![true; labels.names.as_slice().len()];
    Ok(ReferenceCrowd::new(log, labels, everyone)?.map(|reference| reference.seeded_tests(log, test, seed)))
}

/// Crowd with which voters are compared.
struct ReferenceCrowd {
    crowd: CrowdExpectation,
    /// Whether the votes of each voter are in the crowd.
    in_crowd: Vec<bool>,
}

impl ReferenceCrowd {
    /// Fits the crowd; `None` if none of its votes compare two rated models.
    fn new(log: &VoteLog, labels: &Labels, in_crowd: Vec<bool>) -> Result<Option<Self>, FitError> {
        if in_crowd.iter().all(|inside| *inside) {
            return Ok(CrowdExpectation::new(log)?.map(|crowd| Self { crowd, in_crowd }));
        }
        let keep: Vec<bool> =
            labels.rows.iter().map(|&voter| voter == Labels::NONE || in_crowd[voter as usize]).collect();
        let mut inside = log.clone();
        inside.retain(&keep);
        Ok(CrowdExpectation::new(&inside)?.map(|crowd| Self { crowd, in_crowd }))
    }

    /// Runs the likelihood test or Fisher's, with a separate random stream per voter.
    fn seeded_tests(self, log: &VoteLog, test: VoterTest, seed: u64) -> VoterFindings {
        let votes = self.crowd.votes_of_voters(log);
        let candidates = self.candidates(&votes);
        let history = (test == VoterTest::Fisher).then(|| History::new(self.crowd.votes(log).iter()));
        let tested = |voter: &TestedVoter<'_>| -> Option<(usize, VoterFinding)> {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::try_from(voter.index).unwrap_or(u64::MAX));
            let found = match &history {
                Some(history) => VoterFinding::from(fisher_test(history, voter.votes, &mut rng)?),
                None => likelihood_test(&self.crowd, voter.votes, &voter.strengths, &mut rng).into(),
            };
            Some((voter.index, found))
        };
        let by_voter = candidates.par_iter().filter_map(tested).collect();
        VoterFindings { crowd: self.crowd, by_voter, taste: None }
    }

    /// Returns the crowd of the score test, the positions of its [candidates](Self::candidates) among the voters of the log, and their
    /// tests.
    ///
    /// Outliers are the voters whom chance alone does not explain, as long as the taste of the votes explains the other voters. Otherwise
    /// honest tastes are among them: the crowd would be voters without a taste, and all others would look like riggers. Then outliers are
    /// the voters whom chance and the taste together do not explain.
    fn with_score_tests(
        log: &VoteLog,
        labels: &Labels,
    ) -> Result<Option<(Self, Vec<usize>, CalibratedTests)>, FitError> {
        let Some(mut reference) = Self::without_outliers(log, labels)? else { return Ok(None) };
        let (mut voters, mut tests) = reference.score_tests(log);
        if !tests.is_raised && reference.in_crowd.contains(&false) {
            return Ok(Some((reference, voters, tests)));
        }
        for _ in 0..MAX_TASTE_PASSES {
            let inside = reference.within_crowd(&voters, &tests.results);
            if inside == reference.in_crowd {
                break;
            }
            let Some(next) = Self::new(log, labels, inside)? else { break };
            reference = next;
            (voters, tests) = reference.score_tests(log);
        }
        Ok(Some((reference, voters, tests)))
    }

    /// Fits a crowd without the voters who deviate from it more than chance explains, whatever their reason. Riggers of one target would
    /// hide one another in a crowd that contains their votes. If most voters deviate, the crowd is all voters.
    fn without_outliers(log: &VoteLog, labels: &Labels) -> Result<Option<Self>, FitError> {
        let everyone = vec![true; labels.names.as_slice().len()];
        let mut in_crowd = everyone.clone();
        for _ in 0..MAX_PASSES {
            let Some(reference) = Self::new(log, labels, in_crowd.clone())? else { return Ok(None) };
            let votes = reference.crowd.votes_of_voters(log);
            let candidates = reference.candidates(&votes);
            let results = score_tests(&reference.by_model(&candidates), 0.0);
            let next = reference.within_crowd(&positions(&candidates), &results);
            if next == in_crowd {
                return Ok(Some(reference));
            }
            if 2 * next.iter().filter(|inside| **inside).count() < next.len() {
                return Self::new(log, labels, everyone);
            }
            in_crowd = next;
        }
        Self::new(log, labels, in_crowd)
    }

    /// Runs the score tests of the candidates under the taste of the votes, with their positions among the voters of the log.
    fn score_tests(&self, log: &VoteLog) -> (Vec<usize>, CalibratedTests) {
        let votes = self.crowd.votes_of_voters(log);
        let candidates = self.candidates(&votes);
        let by_voter = self.by_model(&candidates);
        let residuals = candidates.iter().zip(&by_voter).map(|(voter, models)| (voter, shared_residuals(models)));
        let (crowd, outliers): (Vec<_>, Vec<_>) = residuals.partition(|(voter, _)| self.in_crowd[voter.index]);
        let of = |voters: Vec<(_, SharedResiduals)>| voters.into_iter().map(|(_, residuals)| residuals).collect();
        let (crowd, outliers): (Vec<SharedResiduals>, Vec<SharedResiduals>) = (of(crowd), of(outliers));
        let is_of_all = shows_taste_of_all(&crowd, &outliers);
        let taste = taste_correlation(crowd, outliers);
        let tests = if is_of_all { calibrate(&by_voter, taste) } else { uncalibrated(&by_voter, taste) };
        (positions(&candidates), tests)
    }

    /// Returns for each voter of the log whether the test finds no outlier. `voters` are the positions of those tested.
    fn within_crowd(&self, voters: &[usize], results: &[Option<ScoreResult>]) -> Vec<bool> {
        let mut inside = vec![true; self.in_crowd.len()];
        for (&voter, found) in voters.iter().zip(results) {
            inside[voter] = found.is_none_or(|found| found.p > MAX_OUTLIER_P_VALUE);
        }
        inside
    }

    /// Lists the voters with enough votes.
    fn candidates<'a>(&self, votes: &'a [Vec<CrowdVote>]) -> Vec<TestedVoter<'a>> {
        let strengths = |index: usize, votes: &[CrowdVote]| match self.in_crowd[index] {
            true => self.crowd.strengths_without(votes),
            false => DVector::from_column_slice(self.crowd.strengths()),
        };
        votes
            .par_iter()
            .enumerate()
            .filter(|(_, votes)| decisive(votes) >= MIN_VOTES)
            .map(|(index, votes)| TestedVoter { index, votes, strengths: strengths(index, votes) })
            .collect()
    }

    fn by_model(&self, candidates: &[TestedVoter<'_>]) -> Vec<Vec<ModelVotes>> {
        let of = |candidate: &TestedVoter<'_>| by_model(&self.crowd, candidate.votes, &candidate.strengths);
        candidates.par_iter().map(of).collect()
    }
}

/// Returns the positions among the voters of the log.
fn positions(candidates: &[TestedVoter<'_>]) -> Vec<usize> {
    candidates.iter().map(|candidate| candidate.index).collect()
}

/// Counts the votes for one of two models.
fn decisive(votes: &[CrowdVote]) -> usize {
    votes.iter().filter(|vote| matches!(vote.outcome, Outcome::AWins | Outcome::BWins)).count()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl From<ScoreResult> for VoterFinding {
    fn from(found: ScoreResult) -> Self {
        let suspect = SuspectModel {
            model: String::new(),
            favours: found.favours,
            votes: count(found.votes),
            wins: Some(count(found.wins)),
            expected: Some(found.expected),
        };
        Self { model: Some((found.model, suspect)), statistic: found.z, p: found.p }
    }
}

impl From<LikelihoodResult> for VoterFinding {
    fn from(LikelihoodResult { statistic, p }: LikelihoodResult) -> Self {
        Self { model: None, statistic, p }
    }
}

impl From<FisherResult> for VoterFinding {
    fn from(found: FisherResult) -> Self {
        let (favours, votes) = (found.favours, count(found.votes));
        let suspect = SuspectModel { model: String::new(), favours, votes, wins: None, expected: None };
        Self { model: Some((found.model, suspect)), statistic: found.statistic, p: found.p }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrity::anomalous_voters::simulated_riggers::{
        RiggerSimulation, RiggerStrategy, add_riggers, is_simulated_rigger,
    };
    use crate::rating::simulate::{Simulation, SimulationOptions};

    /// Simulates honest votes of 40 voters with individual tastes.
    fn honest(models: u32, voter_spread: f64, votes: usize, seed: u64) -> VoteLog {
        let options =
            SimulationOptions { models, voter_spread, seed, ties: 0.15, voters: 40, ..SimulationOptions::default() };
        Simulation::new(options).unwrap().log(votes)
    }

    #[test]
    fn honest_voters_with_ordinary_tastes_are_no_suspects_where_each_votes_often() {
        // With a crowd of those without a taste, about half of them were.
        let suspects = |seed: u64| {
            let report = test_voters(&honest(8, 0.5, 4_000, seed), VoterTest::Score, 0).unwrap();
            assert_eq!(report.results.len(), 40, "seed {seed}");
            report.results.iter().filter(|result| result.q <= DEFAULT_ALPHA).count()
        };
        let found: Vec<usize> = (1..=3).map(suspects).collect();
        assert!(found.iter().sum::<usize>() <= 10, "of 40 voters for each of three seeds: {found:?}");
    }

    #[test]
    fn riggers_are_found_among_voters_with_tastes() {
        let (mut found, mut hurt) = (0, 0);
        for seed in 1..=3 {
            let strategy = RiggerStrategy::TargetOnly;
            let simulation = RiggerSimulation { riggers: 3, votes: 60, strategy, target_share: 1.0, seed };
            let log = add_riggers(&honest(12, 0.25, 3_200, seed), simulation).unwrap();
            let report = test_voters(&log, VoterTest::Score, 0).unwrap();
            for result in report.flagged(DEFAULT_ALPHA) {
                *(if is_simulated_rigger(&result.voter) { &mut found } else { &mut hurt }) += 1;
            }
        }
        assert!(found >= 4 && hurt <= 12, "{found} of 9 riggers and {hurt} of 120 honest voters");
    }

    #[test]
    fn where_more_than_a_quarter_of_all_voters_look_suspicious_nobody_is_flagged() {
        let report = |voters: u64, suspects: usize| {
            let result = |index: usize| VoterResult {
                voter: index.to_string(),
                votes: 100,
                test: VoterTest::Score,
                model: None,
                statistic: 5.0,
                p: 1e-6,
                q: if index < suspects { 0.01 } else { 1.0 },
            };
            VoterReport { test: VoterTest::Score, voters, results: (0..30).map(result).collect(), taste: Some(0.1) }
        };
        let check = |voters: u64, suspects: usize, flagged: usize, withheld: Option<u64>| {
            let report = report(voters, suspects);
            assert_eq!(report.flagged(DEFAULT_ALPHA).count(), flagged, "{suspects} of {voters}");
            assert_eq!(report.withheld(), withheld, "{suspects} of {voters}");
        };
        check(40, 10, 10, None);
        check(40, 11, 0, Some(11));
        check(1_000, 11, 11, None);
        check(30, 4, 4, None);
        check(8, 4, 4, None);
        check(8, 5, 0, Some(5));
        assert_eq!(report(40, 11).flagged(1.0).count(), 0, "at no level");
        assert_eq!(report(40, 10).flagged(1.0).count(), 30, "who wants all results gets them");
    }
}
