//! AlignBench: its data file, types and dimensions, what the judge is shown, and the means of means.

use langya::domain::benchmark::item::Item;
use langya::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use langya::domain::benchmark::scores::score::Coverage;
use langya::domain::benchmark::suites::alignbench::{CATEGORIES, DIMENSIONS, dimensions_of};
use langya::domain::benchmark::{JudgeMode, Suite};

use super::{answer, asked, data, judged, rated, read_fixture, reference, suite_with};

fn plain() -> Box<dyn Suite> {
    suite_with("alignbench", None, &[])
}

#[test]
fn the_official_file_has_its_items_types_and_dimensions() {
    let Some(file) = reference("data/alignbench_v1.1.jsonl") else { return };
    let items = plain().read(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(items.len(), 683);
    let of_category = |name| items.iter().filter(|item| item.category == name).count();
    assert_eq!(CATEGORIES.map(|category| of_category(category.name)), [112, 92, 68, 58, 38, 75, 116, 124]);
    let having = |dimension| items.iter().filter(|item| dimensions_of(item).contains(&dimension)).count();
    assert_eq!(DIMENSIONS.map(having), [683, 683, 404, 445, 241, 238, 200, 38]);
}

#[test]
fn subcategories_have_the_dimensions_of_the_official_configuration() {
    let Some(folder) = reference("data/alignbench_config") else { return };
    let json = |name| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let (types, sets) = (json("subcategory_question_mapping.json"), json("dimension_set.json"));
    let mut item = read_fixture(&*plain(), "alignbench.jsonl").remove(0);
    for (subcategory, kind) in types.as_object().unwrap() {
        item.subcategory = Some(subcategory.clone());
        let expected = &sets[kind.as_str().unwrap()];
        assert_eq!(serde_json::to_value(dimensions_of(&item)).unwrap(), *expected, "{subcategory}");
    }
}

#[test]
fn models_are_asked_with_the_temperature_of_the_category() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let temperature = |item: &Item| plain().asks(item, &[])[0].sampling.temperature;
    assert_eq!(items.iter().map(temperature).collect::<Vec<_>>(), [Some(0.1), Some(0.1), Some(0.7), Some(0.1)]);
    assert!(plain().asks(&items[0], &[answer(1, "三个")]).is_empty());
}

#[test]
fn the_judge_sees_the_category_the_dimensions_of_the_type_and_texts_as_they_are() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let request = asked(&*plain(), &items[1], &[answer(1, "“{reference}”")], &[]);
    assert_eq!((request.messages.len(), request.sampling.temperature), (1, Some(0.0)));
    let text = &request.messages[0].content;
    for part in [
        "属于“基本任务”类",
        "1. 事实正确性：",
        "5. 丰富度：",
        "把“{answer}”译成中文。",
        "[参考答案开始]\n“{答案}”\n[参考答案结束]",
        "[助手的答案开始]\n“{reference}”\n[助手的答案结束]",
        "{'维度一': 分数,",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("清晰度："), "a dimension of another type");
}

#[test]
fn the_ablations_ask_for_one_score() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let text = |ablation| {
        let suite = suite_with("alignbench", Some(ablation), &[]);
        assert_eq!((suite.mode(), suite.variant()), (JudgeMode::PointwiseRef, ablation));
        assert!(suite.parse(&items[0], "评级：[[7]]").is_ok());
        assert!(suite.parse(&items[0], "{'综合得分': 7}").is_err());
        asked(&*suite, &items[0], &[answer(1, "三")], &[]).messages.remove(0).content
    };
    let (rules, general) = (text("rules"), text("general"));
    assert!(rules.contains("5至6分") && !general.contains("5至6分"));
    assert!(general.contains("[助手的答案开始]\n三\n[助手的答案结束]"));
}

#[test]
fn failures_show_in_the_coverage_and_count_as_minus_1_only_where_asked_for() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let judgements = [
        rated("1", 1, 8.0, &[("事实正确性", 9.0), ("清晰度", 3.0)]),
        rated("2", 1, 6.0, &[("事实正确性", 5.0)]),
        judged("7", 1, Game::First, Err(Status::ParseFailed)),
    ];
    let judgements: Vec<&Judgement> = judgements.iter().collect();
    let scores = plain().score(&items, &judgements);
    assert_eq!(scores.by_key("reasoning").unwrap().value, Some(8.0));
    assert_eq!(scores.by_key("综合问答").unwrap().value, None);
    assert_eq!(scores.by_key("overall").unwrap().value, None, "two categories could not be judged");
    assert_eq!(scores.by_key("overall").unwrap().coverage, Coverage { ok: 2, total: 4 });
    let dimension = scores.by_key("dimension:事实正确性").unwrap();
    assert_eq!((dimension.value, dimension.coverage), (Some(7.0), Coverage { ok: 2, total: 4 }));
    assert_eq!(scores.by_key("dimension:清晰度").unwrap().value, None, "item 1 is not judged on it");

    let compat = suite_with("alignbench", None, &["alignbench.include_failed_as_minus1"]);
    let scores = compat.score(&items[..3], &judgements);
    assert_eq!(scores.by_key("综合问答").unwrap().value, Some(-1.0));
    assert_eq!(scores.by_key("overall").unwrap().value, Some(5.25), "(8 + (6 - 1) / 2) / 2");
    assert_eq!(scores.by_key("overall").unwrap().coverage, Coverage { ok: 2, total: 3 });
}

#[test]
fn opencompass_rounds_at_every_stage() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let judgements = [rated("1", 1, 8.124, &[]), rated("2", 1, 6.0, &[]), rated("7", 1, 7.016, &[])];
    let judgements: Vec<&Judgement> = judgements.iter().collect();
    let overall =
        |suite: Box<dyn Suite>| suite.score(&items[..3], &judgements).by_key("overall").unwrap().value.unwrap();
    assert!((overall(plain()) - 7.316).abs() < 1e-12);
    let rounded = overall(suite_with("alignbench", None, &["alignbench.round_each_stage"]));
    assert!((rounded - 7.31).abs() < 1e-12, "8.12 and (6 + 7.02) / 2 = 6.51 make 7.315, which a float holds as less");
}

#[test]
fn the_official_parser_needs_straight_quotes() {
    let items = read_fixture(&*plain(), "alignbench.jsonl");
    let reply = "{’事实正确性’: 9, ’综合得分’: 7}";
    assert!(plain().parse(&items[0], reply).is_ok());
    assert!(suite_with("alignbench", None, &["alignbench.official_parser"]).parse(&items[0], reply).is_err());
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let text = std::fs::read_to_string(data("alignbench.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    let refused = |line: &str, expected: &str| {
        let error = plain().read(format!("\u{feff}{text}\r\n{line}").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    refused(first, "line 6: the id \"1\" is already on line 1");
    let other = first.replace("\"question_id\": 1", "\"question_id\": 9");
    refused(
        &other.replace("数学计算", "数学"),
        "line 6: the category \"数学\" is unknown: expected one of 数学计算, 逻辑推理",
    );
    refused(
        &other.replace("初等数学", "小学数学"),
        "line 6: the subcategory \"小学数学\" is unknown: expected one of 常识知识",
    );
    refused(&other.replace("三个。", ""), "line 6: the reference is empty");
    refused(&other.replace("集合{1, 2, 3}有几个元素？", " "), "line 6: a question is empty");
    refused(
        &other.replace("\"reference\"", "\"answer\""),
        "line 6: this is not a record of the suite: missing field `reference`",
    );
}
