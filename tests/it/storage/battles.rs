//! Battles and their turns: what begins, ends and is answered again, and what is sent twice.

use std::sync::atomic::{AtomicBool, Ordering};

use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, RunId, Side};
use langya::domain::time::Timestamp;
use langya::infra::storage::{
    BattleRecord, BattleRow, EditedTurn, InsertedVote, NewReply, ReplyEnding, SideFailure, Store, StoreError,
};

use super::{battle, battle_id, by, failure, ready, reply, stage, vote};
use crate::support::arena::card;

pub(super) async fn a_battle_is_read_back_as_it_was_kept(store: &Store) {
    ready(store, "x").await;
    let (row, new) = (store.battle(&battle_id("x")).await.unwrap().unwrap(), battle("x"));
    assert_eq!((row.visitor, row.models, row.pairing_policy), (new.visitor, new.models, new.pairing_policy));
    assert_eq!((row.policy_version, row.pair_probability), (new.policy_version, new.pair_probability));
    assert_eq!((row.language, row.category, row.intent), (new.language, new.category, new.intent));
    assert_eq!(row.answered_by, new.answered_by);
    assert_eq!(row.progress, Progress { stage: Stage::Ready, turn: 1 });
    let turns = store.turns(&battle_id("x")).await.unwrap();
    assert_eq!((turns.len(), turns[0].turn, turns[0].prompt.as_str()), (1, 1, "琅琊榜?"));
    assert_eq!(replies(store, "x").await, [reply(Side::A, "A"), reply(Side::B, "B")]);
    let record = store.battle_record(&battle_id("x")).await.unwrap().unwrap();
    let (turns, replies) = (store.turns(&battle_id("x")).await.unwrap(), store.replies(&battle_id("x")).await.unwrap());
    let battle_row = store.battle(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!(record, BattleRecord { battle: battle_row, turns, replies, images: Vec::new() });
    assert!(store.battle(&battle_id("y")).await.unwrap().is_none());
    assert!(store.battle_record(&battle_id("y")).await.unwrap().is_none());
    let other = BattleRow { answered_by: Some(by("other")), ..battle("x") };
    let refused = store.insert_battle(&other, "琅琊榜?", Timestamp(1_000)).await.unwrap_err();
    assert!(matches!(refused, StoreError::IdInUse(_)), "an id is used once: {refused}");
}

/// Turns begin and end while the record is read: an instance that read them one after the other showed a turn as ended
/// that another one was answering.
pub(super) async fn a_record_is_of_one_moment(store: &Store) {
    const TURNS: u32 = 60;
    ready(store, "x").await;
    let over = AtomicBool::new(false);
    let battle = async {
        for turn in 2..=TURNS {
            let (former, run) = (run_of(turn - 1), run_of(turn));
            assert!(
                store.begin_turn(&battle_id("x"), turn, Some("And?"), Some(&former), &run, Timestamp(3)).await.unwrap()
            );
            let progress = Progress { stage: Stage::Ready, turn };
            let replies = [reply(Side::A, "A"), reply(Side::B, "B")];
            assert!(store.finish_turn(&battle_id("x"), &run, progress, &replies, Timestamp(4)).await.unwrap());
        }
        over.store(true, Ordering::Relaxed);
    };
    let read = async {
        while !over.load(Ordering::Relaxed) {
            let BattleRecord { battle, turns, replies, .. } =
                store.battle_record(&battle_id("x")).await.unwrap().unwrap();
            let Progress { stage, turn } = battle.progress;
            let answered = turn - u32::from(stage == Stage::Answering);
            assert_eq!(turns.last().map(|last| last.turn), Some(turn), "{stage:?}");
            assert_eq!(replies.len(), 2 * answered as usize, "{stage:?} in turn {turn}");
        }
    };
    tokio::join!(battle, read);
}

/// The run that answers a turn; the first one's is the one of [`battle`].
fn run_of(turn: u32) -> RunId {
    if turn == 1 { by("run") } else { by(&format!("run {turn}")) }
}

pub(super) async fn a_turn_begins_only_where_the_battle_is_ready(store: &Store) {
    ready(store, "x").await;
    assert!(
        !store
            .begin_turn(&battle_id("x"), 3, Some("Skipped?"), Some(&by("run")), &by("far"), Timestamp(3))
            .await
            .unwrap(),
        "turn 2 comes first"
    );
    assert!(
        !store
            .begin_turn(&battle_id("x"), 2, Some("And?"), Some(&by("former")), &by("late"), Timestamp(3))
            .await
            .unwrap(),
        "other replies"
    );
    assert!(
        !store.begin_turn(&battle_id("x"), 1, None, None, &by("late"), Timestamp(3)).await.unwrap(),
        "other replies"
    );
    assert!(
        store
            .begin_turn(&battle_id("x"), 2, Some("And?"), Some(&by("run")), &by("second"), Timestamp(3))
            .await
            .unwrap()
    );
    assert!(
        !store.begin_turn(&battle_id("x"), 2, None, Some(&by("second")), &by("third"), Timestamp(4)).await.unwrap(),
        "it is being answered"
    );
    assert!(
        !store
            .begin_turn(&battle_id("x"), 3, Some("Again?"), Some(&by("second")), &by("third"), Timestamp(4))
            .await
            .unwrap(),
        "it is being answered"
    );
    assert!(
        !store.begin_turn(&battle_id("y"), 1, None, None, &by("third"), Timestamp(4)).await.unwrap(),
        "it does not exist"
    );
    assert_eq!(store.turns(&battle_id("x")).await.unwrap().len(), 2);
    let row = store.battle(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!(row.progress, Progress { stage: Stage::Answering, turn: 2 });
    assert_eq!(row.answered_by, Some(by("second")));
}

pub(super) async fn an_edited_prompt_replaces_the_one_of_its_turn(store: &Store) {
    ready(store, "x").await;
    let edited = |prompt| EditedTurn { turn: 1, prompt, language: Some("en") };
    let (x, run, edit) = (battle_id("x"), by("run"), by("edit"));
    assert!(store.edit_turn(&x, edited("Which board?"), Some(&run), &edit, Timestamp(3)).await.unwrap());
    assert!(store.edit_turn(&x, edited("Which board?"), Some(&run), &edit, Timestamp(3)).await.unwrap(), "sent again");
    let late = store.edit_turn(&x, edited("Too late"), Some(&run), &by("late"), Timestamp(4)).await.unwrap();
    assert!(!late, "another run answers it");
    let prompts: Vec<String> = store.turns(&x).await.unwrap().into_iter().map(|turn| turn.prompt).collect();
    assert_eq!(prompts, ["Which board?"]);
    let row = store.battle(&x).await.unwrap().unwrap();
    assert_eq!((row.progress, row.language.as_str()), (Progress { stage: Stage::Answering, turn: 1 }, "en"));
}

pub(super) async fn a_regenerated_answer_replaces_the_reply(store: &Store) {
    ready(store, "x").await;
    assert!(store.begin_turn(&battle_id("x"), 1, None, Some(&by("run")), &by("anew"), Timestamp(3)).await.unwrap());
    let anew = NewReply { ending: ReplyEnding::Cut, first_token_ms: None, ..reply(Side::A, "Anew") };
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    assert!(
        store
            .finish_turn(&battle_id("x"), &by("anew"), progress, std::slice::from_ref(&anew), Timestamp(4))
            .await
            .unwrap()
    );
    assert_eq!(replies(store, "x").await, [anew, reply(Side::B, "B")]);
}

async fn replies(store: &Store, id: &str) -> Vec<NewReply> {
    store.replies(&BattleId::new(id)).await.unwrap().into_iter().map(|row| row.reply).collect()
}

pub(super) async fn a_failed_side_is_replaced_or_voids_the_battle(store: &Store) {
    store.register_models(&["one", "two", "three"].map(card), Timestamp(1)).await.unwrap();
    store.insert_battle(&battle("x"), "琅琊榜?", Timestamp(1_000)).await.unwrap();
    let replaced = failure(Side::B, Some((ModelId::new("three"), 0.25)));
    assert!(store.record_side_failure(&battle_id("x"), &by("run"), &replaced, Timestamp(2)).await.unwrap());
    let row = store.battle(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!((row.models, row.pair_probability), ([ModelId::new("one"), ModelId::new("three")], 0.25));
    assert_eq!(row.progress.stage, Stage::Answering);
    assert!(
        store.record_side_failure(&battle_id("x"), &by("run"), &failure(Side::A, None), Timestamp(3)).await.unwrap()
    );
    assert_eq!(stage(store, "x").await, Stage::Voided);
    let finish = async |stage, replies: &[NewReply]| {
        store
            .finish_turn(&battle_id("x"), &by("run"), Progress { stage, turn: 1 }, replies, Timestamp(4))
            .await
            .unwrap()
    };
    assert!(!finish(Stage::Ready, &[]).await, "what is void stays void");
    assert!(finish(Stage::Voided, &[reply(Side::A, "A")]).await, "what was shown of it is kept");
    assert_eq!((stage(store, "x").await, replies(store, "x").await), (Stage::Voided, vec![reply(Side::A, "A")]));
}

pub(super) async fn what_is_sent_again_is_kept_once(store: &Store) {
    store.register_models(&["one", "two", "three"].map(card), Timestamp(1)).await.unwrap();
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    let voided = failure(Side::A, None);
    for _ in 0..2 {
        store.insert_battle(&battle("x"), "琅琊榜?", Timestamp(1_000)).await.unwrap();
    }
    for _ in 0..2 {
        assert!(
            store
                .finish_turn(&battle_id("x"), &by("run"), progress, &[reply(Side::A, "A")], Timestamp(2))
                .await
                .unwrap()
        );
    }
    for _ in 0..2 {
        assert!(
            store
                .begin_turn(&battle_id("x"), 2, Some("And?"), Some(&by("run")), &by("second"), Timestamp(3))
                .await
                .unwrap()
        );
    }
    for _ in 0..2 {
        let taken =
            store.take_over_turn(&battle_id("x"), Some(&by("second")), &by("third"), Timestamp(4)).await.unwrap();
        assert!(taken.is_some());
    }
    for _ in 0..2 {
        let failed = SideFailure { turn: 2, ..voided.clone() };
        assert!(store.record_side_failure(&battle_id("x"), &by("third"), &failed, Timestamp(5)).await.unwrap());
    }
    assert_eq!((store.turns(&battle_id("x")).await.unwrap().len(), replies(store, "x").await.len()), (2, 1));
    assert_eq!(stage(store, "x").await, Stage::Voided);
}

pub(super) async fn a_turn_belongs_to_the_run_that_took_it_last(store: &Store) {
    ready(store, "x").await;
    let take_over = async |from: Option<&str>, run: &str| {
        let from = from.map(by);
        store.take_over_turn(&battle_id("x"), from.as_ref(), &by(run), Timestamp(4)).await.unwrap()
    };
    assert_eq!(take_over(Some("run"), "new").await, None, "nobody answers it");
    assert!(store.begin_turn(&battle_id("x"), 1, None, Some(&by("run")), &by("slow"), Timestamp(3)).await.unwrap());
    let replaced = failure(Side::B, Some((ModelId::new("three"), 0.25)));
    assert!(store.record_side_failure(&battle_id("x"), &by("slow"), &replaced, Timestamp(3)).await.unwrap());
    assert_eq!(take_over(None, "new").await, None, "slow answers it");
    let taken = take_over(Some("slow"), "new").await.unwrap();
    let left = taken.battle;
    assert_eq!((left.models, left.pair_probability), (["one", "three"].map(ModelId::new), 0.25), "as slow left them");
    assert_eq!(take_over(Some("slow"), "late").await, None, "new answers it");
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    let late = [reply(Side::A, "too late")];
    assert!(!store.finish_turn(&battle_id("x"), &by("slow"), progress, &late, Timestamp(6)).await.unwrap());
    assert!(
        !store.record_side_failure(&battle_id("x"), &by("slow"), &failure(Side::A, None), Timestamp(6)).await.unwrap()
    );
    let row = store.battle(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!((row.progress.stage, row.answered_by), (Stage::Answering, Some(by("new"))));
    assert_eq!(replies(store, "x").await, [reply(Side::A, "A"), reply(Side::B, "B")]);
    assert!(
        store.finish_turn(&battle_id("x"), &by("new"), progress, &[reply(Side::A, "new")], Timestamp(7)).await.unwrap()
    );
    assert_eq!(replies(store, "x").await[0].text, "new");
}

pub(super) async fn a_turn_from_before_runs_had_names_is_taken_over(store: &Store) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    let old = BattleRow { answered_by: None, ..battle("x") };
    store.insert_battle(&old, "琅琊榜?", Timestamp(1_000)).await.unwrap();
    let (id, new) = (battle_id("x"), by("new"));
    assert_eq!(store.take_over_turn(&id, Some(&by("run")), &new, Timestamp(2)).await.unwrap(), None);
    assert!(store.take_over_turn(&id, None, &new, Timestamp(2)).await.unwrap().is_some());
    assert_eq!(store.battle(&battle_id("x")).await.unwrap().unwrap().answered_by, Some(by("new")));
}

pub(super) async fn only_idle_battles_without_a_vote_are_abandoned(store: &Store) {
    for id in ["voted", "idle"] {
        ready(store, id).await;
    }
    store.insert_vote(&vote("v", "voted", 1)).await.unwrap();
    assert_eq!(
        store.abandon_battles(Timestamp(1_500), Timestamp(i64::MAX)).await.unwrap(),
        0,
        "touched at that very moment"
    );
    assert_eq!(store.abandon_battles(Timestamp(9_000), Timestamp(i64::MAX)).await.unwrap(), 1);
    assert_eq!((stage(store, "idle").await, stage(store, "voted").await), (Stage::Abandoned, Stage::Voted));
    assert_eq!(store.insert_vote(&vote("w", "idle", 1)).await.unwrap(), InsertedVote::BattleMoved);
}
