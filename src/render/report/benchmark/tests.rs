use super::*;
use crate::domain::benchmark::item::{ItemSampling, Question};
use crate::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use crate::domain::benchmark::scores::score::{PartKind, Score};
use crate::domain::benchmark::suite_options::BUILT_IN_SUITES;
use crate::domain::benchmark::suites::registry::suite;
use crate::domain::benchmark::{SuiteOptions, published};
use crate::domain::judging::verdict::Rating;

fn named(name: &str) -> Box<dyn Suite> {
    suite(name, &SuiteOptions::default()).unwrap()
}

fn printed(name: &str) -> Vec<PublishedScore> {
    let of = |series: &'static published::Published| {
        series.points.iter().map(|point| PublishedScore {
            series: series.id.clone(),
            source: series.source.clone(),
            part: point.part.clone(),
            model: point.subject.clone(),
            score: point.value,
        })
    };
    published::of_suite(name).filter(|series| series.of == published::SubjectKind::Model).flat_map(of).collect()
}

fn score(part: Part, value: Option<f64>, ok: u64, total: u64) -> Score {
    Score { part, value, std_dev: None, coverage: Coverage { ok, total }, samples: Vec::new() }
}

fn entry(model: &str, judge: &str, scores: Vec<Score>) -> ScoreEntry {
    ScoreEntry {
        model: model.to_owned(),
        judge: judge.to_owned(),
        judges: judge.split('+').map(str::to_owned).collect(),
        baseline: String::new(),
        judge_is_evaluated: model == judge,
        judged_at: 1_700_000_000_000,
        scores: Scores(scores),
        ratings: vec![7.0, 8.0],
    }
}

fn report(name: &str, entries: &[ScoreEntry], published: &[PublishedScore], language: Language) -> Report {
    let suite = named(name);
    let material = ReportInput {
        suite: &*suite,
        variant: "",
        version: "00ff",
        source: "file.jsonl",
        items: 3,
        sample: 1,
        entries,
        published,
        runs: &[],
        findings: &Findings::default(),
        silent_judges: &[],
        mixed_settings: &[],
        compare_with: None,
    };
    Report::new(material, None, language)
}

/// Checks the columns and the headings of the table of a published series.
#[track_caller]
fn check(suite: &str, series: &str, columns: &str, heads: &[&[(&str, usize)]]) {
    let report = report(suite, &[], &printed(suite), Language::English);
    let table = report.published.iter().find(|table| table.title.starts_with(series)).unwrap();
    let labels: Vec<&str> = table.columns.iter().map(|column| column.part.as_str()).collect();
    assert_eq!(labels.join(" "), columns);
    let found: Vec<Vec<(&str, usize)>> =
        table.heads.iter().map(|row| row.iter().map(|head| (head.label.as_str(), head.span)).collect()).collect();
    assert_eq!(found, heads);
    assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
}

#[test]
fn tables_have_the_papers_columns_in_their_order() {
    check(
        "alignbench",
        "alignbench_gpt4",
        "overall reasoning 数学计算 逻辑推理 language 基本任务 中文理解 综合问答 文本写作 角色扮演 专业能力",
        &[&[("", 1), ("Reasoning", 3), ("Language", 7)]],
    );
    check(
        "mtbench101",
        "mtbench101_gpt4",
        "overall CM SI AR TS CC CR FR SC SA MR GR IC PI",
        &[
            &[("", 1), ("Perceptivity", 5), ("Adaptability", 6), ("Interactivity", 2)],
            &[
                ("", 1),
                ("Memory", 1),
                ("Understanding", 2),
                ("Interference", 2),
                ("Rephrasing", 2),
                ("Reflection", 2),
                ("Reasoning", 2),
                ("Questioning", 2),
            ],
        ],
    );
    check(
        "urs",
        "urs ",
        "Solve_Professional_Problem Factual_QA Text_Assistant Ask_for_Advice Seek_Creativity Leisure overall",
        &[],
    );
    check("superclue-open", "superclue_open", "turn:1 turn:2 overall", &[]);
}

#[test]
fn every_printed_score_of_a_model_is_shown() {
    for name in BUILT_IN_SUITES {
        let printed = printed(name);
        let report = report(name, &[], &printed, Language::English);
        for score in &printed {
            let shown = report.published.iter().any(|table| {
                let column = table.columns.iter().position(|column| column.part == score.part);
                let row =
                    table.rows.iter().find(|row| row.model == score.model && table.title.starts_with(&score.series));
                let cell = column.zip(row).and_then(|(column, row)| row.cells[column]);
                cell.is_some_and(|cell| cell.score == Some(score.score))
            });
            assert!(shown, "{score:?}");
        }
    }
}

#[test]
fn abbreviations_in_the_heads_of_columns_are_spelled_out_once() {
    for (language, first, last) in [
        (Language::English, "**CM** Context memory · **SI** Separate input · ", "**PI** Proactive interaction\n"),
        (Language::Chinese, "**CM** 上下文记忆 · **SI** 分离输入 · ", "**PI** 主动互动\n"),
    ] {
        for is_judged in [true, false] {
            let parts = suite_tables::all_parts(&*named("mtbench101"));
            let scores = parts.into_iter().map(|part| score(part, Some(5.0), 1, 1)).collect();
            let entries = if is_judged { vec![entry("m", "j", scores)] } else { Vec::new() };
            let report = report("mtbench101", &entries, &printed("mtbench101"), language);
            assert_eq!(report.abbreviations().len(), 13, "tasks");
            let text = markdown::write(&report, language);
            assert_eq!((text.matches(first).count(), text.matches(last).count()), (1, 1), "{text}");
            let html = html::body(&report, language).unwrap();
            let name = if language == Language::English { "Context memory" } else { "上下文记忆" };
            assert_eq!(html.matches(&format!("<b>CM</b>&#160;{name} · ")).count(), 1, "{html}");
        }
    }
    for name in BUILT_IN_SUITES.iter().filter(|name| **name != "mtbench101") {
        assert!(report(name, &[], &printed(name), Language::English).abbreviations().is_empty(), "{name}");
    }
}

#[test]
fn parts_have_names_in_both_languages() {
    for name in BUILT_IN_SUITES {
        let (suite, printed) = (named(name), printed(name));
        let parts = |language| suite_tables::published(&*suite, &printed, language);
        for (english, chinese) in parts(Language::English).iter().zip(&parts(Language::Chinese)) {
            for (english, chinese) in english.columns.iter().zip(&chinese.columns) {
                assert!(english.name.is_ascii(), "{english:?}");
                assert_ne!(english.name, chinese.name, "{english:?} is not said in Chinese");
            }
        }
    }
}

/// Task codes and product names stay unchanged.
#[test]
fn a_chinese_report_has_no_english_headings() {
    let is_english = |text: &str| {
        let words = text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() > 2);
        words
            .filter(|word| word.chars().any(char::is_lowercase))
            .any(|word| !["Bench", "ChatGPT", "AlignBench", "SuperCLUE"].contains(&word))
    };
    for name in BUILT_IN_SUITES {
        let parts =
            suite_tables::all_parts(&*named(name)).into_iter().map(|part| score(part, Some(5.0), 1, 1)).collect();
        let printed: Vec<PublishedScore> = PublishedScore::printed(name).collect();
        let report = report(name, &[entry("m", "j", parts)], &printed, Language::Chinese);
        for table in report.tables.iter().chain(&report.published) {
            let heads = table.heads.iter().flatten().map(|head| &head.label);
            let columns = table.columns.iter().flat_map(|column| [&column.label, &column.name]);
            let title = table.title.replace("CritiqueLLM", "").replace("Qwen-72B-Chat", "");
            for text in heads.chain(columns).chain([&title]) {
                assert!(!is_english(text), "{name}: {text}");
            }
        }
    }
}

#[test]
fn items_have_their_categories_in_the_language_of_the_report() {
    let suite = named("alignbench");
    let item = |id: &str| Item {
        id: id.to_owned(),
        category: "专业能力".to_owned(),
        subcategory: None,
        language: Language::Chinese,
        turns: vec![Question { question: "几？".to_owned(), reference: Some("三".to_owned()) }],
        choices: None,
    };
    let rated = |model: &str, judge: &str, score: f64| Judgement {
        suite: String::new(),
        suite_version: String::new(),
        item_id: "1".to_owned(),
        turn: 1,
        model: model.to_owned(),
        judge_model: judge.to_owned(),
        judge_prompt_sha256: String::new(),
        params: ItemSampling::default(),
        game: Game::First,
        raw_text: String::new(),
        parsed: Some(Verdict::Rating(Rating::new(score, [].into()))),
        status: Status::Ok,
        attempts: 1,
        latency_ms: None,
        tokens: None,
        ts: 0,
    };
    let judgements = vec![rated("a", "i", 3.0), rated("a", "j", 9.0)];
    let by_baseline = JudgementsByBaseline::from([(String::new(), judgements)]);
    let findings = Findings::default().with_items(&*suite, &[item("1")], &by_baseline, &[]);
    for (language, category) in [(Language::English, "Professional Knowledge"), (Language::Chinese, "专业能力")] {
        let analyses = findings.analyses(None, language);
        let disputed = analyses.iter().find(|analysis| analysis.key == "disputed-items").unwrap();
        assert_eq!(disputed.rows[0][1], Datum::Text(category.to_owned()));
    }
}

#[test]
fn models_come_best_first_and_what_is_missing_is_flagged() {
    let overall = Part::overall;
    let entries = [
        entry("b", "j", vec![score(overall(), Some(5.0), 9, 10)]),
        entry("none", "j", vec![score(overall(), None, 0, 10)]),
        entry("a", "j", vec![score(overall(), Some(5.0), 10, 10)]),
        entry("j", "j", vec![score(overall(), Some(9.0), 10, 10)]),
    ];
    let report = report("mtbench101", &entries, &[], Language::English);
    let rows = &report.tables[0].rows;
    let found: Vec<(&str, String, bool, bool)> = rows
        .iter()
        .map(|row| (row.model.as_str(), row.cells[0].unwrap().text(), row.cells[0].unwrap().flagged, row.judged_itself))
        .collect();
    let expected = [
        ("j", "9.00", false, true),
        ("a", "5.00", false, false),
        ("b", "5.00", true, false),
        ("none", "–", true, false),
    ];
    assert_eq!(found, expected.map(|(model, text, flagged, itself)| (model, text.to_owned(), flagged, itself)));
    assert_eq!(report.notes.len(), 2, "a judge that is judged, and 29 of 40: {:?}", report.notes);
    assert_eq!(report.day().as_deref(), Some("2023-11-14"));
}

#[test]
fn the_judge_with_the_highest_coverage_leads_and_the_latest_on_a_tie() {
    let one = |model: &str, judge: &str, ok: u64, judged_at: i64| ScoreEntry {
        judged_at,
        ..entry(model, judge, vec![score(Part::overall(), Some(5.0), ok, 60)])
    };
    let leading = |entries: &[ScoreEntry]| report("mtbench101", entries, &[], Language::English).judge;
    let tried = [one("m", "judge1", 60, 1), one("m", "judge2", 20, 2), one("n", "judge1", 60, 1)];
    assert_eq!(leading(&tried), "judge1");
    let equal = [one("m", "judge1", 60, 2), one("m", "judge2", 60, 1)];
    assert_eq!(leading(&equal), "judge1");
    let panel = [equal.as_slice(), &[one("m", "judge1+judge2", 60, 2)], &[one("m", "later", 60, 3)]].concat();
    assert_eq!(leading(&panel), "judge1+judge2");
}

#[test]
fn a_report_names_only_those_judges_of_a_panel_that_are_evaluated() {
    let full = || vec![score(Part::overall(), Some(5.0), 10, 10)];
    let panel = |model: &str| ScoreEntry { judge_is_evaluated: true, ..entry(model, "i+j", full()) };
    let entries = [entry("j", "i", full()), entry("j", "j", full()), panel("j"), panel("m")];
    let notes = report("mtbench101", &entries, &[], Language::English).notes;
    assert!(notes.iter().any(|note| note.starts_with("j judges and is judged")), "{notes:?}");
}

#[test]
fn a_judge_whose_name_has_a_plus_is_one_judge_alone_and_in_a_panel() {
    let by = |model: &str, judge: &str, judges: &[&str], ok: u64| ScoreEntry {
        judges: judges.iter().map(|&judge| judge.to_owned()).collect(),
        ..entry(model, judge, vec![score(Part::overall(), Some(5.0), ok, 60)])
    };
    let alone = report("mtbench101", &[by("r", "r+", &["r+"], 60)], &[], Language::English);
    assert!(!alone.is_panel("r+") && !alone.tables[0].rows[0].judged_itself);
    let entries = [by("s", "r+", &["r+"], 60), by("s", "s", &["s"], 60), by("s", "r++s", &["r+", "s"], 59)];
    let panel = report("mtbench101", &entries, &[], Language::English);
    assert!(panel.judge == "r++s" && panel.is_panel("r++s") && panel.tables[0].rows[0].judged_itself);
}

#[test]
fn a_name_stays_on_its_line_and_in_its_cell() {
    let hostile = "a|b\n# c\n<script>*x*";
    let entries = [entry(hostile, "j", vec![score(Part::overall(), Some(5.0), 1, 1)])];
    let report = report("mtbench101", &entries, &[], Language::English);
    let text = markdown::write(&report, Language::English);
    assert!(text.contains("| a\\|b \\# c \\<script\\>\\*x\\* | 5.00 (1/1) |\n"), "{text}");
    let html = html::file(&report, Language::English).unwrap();
    assert!(
        !html.contains("<script") && html.contains("&#60;script&#62;") || html.contains("&lt;script&gt;"),
        "{html}"
    );
    let csv = csv::write(&report, |text| text.into()).unwrap();
    assert_eq!(::csv::Reader::from_reader(csv.as_bytes()).records().count(), 1, "{csv}");
}

#[test]
fn charts_show_the_categories_of_the_tables() {
    let intents = ["Factual_QA", "Leisure", "Text_Assistant", "API"];
    let parts = intents.iter().map(|name| score(Part::new(PartKind::Category, *name), Some(7.0), 1, 1));
    let report = report("urs", &[entry("m", "j", parts.collect())], &[], Language::English);
    let labels: Vec<&str> = report.charts.iter().map(|chart| chart.label.as_str()).collect();
    assert_eq!(labels, ["Models by category", "Models and categories", "How scores are distributed"]);
    assert!(
        report.charts[0].svg.contains("3 axes") || report.charts[0].svg.contains("on 3 "),
        "{}",
        report.charts[0].svg
    );
    assert!(!report.charts[1].svg.contains("API"));
}

#[test]
fn a_judge_prefers_itself_among_those_who_were_compared_with_the_same() {
    let compared = |model: &str, judge: &str, baseline: &str, value: f64| ScoreEntry {
        baseline: baseline.to_owned(),
        ..entry(model, judge, vec![score(Part::overall(), Some(value), 1, 1)])
    };
    let of = |judge: &str, own: f64, other: f64| {
        ["x", "y"].map(|baseline| [compared("j", judge, baseline, own), compared("m", judge, baseline, other)]).concat()
    };
    let entries = [of("j", 70.0, 40.0), of("k", 50.0, 50.0)].concat();
    let judges = ["j", "k"].map(str::to_owned).into();
    let analyses = Findings::default().with_scores(&entries, &judges).analyses(None, Language::English);
    let table = analyses.iter().find(|analysis| analysis.key == "self-preference").unwrap();
    let row = |name: &str| {
        let numbers = [20.0, -10.0, 30.0].map(|number| Datum::Number(Some(number)));
        std::iter::once(Datum::Text(name.to_owned())).chain(numbers).collect::<Vec<_>>()
    };
    assert_eq!(table.rows, [row("j : x"), row("j : y")]);
}
