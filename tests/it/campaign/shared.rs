//! A link that many annotators share.

use super::*;

impl CampaignFixture {
    async fn shared(&self, count: &str) -> String {
        let created = self.create(&pairwise(SHORT, 4, &["bad", "good"])).await;
        assert_eq!(created.code, Some(0), "{}", created.stderr);
        self.done(&["open", "pilot"]).await;
        let link = self.json(&["invite", "pilot", "--shared", "--count", count, "--quota", "2"]).await;
        link["join"].as_str().unwrap().to_owned()
    }
}

#[actix_web::test]
async fn a_shared_link_has_as_many_places_as_it_says_however_many_come_at_once() {
    let fixture = CampaignFixture::start().await;
    let link = fixture.shared("3").await;
    let bodies: Vec<Value> = (0..8).map(|person| json!({"request": format!("person {person}")})).collect();
    let joined =
        futures_util::future::join_all(bodies.iter().map(|body| fixture.post(&link, "join", body.clone()))).await;
    let taken: Vec<(&Value, &Value)> = bodies
        .iter()
        .zip(&joined)
        .filter(|(_, (status, _))| *status == StatusCode::OK)
        .map(|(body, (_, answer))| (body, &answer["invite"]))
        .collect();
    let own: BTreeSet<&str> = taken.iter().map(|(_, invite)| invite.as_str().unwrap()).collect();
    assert_eq!((taken.len(), own.len()), (3, 3), "{joined:?}");
    for (status, refused) in joined.iter().filter(|(status, _)| *status != StatusCode::OK) {
        assert_eq!((*status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("link_full")), "{refused}");
    }
    // A repeated request has the place already, and the shared link itself judges nothing.
    let (status, again) = fixture.post(&link, "join", taken[0].0.clone()).await;
    assert_eq!((status, &again["invite"]), (StatusCode::OK, taken[0].1), "{again}");
    assert_eq!(fixture.post(&link, "next", json!({})).await.0, StatusCode::UNAUTHORIZED);
    // Each is an annotator of their own, with the quota of the link.
    for token in own {
        for _ in 0..2 {
            let shown = fixture.next(token).await;
            fixture.judge(token, &shown, "a").await;
        }
        assert_eq!(fixture.next(token).await["because"], "quota");
    }
    let report = fixture.json(&["report", "pilot"]).await;
    let names: Vec<&str> =
        report["annotators"].as_array().unwrap().iter().map(|one| one["annotator"].as_str().unwrap()).collect();
    assert_eq!(names, ["pilot-1", "pilot-2", "pilot-3"], "{report}");
    fixture.arena.end().await;
}

#[actix_web::test]
async fn a_shared_link_is_revoked_and_people_who_joined_go_on() {
    let fixture = CampaignFixture::start().await;
    let link = fixture.shared("5").await;
    let participant = json!({"participant": "5f1e"});
    let (status, first) = fixture.post(&link, "join", participant.clone()).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    let (_, elsewhere) = fixture.post(&link, "join", json!({"participant": "5f1e", "request": "another device"})).await;
    assert_eq!(elsewhere["invite"], first["invite"], "a participant has one place");
    fixture.done(&["revoke", "pilot", "pilot-link-1"]).await;
    let (status, refused) = fixture.post(&link, "join", json!({})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("link_revoked")), "{refused}");
    let own = first["invite"].as_str().unwrap();
    let shown = fixture.next(own).await;
    fixture.judge(own, &shown, "a").await;
    assert!(!format!("{:?}", fixture.exported().await).contains("5f1e"), "no export has the participant");
    let again = fixture.campaign(&["revoke", "pilot", "pilot-link-1"]).await;
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    assert_eq!(fixture.post("nothing", "join", json!({})).await.0, StatusCode::UNAUTHORIZED);
    fixture.arena.end().await;
}
