//! The papers' own tables, recomputed by the suites' aggregation out of their parts.

use std::collections::BTreeMap;
use std::path::Path;

use langya::domain::benchmark::item::{Item, Question};
use langya::domain::benchmark::scores::judgement::{Game, Judgement};
use langya::domain::benchmark::scores::score::{Scores, mean};
use langya::domain::benchmark::suites::alignbench::CATEGORIES;
use langya::domain::benchmark::suites::mtbench101::TASKS;
use langya::domain::benchmark::suites::superclue::capability_of;
use langya::domain::benchmark::suites::urs::INTENTS;
use langya::domain::judging::verdict::{Preference, Verdict};
use langya::domain::language::Language;

use super::superclue::games;
use super::{judged, rated, reference, suite_with};

/// The rows of a table, by column.
fn table(file: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(file).unwrap().deserialize().map(Result::unwrap).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("no {column} in {row:?}"))
}

fn item(id: usize, category: &str, turns: usize) -> Item {
    Item {
        id: id.to_string(),
        category: category.to_owned(),
        subcategory: None,
        language: Language::Chinese,
        turns: vec![Question { question: "？".to_owned(), reference: None }; turns],
        choices: None,
    }
}

fn scores_of(suite: &str, items: &[Item], judgements: &[Judgement]) -> Scores {
    suite_with(suite, None, &[]).score(items, &judgements.iter().collect::<Vec<_>>())
}

#[track_caller]
fn near(scores: &Scores, key: &str, printed: f64, tolerance: f64) {
    let value = scores.by_key(key).unwrap().value.unwrap();
    assert!((value - printed).abs() <= tolerance, "{key}: {value} instead of {printed}");
}

#[test]
fn alignbench_tables_6_and_7_are_means_of_means() {
    let columns = ["math", "logi", "fund", "chi", "open", "writ", "role", "pro"];
    let mut rows = 0;
    for name in ["alignbench_table6.csv", "alignbench_table7.csv"] {
        let Some(file) = reference("reference").map(|folder| folder.join(name)) else { return };
        for row in table(&file) {
            let items: Vec<Item> = (0..8).map(|place| item(place, CATEGORIES[place].name, 1)).collect();
            let judgements: Vec<Judgement> =
                (0..8).map(|place| rated(&place.to_string(), 1, number(&row, columns[place]), &[])).collect();
            let scores = scores_of("alignbench", &items, &judgements);
            near(&scores, "overall", number(&row, "overall"), 0.00501);
            near(&scores, "reasoning", number(&row, "reasoning_avg"), 0.00501);
            near(&scores, "language", number(&row, "language_avg"), 0.00501);
            rows += 1;
        }
    }
    assert_eq!(rows, 34);
}

#[test]
fn the_average_of_mtbench101_table_3_is_the_mean_of_the_tasks() {
    let Some(file) = reference("reference/mtbench101_table3.csv") else { return };
    let rows = table(&file);
    let models: Vec<_> = rows.iter().filter(|row| row["model"] != "Avg.").collect();
    assert_eq!(models.len(), 18);
    for row in &models {
        // Two turns each: the six tasks that skip the first are judged on the second.
        let items: Vec<Item> = TASKS.iter().enumerate().map(|(place, task)| item(place, task.code, 2)).collect();
        let of_task = |(place, task): (usize, &langya::domain::benchmark::suites::mtbench101::DialogueTask)| {
            let score = number(row, &task.code.to_lowercase());
            [1, 2].map(|turn| rated(&place.to_string(), turn, score, &[]))
        };
        let judgements: Vec<Judgement> = TASKS.iter().enumerate().flat_map(of_task).collect();
        near(&scores_of("mtbench101", &items, &judgements), "overall", number(row, "avg"), 0.00501);
    }
    let printed = rows.iter().find(|row| row["model"] == "Avg.").unwrap();
    for (task, true_mean) in [("ts", 8.314), ("cc", 8.827), ("mr", 3.011), ("gr", 4.255)] {
        let column: Vec<f64> = models.iter().map(|row| number(row, task)).collect();
        let computed = mean(&column).unwrap();
        assert!((computed - true_mean).abs() < 1e-3, "{task}: {computed}");
        assert!((computed - number(printed, task)).abs() > 0.5, "the printed {task} contradicts its column");
    }
}

#[test]
fn gpt_4_has_the_tiers_that_its_tasks_give() {
    let Some(file) = reference("reference/mtbench101_table3.csv") else { return };
    let row = table(&file).into_iter().find(|row| row["model"] == "GPT-4").unwrap();
    let items: Vec<Item> = TASKS.iter().enumerate().map(|(place, task)| item(place, task.code, 2)).collect();
    let judgements: Vec<Judgement> = (0..13)
        .flat_map(|place| {
            let score = number(&row, &TASKS[place].code.to_lowercase());
            [1, 2].map(|turn| rated(&place.to_string(), turn, score, &[]))
        })
        .collect();
    let scores = scores_of("mtbench101", &items, &judgements);
    for (tier, value) in [("Perceptivity", 9.452), ("Adaptability", 8.718), ("Interactivity", 7.820)] {
        near(&scores, tier, value, 5e-4);
    }
    near(&scores, "Reasoning", f64::midpoint(7.15, 7.17), 1e-9);
}

#[test]
fn urs_table_4_is_the_mean_over_cases() {
    let Some(file) = reference("reference/urs_table4.csv") else { return };
    let columns = ["factual_qa", "solve_problem", "text_assistant", "ask_for_advice", "seek_creativity", "leisure"];
    let rows = table(&file);
    let (cases, models) = rows.split_first().unwrap();
    assert_eq!((cases["model"].as_str(), models.len()), ("Cases", 10));
    for row in models {
        let (mut items, mut judgements) = (Vec::new(), Vec::new());
        for (column, intent) in columns.iter().zip(INTENTS) {
            for _ in 0..cases[*column].parse::<usize>().unwrap() {
                judgements.push(rated(&items.len().to_string(), 1, number(row, column), &[]));
                items.push(item(items.len(), intent.name, 1));
            }
        }
        let tolerance = if row["model"] == "ERNIE-Bot-4" { 0.0066 } else { 0.005 };
        near(&scores_of("urs", &items, &judgements), "overall", number(row, "all"), tolerance);
    }
}

/// The names of Table 3's models in Table 2.
const NAMES: [(&str, &str); 11] = [
    ("GPT-4", "GPT-4"),
    ("Claude-instant-v1", "Claude-instant-v1"),
    ("MiniMax", "MiniMax"),
    ("Wenxin Yiyan", "Wenxin Yiyan"),
    ("SparkDesk", "SparkDesk"),
    ("ChatGLM", "ChatGLM-130B"),
    ("ChatGLM2", "ChatGLM2-6B"),
    ("360", "360 Brain"),
    ("Ziya", "Ziya-13B"),
    ("Moss", "MOSS"),
    ("RWKV-world-7B", "RWKV-world-7B"),
];

#[test]
fn open_of_superclue_table_2_pools_the_capabilities() {
    let Some(folder) = reference("reference") else { return };
    let counts = table(&folder.join("superclue_table3_open_counts_reconstructed.csv"));
    let printed = table(&folder.join("superclue_table2.csv"));
    for (_, name) in NAMES {
        let (mut items, mut judgements) = (Vec::new(), Vec::new());
        for row in counts.iter().filter(|row| row["model"] == name) {
            let capability = capability_of(&row["capability"]).unwrap();
            let count = |column: &str| row[column].parse::<usize>().unwrap();
            for place in 0..30 {
                let id = items.len();
                for (turn, column) in [(1, "open_single"), (2, "open_multi")] {
                    let won = place < count(&format!("{column}_win_or_tie"));
                    let winners = if won { [Preference::A, Preference::B] } else { [Preference::B, Preference::A] };
                    if place < count(&format!("{column}_n")) {
                        judgements.extend(games(&id.to_string(), turn, winners[0], winners[1]));
                    }
                }
                items.push(item(id, capability.name, 2));
            }
        }
        assert_eq!(items.len(), 300, "ten capabilities of {name}");
        let scores = scores_of("superclue-open", &items, &judgements);
        let row = printed.iter().find(|row| row["model"] == name).unwrap();
        for (key, column) in [("turn:1", "open_single"), ("turn:2", "open_multi"), ("overall", "open_all")] {
            near(&scores, key, number(row, column), 0.005);
        }
    }
}

#[test]
fn close_of_superclue_table_2_pools_the_capabilities() {
    let Some(folder) = reference("reference") else { return };
    let cells = table(&folder.join("superclue_table3.csv"));
    let printed = table(&folder.join("superclue_table2.csv"));
    for (short, name) in NAMES {
        let (mut items, mut judgements) = (Vec::new(), Vec::new());
        for cell in cells.iter().filter(|row| row["model"] == short && row["subset"] == "close") {
            let (right, answered) = fraction(number(cell, "value"));
            for place in 0..30 {
                let verdict = Verdict::Choice { choice: None, correct: place < right };
                if place < answered {
                    judgements.push(judged(&items.len().to_string(), 1, Game::First, Ok(verdict)));
                }
                items.push(item(items.len(), capability_of(&cell["capability"]).unwrap().name, 1));
            }
        }
        assert_eq!(items.len(), 300, "ten capabilities of {short}");
        let row = printed.iter().find(|row| row["model"] == name).unwrap();
        near(&scores_of("superclue-close", &items, &judgements), "overall", number(row, "close"), 0.005);
    }
}

/// A printed share as right of answered: the most of 30 that fit it. One cell is printed 0.8330 for 25 of 30.
fn fraction(value: f64) -> (usize, usize) {
    let share = |right: u32, answered: u32| f64::from(right) / f64::from(answered);
    let fits = |answered: u32| (0..=answered).find(|right| (share(*right, answered) - value).abs() < 4e-4);
    let (right, answered) = (1..=30).rev().find_map(|answered| Some((fits(answered)?, answered))).unwrap();
    (usize::try_from(right).unwrap(), usize::try_from(answered).unwrap())
}
