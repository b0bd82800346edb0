//! Results of every pair of models, by people and by the judge.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agreement::agreement_input::Votes;
use crate::agreement::metrics::MetricValue;
use crate::battle::Outcome;
use crate::stats::agreement::wins::WinCounts;

/// Error of a pair of models with more comparisons than planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{made} comparisons of {:?} with {:?} are more than the {planned} planned ones: plan at least as many", models[0], models[1])]
pub struct PlannedTooFew {
    models: [String; 2],
    made: u64,
    planned: u64,
}

/// Results of two models by people and by the judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairWins {
    /// Models in name order; wins are those of the first.
    pub models: [String; 2],
    /// Results by people's votes.
    pub votes: WinMetrics,
    /// Results by the judge's verdicts.
    pub verdicts: WinMetrics,
}

/// Results of one model against another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WinMetrics {
    /// Numbers of wins, ties, losses and both-bad.
    #[serde(flatten)]
    pub counts: WinCounts,
    /// Wins and ties over all comparisons, as on the leaderboard.
    pub win_tie_rate: MetricValue,
    /// A/(A+B).
    pub win_rate_without_ties: MetricValue,
    /// (A−B)/(A+T+B).
    pub delta: MetricValue,
    /// Planned number of comparisons.
    pub planned: u64,
    /// (A−B)/planned.
    pub delta_of_planned: MetricValue,
}

impl WinMetrics {
    fn new(counts: WinCounts, planned: Option<u64>) -> Self {
        let planned = planned.unwrap_or(counts.total());
        Self {
            counts,
            win_tie_rate: counts.win_tie_rate().into(),
            win_rate_without_ties: counts.win_rate_without_ties().into(),
            delta: counts.delta().into(),
            planned,
            delta_of_planned: counts.delta_of_planned(planned).into(),
        }
    }
}

/// Computes the results of the pairs that both have compared, by name.
pub(super) fn wins(people: &Votes, judge: &Votes, planned: Option<u64>) -> Result<Vec<PairWins>, PlannedTooFew> {
    let (by_people, by_judge) = (counts(people), counts(judge));
    let both = by_people.into_iter().filter_map(|(models, votes)| Some((models, votes, *by_judge.get(&models)?)));
    let pair = |(models, votes, verdicts): ([&str; 2], WinCounts, WinCounts)| {
        let (models, made) = (models.map(str::to_owned), votes.total().max(verdicts.total()));
        match planned.filter(|&planned| planned < made) {
            Some(planned) => Err(PlannedTooFew { models, made, planned }),
            None => {
                let [votes, verdicts] = [votes, verdicts].map(|counts| WinMetrics::new(counts, planned));
                Ok(PairWins { models, votes, verdicts })
            }
        }
    };
    both.map(pair).collect()
}

/// Counts results by pair of models in name order; the last of several votes of one voter on one question counts.
fn counts(votes: &Votes) -> BTreeMap<[&str; 2], WinCounts> {
    let mut latest: BTreeMap<([&str; 2], &str, &str), Outcome> = BTreeMap::new();
    for vote in &votes.0 {
        let [one, other] = vote.models.each_ref().map(String::as_str);
        let (models, outcome) =
            if one <= other { ([one, other], vote.outcome) } else { ([other, one], vote.outcome.swapped()) };
        latest.insert((models, vote.question.as_str(), vote.voter.as_str()), outcome);
    }
    let mut counts: BTreeMap<[&str; 2], WinCounts> = BTreeMap::new();
    for ((models, ..), outcome) in latest {
        let counts = counts.entry(models).or_default();
        match outcome {
            Outcome::AWins => counts.wins += 1,
            Outcome::Tie => counts.ties += 1,
            Outcome::BWins => counts.losses += 1,
            Outcome::BothBad => counts.both_bad += 1,
        }
    }
    counts
}
