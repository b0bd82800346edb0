//! What annotators said of an item of a benchmark, on the page of that item.

use langya::domain::benchmark::suite_id::SuiteId;
use langya::domain::time::Timestamp;
use langya::infra::storage::{BenchItemRow, BenchSuiteRow};

use super::*;

#[actix_web::test]
async fn what_people_said_of_an_item_stands_on_its_page_once_their_campaign_is_closed() {
    let fixture = CampaignFixture::start().await;
    let suite = BenchSuiteRow {
        suite: SuiteId::new("urs"),
        version: "v1".into(),
        source: "urs.csv".into(),
        declaration: None,
        items: 2,
        imported_at: Timestamp(1),
    };
    // The second one is called as an item of the campaign, and asks something else.
    let items = [("q0", "Question 0?"), ("q1", "Something else?")].map(|(id, question)| BenchItemRow {
        item: id.into(),
        body: json!({"id": id, "category": "Factual_QA", "language": "en", "turns": [{"question": question}]})
            .to_string(),
    });
    fixture.arena.app.store.import_suite(&suite, &items).await.unwrap();
    let tokens = fixture.open(&pairwise(SHORT, 2, &["bad", "good"]), 2).await;
    for (annotator, token) in tokens.iter().enumerate() {
        for _ in 0..2 {
            let shown = fixture.next(token).await;
            let good = if shown["a"] == "good says." { "a" } else { "b" };
            fixture.judge(token, &shown, if annotator == 0 { good } else { "tie" }).await;
        }
    }
    let page = async |item: &str| {
        get(&format!("{}/benchmarks/urs/items/{item}", fixture.arena.url)).await.text().await.unwrap()
    };
    assert!(!page("q0").await.contains("What people said"), "others are still to judge");
    fixture.done(&["close", "pilot"]).await;
    let html = page("q0").await;
    let [pilot, bad, good] = ["pilot", "bad", "good"].map(|name| format!("<bdi translate=\"no\">{name}</bdi>"));
    let said = format!("{pilot}: {bad} 0 · tie 1 · {good} 1");
    assert!(html.contains("What people said") && html.contains(&said), "{html}");
    assert!(!page("q1").await.contains("What people said"), "it asks something else");
    fixture.arena.end().await;
}
