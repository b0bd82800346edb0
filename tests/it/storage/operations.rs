//! What every database promises of operations: requests to delete texts, and changes of campaigns with their entries in the audit log.

use langya::domain::admin::action::AdminAction;
use langya::domain::admin::deletion_request::{RequestScope, RequestState};
use langya::domain::battle::state::Stage;
use langya::domain::battle::{BattleId, VisitorId};
use langya::domain::moderation::{FlagState, FlaggedPart};
use langya::domain::time::Timestamp;
use langya::infra::storage::{
    AuditFilter, BattleRow, CampaignState, DeletionTarget, FlagDecision, NewAnnotator, NewCampaign, NewDeletionRequest,
    NewFlag, RequestDecision, Store,
};

use super::admin::entry;
use super::{battle, ready, stage, vote};

fn request(id: &str, battle: &str, scope: RequestScope) -> NewDeletionRequest {
    NewDeletionRequest {
        id: id.into(),
        battle: BattleId::new(battle),
        scope,
        reason: "because, 琅琊".into(),
        entered_by: "ada".into(),
        created_at: Timestamp(4),
    }
}

async fn audited(store: &Store) -> usize {
    store.audit_entries(&AuditFilter::default(), 99).await.unwrap().len()
}

pub(super) async fn one_request_about_the_same_texts_waits_and_is_decided_once(store: &Store) {
    let audit = entry("a1", AdminAction::EnterRequest);
    let first = request("q1", "x", RequestScope::Battle);
    assert!(store.insert_deletion_request(&first, Some(&audit)).await.unwrap());
    let again = entry("a2", AdminAction::EnterRequest);
    assert!(!store.insert_deletion_request(&request("q2", "x", RequestScope::Battle), Some(&again)).await.unwrap());
    assert!(store.insert_deletion_request(&request("q3", "x", RequestScope::Visitor), None).await.unwrap());
    assert_eq!((store.open_deletion_requests().await.unwrap(), audited(store).await), (2, 1));
    let decision = RequestDecision {
        state: RequestState::Refused,
        answer: "no".into(),
        by: "ada".into(),
        at: Timestamp(5),
        battles: 0,
    };
    let refusal = entry("a3", AdminAction::RefuseRequest);
    assert!(store.decide_deletion_request("q1", &decision, Some(&refusal)).await.unwrap());
    assert!(!store.decide_deletion_request("q1", &decision, Some(&again)).await.unwrap(), "once");
    assert_eq!(audited(store).await, 2, "what changes nothing has no entry");
    let rows = store.deletion_requests(9).await.unwrap();
    let states: Vec<_> = rows.iter().map(|row| (row.request.id.as_str(), row.state)).collect();
    assert_eq!(states, [("q3", RequestState::Open), ("q1", RequestState::Refused)], "open ones first");
    assert_eq!((&rows[1].request, rows[1].decided_at), (&first, Some(Timestamp(5))));
    assert!(store.insert_deletion_request(&request("q4", "x", RequestScope::Battle), None).await.unwrap());
    assert_eq!(store.deletion_request("").await.unwrap(), None);
}

pub(super) async fn a_target_loses_its_texts_and_nobody_else_does(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
    }
    let foreign = BattleRow { visitor: VisitorId::new("somebody else"), ..battle("foreign") };
    store.insert_battle(&foreign, "Mine?", Timestamp(1_000)).await.unwrap();
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let of =
        |visitor: Option<&str>| DeletionTarget { battle: BattleId::new("x"), visitor: visitor.map(VisitorId::new) };
    let with_texts = async |target: &DeletionTarget| store.battles_with_texts(target).await.unwrap();
    let (one, all) = (of(None), of(Some("visitor")));
    assert_eq!((with_texts(&one).await, with_texts(&all).await), (1, 2));
    store.begin_deletion(&one, Timestamp(5), &entry("a1", AdminAction::DeleteTexts)).await.unwrap();
    assert_eq!(store.delete_texts_of_target(&one).await.unwrap(), 1);
    assert_eq!((with_texts(&one).await, with_texts(&all).await, stage(store, "y").await), (0, 1, Stage::Ready));
    store.begin_deletion(&all, Timestamp(5), &entry("a2", AdminAction::DeleteTexts)).await.unwrap();
    assert_eq!((stage(store, "x").await, stage(store, "y").await), (Stage::Voted, Stage::Abandoned));
    assert_eq!(store.delete_texts_of_target(&all).await.unwrap(), 1);
    assert!(store.vote_on(&BattleId::new("x")).await.unwrap().is_some());
    assert_eq!(store.turns(&BattleId::new("foreign")).await.unwrap().len(), 1);
    assert_eq!(audited(store).await, 2);
}

pub(super) async fn changes_of_campaigns_have_their_entries(store: &Store) {
    let new = NewCampaign { id: "c", plan: "{}", items: &[], units: &[], created_at: Timestamp(1) };
    store.insert_campaign(new, |_| {}).await.unwrap();
    let open = entry("a1", AdminAction::OpenCampaign);
    assert!(store.set_campaign_state("c", CampaignState::Open, &open).await.unwrap());
    assert!(!store.set_campaign_state("nowhere", CampaignState::Open, &open).await.unwrap());
    let annotator = |token_hash, quota, expires_at| NewAnnotator { token_hash, quota, expires_at };
    let new = [annotator("h1", Some(7), None), annotator("h2", None, Some(Timestamp(9)))];
    let invited = entry("a2", AdminAction::InviteAnnotators);
    assert_eq!(store.insert_annotators("c", &new, Timestamp(2), &invited).await.unwrap(), ["c-1", "c-2"]);
    let revoked = entry("a3", AdminAction::RevokeAnnotator);
    assert!(store.revoke_annotator("c", "c-1", Timestamp(3), &revoked).await.unwrap());
    assert!(!store.revoke_annotator("c", "c-1", Timestamp(4), &revoked).await.unwrap());
    let listed = store.annotators("c").await.unwrap();
    let found: Vec<_> = listed.iter().map(|row| (row.id.as_str(), row.quota, row.expires_at, row.revoked_at)).collect();
    assert_eq!(found, [("c-1", Some(7), None, Some(Timestamp(3))), ("c-2", None, Some(Timestamp(9)), None)]);
    assert_eq!(audited(store).await, 3);
}

pub(super) async fn flags_are_decided_once_and_end_with_their_texts(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
    }
    let flag = |id: &str, battle: &str, part| NewFlag {
        id: id.into(),
        battle: BattleId::new(battle),
        turn: 1,
        part,
        categories: vec!["hate".into(), "self-harm/intent".into()],
        flagged_at: Timestamp(3),
    };
    let first = flag("f1", "x", FlaggedPart::Prompt);
    store.insert_flags(&[first.clone(), flag("f2", "y", FlaggedPart::ReplyB)]).await.unwrap();
    store.insert_flags(std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(store.open_flags().await.unwrap(), 2, "a flag that is sent twice is one");
    let decision = FlagDecision { state: FlagState::Kept, by: "ada", at: Timestamp(5) };
    let audit = entry("a1", AdminAction::KeepFlagged);
    assert!(store.decide_flag("f1", decision, Some(&audit)).await.unwrap());
    assert!(!store.decide_flag("f1", decision, Some(&entry("a2", AdminAction::KeepFlagged))).await.unwrap());
    assert_eq!(audited(store).await, 1, "what changes nothing has no entry");
    let row = store.flag("f1").await.unwrap().unwrap();
    assert_eq!((&row.flag, row.state, row.decided_by.as_str()), (&first, FlagState::Kept, "ada"));
    let target = DeletionTarget { battle: BattleId::new("y"), visitor: None };
    store.delete_texts_of_target(&target).await.unwrap();
    assert_eq!(store.open_flags().await.unwrap(), 0, "its text is gone by another way");
    assert_eq!(store.flag("f2").await.unwrap().unwrap().state, FlagState::Removed);
    assert!(store.flags(Some(FlagState::Open), 9).await.unwrap().is_empty());
    assert_eq!(store.flags(None, 9).await.unwrap().len(), 2);
    assert_eq!(store.flag("").await.unwrap(), None);
}
