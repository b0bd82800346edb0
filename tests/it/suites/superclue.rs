//! SuperCLUE: two games with swapped sides, the second turn in view of the first, shares of wins and ties, and letters.

use langya::domain::benchmark::Suite;
use langya::domain::benchmark::item::{Item, Question};
use langya::domain::benchmark::scores::judgement::{Game, JudgeStep, Judgement, Status};
use langya::domain::benchmark::scores::score::{Coverage, Scores};
use langya::domain::benchmark::suites::superclue::construction::{Draft, DraftPrompt};
use langya::domain::judging::verdict::{OptionLetter, Preference, Verdict};
use langya::domain::language::Language;

use super::{answer, asked, data, judged, read_fixture, suite_with, vectors};

fn open() -> Box<dyn Suite> {
    suite_with("superclue-open", None, &[])
}

fn close() -> Box<dyn Suite> {
    suite_with("superclue-close", None, &[])
}

/// Both games of a turn.
pub(crate) fn games(item: &str, turn: u32, first: Preference, second: Preference) -> [Judgement; 2] {
    [(Game::First, first), (Game::Second, second)]
        .map(|(game, winner)| judged(item, turn, game, Ok(Verdict::Pair { winner, margin: None })))
}

pub(crate) fn question(id: &str, capability: &str, turns: usize) -> Item {
    Item {
        id: id.to_owned(),
        category: capability.to_owned(),
        subcategory: None,
        language: Language::Chinese,
        turns: vec![Question { question: "？".to_owned(), reference: None }; turns],
        choices: None,
    }
}

fn value(scores: &Scores, key: &str) -> f64 {
    scores.by_key(key).unwrap().value.unwrap()
}

#[test]
fn the_follow_up_is_asked_after_the_models_own_answer() {
    let items = read_fixture(&*open(), "superclue_open.jsonl");
    assert_eq!(open().asks(&items[0], &[]).iter().map(|ask| ask.turn).collect::<Vec<_>>(), [1]);
    let second = open().asks(&items[0], &[answer(1, "五十六")]);
    let texts: Vec<&str> = second[0].messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!((second[0].turn, texts), (2, vec!["7乘8等于几？", "五十六", "再加4呢？"]));
    assert!(open().asks(&items[0], &[answer(1, "")]).is_empty());
    assert!(open().asks(&items[2], &[answer(1, "你好")]).is_empty());
}

#[test]
fn each_turn_is_two_games_with_the_sides_swapped() {
    let items = read_fixture(&*open(), "superclue_open.jsonl");
    let (model, baseline) = ([answer(1, "{M1}"), answer(2, "M2")], [answer(1, "B1"), answer(2, "B2")]);
    let judgings = open().judgings(&items[1], &model, &baseline);
    let order: Vec<(u32, Game)> = judgings.iter().map(|judging| (judging.turn, judging.game)).collect();
    assert_eq!(order, [(1, Game::First), (1, Game::Second), (2, Game::First), (2, Game::Second)]);
    let text = |place: usize| match &judgings[place].step {
        JudgeStep::Ask(request) => {
            assert_eq!((request.sampling.temperature, request.sampling.max_tokens), (Some(0.0), Some(2048)));
            request.messages[1].content.clone()
        }
        other => panic!("{other:?}"),
    };
    assert!(text(0).contains("[助手A的回答开始]\n{M1}\n") && text(0).contains("[助手B的回答开始]\nB1\n"));
    assert!(text(1).contains("[助手A的回答开始]\nB1\n") && text(1).contains("[助手B的回答开始]\n{M1}\n"));
    assert!(!text(0).contains("给出{三}条建议"), "the first turn is judged without the second");
    assert!(text(2).contains("### 助手A：\n{M1}\n\n### 用户：\n给出{三}条建议。\n\n### 助手A：\nM2\n"));
    assert!(text(3).contains("### 助手A：\nB1\n") && text(3).contains("### 助手B：\nM2\n"));
}

#[test]
fn answers_that_are_right_or_wrong_are_judged_beside_the_reference() {
    let items = read_fixture(&*open(), "superclue_open.jsonl");
    let (model, baseline) = ([answer(1, "56")], [answer(1, "54")]);
    let exact = asked(&*open(), &items[0], &model, &baseline).messages.remove(1).content;
    assert!(exact.contains("[参考答案开始]\n56\n[参考答案结束]"));
    let open_ended = asked(&*open(), &items[2], &model, &baseline).messages.remove(1).content;
    assert!(!open_ended.contains("参考答案"));
}

#[test]
fn without_both_answers_there_is_no_game() {
    let items = read_fixture(&*open(), "superclue_open.jsonl");
    assert!(open().judgings(&items[1], &[answer(1, "a")], &[]).is_empty());
    let both_turns = [answer(1, "a"), answer(2, "b")];
    assert_eq!(open().judgings(&items[1], &both_turns, &[answer(1, "c")]).len(), 2);
    let empty = open().judgings(&items[1], &[answer(1, " ")], &[answer(1, "c")]);
    assert!(empty.iter().all(|judging| judging.step == JudgeStep::Failed(Status::EmptyAnswer)));
}

#[test]
fn the_vector_of_the_win_and_tie_rate_holds() {
    let Some(vector) = vectors("superclue_win_tie") else { return };
    let count = |key: &str| vector[key].as_u64().unwrap();
    let kinds = [
        (count("win"), Preference::A, Preference::B),
        (count("tie"), Preference::A, Preference::A),
        (count("loss"), Preference::B, Preference::A),
    ];
    let (mut items, mut judgements) = (Vec::new(), Vec::new());
    for (number, first, second) in kinds {
        for _ in 0..number {
            let item = question(&items.len().to_string(), "闲聊", 1);
            judgements.extend(games(&item.id, 1, first, second));
            items.push(item);
        }
    }
    let scores = open().score(&items, &judgements.iter().collect::<Vec<_>>());
    assert!((value(&scores, "overall") - vector["score_pct"].as_f64().unwrap()).abs() < 0.005);
    let (win, tie) = (82.0, 210.0);
    assert!((value(&scores, "ties half") - 100.0 * (win + tie / 2.0) / 504.0).abs() < 1e-9);
    assert!((value(&scores, "3-1-0") - 100.0 * (3.0 * win + tie) / (3.0 * 504.0)).abs() < 1e-9);
}

#[test]
fn a_turn_with_a_failed_game_is_left_out_and_parts_are_pooled() {
    let items = [question("1", "计算", 2), question("2", "计算", 2), question("3", "安全", 2)];
    let mut judgements: Vec<Judgement> = Vec::new();
    judgements.extend(games("1", 1, Preference::A, Preference::B));
    judgements.extend(games("1", 2, Preference::B, Preference::A));
    judgements.extend(games("2", 1, Preference::B, Preference::A));
    judgements.extend(games("3", 1, Preference::Tie, Preference::B));
    judgements.push(judged("3", 2, Game::First, Ok(Verdict::Pair { winner: Preference::A, margin: None })));
    judgements.push(judged("3", 2, Game::Second, Err(Status::ParseFailed)));
    let scores = open().score(&items, &judgements.iter().collect::<Vec<_>>());
    assert!((value(&scores, "overall") - 50.0).abs() < 1e-12, "win, loss, loss, tie");
    assert_eq!(scores.by_key("overall").unwrap().coverage, Coverage { ok: 4, total: 6 });
    assert!((value(&scores, "turn:1") - 200.0 / 3.0).abs() < 1e-9);
    assert!((value(&scores, "计算/turn:1") - 50.0).abs() < 1e-12);
    assert!((value(&scores, "Professional Abilities") - 100.0 / 3.0).abs() < 1e-9);
    assert_eq!(scores.by_key("安全/turn:2").unwrap().value, None, "nothing valid is no score");
}

#[test]
fn fastchats_file_of_prompts_can_be_used() {
    let line = |name: &str, template: &str| {
        serde_json::json!({"name": name, "system_prompt": "fair", "prompt_template": template}).to_string()
    };
    let pair = "{question}|{answer_a}|{answer_b}";
    let multi = "{question_1}{question_2}{answer_a_1}{answer_a_2}{answer_b_1}{answer_b_2}";
    let lines = [
        line("pair-v2", pair),
        line("pair-v2-multi-turn", multi),
        line("pair-math-v1", &format!("{pair}{{ref_answer_1}}")),
        line("pair-math-v1-multi-turn", &format!("{multi}{{ref_answer_1}}{{ref_answer_2}}")),
    ];
    let options = |lines: &[String]| langya::domain::benchmark::SuiteOptions {
        prompt: Some(lines.join("\n")),
        ..langya::domain::benchmark::SuiteOptions::default()
    };
    let suite = langya::domain::benchmark::suite("superclue-open", &options(&lines)).unwrap();
    let request = asked(&*suite, &question("1", "闲聊", 1), &[answer(1, "m")], &[answer(1, "b")]);
    assert_eq!((request.messages[0].content.as_str(), request.messages[1].content.as_str()), ("fair", "？|m|b"));
    let missing = langya::domain::benchmark::suite("superclue-open", &options(&lines[..3])).err().unwrap().to_string();
    assert!(missing.starts_with("the prompt file has no user text for \"pair-math-v1-multi-turn\""), "{missing}");
}

#[test]
fn choices_are_asked_read_and_counted_without_a_judge() {
    let items = read_fixture(&*close(), "superclue_close.jsonl");
    let text = close().asks(&items[1], &[]).remove(0).messages.remove(0).content;
    assert!(text.contains("知识与百科") && text.contains("哪种动物会飞？\nA. 狗\nB. 猫\nC. 蝙蝠\nD. 马\n"));
    assert_eq!(items[2].choices.as_ref().map(|choices| choices.correct), Some(OptionLetter::C));

    let read = |item: &Item, text: &str| close().judgings(item, &[answer(1, text)], &[]).remove(0).step;
    let choice = |choice, correct| JudgeStep::Read(Verdict::Choice { choice, correct });
    assert_eq!(read(&items[0], "答案：B"), choice(Some(OptionLetter::B), true));
    assert_eq!(read(&items[0], "A和B都对"), choice(None, false));
    assert_eq!(read(&items[0], ""), JudgeStep::Failed(Status::EmptyAnswer));

    let record = |id: &str, verdict| judged(id, 1, Game::First, verdict);
    let judgements = [
        record("1", Ok(Verdict::Choice { choice: Some(OptionLetter::B), correct: true })),
        record("2", Ok(Verdict::Choice { choice: None, correct: false })),
        record("3", Err(Status::EmptyAnswer)),
    ];
    let scores = close().score(&items, &judgements.iter().collect::<Vec<_>>());
    let overall = scores.by_key("overall").unwrap();
    assert_eq!((overall.value, overall.coverage), (Some(50.0), Coverage { ok: 2, total: 3 }));
    assert_eq!(scores.by_key("安全").unwrap().value, None);
}

#[test]
fn an_open_question_is_rewritten_into_a_choice() {
    let item = &read_fixture(&*open(), "superclue_open.jsonl")[1];
    let request = DraftPrompt::new(None).unwrap().request(item);
    assert!(request[0].content.contains("原题：\n怎样设一个好密码？") && request[0].content.contains("{\"问题\": "));
    let reply = r#"{"问题": "怎样设一个好密码？", "选项": ["短", "长而随机", "生日", "不设"], "答案": "B"}"#;
    let made = Draft::parse(reply).unwrap().item(item);
    assert_eq!((made.id.as_str(), made.category.as_str(), made.turns.len()), ("s-2", "安全", 1));
    assert_eq!(close().parse(&made, "B").unwrap(), Verdict::Choice { choice: Some(OptionLetter::B), correct: true });
    let missing = DraftPrompt::new(Some("改写")).err().unwrap().to_string();
    assert_eq!(missing, "the prompt for \"construct\" has no {question}: put it where that text belongs");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let refused = |suite: Box<dyn Suite>, line: &str, expected: &str| {
        let error = suite.read(line.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    refused(
        open(),
        r#"{"id": 1, "capability": "唱歌", "turns": ["?"]}"#,
        "line 1: the capability \"唱歌\" is unknown: expected one of 语义",
    );
    refused(open(), r#"{"id": 1, "capability": "计算", "turns": []}"#, "line 1: a question is empty");
    refused(
        open(),
        r#"{"id": 1, "capability": "计算", "turns": ["a", "b", "c"]}"#,
        "line 1: this is not a record of the suite: it has 3",
    );
    refused(
        open(),
        r#"{"id": 1, "capability": "计算", "turns": ["a"], "reference": ["b", "c"]}"#,
        "line 1: this is not a record of the suite: it has 2 references to 1 turns",
    );
    refused(
        close(),
        r#"{"id":1,"capability":"计算","question":"?","options":{"A":"1","A":"2","B":"3","C":"4","D":"5"},"answer":"A"}"#,
        "line 1: this is not a record of the suite: ",
    );
    let close_line = std::fs::read_to_string(data("superclue_close.jsonl")).unwrap();
    let close_line = close_line.lines().next().unwrap();
    refused(close(), &close_line.replace("\"56\", ", ""), "line 1: this is not a record of the suite: it needs four");
    refused(
        close(),
        &close_line.replace("\"answer\": \"B\"", "\"answer\": \"X\""),
        "line 1: the answer \"X\" is unknown",
    );
}

#[test]
fn the_first_token_counts_only_where_asked_for() {
    let item = question("1", "闲聊", 1);
    let reply = "not [[A]] but [[B]]";
    let winner = |suite: Box<dyn Suite>| suite.parse(&item, reply).unwrap();
    assert_eq!(winner(open()), Verdict::Pair { winner: Preference::B, margin: None });
    let compat = suite_with("superclue-open", None, &["superclue-open.first_token"]);
    assert_eq!(winner(compat), Verdict::Pair { winner: Preference::A, margin: None });
}
