//! The papers' results as they ship: whole, in the parts of our own suites, and in keeping with their own rules.

use std::collections::{BTreeMap, BTreeSet};

use langya::domain::benchmark::item::{Item, Question};
use langya::domain::benchmark::published::{Published, SubjectKind, ValueUnit, by_id, of_suite, series};
use langya::domain::benchmark::scores::score::mean;
use langya::domain::benchmark::suites::alignbench::CATEGORIES;
use langya::domain::benchmark::suites::mtbench101::TASKS;
use langya::domain::benchmark::suites::superclue::CAPABILITIES;
use langya::domain::benchmark::suites::urs::INTENTS;
use langya::domain::language::Language;
use langya::domain::stats::correlation::{kendall, pearson, spearman};

use super::{reference, suite_with};

fn published(id: &str) -> &'static Published {
    by_id(id).unwrap_or_else(|| panic!("no series {id}"))
}

#[test]
fn every_series_has_a_source_and_values_that_its_unit_allows() {
    let ids: BTreeSet<&str> = series().iter().map(|series| series.id.as_str()).collect();
    assert_eq!((ids.len(), series().len()), (18, 18));
    for series in series() {
        assert!(series.source.contains("arXiv:") && series.source.contains("Table"), "{}", series.id);
        assert!(!series.points.is_empty(), "{} has no values", series.id);
        let keys: BTreeSet<(&str, &str)> =
            series.points.iter().map(|point| (point.subject.as_str(), point.part.as_str())).collect();
        assert_eq!(keys.len(), series.points.len(), "{} says something twice", series.id);
        let range = match series.unit {
            ValueUnit::OneToTen => 1.0..=10.0,
            ValueUnit::Percent => 0.0..=100.0,
            ValueUnit::Correlation => -1.0..=1.0,
            ValueUnit::Share => 0.0..=1.0,
        };
        for point in &series.points {
            assert!(range.contains(&point.value), "{}: {point:?}", series.id);
        }
    }
}

/// The keys of every part of a suite whose items cover all of it.
fn keys(suite: &str, categories: &[&str]) -> BTreeSet<String> {
    let item = |(category, language): (&&str, Language)| Item {
        id: format!("{category} {language:?}"),
        category: (*category).to_owned(),
        subcategory: None,
        language,
        turns: vec![Question { question: "?".to_owned(), reference: None }; 2],
        choices: None,
    };
    let both = categories.iter().flat_map(|category| Language::ALL.map(|language| (category, language)));
    let scores = suite_with(suite, None, &[]).score(&both.map(item).collect::<Vec<_>>(), &[]);
    let writing = langya::domain::benchmark::suites::alignbench::DIMENSIONS.map(|name| format!("dimension:{name}"));
    scores.0.iter().map(|score| score.part.key()).chain(writing).collect()
}

#[test]
fn published_parts_have_the_names_of_our_own() {
    let suites: [(&str, Vec<&str>); 5] = [
        ("superclue-open", CAPABILITIES.iter().map(|known| known.name).collect()),
        ("superclue-close", CAPABILITIES.iter().map(|known| known.name).collect()),
        ("urs", INTENTS.iter().map(|intent| intent.name).collect()),
        ("alignbench", CATEGORIES.iter().map(|category| category.name).collect()),
        ("mtbench101", TASKS.iter().map(|task| task.code).collect()),
    ];
    for (suite, categories) in suites {
        let known = keys(suite, &categories);
        for series in of_suite(suite) {
            for part in series.parts() {
                assert!(known.contains(part), "{}: {part} is no part of {suite}", series.id);
            }
        }
    }
}

#[test]
fn the_series_have_the_models_of_their_tables() {
    let counts = [
        ("superclue_close", 11),
        ("superclue_open", 11),
        ("superclue_arena", 7),
        ("urs", 10),
        ("urs_languages", 10),
        ("alignbench_gpt4", 17),
        ("alignbench_critiquellm", 17),
        ("alignbench_dimensions", 17),
        ("mtbench101_gpt4", 18),
        ("mtbench101_qwen72b", 5),
    ];
    for (id, models) in counts {
        assert_eq!((published(id).subjects().len(), published(id).of), (models, SubjectKind::Model), "{id}");
    }
    assert_eq!(published("superclue_arena").part("overall").len(), 6, "RWKV's is left out");
}

#[test]
fn the_papers_rules_hold_within_the_published_series() {
    for id in ["alignbench_gpt4", "alignbench_critiquellm"] {
        let part = |name: &str| published(id).part(name);
        for (model, overall) in part("overall") {
            let computed = f64::midpoint(part("reasoning")[model], part("language")[model]);
            assert!((computed - overall).abs() < 0.00501, "{id} {model}");
        }
    }
    let tasks = TASKS.map(|task| published("mtbench101_gpt4").part(task.code));
    for (model, overall) in published("mtbench101_gpt4").part("overall") {
        let computed = mean(&tasks.each_ref().map(|task| task[model])).unwrap();
        assert!((computed - overall).abs() < 0.00501, "{model}");
    }
}

#[test]
fn two_judges_of_alignbench_go_together_as_the_claims_say() {
    let (one, other) =
        (published("alignbench_gpt4").part("overall"), published("alignbench_critiquellm").part("overall"));
    let x: Vec<f64> = one.values().copied().collect();
    let y: Vec<f64> = one.keys().map(|model| other[model]).collect();
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value}");
    near(pearson(&x, &y).unwrap().r, 0.9851);
    near(spearman(&x, &y).unwrap().r, 0.9945);
    near(kendall(&x, &y).unwrap().r, 0.9668);
}

#[test]
fn what_ships_is_what_the_tables_say() {
    let Some(folder) = reference("reference") else { return };
    let table = |name: &str| -> Vec<BTreeMap<String, String>> {
        csv::Reader::from_path(folder.join(name)).unwrap().deserialize().map(Result::unwrap).collect()
    };
    let mut compared = 0;
    let mut check = |id: &str, rows: &[BTreeMap<String, String>], columns: &[(&str, &str)]| {
        for row in rows {
            let subject = row["model"].split(['（', '(']).next().unwrap().trim();
            let subject = if subject == "GPT-40" { "GPT-4o" } else { subject };
            for (column, part) in columns {
                let printed: f64 = row[*column].parse().unwrap();
                let Some(value) = published(id).part(part).get(subject).copied() else { continue };
                assert!((value - printed).abs() < 1e-9, "{id} {subject} {part}");
                compared += 1;
            }
        }
    };
    let columns =
        [("overall", "overall"), ("math", "数学计算"), ("chi", "中文理解"), ("role", "角色扮演"), ("pro", "专业能力")];
    check("alignbench_gpt4", &table("alignbench_table6.csv"), &columns);
    check("alignbench_critiquellm", &table("alignbench_table7.csv"), &columns);
    check("mtbench101_gpt4", &table("mtbench101_table3.csv"), &[("avg", "overall"), ("cm", "CM"), ("pi", "PI")]);
    check("urs", &table("urs_table4.csv"), &[("all", "overall"), ("leisure", "Leisure")]);
    check("superclue_open", &table("superclue_table2.csv"), &[("open_all", "overall"), ("open_multi", "turn:2")]);
    check("superclue_close", &table("superclue_table2.csv"), &[("close", "overall")]);
    assert_eq!(compared, 2 * 17 * 5 + 18 * 3 + 9 * 2 + 11 * 2 + 11, "all cells, but for one model with a date");
}
