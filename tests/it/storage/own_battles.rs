//! The contract of a visitor's own battles.

use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, Outcome, Side, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::storage::{BattleRow, InsertedVote, OwnBattlesFilter, Store};

use super::{battle, by, ready, reply, stage, vote};

fn visitor() -> VisitorId {
    VisitorId::new("visitor")
}

fn all() -> OwnBattlesFilter {
    OwnBattlesFilter { limit: 10, ..OwnBattlesFilter::default() }
}

async fn ids(store: &Store, filter: OwnBattlesFilter) -> Vec<String> {
    let rows = store.own_battles(&visitor(), &filter).await.unwrap();
    rows.into_iter().map(|row| row.id.to_string()).collect()
}

pub(super) async fn ask(store: &Store, id: &str, visitor: &str, prompt: &str) {
    let row = BattleRow { visitor: VisitorId::new(visitor), ..battle(id) };
    store.insert_battle(&row, prompt, Timestamp(1_000)).await.unwrap();
}

pub(super) async fn own_battles_are_found_again_with_models_only_after_a_vote(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
    }
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    ask(store, "z", "visitor", "100% of a_b, ABC?").await;
    ask(store, "foreign", "somebody else", "100% of a_b?").await;
    ask(store, "imported", "", "100% of a_b?").await;
    assert_eq!(ids(store, all()).await, ["z", "y", "x"]);
    let rows = store.own_battles(&visitor(), &all()).await.unwrap();
    let votes: Vec<_> = rows.iter().map(|row| (row.outcome, row.models.clone())).collect();
    let models = ["one", "two"].map(|model| Some(ModelId::new(model)));
    assert_eq!(votes, [(None, [None, None]), (None, [None, None]), (Some(Outcome::BWins), models)]);
    assert_eq!((rows[2].prompt.as_deref(), rows[2].turns, rows[2].stage), (Some("琅琊榜?"), 1, Stage::Voted));
    assert_eq!((rows[2].created_at, &rows[2].share), (Timestamp(1_000), &None));

    let page = OwnBattlesFilter { before: Some(BattleId::new("z")), limit: 1, search: None };
    assert_eq!(ids(store, page).await, ["y"]);
    for (search, found) in
        [("琅琊", &["y", "x"][..]), ("0% of", &["z"]), ("0_ of", &[]), ("abc", &["z"]), ("a%b", &[]), ("A_B", &["z"])]
    {
        let filter = OwnBattlesFilter { search: Some(search.into()), ..all() };
        assert_eq!(ids(store, filter).await, found, "{search}");
    }
    assert!(store.own_battles(&VisitorId::new(""), &all()).await.unwrap().is_empty(), "imports are nobody's");
}

pub(super) async fn only_its_visitor_shares_a_battle_and_only_after_the_vote(store: &Store) {
    ready(store, "x").await;
    let (x, stranger) = (BattleId::new("x"), VisitorId::new("stranger"));
    store.share_battle(&x, &visitor(), "before the vote", Timestamp(3)).await.unwrap();
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    store.share_battle(&x, &stranger, "of a stranger", Timestamp(3)).await.unwrap();
    assert_eq!(store.share_of(&x).await.unwrap(), None);
    for token in ["first", "second"] {
        store.share_battle(&x, &visitor(), token, Timestamp(3)).await.unwrap();
    }
    assert_eq!(store.share_of(&x).await.unwrap().as_deref(), Some("first"), "a link stays as it is");
    store.withdraw_share(&x, &stranger).await.unwrap();
    assert_eq!(store.shared_battle("first").await.unwrap(), Some(x.clone()));
    assert_eq!(store.own_battles(&visitor(), &all()).await.unwrap()[0].share.as_deref(), Some("first"));
    store.withdraw_share(&x, &visitor()).await.unwrap();
    assert_eq!((store.shared_battle("first").await.unwrap(), store.share_of(&x).await.unwrap()), (None, None));
}

pub(super) async fn texts_are_deleted_for_good_and_votes_stay(store: &Store) {
    for id in ["voted", "open"] {
        ready(store, id).await;
    }
    ask(store, "answering", "visitor", "And this?").await;
    ask(store, "foreign", "somebody else", "Mine?").await;
    store.insert_vote(&vote("v", "voted", 1)).await.unwrap();
    store.share_battle(&BattleId::new("voted"), &visitor(), "token", Timestamp(3)).await.unwrap();
    let before = store.vote_on(&BattleId::new("voted")).await.unwrap().unwrap();

    assert_eq!(store.delete_texts_of(&visitor(), Timestamp(4)).await.unwrap(), 3);
    let [open, answering] = ["open", "answering"].map(BattleId::new);
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    let late = [reply(Side::A, "late"), reply(Side::B, "late")];
    assert!(!store.finish_turn(&answering, &by("run"), progress, &late, Timestamp(5)).await.unwrap());
    assert!(!store.begin_turn(&open, 2, Some("And?"), Some(&by("run")), &by("late"), Timestamp(5)).await.unwrap());
    assert_eq!(store.insert_vote(&vote("late", "open", 1)).await.unwrap(), InsertedVote::BattleMoved);
    for id in ["voted", "open", "answering"] {
        let record = store.battle_record(&BattleId::new(id)).await.unwrap().unwrap();
        assert!(record.turns.is_empty() && record.replies.is_empty(), "{record:?}");
    }
    assert_eq!((stage(store, "voted").await, stage(store, "open").await), (Stage::Voted, Stage::Abandoned));
    assert_eq!(store.vote_on(&BattleId::new("voted")).await.unwrap().unwrap(), before);
    assert_eq!(store.shared_battle("token").await.unwrap(), None);
    assert_eq!(store.turns(&BattleId::new("foreign")).await.unwrap().len(), 1);
    let rows = store.own_battles(&visitor(), &all()).await.unwrap();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.prompt.is_none()), "{rows:?}");
    assert_eq!(store.delete_texts_of(&visitor(), Timestamp(6)).await.unwrap(), 0, "nothing is left");
    assert_eq!(store.delete_texts_of(&VisitorId::new(""), Timestamp(6)).await.unwrap(), 0, "imports are nobody's");
}

pub(super) async fn texts_past_their_age_go_and_nothing_else_does(store: &Store) {
    for id in ["voted", "open", "young"] {
        ready(store, id).await;
    }
    let young = BattleRow { visitor: VisitorId::new("later"), ..battle("younger") };
    store.insert_battle(&young, "Later?", Timestamp(2_000)).await.unwrap();
    for id in ["voted", "young"] {
        store.insert_vote(&vote(id, id, 1)).await.unwrap();
    }
    store.share_battle(&BattleId::new("voted"), &visitor(), "token", Timestamp(3)).await.unwrap();
    assert_eq!(store.battles_with_texts_before(Timestamp(1_000)).await.unwrap(), 0, "a text of this very age stays");
    assert_eq!(store.battles_with_texts_before(Timestamp(1_001)).await.unwrap(), 2, "an open battle is none of them");
    assert_eq!(store.delete_texts_before(Timestamp(1_001)).await.unwrap(), 2);
    for (id, turns) in [("voted", 0), ("young", 0), ("open", 1), ("younger", 1)] {
        assert_eq!(store.turns(&BattleId::new(id)).await.unwrap().len(), turns, "{id}");
        assert_eq!(store.has_texts(&BattleId::new(id)).await.unwrap(), turns > 0, "{id}");
    }
    assert!(store.vote_on(&BattleId::new("voted")).await.unwrap().is_some());
    assert_eq!(store.shared_battle("token").await.unwrap(), None);
    assert_eq!(store.delete_texts_before(Timestamp(1_001)).await.unwrap(), 0, "nothing is left");
}
