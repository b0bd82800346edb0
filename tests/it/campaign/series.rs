//! Campaigns as series of `langya correlate`.

use super::*;

const MODELS: [&str; 4] = ["m1", "m2", "m3", "m4"];
/// What the models are worth, the first one the most.
const TABLE: &str = "model,worth\nm1,9\nm2,7\nm3,4\nm4,1\n";

impl CampaignFixture {
    async fn correlate(&self, x: &str) -> Run {
        std::fs::write(self.folder.path().join("table.csv"), TABLE).unwrap();
        let series = ["correlate", "--table", "table.csv", "--x", x, "--y", "worth", "--format", "json"];
        langya_beside(self.folder.path(), &[&series[..], &["--data-dir", "data"]].concat()).await
    }

    /// Judges everything that a token is given.
    async fn submit_judgements(&self, token: &str, judgement: impl Fn(&Value) -> Value) {
        loop {
            let shown = self.next(token).await;
            if shown["finished"] == true {
                return;
            }
            let mut body = judgement(&shown);
            body["assignment"] = shown["assignment"].clone();
            let (status, answer) = self.post(token, "judgements", body).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
    }
}

fn found(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr))
}

#[actix_web::test]
async fn ratings_and_scores_of_campaigns_correlate_with_other_series() {
    let fixture = CampaignFixture::start().await;
    let unknown = fixture.correlate("campaign:pilot").await;
    assert!(unknown.code == Some(2) && unknown.stderr.contains("no campaign \"pilot\""), "{}", unknown.stderr);

    let tokens = fixture.open(&pairwise("task = \"pairwise\"\njudgements_per_item = 1\n", 6, &MODELS), 6).await;
    for (token, upset) in tokens.iter().zip([1, 0, 0, 0, 0, 0]) {
        // The texts begin with the models' names, so the smaller one is the better one; one annotator says the opposite.
        fixture
            .submit_judgements(token, |shown| {
                let a_is_better = shown["a"].as_str() < shown["b"].as_str();
                json!({"outcome": if a_is_better == (upset == 0) { "a" } else { "b" }})
            })
            .await;
    }
    let by_votes = found(&fixture.correlate("campaign:pilot").await);
    assert_eq!((&by_votes["n"], &by_votes["spearman"]["r"]), (&json!(4), &json!(1.0)), "{by_votes}");
    fixture.done(&["delete", "pilot", "--with-judgements"]).await;

    let scored = CampaignText { keys: "task = \"score\"\njudgements_per_item = 2\n", ..pairwise("", 5, &MODELS) };
    let tokens = fixture.open(&scored, 8).await;
    for (token, at) in tokens.iter().zip(0..) {
        fixture
            .submit_judgements(token, |shown| {
                let number: u64 = shown["a"].as_str().unwrap()[1..2].parse().unwrap();
                json!({"score": 10 - 2 * number + (at + number) % 2})
            })
            .await;
    }
    let by_scores = found(&fixture.correlate("campaign:pilot").await);
    assert_eq!((&by_scores["n"], &by_scores["spearman"]["r"]), (&json!(4), &json!(1.0)), "{by_scores}");
    fixture.arena.end().await;
}
