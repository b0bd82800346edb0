//! The report of a campaign as files, and as a page for everybody.

use super::*;

const PUBLIC: &str = "task = \"pairwise\"\njudgements_per_item = 3\npublic = true\nseed = 7\n";

impl CampaignFixture {
    async fn page(&self, path: &str) -> (StatusCode, String) {
        let answer = get(&format!("{}{path}", self.arena.url)).await;
        (answer.status(), answer.text().await.unwrap())
    }

    /// Every annotator judges everything, always for the model `good`.
    async fn judged(&self, tokens: &[String]) {
        for token in tokens {
            loop {
                let shown = self.next(token).await;
                if shown["finished"] == true {
                    break;
                }
                self.judge(token, &shown, if shown["a"] == "good says." { "a" } else { "tie" }).await;
            }
        }
    }
}

#[actix_web::test]
async fn a_report_is_written_in_four_forms_and_two_languages() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(SHORT, 4, &["bad", "good"]), 2).await;
    fixture.judged(&tokens).await;
    fixture.done(&["report", "pilot", "--out", "reports"]).await;
    let read = |name: &str| std::fs::read_to_string(fixture.folder.path().join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("reports/pilot.json")).unwrap();
    assert_eq!((&json["pairs"][0]["judgements"], &json["annotator_pairs"][0]["units"]), (&json!(8), &json!(4)));
    assert!(read("reports/pilot.csv").starts_with("annotator,judgements,"));
    assert!(read("reports/pilot.md").contains("| pilot-1 | pilot-2 | 4 |"), "{}", read("reports/pilot.md"));
    let html = read("reports/pilot.html");
    assert!(html.contains("<style>") && html.contains("<svg") && html.contains("pilot-2"), "{html}");
    let refused = fixture.campaign(&["report", "pilot", "--out", "reports/pilot.md"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("--force"), "{}", refused.stderr);
    fixture.done(&["report", "pilot", "--out", "reports/pilot.md", "--force", "--language", "zh"]).await;
    assert!(read("reports/pilot.md").contains("## 模型两两比较"), "{}", read("reports/pilot.md"));
    let printed = fixture.campaign(&["report", "pilot", "--format", "markdown"]).await;
    assert!(printed.stdout.starts_with("# Which?\n"), "{}", printed.stdout);
    fixture.arena.end().await;
}

#[actix_web::test]
async fn everybody_reads_the_report_of_a_closed_public_campaign_and_nothing_of_its_annotators() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(PUBLIC, 4, &["bad", "good"]), 3).await;
    fixture.judged(&tokens).await;
    let path = "/campaign/pilot/report";
    assert_eq!(fixture.page(path).await.0, StatusCode::NOT_FOUND, "it is still open");
    fixture.done(&["close", "pilot"]).await;
    let (status, text) = fixture.page(path).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    assert!(text.contains("Head-to-head results") && text.contains("<svg") && !text.contains("pilot-"), "{text}");
    // What is left out afterwards is gone from the page, too.
    fixture.done(&["report", "pilot", "--leave-out", "pilot-2", "--reason", "asleep"]).await;
    let (_, text) = fixture.page(&format!("{path}?lang=zh")).await;
    assert!(text.contains("有 4 次评判被排除") && !text.contains("asleep") && !text.contains("pilot-2"), "{text}");
    fixture.done(&["delete", "pilot", "--with-judgements"]).await;
    assert_eq!(fixture.page(path).await.0, StatusCode::NOT_FOUND);
    let tokens = fixture.open(&pairwise(SHORT, 4, &["bad", "good"]), 2).await;
    fixture.judged(&tokens).await;
    fixture.done(&["close", "pilot"]).await;
    assert_eq!(fixture.page(path).await.0, StatusCode::NOT_FOUND, "its file does not say that it is public");
    fixture.arena.end().await;
}
