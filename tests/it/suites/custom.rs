//! Suites of the user's own: a file of TOML and lines of JSON, in each of the judge modes.

use langya::domain::benchmark::item::Item;
use langya::domain::benchmark::scores::judgement::{Game, JudgeStep, Judgement};
use langya::domain::benchmark::scores::score::{Coverage, Verdicts};
use langya::domain::benchmark::{JudgeMode, Scale, Suite, SuiteOptions, custom_suite};
use langya::domain::judging::verdict::{Margin, OptionLetter, Preference, Verdict};

use super::superclue::games;
use super::{answer, asked, data, judged, rated, read_fixture};

fn own(toml: &str) -> Box<dyn Suite> {
    custom_suite(toml, &SuiteOptions::default()).unwrap()
}

fn refused(toml: &str) -> String {
    custom_suite(toml, &SuiteOptions::default()).err().unwrap().to_string()
}

fn of_mode(mode: &str, more: &str) -> Box<dyn Suite> {
    own(&format!("name = \"mine\"\nmode = \"{mode}\"\nlanguage = \"en\"\n{more}"))
}

fn items(suite: &dyn Suite, lines: &[&str]) -> Vec<Item> {
    suite.read(lines.join("\n").as_bytes()).unwrap()
}

fn house_rules() -> Box<dyn Suite> {
    own(&std::fs::read_to_string(data("house_rules.toml")).unwrap())
}

#[test]
fn a_suite_file_says_all_that_a_run_needs() {
    let suite = house_rules();
    assert_eq!(
        (suite.name(), suite.title(), suite.mode()),
        ("house-rules", "House rules", JudgeMode::PointwiseRefMultidim)
    );
    let items = read_fixture(&*suite, "house_rules.jsonl");
    assert_eq!(suite.asks(&items[0], &[])[0].sampling.temperature, Some(0.2));
    let text = asked(&*suite, &items[0], &[answer(1, "Nine {o'clock}.")], &[]).messages.remove(0).content;
    assert!(text.contains("1. Accuracy: Is it true?\n2. Kindness\n"));
    assert!(
        text.contains("When do you open? {hours}")
            && text.contains("Answer: Nine {o'clock}.")
            && text.contains("{'Accuracy': n")
    );
    assert!(suite.parse(&items[0], "{'accuracy': 8, 'Kindness': 6, 'Final Score': 7}").is_ok());
    let judgements = [
        rated("1", 1, 8.0, &[("Accuracy", 9.0)]),
        rated("2", 1, 6.0, &[("Accuracy", 5.0)]),
        rated("t1", 1, 3.0, &[("Kindness", 2.0)]),
    ];
    let scores = suite.score(&items, &judgements.iter().collect::<Vec<_>>());
    let value = |key: &str| scores.by_key(key).unwrap().value;
    assert_eq!((value("overall"), value("facts"), value("tone")), (Some(5.0), Some(7.0), Some(3.0)));
    assert_eq!(scores.by_key("dimension:Accuracy").unwrap().coverage, Coverage { ok: 2, total: 3 });
}

#[test]
fn one_score_beside_a_reference_needs_no_prompt_of_ones_own() {
    let suite = of_mode("pointwise_ref", "");
    let items = items(&*suite, &[r#"{"id": 1, "question": "q", "reference": "r"}"#]);
    let text = asked(&*suite, &items[0], &[answer(1, "a")], &[]).messages.remove(0).content;
    assert!(text.contains("[Start of the reference answer]\nr\n"));
    assert!(matches!(suite.parse(&items[0], "Rating: [[7]]"), Ok(Verdict::Rating(rating)) if rating.score > 6.9));
    let error = suite.read(br#"{"id": 1, "question": "q"}"#).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 1: this is not a record of the suite: this mode needs a reference: add \"reference\": \"…\""
    );
}

#[test]
fn turns_follow_own_or_golden_answers_and_count_by_the_lowest_or_the_mean() {
    let line = r#"{"id": "d", "turns": ["q1", "q2"], "reference": ["g1", "g2"]}"#;
    let lowest = of_mode("pointwise_turn", "");
    let dialogue = items(&*lowest, &[line]);
    assert_eq!(lowest.asks(&dialogue[0], &[]).len(), 1);
    let golden = of_mode("pointwise_turn", "context = \"golden\"\ndialogue = \"mean\"");
    assert_eq!(golden.asks(&dialogue[0], &[]).len(), 2);
    let answers = [answer(1, "a1"), answer(2, "a2")];
    let text = |suite: &dyn Suite| match &suite.judgings(&dialogue[0], &answers, &[])[1].step {
        JudgeStep::Ask(request) => request.messages[0].content.clone(),
        other => panic!("{other:?}"),
    };
    assert!(text(&*lowest).contains("Assistant: a1") && text(&*golden).contains("Assistant: g1"));
    let judgements = [rated("d", 1, 9.0, &[]), rated("d", 2, 4.0, &[])];
    let judgements: Vec<&Judgement> = judgements.iter().collect();
    let overall = |suite: &dyn Suite| suite.score(&dialogue, &judgements).by_key("overall").unwrap().value;
    assert_eq!((overall(&*lowest), overall(&*golden)), (Some(4.0), Some(6.5)));
    assert_eq!(lowest.score(&dialogue, &judgements).by_key("turn:2").unwrap().value, Some(4.0));
    assert_eq!(lowest.score(&dialogue, &judgements[..1]).by_key("overall").unwrap().value, None);
}

#[test]
fn pairs_and_choices_are_suites_of_ones_own_too() {
    let pairs = of_mode("pairwise_baseline", "");
    assert_eq!(pairs.scale(), Scale::Percent);
    let two = items(
        &*pairs,
        &[r#"{"id": 1, "question": "q", "category": "x"}"#, r#"{"id": 2, "question": "p", "category": "y"}"#],
    );
    assert_eq!(pairs.judgings(&two[0], &[answer(1, "a")], &[answer(1, "b")]).len(), 2);
    let mut judgements = games("1", 1, Preference::A, Preference::B).to_vec();
    judgements.extend(games("2", 1, Preference::B, Preference::A));
    let scores = pairs.score(&two, &judgements.iter().collect::<Vec<_>>());
    assert_eq!((scores.by_key("overall").unwrap().value, scores.by_key("x").unwrap().value), (Some(50.0), Some(100.0)));

    let choices = of_mode("multiple_choice", "");
    let one = items(&*choices, &[r#"{"id": 1, "question": "q", "options": ["a", "b", "c", "d"], "answer": "C"}"#]);
    assert!(choices.asks(&one[0], &[])[0].messages[0].content.contains("q\nA. a\nB. b\n"));
    let right = Verdict::Choice { choice: Some(OptionLetter::C), correct: true };
    assert_eq!(choices.parse(&one[0], "The answer is C."), Ok(right.clone()));
    let judgement = judged("1", 1, Game::First, Ok(right));
    assert_eq!(choices.score(&one, &[&judgement]).by_key("overall").unwrap().value, Some(100.0));
}

#[test]
fn a_suite_of_pairs_can_declare_five_levels() {
    let suite = of_mode("pairwise_baseline", "verdicts = \"five_levels\"");
    let two = items(&*suite, &[r#"{"id": 1, "question": "q"}"#, r#"{"id": 2, "question": "p"}"#]);
    let (system, user) = {
        let mut messages = asked(&*suite, &two[0], &[answer(1, "a")], &[answer(1, "b")]).messages;
        (messages.remove(0).content, messages.remove(0).content)
    };
    assert!(
        system.ends_with("\"[[B>>A]]\" if assistant B is much better.")
            && user.contains("a\n[End of assistant A's answer]")
    );
    let read = |reply: &str| suite.parse(&two[0], reply);
    let clear = Verdict::Pair { winner: Preference::A, margin: Some(Margin::Clear) };
    assert_eq!((read("[[A>>B]]"), read("[[A]]").is_err()), (Ok(clear), true));
    let pair = |winner, margin| Ok(Verdict::Pair { winner, margin: Some(margin) });
    let judgements = [
        judged("1", 1, Game::First, pair(Preference::A, Margin::Clear)),
        judged("1", 1, Game::Second, pair(Preference::A, Margin::Slight)),
        judged("2", 1, Game::First, pair(Preference::Tie, Margin::Slight)),
    ];
    let scores = suite.score(&two, &judgements.iter().collect::<Vec<_>>());
    let overall = scores.by_key("overall").unwrap();
    assert_eq!((overall.value, overall.coverage), (Some(75.0), Coverage { ok: 1, total: 2 }), "three votes of four");
    assert_eq!(scores.by_key("ties half").unwrap().value, Some(50.0), "the two games disagree");
    assert_eq!(suite.item_score(&two[0], &Verdicts::new(&judgements)), Some(75.0));
    let declared = "name = \"mine\"\nlanguage = \"en\"\nmode = \"pointwise_turn\"\nverdicts = \"five_levels\"";
    assert!(refused(declared).contains("only mode = \"pairwise_baseline\" has verdicts"));
}

#[test]
fn a_suite_file_that_cannot_be_used_is_refused_with_the_reason() {
    let base = "name = \"mine\"\nlanguage = \"en\"\n";
    assert!(refused(&format!("{base}mode = \"vote\"")).contains("unknown variant `vote`"));
    assert!(refused(&format!("{base}mode = \"pointwise_ref\"\ncolour = 1")).contains("unknown field `colour`"));
    assert!(refused(&format!("{base}mode = \"pointwise_ref_multidim\"")).contains("needs dimensions"));
    let missing = refused(&format!("{base}mode = \"pointwise_ref\"\n[prompt]\nuser = \"{{question}} {{answer}}\""));
    assert_eq!(missing, "the prompt for \"pointwise_ref\" has no {reference}: put it where that text belongs");
    assert!(refused("name = \"urs\"\nlanguage = \"en\"\nmode = \"pointwise_ref\"").contains("built-in suite"));
}

#[test]
fn a_name_that_is_no_file_name_is_refused() {
    let named = |name: &str| format!("name = \"{name}\"\nlanguage = \"en\"\nmode = \"pointwise_turn\"");
    for name in ["", "../escaped", "a/b", "a:b", "-a", "_a", "A", "a b", "规则", &"a".repeat(65)] {
        assert!(refused(&named(name)).contains("lower-case letters, digits"), "{name:?}");
    }
    for name in ["a", "7-up_2", &"a".repeat(64)] {
        assert_eq!(own(&named(name)).name(), name);
    }
}

#[test]
fn a_category_that_would_be_taken_for_another_part_is_refused() {
    for category in ["overall", "intents", "a/b", "turn:1", "language:en", " "] {
        let error = of_mode("pointwise_turn", "")
            .read(format!(r#"{{"id": 1, "category": "{category}", "question": "q"}}"#).as_bytes());
        assert!(error.unwrap_err().to_string().contains("names another part"), "{category:?}");
        let declared =
            format!("name = \"mine\"\nlanguage = \"en\"\nmode = \"pointwise_turn\"\ncategories = [\"{category}\"]");
        assert!(refused(&declared).contains("names another part"), "{category:?}");
    }
}

#[test]
fn items_that_the_mode_cannot_judge_are_refused_with_their_line() {
    let error = |suite: Box<dyn Suite>, line: &str| suite.read(line.as_bytes()).unwrap_err().to_string();
    let two = r#"{"id": 1, "turns": ["a", "b"], "reference": ["r", "s"]}"#;
    assert!(error(of_mode("pointwise_ref", ""), two).contains("use pointwise_turn for dialogues"));
    assert!(
        error(of_mode("pairwise_baseline", ""), r#"{"id": 1, "turns": ["a", "b", "c"]}"#).contains("two turns at most")
    );
    let golden = of_mode("pointwise_turn", "context = \"golden\"");
    assert!(error(golden, r#"{"id": 1, "turns": ["a", "b"], "reference": "r"}"#).contains("every turn"));
    assert!(
        error(of_mode("multiple_choice", ""), r#"{"id": 1, "question": "a"}"#).contains("\"options\" and \"answer\"")
    );
    assert!(
        error(house_rules(), r#"{"id": 1, "category": "x", "question": "a"}"#)
            .contains("the category \"x\" is unknown: expected one of facts, tone")
    );
    assert!(error(house_rules(), r#"{"id": 1, "categroy": "facts"}"#).contains("unknown field `categroy`"));
}
