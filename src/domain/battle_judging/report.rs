//! Report on judges of the arena's battles, for the command, the API and the page.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::agreement::{AgreementBySetup, Distances, Rate, SliceAgreement, Statistic, slices};
use super::verdicts::{Judge, JudgedBattle, JudgedVote, by_judge};
use crate::battle::Outcome;
use crate::battle_judging::leaderboards::{JudgeLeaderboards, leaderboards};
use crate::benchmark::analysis::position_bias::PositionBias;
use crate::rating::FitError;
use crate::rating::leaderboards::leaderboard::RankedModel;
use crate::rating::verdict_worth_in_votes::{JudgedPair, WorthReport};
use crate::stats::Share;
use crate::stats::agreement::choices::Choice;
use crate::stats::confidence::ConfidenceLevel;
use crate::time::Timestamp;

/// Number of displayed characters of a hash.
pub(crate) const SHOWN_HASH_CHARS: usize = 12;

/// Report on the judges of the arena's battles.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BattleJudgingReport {
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Results by judge.
    pub judges: Vec<JudgeReport>,
    /// Agreement of every two judges.
    pub between: Vec<JudgePair>,
}

impl BattleJudgingReport {
    /// Replaces the ids of models and judges by their names.
    #[must_use]
    pub fn with_names(mut self, name: impl Fn(&str) -> String) -> Self {
        for judge in &mut self.judges {
            judge.judge = name(&judge.judge);
            judge.leaderboards.models.iter_mut().for_each(|row| row.model = name(&row.model));
        }
        self.between.iter_mut().flat_map(|pair| &mut pair.judges).for_each(|judge| *judge = name(judge));
        self
    }
}

/// Results of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JudgeReport {
    /// Id or name of the judge.
    pub judge: String,
    /// First characters of the SHA-256 of the judge's instructions.
    pub prompt: String,
    /// Number of battles judged with other instructions, which are not counted here.
    pub by_other_prompts: usize,
    /// Number of judged battles in which the judge took part itself. They count like others, although it may favour its own replies.
    pub own_battles: usize,
    /// Time of the latest verdict, in milliseconds since 1970.
    pub latest: i64,
    /// Number of games by status.
    pub statuses: BTreeMap<String, u64>,
    /// Battles with two readable games, out of all that were asked about.
    pub judged: Rate,
    /// Battles on which both orders agree, out of the judged ones.
    pub consistent: Rate,
    /// Disagreements between the orders in which the judge preferred the first position.
    pub first_position: Rate,
    /// Disagreements between the orders in which the judge preferred the second position.
    pub second_position: Rate,
    /// Disagreements between the orders in which one was a tie. The three rates add up to all disagreements.
    pub one_tie: Rate,
    /// Agreement with people.
    pub agreement: AgreementBySetup,
    /// Agreement with people by slice.
    pub slices: Vec<SliceAgreement>,
    /// Value of a verdict in votes.
    pub worth: WorthReport,
    /// Leaderboards by votes and by verdicts.
    pub leaderboards: JudgeLeaderboards,
}

/// Agreement of two judges.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JudgePair {
    /// Ids or names of the two judges.
    pub judges: [String; 2],
    /// Number of battles that both have judged.
    pub battles: usize,
    /// Agreement of the two judges.
    pub agreement: AgreementBySetup,
}

/// Builds the report. `said` is as for [`by_judge`]; `models` is the arena's leaderboard, from which model distances are computed.
///
/// # Errors
/// [`FitError`] if the optimiser fails.
pub fn report(
    said: &[JudgedVote],
    models: &[RankedModel],
    level: ConfidenceLevel,
) -> Result<BattleJudgingReport, FitError> {
    let judges = by_judge(said);
    let distances = Distances::new(models);
    Ok(BattleJudgingReport {
        confidence: level.share(),
        judges: judges.iter().map(|judge| report_on_judge(judge, &distances, level)).collect::<Result<_, _>>()?,
        between: pairs(&judges, level),
    })
}

fn report_on_judge(
    judge: &Judge<'_>,
    distances: &Distances<'_>,
    level: ConfidenceLevel,
) -> Result<JudgeReport, FitError> {
    let battles = &judge.battles;
    let bias = position(battles);
    let rate = |of, total| Rate::new(Share { of, total }, level);
    let compared: Vec<(Choice, Choice)> =
        battles.iter().filter_map(|battle| Some((battle.battle_judging(), battle.verdict()?))).collect();
    let inconsistent = bias.turns - bias.consistent;
    Ok(JudgeReport {
        judge: judge.name.to_owned(),
        prompt: judge.prompt_sha256.chars().take(SHOWN_HASH_CHARS).collect(),
        by_other_prompts: judge.by_other_prompts,
        own_battles: battles.iter().filter(|battle| battle.vote.models.iter().any(|model| model == judge.name)).count(),
        latest: judge.latest.0,
        statuses: statuses(battles),
        judged: rate(bias.turns, u64::try_from(battles.len()).unwrap_or(u64::MAX)),
        consistent: rate(bias.consistent, bias.turns),
        first_position: rate(bias.first, inconsistent),
        second_position: rate(bias.second, inconsistent),
        one_tie: rate(inconsistent - bias.first - bias.second, inconsistent),
        agreement: AgreementBySetup::new(&compared, level),
        slices: slices(battles, distances, level),
        worth: WorthReport::new(battles.iter().filter_map(judged_pair), battles.len(), level),
        leaderboards: leaderboards(battles, level)?,
    })
}

fn judged_pair<'s>(battle: &JudgedBattle<'s>) -> Option<JudgedPair<'s>> {
    let verdict = match battle.verdict()? {
        Choice::First => Outcome::AWins,
        Choice::Second => Outcome::BWins,
        Choice::Tie => Outcome::Tie,
    };
    Some(JudgedPair { models: battle.vote.models.each_ref().map(String::as_str), vote: battle.vote.outcome, verdict })
}

pub(crate) fn position(battles: &[JudgedBattle<'_>]) -> PositionBias {
    let mut bias = PositionBias::default();
    for battle in battles {
        if let [Some(first), Some(second)] = battle.games {
            bias.count(first, second);
        }
    }
    bias
}

fn statuses(battles: &[JudgedBattle<'_>]) -> BTreeMap<String, u64> {
    let mut statuses = BTreeMap::new();
    for status in battles.iter().flat_map(|battle| battle.ended).flatten() {
        *statuses.entry(status.as_str().to_owned()).or_default() += 1;
    }
    statuses
}

fn pairs(judges: &[Judge<'_>], level: ConfidenceLevel) -> Vec<JudgePair> {
    let verdicts = |judge: &Judge<'_>| -> BTreeMap<i64, Choice> {
        judge.battles.iter().filter_map(|battle| Some((battle.vote.seq, battle.verdict()?))).collect()
    };
    let all: Vec<_> = judges.iter().map(|judge| (judge.name, verdicts(judge))).collect();
    let mut pairs = Vec::new();
    for (later, (other, theirs)) in all.iter().enumerate() {
        for (one, ours) in &all[..later] {
            let both: Vec<(Choice, Choice)> =
                ours.iter().filter_map(|(seq, choice)| Some((*choice, *theirs.get(seq)?))).collect();
            pairs.push(JudgePair {
                judges: [*one, *other].map(str::to_owned),
                battles: both.len(),
                agreement: AgreementBySetup::new(&both, level),
            });
        }
    }
    pairs
}

impl JudgeReport {
    /// Returns the time of the latest verdict.
    #[must_use]
    pub fn latest_at(&self) -> Timestamp {
        Timestamp(self.latest)
    }

    /// Iterates over the agreement on all battles and then by slice, for tables.
    pub fn agreements(&self) -> impl Iterator<Item = (Option<&SliceAgreement>, usize, &AgreementBySetup)> {
        let all = usize::try_from(self.agreement.with_ties.total).unwrap_or(usize::MAX);
        let parts = self.slices.iter().map(|slice| (Some(slice), slice.battles, &slice.agreement));
        std::iter::once((None, all, &self.agreement)).chain(parts)
    }

    /// Returns the correlations of the two leaderboards, by name.
    #[must_use]
    pub fn correlations(&self) -> [(&'static str, &Statistic); 2] {
        [("spearman", &self.leaderboards.spearman), ("kendall", &self.leaderboards.kendall)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome::{AWins, BWins, Tie};
    use crate::battle_judging::verdicts::tests::{both, judged_vote};
    use crate::benchmark::scores::judgement::{Game, Status};
    use crate::judging::verdict::Preference::{A, B, Tie as Even};

    #[test]
    fn coverage_and_position_bias_are_counted_by_hand() {
        let mut all = [
            both(1, AWins, [A, B]),
            both(2, BWins, [A, A]),
            both(3, BWins, [A, A]),
            both(4, Tie, [B, B]),
            both(5, Tie, [Even, A]),
            both(6, Tie, [Even, Even]),
        ]
        .concat();
        all.extend([judged_vote(7, AWins, Game::First, Some(A)), judged_vote(7, AWins, Game::Second, None)]);
        let found = report(&all, &[], ConfidenceLevel::default()).unwrap();
        let judge = &found.judges[0];
        let counts = |rate: &Rate| (rate.of, rate.total);
        assert_eq!(counts(&judge.judged), (6, 7));
        assert_eq!(counts(&judge.consistent), (2, 6));
        assert_eq!((counts(&judge.first_position), counts(&judge.second_position)), ((2, 4), (1, 4)));
        assert_eq!(counts(&judge.one_tie), (1, 4), "all shares add up");
        let statuses = [(Status::Ok, 13), (Status::ParseFailed, 1)].map(|(status, n)| (status.as_str().to_owned(), n));
        assert_eq!(judge.statuses, BTreeMap::from(statuses));
        assert_eq!(counts(&judge.agreement.with_ties), (4, 6), "1, 4, 5 and 6");
        assert_eq!(counts(&judge.agreement.without_ties), (1, 1));
        assert_eq!((judge.prompt.as_str(), judge.latest_at()), ("p", Timestamp(7)));
    }

    #[test]
    fn the_battles_of_a_judge_with_itself_are_counted() {
        let by = |judge: &str, seq| both(seq, AWins, [A, B]).map(|said| JudgedVote { judge: judge.into(), ..said });
        let all = [by("x", 1), by("x", 2), by("j", 3)].concat();
        let found = report(&all, &[], ConfidenceLevel::default()).unwrap();
        let own: Vec<_> = found.judges.iter().map(|judge| (judge.judge.as_str(), judge.own_battles)).collect();
        assert_eq!(own, [("j", 0), ("x", 2)]);
    }

    #[test]
    fn judges_are_compared_on_the_battles_that_both_have_judged() {
        let by =
            |judge: &str, seq, games| both(seq, AWins, games).map(|said| JudgedVote { judge: judge.into(), ..said });
        let all = [
            by("i", 1, [A, B]),
            by("j", 1, [A, B]),
            by("i", 2, [A, B]),
            by("j", 2, [B, A]),
            by("i", 3, [A, B]),
            by("k", 4, [A, B]),
        ]
        .concat();
        let found = report(&all, &[], ConfidenceLevel::default()).unwrap();
        let between: Vec<_> = found
            .between
            .iter()
            .map(|pair| (pair.judges.join(" "), pair.battles, pair.agreement.with_ties.of))
            .collect();
        assert_eq!(between, [("i j".to_owned(), 2, 1), ("i k".to_owned(), 0, 0), ("j k".to_owned(), 0, 0)]);
    }

    #[test]
    fn nothing_judged_is_an_empty_report() {
        let found = report(&[], &[], ConfidenceLevel::default()).unwrap();
        assert!(found.judges.is_empty() && found.between.is_empty());
    }
}
