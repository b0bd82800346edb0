//! What differs between two answers, marked for the page.

use super::*;

fn text(keys: &'static str, models: &[(&str, &str)]) -> CampaignText<'static> {
    let line = |(model, answer): &(&str, &str)| {
        format!("{}\n", json!({"item": "q", "prompt": "**Why**?", "model": model, "answer": answer}))
    };
    CampaignText { keys, answers: models.iter().map(line).collect(), gold: String::new() }
}

#[actix_web::test]
async fn what_differs_between_two_answers_is_marked_and_nothing_else_changes() {
    let fixture = CampaignFixture::start().await;
    let said = [("secret-one", "It is **900** km. <b>So</b>."), ("secret-two", "It is **950** km. <b>So</b>.")];
    let tokens = fixture.open(&text(SHORT, &said), 1).await;
    let plain = fixture.next(&tokens[0]).await;
    let render = async |how: &str| {
        let (status, shown) = fixture.post(&tokens[0], "next", json!({"render": how})).await;
        assert_eq!(status, StatusCode::OK, "{shown}");
        shown
    };
    let marked = render("differences").await;
    for side in ["a", "b"] {
        let kilometres = if plain[side].as_str().unwrap().contains("900") { "900" } else { "950" };
        let expected = format!("It is **<mark>{kilometres}</mark>** km. &lt;b&gt;So&lt;/b&gt;.");
        assert_eq!(marked["html"][side], format!("<p class=\"plain\" dir=\"auto\">{expected}</p>"));
    }
    let rendered = render("html").await;
    assert_eq!(marked["html"]["prompt"], rendered["html"]["prompt"], "the prompt is as ever");
    assert!(rendered["html"]["a"].as_str().unwrap().contains("<strong>"), "{rendered}");
    let without = |mut shown: Value| {
        shown.as_object_mut().unwrap().remove("html");
        shown
    };
    assert!(!marked.to_string().contains("secret"), "no model is named: {marked}");
    assert_eq!(without(marked), plain, "it is the same assignment");
    fixture.arena.end().await;
}

#[actix_web::test]
async fn who_has_the_same_texts_rendered_again_and_again_is_told_to_wait() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&text(SHORT, &[("one", "**A**"), ("two", "**B**")]), 2).await;
    let next = async |token: &String, body: Value| fixture.post(token, "next", body).await;
    let mut granted = 0;
    // One more is granted for each second that the loop takes.
    let refused = loop {
        let how = ["html", "differences"][granted % 2];
        match next(&tokens[0], json!({"render": how})).await {
            (StatusCode::OK, _) if granted < 1_000 => granted += 1,
            answer => break answer,
        }
    };
    assert_eq!((refused.0, &refused.1["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("rate_limited")), "{granted}");
    assert!(granted >= 60, "{granted}");
    let (status, _) = next(&tokens[0], json!({})).await;
    assert_eq!(status, StatusCode::OK, "texts that nobody renders are not limited");
    let (status, _) = next(&tokens[1], json!({"render": "html"})).await;
    assert_eq!(status, StatusCode::OK, "another annotator");
    fixture.arena.end().await;
}

#[actix_web::test]
async fn answers_that_are_ranked_are_shown_as_ever() {
    let fixture = CampaignFixture::start().await;
    let said = [("one", "**A**"), ("two", "**B**"), ("three", "**C**")];
    let tokens = fixture.open(&text("task = \"rank\"\n", &said), 1).await;
    let [marked, rendered] =
        ["differences", "html"].map(|how| fixture.post(&tokens[0], "next", json!({"render": how})));
    assert_eq!(marked.await, rendered.await);
    fixture.arena.end().await;
}
