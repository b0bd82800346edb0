//! Every model by every judge, and by all judges together.

use langya::domain::benchmark::item::Item;
use langya::domain::benchmark::runs::mixed_settings::MixedSettings;
use langya::domain::benchmark::scores::judgement::{Game, JudgeTokens, Judgement, Status};
use langya::domain::benchmark::scores::panel_scores::{JudgePanel, JudgementTable, JudgementsByBaseline, ModelScores};
use langya::domain::benchmark::scores::score::Coverage;
use langya::domain::correlation::{Aliases, SuiteSeries, SuiteUsed};
use langya::domain::judging::budget::Prices;
use langya::domain::language::Language;
use langya::domain::stats::confidence::ConfidenceLevel;
use langya::domain::stats::resample::BootstrapOptions;
use langya::render::report::benchmark::Datum;
use langya::render::report::benchmark::findings::{ComparedJudgement, Findings, Lengths};

use super::{judged, rated, read_fixture, suite_with};

fn by(judge: &str, model: &str, judgement: Judgement) -> Judgement {
    Judgement { judge_model: judge.to_owned(), model: model.to_owned(), ..judgement }
}

#[test]
fn a_panel_is_each_judge_alone_and_their_mean() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..2];
    let judgements = [
        by("j", "m", rated("1", 1, 8.0, &[])),
        by("j", "m", rated("2", 1, 6.0, &[])),
        by("k", "m", rated("1", 1, 5.0, &[])),
        by("k", "m", judged("2", 1, Game::First, Err(Status::Refused))),
        by("j", "n", rated("1", 1, 4.0, &[])),
    ];
    let panel_scores = JudgementTable::new(&judgements).scores(&*suite, items);
    let benches: Vec<(&str, &JudgePanel)> = panel_scores.iter().map(|row| (row.model.as_str(), &row.panel)).collect();
    let (j, k) = (JudgePanel::Judge("j".to_owned()), JudgePanel::Judge("k".to_owned()));
    let panel = JudgePanel::Several(vec!["j".to_owned(), "k".to_owned()]);
    assert_eq!(benches, [("m", &j), ("m", &k), ("m", &panel), ("n", &j), ("n", &k), ("n", &panel)]);
    let value = |row: usize, key: &str| panel_scores[row].scores.by_key(key).unwrap().value;
    assert_eq!((value(0, "overall"), value(1, "overall"), value(2, "overall")), (Some(7.0), None, None));
    assert_eq!(value(2, "reasoning"), Some(6.5));
    assert_eq!(panel_scores[2].scores.by_key("overall").unwrap().coverage, Coverage { ok: 3, total: 4 });
    assert_eq!(value(5, "reasoning"), None, "judge k did not judge it");
}

#[test]
fn one_judge_is_no_panel_and_the_later_judgement_counts() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..1];
    let judgements = [judged("1", 1, Game::First, Err(Status::ParseFailed)), rated("1", 1, 9.0, &[])];
    let panel_scores = JudgementTable::new(&judgements).scores(&*suite, items);
    assert_eq!(panel_scores.len(), 1);
    assert_eq!(panel_scores[0].scores.by_key("overall").unwrap().value, Some(9.0));
}

#[test]
fn each_row_counts_its_own_judgements_and_says_when_the_last_came() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..2];
    let at = |ts, judgement| Judgement { ts, ..judgement };
    let failed = || judged("2", 1, Game::First, Err(Status::ParseFailed));
    let judgements = vec![
        at(5, by("j", "m", rated("1", 1, 8.0, &[]))),
        at(7, by("j", "m", failed())),
        at(6, by("j", "m", failed())),
        at(9, by("k", "m", rated("1", 1, 5.0, &[]))),
        at(8, by("k", "m", failed())),
        at(4, by("j", "n", rated("1", 1, 4.0, &[]))),
    ];
    let by_baseline = JudgementsByBaseline::from([(String::new(), judgements)]);
    let scores = ModelScores::all(&*suite, items, &by_baseline, &["m".to_owned()].into());
    let rows: Vec<_> = scores
        .iter()
        .map(|row| (row.model.as_str(), row.judge.as_str(), row.judged_at, row.statuses.clone()))
        .collect();
    let expected = [
        ("m", "j", 7, [("ok", 1), ("parse_failed", 2)].into()),
        ("m", "k", 9, [("ok", 1), ("parse_failed", 1)].into()),
        ("m", "j+k", 9, [("ok", 2), ("parse_failed", 3)].into()),
        ("n", "j", 4, [("ok", 1)].into()),
        ("n", "k", 0, [].into()),
        ("n", "j+k", 4, [("ok", 1)].into()),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_model_costs_what_all_its_judgements_cost_also_those_that_failed() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..2];
    let paid = |ts, prompt, judgement| {
        let tokens = Some(JudgeTokens { prompt, reply: 1 });
        Judgement { ts, tokens, ..by("j", "m", judgement) }
    };
    let failed = || judged("2", 1, Game::First, Err(Status::ParseFailed));
    let judgements =
        [paid(3, 10, rated("1", 1, 8.0, &[])), paid(8, 20, failed()), by("k", "m", rated("2", 1, 6.0, &[]))];
    let used = SuiteUsed {
        suite: "alignbench".to_owned(),
        sha256: String::new(),
        file: String::new(),
        judge: None,
        judges: vec!["j".to_owned(), "k".to_owned()],
        judgements: judgements.len(),
        models: 0,
    };
    let series = SuiteSeries::new(&*suite, items, &judgements, used, BootstrapOptions { replicates: 0, seed: 0 });
    let prices = |_: &str| Some(Prices { input: 1e6, output: 1e5 });
    let facts = series.facts("m", &Aliases::default(), &prices).unwrap();
    assert_eq!((facts.judged_at, facts.cost), (8, Some(30.2)));
}

#[test]
fn a_judge_that_was_tried_on_some_items_leaves_the_series_as_it_was_and_is_named() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..2];
    let full = ["m", "n"].map(|model| ["1", "2"].map(|item| by("j", model, rated(item, 1, 6.0, &[])))).concat();
    let tried = ["m", "n"].map(|model| by("k", model, rated("1", 1, 2.0, &[])));
    let series = |judgements: &[Judgement], judges: &[&str]| {
        let judges = judges.iter().map(|&judge| judge.to_owned()).collect();
        let used = SuiteUsed { suite: "alignbench".to_owned(), judges, ..SuiteUsed::default() };
        SuiteSeries::new(&*suite, items, judgements, used, BootstrapOptions { replicates: 0, seed: 0 })
    };
    let part = |series: &SuiteSeries| series.part("reasoning", ConfidenceLevel::default()).unwrap();
    let (before, after) = (series(&full, &["j"]), series(&[&full[..], &tried].concat(), &["j", "k"]));
    assert_eq!((part(&after).points, &after.used.judges), (part(&before).points, &vec!["j".to_owned()]));
    assert_eq!((after.judges.len(), after.used.judgements), (2, 4), "the other one can still be named");
    assert!(part(&after).notes.iter().any(|note| note.contains("k judged too little")), "{:?}", part(&after).notes);
    let one = series(&full[..3], &["j"]).part("", ConfidenceLevel::default()).unwrap().notes;
    assert!(one.iter().all(|note| !note.contains("not every judge")), "there is one judge: {one:?}");
    assert!(one.iter().any(|note| note.contains("n (1 of 2): a score needs a verdict in each")), "{one:?}");
}

#[test]
fn a_report_lists_the_failed_judgements_of_each_judge_that_has_some() {
    let failed = |judge: &str, item: &str| by(judge, "m", judged(item, 1, Game::First, Err(Status::Refused)));
    let judgements = [failed("j", "1"), by("k", "m", rated("1", 1, 5.0, &[])), failed("l", "1"), failed("l", "2")];
    let judged: Vec<ComparedJudgement<'_>> =
        judgements.iter().map(|judgement| ComparedJudgement { judgement, baseline: "" }).collect();
    let analyses = Findings::new(&judged, &Lengths::default()).analyses(None, Language::English);
    let table = analyses.iter().find(|analysis| analysis.key == "failed-judgements").unwrap();
    let counts: Vec<_> = table.rows.iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let row = |judge: &str, count| (Datum::Text(judge.to_owned()), Datum::Count(count));
    assert_eq!(counts, [row("j", 1), row("l", 2)]);
}

#[test]
fn a_series_names_the_models_of_whom_too_little_could_be_judged_or_whose_settings_changed() {
    let suite = suite_with("alignbench", None, &[]);
    let mut items = read_fixture(&*suite, "alignbench.jsonl");
    // A second of one category, so that the category has a score all the same.
    items.push(Item { id: "again".to_owned(), ..items[0].clone() });
    let judgement = |model: &str, item: &Item| match model == "n" && item.id == "again" {
        true => by("j", model, judged(&item.id, 1, Game::First, Err(Status::Refused))),
        false => by("j", model, rated(&item.id, 1, 5.0, &[])),
    };
    let judgements: Vec<Judgement> =
        ["m", "n"].iter().flat_map(|model| items.iter().map(|item| judgement(model, item))).collect();
    let used = SuiteUsed { suite: "alignbench".to_owned(), ..SuiteUsed::default() };
    let series = SuiteSeries::new(&*suite, &items, &judgements, used, BootstrapOptions { replicates: 0, seed: 0 });
    let mixed = MixedSettings { participant: "m".to_owned(), settings: vec!["one".to_owned(), "two".to_owned()] };
    let values = series.with_mixed_settings(&[mixed]).part("", ConfidenceLevel::default()).unwrap();
    let of_n = format!("less than 95 % of the answers could be judged of n ({} of {})", items.len() - 1, items.len());
    let notes: Vec<&String> = values.notes.iter().filter(|note| !note.contains("single item")).collect();
    assert_eq!(notes, [&"the scores mix what several settings of one id said: m (one; two)".to_owned(), &of_n]);
    assert_eq!(values.points.len(), 2, "both have a score: {:?}", values.points.keys());
}
