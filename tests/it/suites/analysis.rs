//! What judgements say about judges: side, length, their own hand, one beside another; and the tables that show scores.

use std::collections::BTreeMap;

use langya::domain::benchmark::analysis::judges::compare;
use langya::domain::benchmark::analysis::length::{GameLengths, ScoredLength, longer_wins, within_items};
use langya::domain::benchmark::analysis::position_bias::PositionBias;
use langya::domain::benchmark::analysis::self_preference::{ScoresByJudge, self_preferences};
use langya::domain::benchmark::analysis::self_preference_matrix::{CrossScore, SelfPreferenceMatrix};
use langya::domain::benchmark::published::by_id;
use langya::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use langya::domain::benchmark::table_layout::{TableKind, layouts, title};
use langya::domain::judging::verdict::Preference::{A, B, Tie};
use langya::domain::stats::{Share, Undefined};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::superclue::{games, question};
use super::{judged, rated, read_fixture, suite_with, vectors};

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
}

#[test]
fn a_swap_that_changes_the_verdict_is_position_bias() {
    let mut judgements: Vec<Judgement> = Vec::new();
    for (item, first, second) in [("1", A, B), ("2", A, A), ("3", A, A), ("4", B, B), ("5", Tie, A), ("6", Tie, Tie)] {
        judgements.extend(games(item, 1, first, second));
    }
    judgements.extend(games("1", 2, B, A));
    judgements.push(judged("7", 1, Game::First, Err(Status::ParseFailed)));
    // The same turns of another model are turns of their own.
    judgements.extend(games("1", 1, A, A).map(|game| Judgement { model: "other".to_owned(), ..game }));
    let bias = PositionBias::new(&judgements);
    assert_eq!(bias, PositionBias { turns: 8, consistent: 3, first: 3, second: 1, half_tie: 1 });
    near(bias.changed().unwrap(), 5.0 / 8.0);
    near(bias.first_position_preference().unwrap(), 2.0 / 8.0);
    assert_eq!(PositionBias::new(&[]).changed(), Err(Undefined::Nothing));
}

#[test]
fn longer_answers_that_win_are_counted_without_ties_and_equal_lengths() {
    let game = |winner, a, b| GameLengths { winner, a, b };
    let games = [game(A, 9, 2), game(B, 9, 2), game(B, 1, 2), game(Tie, 9, 2), game(A, 3, 3)];
    assert_eq!(longer_wins(&games), Share { of: 2, total: 3 });
}

#[test]
fn length_is_compared_within_items() {
    // Item 2 asks for long answers and is hard: over all answers length and score fall together, within items they rise.
    let row = |item, length, score| ScoredLength { item, length, score };
    let answers = [
        row("1", 10, 8.0),
        row("1", 20, 9.0),
        row("1", 30, 10.0),
        row("2", 100, 1.0),
        row("2", 120, 2.0),
        row("2", 150, 3.0),
    ];
    assert!(within_items(&answers).unwrap().r > 0.9);
    let single = [row("1", 10, 8.0), row("2", 20, 9.0), row("3", 30, 10.0)];
    assert!(within_items(&single).is_err(), "one answer an item says nothing");
}

/// Two models, three answers an item, lengths and scores by chance: p is below 0.05 in one of twenty such studies.
#[test]
fn chance_alone_is_length_bias_in_one_of_twenty_studies() {
    let seed = 11;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let names: Vec<String> = (0..12).map(|item| item.to_string()).collect();
    for models in [2, 3] {
        let mut found = 0;
        for _ in 0..2_000 {
            let answers: Vec<ScoredLength<'_>> = names
                .iter()
                .flat_map(|item| std::iter::repeat_n(item.as_str(), models))
                .map(|item| ScoredLength {
                    item,
                    length: rng.random_range(10..1_000),
                    score: rng.random_range(1.0..10.0),
                })
                .collect();
            found += usize::from(within_items(&answers).unwrap().p < 0.05);
        }
        assert!((60..=140).contains(&found), "{found} of 2000 with {models} models, seed {seed}");
    }
}

#[test]
fn a_judge_that_scores_itself_higher_than_others_do_prefers_itself() {
    let by = |scores: [(&str, f64); 3]| scores.map(|(model, score)| (model.to_owned(), score)).into();
    let scores: ScoresByJudge = BTreeMap::from([
        ("j".to_owned(), by([("j", 9.0), ("m", 6.0), ("n", 5.0)])),
        ("k".to_owned(), by([("j", 7.0), ("m", 5.0), ("n", 5.0)])),
        ("l".to_owned(), by([("j", 6.0), ("m", 6.0), ("n", 4.0)])),
    ]);
    let preferences = self_preferences(&scores);
    assert_eq!(preferences.len(), 1, "k and l are no models");
    near(preferences[0].of_itself, 2.5);
    near(preferences[0].of_others, 0.5);
    near(preferences[0].preference, 2.0);
}

#[test]
fn two_judges_are_compared_over_the_models_that_both_scored() {
    let part = |id: &str| by_id(id).unwrap().part("overall");
    let (gpt4, critique) = (part("alignbench_gpt4"), part("alignbench_critiquellm"));
    let pair = compare(&gpt4, &critique);
    assert_eq!((pair.models.len(), pair.pairs.concordant + pair.pairs.discordant + pair.pairs.tied), (17, 136));
    assert!((pair.pearson.unwrap().r - 0.9851).abs() < 1e-4);
    let place = |model: &str| pair.models.iter().find(|change| change.model == model).unwrap();
    let (best, moved) = (place("gpt-4-1106-preview"), place("chatglm-pro"));
    near(best.first_rank, 1.0);
    near(moved.first_rank, 6.0);
    near(moved.second_rank, 5.0);
    let qwen = by_id("mtbench101_qwen72b").unwrap().part("overall");
    assert_eq!(compare(&by_id("mtbench101_gpt4").unwrap().part("overall"), &qwen).models.len(), 5);
    assert!(compare(&gpt4, &qwen).pearson.is_err(), "they scored no model in common");
}

#[test]
fn the_rating_bias_is_that_of_the_vector() {
    let Some(vector) = vectors("urs_rating_bias") else { return };
    let values = vector["ratings_of_B_by_A_with_B_as_reference"].as_array().unwrap();
    let names = ["b", "c", "d"];
    let own = values.iter().zip(names).map(|(score, generator)| CrossScore {
        evaluator: "a",
        generator,
        model: generator,
        score: score.as_f64().unwrap(),
    });
    let other = CrossScore { evaluator: "a", generator: "b", model: "c", score: 1.0 };
    near(SelfPreferenceMatrix::new(own.chain([other])).bias("a").unwrap(), vector["bias"].as_f64().unwrap());
}

#[test]
fn cells_of_the_grid_are_means_over_runs() {
    let score = |generator, score| CrossScore { evaluator: "a", generator, model: "b", score };
    let grid = SelfPreferenceMatrix::new([score("b", 7.0), score("b", 9.0), score("c", 4.0)]);
    let cell = grid.cell("a", "b", "b").unwrap();
    assert_eq!((cell.n, cell.std_dev), (2, Some(2f64.sqrt())));
    near(cell.mean, 8.0);
    assert_eq!(grid.cell("a", "c", "b").unwrap().std_dev, None);
    near(grid.bias("a").unwrap(), 0.0);
    assert_eq!((grid.evaluators(), grid.cell("b", "b", "b")), (vec!["a"], None));
    assert!(grid.bias("b").is_err());
}

#[test]
fn tables_have_the_papers_columns_in_their_order() {
    let suite = suite_with("alignbench", None, &[]);
    let items = read_fixture(&*suite, "alignbench.jsonl");
    let judgement = rated("1", 1, 8.0, &[("事实正确性", 9.0)]);
    let layouts = layouts([&suite.score(&items, &[&judgement])]);
    assert_eq!(
        layouts.iter().map(|layout| layout.kind).collect::<Vec<_>>(),
        [TableKind::Scores, TableKind::Dimensions]
    );
    let titles: Vec<String> = layouts[0].parts.iter().map(|part| title(&*suite, part)).collect();
    let expected = [
        "overall",
        "reasoning",
        "Mathematics",
        "language",
        "Fundamental Language Ability",
        "Open-ended Questions",
        "Professional Knowledge",
    ];
    assert_eq!(titles, expected);
}

#[test]
fn turns_of_tasks_and_of_capabilities_are_tables_of_their_own() {
    let suite = suite_with("superclue-open", None, &[]);
    let items = [question("1", "计算", 2)];
    let layouts = layouts([&suite.score(&items, &[])]);
    let turns = layouts.iter().find(|layout| layout.kind == TableKind::Turns).unwrap();
    let titles: Vec<String> = turns.parts.iter().map(|part| title(&*suite, part)).collect();
    assert!(titles.starts_with(&["turn 1".to_owned(), "turn 2".to_owned()]));
    assert!(titles.contains(&"Calculation, turn 2".to_owned()), "{titles:?}");
}
