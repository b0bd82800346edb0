//! What every database backend promises: the contract as functions over [`Store`], run on SQLite and on PostgreSQL. What is
//! one backend's own stands in its file.

mod admin;
mod annotators;
mod api_keys;
mod battles;
pub(crate) mod bench;
mod bench_batches;
mod bench_plans;
mod consents;
mod exclusions;
mod fits;
pub(crate) mod images;
mod instances;
mod labels;
mod leaderboards;
mod leak_checks;
mod migrations;
pub(crate) mod model_register;
mod modes;
mod operations;
mod outages;
mod own_battles;
pub(crate) mod partitions;
mod postgres;
mod prompt_digests;
pub(crate) mod public_log;
mod sqlite;
pub(crate) mod verdicts;
pub(crate) mod voter_check;
mod votes;
mod webhooks;

use langya::domain::battle::mode::BattleMode;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::text_counts::TextCounts;
use langya::domain::battle::vote_reasons::ReasonSet;
use langya::domain::battle::{BattleId, ModelId, Outcome, RunId, Side, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::storage::{BattleRow, NewExclusion, NewReply, NewVoteRow, ReplyEnding, SideFailure, Store};

use admin::{
    a_confirmed_leak_leaves_the_queue_and_failures_are_counted, a_link_makes_one_account_and_the_last_owner_stays,
    a_role_is_changed_only_from_the_one_that_was_read, an_owner_who_cannot_sign_in_does_not_count_as_another_one,
    an_owner_who_cannot_sign_in_is_demoted_and_locked_out_where_no_owner_can,
    figures_are_of_recent_battles_that_are_over, of_two_decisions_about_one_leak_at_once_one_is_kept,
    of_two_owners_who_demote_each_other_one_stays, sessions_codes_and_recovery_codes_end,
    the_links_of_an_owner_whose_claim_gives_less_are_void,
};
use annotators::{
    an_assignment_that_was_taken_back_is_its_annotators_again, the_unit_of_an_excluded_annotator_is_given_back_once,
};
use api_keys::a_key_is_found_by_its_hash_until_it_expires_or_is_revoked;
use battles::{
    a_battle_is_read_back_as_it_was_kept, a_failed_side_is_replaced_or_voids_the_battle, a_record_is_of_one_moment,
    a_regenerated_answer_replaces_the_reply, a_turn_begins_only_where_the_battle_is_ready,
    a_turn_belongs_to_the_run_that_took_it_last, a_turn_from_before_runs_had_names_is_taken_over,
    an_edited_prompt_replaces_the_one_of_its_turn, only_idle_battles_without_a_vote_are_abandoned,
    what_is_sent_again_is_kept_once,
};
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
    votes_that_are_excluded_as_they_are_cast_fill_no_group,
};
use fits::{
    counts_of_more_votes_stay, stored_counts_equal_a_fresh_count,
    the_log_is_read_in_pages_with_the_columns_that_are_wanted,
};
use instances::instances_know_of_each_other;
use leaderboards::{
    a_board_with_fewer_votes_hides_no_later_one, a_follower_takes_in_the_later_fit_whatever_the_clocks_say,
    the_last_board_of_a_minute_stays,
};
use votes::{
    a_vote_is_kept_once_and_closes_its_battle, a_vote_sent_again_gets_the_answer_of_the_first_time,
    a_vote_that_cannot_be_kept_harms_no_other, battles_with_a_vote_are_told_from_others,
    every_battle_of_a_group_ends_with_its_vote, votes_are_paged_in_log_order,
    votes_in_the_queue_are_written_before_the_end,
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
    a_checkpoint_that_could_not_be_kept_is_kept_once_it_can_be, a_deletion_beside_an_append_leaves_no_salt,
    an_entry_commits_to_what_it_does_not_show, exclusions_and_withdrawals_follow_their_votes,
    instances_that_share_a_folder_see_no_log_that_shrank, nothing_is_signed_against_an_earlier_checkpoint,
    of_two_that_append_one_has_its_way, texts_that_are_deleted_while_their_vote_is_appended_leave_no_salt,
    votes_are_in_the_log_once_the_leaderboard_shows_them,
    votes_that_the_log_lacks_are_counted_and_wait_since_they_were_cast_unless_they_were_imported,
};

use model_register::{
    a_change_is_recorded_once_and_read_back_as_it_was, battles_are_counted_by_the_day_on_which_they_began,
    models_are_registered_renamed_and_kept,
};

use verdicts::{
    a_verdict_is_kept_once_and_failures_may_repeat, only_rated_votes_stand_beside_verdicts,
    what_is_settled_and_what_was_spent_is_known_since_a_moment,
};

use voter_check::flagged_voters_are_excluded_only_where_the_operator_says_so_and_never_again_once_let_back_in;

use prompt_digests::{
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

fn failure(side: Side, replacement: Option<(ModelId, f64)>) -> SideFailure {
    let model = ModelId::new(["one", "two"][side.index()]);
    SideFailure { turn: 1, side, model, reason: "timed out".into(), replacement }
}

/// One test on each database for each part of the contract.
macro_rules! on_both {
    ($($part:ident)+) => {
        mod on_sqlite {
            $(
                #[actix_web::test]
                async fn $part() {
                    let (_folder, store) = super::sqlite::open_with_tables().await;
                    super::hold(&store, async |store| super::$part(store).await).await;
                }
            )+
        }

        mod on_postgres {
            $(
                #[actix_web::test]
                async fn $part() {
                    let Some(database) = super::TestDatabase::with_tables().await else { return };
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
    a_regenerated_answer_replaces_the_reply
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
    battles_with_a_vote_are_told_from_others
    only_idle_battles_without_a_vote_are_abandoned
    the_last_board_of_a_minute_stays
    a_board_with_fewer_votes_hides_no_later_one
    a_follower_takes_in_the_later_fit_whatever_the_clocks_say
    instances_know_of_each_other
    stored_counts_equal_a_fresh_count
    an_exclusion_stands_beside_the_vote_and_can_be_withdrawn
    an_exclusion_is_stored_with_its_vote_or_not_at_all
    the_leaderboard_follows_exclusions_and_withdrawals
    votes_that_are_excluded_as_they_are_cast_fill_no_group
    many_votes_are_excluded_and_rated_again_in_one_step
    exclusions_of_one_decision_are_in_the_order_of_their_votes
    decisions_are_undone_to_the_last_bit
    flagged_voters_are_excluded_only_where_the_operator_says_so_and_never_again_once_let_back_in
    counts_of_more_votes_stay
    a_change_is_recorded_once_and_read_back_as_it_was
    battles_are_counted_by_the_day_on_which_they_began
    a_battle_on_chosen_models_is_kept_apart_and_its_vote_is_never_rated
    votes_are_in_the_log_once_the_leaderboard_shows_them
    votes_that_the_log_lacks_are_counted_and_wait_since_they_were_cast_unless_they_were_imported
    a_checkpoint_that_could_not_be_kept_is_kept_once_it_can_be
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
    an_owner_who_cannot_sign_in_does_not_count_as_another_one
    an_owner_who_cannot_sign_in_is_demoted_and_locked_out_where_no_owner_can
    a_role_is_changed_only_from_the_one_that_was_read
    an_assignment_that_was_taken_back_is_its_annotators_again
    the_unit_of_an_excluded_annotator_is_given_back_once
    the_links_of_an_owner_whose_claim_gives_less_are_void
    a_key_is_found_by_its_hash_until_it_expires_or_is_revoked
    a_message_waits_alone_is_sent_by_one_and_is_settled_once
    images_are_kept_with_their_battle_in_order_and_go_with_its_texts
    who_deletes_all_texts_keeps_no_image_and_takes_nobody_elses
    a_confirmed_leak_leaves_the_queue_and_failures_are_counted
    of_two_decisions_about_one_leak_at_once_one_is_kept
}

/// What nobody may do.
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
