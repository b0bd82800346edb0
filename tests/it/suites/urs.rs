//! URS: its data file, criteria by intent and language, and means over cases.

use langya::domain::benchmark::Suite;
use langya::domain::benchmark::item::Item;
use langya::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use langya::domain::benchmark::scores::score::Coverage;
use langya::domain::benchmark::suites::urs::INTENTS;
use langya::domain::judging::verdict::Verdict;
use langya::domain::language::Language;

use super::{answer, asked, data, judged, rated, read_fixture, reference, suite_with};

fn plain() -> Box<dyn Suite> {
    suite_with("urs", None, &[])
}

#[test]
fn the_official_file_has_its_cases() {
    let Some(file) = reference("data/urs.csv") else { return };
    let items = plain().read(&std::fs::read(file).unwrap()).unwrap();
    let of = |language| items.iter().filter(|item| item.language == language).count();
    assert_eq!((items.len(), of(Language::English), of(Language::Chinese)), (1846, 1014, 832));
    let labelled = |name: &str| items.iter().filter(|item| item.category == name).count();
    assert_eq!(INTENTS.map(|intent| labelled(intent.name)), [573, 500, 124, 269, 193, 159]);
    assert_eq!(labelled("API"), 28);
}

#[test]
fn quoted_line_breaks_and_doubled_quotes_are_part_of_the_text() {
    let items = read_fixture(&*plain(), "urs.csv");
    assert_eq!(items[0].turns[0].question, "How many legs has a spider?\n(One word, please.)");
    assert_eq!(
        items[0].turns[0].reference.as_deref(),
        Some("Eight.\n\nSpiders have eight legs, insects \"only\" six.")
    );
    assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
}

#[test]
fn the_judge_is_asked_in_the_language_of_the_case_with_the_criteria_of_its_intent() {
    let items = read_fixture(&*plain(), "urs.csv");
    let text = |suite: &dyn Suite, item: &Item| asked(suite, item, &[answer(1, "{1}")], &[]).messages.remove(0).content;
    let english = text(&*plain(), &items[2]);
    assert!(english.contains("\"Solve Problem\"") && english.contains("4. Logical Coherence: "));
    assert!(english.contains("def f(x): return {x}, what is f(1)?") && english.contains("\n{1}\n[End"));
    let chinese = text(&*plain(), &items[1]);
    assert!(chinese.contains("“休闲娱乐”") && chinese.contains("2. 趣味性："));
    let always = suite_with("urs", None, &["urs.chinese_prompt"]);
    assert!(text(&*always, &items[2]).contains("“解决专业问题”"));
    assert_eq!(plain().asks(&items[0], &[])[0].sampling.temperature, None, "models keep their own temperature");
}

#[test]
fn criteria_have_one_name_in_whatever_language_the_judge_writes() {
    let items = read_fixture(&*plain(), "urs.csv");
    let read = |item: &Item, reply: &str| match plain().parse(item, reply).unwrap() {
        Verdict::Rating(rating) => (rating.score, rating.dimensions.into_iter().collect::<Vec<_>>()),
        other => panic!("{other:?} is no rating"),
    };
    let engaging = (7.0, vec![("Engagement".to_owned(), 8.0), ("User Satisfaction".to_owned(), 6.0)]);
    assert_eq!(read(&items[1], "{'满足用户需求': 6, '趣味性'：8, '综合得分': 7}"), engaging);
    assert_eq!(read(&items[1], "{‘维度一’: 6, ‘维度二’: 8, ‘综合得分’: 7}"), engaging);
    assert_eq!(read(&items[1], "{'User Satisfaction': 6, 'Engagement': 8, 'Final Score': 7}"), engaging);
}

#[test]
fn the_whole_is_the_mean_over_cases_and_an_api_is_a_problem_to_solve() {
    let items = read_fixture(&*plain(), "urs.csv");
    let judgements = [
        rated("1", 1, 9.0, &[("Factuality", 10.0)]),
        rated("2", 1, 5.0, &[]),
        rated("3", 1, 8.0, &[("Factuality", 8.0)]),
        rated("4", 1, 6.0, &[]),
    ];
    let scores = plain().score(&items, &judgements.iter().collect::<Vec<_>>());
    let value = |key: &str| scores.by_key(key).unwrap().value;
    assert_eq!((value("overall"), value("language:en"), value("language:zh")), (Some(7.0), Some(8.5), Some(5.5)));
    assert_eq!((value("Solve_Professional_Problem"), value("API")), (Some(7.0), Some(6.0)));
    assert_eq!((value("objective"), value("subjective")), (Some(23.0 / 3.0), Some(5.0)));
    assert_eq!(
        (value("objective/language:zh"), value("Solve_Professional_Problem/language:en")),
        (Some(6.0), Some(8.0))
    );
    assert_eq!(scores.by_key("Text_Assistant"), None, "no such case");
    assert_eq!(value("dimension:Factuality"), Some(9.0));
}

#[test]
fn a_case_that_could_not_be_judged_is_missing() {
    let items = read_fixture(&*plain(), "urs.csv");
    let judgements: [Judgement; 2] =
        [rated("1", 1, 9.0, &[]), judged("3", 1, Game::First, Err(Status::TransportFailed))];
    let scores = plain().score(&items, &judgements.iter().collect::<Vec<_>>());
    let overall = scores.by_key("overall").unwrap();
    assert_eq!((overall.value, overall.coverage), (Some(9.0), Coverage { ok: 1, total: 4 }));
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let text = std::fs::read_to_string(data("urs.csv")).unwrap();
    let refused = |rows: &str, expected: &str| {
        let error = plain().read(format!("{text}{rows}").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    refused(
        "q,r,Small_Talk,EN\r\n",
        "line 9: the user_intent \"Small_Talk\" is unknown: expected one of Factual_QA, Solve",
    );
    refused("q,r,Leisure,DE\r\n", "line 9: the language \"DE\" is unknown: expected one of EN, CN");
    refused("q,,Leisure,EN\r\n", "line 9: reference_ans is empty");
    refused(" ,r,Leisure,EN\r\n", "line 9: a question is empty");
    refused("q,r,Leisure\r\n", "line 9: this is not a record of the suite: it has 3 fields instead of 4");
    let error = plain().read(text.replace("user_intent", "intent").as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "line 2: this is not a record of the suite: missing field `user_intent`");
}
