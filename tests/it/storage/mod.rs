//! What every database backend promises: the contract as functions over [`Store`], run on SQLite and on PostgreSQL. What is
//! one backend's own stands in its file.

mod admin;
mod api_keys;
pub(crate) mod bench;
mod bench_batches;
mod bench_plans;
mod consents;
mod exclusions;
mod fits;
pub(crate) mod images;
mod labels;
mod leak_checks;
mod migrations;
pub(crate) mod model_register;
mod modes;
mod operations;
mod outages;
mod own_battles;
pub(crate) mod partitions;
mod postgres;
pub(crate) mod public_log;
mod question_digests;
mod sqlite;
pub(crate) mod verdicts;
pub(crate) mod voter_check;
mod webhooks;

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use langya::domain::battle::mode::BattleMode;
use langya::domain::battle::state::{Progress, Stage};
use langya::domain::battle::text_counts::TextCounts;
use langya::domain::battle::vote_reasons::ReasonSet;
use langya::domain::battle::{BattleId, ModelId, Outcome, RunId, Side, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::llm::ModelCard;
use langya::infra::storage::{
    BattleRecord, BattleRow, BreakerReport, EditedTurn, InsertedVote, InstanceRow, NewExclusion, NewReply, NewVoteRow,
    ReplyEnding, SideFailure, Store, StoreError, StoredLeaderboard,
};
use langya::services::leaderboard::refit::{LatestLeaderboard, LeaderboardSnapshot};

use admin::{
    a_confirmed_leak_leaves_the_queue_and_failures_are_counted, a_link_makes_one_account_and_the_last_owner_stays,
    figures_are_of_recent_battles_that_are_over, of_two_decisions_about_one_leak_at_once_one_is_kept,
    of_two_owners_who_demote_each_other_one_stays, sessions_codes_and_recovery_codes_end,
    the_links_of_an_owner_whose_claim_gives_less_are_void,
};
use api_keys::a_key_is_found_by_its_hash_until_it_expires_or_is_revoked;
use bench::{
    a_data_file_is_kept_once_and_in_its_order, a_data_file_with_an_item_that_cannot_be_kept_leaves_nothing,
    a_run_is_kept_with_what_it_has_come_to, a_score_that_is_no_number_is_not_kept, a_suite_is_run_by_one_at_a_time,
    an_answer_to_a_question_is_kept_once, attempts_stay_open_until_their_result_is_there,
    failures_may_repeat_and_a_verdict_is_kept_once, prompts_of_a_campaign_are_added_once_and_stand_in_no_list,
    published_scores_are_replaced_by_their_successors, scores_are_made_of_what_the_rows_say,
    what_a_judge_said_to_a_prompt_is_found_again, what_failed_counts_once_unless_there_is_a_verdict,
};
use bench_batches::a_batch_is_open_until_its_replies_are_taken;
use bench_plans::{one_plan_runs_at_a_time_and_is_stopped_and_ended_once, runs_are_found_by_their_plan};
use exclusions::{
    an_exclusion_is_stored_with_its_vote_or_not_at_all, an_exclusion_stands_beside_the_vote_and_can_be_withdrawn,
    decisions_are_undone_to_the_last_bit, exclusions_of_one_decision_are_in_the_order_of_their_votes,
    many_votes_are_excluded_and_rated_again_in_one_step, the_leaderboard_follows_exclusions_and_withdrawals,
};
use fits::{
    counts_of_more_votes_stay, stored_counts_equal_a_fresh_count,
    the_log_is_read_in_pages_with_the_columns_that_are_wanted,
};

use consents::a_consent_is_kept_once_with_its_text;
use leak_checks::a_vote_is_checked_once_and_excluded_with_its_check;
use modes::a_battle_on_chosen_models_is_kept_apart_and_its_vote_is_never_rated;
use operations::{
    a_target_loses_its_texts_and_nobody_else_does, changes_of_campaigns_have_their_entries,
    flags_are_decided_once_and_end_with_their_texts,
    judgements_of_a_rated_campaign_are_votes_until_they_are_taken_back_or_left_out,
    one_request_about_the_same_texts_waits_and_is_decided_once,
};
use own_battles::{
    only_its_visitor_shares_a_battle_and_only_after_the_vote,
    own_battles_are_found_again_with_models_only_after_a_vote, texts_are_deleted_for_good_and_votes_stay,
    texts_past_their_age_go_and_nothing_else_does,
};

use public_log::{
    a_deletion_beside_an_append_leaves_no_salt, an_entry_commits_to_what_it_does_not_show,
    exclusions_and_withdrawals_follow_their_votes, instances_that_share_a_folder_see_no_log_that_shrank,
    nothing_is_signed_against_an_earlier_checkpoint, of_two_that_append_one_has_its_way,
    texts_that_are_deleted_while_their_vote_is_appended_leave_no_salt,
    votes_are_in_the_log_once_the_leaderboard_shows_them,
};

use model_register::{
    a_change_is_recorded_once_and_read_back_as_it_was, battles_are_counted_by_the_day_on_which_they_began,
};

use verdicts::{
    a_verdict_is_kept_once_and_failures_may_repeat, only_rated_votes_stand_beside_verdicts,
    what_is_settled_and_what_was_spent_is_known_since_a_moment,
};

use voter_check::flagged_voters_are_excluded_only_where_the_operator_says_so_and_never_again_once_let_back_in;

use question_digests::{
    a_digest_is_kept_for_the_text_that_it_was_made_of_alone, votes_on_a_question_are_found_until_its_text_is_gone,
};
use webhooks::a_message_waits_alone_is_sent_by_one_and_is_settled_once;

use images::{
    images_are_kept_with_their_battle_in_order_and_go_with_its_texts,
    who_deletes_all_texts_keeps_no_image_and_takes_nobody_elses,
};
use labels::{labels_are_kept_by_who_gave_them, the_queue_leaves_out_what_is_known};

use crate::support::arena::card;
use crate::support::postgres::TestDatabase;

const ALWAYS: [Timestamp; 2] = [Timestamp(i64::MIN), Timestamp(i64::MAX)];

fn battle_id(id: &str) -> BattleId {
    BattleId::new(id)
}

fn by(run: &str) -> RunId {
    RunId::new(run)
}

fn battle(id: &str) -> BattleRow {
    BattleRow {
        id: BattleId::new(id),
        visitor: VisitorId::new("visitor"),
        mode: BattleMode::Anonymous,
        progress: Progress { stage: Stage::Answering, turn: 1 },
        models: [ModelId::new("one"), ModelId::new("two")],
        pairing_policy: "weighted".into(),
        policy_version: 3,
        pair_probability: 0.1 + 0.2,
        language: "zh".into(),
        category: Some("maths".into()),
        intent: None,
        answered_by: Some(by("run")),
    }
}

fn reply(side: Side, text: &str) -> NewReply {
    NewReply {
        side,
        model: ModelId::new(["one", "two"][side.index()]),
        text: text.into(),
        reasoning: "Hm. 嗯".into(),
        ending: ReplyEnding::Complete,
        first_token_ms: Some(12),
        duration_ms: 345,
    }
}

pub(crate) fn vote(id: &str, battle: &str, turn: u32) -> NewVoteRow {
    NewVoteRow {
        id: id.into(),
        battle: BattleId::new(battle),
        turn,
        answered_by: Some(by("run")),
        outcome: Outcome::BWins,
        satisfaction: Some(4),
        reasons: ["useful,clear", ""].map(|text| ReasonSet::parse(text).unwrap()),
        first_token_ms: [Some(12), None],
        duration_ms: [345, 678],
        text_counts: [TextCounts::count("# One\n\n- two"), TextCounts::default()],
        receipt: "{\"vote\":1}".into(),
        created_at: Timestamp(2_000),
        exclusions: Vec::new(),
    }
}

pub(crate) async fn ready(store: &Store, id: &str) {
    store.register_models(&["one", "two", "three"].map(card), Timestamp(1)).await.unwrap();
    store.insert_battle(&battle(id), "琅琊榜?", Timestamp(1_000)).await.unwrap();
    let replies = [reply(Side::A, "A"), reply(Side::B, "B")];
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    store.finish_turn(&BattleId::new(id), &by("run"), progress, &replies, Timestamp(1_500)).await.unwrap();
}

/// Excludes the vote on a battle.
async fn exclude(store: &Store, battle: &str, rule: &str) {
    let vote_seq = store.vote_on(&BattleId::new(battle)).await.unwrap().unwrap().seq;
    let id = format!("{rule} on {battle}");
    let excluded_at = Timestamp(9);
    let exclusion = NewExclusion { id: &id, vote_seq, rule, reason: "a test", excluded_by: "ann", excluded_at };
    assert_eq!(store.exclude_votes(&[exclusion]).await.unwrap(), 1);
}

async fn stage(store: &Store, id: &str) -> Stage {
    store.battle(&BattleId::new(id)).await.unwrap().unwrap().progress.stage
}

async fn models_are_registered_renamed_and_kept(store: &Store) {
    store.register_models(&["b", "a"].map(card), Timestamp(1)).await.unwrap();
    let open = BreakerReport { state: "open".into(), failures: 7 };
    store.put_breaker(&ModelId::new("a"), &open, Timestamp(2)).await.unwrap();
    let renamed = ModelCard { name: "New name".into(), practice: true, ..card("a") };
    store.register_models(std::slice::from_ref(&renamed), Timestamp(3)).await.unwrap();
    let known = store.registered_models().await.unwrap();
    assert_eq!((&known[0].card, &known[0].breaker), (&renamed, &open), "a new name does not heal the breaker");
    let closed = BreakerReport { state: "closed".into(), failures: 0 };
    assert_eq!((&known[1].card, &known[1].breaker, known.len()), (&card("b"), &closed, 2));
}

async fn a_battle_is_read_back_as_it_was_kept(store: &Store) {
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
async fn a_record_is_of_one_moment(store: &Store) {
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

async fn a_turn_begins_only_where_the_battle_is_ready(store: &Store) {
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

async fn an_edited_prompt_replaces_the_one_of_its_turn(store: &Store) {
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

async fn an_answer_anew_replaces_the_reply(store: &Store) {
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

fn failure(side: Side, replacement: Option<(ModelId, f64)>) -> SideFailure {
    let model = ModelId::new(["one", "two"][side.index()]);
    SideFailure { turn: 1, side, model, reason: "timed out".into(), replacement }
}

async fn a_failed_side_is_replaced_or_voids_the_battle(store: &Store) {
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

async fn what_is_sent_again_is_kept_once(store: &Store) {
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

async fn a_turn_belongs_to_the_run_that_took_it_last(store: &Store) {
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
    assert_eq!((taken.models, taken.pair_probability), (["one", "three"].map(ModelId::new), 0.25), "as slow left them");
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

async fn a_turn_from_before_runs_had_names_is_taken_over(store: &Store) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    let old = BattleRow { answered_by: None, ..battle("x") };
    store.insert_battle(&old, "琅琊榜?", Timestamp(1_000)).await.unwrap();
    let (id, new) = (battle_id("x"), by("new"));
    assert_eq!(store.take_over_turn(&id, Some(&by("run")), &new, Timestamp(2)).await.unwrap(), None);
    assert!(store.take_over_turn(&id, None, &new, Timestamp(2)).await.unwrap().is_some());
    assert_eq!(store.battle(&battle_id("x")).await.unwrap().unwrap().answered_by, Some(by("new")));
}

async fn instances_know_of_each_other(store: &Store) {
    store.heartbeat("b", "settings", Timestamp(1)).await.unwrap();
    store.heartbeat("a", "settings", Timestamp(2)).await.unwrap();
    let rows = store.heartbeat("b", "others", Timestamp(3)).await.unwrap();
    let row = |id: &str, beats, settings: &str, started, seen| InstanceRow {
        id: id.into(),
        beats,
        settings: settings.into(),
        started_at: Timestamp(started),
        seen_at: Timestamp(seen),
    };
    assert_eq!(rows, [row("a", 1, "settings", 2, 2), row("b", 2, "others", 1, 3)]);
    store.forget_instance("a", 1).await.unwrap();
    store.forget_instance("b", 1).await.unwrap();
    assert_eq!(store.instances().await.unwrap(), [row("b", 2, "others", 1, 3)], "b has written since");
    store.leave("b").await.unwrap();
    assert_eq!(store.heartbeat("c", "", Timestamp(4)).await.unwrap(), [row("c", 1, "", 4, 4)]);
    assert_eq!(store.heartbeat("a", "", Timestamp(5)).await.unwrap()[0], row("a", 1, "", 5, 5), "a lives on");
}

async fn a_vote_is_kept_once_and_closes_its_battle(store: &Store) {
    ready(store, "x").await;
    assert_eq!(store.insert_vote(&vote("late", "x", 2)).await.unwrap(), InsertedVote::BattleMoved);
    assert_eq!(store.insert_vote(&vote("lost", "y", 1)).await.unwrap(), InsertedVote::BattleMoved);
    for run in [Some(by("former")), None] {
        let on_other_replies = NewVoteRow { answered_by: run, ..vote("former", "x", 1) };
        assert_eq!(store.insert_vote(&on_other_replies).await.unwrap(), InsertedVote::BattleMoved, "regenerated since");
    }
    assert_eq!(store.insert_vote(&vote("first", "x", 1)).await.unwrap(), InsertedVote::Stored);
    assert_eq!(stage(store, "x").await, Stage::Voted);
    let first = store.vote_on(&battle_id("x")).await.unwrap().unwrap();
    let second = NewVoteRow { outcome: Outcome::Tie, ..vote("second", "x", 1) };
    assert_eq!(store.insert_vote(&second).await.unwrap(), InsertedVote::Existing(Box::new(first.clone())));
    let (new, kept) = (vote("first", "x", 1), battle("x"));
    assert_eq!((&first.id, &first.receipt, first.outcome), (&new.id, &new.receipt, new.outcome));
    assert_eq!(first.reasons, new.reasons);
    assert_eq!((first.satisfaction, first.turn, first.created_at), (Some(4), 1, new.created_at));
    assert_eq!((first.first_token_ms, first.duration_ms), (new.first_token_ms, new.duration_ms));
    assert_eq!((first.text_counts, first.exclusion), (new.text_counts, None));
    assert_eq!((first.models, first.visitor, first.language), (kept.models, Some(kept.visitor), kept.language));
    assert_eq!((first.pairing_policy, first.pair_probability), (kept.pairing_policy, kept.pair_probability));
    assert_eq!((first.category, first.intent), (kept.category, kept.intent));
}

async fn a_vote_sent_again_gets_the_answer_of_the_first_time(store: &Store) {
    ready(store, "x").await;
    let (first, second) = (vote("first", "x", 1), vote("second", "x", 1));
    let at_once = [&first, &second, &first].map(|vote| store.insert_vote(vote));
    let answers: Vec<InsertedVote> = join_all(at_once).await.into_iter().map(Result::unwrap).collect();
    let kept = store.vote_on(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!(kept.id, "first");
    assert_eq!(answers, [InsertedVote::Stored, InsertedVote::Existing(Box::new(kept)), InsertedVote::Stored]);
}

/// Of twelve battles, three ballots each, at once: the first one counts, and those between that do not change nothing.
async fn every_battle_of_a_group_ends_with_its_vote(store: &Store) {
    let ids: Vec<String> = (0..12).map(|number| format!("g{number}")).collect();
    for id in &ids {
        ready(store, id).await;
    }
    ready(store, "waits").await;
    let votes: Vec<NewVoteRow> =
        (0..36).map(|number| vote(&format!("v{number}"), &ids[number / 3], if number == 0 { 2 } else { 1 })).collect();
    let answers = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    let stored = answers.iter().filter(|answer| matches!(answer, Ok(InsertedVote::Stored))).count();
    assert_eq!(stored, ids.len(), "{answers:?}");
    for id in &ids {
        assert_eq!(stage(store, id).await, Stage::Voted, "{id}");
    }
    assert_eq!(stage(store, "waits").await, Stage::Ready);
}

async fn a_vote_that_cannot_be_kept_harms_no_other(store: &Store) {
    let ids: Vec<String> = (0..9).map(|number| format!("v{number}")).collect();
    for id in &ids {
        ready(store, id).await;
    }
    let bad = |id: &str| (id == "v4").then_some(9).or(Some(1));
    let votes: Vec<NewVoteRow> = ids.iter().map(|id| NewVoteRow { satisfaction: bad(id), ..vote(id, id, 1) }).collect();
    let answers = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    for (id, answer) in ids.iter().zip(answers) {
        assert_eq!(answer.is_ok(), id != "v4", "{id}: {answer:?}");
        assert_eq!(stage(store, id).await, if id == "v4" { Stage::Ready } else { Stage::Voted });
    }
}

async fn votes_in_the_queue_are_written_before_the_end(store: &Store) {
    ready(store, "x").await;
    let vote = vote("v", "x", 1);
    let (answer, ()) = futures_util::join!(store.insert_vote(&vote), store.close());
    // The statement that would tell more of it finds the store closed; the vote itself was stored.
    assert_eq!(answer.unwrap(), InsertedVote::Stored);
    assert!(store.insert_vote(&vote).await.is_err());
}

async fn votes_are_paged_in_log_order(store: &Store) {
    for (number, id) in (0..5).zip(["v", "w", "x", "y", "z"]) {
        ready(store, id).await;
        let cast = NewVoteRow { created_at: Timestamp(10 * number), ..vote(id, id, 1) };
        assert_eq!(store.insert_vote(&cast).await.unwrap(), InsertedVote::Stored);
    }
    exclude(store, "x", "admin").await;
    let page = store.votes_after(0, ALWAYS[0], ALWAYS[1], 3).await.unwrap();
    assert_eq!(page.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["v", "w", "x"]);
    assert_eq!(page[2].exclusion.as_deref(), Some("admin"));
    let rest = store.votes_after(page[2].seq, ALWAYS[0], ALWAYS[1], 3).await.unwrap();
    assert_eq!(rest.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["y", "z"]);
    let between = store.votes_after(0, Timestamp(10), Timestamp(30), 9).await.unwrap();
    assert_eq!(between.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["w", "x"]);
}

async fn only_idle_battles_without_a_vote_are_abandoned(store: &Store) {
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

async fn the_last_board_of_a_minute_stays(store: &Store) {
    assert_eq!(store.latest_leaderboard().await.unwrap(), None);
    let leaderboard = |fit, millis, body: &str| StoredLeaderboard {
        fit,
        fitted_at: Timestamp(millis),
        last_vote_seq: millis,
        body: body.into(),
    };
    for (millis, body) in [(120_000, "newer"), (60_000, "first"), (60_001, "second"), (120_500, "newest")] {
        assert!(store.put_leaderboard(&leaderboard(0, millis, body)).await.unwrap().is_some());
    }
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(4, 120_500, "newest")));
    assert_eq!(store.put_leaderboard(&leaderboard(70, 180_000, "of one who knows more fits")).await.unwrap(), Some(71));
}

async fn a_board_with_fewer_votes_hides_no_later_one(store: &Store) {
    let leaderboard = |fit, millis, last_vote_seq| StoredLeaderboard {
        fit,
        fitted_at: Timestamp(millis),
        last_vote_seq,
        body: "{}".into(),
    };
    assert_eq!(store.put_leaderboard(&leaderboard(0, 60_000, 7)).await.unwrap(), Some(1));
    assert_eq!(store.put_leaderboard(&leaderboard(0, 60_500, 6)).await.unwrap(), None);
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(1, 60_000, 7)), "in the same minute");
    assert_eq!(store.put_leaderboard(&leaderboard(0, 120_000, 5)).await.unwrap(), Some(2));
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(1, 60_000, 7)), "in a later minute");
    assert_eq!(store.put_leaderboard(&leaderboard(0, 120_100, 7)).await.unwrap(), Some(3));
    assert_eq!(
        store.latest_leaderboard().await.unwrap(),
        Some(leaderboard(3, 120_100, 7)),
        "as many votes, fitted later"
    );
    assert_eq!(store.put_leaderboard(&leaderboard(0, 1, 7)).await.unwrap(), Some(4));
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(4, 1, 7)), "whatever the clock says");
}

async fn a_follower_takes_in_the_later_fit_whatever_the_clocks_say(store: &Store) {
    let put = async |fitted_at, last_vote_seq| {
        let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard).unwrap();
        let leaderboard = StoredLeaderboard { fit: 0, fitted_at: Timestamp(fitted_at), last_vote_seq, body };
        store.put_leaderboard(&leaderboard).await.unwrap().unwrap()
    };
    put(9_000_000, 7).await;
    let leaderboard = LatestLeaderboard::open(store).await.unwrap();
    for (fitted_at, last_vote_seq) in [(8_000_000, 7), (1_000_000, 8), (2_000_000, 8)] {
        let fit = put(fitted_at, last_vote_seq).await;
        leaderboard.reload(store).await.unwrap();
        let latest = leaderboard.latest();
        assert_eq!(
            (latest.fit, latest.last_vote_seq, latest.fitted_at),
            (fit, last_vote_seq, Some(Timestamp(fitted_at)))
        );
    }
}

/// One test on each database for each part of the contract.
macro_rules! on_both {
    ($($part:ident)+) => {
        mod on_sqlite {
            $(
                #[actix_web::test]
                async fn $part() {
                    let (_folder, store) = super::sqlite::open().await;
                    super::hold(&store, async |store| super::$part(store).await).await;
                }
            )+
        }

        mod on_postgres {
            $(
                #[actix_web::test]
                async fn $part() {
                    let Some(database) = super::TestDatabase::create().await else { return };
                    let store = database.open().await;
                    super::hold(&store, async |store| super::$part(store).await).await;
                    database.drop().await;
                }
            )+
        }
    };
}

async fn hold(store: &Store, part: impl AsyncFnOnce(&Store)) {
    store.check().await.unwrap();
    part(store).await;
    store.close().await;
    assert!(store.check().await.is_err(), "a closed store answers nothing");
}

on_both! {
    models_are_registered_renamed_and_kept
    a_battle_is_read_back_as_it_was_kept
    a_record_is_of_one_moment
    a_turn_begins_only_where_the_battle_is_ready
    an_edited_prompt_replaces_the_one_of_its_turn
    an_answer_anew_replaces_the_reply
    a_failed_side_is_replaced_or_voids_the_battle
    what_is_sent_again_is_kept_once
    a_turn_belongs_to_the_run_that_took_it_last
    a_turn_from_before_runs_had_names_is_taken_over
    a_vote_is_kept_once_and_closes_its_battle
    a_vote_sent_again_gets_the_answer_of_the_first_time
    every_battle_of_a_group_ends_with_its_vote
    a_vote_that_cannot_be_kept_harms_no_other
    votes_in_the_queue_are_written_before_the_end
    votes_are_paged_in_log_order
    only_idle_battles_without_a_vote_are_abandoned
    the_last_board_of_a_minute_stays
    a_board_with_fewer_votes_hides_no_later_one
    a_follower_takes_in_the_later_fit_whatever_the_clocks_say
    instances_know_of_each_other
    stored_counts_equal_a_fresh_count
    an_exclusion_stands_beside_the_vote_and_can_be_withdrawn
    an_exclusion_is_stored_with_its_vote_or_not_at_all
    the_leaderboard_follows_exclusions_and_withdrawals
    many_votes_are_excluded_and_rated_again_in_one_step
    exclusions_of_one_decision_are_in_the_order_of_their_votes
    decisions_are_undone_to_the_last_bit
    flagged_voters_are_excluded_only_where_the_operator_says_so_and_never_again_once_let_back_in
    counts_of_more_votes_stay
    a_change_is_recorded_once_and_read_back_as_it_was
    battles_are_counted_by_the_day_on_which_they_began
    a_battle_on_chosen_models_is_kept_apart_and_its_vote_is_never_rated
    votes_are_in_the_log_once_the_leaderboard_shows_them
    an_entry_commits_to_what_it_does_not_show
    texts_that_are_deleted_while_their_vote_is_appended_leave_no_salt
    a_deletion_beside_an_append_leaves_no_salt
    exclusions_and_withdrawals_follow_their_votes
    of_two_that_append_one_has_its_way
    instances_that_share_a_folder_see_no_log_that_shrank
    nothing_is_signed_against_an_earlier_checkpoint
    the_log_is_read_in_pages_with_the_columns_that_are_wanted
    a_consent_is_kept_once_with_its_text
    own_battles_are_found_again_with_models_only_after_a_vote
    only_its_visitor_shares_a_battle_and_only_after_the_vote
    texts_are_deleted_for_good_and_votes_stay
    texts_past_their_age_go_and_nothing_else_does
    labels_are_kept_by_who_gave_them
    the_queue_leaves_out_what_is_known
    a_data_file_is_kept_once_and_in_its_order
    a_data_file_with_an_item_that_cannot_be_kept_leaves_nothing
    an_answer_to_a_question_is_kept_once
    votes_on_a_question_are_found_until_its_text_is_gone
    a_digest_is_kept_for_the_text_that_it_was_made_of_alone
    prompts_of_a_campaign_are_added_once_and_stand_in_no_list
    one_request_about_the_same_texts_waits_and_is_decided_once
    a_target_loses_its_texts_and_nobody_else_does
    flags_are_decided_once_and_end_with_their_texts
    changes_of_campaigns_have_their_entries
    judgements_of_a_rated_campaign_are_votes_until_they_are_taken_back_or_left_out
    a_run_is_kept_with_what_it_has_come_to
    one_plan_runs_at_a_time_and_is_stopped_and_ended_once
    runs_are_found_by_their_plan
    a_score_that_is_no_number_is_not_kept
    failures_may_repeat_and_a_verdict_is_kept_once
    scores_are_made_of_what_the_rows_say
    what_failed_counts_once_unless_there_is_a_verdict
    what_a_judge_said_to_a_prompt_is_found_again
    attempts_stay_open_until_their_result_is_there
    a_batch_is_open_until_its_replies_are_taken
    a_vote_is_checked_once_and_excluded_with_its_check
    published_scores_are_replaced_by_their_successors
    a_suite_is_run_by_one_at_a_time
    a_verdict_is_kept_once_and_failures_may_repeat
    only_rated_votes_stand_beside_verdicts
    what_is_settled_and_what_was_spent_is_known_since_a_moment
    a_link_makes_one_account_and_the_last_owner_stays
    figures_are_of_recent_battles_that_are_over
    sessions_codes_and_recovery_codes_end
    of_two_owners_who_demote_each_other_one_stays
    the_links_of_an_owner_whose_claim_gives_less_are_void
    a_key_is_found_by_its_hash_until_it_expires_or_is_revoked
    a_message_waits_alone_is_sent_by_one_and_is_settled_once
    images_are_kept_with_their_battle_in_order_and_go_with_its_texts
    who_deletes_all_texts_keeps_no_image_and_takes_nobody_elses
    a_confirmed_leak_leaves_the_queue_and_failures_are_counted
    of_two_decisions_about_one_leak_at_once_one_is_kept
}

/// What nobody may do, whoever asks.
const FORBIDDEN: [&str; 2] = ["UPDATE votes SET outcome = 'a'", "DELETE FROM votes"];
const FORBIDDEN_OF_BENCHMARKS: [&str; 6] = [
    "UPDATE bench_answers SET text = 'x'",
    "DELETE FROM bench_answers",
    "UPDATE bench_judgements SET parsed = '{}'",
    "DELETE FROM bench_judgements",
    "UPDATE request_attempts SET text = 'x'",
    "DELETE FROM request_attempts",
];
const FORBIDDEN_OF_VERDICTS: [&str; 2] = ["UPDATE battle_verdicts SET parsed = 'null'", "DELETE FROM battle_verdicts"];
