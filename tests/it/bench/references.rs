//! Judging beside models' own answers: URS's cross validation and its rating bias, computed a second time by the test.

use serde_json::{Value, json};

use super::{Field, answer, number, question, quoted, reply};

const JUDGES: [&str; 2] = ["judge", "strict"];
const MODELS: [&str; 2] = ["one", "two"];
const CASES: usize = 6;
/// The case to which the second model has nothing to say.
const SILENT: usize = 3;

fn case(number: usize) -> String {
    format!("Case {number} with {{braces}}")
}

/// What a model says to a question in a round; it says something else in each.
fn answer_of(model: &str, round: usize, asked: &str) -> Option<String> {
    let silent = model == "two" && asked == case(SILENT);
    (!silent).then(|| answer(&format!("{model} in round {round}"), asked))
}

/// What a judge gives to an answer beside a reference: both of them count.
fn given(judge: &str, reference: &str, answer: &str) -> u64 {
    1 + number(&format!("{judge} {} {}", quoted(reference), quoted(answer))) % 10
}

/// Two models in two rounds, a third that never answers, and two judges.
async fn field() -> Field {
    let field = Field::empty(&["one", "two", "three", "strict"]).await;
    for model in MODELS {
        field.respond(model, move |request, times| {
            reply(&answer_of(model, times, question(request)).unwrap_or_default())
        });
    }
    for judge in JUDGES {
        field.respond(judge, move |request, _| {
            let prompt = question(request);
            // The reference stands before the answer.
            let score = given(judge, prompt.split_inclusive('»').next().unwrap(), prompt);
            reply(&format!("{{'User Satisfaction': {score}, 'Final Score': {score}}}"))
        });
    }
    let rows = (0..CASES).map(|number| format!("{},the file's own,Leisure,EN\n", case(number)));
    field.write("u.csv", format!("question,reference_ans,user_intent,language\n{}", rows.collect::<String>()));
    field.done(&["import", "suite", "urs", "u.csv"]).await;
    field.done(&["bench", "answer", "urs", "--models", "one,two"]).await;
    field
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// What a judge gives to a model beside a generator's first answers: the generator's own are its second.
fn beside(judge: &str, generator: &str, model: &str) -> f64 {
    let round = if model == generator { 2 } else { 1 };
    let score = |number| {
        let (reference, answer) = (answer_of(generator, 1, &case(number))?, answer_of(model, round, &case(number))?);
        Some(f64::from(u32::try_from(given(judge, &reference, &answer)).unwrap()))
    };
    mean((0..CASES).filter_map(score))
}

fn rows<'r>(report: &'r Value, key: &str) -> Vec<&'r Value> {
    let analyses = report["analyses"].as_array().unwrap();
    let found = analyses.iter().find(|analysis| analysis["key"] == key);
    found.map(|analysis| analysis["rows"].as_array().unwrap().iter().collect()).unwrap_or_default()
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found}, not {expected}");
}

impl Field {
    async fn report(&self, arguments: &[&str]) -> Value {
        self.done(&[&["bench", "report", "urs", "--out", "r.json", "--force"], arguments].concat()).await;
        serde_json::from_str(&std::fs::read_to_string(self.path().join("r.json")).unwrap()).unwrap()
    }

    async fn judge(&self, generator: &str, arguments: &[&str]) {
        let judge = ["bench", "judge", "urs", "--judge", "judge,strict", "--references", generator];
        self.done(&[&judge, arguments].concat()).await;
    }
}

#[actix_web::test]
async fn judges_beside_models_answers_make_a_grid_and_a_rating_bias() {
    let field = field().await;
    field.done(&["bench", "answer", "urs", "--models", "one,two", "--round", "2"]).await;
    field.done(&["bench", "judge", "urs", "--judge", "judge,strict"]).await;
    assert_eq!(rows(&field.report(&[]).await, "rating-bias"), Vec::<&Value>::new(), "nobody judged beside answers yet");
    for generator in MODELS {
        field.judge(generator, &[]).await;
        field.judge(generator, &["--round", "2", "--models", generator]).await;
    }
    for arguments in [&[][..], &["--references", "two"]] {
        let report = field.report(arguments).await;
        let (grid, biases) = (rows(&report, "cross-validation"), rows(&report, "rating-bias"));
        for (at, judge) in JUDGES.into_iter().enumerate() {
            assert_eq!((&grid[at][0], &biases[at][0], &biases[at][1]), (&json!(judge), &json!(judge), &json!(2)));
            for (column, generator) in (1..).zip(MODELS) {
                near(&grid[at][column], mean(MODELS.map(|model| beside(judge, generator, model))));
            }
            near(&biases[at][2], mean(MODELS.map(|model| beside(judge, model, model))) - 8.0);
        }
        assert_eq!(rows(&report, "cross-validation-models").len(), 8);
    }
    the_variant_stands_for_itself(&field).await;
    field.done(&["bench", "report", "urs", "--out", "r.html"]).await;
    let page = std::fs::read_to_string(field.path().join("r.html")).unwrap();
    let title = "Scores by source of the references";
    assert!(page.matches(title).count() > 2 && page.contains("Rating bias"), "the table and the chart are shown");
}

/// Scores beside a model's answers are never those beside the data file's, and what has no reference is missing.
async fn the_variant_stands_for_itself(field: &Field) {
    let report = ["bench", "report", "urs", "--judge", "strict", "--models", "one", "--format", "json"];
    for (arguments, variant, judged) in [(&[][..], "", 6), (&["--references", "two"], "references=two", 5)] {
        let found: Value = serde_json::from_str(&field.done(&[&report, arguments].concat()).await).unwrap();
        assert_eq!(
            (&found[0]["variant"], &found[0]["judged"], &found[0]["total"]),
            (&json!(variant), &json!(judged), &json!(6))
        );
        let expected = match variant {
            "" => mean((0..CASES).map(|number| {
                let answer = answer_of("one", 1, &case(number)).unwrap();
                f64::from(u32::try_from(given("strict", &answer, &answer)).unwrap())
            })),
            _ => beside("strict", "two", "one"),
        };
        near(&found[0]["score"], expected);
    }
    let requests = field.requests("strict");
    field.judge("two", &[]).await;
    assert_eq!(field.requests("strict"), requests, "what is judged is not asked again");
}

#[actix_web::test]
async fn references_that_cannot_be_had_are_refused() {
    let field = field().await;
    let judge = ["bench", "judge", "urs", "--judge", "judge", "--references"];
    let nobody = field.refused(&[&judge[..], &["nobody"]].concat()).await;
    assert!(nobody.contains("there is no model \"nobody\": the settings have one, two"), "{nobody}");
    for command in [&judge[..], &["bench", "report", "urs", "--references"]] {
        let silent = field.refused(&[command, &["three"]].concat()).await;
        assert!(silent.contains("model three has no answers to suite urs"), "{silent}");
    }
    let both = field.refused(&["bench", "run", "urs", "--judge", "judge", "--references", "one"]).await;
    assert!(both.contains("langya bench judge"), "{both}");
    let choice =
        json!({"id": 1, "capability": "计算", "question": "?", "options": ["a", "b", "c", "d"], "answer": "A"});
    field.write("c.jsonl", format!("{choice}\n"));
    field.done(&["import", "suite", "superclue-close", "c.jsonl"]).await;
    let without = field.refused(&["bench", "judge", "superclue-close", "--references", "one"]).await;
    assert!(without.contains("suite superclue-close judges without references"), "{without}");
    assert_eq!(field.requests("judge"), 0);
}
