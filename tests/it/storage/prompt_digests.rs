//! What every database promises of digests of first questions.

use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, Outcome, Side};
use langya::domain::benchmark::scores::arena_votes::QuestionVotes;
use langya::domain::time::Timestamp;
use langya::infra::storage::{EditedTurn, FirstQuestion, InsertedVote, NewVoteRow, Store, StoredLeaderboard};

use super::images::keep;
use super::{battle, battle_id, by, exclude, ready, reply, vote};

/// Gives every question that has none the same digest.
async fn fill(store: &Store, digest: &str) -> usize {
    let found = store.questions_without_digest(9).await.unwrap();
    let digests: Vec<(FirstQuestion, String)> = found.into_iter().map(|found| (found, digest.to_owned())).collect();
    store.set_prompt_digests(&digests).await.unwrap();
    digests.len()
}

async fn votes(store: &Store) -> u64 {
    store.votes_on_prompt("d").await.unwrap().iter().map(|counted| counted.votes).sum()
}

pub(super) async fn votes_on_a_question_are_found_until_its_text_is_gone(store: &Store) {
    for id in ["one", "two", "excluded", "open", "later"] {
        ready(store, id).await;
    }
    let (later, run) = (battle_id("later"), by("second"));
    assert!(store.begin_turn(&later, 2, Some("And?"), Some(&by("run")), &run, Timestamp(1_600)).await.unwrap());
    let replies = [reply(Side::A, "A"), reply(Side::B, "B")];
    let progress = Progress { stage: Stage::Ready, turn: 2 };
    assert!(store.finish_turn(&later, &run, progress, &replies, Timestamp(1_700)).await.unwrap());
    let image = keep(store, "i", 900).await;
    store.insert_battle_with_images(&battle("shown"), "琅琊榜?", &[image], Timestamp(1_000)).await.unwrap();
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    store.finish_turn(&battle_id("shown"), &by("run"), progress, &replies, Timestamp(1_500)).await.unwrap();
    for (id, turn) in [("one", 1), ("two", 1), ("excluded", 1), ("shown", 1), ("later", 2)] {
        let answered_by = Some(by(if turn == 1 { "run" } else { "second" }));
        let cast = NewVoteRow { answered_by, ..vote(&format!("v {id}"), id, turn) };
        assert_eq!(store.insert_vote(&cast).await.unwrap(), InsertedVote::Stored);
    }
    exclude(store, "excluded", "admin").await;
    assert_eq!(fill(store, "d").await, 6, "second questions have none");
    assert_eq!(fill(store, "d").await, 0);
    let models = ["one", "two"].map(ModelId::new);
    let counted = QuestionVotes { models, outcome: Outcome::BWins, votes: 2 };
    for (last_vote_seq, expected) in [(0, 0), (1, 1), (9, 2)] {
        let body = "{}".to_owned();
        let leaderboard = StoredLeaderboard { fit: 0, fitted_at: Timestamp(last_vote_seq), last_vote_seq, body };
        store.put_leaderboard(&leaderboard).await.unwrap();
        assert_eq!(votes(store).await, expected, "those of a leaderboard up to vote {last_vote_seq}");
    }
    assert_eq!(store.votes_on_prompt("d").await.unwrap(), [counted]);
    assert_eq!(store.votes_on_prompt("other").await.unwrap(), []);

    store.delete_texts_before(Timestamp(5_000)).await.unwrap();
    assert_eq!(votes(store).await, 0, "the digest has gone with the text");
    assert!(store.vote_on(&BattleId::new("one")).await.unwrap().is_some());
}

pub(super) async fn a_digest_is_kept_for_the_text_that_it_was_made_of_alone(store: &Store) {
    ready(store, "x").await;
    let stale = store.questions_without_digest(9).await.unwrap();
    let (x, run, edit) = (battle_id("x"), by("run"), by("edit"));
    let edited = |prompt| EditedTurn { turn: 1, prompt, language: None };
    assert!(store.edit_turn(&x, edited("Which?"), Some(&run), &edit, Timestamp(3)).await.unwrap());
    store.set_prompt_digests(&[(stale[0].clone(), "stale".to_owned())]).await.unwrap();
    let fresh = store.questions_without_digest(9).await.unwrap();
    assert_eq!(fresh, [FirstQuestion { battle: x.clone(), prompt: "Which?".to_owned() }], "the stale one is not kept");
    assert_eq!(fill(store, "d").await, 1);
    let replies = [reply(Side::A, "A"), reply(Side::B, "B")];
    let progress = Progress { stage: Stage::Ready, turn: 1 };
    assert!(store.finish_turn(&x, &edit, progress, &replies, Timestamp(4)).await.unwrap());
    assert!(store.edit_turn(&x, edited("Why?"), Some(&edit), &by("again"), Timestamp(5)).await.unwrap());
    assert_eq!(fill(store, "d").await, 1, "an edit takes the digest away");
}
