//! Agreement of votes and verdicts on pairs of models.

use serde::Serialize;

use super::chance_corrected::{ChanceReport, chance_report};
use super::intervals::AgreementBootstrap;
use super::pair_win_rates::{PairWins, PlannedTooFew, wins};
use super::position_bias::{SideSharesReport, by_side};
use super::vote_intervals::VoteIntervals;
use crate::agreement::agreement_input::Votes;
use crate::agreement::metrics::AgreementMetrics;
use crate::battle::Outcome;
use crate::rating::verdict_worth_in_votes::{JudgedPair, WorthReport};
use crate::stats::agreement::choices::{Choice, VotesByQuestion, between, decided, within};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::BootstrapOptions;

/// One kind of agreement with ties as a label of their own, and without ties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TieSetups {
    /// All votes.
    pub with_ties: AgreementMetrics,
    /// Only votes for one side.
    pub without_ties: AgreementMetrics,
}

/// Agreement of people with each other and with the judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VotesReport {
    /// Number of questions with votes.
    pub voted: usize,
    /// Number of questions with votes and verdicts.
    pub judged: usize,
    /// Number of votes and verdicts replaced by a later one of the same rater on the same question.
    pub replaced: usize,
    /// Number of pairs of verdicts of one judge on one question with the models in either order, each merged to one: a tie unless both
    /// say the same.
    pub merged_orders: usize,
    /// Agreement of two people on one question.
    pub human_human: TieSetups,
    /// Agreement of a person with the judge.
    pub judge_human: TieSetups,
    /// Agreement beyond chance.
    pub chance: ChanceReport,
    /// Share of wins of each side, and agreement on sides.
    pub sides: SideSharesReport,
    /// Number of votes that a verdict is worth.
    pub worth: WorthReport,
    /// Results of every pair of models by votes and by verdicts, where both have some.
    pub wins: Vec<PairWins>,
    /// Bootstrap of the intervals; none where nothing was resampled.
    pub bootstrap: Option<AgreementBootstrap>,
}

/// Compares votes with verdicts on the same questions and models. `planned` is the planned number of comparisons per pair of models; `None`
/// for the actual number.
///
/// # Errors
/// [`PlannedTooFew`] where there are more comparisons than planned.
pub fn compare(
    votes: &Votes,
    verdicts: &Votes,
    planned: Option<u64>,
    bootstrap: BootstrapOptions,
) -> Result<VotesReport, PlannedTooFew> {
    let (merged, merged_orders) = verdicts.with_merged_orders();
    let (people, judge) = (votes.by_question(), merged.by_question());
    let intervals = VoteIntervals::new(&people, &judge, bootstrap);
    let ([human, human_decided], [judged_all, judged_decided]) = (intervals.human_human, intervals.judge_human);
    let questions: Vec<Vec<Choice>> = people.questions().collect();
    let both: Vec<(Vec<Choice>, Vec<Choice>)> = people.paired_with(&judge).collect();
    let kept: usize = questions.iter().map(Vec::len).chain(judge.questions().map(|cast| cast.len())).sum();
    Ok(VotesReport {
        voted: questions.len(),
        judged: both.len(),
        replaced: votes.len() + verdicts.len() - kept - merged_orders,
        merged_orders,
        human_human: TieSetups {
            with_ties: AgreementMetrics::from(within(&questions)).with(human),
            without_ties: AgreementMetrics::from(within(questions.iter().map(|votes| decided(votes))))
                .with(human_decided),
        },
        judge_human: TieSetups {
            with_ties: AgreementMetrics::from(between(both.iter().map(|(one, other)| (one, other)))).with(judged_all),
            without_ties: AgreementMetrics::from(between(
                both.iter().map(|(one, other)| (decided(one), decided(other))),
            ))
            .with(judged_decided),
        },
        chance: chance_report(&people, &judge, intervals.chance, bootstrap),
        sides: by_side(votes, verdicts, bootstrap),
        worth: WorthReport::new(vote_verdict_pairs(&people, &judge), both.len(), ConfidenceLevel::default()),
        wins: wins(votes, &merged, planned)?,
        bootstrap: intervals.bootstrap,
    })
}

/// Pairs every vote with every verdict on its question.
fn vote_verdict_pairs<'a>(
    people: &'a VotesByQuestion<'a>,
    judge: &'a VotesByQuestion<'a>,
) -> impl Iterator<Item = JudgedPair<'a>> {
    people.cast().flat_map(|(key, cast)| {
        let (_, a, b) = key;
        let verdicts = judge.of(key);
        cast.iter().flat_map(move |&(_, vote)| {
            let pair = move |verdict: &Choice| JudgedPair {
                models: [a, b],
                vote: outcome_of_choice(vote),
                verdict: outcome_of_choice(*verdict),
            };
            verdicts.iter().map(pair).collect::<Vec<_>>()
        })
    })
}

fn outcome_of_choice(choice: Choice) -> Outcome {
    match choice {
        Choice::First => Outcome::AWins,
        Choice::Second => Outcome::BWins,
        Choice::Tie => Outcome::Tie,
    }
}
