use std::collections::BTreeMap;

use super::super::prices::ModelPrice;
use super::*;
use crate::battle::Outcome::{self, AWins, BWins};
use crate::judging::budget::Prices;
use crate::rating::leaderboards::ranking::{Ranking, rank_log_with_differences};
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::votes::vote_log::VoteLog;

/// Votes between pairs: wins of the first, wins of the second.
fn ranking(votes: &[(&str, &str, usize, usize)], options: &LeaderboardOptions) -> Ranking {
    let mut log = VoteLog::default();
    for &(a, b, wins, losses) in votes {
        let outcomes = [(AWins, wins), (BWins, losses)];
        let outcomes = outcomes.into_iter().flat_map(|(outcome, times)| std::iter::repeat_n(outcome, times));
        outcomes.for_each(|outcome: Outcome| log.push(a, b, outcome).unwrap());
    }
    rank_log_with_differences(&log, options).unwrap()
}

fn prices(outputs: &[(&str, f64)]) -> PriceList {
    let price = |output| ModelPrice { prices: Prices { input: output / 2.0, output }, date: None, source: None };
    let models = outputs.iter().map(|&(model, output)| (model.to_owned(), price(output))).collect();
    PriceList { currency: None, models }
}

fn joined(ranking: &Ranking, prices: &PriceList, usage: &ArenaUsage, practice: &[&str]) -> ValueReport {
    let practice = practice.iter().map(|&model| model.to_owned()).collect();
    let Ranking { leaderboard, differences } = ranking;
    join(ValueInput { leaderboard, differences, prices, usage, practice: &practice })
}

/// `a` is a little above `b`, and both are far above `c`.
const CLOSE: [(&str, &str, usize, usize); 3] = [("a", "b", 52, 48), ("a", "c", 90, 10), ("b", "c", 90, 10)];

fn model<'r>(report: &'r ValueReport, name: &str) -> &'r ModelValue {
    report.models.iter().find(|value| value.model == name).unwrap()
}

#[test]
fn the_cheapest_model_that_cannot_be_told_apart_from_the_best_is_found() {
    let ranking = ranking(&CLOSE, &LeaderboardOptions::default());
    let prices = prices(&[("a", 10.0), ("b", 1.6), ("c", 0.1)]);
    let report = joined(&ranking, &prices, &ArenaUsage::default(), &[]);
    assert_eq!(report.cost_basis, CostBasis::OutputPrice);
    let ValueFinding::CheaperModel { best, cheaper } = &report.finding else { panic!("{:?}", report.finding) };
    assert_eq!((best.as_str(), cheaper.model.as_str()), ("a", "b"), "c costs less and is rated lower");
    assert!((cheaper.saving - 0.84).abs() < 1e-12);
    assert!(cheaper.lower < 0.0 && cheaper.upper > cheaper.difference && cheaper.difference > 0.0, "{cheaper:?}");
    let share = 1.0 / (1.0 + 10_f64.powf(-cheaper.upper / 400.0));
    assert!((cheaper.greatest_win_share - share).abs() < 1e-12);
    assert!(
        report.sentence.starts_with("a and b cannot be told apart by these votes; b costs 84 % less."),
        "{report:?}"
    );
    assert_eq!(model(&report, "b").cheaper, None, "c can be told apart from b");
    assert_eq!(["a", "b", "c"].map(|name| model(&report, name).pareto), [Some(true); 3]);
}

#[test]
fn a_wordy_model_costs_more_than_its_price_says() {
    let ranking = ranking(&CLOSE, &LeaderboardOptions::default());
    let replies = |tokens| ModelUsage { reply_tokens: Some(tokens), ..ModelUsage::default() };
    let models = BTreeMap::from([("a".to_owned(), replies(100.0)), ("b".to_owned(), replies(900.0))]);
    let usage = ArenaUsage { answers: 8, prompt_tokens: Some(20.0), models };
    let report = joined(&ranking, &prices(&[("a", 10.0), ("b", 2.0), ("c", 1.0)]), &usage, &[]);
    // 1,000 answers: (20 · 5 + 100 · 10) · 1,000 / 1,000,000, and (20 · 1 + 900 · 2) / 1,000.
    let costs = ["a", "b"].map(|name| model(&report, name).cost.unwrap());
    assert!((costs[0] - 1.1).abs() < 1e-12 && (costs[1] - 1.82).abs() < 1e-12, "{costs:?}");
    assert_eq!((model(&report, "c").cost, model(&report, "c").pareto), (None, None), "no answer of c was counted");
    assert_eq!(report.finding, ValueFinding::BestIsCheapest { best: "a".into() });
    let without_prompts = ArenaUsage { prompt_tokens: None, ..usage };
    let report = joined(&ranking, &prices(&[("a", 10.0)]), &without_prompts, &[]);
    assert_eq!((report.cost_basis, model(&report, "a").cost), (CostBasis::Replies, Some(1.0)));
}

#[test]
fn times_keep_a_fast_model_in_the_set_of_all_criteria() {
    let ranking = ranking(&CLOSE, &LeaderboardOptions::default());
    let fast = ModelUsage { first_token_seconds: Some(0.2), ..ModelUsage::default() };
    let slow = ModelUsage { first_token_seconds: Some(0.9), ..ModelUsage::default() };
    let models = BTreeMap::from([("a".to_owned(), slow), ("b".to_owned(), fast), ("c".to_owned(), slow)]);
    let usage = ArenaUsage { models, ..ArenaUsage::default() };
    let report = joined(&ranking, &prices(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]), &usage, &[]);
    assert_eq!(["a", "b", "c"].map(|name| model(&report, name).pareto.unwrap()), [true, false, false]);
    assert_eq!(["a", "b", "c"].map(|name| model(&report, name).pareto_with_times.unwrap()), [true, true, false]);
}

#[test]
fn models_without_a_firm_rating_are_shown_and_not_compared() {
    let votes = [CLOSE[0], CLOSE[1], CLOSE[2], ("few", "a", 5, 5), ("winner", "a", 40, 0), ("other", "else", 40, 40)];
    let ranking = ranking(&votes, &LeaderboardOptions::default());
    let all = ["a", "b", "c", "few", "winner", "other", "else"];
    let report = joined(&ranking, &prices(&all.map(|name| (name, 1.0))), &ArenaUsage::default(), &["c"]);
    let reservations = all.map(|name| model(&report, name).reservation);
    let other = Some(Caveat::OtherGroup);
    let (practice, few, winner) = (Caveat::Practice, Caveat::Provisional, Caveat::Unbounded);
    assert_eq!(reservations, [None, None, Some(practice), Some(few), Some(winner), other, other]);
    assert_eq!(report.finding, ValueFinding::BestIsCheapest { best: "a".into() });
    for value in &report.models {
        assert_eq!(value.pareto.is_some(), value.reservation.is_none(), "{value:?}");
        assert_eq!(value.cheaper, None, "{value:?}");
    }
}

#[test]
fn what_the_votes_do_not_say_is_not_said() {
    let sandwich = ranking(&CLOSE, &LeaderboardOptions::default());
    let nothing = joined(&sandwich, &prices(&[("a", 1.0), ("unknown", 1.0)]), &ArenaUsage::default(), &[]);
    assert_eq!((nothing.finding, nothing.rated_higher_without_cost), (ValueFinding::TooFewModels, Vec::new()));

    let without_best = joined(&sandwich, &prices(&[("b", 2.0), ("c", 1.0)]), &ArenaUsage::default(), &[]);
    assert_eq!(without_best.finding, ValueFinding::CheaperAreLower { best: "b".into(), cheaper: 1 });
    assert_eq!(without_best.rated_higher_without_cost, ["a"]);

    let by = |interval| LeaderboardOptions { interval, ..LeaderboardOptions::default() };
    let no_intervals = ranking(&CLOSE, &by(IntervalMethod::None));
    let report = joined(&no_intervals, &prices(&[("a", 2.0), ("b", 1.0)]), &ArenaUsage::default(), &[]);
    assert_eq!(report.finding, ValueFinding::NoDifference { best: "a".into() });
    assert_eq!(report.models[0].cheaper, None);
}

#[test]
fn of_equally_cheap_models_the_better_rated_is_recommended_and_a_free_one_saves_everything() {
    let votes = [("a", "b", 52, 48), ("a", "c", 54, 46), ("b", "c", 50, 50)];
    let ranking = ranking(&votes, &LeaderboardOptions::default());
    let report = joined(&ranking, &prices(&[("a", 1.0), ("b", 0.0), ("c", 0.0)]), &ArenaUsage::default(), &[]);
    let ValueFinding::CheaperModel { cheaper, .. } = &report.finding else { panic!("{:?}", report.finding) };
    assert_eq!((cheaper.model.as_str(), cheaper.saving.to_bits()), ("b", 1.0_f64.to_bits()));
    assert!(report.sentence.contains("b costs nothing."), "{}", report.sentence);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["finding"]["kind"], "cheaper_model");
    assert_eq!(json["models"][1]["cheaper"], serde_json::Value::Null);
}
