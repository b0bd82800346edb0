//! Scores of a custom suite: overall, categories, dimensions, turns and languages.

use std::collections::BTreeSet;

use super::{CustomSuite, Dialogue, Overall};
use crate::benchmark::item::Item;
use crate::benchmark::judging_forms::{multiple_choice, pairwise};
use crate::benchmark::scores::score::{Part, PartKind, Score, Scores, Verdicts, macro_mean, mean};
use crate::benchmark::{JudgeMode, Suite};
use crate::language::Language;

pub(super) fn score(suite: &CustomSuite, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
    let parts = categories(suite, items);
    let scores = match suite.mode() {
        JudgeMode::PairwiseBaseline => pairwise::scores(items, verdicts, &parts, suite.levels),
        JudgeMode::MultipleChoice => multiple_choice::scores(items, verdicts, &parts),
        _ => ratings(suite, items, verdicts, &parts),
    };
    Scores(with_overall(suite.declaration.overall, scores))
}

/// Groups the items by category, in the declared order or that of the names.
fn categories<'i>(suite: &CustomSuite, items: &'i [Item]) -> Vec<(Part, Vec<&'i Item>)> {
    let declared = &suite.declaration.categories;
    let present: BTreeSet<&String> = items.iter().map(|item| &item.category).collect();
    let names = declared.iter().chain(present.into_iter().filter(|name| !declared.contains(name)));
    let of = |name: &String| items.iter().filter(|item| item.category == *name).collect::<Vec<_>>();
    let parts = names.map(|name| (Part::new(PartKind::Category, name), of(name)));
    parts.filter(|(_, items)| !items.is_empty()).collect()
}

/// Replaces the overall mean over items by the mean over categories, if the suite declares it.
fn with_overall(rule: Overall, mut scores: Vec<Score>) -> Vec<Score> {
    if rule == Overall::Categories {
        let whole = |score: &&Score| score.part.kind == PartKind::Category && score.part.within.is_none();
        if let Some(overall) = macro_mean(Part::overall(), scores.iter().filter(whole)) {
            scores.retain(|score| score.part.kind != PartKind::Overall);
            scores.insert(0, overall);
        }
    }
    scores
}

fn ratings(suite: &CustomSuite, items: &[Item], verdicts: &Verdicts<'_>, parts: &[(Part, Vec<&Item>)]) -> Vec<Score> {
    let value = |item: &Item| rating(suite, item, verdicts);
    let over = |part: Part, items: &mut dyn Iterator<Item = &Item>| verdicts.mean(items, value).score(part);
    let mut scores: Vec<Score> = over(Part::overall(), &mut items.iter()).into_iter().collect();
    scores.extend(parts.iter().filter_map(|(part, items)| over(part.clone(), &mut items.iter().copied())));
    for language in Language::ALL {
        let part = Part::new(PartKind::Language, language.code());
        scores.extend(over(part, &mut items.iter().filter(|item| item.language == language)));
    }
    scores.extend(suite.declaration.dimensions.iter().filter_map(|name| dimension(name, items, verdicts)));
    scores.extend(turns(items, verdicts));
    scores
}

/// Computes the score of an item by the suite's mode.
pub(super) fn item_score(suite: &CustomSuite, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
    match suite.mode() {
        JudgeMode::PairwiseBaseline => pairwise::item_score(item, verdicts, suite.levels),
        JudgeMode::MultipleChoice => multiple_choice::item_score(item, verdicts),
        _ => rating(suite, item, verdicts),
    }
}

/// Computes the rating of an item: that of its only turn, or the lowest or the mean of all. `None` if one is missing.
fn rating(suite: &CustomSuite, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
    let turn = |turn| verdicts.rating(&item.id, turn).map(|rating| rating.score);
    let turns: Vec<f64> = item.turn_numbers().map(turn).collect::<Option<_>>()?;
    match suite.declaration.dialogue {
        Dialogue::Lowest => turns.into_iter().reduce(f64::min),
        Dialogue::Mean => mean(&turns),
    }
}

fn dimension(name: &str, items: &[Item], verdicts: &Verdicts<'_>) -> Option<Score> {
    let score = |item: &Item| verdicts.rating(&item.id, 1)?.dimensions.get(name).copied();
    verdicts.mean(items, score).score(Part::new(PartKind::Dimension, name))
}

/// Computes the means by turn, if there are several.
fn turns(items: &[Item], verdicts: &Verdicts<'_>) -> Vec<Score> {
    let longest = items.iter().flat_map(Item::turn_numbers).max().unwrap_or(0);
    let turn = |turn: u32| {
        let having = items.iter().filter(|item| item.turn(turn).is_some());
        let score = |item: &Item| verdicts.rating(&item.id, turn).map(|rating| rating.score);
        verdicts.mean(having, score).score(Part::new(PartKind::Turn, turn.to_string()))
    };
    if longest > 1 { (1..=longest).filter_map(turn).collect() } else { Vec::new() }
}
