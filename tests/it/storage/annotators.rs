//! What every database promises annotators who take a judgement back, and those who judge in place of an excluded one.

use langya::domain::admin::action::AdminAction;
use langya::domain::campaign::assignment::CampaignShape;
use langya::domain::campaign::items::CampaignItem;
use langya::domain::time::Timestamp;
use langya::infra::storage::{
    AssignmentLimit, AssignmentRequest, JudgementWithdrawal, NewAnnotator, NewCampaign, NewCampaignJudgement, NewUnit,
    NoAssignmentReason, Store,
};

use super::admin::entry;

const MINUTE: i64 = 60_000;

/// A campaign of one item that needs one judgement, and two annotators.
async fn campaign(store: &Store, id: &str) {
    let answers = [("m", "So."), ("n", "No.")].map(|(model, answer)| (model.to_owned(), answer.to_owned()));
    let item = CampaignItem {
        id: "q".to_owned(),
        prompt: "Why?".to_owned(),
        reference: String::new(),
        category: String::new(),
        language: "en".to_owned(),
        answers: answers.into(),
    };
    let unit = NewUnit { item: 0, models: r#"["m","n"]"#.into(), shared: false, gold: None };
    let new = NewCampaign { id, plan: "{}", items: &[item], units: &[unit], created_at: Timestamp(1) };
    let created = entry(&format!("created {id}"), AdminAction::CreateCampaign);
    assert!(store.insert_campaign(new, &created, |_| {}).await.unwrap());
    let hashes = ["1", "2"].map(|number| format!("hash {number} of {id}"));
    let annotators = hashes.each_ref().map(|hash| NewAnnotator { token_hash: hash, quota: None, expires_at: None });
    let invited = entry(&format!("invited {id}"), AdminAction::InviteAnnotators);
    store.insert_annotators(id, &annotators, Timestamp(2), &invited).await.unwrap();
}

/// The assignment that this annotator gets at this minute; a new one has an id of both.
async fn next(store: &Store, campaign: &str, annotator: &str, minute: i64) -> Result<String, NoAssignmentReason> {
    let request = AssignmentRequest {
        campaign,
        annotator,
        id: &format!("{annotator} at {minute}"),
        shape: CampaignShape { items: 1, shared_units: 0, repeat_share: 0.0 },
        needed: 1,
        seed: 1,
        room: AssignmentLimit::ForAll,
        now: Timestamp(minute * MINUTE),
    };
    store.next_assignment(request).await.unwrap().assignment.map(|row| row.id)
}

async fn judge(store: &Store, annotator: &str, assignment: &str, minute: i64) -> String {
    let new = NewCampaignJudgement {
        id: &format!("{assignment}, judged at {minute}"),
        annotator,
        assignment,
        judgement: r#"{"outcome":"tie"}"#,
        answers: "",
        vote: None,
        now: Timestamp(minute * MINUTE),
    };
    store.insert_campaign_judgement(new).await.unwrap().id
}

async fn take_back(store: &Store, annotator: &str, judgement: &str, minute: i64) {
    let withdrawal = store.withdraw_judgement(annotator, judgement, Timestamp(minute * MINUTE)).await.unwrap();
    assert_eq!(withdrawal, JudgementWithdrawal::Withdrawn);
}

pub(super) async fn an_assignment_that_was_taken_back_is_its_annotators_again(store: &Store) {
    campaign(store, "c").await;
    let late = next(store, "c", "c-1", 1).await.unwrap();
    let other = next(store, "c", "c-2", 32).await.expect("nobody judged it for half an hour");
    let judged = judge(store, "c-1", &late, 33).await;
    take_back(store, "c-1", &judged, 34).await;
    assert_eq!(next(store, "c", "c-1", 35).await, Ok(late.clone()), "although it went to another one too");
    let again = judge(store, "c-1", &late, 36).await;
    assert_ne!(again, judged);
    assert_eq!(next(store, "c", "c-1", 37).await, Err(NoAssignmentReason::Units));
    assert_eq!(next(store, "c", "c-2", 38).await, Ok(other));

    campaign(store, "d").await;
    let first = next(store, "d", "d-1", 1).await.unwrap();
    let judged = judge(store, "d-1", &first, 2).await;
    take_back(store, "d-1", &judged, 60).await;
    assert_eq!(next(store, "d", "d-2", 61).await, Err(NoAssignmentReason::Units), "the annotator is at it again");
    assert_eq!(next(store, "d", "d-2", 91).await, Ok("d-2 at 91".to_owned()), "but not for ever");
}

pub(super) async fn the_unit_of_an_excluded_annotator_is_given_back_once(store: &Store) {
    campaign(store, "e").await;
    let third = NewAnnotator { token_hash: "hash 3 of e", quota: None, expires_at: None };
    let invited = entry("invited another one", AdminAction::InviteAnnotators);
    store.insert_annotators("e", &[third], Timestamp(3), &invited).await.unwrap();
    next(store, "e", "e-1", 1).await.unwrap();
    let left_out = entry("left out", AdminAction::LeaveAnnotatorOut);
    assert!(store.exclude_annotator(("e", "e-1"), "was asleep", &left_out).await.unwrap());
    assert_eq!(store.judged_of_due("e", 1).await.unwrap(), 0, "nothing is judged, and nothing less than that");
    let own = next(store, "e", "e-2", 2).await.expect("the unit needs somebody else");
    judge(store, "e-2", &own, 3).await;
    assert!(store.is_all_judged("e", 1).await.unwrap());
    assert_eq!(next(store, "e", "e-3", 40).await, Err(NoAssignmentReason::Units), "it has its one judgement");
    assert_eq!(store.judged_of_due("e", 1).await.unwrap(), 1);
}
