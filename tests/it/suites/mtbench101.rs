//! MT-Bench-101: its data file, golden and own context, what the judge is shown, the lowest turn.

use langya::domain::battle::message::{Message, MessageRole};
use langya::domain::benchmark::item::{Item, Question};
use langya::domain::benchmark::scores::judgement::{Game, JudgeStep, Judgement, Status};
use langya::domain::benchmark::scores::score::Coverage;
use langya::domain::benchmark::suites::mtbench101::{TASKS, judged_turns};
use langya::domain::benchmark::{Suite, SuiteOptions, suite};
use langya::domain::language::Language;

use super::{answer, asked, judged, rated, read_fixture, reference, suite_with, vectors};

fn plain() -> Box<dyn Suite> {
    suite_with("mtbench101", None, &[])
}

fn dialogue(id: &str, task: &str, turns: usize) -> Item {
    let turn = |number: usize| Question {
        question: format!("question {number} {{answer}}"),
        reference: Some(format!("golden {number}")),
    };
    Item {
        id: id.to_owned(),
        category: task.to_owned(),
        subcategory: None,
        language: Language::English,
        turns: (1..=turns).map(turn).collect(),
        choices: None,
    }
}

#[test]
fn the_official_file_has_its_dialogues_and_turns() {
    let Some(file) = reference("data/mtbench101.jsonl") else { return };
    let items = plain().read(&std::fs::read(file).unwrap()).unwrap();
    let turns: usize = items.iter().map(|item| item.turns.len()).sum();
    let judged: usize = items.iter().map(|item| judged_turns(item).count()).sum();
    assert_eq!((items.len(), turns, judged), (1388, 4208, 3615));
    let judged_of = |code: &str| -> usize {
        items.iter().filter(|item| item.category == code).map(|item| judged_turns(item).count()).sum()
    };
    let counts = TASKS.map(|task| judged_of(task.code));
    assert_eq!(counts, [239, 620, 407, 249, 352, 253, 123, 77, 73, 224, 218, 426, 354]);
}

#[test]
fn a_small_file_is_read_without_the_official_one() {
    let items = read_fixture(&*plain(), "mtbench101.jsonl");
    assert_eq!(items.iter().map(|item| judged_turns(item).count()).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(items[0].turns[2].question, "Write {name: ...} with it.");
}

#[test]
fn the_vector_of_the_lowest_turn_holds() {
    let Some(vector) = vectors("mtbench101_min") else { return };
    let (mut items, mut judgements) = (Vec::new(), Vec::new());
    for (name, turns) in vector["turn_scores"].as_object().unwrap() {
        let turns = turns.as_array().unwrap();
        // Both tasks are judged from the second turn on.
        items.push(dialogue(name, name.split('/').next().unwrap(), turns.len() + 1));
        judgements.extend((2..).zip(turns).map(|(turn, score)| rated(name, turn, score.as_f64().unwrap(), &[])));
    }
    let scores = plain().score(&items, &judgements.iter().collect::<Vec<_>>());
    let value = |key: &str| scores.by_key(key).unwrap().value.unwrap();
    assert_eq!(Some(value("overall")), vector["overall"].as_f64());
    for task in ["CM", "SC"] {
        assert_eq!(Some(value(task)), vector["task_scores"][task].as_f64());
        let by_mean = vector["mean_variant"][task].as_f64().unwrap();
        assert!((value(&format!("{task}/mean over turns")) - by_mean).abs() < 1e-12);
    }
}

#[test]
fn golden_turns_are_asked_apart_and_own_turns_one_after_the_other() {
    let item = dialogue("1", "CM", 3);
    let asks = plain().asks(&item, &[]);
    assert_eq!(asks.iter().map(|ask| ask.turn).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(asks[1].messages.len(), 5);
    assert_eq!(asks[1].messages[3], Message::assistant("golden 2"));
    assert!(plain().asks(&item, &[answer(2, "a"), answer(3, "b")]).is_empty());

    let own = suite_with("mtbench101", Some("self_context"), &[]);
    assert_eq!(own.asks(&item, &[]).iter().map(|ask| ask.turn).collect::<Vec<_>>(), [2]);
    let next = own.asks(&item, &[answer(2, "mine")]);
    assert_eq!(next[0].messages[1], Message::assistant("golden 1"), "the scene is set by the golden first turn");
    assert_eq!(next[0].messages[3], Message::assistant("mine"));
    assert!(own.asks(&item, &[answer(2, " ")]).is_empty(), "an empty answer is no context");
}

#[test]
fn the_judge_sees_the_rubric_the_context_and_only_the_golden_answer_of_the_turn() {
    let item = dialogue("1", "MR", 2);
    let request = |suite: &dyn Suite| asked(suite, &item, &[answer(2, "{reference} is 4")], &[]);
    let plain = request(&*plain());
    assert_eq!((plain.messages[0].role, plain.sampling.temperature), (MessageRole::System, Some(0.0)));
    assert!(plain.messages[0].content.contains("MATHEMATICAL REASONING"));
    let user = &plain.messages[1].content;
    assert!(user.contains("Human: question 1 {answer}\n\nAssistant: golden 1\n\n Human: question 2 {answer}\n\nAssistant: {reference} is 4\n"));
    assert!(user.contains("###\ngolden 2\n###"));
    let whole = request(&*suite_with("mtbench101", None, &["mtbench101.whole_dialogue_reference"]));
    assert!(
        whole.messages[1]
            .content
            .contains("###\n\n\n Human: question 1 {answer}\n\nAssistant: golden 1\n\n Human: question 2")
    );
    assert_ne!(plain.sha256(), whole.sha256());
}

#[test]
fn an_empty_answer_is_not_judged() {
    let item = dialogue("1", "TS", 1);
    let judgings = plain().judgings(&item, &[answer(1, " \n")], &[]);
    assert_eq!(judgings[0].step, JudgeStep::Failed(Status::EmptyAnswer));
}

#[test]
fn a_dialogue_with_a_failed_turn_is_left_out_and_shows_in_the_coverage() {
    let items = [dialogue("1", "TS", 2), dialogue("2", "TS", 2)];
    let judgements = [
        rated("1", 1, 9.0, &[]),
        judged("1", 2, Game::First, Err(Status::ParseFailed)),
        rated("2", 1, 6.0, &[]),
        rated("2", 2, 8.0, &[]),
    ];
    let judgements: Vec<&Judgement> = judgements.iter().collect();
    let scores = plain().score(&items, &judgements);
    let task = scores.by_key("TS").unwrap();
    assert_eq!((task.value, task.coverage), (Some(6.0), Coverage { ok: 1, total: 2 }));
    assert_eq!(scores.by_key("TS/turn:1").unwrap().value, Some(7.5));
    let compat = suite_with("mtbench101", None, &["mtbench101.min_over_parsed_turns"]).score(&items, &judgements);
    assert_eq!(compat.by_key("TS").unwrap().value, Some(7.5));
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let good = r#"{"task":"CM","id":1,"history":[{"user":"u","bot":"b"},{"user":"v","bot":"c"}]}"#;
    let check = |second: &str, expected: &str| {
        let error = plain().read(format!("{good}\r\n{second}").as_bytes()).unwrap_err().to_string();
        assert_eq!(error, expected);
    };
    check(
        &good.replace("\"CM\"", "\"XX\""),
        "line 2: the task \"XX\" is unknown: expected one of CM, SI, AR, TS, CC, CR, FR, SC, SA, MR, GR, IC, PI",
    );
    check(good, "line 2: the id \"1\" is already on line 1: ids must be unique");
    check(&good.replace("\"task\":\"CM\",", ""), "line 2: this is not a record of the suite: missing field `task`");
    check(
        &good.replace("\"c\"", "\" \"").replace("1,", "2,"),
        "line 2: a bot's text is empty: give its text or remove the record",
    );
    check(
        r#"{"task":"CM","id":2,"history":[{"user":"u","bot":"b"}]}"#,
        "line 2: this is not a record of the suite: it has one turn, and the task CM judges from the second turn on",
    );
    assert_eq!(
        plain().read(b"\n").unwrap_err().to_string(),
        "line 1: the file has no items: give the suite's official data file"
    );
}

#[test]
fn options_that_do_not_exist_are_refused_with_those_that_do() {
    let refused = |ablation: Option<&str>, compat: &[&str], prompt: Option<&str>| {
        let compat = compat.iter().map(|name| (*name).to_owned()).collect();
        let (ablation, prompt) = (ablation.map(str::to_owned), prompt.map(str::to_owned));
        let options = SuiteOptions { ablation, prompt, compat, ..SuiteOptions::default() };
        suite("mtbench101", &options).err().unwrap().to_string()
    };
    assert_eq!(
        refused(Some("rules"), &[], None),
        "suite mtbench101 has no ablation \"rules\": it has self_context, logprob_weighted"
    );
    assert!(
        refused(None, &["mtbench101.x"], None).ends_with("mtbench101.min_over_parsed_turns, mtbench101.first_bracket")
    );
    let missing = refused(None, &[], Some("{history} {answer}"));
    assert_eq!(missing, "the prompt for \"MR\" has no {reference}: put it where that text belongs");
}
