//! Shared code of suites that compare a model with a baseline: two games per turn with swapped sides, and win shares.
//!
//! The score is 100 · (wins + ties) / valid, over the turns with two readable games: a turn with a failed game is left out and lowers the
//! coverage. With five levels of verdicts it is Arena-Hard's: the mean of the votes of all games, 100 for a win, 50 for a tie, and three
//! votes for a clear verdict. Since every game is against the baseline, that is also the win rate of a Bradley–Terry fit to these votes.

use super::super::item::{Answer, Item, ItemSampling, answer_of};
use super::super::scores::judgement::{Game, JudgeRequest, JudgeStep, JudgeTask, Status};
use super::super::scores::score::{Part, PartKind, Score, Verdicts, WeightedValue, mean};
use super::super::suite_options::SuiteError;
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::{PromptFile, PromptText};
use crate::judging::verdict::pairwise::{VerdictScale, both_games};
use crate::judging::verdict::{GameResult, Margin, Preference, Verdict};
use crate::language::Language;

/// Ablation that asks judges for one of five verdicts.
pub const FIVE_LEVELS: &str = "five_levels";
/// Rule that counts wins and ties equally, like SuperCLUE's own score: shown beside that of five levels.
pub const WINS_AND_TIES: &str = "wins and ties";
/// Rule that counts ties half, like FastChat's adjusted win rate.
pub const TIES_HALF: &str = "ties half";
/// Rule that counts wins 3 and ties 1 of 3, like SuperCLUE since September 2023.
pub const THREE_ONE_ZERO: &str = "3-1-0";

/// Maximum length of a judge's reply, in tokens.
const MAX_REPLY_TOKENS: u32 = 2048;

const SINGLE_TURN_FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["question", "answer_a", "answer_b"], optional: &["ref_answer_1"] };
const SINGLE_TURN_REFERENCE_FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["question", "answer_a", "answer_b", "ref_answer_1"], optional: &[] };
const MULTI_TURN_FIELDS: JudgePromptFields = JudgePromptFields {
    required: &["question_1", "question_2", "answer_a_1", "answer_a_2", "answer_b_1", "answer_b_2"],
    optional: &["ref_answer_1", "ref_answer_2"],
};
const MULTI_TURN_REFERENCE_FIELDS: JudgePromptFields = JudgePromptFields {
    required: &[
        "question_1",
        "question_2",
        "answer_a_1",
        "answer_a_2",
        "answer_b_1",
        "answer_b_2",
        "ref_answer_1",
        "ref_answer_2",
    ],
    optional: &[],
};

/// Prompts for comparing two answers, by turn and with or without a reference. Their names in a prompt file are FastChat's, so its file of
/// judge prompts can be used unchanged.
pub(in crate::benchmark) struct PairPrompts {
    single: JudgePrompt,
    multi: JudgePrompt,
    single_reference: JudgePrompt,
    multi_reference: JudgePrompt,
}

/// Whether the judge sees the reference answers of items that have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::benchmark) enum ReferenceUse {
    Shown,
    Hidden,
}

/// Answers of the model and of the baseline.
#[derive(Clone, Copy)]
struct ComparedAnswers<'a> {
    a: &'a [Answer],
    b: &'a [Answer],
}

impl PairPrompts {
    /// Parses the prompts of a file, which have to ask for these verdict levels.
    pub(in crate::benchmark) fn new(file: &PromptFile, levels: VerdictScale) -> Result<Self, SuiteError> {
        let judge_prompt = |name: &str, fields| {
            let text = with_levels(file.variant(name), levels);
            let judge_prompt = JudgePrompt::new(name, &text, fields)?;
            let asks_for_five = judge_prompt.messages(&[]).iter().any(|message| message.content.contains("A>>B"));
            match (levels, asks_for_five) {
                (VerdictScale::Five, false) => Err(SuiteError::AsksForThree(name.to_owned())),
                (VerdictScale::Three, true) => Err(SuiteError::AsksForFive(name.to_owned())),
                _ => Ok(judge_prompt),
            }
        };
        Ok(Self {
            single: judge_prompt("pair-v2", SINGLE_TURN_FIELDS)?,
            multi: judge_prompt("pair-v2-multi-turn", MULTI_TURN_FIELDS)?,
            single_reference: judge_prompt("pair-math-v1", SINGLE_TURN_REFERENCE_FIELDS)?,
            multi_reference: judge_prompt("pair-math-v1-multi-turn", MULTI_TURN_REFERENCE_FIELDS)?,
        })
    }

    /// Returns both games of each turn that both models have answered. The second turn is judged together with the first.
    pub(in crate::benchmark) fn judgings(
        &self,
        item: &Item,
        answers: &[Answer],
        baseline: &[Answer],
        references: ReferenceUse,
    ) -> Vec<JudgeTask> {
        let turns = item.turn_numbers().take(2);
        let answered = turns.filter(|turn| answer_of(answers, *turn).and(answer_of(baseline, *turn)).is_some());
        let games = answered.flat_map(|turn| Game::BOTH.map(|game| (turn, game)));
        let judging = |(turn, game)| {
            let players = match game {
                Game::First => ComparedAnswers { a: answers, b: baseline },
                Game::Second => ComparedAnswers { a: baseline, b: answers },
            };
            JudgeTask { turn, game, step: self.step(item, turn, players, references) }
        };
        games.map(judging).collect()
    }

    fn step(&self, item: &Item, turn: u32, players: ComparedAnswers<'_>, references: ReferenceUse) -> JudgeStep {
        let empty = |answers: &[Answer]| {
            (1..=turn).any(|turn| answer_of(answers, turn).is_none_or(|answer| answer.trim().is_empty()))
        };
        if empty(players.a) || empty(players.b) {
            return JudgeStep::Failed(Status::EmptyAnswer);
        }
        JudgeStep::Ask(self.request(item, turn, players, references))
    }

    fn request(&self, item: &Item, turn: u32, players: ComparedAnswers<'_>, references: ReferenceUse) -> JudgeRequest {
        let question = |turn| item.turn(turn).map_or("", |turn| turn.question.as_str());
        let reference = |turn| item.turn(turn).and_then(|turn| turn.reference.as_deref());
        let answer = |answers, turn| answer_of(answers, turn).unwrap_or_default();
        let known = references == ReferenceUse::Shown && (1..=turn).all(|turn| reference(turn).is_some());
        let judge_prompt = match (turn, known) {
            (1, false) => &self.single,
            (1, true) => &self.single_reference,
            (_, false) => &self.multi,
            (_, true) => &self.multi_reference,
        };
        let values = [
            ("question", question(1)),
            ("question_1", question(1)),
            ("question_2", question(2)),
            ("answer_a", answer(players.a, 1)),
            ("answer_b", answer(players.b, 1)),
            ("answer_a_1", answer(players.a, 1)),
            ("answer_a_2", answer(players.a, 2)),
            ("answer_b_1", answer(players.b, 1)),
            ("answer_b_2", answer(players.b, 2)),
            ("ref_answer_1", reference(1).unwrap_or_default()),
            ("ref_answer_2", reference(2).unwrap_or_default()),
        ];
        let sampling =
            ItemSampling { temperature: Some(0.0), max_tokens: Some(MAX_REPLY_TOKENS), seed: None, logprobs: false };
        JudgeRequest { messages: judge_prompt.messages(&values), sampling }
    }
}

/// Inserts the instructions for these levels at a prompt's `{verdicts}`.
fn with_levels(mut text: PromptText, levels: VerdictScale) -> PromptText {
    if levels == VerdictScale::Five
        && let Some(five) = text.texts.get(FIVE_LEVELS).cloned()
    {
        text.texts.insert("verdicts".to_owned(), five);
    }
    text
}

/// Returns the combined result of a turn's two games; `None` unless both are readable.
#[must_use]
pub fn result(item: &str, turn: u32, verdicts: &Verdicts<'_>) -> Option<GameResult> {
    let winner = |game| match verdicts.get(item, turn, game)? {
        Verdict::Pair { winner, .. } => Some(*winner),
        _ => None,
    };
    Some(both_games(winner(Game::First)?, winner(Game::Second)?))
}

/// Returns the votes of a turn's two games for the model, in percent; `None` unless both are readable.
#[must_use]
pub fn votes(item: &str, turn: u32, verdicts: &Verdicts<'_>) -> Option<[WeightedValue; 2]> {
    let vote = |game, model| match verdicts.get(item, turn, game)? {
        Verdict::Pair { winner, margin } => {
            let value = match *winner {
                Preference::Tie => 50.0,
                won if won == model => 100.0,
                _ => 0.0,
            };
            Some(WeightedValue { value, times: margin.map_or(1, Margin::votes) })
        }
        _ => None,
    };
    Some([vote(Game::First, Preference::A)?, vote(Game::Second, Preference::B)?])
}

/// Rule for scoring the games of a turn.
#[derive(Clone, Copy)]
enum GameScoring {
    /// Both games combined, with the points of a win and a tie.
    Together(Points),
    /// Each game separately.
    Votes,
}

/// Computes the mean scores of turns: overall, by turn, by group, by category and turn, and by other rules.
pub(in crate::benchmark) fn scores(
    items: &[Item],
    verdicts: &Verdicts<'_>,
    parts: &[(Part, Vec<&Item>)],
    levels: VerdictScale,
) -> Vec<Score> {
    let turns: Vec<u32> =
        (1..=items.iter().flat_map(Item::turn_numbers).take_while(|turn| *turn <= 2).max().unwrap_or(0)).collect();
    let all: Vec<&Item> = items.iter().collect();
    let share = |part: &Part, items: &[&Item], turns: &[u32], counting: GameScoring| {
        let mut mean = verdicts.no_mean();
        for item in items {
            for turn in turns.iter().copied().filter(|turn| item.turn(*turn).is_some()) {
                match counting {
                    GameScoring::Votes => verdicts.add_votes(&mut mean, item, votes(&item.id, turn, verdicts)),
                    GameScoring::Together(points) => {
                        let value = result(&item.id, turn, verdicts).map(|result| points.of(result));
                        verdicts.add(&mut mean, item, value);
                    }
                }
            }
        }
        let score = mean.score(part.clone())?;
        Some(Score { std_dev: None, ..score })
    };
    let (own, others): (GameScoring, &[(&str, Points)]) = match levels {
        VerdictScale::Three => {
            (GameScoring::Together(TIE_AS_WIN), &[(TIES_HALF, TIE_AS_HALF_WIN), (THREE_ONE_ZERO, TIE_AS_THIRD_WIN)])
        }
        VerdictScale::Five => (
            GameScoring::Votes,
            &[(WINS_AND_TIES, TIE_AS_WIN), (TIES_HALF, TIE_AS_HALF_WIN), (THREE_ONE_ZERO, TIE_AS_THIRD_WIN)],
        ),
    };
    let whole = (Part::overall(), all.clone());
    let mut scores = Vec::new();
    for (part, items) in std::iter::once(&whole).chain(parts) {
        scores.extend(share(part, items, &turns, own));
        for turn in &turns {
            let of_turn = Part::new(PartKind::Turn, turn.to_string());
            let of_turn = if part.kind == PartKind::Overall { of_turn } else { of_turn.within(&part.name) };
            scores.extend(share(&of_turn, items, &[*turn], own));
        }
    }
    for (rule, points) in others {
        scores.extend(share(&Part::new(PartKind::Rule, *rule), &all, &turns, GameScoring::Together(*points)));
    }
    scores
}

/// Computes the share of the judged turns that are no loss, or the mean of their votes, in percent; `None` if a turn is missing.
pub(in crate::benchmark) fn item_score(item: &Item, verdicts: &Verdicts<'_>, levels: VerdictScale) -> Option<f64> {
    let turns = item.turn_numbers().take(2);
    match levels {
        VerdictScale::Three => {
            let turns = turns.map(|turn| Some(TIE_AS_WIN.of(result(&item.id, turn, verdicts)?)));
            mean(&turns.collect::<Option<Vec<f64>>>()?)
        }
        VerdictScale::Five => {
            let votes: Vec<[WeightedValue; 2]> =
                turns.map(|turn| votes(&item.id, turn, verdicts)).collect::<Option<_>>()?;
            weighted_mean(votes.into_iter().flatten())
        }
    }
}

/// Computes the weighted mean of votes; `None` without any.
fn weighted_mean(votes: impl Iterator<Item = WeightedValue>) -> Option<f64> {
    let add = |(sum, times): (f64, f64), vote: WeightedValue| {
        let often = f64::from(vote.times);
        (often.mul_add(vote.value, sum), times + often)
    };
    let (sum, times) = votes.fold((0.0, 0.0), add);
    (times > 0.0).then(|| sum / times)
}

/// Points of a win and a tie, in percent.
#[derive(Clone, Copy)]
struct Points {
    win: f64,
    tie: f64,
}

const TIE_AS_WIN: Points = Points { win: 100.0, tie: 100.0 };
const TIE_AS_HALF_WIN: Points = Points { win: 100.0, tie: 50.0 };
const TIE_AS_THIRD_WIN: Points = Points { win: 100.0, tie: 100.0 / 3.0 };

impl Points {
    fn of(self, result: GameResult) -> f64 {
        match result {
            GameResult::Win => self.win,
            GameResult::Tie => self.tie,
            GameResult::Loss => 0.0,
        }
    }
}

/// Returns a one-line reminder of the reply format, for another attempt.
#[must_use]
pub fn reminder(language: Language, levels: VerdictScale) -> &'static str {
    match (language, levels) {
        (Language::Chinese, VerdictScale::Three) => "请在回答的最后一行只写判定：“[[A]]”、“[[B]]”或“[[C]]”（平手）。",
        (Language::English, VerdictScale::Three) => {
            "End your reply with the verdict alone on a line: \"[[A]]\", \"[[B]]\", or \"[[C]]\" for a tie."
        }
        (Language::Chinese, VerdictScale::Five) => {
            "请在回答的最后一行只写判定：“[[A>>B]]”、“[[A>B]]”、“[[A=B]]”、“[[B>A]]”或“[[B>>A]]”。"
        }
        (Language::English, VerdictScale::Five) => {
            "End your reply with the verdict alone on a line: \"[[A>>B]]\", \"[[A>B]]\", \"[[A=B]]\", \"[[B>A]]\" or \
             \"[[B>>A]]\"."
        }
    }
}
