//! Rubrics that are built in: asked by category, checked, stored, reported by dimension, and read as series.

use super::*;

const KEYS: &str = "task = \"score\"\njudgements_per_item = 2\nrubric = \"alignbench\"\nseed = 3\n";

/// Two items whose categories have other dimensions, answered by two models.
fn files(keys: &'static str, categories: [&str; 2]) -> CampaignText<'static> {
    let line = |(item, category): (usize, &&str), model: &str| {
        let text = format!("{model} says.");
        json!({"item": format!("q{item}"), "prompt": "Why?", "model": model, "answer": text, "category": category})
    };
    let lines = |place| ["good", "poor"].map(|model| format!("{}\n", line(place, model))).concat();
    CampaignText { keys, answers: categories.iter().enumerate().map(lines).collect(), gold: String::new() }
}

/// The ids of what is asked about an assignment.
fn asked(shown: &Value) -> Vec<&str> {
    shown["questions"].as_array().unwrap().iter().map(|question| question["id"].as_str().unwrap()).collect()
}

/// A score of the whole, and one less on every dimension; the poor model gets four points less.
fn rubric_judgement(shown: &Value) -> Value {
    let whole = if shown["a"] == "good says." { 9 } else { 5 };
    let answers: serde_json::Map<String, Value> =
        asked(shown).into_iter().map(|id| (id.to_owned(), json!(whole - 1))).collect();
    json!({"assignment": shown["assignment"], "score": whole, "answers": answers})
}

#[actix_web::test]
async fn each_answer_is_scored_on_the_dimensions_of_its_category_and_the_report_has_them() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&files(KEYS, ["专业能力", "Writing Ability"]), 4).await;
    let facts = ["factuality", "user-satisfaction", "completeness", "clarity"];
    let writing = ["factuality", "user-satisfaction", "logical-coherence", "creativity", "richness"];
    for token in &tokens {
        for _ in 0..2 {
            let shown = fixture.next(token).await;
            let of_item = if shown["item"] == "q0" { &facts[..] } else { &writing[..] };
            assert_eq!(asked(&shown), of_item, "{shown}");
            assert!(!shown.to_string().contains("categories"), "an annotator sees what is asked: {shown}");
            let full = rubric_judgement(&shown);
            let (mut less, mut more) = (full.clone(), full.clone());
            less["answers"].as_object_mut().unwrap().remove("factuality");
            more["answers"]["fairness"] = json!(3);
            for (wrong, words) in [(less, "\"factuality\" is missing"), (more, "no question \"fairness\" is asked")] {
                let (status, refused) = fixture.post(token, "judgements", wrong).await;
                let message = refused["message"].as_str().unwrap();
                assert!(status == StatusCode::BAD_REQUEST && message.contains(words), "{refused}");
            }
            let (status, answer) = fixture.post(token, "judgements", full).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
    }

    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!((&report["judgements"], &report["complete"]), (&json!(8), &json!(true)), "{report}");
    let questions = report["questions"].as_array().unwrap();
    let of = |id: &str| questions.iter().find(|question| question["question"] == id).unwrap();
    let means = |id: &str| -> Vec<(String, f64)> {
        let models = of(id)["models"].as_array().unwrap().iter();
        models.map(|model| (model["model"].as_str().unwrap().to_owned(), model["score"].as_f64().unwrap())).collect()
    };
    assert_eq!(means("factuality"), [("good".to_owned(), 8.0), ("poor".to_owned(), 4.0)]);
    let counts = ["factuality", "clarity", "richness", "fairness"].map(|id| &of(id)["judgements"]);
    assert_eq!(counts, [&json!(8), &json!(4), &json!(4), &json!(0)]);
    assert_eq!(of("clarity")["krippendorff"], 1.0, "both said the same of each answer");
    let table = fixture.campaign(&["report", "pilot"]).await.stdout;
    let row = table.lines().find(|line| line.starts_with("richness") && line.ends_with("poor"));
    assert!(row.is_some_and(|row| row.contains("4.00")), "{table}");
    let html = fixture.campaign(&["report", "pilot", "--format", "html", "--language", "zh"]).await.stdout;
    assert!(html.contains("评分维度") && html.contains("事实正确性") && !html.contains("Factuality"), "{html}");

    std::fs::write(fixture.folder.path().join("table.csv"), "model,worth\ngood,9\npoor,1\nother,2\n").unwrap();
    let series = ["correlate", "--table", "table.csv", "--x", "campaign:pilot:clarity", "--y", "worth"];
    let found = langya_beside(fixture.folder.path(), &[&series[..], &["--data-dir", "data"]].concat()).await;
    assert!(!found.stderr.contains("no question"), "a dimension is a series: {}", found.stderr);
    fixture.arena.end().await;
}

#[actix_web::test]
async fn a_rubric_or_category_that_there_is_not_makes_nothing_and_says_what_there_is() {
    let fixture = CampaignFixture::start().await;
    let refused = async |keys: &'static str, categories: [&str; 2]| {
        let run = fixture.create(&files(keys, categories)).await;
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        run.stderr
    };
    let unknown = refused("task = \"score\"\nrubric = \"helpful\"\n", ["专业能力"; 2]).await;
    assert!(unknown.contains("expected `alignbench` or `superclue`"), "{unknown}");
    let compared = refused("task = \"pairwise\"\nrubric = \"superclue\"\n", ["代码"; 2]).await;
    assert!(compared.contains("rubric: its dimensions are scored"), "{compared}");
    let category = refused(KEYS, ["专业能力", "cooking"]).await;
    assert!(
        category.contains("item \"q1\"")
            && category.contains("\"cooking\"")
            && category.contains("数学计算 (Mathematics)"),
        "{category}"
    );
    assert_eq!(fixture.json(&["list"]).await, json!([]));
    fixture.arena.end().await;
}

#[actix_web::test]
async fn the_page_asks_the_dimensions_in_the_language_of_the_reader() {
    let fixture = CampaignFixture::start().await;
    let keys = "task = \"score\"\nrubric = \"superclue\"\n";
    fixture.open(&files(keys, ["代码", "闲聊"]), 1).await;
    let page = async |language: &str| {
        get(&format!("{}/campaign/pilot?lang={language}", fixture.arena.url)).await.text().await.unwrap()
    };
    let (english, chinese) = (page("en").await, page("zh").await);
    for id in ["targeted", "accurate", "comprehensive"] {
        assert_eq!(english.matches(&format!("data-question=\"{id}\"")).count(), 1, "{id}: {english}");
    }
    assert_eq!(english.matches("type=\"radio\"").count(), 30);
    assert!(
        english.contains("Is the content true and the reasoning right?") && !english.contains("准确性"),
        "{english}"
    );
    assert!(
        chinese.contains("准确性") && chinese.contains("推理是否正确") && !chinese.contains("Accurate"),
        "{chinese}"
    );
    fixture.arena.end().await;
}
