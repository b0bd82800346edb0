//! What every database promises of the admin: links and codes work once, the last owner stays, and the audit log only grows.

use std::collections::BTreeMap;

use langya::domain::admin::action::AdminAction;
use langya::domain::admin::model_stats::ModelStats;
use langya::domain::admin::oidc_account::RoleSource;
use langya::domain::admin::role::Role;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{ModelId, Side};
use langya::domain::model_register::report::FailedBattles;
use langya::domain::time::Timestamp;
use langya::infra::storage::{
    ActedVia, AuditFilter, BattleRow, DeletionTarget, IdentityHash, Joined, JoiningUser, LeakDecision, NewAdminInvite,
    NewAdminSession, NewAuditEntry, NewExclusions, NewProviderUser, NewReply, SessionAge, Store, UserChange,
};

use super::{battle, battle_id, by, failure, ready, reply, vote};

/// Statements that every database refuses.
pub(super) const FORBIDDEN: [&str; 2] = ["UPDATE admin_audit SET actor = 'nobody'", "DELETE FROM admin_audit"];

pub(super) fn entry(id: &str, action: AdminAction) -> NewAuditEntry {
    NewAuditEntry {
        id: id.to_owned(),
        acted_at: Timestamp(5),
        actor: "ada".to_owned(),
        action,
        subject: "s".to_owned(),
        former: None,
        latter: Some("{}".to_owned()),
        via: ActedVia::Page,
        address: "127.0.0.1".to_owned(),
    }
}

async fn invite(store: &Store, id: &str, role: Role, first_run: bool) {
    invite_by(store, id, role, first_run, "").await;
}

async fn invite_by(store: &Store, id: &str, role: Role, first_run: bool, created_by: &str) {
    let invite = NewAdminInvite {
        id,
        token_hash: id,
        role,
        user_id: None,
        first_run,
        created_by,
        created_at: Timestamp(1),
        expires_at: Timestamp(100),
    };
    store.insert_admin_invite(invite, None).await.unwrap();
}

async fn join(store: &Store, link: &str, name: &str, now: i64) -> Joined {
    let user_id = format!("id of {name}");
    let joining =
        JoiningUser { token_hash: link, user_id: &user_id, name, passphrase_hash: "hash", now: Timestamp(now) };
    store.join_admin(joining, &entry(&format!("0-{link}-{name}"), AdminAction::Join)).await.unwrap()
}

/// Puts an entry into the audit log.
pub(super) async fn fill(store: &Store) {
    store.add_audit_entry(&entry("1", AdminAction::Invite)).await.unwrap();
}

pub(super) async fn a_link_makes_one_account_and_the_last_owner_stays(store: &Store) {
    for (id, role, first_run) in
        [("first", Role::Owner, true), ("other", Role::Owner, true), ("late", Role::Viewer, false)]
    {
        invite(store, id, role, first_run).await;
    }
    assert!(!store.has_admin_owner().await.unwrap());
    assert_eq!(join(store, "nothing", "ada", 2).await, Joined::Void);
    assert_eq!(join(store, "late", "eve", 100).await, Joined::Void, "it has expired");
    assert_eq!(join(store, "first", "ada", 2).await, Joined::Done);
    assert_eq!(join(store, "first", "eve", 3).await, Joined::Void, "it was used");
    assert_eq!(join(store, "other", "eve", 3).await, Joined::Void, "there is an owner");
    assert_eq!(join(store, "late", "ada", 3).await, Joined::NameTaken);
    assert_eq!(join(store, "late", "ben", 3).await, Joined::Done, "a name that was taken uses nothing up");
    let change = async |name: &str, change: UserChange, id: &str| {
        let user = store.admin_user(name).await.unwrap().unwrap();
        store.change_admin_user(&user, change, Timestamp(9), &entry(id, AdminAction::ChangeRole)).await.unwrap()
    };
    for (number, refused) in [UserChange::Role(Role::Viewer), UserChange::Disable].into_iter().enumerate() {
        assert!(!change("ada", refused, &format!("1-{number}")).await, "{refused:?}");
    }
    assert!(change("ben", UserChange::Role(Role::Owner), "2").await);
    assert!(change("ada", UserChange::Disable, "3").await, "there is another owner now");
    assert!(!change("ben", UserChange::Role(Role::Operator), "4").await, "one who is locked out is none");
    let back = NewAdminInvite {
        id: "back",
        token_hash: "back",
        role: Role::Owner,
        user_id: Some("id of ada"),
        first_run: false,
        created_by: "ben",
        created_at: Timestamp(1),
        expires_at: Timestamp(100),
    };
    store.insert_admin_invite(back, None).await.unwrap();
    assert_eq!(store.admin_invite("back", Timestamp(9)).await.unwrap(), None, "a link of one who is locked out");
    assert_eq!(join(store, "back", "ada", 9).await, Joined::Void, "nor does it work");
    let audit = store.audit_entries(&AuditFilter::default(), 10).await.unwrap();
    let ids: Vec<&str> = audit.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["3", "2", "0-late-ben", "0-first-ada"], "what was refused is no action");
    let of_eve = AuditFilter { actor: Some("eve".into()), ..AuditFilter::default() };
    assert_eq!(store.audit_entries(&of_eve, 10).await.unwrap(), []);
    let joined =
        AuditFilter { action: Some("join".into()), before: Some("0-late-ben".into()), ..AuditFilter::default() };
    assert_eq!(store.audit_entries(&joined, 10).await.unwrap().len(), 1);
}

pub(super) async fn of_two_owners_who_demote_each_other_one_stays(store: &Store) {
    for (link, name) in [("one", "ada"), ("two", "ben")] {
        invite(store, link, Role::Owner, false).await;
        assert_eq!(join(store, link, name, 2).await, Joined::Done);
    }
    let demote = async |name: &str, id: &str| {
        let (user, change) = (store.admin_user(name).await.unwrap().unwrap(), UserChange::Role(Role::Viewer));
        store.change_admin_user(&user, change, Timestamp(9), &entry(id, AdminAction::ChangeRole)).await.unwrap()
    };
    let (ada, ben) = futures_util::join!(demote("ada", "1"), demote("ben", "2"));
    assert!(ada != ben, "{ada} {ben}");
    assert!(store.has_admin_owner().await.unwrap());
}

pub(super) async fn an_owner_who_cannot_sign_in_does_not_count_as_another_one(store: &Store) {
    for (link, name) in [("one", "ada"), ("two", "ben")] {
        invite(store, link, Role::Owner, false).await;
        assert_eq!(join(store, link, name, 2).await, Joined::Done);
    }
    let awaited = NewProviderUser {
        id: "id of eve",
        name: "eve",
        role: Role::Owner,
        role_from: RoleSource::Owner,
        identity: IdentityHash::Email("hash"),
        created_at: Timestamp(2),
    };
    store.add_provider_admin(awaited, &entry("added", AdminAction::AddUser)).await.unwrap();
    let change = async |name: &str, change: UserChange, id: &str| {
        let user = store.admin_user(name).await.unwrap().unwrap();
        store.change_admin_user(&user, change, Timestamp(9), &entry(id, AdminAction::ChangeRole)).await.unwrap()
    };
    assert!(change("ben", UserChange::Reset, "1").await);
    for (number, refused) in [UserChange::Role(Role::Viewer), UserChange::Disable].into_iter().enumerate() {
        assert!(!change("ada", refused, &format!("2-{number}")).await, "{refused:?}: ben and eve have not come");
    }
    assert!(store.bind_admin_identity("id of eve", "subject").await.unwrap());
    assert!(change("ada", UserChange::Role(Role::Viewer), "3").await, "eve has come");
}

pub(super) async fn an_owner_who_cannot_sign_in_is_demoted_and_locked_out_where_no_owner_can(store: &Store) {
    for (link, name) in [("one", "ada"), ("two", "ben"), ("three", "eve")] {
        invite(store, link, Role::Owner, false).await;
        assert_eq!(join(store, link, name, 2).await, Joined::Done);
    }
    let change = async |name: &str, change: UserChange, id: &str| {
        let user = store.admin_user(name).await.unwrap().unwrap();
        store.change_admin_user(&user, change, Timestamp(9), &entry(id, AdminAction::ChangeRole)).await.unwrap()
    };
    for (number, name) in ["ada", "ben", "eve"].into_iter().enumerate() {
        assert!(change(name, UserChange::Reset, &format!("1-{number}")).await, "{name}");
    }
    assert!(change("ada", UserChange::Role(Role::Viewer), "2").await, "ada could not sign in");
    assert!(change("ben", UserChange::Disable, "3").await, "nor could ben");
    assert!(change("ben", UserChange::Role(Role::Viewer), "4").await, "who is locked out");
    assert!(store.has_admin_owner().await.unwrap(), "eve is left");
}

pub(super) async fn a_role_is_changed_only_from_the_one_that_was_read(store: &Store) {
    for (link, name, role) in [("one", "ada", Role::Owner), ("two", "ben", Role::Viewer)] {
        invite(store, link, role, false).await;
        assert_eq!(join(store, link, name, 2).await, Joined::Done);
    }
    let as_both_owners_read_it = store.admin_user("ben").await.unwrap().unwrap();
    let change = async |change: UserChange, id: &str| {
        let entry = entry(id, AdminAction::ChangeRole);
        store.change_admin_user(&as_both_owners_read_it, change, Timestamp(9), &entry).await.unwrap()
    };
    assert!(change(UserChange::Role(Role::Operator), "1").await);
    assert!(!change(UserChange::Role(Role::Owner), "2").await, "its entry would say that ben was a viewer");
    assert!(!change(UserChange::Enable, "3").await, "nor is there an entry of what is so already");
    assert_eq!(store.admin_user("ben").await.unwrap().unwrap().role, Role::Operator);
    let audit = store.audit_entries(&AuditFilter::default(), 1).await.unwrap();
    assert_eq!(audit[0].id, "1");
}

pub(super) async fn the_links_of_an_owner_whose_claim_gives_less_are_void(store: &Store) {
    invite(store, "first", Role::Owner, true).await;
    join(store, "first", "ada", 2).await;
    invite_by(store, "made", Role::Owner, false, "ada").await;
    invite_by(store, "of another", Role::Viewer, false, "ben").await;
    let is_open = async |link: &str| store.admin_invite(link, Timestamp(9)).await.unwrap().is_some();
    let changed = entry("1", AdminAction::ChangeRole);
    store.set_claimed_role("id of ada", Role::Owner, &changed).await.unwrap();
    assert!(is_open("made").await, "still an owner");
    store.set_claimed_role("id of ada", Role::Viewer, &NewAuditEntry { id: "2".to_owned(), ..changed }).await.unwrap();
    assert!(!is_open("made").await, "it would make an owner of who is none any more");
    assert!(is_open("of another").await);
}

pub(super) async fn a_confirmed_leak_leaves_the_queue_and_failures_are_counted(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
        store.insert_vote(&vote(&format!("vote of {id}"), id, 1)).await.unwrap();
    }
    let decision = NewExclusions {
        id: "d".into(),
        rule: "identity_leak".into(),
        reason: "names itself".into(),
        decided_by: "rules".into(),
        decided_at: Timestamp(5),
    };
    assert_eq!(store.exclude(&decision, &[1, 2], Some(&entry("9", AdminAction::ExcludeVotes))).await.unwrap(), 2);
    assert_eq!(store.open_leaks().await.unwrap(), 2);
    let first = store.next_leak(0).await.unwrap().unwrap();
    assert_eq!((first.seq, first.reason.as_str(), first.battle.as_str()), (1, "names itself", "x"));
    assert_eq!(store.next_leak(1).await.unwrap().unwrap().seq, 2, "one can be skipped");
    let confirmed = NewAuditEntry { subject: "vote 1".into(), ..entry("a", AdminAction::ConfirmLeak) };
    store.add_audit_entry(&confirmed).await.unwrap();
    assert_eq!(store.next_leak(0).await.unwrap().unwrap().seq, 2);
    store
        .withdraw_exclusions(&[2], None, "ada", Timestamp(6), Some(&entry("b", AdminAction::IncludeVotes)))
        .await
        .unwrap();
    assert_eq!((store.next_leak(0).await.unwrap(), store.open_leaks().await.unwrap()), (None, 0));
    assert_eq!(store.decided_leak(1).await.unwrap(), Some(LeakDecision::Confirm));
    assert_eq!(store.decided_leak(2).await.unwrap(), Some(LeakDecision::Withdraw));
    assert_eq!(store.decided_leak(3).await.unwrap(), None);
    // What changes nothing has no entry.
    assert_eq!(store.exclude(&decision, &[1], Some(&entry("c", AdminAction::ExcludeVotes))).await.unwrap(), 0);
    let nothing = entry("d", AdminAction::IncludeVotes);
    assert_eq!(store.withdraw_exclusions(&[2], None, "ada", Timestamp(7), Some(&nothing)).await.unwrap(), 0);
    let kept = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    assert_eq!(kept.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["b", "a", "9"]);
    assert_eq!(store.failures_since(Timestamp(0), 9).await.unwrap(), []);
    let all = store.votes_since(Timestamp(i64::MIN)).await.unwrap();
    assert_eq!((all, store.votes_since(Timestamp(i64::MAX)).await.unwrap()), (2, 0));
}

pub(super) async fn of_two_decisions_about_one_leak_at_once_one_is_kept(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
        store.insert_vote(&vote(&format!("vote of {id}"), id, 1)).await.unwrap();
    }
    let leaks = NewExclusions {
        id: "d".into(),
        rule: "identity_leak".into(),
        reason: "names itself".into(),
        decided_by: "rules".into(),
        decided_at: Timestamp(5),
    };
    store.exclude(&leaks, &[1, 2], None).await.unwrap();
    let decide = async |vote: i64, decision: LeakDecision, id: &str| {
        let action = match decision {
            LeakDecision::Confirm => AdminAction::ConfirmLeak,
            LeakDecision::Withdraw => AdminAction::IncludeVotes,
        };
        let audit = NewAuditEntry { subject: format!("vote {vote}"), ..entry(id, action) };
        store.decide_leak(vote, decision, &audit).await.unwrap()
    };
    let (one, other) =
        futures_util::join!(decide(1, LeakDecision::Confirm, "a"), decide(1, LeakDecision::Confirm, "b"));
    let (confirmed, withdrawn) =
        futures_util::join!(decide(2, LeakDecision::Confirm, "c"), decide(2, LeakDecision::Withdraw, "d"));
    assert!(one != other && confirmed != withdrawn, "{one} {other}, {confirmed} {withdrawn}");
    assert_eq!(store.exclusions_of(2).await.unwrap()[0].withdrawn.is_some(), withdrawn);
    assert!(!decide(3, LeakDecision::Confirm, "e").await, "there is no such vote yet");
    let entries = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let mut subjects: Vec<&str> = entries.iter().map(|row| row.subject.as_str()).collect();
    subjects.sort_unstable();
    assert_eq!((subjects, store.open_leaks().await.unwrap()), (vec!["vote 1", "vote 2"], 0));
}

pub(super) async fn figures_are_of_recent_battles_that_are_over(store: &Store) {
    let id = |ms: u64, number: u8| format!("00000000-{ms:04x}-7000-8000-00000000000{number}");
    let (old, voted, replaced, waiting) = (id(99, 1), id(100, 2), id(200, 3), id(300, 4));
    for id in [&old, &voted, &waiting, &"imported-1".to_owned()] {
        ready(store, id).await;
    }
    let row = BattleRow { id: battle_id(&replaced), ..battle("x") };
    store.insert_battle(&row, "?", Timestamp(1)).await.unwrap();
    let failed = failure(Side::B, Some((ModelId::new("three"), 0.25)));
    assert!(store.record_side_failure(&battle_id(&replaced), &by("run"), &failed, Timestamp(2)).await.unwrap());
    let slow = NewReply { first_token_ms: Some(40), ..reply(Side::A, "A") };
    let replies = [slow, NewReply { model: ModelId::new("three"), ..reply(Side::B, "B") }];
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    store.finish_turn(&battle_id(&replaced), &by("run"), progress, &replies, Timestamp(3)).await.unwrap();
    for id in [&old, &voted, &replaced, &"imported-1".to_owned()] {
        store.insert_vote(&vote(&format!("vote of {id}"), id, 1)).await.unwrap();
    }
    let stats = store.model_stats_since(Timestamp(100)).await.unwrap();
    let of = |battles, replies, failures, first| ModelStats { battles, replies, failures, first_token_ms: first };
    let expected = [
        ("one".to_owned(), of(2, 2, 0, Some(12))),
        ("three".to_owned(), of(1, 1, 0, Some(12))),
        ("two".to_owned(), of(1, 1, 1, Some(12))),
    ];
    assert_eq!((stats.battles, stats.models), (2, expected.into()));
    let two = (ModelId::new("two"), FailedBattles { failed: 1, replaced: 1 });
    assert_eq!(store.failed_battles(0, 0).await.unwrap(), BTreeMap::from([two]));
    assert_eq!(store.failed_battles(1, 9).await.unwrap(), BTreeMap::new(), "of the days that are asked for");
    for id in [&voted, &replaced] {
        let target = DeletionTarget { battle: battle_id(id), visitor: None };
        store.delete_texts_of_target(&target).await.unwrap();
    }
    let stats = store.model_stats_since(Timestamp(100)).await.unwrap();
    let expected = [
        ("one".to_owned(), of(2, 2, 0, Some(12))),
        ("three".to_owned(), of(1, 1, 0, None)),
        ("two".to_owned(), of(1, 1, 1, None)),
    ];
    assert_eq!((stats.battles, stats.models), (2, expected.into()), "votes know what deleted replies were");
}

pub(super) async fn sessions_codes_and_recovery_codes_end(store: &Store) {
    invite(store, "first", Role::Owner, true).await;
    join(store, "first", "ada", 2).await;
    let user_id = "id of ada";
    for (id, created_at, expires_at) in [("a", 10, 100), ("b", 20, 50)] {
        let session = NewAdminSession {
            id,
            token_hash: id,
            user_id,
            address: "127.0.0.1",
            created_at: Timestamp(created_at),
            expires_at: Timestamp(expires_at),
        };
        store.begin_admin_session(session, &entry(&format!("5-{id}"), AdminAction::SignIn)).await.unwrap();
    }
    let found = async |token: &str, now: i64| {
        let age = SessionAge { now: Timestamp(now), seen_after: Timestamp(now - 40) };
        store.admin_session(token, age).await.unwrap().is_some()
    };
    assert!(found("a", 49).await && found("b", 49).await && !found("c", 49).await);
    assert!(!found("b", 50).await, "its hours are over");
    assert!(!found("a", 50).await, "nobody has used it for too long");
    store.touch_admin_session("a", Timestamp(50)).await.unwrap();
    assert!(found("a", 89).await && !found("a", 100).await);
    assert!(
        !store.end_admin_session("a", "id of eve", Timestamp(51), &entry("6", AdminAction::SignOut)).await.unwrap()
    );
    assert!(store.end_admin_session("a", user_id, Timestamp(51), &entry("7", AdminAction::SignOut)).await.unwrap());
    assert!(!found("a", 51).await);

    store.begin_admin_totp(user_id, "secret", Timestamp(60)).await.unwrap();
    let codes = ["x".to_owned(), "y".to_owned()];
    let on = entry("8", AdminAction::EnableTotp);
    assert!(!store.confirm_admin_totp(user_id, "another", 7, &codes, &on).await.unwrap());
    assert!(store.confirm_admin_totp(user_id, "secret", 7, &codes, &on).await.unwrap());
    let steps = [7, 8, 8, 6].map(|step| store.take_admin_totp(user_id, step));
    let mut taken = Vec::new();
    for step in steps {
        taken.push(step.await.unwrap());
    }
    assert_eq!(taken, [false, true, false, false], "a code is taken once, and none before it");
    let mut taken = Vec::new();
    for code in ["x", "x", "z", "y"] {
        taken.push(store.take_admin_recovery_code(user_id, code, Timestamp(9)).await.unwrap());
    }
    assert_eq!(taken, [true, false, false, true]);
}
