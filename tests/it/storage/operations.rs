//! What every database promises of operations: requests to delete texts, and changes of campaigns with their entries in the audit log.

use langya::domain::admin::action::AdminAction;
use langya::domain::admin::deletion_request::{DeletionRequestState, DeletionScope};
use langya::domain::battle::progress::Stage;
use langya::domain::battle::{BattleId, ModelId, Outcome, VisitorId};
use langya::domain::battle_judging::subject::JudgedSubject;
use langya::domain::benchmark::scores::judgement::{Game, Status};
use langya::domain::campaign::assignment::{AssignmentKind, CampaignShape};
use langya::domain::campaign::items::CampaignItem;
use langya::domain::campaign::judged_rows::JudgedRow;
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::domain::judging::verdict::Preference;
use langya::domain::moderation::{ModeratedPart, ModerationFlagState};
use langya::domain::time::Timestamp;
use langya::infra::storage::{
    AssignmentLimit, AssignmentRequest, AuditFilter, BattleRow, CampaignState, CampaignVote, DeletionDecision,
    DeletionTarget, JudgementWithdrawal, ModerationDecision, NewAnnotator, NewCampaign, NewCampaignJudgement,
    NewDeletionRequest, NewModerationFlag, NewUnit, SettledGame, Store, UnitJudgedByPeople, ValidJudgement, VerdictRow,
    VoteColumn, VoteExclusion, VoteRange,
};

use super::admin::entry;
use super::{battle, ready, stage, vote};

fn request(id: &str, battle: &str, scope: DeletionScope) -> NewDeletionRequest {
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
    let first = request("q1", "x", DeletionScope::Battle);
    assert!(store.insert_deletion_request(&first, Some(&audit)).await.unwrap());
    let again = entry("a2", AdminAction::EnterRequest);
    assert!(!store.insert_deletion_request(&request("q2", "x", DeletionScope::Battle), Some(&again)).await.unwrap());
    assert!(store.insert_deletion_request(&request("q3", "x", DeletionScope::Visitor), None).await.unwrap());
    assert_eq!((store.open_deletion_requests().await.unwrap(), audited(store).await), (2, 1));
    let decision = DeletionDecision {
        state: DeletionRequestState::Refused,
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
    assert_eq!(states, [("q3", DeletionRequestState::Open), ("q1", DeletionRequestState::Refused)], "open ones first");
    assert_eq!(rows[0].request.reason, first.reason, "an open one has its reason");
    let forgotten = NewDeletionRequest { reason: String::new(), ..first };
    assert_eq!((&rows[1].request, rows[1].decided_at), (&forgotten, Some(Timestamp(5))));
    assert!(store.insert_deletion_request(&request("q4", "x", DeletionScope::Battle), None).await.unwrap());
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
    store.insert_campaign(new, &entry("created", AdminAction::CreateCampaign), |_| {}).await.unwrap();
    let open = entry("a1", AdminAction::OpenCampaign);
    let opened = (CampaignState::Draft, CampaignState::Open);
    assert!(store.set_campaign_state("c", opened, &open).await.unwrap());
    assert!(!store.set_campaign_state("c", opened, &open).await.unwrap(), "it is no draft any more");
    assert!(!store.set_campaign_state("nowhere", opened, &open).await.unwrap());
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
    assert_eq!(audited(store).await, 4);
}

pub(super) async fn flags_are_decided_once_and_end_with_their_texts(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
    }
    let flag = |id: &str, battle: &str, part| NewModerationFlag {
        id: id.into(),
        battle: BattleId::new(battle),
        turn: 1,
        part,
        categories: vec!["hate".into(), "self-harm/intent".into()],
        flagged_at: Timestamp(3),
    };
    let first = flag("f1", "x", ModeratedPart::Prompt);
    store.insert_flags(&[first.clone(), flag("f2", "y", ModeratedPart::ReplyB)]).await.unwrap();
    store.insert_flags(std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(store.open_flags().await.unwrap(), 2, "a flag that is sent twice is one");
    let decision = ModerationDecision { state: ModerationFlagState::Kept, by: "ada", at: Timestamp(5) };
    let audit = entry("a1", AdminAction::KeepFlagged);
    assert!(store.decide_flag("f1", decision, Some(&audit)).await.unwrap());
    assert!(!store.decide_flag("f1", decision, Some(&entry("a2", AdminAction::KeepFlagged))).await.unwrap());
    assert_eq!(audited(store).await, 1, "what changes nothing has no entry");
    let row = store.flag("f1").await.unwrap().unwrap();
    assert_eq!((&row.flag, row.state, row.decided_by.as_str()), (&first, ModerationFlagState::Kept, "ada"));
    let target = DeletionTarget { battle: BattleId::new("y"), visitor: None };
    store.delete_texts_of_target(&target).await.unwrap();
    assert_eq!(store.open_flags().await.unwrap(), 0, "its text is gone by another way");
    assert_eq!(store.flag("f2").await.unwrap().unwrap().state, ModerationFlagState::Removed);
    assert!(store.flags(Some(ModerationFlagState::Open), 9).await.unwrap().is_empty());
    assert_eq!(store.flags(None, 9).await.unwrap().len(), 2);
    assert_eq!(store.flag("").await.unwrap(), None);
}

/// A campaign of one item that two annotators judge, and the vote of each.
pub(super) async fn judgements_of_a_rated_campaign_are_votes_until_they_are_taken_back_or_left_out(store: &Store) {
    for id in ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"] {
        ready(store, id).await;
        store.insert_vote(&vote(id, id, 1)).await.unwrap();
    }
    let before = store.last_vote_seq().await.unwrap();
    assert_eq!(before, 8, "the next two are in another order as texts");
    let answers = [("m", "So."), ("n", "No.")].map(|(model, answer)| (model.to_owned(), answer.to_owned()));
    let text = |text: &str| text.to_owned();
    let (id, prompt, category) = (text("q"), text("Why?"), text("maths"));
    let item =
        CampaignItem { id, prompt, reference: text(""), category, language: text("zh"), answers: answers.into() };
    let unit = NewUnit { item: 0, models: r#"["m","n"]"#.into(), shared: false, gold: None };
    let new = NewCampaign { id: "c", plan: "{}", items: &[item], units: &[unit], created_at: Timestamp(1) };
    assert!(store.insert_campaign(new, &entry("created", AdminAction::CreateCampaign), |_| {}).await.unwrap());
    let annotator = |token_hash| NewAnnotator { token_hash, quota: None, expires_at: None };
    let invited = entry("a1", AdminAction::InviteAnnotators);
    store.insert_annotators("c", &["h1", "h2"].map(annotator), Timestamp(2), &invited).await.unwrap();
    let exclusion = VoteExclusion { rule: ExclusionRule::IdentityLeak, reason: "says its name".into() };
    let judge = async |annotator, id: &str, exclusions: Vec<VoteExclusion>| {
        let shape = CampaignShape { items: 1, shared_units: 0, repeat_share: 0.0 };
        let request = AssignmentRequest {
            campaign: "c",
            annotator,
            id: &format!("s-{id}"),
            shape,
            needed: 2,
            seed: 1,
            room: AssignmentLimit::ForAll,
            now: Timestamp(3),
        };
        let row = store.next_assignment(request).await.unwrap().assignment.unwrap();
        assert_eq!(
            (row.kind, store.assignment(&row.id, annotator).await.unwrap()),
            (AssignmentKind::Fresh, Some(row.clone()))
        );
        let texts = store.campaign_item("c", row.item).await.unwrap();
        assert_eq!((texts.answer("m"), texts.category.as_str(), texts.language.as_str()), ("So.", "maths", "zh"));
        let vote = CampaignVote {
            voter: VisitorId::new(format!("voter of {annotator}")),
            models: row.shown.try_into().unwrap(),
            outcome: Outcome::Tie,
            language: texts.language,
            category: Some(texts.category),
            text_counts: "[{},{}]".into(),
            exclusions,
        };
        let new = NewCampaignJudgement {
            id,
            annotator,
            assignment: &row.id,
            judgement: r#"{"outcome":"tie"}"#,
            answers: r#"{"why":"So."}"#,
            vote: Some(&vote),
            now: Timestamp(4),
        };
        let stands = |differs| ValidJudgement { id: id.to_owned(), differs };
        assert_eq!(store.insert_campaign_judgement(new).await.unwrap(), stands(false));
        let again = NewCampaignJudgement { id: "again", ..new };
        assert_eq!(store.insert_campaign_judgement(again).await.unwrap(), stands(false));
        let (judgement, answers) = (r#"{"outcome":"a"}"#, r#"{"why":"Not so."}"#);
        for other in [NewCampaignJudgement { judgement, ..again }, NewCampaignJudgement { answers, ..again }] {
            assert_eq!(store.insert_campaign_judgement(other).await.unwrap(), stands(true), "{other:?}");
        }
    };
    let in_force = async || {
        let found = store.exclusions_in_force(VoteRange::ALL).await.unwrap();
        let last = store.last_vote_seq().await.unwrap();
        (before + 1..=last)
            .map(|seq| found.rules_of(seq).map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let is_all_judged = async || store.is_all_judged("c", 2).await.unwrap();
    let judged_of_due = async |needed| store.judged_of_due("c", needed).await.unwrap();
    judge("c-1", "j1", vec![]).await;
    let last = store.last_judgement("c-1").await.unwrap();
    assert_eq!(last.as_deref(), Some("j1"));
    let withdraw = async |judgement| store.withdraw_judgement("c-1", judgement, Timestamp(5)).await.unwrap();
    for _ in ["taken back", "a repeated request"] {
        assert_eq!(withdraw("j1").await, JudgementWithdrawal::Withdrawn);
    }
    assert_eq!(withdraw("j3").await, JudgementWithdrawal::Unknown);
    assert_eq!(store.last_judgement("c-1").await.unwrap(), None);
    assert_eq!(judged_of_due(2).await, 0, "the annotator is at it again");
    judge("c-1", "j2", vec![]).await;
    assert_eq!(withdraw("j1").await, JudgementWithdrawal::Withdrawn, "a late copy of the request");
    assert!(!is_all_judged().await, "the unit needs two judgements");
    assert_eq!(judged_of_due(2).await, 1);
    judge("c-2", "j3", vec![exclusion]).await;
    assert!(is_all_judged().await);
    assert_eq!((judged_of_due(2).await, judged_of_due(1).await), (2, 1), "no more of a unit than it needs");
    assert_eq!(in_force().await, ["taken_back", "", "identity_leak"]);
    verdicts_on_units_are_kept_once(store).await;
    let of_campaign = VoteRange { after: before, ..VoteRange::ALL };
    let page = store.vote_page(of_campaign, &[VoteColumn::Voter, VoteColumn::PairingPolicy]).await.unwrap();
    let columns: Vec<Vec<&str>> = page.columns().map(|(_, values)| values.collect()).collect();
    assert_eq!(columns, [["voter of c-1", "voter of c-1", "voter of c-2"], ["campaign"; 3]]);

    let judged = store.judgements_of("c-1").await.unwrap();
    let rows: Vec<JudgedRow> = judged.rows().map(Result::unwrap).collect();
    assert_eq!(
        (rows.len(), rows[0].kind, rows[0].judgement, rows[0].answers, rows[0].judged_at),
        (1, "fresh", r#"{"outcome":"tie"}"#, r#"{"why":"So."}"#, 4)
    );
    assert_eq!(store.annotators_with_judgements("c").await.unwrap(), ["c-1", "c-2"]);
    assert_eq!(store.judgements_of("c-9").await.unwrap().rows().count(), 0);
    let left_out = entry("a2", AdminAction::LeaveAnnotatorOut);
    assert!(store.exclude_annotator(("c", "c-1"), "was asleep", &left_out).await.unwrap());
    assert!(!store.exclude_annotator(("c", "c-1"), "twice", &left_out).await.unwrap());
    assert!(store.annotator("c", "h1").await.unwrap().unwrap().left_out_at.is_some());
    assert_eq!(in_force().await, ["left_out taken_back", "left_out", "identity_leak"]);
    let excluded = store.latest_exclusions(Some("left_out"), (Timestamp(i64::MAX), ""), 9).await.unwrap();
    assert_eq!(excluded.iter().map(|row| row.vote_seq).collect::<Vec<_>>(), [10, 9], "the latest first");
    assert!(!is_all_judged().await, "somebody else is to judge it");
    assert_eq!(judged_of_due(2).await, 1);
    let readmitted = entry("a3", AdminAction::ReadmitAnnotator);
    assert!(store.readmit_annotator("c", "c-1", &readmitted).await.unwrap());
    assert!(!store.readmit_annotator("c", "c-1", &readmitted).await.unwrap());
    assert_eq!(in_force().await, ["taken_back", "", "identity_leak"]);
    let decided = store.annotator_exclusions("c").await.unwrap();
    assert!(
        decided.len() == 1 && decided[0].reason == "was asleep" && decided[0].withdrawn_at.is_some(),
        "{decided:?}"
    );
    assert!(store.delete_campaign("c", &entry("deleted", AdminAction::DeleteCampaign)).await.unwrap());
    assert_eq!(in_force().await, ["left_out taken_back", "left_out", "identity_leak left_out"]);
}

/// Of the campaign `c`, whose only unit people have judged.
async fn verdicts_on_units_are_kept_once(store: &Store) {
    let subject = JudgedSubject::Unit { campaign: "c".into(), unit: 0 };
    let verdict = |id: &str, game, parsed: Option<Preference>| VerdictRow {
        id: id.into(),
        subject: subject.clone(),
        judge: "k".into(),
        game,
        prompt_sha256: "p".into(),
        params: Default::default(),
        raw_text: "[[A]]".into(),
        earlier: Vec::new(),
        parsed,
        status: if parsed.is_some() { Status::Ok } else { Status::TransportFailed },
        attempts: 1,
        latency_ms: 5,
        tokens: Default::default(),
        created_at: Timestamp(9),
    };
    let rows = [
        verdict("u1", Game::First, Some(Preference::A)),
        verdict("u2", Game::First, Some(Preference::B)),
        verdict("u3", Game::Second, None),
    ];
    store.insert_verdicts(&rows).await.unwrap();
    let settled = [SettledGame { subject, judge: "k".into(), game: Game::First }];
    assert_eq!(store.settled_unit_games("c", "p").await.unwrap(), settled);
    assert_eq!(store.settled_unit_games("c", "q").await.unwrap(), []);
    assert_eq!(store.read_unit_games("c", "p").await.unwrap(), settled);
    let said: Vec<_> = store.campaign_verdicts("c").await.unwrap();
    let said: Vec<_> = said.iter().map(|said| (said.unit, said.models.join(" "), said.game, said.parsed)).collect();
    let models = || "m n".to_owned();
    assert_eq!(said, [(0, models(), Game::First, Some(Preference::A)), (0, models(), Game::Second, None)]);
    let judged = store.units_judged_by_people("c").await.unwrap();
    assert_eq!(judged, [UnitJudgedByPeople { unit: 0, language: "zh".into() }]);
    assert_eq!(store.campaign_unit("c", 0).await.unwrap(), (0, vec!["m".to_owned(), "n".to_owned()]));
    let past = store.past_verdicts(&ModelId::new("k"), "p").await.unwrap();
    assert_eq!(past.results, 1, "{past:?}");
}
