//! Tests of every voter against the crowd, and which voters they flag.
//!
//! A voter is flagged if the q-value is at most α, so that at most a share α of the flagged voters is expected to be honest
//! (Benjamini and Hochberg; `false_discovery`). A flag is a reason to look, no proof: an honest person with an unusual taste
//! votes as a rigger does. Where a test would flag more than a quarter of all voters at [`DEFAULT_ALPHA`], it flags nobody at
//! any level: the test then describes honest votes badly, or nothing tells riggers from the crowd ([`VoterReport::withheld`]).

use nalgebra::DVector;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::false_discovery::q_values;
use super::fisher_combination::{FisherResult, History, fisher_test};
use super::overdispersion::{SharedResiduals, shows_taste_of_all, taste_correlation};
use super::rao_score::{ModelVotes, ScoreResult, by_model, shared_residuals};
use super::taste_calibration::{CalibratedTests, calibrate, score_tests, uncalibrated};
use super::voter_likelihood::{LikelihoodResult, likelihood_test};
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::crowd_expectation::{CrowdExpectation, CrowdVote};
use crate::rating::vote_log::{Labels, VoteLog};

/// Voters with fewer votes for one of two models are not tested: they show nothing.
pub const FEWEST_VOTES: usize = 10;
/// The α of the tests where nobody says otherwise.
pub const DEFAULT_ALPHA: f64 = 0.1;

/// Voters are left out of the crowd of the score test if chance explains their votes with at most this probability.
const OUTLIER: f64 = 0.01;
/// Riggers who hid one another appear one pass after another.
const MOST_PASSES: usize = 5;
/// Passes in which a raised taste and its outliers settle.
const MOST_TASTE_PASSES: usize = 3;
/// At most one in so many voters is flagged; a test that would flag more flags nobody.
const MAX_FLAGGED_ONE_IN: u64 = 4;
/// Fewer flagged voters than this are never withheld.
const MIN_TO_WITHHOLD: u64 = 5;

/// A test of a voter.
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

/// An unknown name of a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected score, likelihood or fisher")]
pub struct UnknownTest;

impl VoterTest {
    /// All tests.
    pub const ALL: [Self; 3] = [Self::Score, Self::Likelihood, Self::Fisher];

    /// Name of the test.
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

/// The votes of a voter on the model that the test finds most suspicious.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectModel {
    /// Name of the model.
    pub model: String,
    /// Whether the voter favours it; otherwise the voter votes against it.
    pub favours: bool,
    /// Votes on it that the test counts.
    pub votes: u64,
    /// Votes of them for it, and how many the crowd's ratings expect; `None` where the test does not say.
    pub wins: Option<u64>,
    /// Expected votes for it.
    pub expected: Option<f64>,
}

/// The result of one test of one voter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoterResult {
    /// The voter as the log names it.
    pub voter: String,
    /// Number of votes between rated models.
    pub votes: u64,
    /// The test.
    pub test: VoterTest,
    /// The most suspicious model; `None` if the test looks at no single model.
    pub model: Option<SuspectModel>,
    /// z for the score test, T for the likelihood test, M for Fisher's.
    pub statistic: f64,
    /// Probability that an honest voter's votes are as suspicious.
    pub p: f64,
    /// The least false discovery rate at which the voter is flagged.
    pub q: f64,
}

/// One test of all voters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoterReport {
    /// The test.
    pub test: VoterTest,
    /// Number of voters.
    pub voters: u64,
    /// The results of the voters with enough votes, the most suspicious first.
    pub results: Vec<VoterResult>,
    /// Correlation that taste gives two votes of an honest voter on one model, for the score test.
    pub taste: Option<f64>,
}

impl VoterReport {
    /// The voters whose q-value is at most α, the most suspicious first; nobody where flags are [withheld](Self::withheld).
    pub fn flagged(&self, alpha: f64) -> impl Iterator<Item = &VoterResult> {
        let results: &[VoterResult] = if self.withheld().is_some() { &[] } else { &self.results };
        results.iter().filter(move |result| result.q <= alpha)
    }

    /// Number of voters whom [`DEFAULT_ALPHA`] would flag, if they are more than a quarter of all voters. Then nobody is flagged at any
    /// α: a smaller one does not make the test fit the votes, and who wants a longer list of a test that fits gives a larger one.
    #[must_use]
    pub fn withheld(&self) -> Option<u64> {
        let found = count(self.results.iter().filter(|result| result.q <= DEFAULT_ALPHA).count());
        (found >= MIN_TO_WITHHOLD && MAX_FLAGGED_ONE_IN * found > self.voters).then_some(found)
    }
}

/// A voter with enough votes.
struct TestedVoter<'a> {
    /// Position among the voters of the log, and the number of its random stream.
    index: usize,
    votes: &'a [CrowdVote],
    /// The strengths of the crowd without its votes.
    strengths: DVector<f64>,
}

/// What a test found, before q-values.
struct VoterFinding {
    model: Option<(usize, SuspectModel)>,
    statistic: f64,
    p: f64,
}

/// What a test found of the voters with enough votes.
struct VoterFindings {
    crowd: CrowdExpectation,
    /// By position among the voters of the log.
    by_voter: Vec<(usize, VoterFinding)>,
    taste: Option<f64>,
}

/// Tests all voters of a log. The seed is for simulated voters and checkpoints; the number of threads changes nothing.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] as for the fit.
pub fn test_voters(log: &VoteLog, test: VoterTest, seed: u64) -> Result<VoterReport, FitError> {
    let known = log.voters.as_ref().filter(|labels| !labels.names.as_slice().is_empty());
    let labels = known.ok_or(FitError::NoVoters)?;
    let voters = u64::try_from(labels.names.as_slice().len()).unwrap_or(u64::MAX);
    let mut report = VoterReport { test, voters, results: Vec::new(), taste: None };
    let Some(VoterFindings { crowd, by_voter, taste }) = findings(log, labels, test, seed)? else { return Ok(report) };
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

/// `None` where no votes of the crowd compare two rated models.
fn findings(log: &VoteLog, labels: &Labels, test: VoterTest, seed: u64) -> Result<Option<VoterFindings>, FitError> {
    if test == VoterTest::Score {
        return Ok(Reference::with_score_tests(log, labels)?.map(|(reference, voters, tests)| {
            let results = voters.into_iter().zip(tests.results);
            let by_voter = results.filter_map(|(voter, found)| Some((voter, VoterFinding::from(found?)))).collect();
            VoterFindings { crowd: reference.crowd, by_voter, taste: Some(tests.taste) }
        }));
    }
    let everyone = vec![true; labels.names.as_slice().len()];
    Ok(Reference::new(log, labels, everyone)?.map(|reference| reference.seeded_tests(log, test, seed)))
}

/// The crowd that voters are compared with.
struct Reference {
    crowd: CrowdExpectation,
    /// By voter: whether its votes are in the crowd.
    in_crowd: Vec<bool>,
}

impl Reference {
    /// `None` where no votes of the crowd compare two rated models.
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

    /// The likelihood test or Fisher's, each voter with a random stream of its own.
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

    /// The crowd of the score test, the positions of its [candidates](Self::candidates) among the voters of the log, and their tests.
    ///
    /// Outliers are those whom chance alone does not explain, as long as the taste of the votes explains the other voters. Otherwise
    /// honest tastes are among them: the crowd would be voters without a taste, and all others would look like riggers. Then outliers
    /// are those whom chance and the taste together do not explain.
    fn with_score_tests(
        log: &VoteLog,
        labels: &Labels,
    ) -> Result<Option<(Self, Vec<usize>, CalibratedTests)>, FitError> {
        let Some(mut reference) = Self::without_outliers(log, labels)? else { return Ok(None) };
        let (mut voters, mut tests) = reference.score_tests(log);
        if !tests.is_raised && reference.in_crowd.contains(&false) {
            return Ok(Some((reference, voters, tests)));
        }
        for _ in 0..MOST_TASTE_PASSES {
            let inside = reference.inside(&voters, &tests.results);
            if inside == reference.in_crowd {
                break;
            }
            let Some(next) = Self::new(log, labels, inside)? else { break };
            reference = next;
            (voters, tests) = reference.score_tests(log);
        }
        Ok(Some((reference, voters, tests)))
    }

    /// A crowd without the voters who stray from it more than chance, whatever their reason. Riggers of one target would hide one
    /// another in a crowd that holds their votes. Where most voters stray, the crowd is everyone.
    fn without_outliers(log: &VoteLog, labels: &Labels) -> Result<Option<Self>, FitError> {
        let everyone = vec![true; labels.names.as_slice().len()];
        let mut in_crowd = everyone.clone();
        for _ in 0..MOST_PASSES {
            let Some(reference) = Self::new(log, labels, in_crowd.clone())? else { return Ok(None) };
            let votes = reference.crowd.votes_of_voters(log);
            let candidates = reference.candidates(&votes);
            let results = score_tests(&reference.by_model(&candidates), 0.0);
            let next = reference.inside(&positions(&candidates), &results);
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

    /// The score tests of the candidates, by their positions among the voters of the log, under the taste of the votes.
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

    /// By voter of the log: whether the test finds it no outlier. `voters` are the positions of those tested.
    fn inside(&self, voters: &[usize], results: &[Option<ScoreResult>]) -> Vec<bool> {
        let mut inside = vec![true; self.in_crowd.len()];
        for (&voter, found) in voters.iter().zip(results) {
            inside[voter] = found.is_none_or(|found| found.p > OUTLIER);
        }
        inside
    }

    /// The voters with enough votes.
    fn candidates<'a>(&self, votes: &'a [Vec<CrowdVote>]) -> Vec<TestedVoter<'a>> {
        let strengths = |index: usize, votes: &[CrowdVote]| match self.in_crowd[index] {
            true => self.crowd.strengths_without(votes),
            false => DVector::from_column_slice(self.crowd.strengths()),
        };
        votes
            .par_iter()
            .enumerate()
            .filter(|(_, votes)| decisive(votes) >= FEWEST_VOTES)
            .map(|(index, votes)| TestedVoter { index, votes, strengths: strengths(index, votes) })
            .collect()
    }

    fn by_model(&self, candidates: &[TestedVoter<'_>]) -> Vec<Vec<ModelVotes>> {
        let of = |candidate: &TestedVoter<'_>| by_model(&self.crowd, candidate.votes, &candidate.strengths);
        candidates.par_iter().map(of).collect()
    }
}

/// Positions among the voters of the log.
fn positions(candidates: &[TestedVoter<'_>]) -> Vec<usize> {
    candidates.iter().map(|candidate| candidate.index).collect()
}

/// Number of votes for one of two models.
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
    use crate::integrity::simulated_riggers::{RiggerSimulation, RiggerStrategy, add_riggers, is_simulated_rigger};
    use crate::rating::simulate::{Simulation, SimulationOptions};

    /// Honest votes of 40 voters with tastes of their own.
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
