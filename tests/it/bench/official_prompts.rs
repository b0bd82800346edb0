//! Prompts in the official form of AlignBench and URS, read from a file: what the judge is sent, and its replies in their official form.
//! The official texts are not ours to copy, so these are short ones with the same parts, placeholders and form of reply.

use serde_json::{Value, json};

use super::{Field, answer, question, reply};

/// As `judge.py` of AlignBench builds it, with the definitions of `config/multi-dimension.json` as named texts.
const ALIGNBENCH: &str = r#"
user = """
你是评价文本质量的助手。由于您评估的回答类型是{category}，因此你需要从下面的几个维度对回答进行评估:
{dimensions}
在你回答的末尾，按照以下字典格式（包括括号）返回你所有的打分结果：
{'维度一': 打分, '维度二': 打分, ..., '综合得分': 打分}，例如：{'事实正确性': 9, '满足用户需求': 6, ..., '综合得分': 7}。
用户的提问： {question}
[参考答案开始]
{reference}
[参考答案结束]
[助手的答案开始]
{answer}
[助手的答案结束]
"""
"事实正确性" = "信息是否准确"
"满足用户需求" = "是否满足需求"
"#;

/// As `evaluation.py` of URS builds it: one Chinese text, whose example names the criteria in English.
const URS: &str = "请你以公正的评判者的身份评估。由于您评估的回答类型是[{intent}]，因此你需要从下面的5个维度对回答进行评估:\n{criteria}\n\
    {’维度一’: 打分, ’维度二’: 打分, ..., ’综合得分’: 打分}，例如：{'Factuality': 6, 'User Satisfaction': 8..., 'Overall': 7}。\n\n\
    用户的提问：\n{question}\n\n[参考答案开始]\n{reference}\n[参考答案结束]\n\n[助手的答案开始]\n{answer}\n[助手的答案结束]\n";

/// As the paper of URS prints it in English (appendix C.2), beside a Chinese one.
const URS_IN_BOTH: &str = r#"
[variants.en]
user = """
The type of response you are evaluating is [{intent}]:
{criteria}
{'Dimension 1': score, 'Dimension 2': score, ..., 'Final Score': score}
User Question: {question}
[Start of Reference Answer] {reference} [End of reference answer]
[start of AI assistant's answer] {answer} [end]"""

[variants.zh]
user = "{intent} {criteria} {question} {reference} {answer}"
"#;

async fn field(suite: &str, file: &str, data: &str, judge: fn(&str) -> String) -> Field {
    let field = Field::with_judge(&["one"], move |request, _| reply(&judge(question(request)))).await;
    field.write(file, data);
    field.done(&["import", "suite", suite, file]).await;
    field
}

/// Runs the suite with a prompt file and more, and returns the report's scores by part.
async fn scores(field: &Field, suite: &str, more: &[&str]) -> std::collections::BTreeMap<String, f64> {
    let all = |command: &[&'static str]| -> Vec<String> {
        command
            .iter()
            .map(|word| (*word).to_owned())
            .chain([suite.to_owned()])
            .chain(more.iter().map(|word| (*word).to_owned()))
            .collect()
    };
    let (run, report) = (all(&["bench", "run"]), all(&["bench", "report"]));
    let run: Vec<&str> = run.iter().map(String::as_str).chain(["--models", "one", "--judge", "judge"]).collect();
    field.done(&run).await;
    let report: Vec<&str> = report.iter().map(String::as_str).chain(["--format", "json"]).collect();
    let rows: Value = serde_json::from_str(&field.done(&report).await).unwrap();
    let row = |row: &Value| Some((row["part"].as_str()?.to_owned(), row["score"].as_f64()?));
    rows.as_array().unwrap().iter().filter_map(row).collect()
}

/// What the judge was sent last.
fn sent(field: &Field, holds: &str) -> String {
    let received = field.upstream.received();
    let asked = received.iter().rev().filter(|request| request.body["model"] == "judge").map(question);
    asked.into_iter().find(|prompt| prompt.contains(holds)).unwrap().to_owned()
}

fn mean<const N: usize>(values: [f64; N]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(N).unwrap())
}

#[track_caller]
fn check(scores: &std::collections::BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (part, expected) in expected {
        let found = scores.get(*part).unwrap_or_else(|| panic!("{part} has no score: {scores:?}"));
        assert!((found - expected).abs() < 1e-9, "{part}: {found}, not {expected}");
    }
}

#[actix_web::test]
async fn a_prompt_in_the_official_form_of_alignbench_is_sent_and_its_replies_are_read() {
    let line = |id: usize, category: &str, subcategory: &str| {
        let item = json!({"question_id": id, "category": category, "subcategory": subcategory,
            "question": format!("第{id}题{{answer}}"), "reference": format!("参考{id}")});
        format!("{item}\n")
    };
    let data = line(1, "数学计算", "初等数学") + &line(2, "逻辑推理", "推理") + &line(3, "文本写作", "创意文体写作");
    // The paper prints curly quotes, the program straight ones.
    let field = field("alignbench", "a.jsonl", &data, |prompt| {
        let scores = match prompt {
            _ if prompt.contains("第1题") => {
                "{’事实正确性’: 2, ’满足用户需求’: 3, ’逻辑连贯性’: 6, ’完备性’: 4, ’综合得分’: 3}"
            }
            _ if prompt.contains("第2题") => {
                "{'事实正确性': 8, '满足用户需求': 7, '逻辑连贯性': 9, '完备性': 8, '综合得分': 8}"
            }
            _ => "{'事实正确性': 7, '满足用户需求': 6, '逻辑连贯性': 8, '创造性': 5, '丰富度': 4, '综合得分': 6}",
        };
        format!("1. 与参考答案相比……事实正确性：得分9分。\n综合以上各个维度的评价，答案的综合得分见下。\n\n{scores}")
    })
    .await;
    field.write("official.toml", ALIGNBENCH);
    let scores = scores(&field, "alignbench", &["--prompt", "official.toml"]).await;
    check(
        &scores,
        &[
            ("数学计算", 3.0),
            ("reasoning", mean([3.0, 8.0])),
            ("文本写作", 6.0),
            ("dimension:事实正确性", mean([2.0, 8.0, 7.0])),
            ("dimension:满足用户需求", mean([3.0, 7.0, 6.0])),
            ("dimension:逻辑连贯性", mean([6.0, 9.0, 8.0])),
            ("dimension:完备性", mean([4.0, 8.0])),
            ("dimension:创造性", 5.0),
            ("dimension:丰富度", 4.0),
        ],
    );
    let prompt = sent(&field, "第3题");
    let dimensions =
        "1. 事实正确性：信息是否准确\n2. 满足用户需求：是否满足需求\n3. 逻辑连贯性\n4. 创造性\n5. 丰富度\n";
    assert!(
        prompt
            .contains(&format!("您评估的回答类型是文本写作，因此你需要从下面的几个维度对回答进行评估:\n{dimensions}")),
        "{prompt}"
    );
    assert!(
        prompt.contains(
            "格式（包括括号）返回你所有的打分结果：\n{'维度一': 打分, '维度二': 打分, ..., '综合得分': 打分}"
        )
    );
    let own = answer("one", "第3题{answer}");
    assert!(prompt.ends_with(&format!(
        "用户的提问： 第3题{{answer}}\n[参考答案开始]\n参考3\n[参考答案结束]\n[助手的答案开始]\n{own}\n[助手的答案结束]\n"
    )));
    official_parser(&field).await;
}

/// `judge.py` reads only straight quotes: the first item fails there, and nobody is asked again.
async fn official_parser(field: &Field) {
    let before = field.requests("judge");
    let more = ["--prompt", "official.toml", "--compat", "alignbench.official_parser"];
    let scores = scores(field, "alignbench", &more).await;
    check(&scores, &[("逻辑推理", 8.0), ("文本写作", 6.0), ("dimension:事实正确性", mean([8.0, 7.0]))]);
    assert!(!scores.contains_key("数学计算"), "{scores:?}");
    assert!(field.requests("judge") - before <= 3, "only what cannot be read is asked again");
}

#[actix_web::test]
async fn a_prompt_in_the_official_form_of_urs_is_sent_and_its_replies_are_read() {
    let data = "question,reference_ans,user_intent,language\nHow many legs?,Eight.,Factual_QA,EN\n该去哪里？,去杭州。,Ask_for_Advice,CN\nCall it.,f(x),API,EN\n";
    let field = field("urs", "u.csv", data, |prompt| {
        let scores = match prompt {
            // As the example of the official prompt has it.
            _ if prompt.contains("How many legs?") => {
                "{'Factuality': 6, 'User Satisfaction': 8, 'Clarity': 7, 'Completeness': 5, 'Logical Coherence': 9, 'Overall': 7}"
            }
            _ if prompt.contains("该去哪里") => {
                "{’满足用户需求’: 5, ’事实正确性’: 6, ’公平与可负责程度’: 7, ’创造性’: 4, ’丰富度’: 8, ’综合得分’: 6}"
            }
            // With the placeholders of the form, in the order of the criteria.
            _ => "{’维度一’: 9, ’维度二’: 8, ’维度三’: 7, ’维度四’: 6, ’维度五’: 5, ’综合得分’: 8}",
        };
        format!("事实正确性(Factuality)……综合评价如下。\n{scores}")
    })
    .await;
    field.write("official.txt", URS);
    let by_form = [
        ("overall", mean([7.0, 6.0, 8.0])),
        ("Factual_QA", 7.0),
        ("Solve_Professional_Problem", 8.0),
        ("API", 8.0),
        ("Ask_for_Advice", 6.0),
        ("dimension:Factuality", mean([6.0, 6.0, 9.0])),
        ("dimension:User Satisfaction", mean([8.0, 5.0, 8.0])),
        ("dimension:Logical Coherence", mean([9.0, 6.0])),
        ("dimension:Completeness", mean([5.0, 5.0])),
        ("dimension:Fairness and Responsibility", 7.0),
    ];
    let more = ["--prompt", "official.txt", "--compat", "urs.chinese_prompt"];
    check(&scores(&field, "urs", &more).await, &by_form);
    let plain = field.run(&["bench", "report", "urs"]).await;
    assert!(plain.stdout.contains("no judgements yet"), "{}", plain.stdout);
    assert!(plain.stderr.contains("`langya bench report urs --prompt FILE_WITH_SHA256_"), "{}", plain.stderr);
    assert!(plain.stderr.contains(" --compat urs.chinese_prompt` shows them"), "{}", plain.stderr);
    let prompt = sent(&field, "How many legs?");
    assert!(prompt.contains("您评估的回答类型是[信息检索]"), "{prompt}");
    assert!(
        prompt.contains("进行评估:\n1. 事实正确性\n2. 满足用户需求\n3. 清晰度\n4. 完备性\n5. 逻辑连贯性\n"),
        "{prompt}"
    );
    assert!(
        prompt.contains("{’维度一’: 打分, ’维度二’: 打分, ..., ’综合得分’: 打分}，例如：{'Factuality': 6"),
        "{prompt}"
    );
    let own = answer("one", "How many legs?");
    assert!(
        prompt.ends_with(&format!(
            "[参考答案开始]\nEight.\n[参考答案结束]\n\n[助手的答案开始]\n{own}\n[助手的答案结束]\n"
        ))
    );
    field.write("both.toml", URS_IN_BOTH);
    check(&scores(&field, "urs", &["--prompt", "both.toml"]).await, &by_form);
    let english = sent(&field, "User Question: How many legs?");
    assert!(english.contains("[Factual QA]:\n1. Factuality\n2. User Satisfaction\n"), "{english}");
}
