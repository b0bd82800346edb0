//! Tests of every voter against the crowd, and which voters they flag.
//!
//! A voter is flagged if the q-value is at most α, so that at most a share α of the flagged voters is expected to be honest
//! (Benjamini and Hochberg; `false_discovery`). A flag is a reason to look, no proof: an honest person with an unusual taste
//! votes as a rigger does.

use nalgebra::DVector;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::false_discovery::q_values;
use super::fisher_combination::{FisherResult, History, fisher_test};
use super::likelihood_test::{LikelihoodResult, likelihood_test};
use super::overdispersion::{SharedResiduals, taste_correlation};
use super::rao_score::{ModelVotes, ScoreResult, by_model, score_test, shared_residuals};
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::crowd_expectation::{CrowdExpectation, CrowdVote};
use crate::rating::vote_log::{Labels, VoteLog};

/// Voters with fewer votes for one of two models are not tested: they show nothing.
pub const FEWEST_VOTES: usize = 10;
/// The α of the tests where nobody says otherwise.
pub const DEFAULT_ALPHA: f64 = 0.1;

/// Voters are left out of the crowd of the score test if chance alone explains their votes with at most this probability.
const OUTLIER: f64 = 0.01;
/// Riggers who hid one another appear one pass after another.
const MOST_PASSES: usize = 5;

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
    /// The voters whose q-value is at most α, the most suspicious first.
    pub fn flagged(&self, alpha: f64) -> impl Iterator<Item = &VoterResult> {
        self.results.iter().filter(move |result| result.q <= alpha)
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

/// Tests all voters of a log. The seed is for simulated voters and checkpoints; the number of threads changes nothing.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] as for the fit.
pub fn test_voters(log: &VoteLog, test: VoterTest, seed: u64) -> Result<VoterReport, FitError> {
    let known = log.voters.as_ref().filter(|labels| !labels.names.as_slice().is_empty());
    let labels = known.ok_or(FitError::NoVoters)?;
    let voters = u64::try_from(labels.names.as_slice().len()).unwrap_or(u64::MAX);
    let mut report = VoterReport { test, voters, results: Vec::new(), taste: None };
    let reference = match test {
        VoterTest::Score => Reference::without_outliers(log, labels)?,
        VoterTest::Likelihood | VoterTest::Fisher => {
            Reference::new(log, labels, vec![true; labels.names.as_slice().len()])?
        }
    };
    let Some(reference) = reference else { return Ok(report) };
    let crowd = &reference.crowd;
    let votes = crowd.votes_of_voters(log);
    let candidates = reference.candidates(&votes);
    let rng = |candidate: &TestedVoter<'_>| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::try_from(candidate.index).unwrap_or(u64::MAX));
        rng
    };
    let findings: Vec<Option<VoterFinding>> = match test {
        VoterTest::Score => {
            let by_voter = reference.by_model(&candidates);
            let taste = reference.taste(&candidates, &by_voter);
            report.taste = Some(taste);
            by_voter.par_iter().map(|models| score_test(models, taste).map(VoterFinding::from)).collect()
        }
        VoterTest::Likelihood => candidates
            .par_iter()
            .map(|voter| Some(likelihood_test(crowd, voter.votes, &voter.strengths, &mut rng(voter)).into()))
            .collect(),
        VoterTest::Fisher => {
            let history = History::new(crowd.votes(log).iter());
            let tested =
                |voter: &TestedVoter<'_>| fisher_test(&history, voter.votes, &mut rng(voter)).map(VoterFinding::from);
            candidates.par_iter().map(tested).collect()
        }
    };
    let names = crowd.names(log);
    let result = |(candidate, finding): (&TestedVoter<'_>, Option<VoterFinding>)| {
        let VoterFinding { model, statistic, p } = finding?;
        Some(VoterResult {
            voter: labels.names.as_slice()[candidate.index].clone(),
            votes: count(candidate.votes.len()),
            test,
            model: model.map(|(model, suspect)| SuspectModel { model: names[model].to_owned(), ..suspect }),
            statistic,
            p,
            q: 1.0,
        })
    };
    report.results = candidates.iter().zip(findings).filter_map(result).collect();
    let q = q_values(&report.results.iter().map(|result| result.p).collect::<Vec<_>>());
    report.results.iter_mut().zip(q).for_each(|(result, q)| result.q = q);
    report.results.sort_by(|x, y| x.p.total_cmp(&y.p).then_with(|| x.voter.cmp(&y.voter)));
    Ok(report)
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

    /// A crowd without the voters who stray from it more than chance, whatever their reason. Riggers of one target would hide one
    /// another in a crowd that holds their votes.
    fn without_outliers(log: &VoteLog, labels: &Labels) -> Result<Option<Self>, FitError> {
        let mut in_crowd = vec![true; labels.names.as_slice().len()];
        for _ in 0..MOST_PASSES {
            let Some(reference) = Self::new(log, labels, in_crowd.clone())? else { return Ok(None) };
            let votes = reference.crowd.votes_of_voters(log);
            let candidates = reference.candidates(&votes);
            let by_voter = reference.by_model(&candidates);
            let p_values: Vec<f64> =
                by_voter.par_iter().map(|models| score_test(models, 0.0).map_or(1.0, |found| found.p)).collect();
            let mut next = vec![true; in_crowd.len()];
            candidates.iter().zip(p_values).for_each(|(candidate, p)| next[candidate.index] = p > OUTLIER);
            if next == in_crowd {
                return Ok(Some(reference));
            }
            in_crowd = next;
        }
        Self::new(log, labels, in_crowd)
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

    fn taste(&self, candidates: &[TestedVoter<'_>], by_voter: &[Vec<ModelVotes>]) -> f64 {
        let residuals = candidates.iter().zip(by_voter).map(|(voter, models)| (voter, shared_residuals(models)));
        let (crowd, outliers): (Vec<_>, Vec<_>) = residuals.partition(|(voter, _)| self.in_crowd[voter.index]);
        let of = |voters: Vec<(_, SharedResiduals)>| voters.into_iter().map(|(_, residuals)| residuals).collect();
        taste_correlation(of(crowd), of(outliers))
    }

    fn by_model(&self, candidates: &[TestedVoter<'_>]) -> Vec<Vec<ModelVotes>> {
        let of = |candidate: &TestedVoter<'_>| by_model(&self.crowd, candidate.votes, &candidate.strengths);
        candidates.par_iter().map(of).collect()
    }
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
