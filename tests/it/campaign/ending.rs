//! Campaigns that end before every unit has all of its judgements.

use super::*;

const SEPARATED: &str = "task = \"pairwise\"\njudgements_per_item = 4\nuntil = \"separated\"\nseed = 7\n";
const LIMITED: &str = "task = \"pairwise\"\njudgements_per_item = 3\nmax_judgements = 5\nseed = 7\n";

#[actix_web::test]
async fn a_campaign_ends_once_its_models_are_told_apart_and_says_so() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(SEPARATED, 60, &["bad", "good"]), 4).await;
    // The good answer wins four times of five with each annotator.
    let (mut judged, mut finished) = (0, None);
    while finished.is_none() && judged < 240 {
        for (at, token) in tokens.iter().enumerate() {
            let shown = fixture.next(token).await;
            if shown["finished"] == true {
                finished = Some(shown);
                break;
            }
            let is_good = (judged + at) % 5 != 0;
            fixture.judge(token, &shown, if (shown["a"] == "good says.") == is_good { "a" } else { "b" }).await;
            judged += 1;
        }
    }
    let finished = finished.unwrap();
    assert_eq!(finished["because"], "separated", "after {judged}: {finished}");
    assert!((30..240).contains(&judged), "{judged}");
    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!((&report["ended"]["because"], &report["complete"]), (&json!("separated"), &json!(true)), "{report}");
    let pair = &report["neighbours"][0];
    assert_eq!((&pair["upper"], &pair["state"]), (&json!("good"), &json!("separated")), "{pair}");
    let text = fixture.campaign(&["report", "pilot"]).await.stdout;
    assert!(text.contains("told apart or known to be equal") && text.contains("good > bad"), "{text}");
    let list = fixture.campaign(&["list"]).await.stdout;
    assert!(list.contains("separated 20"), "{list}");
    // Who was shown something before the end can still judge it, and take it back.
    let (status, undone) = fixture.post(&tokens[0], "undo", json!({})).await;
    assert_eq!(status, StatusCode::OK, "{undone}");
    let shown = fixture.next(&tokens[0]).await;
    fixture.judge(&tokens[0], &shown, "tie").await;
    assert_eq!(fixture.next(&tokens[0]).await["because"], "separated");
    fixture.arena.end().await;
}

#[actix_web::test]
async fn no_more_judgements_are_asked_for_than_the_file_allows_however_many_ask_at_once() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(LIMITED, 6, &["bad", "good"]), 12).await;
    let all = futures_util::future::join_all(tokens.iter().map(|token| fixture.next(token))).await;
    let shown: Vec<(&String, &Value)> =
        tokens.iter().zip(&all).filter(|(_, shown)| shown["finished"] != true).collect();
    assert_eq!(shown.len(), 5, "{all:?}");
    let refused = all.iter().find(|shown| shown["finished"] == true).unwrap();
    assert_eq!(refused["because"], "max_judgements");
    for (token, shown) in shown {
        fixture.judge(token, shown, "a").await;
        assert_eq!(fixture.next(token).await["because"], "max_judgements");
    }
    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!((&report["judgements"], &report["ended"]["because"]), (&json!(5), &json!("max_judgements")), "{report}");
    fixture.arena.end().await;
}
