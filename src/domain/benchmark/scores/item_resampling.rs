//! Bootstrap over the items of a suite.
//!
//! Items are resampled within their categories, so that the composition of a suite stays the same. A replicate draws the same items for
//! every model, judge and part, so correlated scores stay correlated.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::item::Item;
use crate::stats::resample::{BootstrapOptions, replicates};

/// Number of draws of each item in each replicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemDraws {
    replicates: usize,
    counts: HashMap<String, Vec<u16>>,
}

impl ItemDraws {
    /// Resamples the items of each category with replacement, once per replicate.
    #[must_use]
    pub fn new(items: &[Item], bootstrap: BootstrapOptions) -> Self {
        let mut categories: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        items.iter().enumerate().for_each(|(at, item)| categories.entry(&item.category).or_default().push(at));
        let drawn = replicates(bootstrap, |rng| draw(&categories, items.len(), rng));
        let count = |at: usize| drawn.iter().map(|counts| counts[at]).collect();
        let counts = items.iter().enumerate().map(|(at, item)| (item.id.clone(), count(at))).collect();
        Self { replicates: drawn.len(), counts }
    }

    /// Returns the number of replicates.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// Returns the number of draws of an item in each replicate; empty for an unknown item.
    pub(in crate::benchmark) fn of(&self, item: &str) -> &[u16] {
        self.counts.get(item).map_or(&[], Vec::as_slice)
    }
}

/// Draws one replicate, and returns the number of draws of each item.
fn draw(categories: &BTreeMap<&str, Vec<usize>>, items: usize, rng: &mut ChaCha8Rng) -> Vec<u16> {
    let mut counts = vec![0_u16; items];
    for own in categories.values() {
        for _ in own {
            let count = &mut counts[own[rng.random_range(0..own.len())]];
            *count = count.saturating_add(1);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::item::{ItemSampling, Question};
    use crate::benchmark::scores::judgement::{Game, Judgement, Status};
    use crate::benchmark::scores::score::{Part, Verdicts};
    use crate::benchmark::suites::{alignbench, mtbench101, superclue, urs};
    use crate::benchmark::{SuiteOptions, suite};
    use crate::judging::verdict::{OptionLetter, Preference, Rating, Verdict};
    use crate::language::Language;

    fn item(id: usize, category: &str) -> Item {
        let (id, category) = (id.to_string(), category.to_owned());
        let language = if id.ends_with('3') { Language::Chinese } else { Language::English };
        let turns = vec![Question { question: String::new(), reference: None }; 3];
        Item { id, category, subcategory: None, language, turns, choices: None }
    }

    /// Verdicts of each turn and game in the format of the suite; every ninth is missing, and every seventh is unreadable.
    fn judgements(name: &str, items: &[Item]) -> Vec<Judgement> {
        let verdict = |number: usize| match name {
            "superclue-close" => Verdict::Choice { choice: Some(OptionLetter::A), correct: number.is_multiple_of(3) },
            "superclue-open" => {
                Verdict::Pair { winner: [Preference::A, Preference::Tie, Preference::B][number % 3], margin: None }
            }
            _ => {
                let score = (1 + number % 10).try_into().map_or(1.0, |score: u32| f64::from(score));
                let named = [("Factuality", score / 3.0), ("事实正确性", score / 7.0)];
                Verdict::Rating(Rating::new(score, named.map(|(name, score)| (name.to_owned(), score)).into()))
            }
        };
        let all = items
            .iter()
            .flat_map(|item| item.turn_numbers().flat_map(move |turn| Game::BOTH.map(|game| (item, turn, game))));
        let judgement = |(number, (item, turn, game)): (usize, (&Item, u32, Game))| Judgement {
            suite: String::new(),
            suite_version: String::new(),
            item_id: item.id.clone(),
            turn,
            model: "m".to_owned(),
            judge_model: "j".to_owned(),
            judge_prompt_sha256: String::new(),
            params: ItemSampling::default(),
            game,
            raw_text: String::new(),
            parsed: (!number.is_multiple_of(7)).then(|| verdict(number * 31 % 97)),
            status: if number.is_multiple_of(7) { Status::ParseFailed } else { Status::Ok },
            attempts: 1,
            latency_ms: None,
            tokens: None,
            ts: 0,
        };
        all.enumerate().filter(|(number, _)| !number.is_multiple_of(9)).map(judgement).collect()
    }

    /// Checks that every score over the replicates is that of the drawn items.
    fn check(name: &str, options: &SuiteOptions, categories: &[&str]) {
        let suite = suite(name, options).unwrap();
        let items: Vec<Item> =
            (0..12 * categories.len()).map(|id| item(id, categories[id % categories.len()])).collect();
        let said = judgements(name, &items);
        let said: Vec<&Judgement> = said.iter().collect();
        let draws = ItemDraws::new(&items, BootstrapOptions { replicates: 20, seed: 3 });
        let verdicts = Verdicts::new(said.iter().copied()).resampled(&draws);
        let found = suite.score_verdicts(&items, &verdicts);
        assert!(found.of(&Part::overall()).is_some_and(|score| score.samples.iter().any(Option::is_some)), "{name}");
        for at in 0..draws.replicates() {
            let times = |item: &Item| std::iter::repeat_n(item.clone(), draws.of(&item.id)[at].into());
            let direct = suite.score(&items.iter().flat_map(times).collect::<Vec<Item>>(), &said);
            for score in &found.0 {
                let expected = direct.of(&score.part).and_then(|score| score.value);
                let near = score.samples[at].zip(expected).is_some_and(|(one, other)| (one - other).abs() < 1e-9);
                assert!(
                    near || score.samples[at] == expected,
                    "{name}, {:?}: {:?} {expected:?}",
                    score.part,
                    score.samples[at]
                );
            }
        }
    }

    #[test]
    fn scores_over_replicates_are_those_of_the_drawn_items() {
        let plain = SuiteOptions::default();
        let compat = |switch: &str| SuiteOptions { compat: [switch.to_owned()].into(), ..SuiteOptions::default() };
        check("urs", &plain, &urs::INTENTS.each_ref().map(|intent| intent.name));
        let categories = alignbench::CATEGORIES.each_ref().map(|category| category.name);
        check("alignbench", &plain, &categories);
        check("alignbench", &compat("alignbench.round_each_stage"), &categories);
        check("alignbench", &compat("alignbench.include_failed_as_minus1"), &categories);
        check("mtbench101", &plain, &mtbench101::TASKS.each_ref().map(|task| task.code));
        let capabilities = superclue::CAPABILITIES.each_ref().map(|capability| capability.name);
        check("superclue-open", &plain, &capabilities);
        check("superclue-close", &plain, &capabilities);
    }

    #[test]
    fn every_replicate_has_as_many_items_of_each_category_as_the_suite() {
        let items: Vec<Item> = (0..30).map(|id| item(id, if id < 10 { "a" } else { "b" })).collect();
        let draws = ItemDraws::new(&items, BootstrapOptions { replicates: 50, seed: 7 });
        let sum = |at: usize, of: &[Item]| of.iter().map(|item| u32::from(draws.of(&item.id)[at])).sum::<u32>();
        for at in 0..draws.replicates() {
            assert_eq!((sum(at, &items[..10]), sum(at, &items[10..])), (10, 20));
        }
        assert!(items.iter().any(|item| draws.of(&item.id).contains(&0)), "some are left out");
        assert_eq!((draws.replicates(), draws.of("none")), (50, [].as_slice()));
    }
}
