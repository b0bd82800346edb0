//! Five-level verdicts against a baseline, counted as in Arena-Hard: each game separately, a clear verdict as three votes.
//!
//! All games are against one model, so the Bradley–Terry strength of a model relative to the baseline is the log odds of its share of the
//! votes, and the expected win rate is that share: see `show_result.py` of arena-hard-auto and Li et al. 2024 (arXiv 2406.11939). Intervals
//! are over resampled items, since the two games and the turns of an item are not independent.

use std::collections::{BTreeMap, BTreeSet};

use crate::benchmark::judging_forms::pairwise::votes;
use crate::benchmark::scores::judgement::{Game, Judgement};
use crate::benchmark::scores::score::{Verdicts, WeightedValue};
use crate::judging::verdict::{Margin, Preference, Verdict};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::{BootstrapOptions, replicates, resample_indices, uncertainty};
use crate::stats::{Interval, Undefined};

/// Rating points per unit of base-10 log odds.
const POINTS_PER_LOG10_ODDS: f64 = 400.0;

/// Games of a model against the baseline, judged by one judge.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineGames {
    /// Id of the model.
    pub model: String,
    /// Number of games by verdict: much better, slightly better, tie, slightly worse, much worse.
    pub games: [u64; 5],
    /// Share of the votes, with ties as half: 0 to 1.
    pub win_rate: f64,
    /// Bounds of the win rate over resampled items; `None` for a single item, or if all items agree, which does not show the uncertainty.
    pub interval: Option<Interval>,
}

impl BaselineGames {
    /// Returns the rating difference to the baseline, in points; `None` if the model won or lost all votes.
    #[must_use]
    pub fn points(&self) -> Option<f64> {
        points(self.win_rate)
    }

    /// Returns the bounds of the rating difference; `None` for an unbounded one.
    #[must_use]
    pub fn points_interval(&self) -> [Option<f64>; 2] {
        self.interval.map_or([None; 2], |interval| [interval.lower, interval.upper].map(points))
    }
}

/// Converts a win rate into a rating difference.
fn points(win_rate: f64) -> Option<f64> {
    let points = POINTS_PER_LOG10_ODDS * (win_rate / (1.0 - win_rate)).log10();
    points.is_finite().then_some(points)
}

/// Aggregates one judge's verdicts by model against one baseline, over the turns with two readable games; models without five-level
/// verdicts are left out.
#[must_use]
pub fn levels_by_model<'j>(
    judgements: impl IntoIterator<Item = &'j Judgement>,
    options: BootstrapOptions,
    level: ConfidenceLevel,
) -> Vec<BaselineGames> {
    let mut by_model: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
    for judgement in judgements.into_iter().filter(|one| margin(one.parsed.as_ref()).is_some()) {
        by_model.entry(&judgement.model).or_default().push(judgement);
    }
    by_model.into_iter().filter_map(|(model, said)| of_model(model, &said, options, level)).collect()
}

fn margin(verdict: Option<&Verdict>) -> Option<Margin> {
    match verdict? {
        Verdict::Pair { margin, .. } => *margin,
        _ => None,
    }
}

fn of_model(
    model: &str,
    said: &[&Judgement],
    options: BootstrapOptions,
    level: ConfidenceLevel,
) -> Option<BaselineGames> {
    let verdicts = Verdicts::new(said.iter().copied());
    let turns: BTreeSet<(&str, u32)> = said.iter().map(|one| (one.item_id.as_str(), one.turn)).collect();
    let (mut items, mut games) = (BTreeMap::<&str, ItemVotes>::new(), [0; 5]);
    for (item, turn) in turns {
        let Some(votes) = votes(item, turn, &verdicts) else { continue };
        votes.into_iter().for_each(|vote| items.entry(item).or_default().add(vote));
        for game in Game::BOTH {
            games[level_index(verdicts.get(item, turn, game)?, game)?] += 1;
        }
    }
    let items: Vec<ItemVotes> = items.into_values().collect();
    let drawn = replicates(options, |rng| {
        let drawn = resample_indices(items.len(), rng);
        ItemVotes::sum(drawn.into_iter().map(|at| items[at])).share().ok_or(Undefined::Nothing)
    });
    let interval = uncertainty(&drawn, level).ok().filter(|_| items.len() > 1);
    let win_rate = ItemVotes::sum(items.iter().copied()).share()?;
    Some(BaselineGames { model: model.to_owned(), games, win_rate, interval })
}

/// Returns the position of a verdict among the five levels from the model's view, best first.
fn level_index(verdict: &Verdict, game: Game) -> Option<usize> {
    let Verdict::Pair { winner, margin } = *verdict else { return None };
    let own = if game == Game::First { Preference::A } else { Preference::B };
    Some(match (winner, margin? == Margin::Clear) {
        (Preference::Tie, _) => 2,
        (winner, true) => {
            if winner == own {
                0
            } else {
                4
            }
        }
        (winner, false) => {
            if winner == own {
                1
            } else {
                3
            }
        }
    })
}

/// Votes of one or more items.
#[derive(Debug, Clone, Copy, Default)]
struct ItemVotes {
    won: f64,
    all: f64,
}

impl ItemVotes {
    fn add(&mut self, vote: WeightedValue) {
        let times = f64::from(vote.times);
        self.won += times * vote.value / 100.0;
        self.all += times;
    }

    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |sum, votes| Self { won: sum.won + votes.won, all: sum.all + votes.all })
    }

    fn share(self) -> Option<f64> {
        (self.all > 0.0).then(|| self.won / self.all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::battle::Outcome;
    use crate::benchmark::item::ItemSampling;
    use crate::benchmark::scores::judgement::Status;
    use crate::rating::leaderboards::ranking::rank_log;
    use crate::rating::options::LeaderboardOptions;
    use crate::rating::votes::vote_log::VoteLog;

    use Margin::{Clear, Slight};
    use Preference::{A, B, Tie};

    fn judgement(item: usize, game: Game, (winner, margin): (Preference, Margin)) -> Judgement {
        Judgement {
            suite: String::new(),
            suite_version: String::new(),
            item_id: item.to_string(),
            turn: 1,
            model: "m".to_owned(),
            judge_model: "j".to_owned(),
            judge_prompt_sha256: String::new(),
            params: ItemSampling::default(),
            game,
            raw_text: String::new(),
            parsed: Some(Verdict::Pair { winner, margin: Some(margin) }),
            status: Status::Ok,
            attempts: 1,
            latency_ms: None,
            tokens: None,
            ts: 0,
        }
    }

    fn both(item: usize, verdicts: [(Preference, Margin); 2]) -> [Judgement; 2] {
        [0, 1].map(|game| judgement(item, Game::BOTH[game], verdicts[game]))
    }

    fn one(judgements: &[Judgement]) -> BaselineGames {
        let options = BootstrapOptions { replicates: 400, seed: 7 };
        levels_by_model(judgements, options, ConfidenceLevel::default()).remove(0)
    }

    #[test]
    fn votes_are_counted_by_hand() {
        // 3 of 3 and 0 of 1; ½ of 1 and 3 of 3; 0 of 3 and 0 of 1: 6½ of 12.
        let mut judgements = [
            both(1, [(A, Clear), (A, Slight)]),
            both(2, [(Tie, Slight), (B, Clear)]),
            both(3, [(B, Clear), (A, Slight)]),
        ]
        .concat();
        judgements.push(judgement(4, Game::First, (A, Clear)));
        let found = one(&judgements);
        assert_eq!(found.games, [2, 0, 1, 2, 1], "a game without the other does not count");
        assert!((found.win_rate - 6.5 / 12.0).abs() < 1e-12, "{found:?}");
        assert!((found.points().unwrap() - 400.0 * (6.5_f64 / 5.5).log10()).abs() < 1e-9);
    }

    #[test]
    fn a_model_that_won_or_lost_all_has_no_points_and_one_item_no_interval() {
        let won = one(&both(1, [(A, Clear), (B, Slight)]));
        assert_eq!((won.win_rate.to_bits(), won.points(), won.interval), (1.0_f64.to_bits(), None, None));
        // The same holds for several items that all agree.
        let won = one(&[both(1, [(A, Clear), (B, Slight)]), both(2, [(A, Clear), (B, Slight)])].concat());
        assert_eq!((won.win_rate.to_bits(), won.interval), (1.0_f64.to_bits(), None));
        let lost = one(&both(1, [(B, Clear), (A, Slight)]));
        assert_eq!((lost.win_rate.to_bits(), lost.points()), (0.0_f64.to_bits(), None));
    }

    #[test]
    fn three_levels_are_none_of_five() {
        let mut judgements = both(1, [(A, Clear), (B, Clear)]);
        judgements.iter_mut().for_each(|one| one.parsed = Some(Verdict::Pair { winner: A, margin: None }));
        assert!(levels_by_model(&judgements, BootstrapOptions::default(), ConfidenceLevel::default()).is_empty());
    }

    #[test]
    fn the_interval_is_of_items_and_follows_the_seed() {
        // Both games of an item agree: 100 items, each all or nothing.
        let verdicts =
            |item: usize| if item.is_multiple_of(4) { [(B, Slight), (A, Slight)] } else { [(A, Slight), (B, Slight)] };
        let judgements: Vec<Judgement> = (0..100).flat_map(|item| both(item, verdicts(item))).collect();
        let found = one(&judgements);
        let interval = found.interval.unwrap();
        // ± 1.96 √(0.75 · 0.25 / 100) = ± 0.085
        assert!((interval.upper - interval.lower - 0.17).abs() < 0.03, "{found:?}");
        assert_eq!(found, one(&judgements));
        let [lower, upper] = found.points_interval();
        assert!(lower.unwrap() < found.points().unwrap() && found.points().unwrap() < upper.unwrap());
    }

    fn verdict() -> impl Strategy<Value = (Preference, Margin)> {
        prop::sample::select(vec![(A, Clear), (A, Slight), (Tie, Slight), (B, Slight), (B, Clear)])
    }

    proptest! {
        /// The win rate equals that of a Bradley–Terry fit of the same votes, with a clear verdict written three times.
        #[test]
        fn bradley_terry_says_the_same(games in prop::collection::vec([verdict(), verdict()], 1..12)) {
            let judgements: Vec<Judgement> =
                games.iter().enumerate().flat_map(|(item, verdicts)| both(item, *verdicts)).collect();
            let found = one(&judgements);
            let mut log = VoteLog::default();
            for ([a, b], (winner, margin)) in games.iter().flat_map(|[first, second]| [(["m", "base"], first), (["base", "m"], second)]).map(|(models, verdict)| (models, *verdict)) {
                let outcome = match winner { A => Outcome::AWins, B => Outcome::BWins, Tie => Outcome::Tie };
                for _ in 0..margin.votes() {
                    log.push(a, b, outcome).unwrap();
                }
            }
            let leaderboard = rank_log(&log, &LeaderboardOptions::default()).unwrap();
            let rating = |name: &str| leaderboard.models.iter().find(|row| row.model == name).unwrap();
            match found.points() {
                Some(points) => {
                    let apart = rating("m").rating_or_limit() - rating("base").rating_or_limit();
                    prop_assert!((apart - points).abs() < 1e-3, "{apart} {points}");
                }
                None => prop_assert!(rating("m").unbounded.is_some()),
            }
        }

        /// Swapped sides yield the complementary win rate.
        #[test]
        fn swapped_sides_mirror_the_result(games in prop::collection::vec([verdict(), verdict()], 1..8)) {
            let other = |winner| match winner { A => B, B => A, Tie => Tie };
            let of = |mirrored: bool| {
                let all = games.iter().enumerate().flat_map(|(item, verdicts)| {
                    both(item, verdicts.map(|(winner, margin)| (if mirrored { other(winner) } else { winner }, margin)))
                });
                one(&all.collect::<Vec<_>>())
            };
            let (own, mirrored) = (of(false), of(true));
            prop_assert!((own.win_rate + mirrored.win_rate - 1.0).abs() < 1e-12);
            prop_assert!(own.games.iter().eq(mirrored.games.iter().rev()));
        }
    }
}
