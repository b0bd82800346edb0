//! The other suites from end to end, with faults that pass, and their scores computed a second time by the test.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::faults::passing_fault;
use super::{Field, answer, number, question, quoted, reply, score};
use crate::support::upstream::Received;

/// Parts of a suite with their scores.
type Scores = BTreeMap<String, f64>;

/// A field whose models answer and whose judge says this, each of them with faults that pass.
async fn field(suite: &str, file: &str, data: &str, judge: fn(&str) -> String) -> Field {
    let field = Field::with_judge(&["one", "two", "base"], move |request, times| {
        let asked = question(request);
        passing_fault(asked, times).unwrap_or_else(|| reply(&judge(asked)))
    });
    let field = field.await.with_short_timeouts();
    for model in ["one", "two", "base"] {
        field.respond(model, move |request, times| {
            let asked = question(request);
            passing_fault(asked, times).unwrap_or_else(|| reply(&answer(model, asked)))
        });
    }
    field.write(file, data);
    field.done(&["import", "suite", suite, file]).await;
    field
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn real(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

/// Whether the report says what was worked out.
async fn check(field: &Field, suite: &str, expected: impl Fn(&str) -> Scores) {
    let scores = field.scores(suite).await;
    for model in ["one", "two"] {
        for (part, expected) in expected(model) {
            let found = scores.get(&(model.to_owned(), part.clone())).copied().flatten();
            let found = found.unwrap_or_else(|| panic!("{part} of {model} has no score: {scores:?}"));
            assert!((found - expected).abs() < 1e-9, "{part} of {model}: {found}, not {expected}");
        }
    }
}

/// The scores as a dictionary, in one of the forms in which judges write them.
fn dictionary(prompt: &str, whole: &str, first: &str) -> String {
    let overall = score(prompt);
    let one = 1 + (overall + 3) % 10;
    match number(quoted(prompt)) % 5 {
        0 => format!("分析[1]……\n{{'{first}': {one}, '{whole}': {overall}}}"),
        1 => format!("{{“{first}”：{one}，“{whole}”：{overall}}}"),
        2 => format!("例如{{'{first}': 1, '{whole}': 1}}，所以{{'{first}': {one}, '{whole}': {overall}}}"),
        3 => format!("{{\n \"{first}\" : {one},\n \"{whole}\" : {overall}\n}}"),
        _ => format!("{{‘{first}’: {one}, ‘{whole}’: {overall}}} 完毕"),
    }
}

const ALIGNBENCH: [(&str, &str, bool); 8] = [
    ("数学计算", "初等数学", true),
    ("逻辑推理", "推理", true),
    ("基本任务", "常识知识", false),
    ("中文理解", "阅读理解", false),
    ("综合问答", "观点表达", false),
    ("文本写作", "创意文体写作", false),
    ("角色扮演", "现实名人类", false),
    ("专业能力", "物理", false),
];

#[actix_web::test]
async fn alignbench_is_the_mean_of_reasoning_and_language() {
    let question_of = |category: &str, number: usize| format!("{category}的第{number}题{{question}}？");
    let line = |(at, &(category, subcategory, _)): (usize, &(&'static str, &'static str, bool))| {
        (0..=at % 3).map(move |number| {
            let id = 10 * at + number;
            let line = json!({"question_id": id, "category": category, "subcategory": subcategory,
                "question": question_of(category, number), "reference": "参考{answer}", "evidences": null});
            format!("{line}\n")
        })
    };
    let data: String = ALIGNBENCH.iter().enumerate().flat_map(line).collect();
    let field = field("alignbench", "a.jsonl", &data, |prompt| dictionary(prompt, "综合得分", "事实正确性")).await;
    field.done(&["bench", "run", "alignbench", "--models", "one,two", "--judge", "judge"]).await;
    check(&field, "alignbench", |model| {
        let overall = |category: &str, number: usize| real(score(&answer(model, &question_of(category, number))));
        let categories: Vec<(&str, bool, f64)> = ALIGNBENCH
            .iter()
            .enumerate()
            .map(|(at, (category, _, reasoning))| {
                (*category, *reasoning, mean((0..=at % 3).map(|number| overall(category, number))))
            })
            .collect();
        let group = |wanted| {
            mean(categories.iter().filter(|(_, reasoning, _)| *reasoning == wanted).map(|(_, _, score)| *score))
        };
        let mut scores: Scores =
            categories.iter().map(|(category, _, score)| ((*category).to_owned(), *score)).collect();
        scores.extend([("reasoning".to_owned(), group(true)), ("language".to_owned(), group(false))]);
        scores.insert("overall".to_owned(), f64::midpoint(group(true), group(false)));
        let all = ALIGNBENCH
            .iter()
            .enumerate()
            .flat_map(|(at, (category, _, _))| (0..=at % 3).map(move |number| (*category, number)));
        let first =
            all.map(|(category, number)| real(1 + (score(&answer(model, &question_of(category, number))) + 3) % 10));
        scores.insert("dimension:事实正确性".to_owned(), mean(first));
        scores
    })
    .await;
    let received = field.upstream.received();
    let temperature = |category: &str| {
        let asked = |request: &&Received| request.body["model"] == "one" && question(request).starts_with(category);
        received.iter().find(asked).unwrap().body["temperature"].clone()
    };
    assert_eq!((temperature("数学计算"), temperature("文本写作")), (json!(0.1), json!(0.7)));
    answers_are_shared_by_the_ways_of_judging(&field).await;
}

/// The ablations judge the same answers by another prompt, and are kept apart.
async fn answers_are_shared_by_the_ways_of_judging(field: &Field) {
    let before = field.requests("one");
    field.respond("judge", |_, _| reply("评级：[[4]]"));
    field
        .done(&["bench", "run", "alignbench", "--models", "one,two", "--judge", "judge", "--ablation", "general"])
        .await;
    assert_eq!(field.requests("one"), before, "no answer is asked for again");
    let rows = field.done(&["bench", "report", "alignbench", "--ablation", "general", "--format", "json"]).await;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(
        (&rows[0]["part"], &rows[0]["score"], &rows[0]["variant"]),
        (&json!("overall"), &json!(4.0), &json!("general"))
    );
}

const URS: [(&str, &str); 7] = [
    ("Factual_QA", "Factual_QA"),
    ("Solve_Professional_Problem", "Solve_Professional_Problem"),
    ("API", "Solve_Professional_Problem"),
    ("Text_Assistant", "Text_Assistant"),
    ("Ask_for_Advice", "Ask_for_Advice"),
    ("Seek_Creativity", "Seek_Creativity"),
    ("Leisure", "Leisure"),
];

#[actix_web::test]
async fn urs_is_the_mean_over_cases_and_asks_the_judge_in_the_language_of_the_question() {
    let cases: Vec<(usize, &str, String)> = (0..21)
        .map(|number| {
            let language = if number % 2 == 0 { "EN" } else { "CN" };
            (number % 7, language, format!("Case {number}, \"quoted\"\nand {{broken}}"))
        })
        .collect();
    let row = |(label, language, question): &(usize, &str, String)| {
        format!("\"{}\",\"reference\r\n{{answer}}\",{},{language}\r\n", question.replace('"', "\"\""), URS[*label].0)
    };
    let data =
        format!("\u{feff}question,reference_ans,user_intent,language\r\n{}", cases.iter().map(row).collect::<String>());
    let field = field("urs", "u.csv", &data, |prompt| match prompt.contains("综合得分") {
        true => dictionary(prompt, "综合得分", "满足用户需求"),
        false => dictionary(prompt, "Final Score", "User Satisfaction"),
    })
    .await;
    field.done(&["bench", "run", "urs", "--models", "one,two", "--judge", "judge"]).await;
    check(&field, "urs", |model| {
        let of = |takes: &dyn Fn(&(usize, &str, String)) -> bool| {
            mean(cases.iter().filter(|case| takes(case)).map(|(_, _, question)| real(score(&answer(model, question)))))
        };
        let mut scores = Scores::from([
            ("overall".to_owned(), of(&|_| true)),
            ("language:en".to_owned(), of(&|(_, language, _)| *language == "EN")),
            ("objective".to_owned(), of(&|(label, ..)| *label < 4)),
            ("subjective".to_owned(), of(&|(label, ..)| *label >= 4)),
            ("API".to_owned(), of(&|(label, ..)| *label == 2)),
        ]);
        scores
            .extend(URS.iter().map(|(_, intent)| ((*intent).to_owned(), of(&|(label, ..)| URS[*label].1 == *intent))));
        let satisfied = |(_, _, question): &(usize, &str, String)| real(1 + (score(&answer(model, question)) + 3) % 10);
        scores.insert("dimension:User Satisfaction".to_owned(), mean(cases.iter().map(satisfied)));
        scores
    })
    .await;
    let temperatures =
        field.upstream.received().iter().filter(|request| !request.body["temperature"].is_null()).count();
    assert_eq!(temperatures, 0, "the suite leaves sampling to the models");
}

const CAPABILITIES: [&str; 3] = ["闲聊", "计算", "安全"];

/// The judge compares the numbers in the last answers of both sides; a third of the time it prefers the side that comes first.
fn preferred(prompt: &str) -> String {
    let said: Vec<&str> = prompt.split('«').skip(1).filter_map(|rest| Some(rest.split_once('»')?.0)).collect();
    let (a, b) = (said[said.len() / 2 - 1], said[said.len() - 1]);
    match verdict(a, b) {
        Verdict::First => "[[A]]".to_owned(),
        Verdict::Better(true) => "not [[B]] but [[A]]".to_owned(),
        Verdict::Better(false) => "我认为 [[B]]".to_owned(),
        Verdict::Alike => "[[C]]".to_owned(),
    }
}

enum Verdict {
    First,
    Better(bool),
    Alike,
}

/// The same for both orders but for `First`.
fn verdict(a: &str, b: &str) -> Verdict {
    let (of_a, of_b) = (number(a) % 100, number(b) % 100);
    match (of_a + of_b) % 6 {
        0 => Verdict::First,
        1 => Verdict::Alike,
        _ => Verdict::Better(of_a > of_b),
    }
}

#[actix_web::test]
async fn superclue_open_counts_wins_and_ties_of_two_games_against_the_baseline() {
    let turn = |id: usize, turn: usize| format!("{} 题{id} 轮{turn} {{x}}", CAPABILITIES[id % 3]);
    let line = |id: usize| {
        let line = json!({"id": id, "capability": CAPABILITIES[id % 3], "turns": [turn(id, 1), turn(id, 2)], "reference": ["四", "五"]});
        format!("{line}\n")
    };
    let data: String = (0..30).map(line).collect();
    let field = field("superclue-open", "o.jsonl", &data, preferred).await;
    let run = ["bench", "run", "superclue-open", "--models", "one,two", "--judge", "judge", "--baseline", "base"];
    field.done(&run).await;
    check(&field, "superclue-open", |model| {
        let kept = |id: usize, at: usize| {
            let asked = turn(id, at);
            let texts = [answer(model, &asked), answer("base", &asked)];
            let [own, base] = [quoted(&texts[0]), quoted(&texts[1])];
            !matches!(verdict(own, base), Verdict::Better(false))
        };
        let share = |takes: &dyn Fn(usize, usize) -> bool| {
            let units = (0..30).flat_map(|id| [(id, 1), (id, 2)]).filter(|(id, at)| takes(*id, *at));
            mean(units.map(|(id, at)| if kept(id, at) { 100.0 } else { 0.0 }))
        };
        let mut scores = Scores::from([
            ("overall".to_owned(), share(&|_, _| true)),
            ("turn:1".to_owned(), share(&|_, at| at == 1)),
            ("turn:2".to_owned(), share(&|_, at| at == 2)),
        ]);
        scores.extend((0..3).map(|own| (CAPABILITIES[own].to_owned(), share(&|id, _| id % 3 == own))));
        scores
    })
    .await;
    let table = field.done(&["bench", "report", "superclue-open"]).await;
    assert!(table.contains("base   (baseline)"), "the baseline is not evaluated: {table}");
    let itself = ["bench", "run", "superclue-open", "--models", "one,base", "--judge", "judge", "--baseline", "base"];
    assert!(field.refused(&itself).await.contains("cannot be compared with itself"));
    let nobody = ["bench", "run", "superclue-open", "--models", "one", "--judge", "judge"];
    assert!(field.refused(&nobody).await.contains("--baseline"));
    follow_ups_come_after_the_models_own_answers(&field, &turn(4, 1), &turn(4, 2));
}

fn follow_ups_come_after_the_models_own_answers(field: &Field, first: &str, second: &str) {
    let received = field.upstream.received();
    let asked = |request: &&Received| request.body["model"] == "one" && question(request) == second;
    let messages = received.iter().find(asked).unwrap().body["messages"].clone();
    let said: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, [first, answer("one", first).as_str(), second]);
}

#[actix_web::test]
async fn superclue_close_is_read_without_a_judge() {
    const LETTERS: [&str; 4] = ["A", "B", "C", "D"];
    let stem = |id: usize| format!("第{id}题{{x}}");
    let line = |id: usize| {
        let line = json!({"id": id, "capability": CAPABILITIES[id % 3], "question": stem(id),
            "options": ["甲", "乙", "丙", "丁"], "answer": LETTERS[id % 4]});
        format!("{line}\n")
    };
    let data: String = (0..40).map(line).collect();
    let field = field("superclue-close", "c.jsonl", &data, |_| unreachable!()).await;
    let choice = |model: &str, prompt: &str| usize::try_from(number(&format!("{model} {prompt}")) % 5).unwrap();
    for model in ["one", "two"] {
        field.respond(model, move |request, times| {
            let asked = question(request);
            let said = || match choice(model, asked) {
                4 => reply("A和B都对"),
                letter => reply(&format!("答案：{}", LETTERS[letter])),
            };
            passing_fault(asked, times).unwrap_or_else(said)
        });
    }
    field.done(&["bench", "run", "superclue-close", "--models", "one,two"]).await;
    let asked: BTreeMap<String, Vec<String>> = ["one", "two"]
        .map(|model| {
            let asked = field.asked.lock().unwrap();
            (
                model.to_owned(),
                asked.keys().filter(|(name, _)| name == model).map(|(_, prompt)| prompt.clone()).collect(),
            )
        })
        .into();
    check(&field, "superclue-close", |model| {
        let right = |id: usize| {
            let prompt = asked[model].iter().find(|prompt| prompt.contains(&stem(id))).unwrap();
            if choice(model, prompt) == id % 4 { 100.0 } else { 0.0 }
        };
        Scores::from([
            ("overall".to_owned(), mean((0..40).map(right))),
            ("计算".to_owned(), mean((0..40).filter(|id| id % 3 == 1).map(right))),
        ])
    })
    .await;
    let refused = field.refused(&["bench", "run", "superclue-close", "--models", "one", "--judge", "judge"]).await;
    assert!(refused.contains("scored without a judge"), "{refused}");
    let table = field.done(&["bench", "report", "superclue-close"]).await;
    assert!(!table.contains("evaluated too") && table.contains("CALCULATION"), "nobody judges: {table}");
    let report = field.done(&["bench", "report", "superclue-close", "--format", "markdown"]).await;
    assert!(!report.contains("judges and is judged"), "{report}");
    let rows = field.done(&["bench", "report", "superclue-close", "--format", "json"]).await;
    assert!(!rows.contains("\"judge_is_evaluated\": true"), "{rows}");
    assert_eq!(field.requests("judge"), 0);
}

#[actix_web::test]
async fn a_suite_of_ones_own_needs_no_code() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/suites");
    let file = |name: &str| folder.join(name).display().to_string();
    let field = Field::with_judge(&["one", "two"], |request, _| {
        reply(&dictionary(question(request), "Final Score", "Accuracy"))
    })
    .await;
    let (items, toml) = (file("house_rules.jsonl"), file("house_rules.toml"));
    let refused = field.refused(&["import", "suite", "house-rules", &items]).await;
    assert!(refused.contains("\"house-rules\" is unknown"), "{refused}");
    let refused = field.refused(&["import", "suite", "other", &items, "--suite-file", &toml]).await;
    assert!(refused.contains("declares \"house-rules\", not \"other\""), "{refused}");
    field.done(&["import", "suite", "house-rules", &items, "--suite-file", &toml]).await;
    field.done(&["bench", "run", "house-rules", "--models", "one,two", "--judge", "judge"]).await;
    check(&field, "house-rules", |model| {
        let overall = |asked: &str| real(score(&answer(model, asked)));
        let facts = mean(["When do you open? {hours}", "Where are you?"].map(overall));
        let tone = overall("My parcel is lost!");
        Scores::from([
            ("facts".to_owned(), facts),
            ("tone".to_owned(), tone),
            ("overall".to_owned(), f64::midpoint(facts, tone)),
        ])
    })
    .await;
}
