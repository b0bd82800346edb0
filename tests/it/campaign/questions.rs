//! Questions beside the task, and preferences on a scale: sent, stored, reported, exported, and read as a series.

use super::*;

const ASKING: &str = r#"task = "pairwise"
judgements_per_item = 2
preference_scale = 5
seed = 7

[[questions]]
id = "clear"
text = "How clear is it?"
kind = "scale"
about = "answer"

[[questions]]
id = "fair"
text = "Is the question <b>fair</b>?"
kind = "choice"
options = ["yes", "no"]

[[questions]]
id = "why"
text = "Why?"
kind = "text"
"#;

/// What is said of an assignment: the model with the smaller name is better, and clearer.
fn answered_judgement(shown: &Value) -> Value {
    let worth = |side: &str| 5 - shown[side].as_str().unwrap()[1..2].parse::<i64>().unwrap();
    let (a, b) = (worth("a"), worth("b"));
    let answers = json!({"clear": {"a": a, "b": b}, "fair": "yes", "why": "<i>because</i>"});
    json!({"assignment": shown["assignment"], "preference": (b - a).signum() * 2, "answers": answers})
}

#[actix_web::test]
async fn answers_to_questions_are_kept_reported_exported_and_a_series() {
    let models = ["m1", "m2", "m3"];
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(ASKING, 4, &models), 6).await;
    let shown = fixture.next(&tokens[0]).await;
    let full = answered_judgement(&shown);
    for (key, value, words) in [
        ("preference", json!(3), "from -2"),
        ("answers", Value::Null, "\"clear\" is missing"),
        ("answers", json!({"clear": {"a": 1}, "fair": "yes"}), "for each of a, b"),
        ("answers", json!({"clear": {"a": 1, "b": 9}, "fair": "yes"}), "from 1 to 5"),
        ("answers", json!({"clear": {"a": 1, "b": 2}, "fair": "no", "else": 1}), "no question \"else\""),
    ] {
        let mut wrong = full.clone();
        wrong[key] = value;
        let (status, refused) = fixture.post(&tokens[0], "judgements", wrong).await;
        assert!(status == StatusCode::BAD_REQUEST && refused["message"].as_str().unwrap().contains(words), "{refused}");
    }
    for token in &tokens {
        loop {
            let shown = fixture.next(token).await;
            if shown["finished"] == true {
                break;
            }
            let (status, answer) = fixture.post(token, "judgements", answered_judgement(&shown)).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
    }

    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!((&report["judgements"], &report["models"][0]["model"]), (&json!(24), &json!("m1")), "{report}");
    let questions = report["questions"].as_array().unwrap();
    assert_eq!((&questions[0]["judgements"], &questions[1]["counts"][0]["counts"]), (&json!(24), &json!([24, 0])));
    let means: Vec<(&str, f64)> = questions[0]["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| (model["model"].as_str().unwrap(), model["score"].as_f64().unwrap()))
        .collect();
    assert_eq!(means, [("m1", 4.0), ("m2", 3.0), ("m3", 2.0)]);
    assert_eq!((&questions[0]["krippendorff"], &questions[2]["judgements"]), (&json!(1.0), &json!(24)));
    let html = fixture.campaign(&["report", "pilot", "--format", "html"]).await.stdout;
    assert!(
        html.contains("How clear is it?") && html.contains("&#60;b&#62;fair") && !html.contains("<b>fair"),
        "{html}"
    );

    let lines = fixture.exported().await;
    let line = &lines[0];
    let first = if line["model_a"].as_str() < line["model_b"].as_str() { ("model_a", -2) } else { ("model_b", 2) };
    assert_eq!((&line["winner"], &line["preference"]), (&json!(first.0), &json!(first.1)), "{line}");
    let answers: Value = serde_json::from_str(line["answers"].as_str().unwrap()).unwrap();
    assert_eq!((&answers["why"], &answers["fair"]), (&json!("<i>because</i>"), &json!("yes")));

    std::fs::write(fixture.folder.path().join("table.csv"), "model,worth\nm1,9\nm2,7\nm3,1\n").unwrap();
    let series = async |x: &str| {
        let series = ["correlate", "--table", "table.csv", "--x", x, "--y", "worth", "--format", "json"];
        langya_beside(fixture.folder.path(), &[&series[..], &["--data-dir", "data"]].concat()).await
    };
    let found = series("campaign:pilot:clear").await;
    let found: Value = serde_json::from_str(&found.stdout).unwrap_or_else(|_| panic!("{}", found.stderr));
    assert_eq!((&found["n"], &found["spearman"]["r"]), (&json!(3), &json!(1.0)));
    let refused = series("campaign:pilot:fair").await;
    assert!(refused.code == Some(2) && refused.stderr.contains("no question \"fair\" with kind"), "{}", refused.stderr);
    fixture.arena.end().await;
}

#[actix_web::test]
async fn the_page_asks_what_the_file_asks() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(ASKING, 2, &["m1", "m2"]), 1).await;
    let page = get(&format!("{}/campaign/pilot?invite={}", fixture.arena.url, tokens[0])).await.text().await.unwrap();
    assert_eq!(page.matches("data-preference=").count(), 5, "{page}");
    assert_eq!(page.matches("data-question=\"clear\"").count(), 2, "one for each answer");
    assert_eq!(page.matches("type=\"radio\"").count(), 12, "{page}");
    assert!(page.contains("&#60;b&#62;fair") && !page.contains("<b>fair") && page.contains("<textarea"), "{page}");
    fixture.arena.end().await;
}
