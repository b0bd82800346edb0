//! MT-Bench-101 from end to end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Field, answer, question, reply, score};

const TASKS: [(&str, bool); 13] = [
    ("GR", false),
    ("IC", false),
    ("AR", true),
    ("FR", true),
    ("MR", false),
    ("CC", false),
    ("TS", false),
    ("CR", true),
    ("SA", true),
    ("SI", false),
    ("CM", true),
    ("PI", false),
    ("SC", true),
];

/// A dialogue of the data file.
#[derive(Debug, Clone)]
pub(super) struct Dialogue {
    pub(super) id: usize,
    pub(super) task: &'static str,
    skips_first: bool,
    questions: Vec<String>,
}

impl Dialogue {
    /// The questions that are judged.
    pub(super) fn judged(&self) -> &[String] {
        &self.questions[usize::from(self.skips_first)..]
    }

    fn line(&self) -> Value {
        let turn = |question: &String| json!({"user": question, "bot": format!("golden {{reply}} to {question}")});
        json!({"task": self.task, "id": self.id, "history": self.questions.iter().map(turn).collect::<Vec<_>>()})
    }
}

/// Two dialogues a task, of two to four turns, with braces in their texts.
pub(super) fn dialogues() -> Vec<Dialogue> {
    let dialogue = |(at, (task, skips_first)): (usize, &(&'static str, bool))| {
        [0, 1].map(|second| Dialogue {
            id: 2 * at + second + 1,
            task,
            skips_first: *skips_first,
            questions: (1..=2 + (at + second) % 3)
                .map(|turn| format!("{task} {second}: turn {turn} {{question}} {{?"))
                .collect(),
        })
    };
    TASKS.iter().enumerate().flat_map(dialogue).collect()
}

/// The data file.
pub(super) fn data(dialogues: &[Dialogue]) -> String {
    dialogues.iter().map(|dialogue| format!("{}\r\n", dialogue.line())).collect()
}

/// The scores as the paper works them out: the lowest turn of a dialogue, the mean over a task, the mean over tasks. A
/// dialogue with a turn that could not be judged is left out.
pub(super) fn expected(
    dialogues: &[Dialogue],
    model: &str,
    judged: impl Fn(&str) -> Option<u64>,
) -> BTreeMap<String, Option<f64>> {
    let mut by_task: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for dialogue in dialogues {
        let scores: Option<Vec<u64>> =
            dialogue.judged().iter().map(|question| judged(&answer(model, question))).collect();
        let lowest = scores.and_then(|scores| scores.into_iter().min());
        by_task.entry(dialogue.task).or_default().extend(lowest.map(|score| f64::from(u8::try_from(score).unwrap())));
    }
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.iter().map(|_| 1.0).sum::<f64>())
    };
    let tasks: BTreeMap<String, Option<f64>> =
        by_task.iter().map(|(task, scores)| ((*task).to_owned(), mean(scores))).collect();
    let all: Option<Vec<f64>> = tasks.values().copied().collect();
    tasks.into_iter().chain([("overall".to_owned(), all.and_then(|all| mean(&all)))]).collect()
}

/// Whether the report says what was worked out, for the whole and each task.
#[track_caller]
pub(super) fn compare(
    scores: &BTreeMap<(String, String), Option<f64>>,
    model: &str,
    expected: &BTreeMap<String, Option<f64>>,
) {
    for (part, expected) in expected {
        let found = scores.get(&(model.to_owned(), part.clone())).unwrap_or_else(|| panic!("no {part} of {model}"));
        let same = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(same, "{part} of {model}: {found:?}, not {expected:?}");
    }
}

#[actix_web::test]
async fn a_run_gives_the_scores_that_the_paper_would() {
    let field = Field::new(&["one", "two"]).await;
    let mut dialogues = dialogues();
    // The same dialogue under another id, as in the official file.
    let twin = Dialogue { id: 99, ..dialogues[0].clone() };
    dialogues.push(twin);
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let plan = field.done(&["bench", "run", "mtbench101", "--judge", "judge", "--dry-run", "--format", "json"]).await;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(field.upstream.received().len(), 0, "a dry run asks nobody");
    let judged: usize = dialogues.iter().map(|dialogue| dialogue.judged().len()).sum();
    let calls: Vec<u64> = plan.as_array().unwrap().iter().map(|row| row["calls"].as_u64().unwrap()).collect();
    let turns = judged as u64;
    assert_eq!(calls, [turns, turns, 2 * turns, 4 * turns], "one, two, the judge, and all of it");
    assert!(plan[3]["cost"].as_f64().unwrap() > 0.0);

    field.done(&["bench", "run", "mtbench101", "--judge", "judge"]).await;
    let scores = field.scores("mtbench101").await;
    for model in ["one", "two"] {
        compare(&scores, model, &expected(&dialogues, model, |answer| Some(score(answer))));
        assert_eq!(field.requests(model), judged, "every turn of every dialogue once");
    }
    let twins = dialogues[0].judged().len();
    assert_eq!(field.requests("judge"), 2 * (judged - twins), "the same prompt is answered from what is kept");
    assert_eq!(field.repeated("judge"), 0);
    golden_context_and_temperatures_were_sent(&field, &dialogues);
    let again = field.done(&["bench", "run", "mtbench101", "--judge", "judge"]).await;
    assert_eq!(field.requests("judge"), 2 * (judged - twins), "nothing is asked again: {again}");
    exports_hold_the_same(&field, &scores).await;
    item_scores_are_read_by_agree(&field).await;
}

/// The official prompt's form: golden turns, then the question; temperature 0 for models and the judge.
fn golden_context_and_temperatures_were_sent(field: &Field, dialogues: &[Dialogue]) {
    let last = dialogues[1].questions.last().unwrap();
    let received = field.upstream.received();
    let request = received.iter().find(|request| request.body["model"] == "one" && question(request) == last).unwrap();
    let messages = request.body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2 * dialogues[1].questions.len() - 1);
    assert_eq!(messages[1]["content"], format!("golden {{reply}} to {}", dialogues[1].questions[0]));
    assert!(received.iter().all(|request| request.body["temperature"] == 0.0), "as the paper samples");
    assert!(received.iter().all(|request| request.body["stream_options"]["include_usage"] == true));
}

/// The scores of single items are read by `langya agree`, which finds each judge as far from itself as it is.
async fn item_scores_are_read_by_agree(field: &Field) {
    field.done(&["export", "item-scores", "--suite", "mtbench101", "--format", "csv", "--out", "items.csv"]).await;
    let text = std::fs::read_to_string(field.path().join("items.csv")).unwrap();
    assert!(text.starts_with("suite,suite_version,variant,sample,item,model,judge,baseline,score\n"), "{text}");
    let agree = ["agree", "--votes", "items.csv", "--verdicts", "items.csv", "--format", "json"];
    let found: Value = serde_json::from_str(&field.done(&agree).await).unwrap();
    assert_eq!(found["answers"].as_u64().unwrap(), text.lines().count() as u64 - 1, "one row an answer");
    assert_eq!(found["calibration"]["raw"]["mean_absolute_error"]["value"], json!(0.0));
}

async fn exports_hold_the_same(field: &Field, scores: &BTreeMap<(String, String), Option<f64>>) {
    for format in ["jsonl", "csv", "parquet"] {
        field
            .done(&["export", "scores", "--suite", "mtbench101", "--format", format, "--out", &format!("s.{format}")])
            .await;
    }
    let lines = std::fs::read_to_string(field.path().join("s.jsonl")).unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), scores.len());
    for row in &rows {
        let key = (row["model"].as_str().unwrap().to_owned(), row["part"].as_str().unwrap().to_owned());
        assert_eq!(row["score"].as_f64(), scores[&key]);
    }
    let csv = std::fs::read_to_string(field.path().join("s.csv")).unwrap();
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(std::fs::metadata(field.path().join("s.parquet")).unwrap().len() > 100);
    let table = field.done(&["bench", "report", "mtbench101"]).await;
    assert!(table.contains("OVERALL") && table.lines().count() == 3, "{table}");
    let list = field.done(&["bench", "list", "--format", "json"]).await;
    let list: Value = serde_json::from_str(&list).unwrap();
    let suite = list.as_array().unwrap().iter().find(|row| row["suite"] == "mtbench101").unwrap();
    assert_eq!(
        (&suite["models"], &suite["judges"], &suite["source"]),
        (&json!(2), &json!("judge"), &json!("mt.jsonl"))
    );
}

#[actix_web::test]
async fn a_panel_is_each_judge_alone_and_their_mean() {
    let field = Field::new(&["one", "two"]).await;
    // Another judge, which is evaluated too: it finds everything worth 5.
    field.respond("two", |request, _| match question(request).contains("***") {
        true => reply("Rating: [[5]]"),
        false => reply(&answer("two", question(request))),
    });
    let dialogues = dialogues();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field.done(&["bench", "answer", "mtbench101", "--models", "one,two"]).await;
    let judged = field.run(&["bench", "judge", "mtbench101", "--judge", "judge,two"]).await;
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    assert!(judged.stderr.contains("judge two is evaluated too"), "{}", judged.stderr);
    let rows = field.done(&["bench", "report", "mtbench101", "--format", "json"]).await;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let overall = |judge: &str| {
        let mut rows = rows.as_array().unwrap().iter();
        let row = rows.find(|row| row["judge"] == judge && row["model"] == "one" && row["part"] == "overall").unwrap();
        (row["score"].as_f64().unwrap(), row["judge_is_evaluated"].as_bool().unwrap())
    };
    let alone = expected(&dialogues, "one", |answer| Some(score(answer)))["overall"].unwrap();
    assert!((overall("judge").0 - alone).abs() < 1e-9 && !overall("judge").1);
    assert!((overall("two").0 - 5.0).abs() < 1e-9 && overall("two").1);
    assert!((overall("judge+two").0 - f64::midpoint(alone, 5.0)).abs() < 1e-9 && overall("judge+two").1);
}
