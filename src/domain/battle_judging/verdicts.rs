//! Verdicts of judges, combined from the two games of each battle.

use std::collections::BTreeMap;

use crate::battle::Outcome;
use crate::benchmark::scores::judgement::{Game, Status};
use crate::judging::verdict::pairwise::both_games;
use crate::judging::verdict::{GameResult, Preference};
use crate::stats::agreement::choices::Choice;
use crate::time::Timestamp;

/// Judgement of one game, with the rated vote on the same battle.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedVote {
    /// Number of the vote.
    pub seq: i64,
    /// The models on sides A and B.
    pub models: [String; 2],
    /// Outcome of the vote.
    pub outcome: Outcome,
    /// Number of turns of the battle.
    pub turns: u64,
    /// Language of the first prompt.
    pub language: String,
    /// Category, where known; several are separated by commas.
    pub category: Option<String>,
    /// Intent, where known.
    pub intent: Option<String>,
    /// Id of the judge.
    pub judge: String,
    /// SHA-256 of the judge's instructions.
    pub prompt_sha256: String,
    /// Game of the two.
    pub game: Game,
    /// Status of the game.
    pub status: Status,
    /// Parsed preference between the sides, in the order that the judge saw.
    pub parsed: Option<Preference>,
    /// Time of the judgement.
    pub created_at: Timestamp,
}

/// Battle with a judge's one or two games.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedBattle<'s> {
    /// Vote on the battle; its judgement fields are those of the first one added.
    pub vote: &'s JudgedVote,
    /// Status of each game that was asked about; a readable verdict takes precedence over a failure.
    pub ended: [Option<Status>; 2],
    /// Parsed preference of each game.
    pub games: [Option<Preference>; 2],
    /// Time of the latest judgement.
    pub latest: Timestamp,
}

impl<'s> JudgedBattle<'s> {
    fn new(vote: &'s JudgedVote) -> Self {
        Self { vote, ended: [None; 2], games: [None; 2], latest: vote.created_at }
    }

    fn add(&mut self, said: &JudgedVote) {
        self.latest = self.latest.max(said.created_at);
        let game = usize::from(u8::from(said.game)) - 1;
        if self.ended[game] != Some(Status::Ok) {
            self.ended[game] = Some(said.status);
            self.games[game] = said.parsed.filter(|_| said.status == Status::Ok);
        }
    }

    /// Combines both games into a verdict between sides A and B; `None` unless both are readable. A side wins where both games prefer it.
    #[must_use]
    pub fn verdict(&self) -> Option<Choice> {
        let result = both_games(self.games[0]?, self.games[1]?);
        Some(match result {
            GameResult::Win => Choice::First,
            GameResult::Loss => Choice::Second,
            GameResult::Tie => Choice::Tie,
        })
    }

    /// Returns the person's choice between sides A and B.
    #[must_use]
    pub fn battle_judging(&self) -> Choice {
        match self.vote.outcome {
            Outcome::AWins => Choice::First,
            Outcome::BWins => Choice::Second,
            Outcome::Tie | Outcome::BothBad => Choice::Tie,
        }
    }
}

/// Judgements of one judge, by one set of instructions.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge<'s> {
    /// Id of the judge.
    pub name: &'s str,
    /// SHA-256 of the judge's instructions.
    pub prompt_sha256: &'s str,
    /// Judged battles, in the order of the votes.
    pub battles: Vec<JudgedBattle<'s>>,
    /// Number of battles judged with other instructions.
    pub by_other_prompts: usize,
    /// Time of the latest verdict.
    pub latest: Timestamp,
}

/// Battles judged with one set of instructions, by the numbers of their votes.
type JudgedBattles<'s> = BTreeMap<i64, JudgedBattle<'s>>;

/// Groups judgements by judge and battle. Of several sets of instructions of a judge the one with the most judged battles is used, and on a
/// tie the one with the latest verdict. `said` is in the order of the votes, with the latest judgement of a game last.
#[must_use]
pub fn by_judge(said: &[JudgedVote]) -> Vec<Judge<'_>> {
    let mut ways: BTreeMap<(&str, &str), JudgedBattles<'_>> = BTreeMap::new();
    for one in said {
        let battles = ways.entry((&one.judge, &one.prompt_sha256)).or_default();
        battles.entry(one.seq).or_insert_with(|| JudgedBattle::new(one)).add(one);
    }
    let mut judges: Vec<Judge<'_>> = Vec::new();
    for ((name, prompt_sha256), battles) in ways {
        let battles: Vec<JudgedBattle<'_>> = battles.into_values().collect();
        let latest = battles.iter().map(|battle| battle.latest).max().unwrap_or(Timestamp(0));
        let way = Judge { name, prompt_sha256, battles, by_other_prompts: 0, latest };
        match judges.last_mut().filter(|former| former.name == name) {
            None => judges.push(way),
            Some(former) => former.merge_judgements(way),
        }
    }
    judges
}

impl Judge<'_> {
    /// Returns the number of battles with two readable games.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.battles.iter().filter(|battle| battle.verdict().is_some()).count()
    }

    /// Keeps the set of instructions with more judged battles, and counts the battles of the other.
    fn merge_judgements(&mut self, other: Self) {
        let weight = |judge: &Self| (judge.judged(), judge.latest);
        let (more, fewer) = if weight(&other) > weight(self) { (other, &*self) } else { (self.clone(), &other) };
        let by_other_prompts = self.by_other_prompts + fewer.battles.len();
        *self = Judge { by_other_prompts, ..more };
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Judgement of the judge `j` on a vote between x and y, in one game.
    pub(crate) fn judged_vote(seq: i64, outcome: Outcome, game: Game, winner: Option<Preference>) -> JudgedVote {
        JudgedVote {
            seq,
            models: ["x".into(), "y".into()],
            outcome,
            turns: 1,
            language: "English".into(),
            category: None,
            intent: None,
            judge: "j".into(),
            prompt_sha256: "p".into(),
            game,
            status: if winner.is_some() { Status::Ok } else { Status::ParseFailed },
            parsed: winner,
            created_at: Timestamp(seq),
        }
    }

    /// Judgements of both games of a battle.
    pub(crate) fn both(seq: i64, outcome: Outcome, winners: [Preference; 2]) -> [JudgedVote; 2] {
        [0, 1].map(|game| judged_vote(seq, outcome, Game::BOTH[game], Some(winners[game])))
    }

    #[test]
    fn a_side_wins_where_both_games_say_so_and_one_game_is_no_verdict() {
        use Preference::{A, B, Tie};
        let games = [
            both(1, Outcome::AWins, [A, B]),
            both(2, Outcome::BWins, [A, A]),
            both(3, Outcome::BothBad, [B, A]),
            both(4, Outcome::Tie, [Tie, B]),
        ];
        let mut all = games.concat();
        all.push(judged_vote(5, Outcome::AWins, Game::First, Some(A)));
        let judges = by_judge(&all);
        let found: Vec<_> =
            judges[0].battles.iter().map(|battle| (battle.battle_judging(), battle.verdict())).collect();
        let (first, second, tie) = (Choice::First, Choice::Second, Choice::Tie);
        let expected =
            [(first, Some(first)), (second, Some(tie)), (tie, Some(second)), (tie, Some(tie)), (first, None)];
        assert_eq!(found, expected);
        assert_eq!(judges[0].judged(), 4);
    }

    #[test]
    fn a_verdict_wins_over_a_failure_whichever_came_first() {
        let ok = judged_vote(1, Outcome::Tie, Game::First, Some(Preference::A));
        let failed = judged_vote(1, Outcome::Tie, Game::First, None);
        for order in [[ok.clone(), failed.clone()], [failed, ok]] {
            let judges = by_judge(&order);
            assert_eq!(judges[0].battles[0].ended, [Some(Status::Ok), None]);
            assert_eq!(judges[0].battles[0].games, [Some(Preference::A), None]);
        }
    }

    #[test]
    fn the_instructions_count_by_which_most_was_judged() {
        let by = |prompt: &str, seq| {
            both(seq, Outcome::AWins, [Preference::A, Preference::B])
                .map(|said| JudgedVote { prompt_sha256: prompt.into(), ..said })
        };
        let all = [by("a", 1), by("b", 2), by("b", 3), by("c", 4)].concat();
        let judges = by_judge(&all);
        assert_eq!((judges.len(), judges[0].prompt_sha256, judges[0].by_other_prompts), (1, "b", 2));
        let all = [by("a", 9), by("b", 2)].concat();
        assert_eq!(by_judge(&all)[0].prompt_sha256, "a", "of equally many those of the latest verdict");
    }
}
