//! Pending work of judges: battles, or units of a campaign, that are not judged yet and can be.

use std::collections::HashSet;

use serde::Serialize;

use super::subject::JudgedSubject;
use crate::battle::ModelId;
use crate::benchmark::scores::judgement::Game;
use crate::language::Language;

/// Maximum length of a judged conversation in tokens, so that a judge can read all of it.
pub const MAX_BATTLE_TOKENS: u64 = 24_000;

/// Game that needs no further request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SettledGame {
    /// Battle or unit of the game.
    pub subject: JudgedSubject,
    /// Id of the judge.
    pub judge: String,
    /// Game of the two.
    pub game: Game,
}

/// Battles of the sample that cannot be judged, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Number of imported votes without the conversation.
    pub without_text: u64,
    /// Number of questions with images, which the judge would not see.
    pub with_images: u64,
    /// Number of conversations with more than [`MAX_BATTLE_TOKENS`] tokens.
    pub too_long: u64,
}

/// Battle or unit of the sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledSubject {
    /// Battle or unit.
    pub subject: JudgedSubject,
    /// Language of the judge prompt.
    pub language: Language,
    /// Position in the sample, 0 to 1.
    pub place: f64,
}

/// A battle or unit of the sample that at least one judge has not judged.
#[derive(Debug, Clone, PartialEq)]
pub struct UnjudgedSubject {
    /// The battle or unit.
    pub drawn: SampledSubject,
    /// Pending games of each judge, in the order of the judges.
    pub games: Vec<Vec<Game>>,
}

/// Battle or unit to be judged by at least one judge.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenPair {
    /// Battle or unit.
    pub subject: JudgedSubject,
    /// Language of the judge prompt.
    pub language: Language,
    /// Pending games of each judge, in the order of the judges.
    pub games: Vec<Vec<Game>>,
    /// Tokens of one judge query; `None` if a side is empty, which needs no judge.
    pub tokens: Option<u64>,
}

/// Result of checking whether a battle or unit can be judged.
#[derive(Debug, Clone, PartialEq)]
pub enum BattleCheck {
    /// The battle or unit can be judged.
    Open(OpenPair),
    /// The texts are missing.
    WithoutText,
    /// The question has images.
    WithImages,
    /// The conversation has more than [`MAX_BATTLE_TOKENS`] tokens.
    TooLong,
}

/// Pending work of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingWork {
    /// Number of battles of the sample that can be judged.
    pub battles: u64,
    /// Number of sampled battles in which a judge took part itself.
    pub own_battles: u64,
    /// Number of battles that cannot be judged.
    pub skipped: Skipped,
    /// Sequence number of the last vote examined.
    pub last_seq: i64,
    /// Whether the sample has more than the scope's maximum.
    pub more: bool,
    /// Pending battles and units, in the order of the sample.
    pub open: Vec<OpenPair>,
    /// Number of games settled before, by judge.
    pub settled: Vec<u64>,
}

impl PendingWork {
    /// Counts the settled games of a sample, and returns the first `at_most` unsettled battles or units in the order of the sample. Each of
    /// these is to be checked and [added](Self::add).
    #[must_use]
    pub fn new(
        mut drawn: Vec<SampledSubject>,
        at_most: usize,
        settled: Vec<SettledGame>,
        judges: &[&ModelId],
    ) -> (Self, Vec<UnjudgedSubject>) {
        let settled: HashSet<SettledGame> = settled.into_iter().collect();
        let mut found = Self {
            battles: 0,
            own_battles: 0,
            skipped: Skipped::default(),
            last_seq: 0,
            more: false,
            open: Vec::new(),
            settled: vec![0; judges.len()],
        };
        drawn.sort_by(|one, other| one.place.total_cmp(&other.place));
        let mut left = Vec::new();
        for drawn in drawn {
            let games: Vec<Vec<Game>> =
                judges.iter().map(|judge| pending_games(&settled, &drawn.subject, judge)).collect();
            for (count, games) in found.settled.iter_mut().zip(&games) {
                *count += (Game::BOTH.len() - games.len()) as u64;
            }
            if games.iter().all(Vec::is_empty) {
                found.battles += 1;
            } else {
                left.push(UnjudgedSubject { drawn, games });
            }
        }
        found.more = left.len() > at_most;
        left.truncate(at_most);
        (found, left)
    }

    /// Adds a checked battle or unit.
    pub fn add(&mut self, check: BattleCheck) {
        match check {
            BattleCheck::Open(battle) => {
                self.battles += 1;
                self.open.push(battle);
            }
            BattleCheck::WithoutText => self.skipped.without_text += 1,
            BattleCheck::WithImages => self.skipped.with_images += 1,
            BattleCheck::TooLong => self.skipped.too_long += 1,
        }
    }
}

fn pending_games(settled: &HashSet<SettledGame>, subject: &JudgedSubject, judge: &ModelId) -> Vec<Game> {
    let key = |game| SettledGame { subject: subject.clone(), judge: judge.to_string(), game };
    Game::BOTH.into_iter().filter(|game| !settled.contains(&key(*game))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::BattleId;

    fn subject(battle: &str) -> JudgedSubject {
        JudgedSubject::Battle(BattleId::new(battle))
    }

    fn drawn(battle: &str, place: f64) -> SampledSubject {
        SampledSubject { subject: subject(battle), language: Language::English, place }
    }

    fn settled(battle: &str, judge: &str, game: Game) -> SettledGame {
        SettledGame { subject: subject(battle), judge: judge.to_owned(), game }
    }

    #[test]
    fn a_battle_is_left_until_every_judge_has_settled_both_games() {
        let judges = ["j", "k"].map(ModelId::new);
        let judges: Vec<&ModelId> = judges.iter().collect();
        let all = vec![drawn("late", 0.2), drawn("done", 0.15), drawn("early", 0.1)];
        let both = |judge: &str| Game::BOTH.map(|game| settled("done", judge, game));
        let known = [both("j").to_vec(), both("k").to_vec(), vec![settled("early", "j", Game::First)]].concat();
        let (found, left) = PendingWork::new(all.clone(), 1, known.clone(), &judges);
        assert_eq!((found.battles, found.settled.as_slice(), found.more), (1, [3, 2].as_slice(), true));
        let [early] = left.as_slice() else { panic!("{left:?}") };
        assert_eq!(early.drawn, drawn("early", 0.1), "the first of the sample");
        assert_eq!(early.games.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        let (found, left) = PendingWork::new(all, 2, known, &judges);
        assert_eq!((left.len(), found.more), (2, false));
    }

    #[test]
    fn what_cannot_be_judged_is_counted_by_reason() {
        let (mut found, _) = PendingWork::new(Vec::new(), 0, Vec::new(), &[]);
        for check in [BattleCheck::WithoutText, BattleCheck::TooLong, BattleCheck::WithImages, BattleCheck::TooLong] {
            found.add(check);
        }
        assert_eq!((found.battles, found.skipped), (0, Skipped { without_text: 1, with_images: 1, too_long: 2 }));
    }
}
